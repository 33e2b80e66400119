/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Lengths of N and K against the class that a kernel is made for. */
#include "gen/gemm/lengths.h"

#include <inttypes.h>

#include "core/integer.h"

/* axis: a length that is cut into tiles. */
typedef struct axis {
    const char *name;
    int64_t length, has_tail;
    int unit;
} axis;
enum { AXES = 2 };

static void axes_of(const gemm_class *c, int64_t n, int64_t k, axis out[AXES]) {
    out[0] = (axis){"k", k, c->k_tail, c->tile.bk};
    out[1] = (axis){"n", n, c->n_tail, c->tile.bn};
}

cdnagen_status gemm_check_shape(const char *op, const gemm_class *c, int64_t n, int64_t k) {
    axis axes[AXES];
    axes_of(c, n, k, axes);
    for (const axis *a = axes; a < axes + AXES; a++)
        if (!a->has_tail && a->length > 0 && a->length % a->unit)
            return fail(CDNAGEN_BAD_SHAPE,
                        "%s: %s_tail=0 asks for whole tiles, and %s=%" PRId64
                        " is not a multiple of %d: leave %s_tail out, or give 1",
                        op, a->name, a->name, a->length, a->unit, a->name);
    const int unroll = (int)c->unroll, bk = c->tile.bk, parts = c->tile.split_k;
    if (unroll && c->k_tail)
        return fail(CDNAGEN_BAD_SHAPE, "%s: unroll%d is whole K tiles: give k=%d, or k_tail=0", op, unroll,
                    unroll * bk);
    if (unroll && k >= 0 && k != unroll * bk)
        return fail(CDNAGEN_BAD_SHAPE, "%s: unroll%d is %d K tiles of %d, k=%d; k=%" PRId64 " is not that", op, unroll,
                    unroll, bk, unroll * bk, k);
    if (k > 0 && parts > ceil_div(k, bk))
        return fail(CDNAGEN_LIMIT, "%s: sk%d has more parts than k=%" PRId64 " has tiles of %d, %" PRId64, op, parts, k,
                    bk, ceil_div(k, bk));
    return CDNAGEN_OK;
}

cdnagen_status gemm_check_launch(const char *op, const gemm_class *c, int64_t n, int64_t k) {
    axis axes[AXES];
    axes_of(c, n, k, axes);
    for (const axis *a = axes; a < axes + AXES; a++)
        if (!a->has_tail && a->length % a->unit)
            return fail(CDNAGEN_BAD_ARGUMENT,
                        "%s: %s %" PRId64 " is not a multiple of %d, and this kernel has %s_tail=0: generate one with "
                        "%s_tail=1 or %s=%" PRId64,
                        op, a->name, a->length, a->unit, a->name, a->name, a->name, a->length);
    const int unroll = (int)c->unroll;
    if (unroll && k != unroll * c->tile.bk)
        return fail(CDNAGEN_BAD_ARGUMENT,
                    "%s: k %" PRId64 " is not the %d K tiles of unroll%d, k=%d: generate the tag without unroll", op, k,
                    unroll, unroll, unroll * c->tile.bk);
    return CDNAGEN_OK;
}

cdnagen_status gemm_tail_from_public(const char *op, const char *name, int32_t tail, int64_t *out) {
    /* Text words count 0, 1 and "left out"; a struct's zeros are what is left out. */
    static const int64_t words[] = {[CDNAGEN_TAIL_AS_SHAPE] = -1, [CDNAGEN_TAIL_ANY] = 1, [CDNAGEN_TAIL_NONE] = 0};
    if (tail < CDNAGEN_TAIL_AS_SHAPE || tail > CDNAGEN_TAIL_NONE)
        return fail(CDNAGEN_BAD_SHAPE, "%s shape: %s of %d is not a cdnagen_tail", op, name, tail);
    *out = words[tail];
    return CDNAGEN_OK;
}
