/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A module from its creation to the relocatable object: kernel frame, verifier, passes, code generation. */
#include "ir/context.h"
#include "ir/pipeline.h"
#include "ir/wait_states.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Error.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdio.h>
#include <string.h>

#include "core/codeobj.h"

enum { CALLING_CONVENTION_KERNEL = 91 };

const char *ir_pass_pipeline(void) { return PASS_PIPELINE; }

const char *ir_llvm_version(void) {
    static _Thread_local char version[32];
    unsigned major = 0, minor = 0, patch = 0;
    LLVMGetVersion(&major, &minor, &patch);
    snprintf(version, sizeof version, "%u.%u.%u", major, minor, patch);
    return version;
}

/* LLVM reports errors (LDS overflow, impossible constraints) here and still returns an object. */
static void on_diagnostic(LLVMDiagnosticInfoRef info, void *user) {
    ir *const e = user;
    if (LLVMGetDiagInfoSeverity(info) != LLVMDSError) return;
    if (e->diagnostics++) return;
    char *said = LLVMGetDiagInfoDescription(info);
    snprintf(e->diagnostic, sizeof e->diagnostic, "%s", said);
    LLVMDisposeMessage(said);
}

static void set_code_object_version(ir *e) {
    static const char flag[] = "amdhsa_code_object_version";
    LLVMAddModuleFlag(e->module, LLVMModuleFlagBehaviorError, flag, sizeof flag - 1,
                      LLVMValueAsMetadata(e_i32(e, 100 * CODE_OBJECT_VERSION).v));
}

typedef struct creation {
    ir *ir;
    const char *name;
} creation;

static cdnagen_status create(void *of) {
    const creation *const c = of;
    ir *const e = c->ir;
    LLVMTargetMachineRef machine = NULL;
    TRY(process_machine(&e->target, &machine));
    e->context = LLVMContextCreate();
    LLVMContextSetDiagnosticHandler(e->context, on_diagnostic, e);
    e->module = LLVMModuleCreateWithNameInContext(c->name, e->context);
    e->builder = LLVMCreateBuilderInContext(e->context);
    LLVMSetTarget(e->module, "amdgcn-amd-amdhsa");
    const LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
    LLVMSetModuleDataLayout(e->module, layout);
    LLVMDisposeTargetData(layout);
    set_code_object_version(e);
    return CDNAGEN_OK;
}

cdnagen_status ir_create(const target *t, const char *name, ir **out) {
    ir *const e = mem_alloc(sizeof *e);
    if (!e) return fail_no_memory();
    e->target = *t;
    const cdnagen_status status = process_guard("start", create, &(creation){e, name}, &e->lost);
    if (status != CDNAGEN_OK) {
        ir_free(e);
        return status;
    }
    *out = e;
    return CDNAGEN_OK;
}

void ir_free(ir *e) {
    if (!e) return;
    if (!e->lost && e->context) {
        if (e->object) LLVMDisposeMemoryBuffer(e->object);
        LLVMDisposeBuilder(e->builder);
        LLVMDisposeModule(e->module);
        LLVMContextDispose(e->context);
    }
    mem_free(e);
}

static void attribute(ir *e, const char *name, const char *value) {
    LLVMAddAttributeAtIndex(
        e->function, LLVMAttributeFunctionIndex,
        LLVMCreateStringAttribute(e->context, name, (unsigned)strlen(name), value, (unsigned)strlen(value)));
}

static void enum_attribute(ir *e, unsigned place, const char *name) {
    const unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(e->function, place, LLVMCreateEnumAttribute(e->context, kind, 0));
}

/* Hidden inputs that no kernel here reads; unset, each costs user SGPRs. */
static const char *const unused_inputs[] = {
    "amdgpu-no-dispatch-ptr",       "amdgpu-no-queue-ptr",     "amdgpu-no-dispatch-id",
    "amdgpu-no-implicitarg-ptr",    "amdgpu-no-workitem-id-y", "amdgpu-no-workitem-id-z",
    "amdgpu-no-lds-kernel-id",      "amdgpu-no-hostcall-ptr",  "amdgpu-no-heap-ptr",
    "amdgpu-no-multigrid-sync-arg", "amdgpu-no-default-queue", "amdgpu-no-completion-action",
    "amdgpu-no-flat-scratch-init",
};

void e_kernel_begin(ir *e, const e_kernel *k) {
    if (!expect(e, k->arg_count <= KERNEL_ARGS_MAX && !e->function, "e_kernel_begin",
                "one kernel a module, of at most 32 arguments"))
        return;
    LLVMTypeRef types[KERNEL_ARGS_MAX];
    for (int i = 0; i < k->arg_count; i++)
        types[i] = k->args[i] == VOID ? llvm_pointer(e, SPACE_GLOBAL) : llvm_type(e, k->args[i]);
    const LLVMTypeRef signature = LLVMFunctionType(llvm_type(e, VOID), types, (unsigned)k->arg_count, 0);
    e->function = LLVMAddFunction(e->module, k->symbol, signature);
    LLVMSetFunctionCallConv(e->function, CALLING_CONVENTION_KERNEL);
    LLVMSetVisibility(e->function, LLVMProtectedVisibility);
    /* No noalias: with it, LLVM takes a load past every fence, since nothing could write what it reads. */
    for (int i = 0; i < k->arg_count; i++)
        LLVMSetValueName2(LLVMGetParam(e->function, (unsigned)i), k->arg_names[i], strlen(k->arg_names[i]));
    char threads[32];
    snprintf(threads, sizeof threads, "%d,%d", k->threads, k->threads);
    attribute(e, "amdgpu-flat-work-group-size", threads);
    if (k->waves_per_eu[0]) attribute(e, "amdgpu-waves-per-eu", k->waves_per_eu);
    attribute(e, "amdgpu-agpr-alloc", "0"); /* accumulators in VGPRs: no moves around each MFMA */
    attribute(e, "uniform-work-group-size", "true");
    for (size_t i = 0; i < sizeof unused_inputs / sizeof *unused_inputs; i++) attribute(e, unused_inputs[i], "");
    enum_attribute(e, (unsigned)LLVMAttributeFunctionIndex, "nounwind");
    LLVMPositionBuilderAtEnd(e->builder, new_block(e, "entry"));
}

