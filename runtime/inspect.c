/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Checks of a finished code object: the last gate before it is cached, loaded or returned. */
#include "runtime/inspect.h"

#include <string.h>

/* Feature fields of e_flags. source: LLVM's AMDGPUUsage, "AMDGPU ELF Header e_flags", code object V4 and later */
enum { XNACK_SHIFT = 8, SRAMECC_SHIFT = 10, FEATURE_MASK = 3, FEATURE_OFF = 2, FEATURE_ON = 3 };

static int feature_fits(uint32_t e_flags, int shift, int wanted) {
    const int has = (int)(e_flags >> shift) & FEATURE_MASK;
    return wanted == 0 ? has < FEATURE_OFF : has == (wanted > 0 ? FEATURE_ON : FEATURE_OFF);
}

static cdnagen_status check_target(const plan *p, const codeobj *o) {
    const target *t = &p->target;
    if (o->chip != t->chip)
        return fail(CDNAGEN_BAD_OBJECT, "the code object is for %s, the target is %s", o->chip->name, t->text);
    if (!feature_fits(o->e_flags, XNACK_SHIFT, t->xnack) || !feature_fits(o->e_flags, SRAMECC_SHIFT, t->sramecc))
        return fail(CDNAGEN_BAD_OBJECT, "the code object's e_flags 0x%x do not have the features of target %s",
                    o->e_flags, t->text);
    if (o->abi_version != ABI_VERSION)
        return fail(CDNAGEN_BAD_OBJECT, "the code object's ABI version is %d, %d is needed", o->abi_version,
                    ABI_VERSION);
    return CDNAGEN_OK;
}

static cdnagen_status check_arguments(const plan *p, const codeobj_kernel *k) {
    size_t count = 0;
    for (size_t i = 0; i < k->arg_count; i++) {
        const codeobj_arg *has = &k->args[i];
        if (has->kind == ARG_HIDDEN) continue;
        if (count == p->kernarg_count)
            return fail(CDNAGEN_BAD_OBJECT, "%s has an argument at byte %u after the plan's last one", p->symbol,
                        has->offset);
        const kernarg *want = &p->kernargs[count++];
        const uint32_t size = want->kind == KERNARG_I32 ? 4 : 8;
        const kernel_arg_kind kind = want->kind == KERNARG_POINTER ? ARG_GLOBAL_BUFFER : ARG_BY_VALUE;
        /* codeobj cuts a name to fit. */
        if (*has->name && strncmp(has->name, want->name, sizeof has->name - 1) != 0)
            return fail(CDNAGEN_BAD_OBJECT, "%s: the argument at byte %u is %s, the plan says %s", p->symbol,
                        has->offset, has->name, want->name);
        if (has->offset != want->offset || has->size != size || has->kind != kind)
            return fail(CDNAGEN_BAD_OBJECT, "%s: argument %s is %u bytes at %u (%s), the plan says %u bytes at %u",
                        p->symbol, want->name, has->size, has->offset, has->value_kind, size, want->offset);
    }
    if (count != p->kernarg_count || k->kernarg_bytes < p->kernarg_bytes)
        return fail(CDNAGEN_BAD_OBJECT, "%s has %zu arguments in %u bytes, the plan says %zu in %u", p->symbol, count,
                    k->kernarg_bytes, p->kernarg_count, p->kernarg_bytes);
    return CDNAGEN_OK;
}

cdnagen_status inspect(const plan *p, const void *object, size_t size, resources *out) {
    codeobj o;
    TRY(codeobj_open(object, size, &o));
    TRY(check_target(p, &o));
    codeobj_kernel *k = &out->kernel;
    const cdnagen_status found = codeobj_find(&o, p->symbol, k);
    if (found == CDNAGEN_BAD_ARGUMENT) return fail(CDNAGEN_BAD_OBJECT, "the code object has no kernel %s", p->symbol);
    if (found) return found; /* a damaged note says where */
    if (k->lds_bytes != p->lds_bytes)
        return fail(CDNAGEN_BAD_OBJECT, "%s takes %u bytes of LDS, the plan says %u", p->symbol, k->lds_bytes,
                    p->lds_bytes);
    const uint32_t threads = p->block[0] * p->block[1] * p->block[2];
    if (k->max_workgroup < threads)
        return fail(CDNAGEN_BAD_OBJECT, "%s was compiled for %u work items a workgroup, the plan says %u", p->symbol,
                    k->max_workgroup, threads);
    TRY(check_arguments(p, k));
    out->occupancy = codeobj_occupancy(o.chip, k, threads, 0);
    return CDNAGEN_OK;
}

int spills(const resources *r) {
    const codeobj_kernel *k = &r->kernel;
    return k->vgpr_spills || k->sgpr_spills || k->scratch_bytes || k->dynamic_stack;
}
