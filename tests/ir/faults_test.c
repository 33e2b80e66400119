/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LLVM's and lld's errors become statuses; the process lives on and compiles the next kernel. */
#include "tests/ir/kernel.h"

#include "ir/context.h"
#include "core/codeobj.h"

#include <fcntl.h>
#include <llvm-c/Disassembler.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* A fatal error abandons what LLVM held; the leak checker is told so. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libLLVM\nleak:libstdc++\n"; }

static void assert_next_kernel_compiles(void) {
    ir *const e = open_kernel("gfx950");
    store_out(e, e_f32(e, 1));
    text listing = assembly(e);
    assert_non_null(strstr(listing.data, "buffer_store_dword"));
    text_free(&listing);
}

/* LLVM's report_fatal_error has no C name. With `faulty`, what the linker wraps (CMakeLists.txt) calls it. */
void report_fatal_error(const char *reason, _Bool crash_report) __asm__("_ZN4llvm18report_fatal_errorEPKcb");
static int faulty;

int __real_lld_link(int argc, const char *const *argv, char *said, size_t said_bytes, int *again);
int __wrap_lld_link(int argc, const char *const *argv, char *said, size_t said_bytes, int *again);
int __wrap_lld_link(int argc, const char *const *argv, char *said, size_t said_bytes, int *again) {
    if (faulty && open(argv[argc - 1], O_WRONLY) >= 0) report_fatal_error("injected", 0); /* its output stays open */
    return __real_lld_link(argc, argv, said, said_bytes, again);
}

size_t __real_LLVMDisasmInstruction(LLVMDisasmContextRef context, uint8_t *code, uint64_t size, uint64_t address,
                                    char *line, size_t line_bytes);
size_t __wrap_LLVMDisasmInstruction(LLVMDisasmContextRef context, uint8_t *code, uint64_t size, uint64_t address,
                                    char *line, size_t line_bytes);
size_t __wrap_LLVMDisasmInstruction(LLVMDisasmContextRef context, uint8_t *code, uint64_t size, uint64_t address,
                                    char *line, size_t line_bytes) {
    if (faulty) report_fatal_error("injected", 0);
    return __real_LLVMDisasmInstruction(context, code, size, address, line, line_bytes);
}

char *__real_LLVMPrintModuleToString(LLVMModuleRef module);
char *__wrap_LLVMPrintModuleToString(LLVMModuleRef module);
char *__wrap_LLVMPrintModuleToString(LLVMModuleRef module) {
    if (faulty) report_fatal_error("injected", 0);
    return __real_LLVMPrintModuleToString(module);
}

static void assert_fatal(cdnagen_status status, const char *step) {
    char says[64];
    snprintf(says, sizeof says, "%s: fatal error of LLVM: injected", step);
    assert_int_equal(status, CDNAGEN_COMPILE);
    assert_string_equal(cdnagen_error(), says);
}

static void emit_faulty(ir *e, const void *of) {
    e_add(e, e_i32(e, 1), e_i32(e, 2));
    report_fatal_error(of, 0);
}

static void a_fatal_error_in_emission_and_printing_is_a_status(void **state) {
    (void)state;
    text words = {0};
    bytes object = {0};
    ir *e = open_kernel("gfx950");
    assert_fatal(ir_emit(e, emit_faulty, "injected"), "emission");
    assert_int_equal(ir_emit(e, emit_faulty, "injected"), CDNAGEN_COMPILE); /* and so is every later step */
    assert_int_equal(ir_verify(e), CDNAGEN_COMPILE);
    assert_int_equal(ir_link(e, &object), CDNAGEN_COMPILE);
    assert_int_equal(ir_print(e, &words), CDNAGEN_COMPILE);
    ir_free(e);
    e = open_kernel("gfx950");
    faulty = 1;
    assert_fatal(ir_print(e, &words), "print");
    faulty = 0;
    ir_free(e);
    text_free(&words);
    assert_next_kernel_compiles();
}

static void a_fatal_error_in_the_disassembler_is_a_status(void **state) {
    (void)state;
    ir *const e = open_kernel("gfx950");
    store_out(e, e_f32(e, 1));
    bytes object = {0};
    assert_int_equal(finish(e, &object), CDNAGEN_OK);
    ir_free(e);
    const long before = mem_live();
    text listing = {0};
    faulty = 1;
    assert_fatal(ir_disassemble(object.data, object.size, &listing), "disassembly");
    faulty = 0;
    text_free(&listing);
    assert_int_equal(mem_live(), before);
    assert_int_equal(ir_disassemble(object.data, object.size, &listing), CDNAGEN_OK);
    text_free(&listing);
    bytes_free(&object);
    assert_next_kernel_compiles();
}