val e_arg(ir *e, int i) {
    if (!expect(e, e->function && i >= 0 && i < (int)LLVMCountParams(e->function), "e_arg", "no such argument"))
        return e_poison(e, I32);
    return WRAP(LLVMGetParam(e->function, (unsigned)i));
}

void e_kernel_end(ir *e) {
    if (!e->reads_z && e->function) attribute(e, "amdgpu-no-workgroup-id-z", "");
    LLVMBuildRetVoid(e->builder);
}

typedef struct emission {
    ir *ir;
    void (*emit)(ir *e, const void *of);
    const void *of;
} emission;

static cdnagen_status emit(void *of) {
    const emission *const m = of;
    m->emit(m->ir, m->of);
    return CDNAGEN_OK;
}

cdnagen_status ir_emit(ir *e, void (*emitter)(ir *e, const void *of), const void *of) {
    return process_guard("emission", emit, &(emission){e, emitter, of}, &e->lost);
}

static cdnagen_status verify(void *of) {
    ir *const e = of;
    if (e->failed) return fail(CDNAGEN_COMPILE, "emission: %s", e->message);
    char *said = NULL;
    const LLVMBool broken = LLVMVerifyModule(e->module, LLVMReturnStatusAction, &said);
    const cdnagen_status status =
        broken ? fail(CDNAGEN_COMPILE, "LLVM's verifier refuses the module: %s", said) : CDNAGEN_OK;
    LLVMDisposeMessage(said);
    return status;
}

static cdnagen_status optimise(void *of) {
    ir *const e = of;
    LLVMTargetMachineRef machine = NULL;
    TRY(process_machine(&e->target, &machine));
    const LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    const LLVMErrorRef error = LLVMRunPasses(e->module, PASS_PIPELINE, machine, options);
    LLVMDisposePassBuilderOptions(options);
    if (!error) return CDNAGEN_OK;
    char *said = LLVMGetErrorMessage(error);
    const cdnagen_status status = fail(CDNAGEN_COMPILE, "passes '%s': %s", PASS_PIPELINE, said);
    LLVMDisposeErrorMessage(said);
    return status;
}

static cdnagen_status codegen(void *of) {
    ir *const e = of;
    LLVMTargetMachineRef machine = NULL;
    TRY(process_machine(&e->target, &machine));
    char *said = NULL;
    const LLVMBool failed = LLVMTargetMachineEmitToMemoryBuffer(machine, e->module, LLVMObjectFile, &said, &e->object);
    if (failed) {
        const cdnagen_status status = fail(CDNAGEN_COMPILE, "code generation: %s", said);
        LLVMDisposeMessage(said);
        return status;
    }
    if (e->diagnostics) return fail(CDNAGEN_COMPILE, "code generation: %s", e->diagnostic);
    return CDNAGEN_OK;
}

typedef struct replacement {
    ir *ir;
    bytes object;
} replacement;

static cdnagen_status replace_object(void *of) {
    const replacement *const r = of;
    LLVMDisposeMemoryBuffer(r->ir->object);
    r->ir->object = LLVMCreateMemoryBufferWithMemoryRangeCopy((const char *)r->object.data, r->object.size, "object");
    return CDNAGEN_OK;
}

cdnagen_status ir_codegen(ir *e) {
    TRY(process_guard("code generation", codegen, e, &e->lost));
    replacement r = {.ir = e};
    TRY(wait_states_fill(e->target.chip, LLVMGetBufferStart(e->object), LLVMGetBufferSize(e->object), &r.object,
                         &e->lost));
    const cdnagen_status status =
        r.object.data ? process_guard("code generation", replace_object, &r, &e->lost) : CDNAGEN_OK;
    bytes_free(&r.object);
    return status;
}

cdnagen_status ir_verify(ir *e) { return process_guard("verify", verify, e, &e->lost); }
cdnagen_status ir_optimise(ir *e) { return process_guard("optimise", optimise, e, &e->lost); }

typedef struct printing {
    LLVMModuleRef module;
    text *out;
} printing;

static cdnagen_status print(void *of) {
    const printing *const p = of;
    char *said = LLVMPrintModuleToString(p->module);
    text_add_bytes(p->out, said, strlen(said));
    LLVMDisposeMessage(said);
    return p->out->failed ? fail_no_memory() : CDNAGEN_OK;
}

cdnagen_status ir_print(ir *e, text *out) {
    return process_guard("print", print, &(printing){e->module, out}, &e->lost);
}
