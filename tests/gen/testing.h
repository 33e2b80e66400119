/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the operators' tests share: cmocka in its order, and short ways to a target, a plan and an expected error. */
#ifndef TESTS_GEN_TESTING_H
#define TESTS_GEN_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Before cmocka.h, which makes a macro of the name fail. */
#include "gen/family.h"

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static inline target target_of(const char *id) {
    target t;
    assert_int_equal(target_parse(id, &t), CDNAGEN_OK);
    return t;
}

static inline plan plan_on(const char *chip_name, const char *tag, const char *shape) {
    const target t = target_of(chip_name);
    plan p;
    if (plan_make(tag, shape, &t, 0, &p)) fail_msg("%s %s: %s", tag, shape, cdnagen_error());
    return p;
}

static inline plan plan_of(const char *tag, const char *shape) { return plan_on("gfx950", tag, shape); }

/* expect_error: the status, and every one of the NULL-terminated parts in the error's sentence. */
static inline void expect_error(const char *what, cdnagen_status got, cdnagen_status expected,
                                const char *const *parts) {
    if (got != expected)
        fail_msg("%s: expected %s, got %s (%s)", what, cdnagen_status_name(expected), cdnagen_status_name(got),
                 cdnagen_error());
    for (; *parts; parts++)
        if (!strstr(cdnagen_error(), *parts)) fail_msg("%s: no '%s' in: %s", what, *parts, cdnagen_error());
}

/* kernarg_of: what a launch hands to the kernel. */
static inline int64_t kernarg_of(const plan *p, const launch *l, int which) {
    int64_t wide = 0;
    int32_t narrow = 0;
    if (p->kernargs[which].kind == KERNARG_I32) {
        memcpy(&narrow, l->kernarg + p->kernargs[which].offset, sizeof narrow);
        return narrow;
    }
    memcpy(&wide, l->kernarg + p->kernargs[which].offset, sizeof wide);
    return wide;
}

/* prints_as: the fields of these uses, as the canonical text of a tag or a shape. */
enum { EVERY_USE = 1u << FIELD_KERNEL | 1u << FIELD_HOST | 1u << FIELD_WORKLOAD };
static inline void prints_as(const field_table *table, const void *s, unsigned uses, const char *expected) {
    text printed = {0};
    (strcmp(table->what, "tag") ? shape_print : tag_print)(table, s, uses, &printed);
    assert_string_equal(printed.data ? printed.data : "", expected);
    text_free(&printed);
}

/* no_log: for contexts whose warnings about spills nobody wants to read. */
static inline void no_log(void *user, cdnagen_log_level level, const char *line) {
    (void)user;
    (void)level;
    (void)line;
}

#endif
