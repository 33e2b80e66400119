/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the gemm_grouped tests share: short ways to a variant and a shape. */
#ifndef TESTS_GEN_GROUPED_TESTING_H
#define TESTS_GEN_GROUPED_TESTING_H

/* Before the other, which includes cmocka.h, whose macro fail must not meet the name. */
#include "gen/gemm_grouped/forms.h"
#include "tests/gen/testing.h"

static inline grouped_variant variant_of(const char *tag) {
    grouped_variant v;
    if (tag_parse(&gemm_grouped_family.tag, tag, &v)) fail_msg("%s: %s", tag, cdnagen_error());
    return v;
}

static inline grouped_shape shape_of(const char *words) {
    grouped_shape s;
    if (shape_parse(&gemm_grouped_family.shape, words, &s)) fail_msg("%s: %s", words, cdnagen_error());
    return s;
}

#endif
