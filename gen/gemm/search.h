/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How `auto` of the FP8 matrix products comes from the tags of its classes to the choice that was asked for. */
#ifndef GEN_GEMM_SEARCH_H
#define GEN_GEMM_SEARCH_H

#include "gen/family.h"

/* gemm_search: what one request for a rank has met so far. */
enum { GEMM_FOUND_MAX = 18 };
typedef struct gemm_search {
    const family *family;
    const target *target;
    const void *shape;
    int rank, count;                                                     /* asked for; found so far */
    _Alignas(16) unsigned char found[GEMM_FOUND_MAX][VARIANT_BYTES_MAX]; /* in their order, each once */
    text lacking;                                                        /* tags passed over, and why */
} gemm_search;

/* gemm_search_goes_on: the choice that was asked for is not among those found.
 * gemm_search_parse: a tag without its MFMA, which is the chip's.
 * gemm_search_add: a variant is one more choice if it serves the shape and is new.
 * gemm_search_end: the choice, unless `status` says that the search failed; frees what the search has.
 * errors: LIMIT, saying what each tag lacked */
static inline int gemm_search_goes_on(const gemm_search *s) { return s->count <= s->rank; }
cdnagen_status gemm_search_parse(const gemm_search *s, const char *body, void *variant);
void gemm_search_add(gemm_search *s, const void *variant);
cdnagen_status gemm_search_end(gemm_search *s, cdnagen_status status, void *variant);

/* gemm_parts: so many parts of K that `tiles` tiles fill the device; at most 8, each of two scale blocks or more. */
int gemm_parts(const chip *c, int64_t tiles, int64_t k);

#endif
