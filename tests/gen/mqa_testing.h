/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the mqa_logits tests share: short ways to a variant and a shape. */
#ifndef TESTS_GEN_MQA_TESTING_H
#define TESTS_GEN_MQA_TESTING_H

/* Before the other, which includes cmocka.h, whose macro fail must not meet the name. */
#include "gen/mqa_logits/mqa_logits.h"
#include "tests/gen/testing.h"

static inline mqa_variant variant_of(const char *tag) {
    mqa_variant v;
    if (tag_parse(&mqa_logits_family.tag, tag, &v)) fail_msg("%s: %s", tag, cdnagen_error());
    return v;
}

static inline mqa_shape shape_of(const char *words) {
    mqa_shape s;
    if (shape_parse(&mqa_logits_family.shape, words, &s)) fail_msg("%s: %s", words, cdnagen_error());
    return s;
}
#endif
