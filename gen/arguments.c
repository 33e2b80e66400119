/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The checks of gen/arguments.h, and the bytes of a launch. */
#include "gen/arguments.h"

#include <inttypes.h>
#include <string.h>

uint64_t argument_bytes(int64_t rows, int64_t stride, int64_t columns, int element_bytes) {
    if (rows <= 0 || columns <= 0) return 0;
    uint64_t elements;
    if (__builtin_mul_overflow((uint64_t)(rows - 1), (uint64_t)stride, &elements) ||
        __builtin_add_overflow(elements, (uint64_t)columns, &elements) ||
        __builtin_mul_overflow(elements, (uint64_t)element_bytes, &elements))
        return UINT64_MAX;
    return elements;
}

cdnagen_status argument_check(const char *op, const argument *a) {
    if (!a->needed) return CDNAGEN_OK;
    if (!a->buffer.ptr)
        return fail(CDNAGEN_BAD_ARGUMENT, "%s: %s.ptr is NULL; it must name device memory", op, a->name);
    if ((uintptr_t)a->buffer.ptr % a->alignment)
        return fail(CDNAGEN_BAD_ARGUMENT, "%s: %s.ptr %p is not aligned to %u bytes", op, a->name, a->buffer.ptr,
                    a->alignment);
    if (a->buffer.bytes < a->needed)
        return fail(CDNAGEN_BAD_ARGUMENT, "%s: %s has %zu bytes, this launch needs %" PRIu64, op, a->name,
                    a->buffer.bytes, a->needed);
    return CDNAGEN_OK;
}

static cdnagen_status check_apart(const char *op, const argument *other, const argument *written) {
    const uintptr_t a = (uintptr_t)other->buffer.ptr, b = (uintptr_t)written->buffer.ptr;
    if (!other->needed || !written->needed) return CDNAGEN_OK;
    if (a < b ? b - a >= other->needed : a - b >= written->needed) return CDNAGEN_OK;
    return fail(CDNAGEN_BAD_ARGUMENT,
                "%s: %s at %p, %" PRIu64 " bytes, overlaps %s at %p, %" PRIu64 " bytes: give it memory of its own", op,
                written->name, written->buffer.ptr, written->needed, other->name, other->buffer.ptr, other->needed);
}

cdnagen_status arguments_check(const char *op, const argument *arguments, int count) {
    for (int i = 0; i < count; i++) TRY(argument_check(op, &arguments[i]));
    for (int w = 0; w < count; w++)
        for (int i = 0; i < count && arguments[w].is_written; i++)
            if (i < w || (i > w && !arguments[i].is_written)) TRY(check_apart(op, &arguments[i], &arguments[w]));
    return CDNAGEN_OK;
}

cdnagen_status argument_length(const char *op, const char *name, int64_t length, int64_t most) {
    if (length < 0)
        return fail(CDNAGEN_BAD_ARGUMENT, "%s: %s %" PRId64 " is negative; it must be 0 to %" PRId64, op, name, length,
                    most);
    if (length > most)
        return fail(CDNAGEN_LIMIT, "%s: %s %" PRId64 " is more than the %" PRId64 " that a kernel can address", op,
                    name, length, most);
    return CDNAGEN_OK;
}

cdnagen_status check_workgroups(const char *op, const plan *p, int64_t workgroups, const char *instead) {
    if (workgroups <= workgroups_most(p)) return CDNAGEN_OK;
    return fail(CDNAGEN_LIMIT,
                "%s: this launch needs %" PRId64 " workgroups of %u work items in x, HIP allows %" PRId64
                ": %s, or launch fewer rows at once",
                op, workgroups, p->block[0], workgroups_most(p), instead);
}

void argument_put(launch *l, const plan *p, int which, int64_t value) {
    const kernarg *const to = &p->kernargs[which];
    const int32_t narrow = (int32_t)value;
    if (to->kind == KERNARG_I32)
        memcpy(l->kernarg + to->offset, &narrow, sizeof narrow);
    else
        memcpy(l->kernarg + to->offset, &value, sizeof value);
}

void arguments_put(launch *l, const plan *p, const argument *arguments, int count) {
    for (int i = 0; i < count; i++) argument_put(l, p, i, (int64_t)(uintptr_t)arguments[i].buffer.ptr);
}
