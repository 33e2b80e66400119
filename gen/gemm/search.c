/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Choices of `auto`, one after another. */
#include "gen/gemm/search.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "core/integer.h"
#include "gen/gemm/tiling.h"

cdnagen_status gemm_search_parse(const gemm_search *s, const char *body, void *variant) {
    char tag[SYMBOL_MAX];
    const atom *const a = gemm_atom_of(s->target->chip);
    snprintf(tag, sizeof tag, "mfma%dx%dx%d_%s", a->m, a->n, a->k, body);
    return tag_parse(&s->family->tag, tag, variant);
}

void gemm_search_add(gemm_search *s, const void *variant) {
    const field_table *const tag = &s->family->tag;
    _Alignas(16) unsigned char shape[SHAPE_BYTES_MAX];
    memcpy(shape, s->shape, s->family->shape.struct_bytes);
    s->family->complete(variant, shape);
    if (s->family->check(s->target, variant, shape)) {
        text_add(&s->lacking, "; ");
        tag_print(tag, variant, 1u << FIELD_KERNEL, &s->lacking);
        text_add(&s->lacking, ": %s", cdnagen_error());
        return;
    }
    for (int i = 0; i < s->count; i++)
        if (!memcmp(s->found[i], variant, tag->struct_bytes)) return;
    assert(s->count < GEMM_FOUND_MAX);
    memcpy(s->found[s->count++], variant, tag->struct_bytes);
}

cdnagen_status gemm_search_end(gemm_search *s, cdnagen_status status, void *variant) {
    if (!status && s->rank < s->count) {
        memcpy(variant, s->found[s->rank], s->family->tag.struct_bytes);
    } else if (!status) {
        text words = {0};
        shape_print(&s->family->shape, s->shape, 1u << FIELD_HOST, &words);
        status =
            fail(CDNAGEN_LIMIT, "%s: auto has %d choices for %s on %s, all passed over%s", s->family->name, s->count,
                 words.data ? words.data : "", s->target->chip->name, s->lacking.data ? s->lacking.data : "");
        text_free(&words);
    }
    text_free(&s->lacking);
    return status;
}

int gemm_parts(const chip *c, int64_t tiles, int64_t k) {
    enum { PARTS_MAX = 8, PART_BLOCKS_MIN = 2 };
    const int64_t parts = tiles ? ceil_div(c->cus, tiles) : 1;
    return (int)smaller(smaller(parts, PARTS_MAX), k / (PART_BLOCKS_MIN * GEMM_SCALE_K));
}