/* LLVM's disassembler would not survive either: see core/machine_code.h. */
static void code_that_is_none_is_listed_as_such(void **state) {
    (void)state;
    static const uint32_t no_vector_sources[] = {0xd3ae0200, 0x040202f1}, no_literal = 0x000000ff;
    ir *const e = open_kernel("gfx950");
    store_out(e, e_f32(e, 1));
    bytes object = {0};
    codeobj o;
    text listing = {0};
    assert_int_equal(finish(e, &object), CDNAGEN_OK);
    ir_free(e);
    assert_int_equal(codeobj_open(object.data, object.size, &o), CDNAGEN_OK);
    unsigned char *const code = object.data + o.text_offset;
    memcpy(code, no_vector_sources, sizeof no_vector_sources);
    memcpy(code + o.text_bytes - sizeof no_literal, &no_literal, sizeof no_literal);
    assert_int_equal(ir_disassemble(object.data, object.size, &listing), CDNAGEN_OK);
    int found = 0;
    for (const char *at = listing.data; (at = strstr(at, "(no instruction)")); at++) found++;
    assert_in_range(found, 2, 3); /* the second word of the first may be one */
    text_free(&listing);
    bytes_free(&object);
}

/* In a child, which cannot link afterwards. */
static void a_fatal_error_in_lld_is_a_status_and_the_end_of_linking(void **state) {
    (void)state;
    const pid_t child = fork();
    if (!child) {
        alarm(60);
        ir *const e = open_kernel("gfx950");
        store_out(e, e_f32(e, 1));
        bytes object = {0};
        const long before = mem_live();
        faulty = 1;
        if (finish(e, &object) != CDNAGEN_COMPILE) _exit(2);
        faulty = 0;
        if (strcmp(cdnagen_error(), "lld: fatal error of LLVM: injected") != 0 || object.data) _exit(3);
        if (mem_live() != before) _exit(4);
        if (ir_link(e, &object) != CDNAGEN_COMPILE || !strstr(cdnagen_error(), "can link no more")) _exit(5);
        ir_free(e);
        ir *const next = open_kernel("gfx950"); /* what needs no lld goes on */
        store_out(next, e_f32(next, 1));
        if (finish(next, &object) != CDNAGEN_COMPILE || !strstr(cdnagen_error(), "can link no more")) _exit(6);
        if (fork() == 0) _exit(0); /* lld's lock is free */
        int status;
        wait(&status);
        _exit(status);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_next_kernel_compiles();
}

/* An intrinsic of gfx950 past the table's check: instruction selection of gfx942 ends in a fatal error. */
static void a_fatal_error_of_llvm_is_a_status(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++) {
        ir *const e = open_kernel("gfx942");
        const chip *const real = e->target.chip;
        e->target.chip = chip_find("gfx950", 6);
        const val sum = e_sum_swap32(e, e_bitcast(e, e_workitem(e), F32), e_bitcast(e, e_arg(e, ARG_COUNT), F32), 0);
        e->target.chip = real;
        store_out(e, sum);
        bytes object = {0};
        assert_int_equal(finish(e, &object), CDNAGEN_COMPILE);
        assert_non_null(strstr(cdnagen_error(), "fatal error of LLVM"));
        assert_int_equal(ir_codegen(e), CDNAGEN_COMPILE); /* and so is every later step */
        assert_int_equal(ir_link(e, &object), CDNAGEN_COMPILE);
        ir_free(e);
        assert_next_kernel_compiles();
    }
}

