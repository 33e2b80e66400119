/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The public forms of grouped GEMM that take tensors: their contracts, and what they mean as a shape and arguments. */
#ifndef GEN_GEMM_GROUPED_FORMS_H
#define GEN_GEMM_GROUPED_FORMS_H

#include "gen/gemm_grouped/gemm_grouped.h"

/* grouped_call: the tensors of one call; extents NULL where the form allows it. */
typedef struct grouped_call {
    cdnagen_grouped_form form;
    const cdnagen_tensor *xq, *wq, *x_scale, *w_scale, *extents, *out;
    int keep_padding;
} grouped_call;

/* grouped_form_bind: check every contract of a call and say it as a shape and arguments. `native` is what the chip's
 * matrix unit reads.   errors: BAD_ARGUMENT, naming the argument, its value and the rule; LIMIT */
cdnagen_status grouped_form_bind(const grouped_call *call, fp8_kind native, grouped_shape *shape,
                                 cdnagen_gemm_grouped_args *args);

/* grouped_form_route: the first variant that `auto` means and that needs no workspace. No variant that `auto` means
 * spills (tests/sweep/grouped_routed_test.c holds it), so that none has to be passed over.   errors: as
 * grouped_route */
cdnagen_status grouped_form_route(const target *t, const grouped_shape *shape, grouped_variant *variant);

/* grouped_bucket: the shape that stands for all calls that are tuned as one: rows, and columns or K where groups cut
 * them, up to the next power of two, of a group where groups share them; whatever else decides which kernels there are
 * is as it was. groups, m, n and k are not 0.
 * grouped_candidates: what such a call may be served by: first grouped_form_route's, then the tuner's tiles, each with
 * none and with two waves asked. Tiles that leave tails are left out unless every tile does.
 * shapes: out [GROUPED_CANDIDATES_MAX]   errors: as grouped_route */
enum { GROUPED_CANDIDATES_MAX = 64 };
grouped_shape grouped_bucket(const grouped_shape *shape);
cdnagen_status grouped_candidates(const target *t, const grouped_shape *shape, grouped_variant *out, size_t *count);

/* grouped_form_output: sizes of the result, contiguous, bf16, without memory.   errors: BAD_ARGUMENT */
cdnagen_status grouped_form_output(cdnagen_grouped_form form, const cdnagen_tensor *xq, const cdnagen_tensor *wq,
                                   const cdnagen_tensor *extents, cdnagen_tensor *out);

#endif
