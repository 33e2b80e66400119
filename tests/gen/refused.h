/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Launches with one thing wrong about them. */
#ifndef TESTS_GEN_REFUSED_H
#define TESTS_GEN_REFUSED_H

#include "tests/gen/testing.h"

/* mistake: what is replaced in the arguments of a good launch. */
typedef struct mistake {
    const char *tag, *shape;
    size_t offset, size;
    uint64_t value;
    cdnagen_status status;
    const char *says[3];
} mistake;

/* all_refused: none of them, nor NULL, is bound; each says what it must and leaves the launch as it was. `good` is an
 * argument struct of the operator's. */
static inline void all_refused(const family *f, const mistake *mistakes, size_t count, const void *good) {
    _Alignas(16) char args[512];
    assert_true(f->args_bytes <= sizeof args);
    for (const mistake *c = mistakes; c < mistakes + count; c++) {
        const plan p = plan_of(c->tag, c->shape);
        launch l = {.kernarg_bytes = 12345};
        memcpy(args, good, f->args_bytes);
        assert_int_equal(c->size, sizeof c->value);
        memcpy(args + c->offset, &c->value, c->size);
        const char *const says[] = {c->says[0], c->says[1], c->says[2], NULL};
        char what[160];
        snprintf(what, sizeof what, "row %d, %s", (int)(c - mistakes), c->says[0]);
        expect_error(what, f->bind(&p, NULL, args, &l), c->status, says);
        assert_int_equal(l.kernarg_bytes, 12345);
    }
    const plan p = plan_of(mistakes->tag, mistakes->shape);
    launch l;
    expect_error("NULL", f->bind(&p, NULL, NULL, &l), CDNAGEN_BAD_ARGUMENT,
                 (const char *const[]){"args is NULL", NULL});
}

#endif