/* Assembly that no register allocation can satisfy, or that does not assemble. */
static void an_impossible_constraint_is_a_status(void **state) {
    (void)state;
    static const struct {
        const char *assembly, *constraints, *says;
    } rows[] = {
        {"v_mov_b32 $0, $1", "={v1000},v", "couldn't allocate output register for constraint '{v1000}'"},
        {"v_mov_b32 $0, $1", "=v,{s500}", "couldn't allocate input reg for constraint '{s500}'"},
        {"v_mov_b32 $0, $1", "=Q,v", "constraint"},
        {"v_no_such_instruction $0, $1", "=v,v", "invalid instruction"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ir *const e = open_kernel("gfx950");
        LLVMTypeRef word = llvm_type(e, I32);
        const LLVMTypeRef signature = LLVMFunctionType(word, &word, 1, 0);
        const LLVMValueRef callee =
            LLVMGetInlineAsm(signature, rows[i].assembly, strlen(rows[i].assembly), rows[i].constraints,
                             strlen(rows[i].constraints), 1, 0, LLVMInlineAsmDialectATT, 0);
        LLVMValueRef argument = e_workitem(e).v;
        LLVMBuildCall2(e->builder, signature, callee, &argument, 1, "");
        store_out(e, e_f32(e, 1));
        bytes object = {0};
        assert_int_equal(finish(e, &object), CDNAGEN_COMPILE);
        if (!strstr(cdnagen_error(), rows[i].says)) fail_msg("%s: %s", rows[i].constraints, cdnagen_error());
        assert_null(object.data);
        ir_free(e);
        assert_next_kernel_compiles();
    }
}

static void lds_beyond_the_chip_is_a_status(void **state) {
    (void)state;
    ir *const e = open_kernel("gfx950");
    const lds big = e_lds(e, "big", 163840 + 4096, 128);
    store_out(e, e_lds_load(e, big, F32, e_muli(e, e_workitem(e), 4), 163840));
    assert_refused(e, "local memory");
    assert_next_kernel_compiles();
}

/* What a machine refuses is named: open files, processes. Root is above the limit on processes. */
static void a_limit_of_the_machine_is_named(void **state) {
    (void)state;
    static const struct {
        int limit;
        const char *says;
    } rows[] = {{RLIMIT_NOFILE, "linking opens five files"}, {RLIMIT_NPROC, "limit on processes"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const pid_t child = fork();
        if (!child) {
            if (rows[i].limit == RLIMIT_NPROC && !geteuid() && setresuid(65534, 65534, 65534)) _exit(2);
            ir *const e = open_kernel("gfx950");
            store_out(e, e_f32(e, 1));
            setrlimit(rows[i].limit, &(struct rlimit){0, 0});
            bytes object = {0};
            if (finish(e, &object) != CDNAGEN_COMPILE) _exit(3);
            _exit(strstr(cdnagen_error(), rows[i].says) ? 0 : 4);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    assert_next_kernel_compiles();
}

static void an_unfinished_block_is_refused_by_the_verifier(void **state) {
    (void)state;
    ir *const e = open_kernel("gfx950");
    new_block(e, "without_end");
    assert_refused(e, "verifier");
}

static void an_undefined_function_is_refused_by_lld(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) { /* lld runs again after a failure */
        ir *const e = open_kernel("gfx950");
        const LLVMTypeRef type_of_missing = LLVMFunctionType(llvm_type(e, VOID), NULL, 0, 0);
        const LLVMValueRef missing = LLVMAddFunction(e->module, "missing", type_of_missing);
        LLVMBuildCall2(e->builder, type_of_missing, missing, NULL, 0, "");
        assert_refused(e, "missing");
        assert_next_kernel_compiles();
    }
}

static void linking_needs_an_object(void **state) {
    (void)state;
    ir *const e = open_kernel("gfx950");
    bytes object = {0};
    assert_int_equal(ir_link(e, &object), CDNAGEN_COMPILE);
    ir_free(e);
    ir_free(NULL);
}

static void what_is_no_object_is_not_disassembled(void **state) {
    (void)state;
    text listing = {0};
    assert_int_equal(ir_disassemble("not an ELF file", 15, &listing), CDNAGEN_BAD_OBJECT);
    text_free(&listing);
}

/* Every allocation of ours on the way to a code object fails once: a status, and nothing is left behind. */
static void exhausted_memory_is_a_status(void **state) {
    (void)state;
    assert_next_kernel_compiles(); /* what the process keeps exists now */
    const long before = mem_live();
    target t;
    assert_int_equal(target_parse("gfx950", &t), CDNAGEN_OK);
    int failures = 0;
    for (int k = 1; k < 20; k++) {
        mem_fail_at(k);
        ir *e = NULL;
        bytes object = {0};
        cdnagen_status status = ir_create(&t, "test", &e);
        if (status == CDNAGEN_OK) {
            const e_kernel kernel = {.symbol = "test", .threads = 64, .waves_per_eu = ""};
            e_kernel_begin(e, &kernel);
            status = finish(e, &object);
        }
        mem_fail_at(0);
        ir_free(e);
        bytes_free(&object);
        assert_int_equal(mem_live(), before);
        if (status == CDNAGEN_OK) {
            assert_int_equal(failures, k - 1);
            assert_true(failures > 0);
            return;
        }
        assert_int_equal(status, CDNAGEN_NO_MEMORY);
        failures++;
    }
    fail_msg("more than %d allocations", failures);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fatal_error_of_llvm_is_a_status),
        cmocka_unit_test(a_fatal_error_in_emission_and_printing_is_a_status),
        cmocka_unit_test(a_fatal_error_in_the_disassembler_is_a_status),
        cmocka_unit_test(code_that_is_none_is_listed_as_such),
        cmocka_unit_test(a_fatal_error_in_lld_is_a_status_and_the_end_of_linking),
        cmocka_unit_test(an_impossible_constraint_is_a_status),
        cmocka_unit_test(lds_beyond_the_chip_is_a_status),
        cmocka_unit_test(a_limit_of_the_machine_is_named),
        cmocka_unit_test(an_unfinished_block_is_refused_by_the_verifier),
        cmocka_unit_test(an_undefined_function_is_refused_by_lld),
        cmocka_unit_test(linking_needs_an_object),
        cmocka_unit_test(what_is_no_object_is_not_disassembled),
        cmocka_unit_test(exhausted_memory_is_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
