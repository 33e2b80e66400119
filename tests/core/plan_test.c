/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gen/plan.c with an operator of this test's own. */
#include "tests/core/cmocka_tests.h"

#include <string.h>

#include "gen/family.h"
#include "tests/core/example_table.h"

static cdnagen_status check(const target *t, const void *variant, const void *shape) {
    const example_variant *v = variant;
    (void)shape;
    if (v->tile == 999) return fail(CDNAGEN_LIMIT, "%s holds no tile of 999", t->chip->name);
    return CDNAGEN_OK;
}

static cdnagen_status make_plan(plan *p) {
    const example_variant *v = (const void *)p->variant;
    assert_string_not_equal(p->symbol, "");
    p->block[0] = (uint32_t)v->tile;
    return CDNAGEN_OK;
}

static cdnagen_status route(const target *t, const void *shape, int rank, void *variant) {
    const example_shape *s = shape;
    (void)t;
    if (rank > 1) return fail(CDNAGEN_LIMIT, "no choice is left");
    const example_variant choice = {
        .atom = TRIPLE(32, 32, 64), .tile = s->heads, .rows = 1 + rank, .depth = 2, .pipeline = 0};
    memcpy(variant, &choice, sizeof choice);
    return CDNAGEN_OK;
}

static const family example_family = {
    .name = "example",
    .tag = {.operator_name = "example",
            .what = "tag",
            .fields = example_tag_fields,
            .count = COUNT(example_tag_fields),
            .struct_bytes = sizeof(example_variant)},
    .shape = {.operator_name = "example",
              .what = "shape",
              .fields = example_shape_fields,
              .count = COUNT(example_shape_fields),
              .struct_bytes = sizeof(example_shape)},
    .check = check,
    .make_plan = make_plan,
    .route = route,
};
static const family other_family = {.name = "other"};
const family *const families[] = {&example_family, &other_family, NULL};

const family *family_find(const char *name, size_t length) {
    for (const family *const *f = families; *f; f++)
        if (strlen((*f)->name) == length && !memcmp((*f)->name, name, length)) return *f;
    return NULL;
}

static target gfx950(void) {
    target t;
    assert_int_equal(target_parse("gfx950", &t), CDNAGEN_OK);
    return t;
}

static void texts_and_symbol_are_canonical(void **state) {
    (void)state;
    const target t = gfx950();
    plan p;
    assert_int_equal(plan_make("example:mfma32x32x64_bkv64_hfma_ns4", "kind=empty heads=64 seq=7", &t, 0, &p),
                     CDNAGEN_OK);
    assert_ptr_equal(p.family, &example_family);
    assert_string_equal(p.tag, "mfma32x32x64_bkv64_r1_hfma_ns4");
    assert_string_equal(p.kernel_tag, "mfma32x32x64_bkv64_r1_hfma");
    assert_string_equal(p.shape_text, "seq=7 heads=64 clean=1 kind=empty");
    assert_string_equal(p.facts, "heads=64 clean=1");
    assert_string_equal(p.symbol, "example_mfma32x32x64_bkv64_r1_hfma_heads64_clean1");
    assert_string_equal(p.target.text, "gfx950");
    assert_int_equal(p.block[0], 64);
}

static void host_fields_and_run_time_words_leave_the_symbol(void **state) {
    (void)state;
    const target t = gfx950();
    plan a, b;
    assert_int_equal(plan_make("example:mfma32x32x64_bkv64", "heads=64", &t, 0, &a), CDNAGEN_OK);
    assert_int_equal(plan_make("example:mfma32x32x64_bkv64_ns9", "heads=64 seq=99 kind=empty", &t, 0, &b), CDNAGEN_OK);
    assert_string_equal(a.symbol, b.symbol);
    assert_string_not_equal(a.tag, b.tag);
}

static void auto_takes_the_ranked_route(void **state) {
    (void)state;
    const target t = gfx950();
    plan p;
    assert_int_equal(plan_make("example:auto", "heads=64", &t, 0, &p), CDNAGEN_OK);
    assert_string_equal(p.tag, "mfma32x32x64_bkv64_r1");
    assert_int_equal(plan_make("example:auto", "heads=64", &t, 1, &p), CDNAGEN_OK);
    assert_string_equal(p.tag, "mfma32x32x64_bkv64_r2");
    assert_int_equal(plan_make("example:auto", "heads=64", &t, 2, &p), CDNAGEN_LIMIT);
    assert_int_equal(plan_make("example:auto", "heads=1", &t, 0, &p), CDNAGEN_BAD_TAG); /* a route is checked too */
}

static const struct bad_plan {
    const char *tag, *shape;
    cdnagen_status status;
    const char *says;
} bad_plans[] = {
    {"exampel:auto", "heads=64", CDNAGEN_BAD_TAG, "unknown operator 'exampel'; known: example, other"},
    {":auto", "heads=64", CDNAGEN_BAD_TAG, "unknown operator ''"},
    {"example", "heads=64", CDNAGEN_BAD_TAG, "write example:FIELDS or example:auto"},
    {"mfma32x32x64", "heads=64", CDNAGEN_BAD_TAG, "names no operator: write OPERATOR:FIELDS"},
    {"", "heads=64", CDNAGEN_BAD_TAG, "names no operator"},
    {"example:", "heads=64", CDNAGEN_BAD_TAG, "it is empty"},
    {"example:autos", "heads=64", CDNAGEN_BAD_TAG, "'autos' is not a field"},
    {"example:mfma32x32x64_bkv64", "heads=x", CDNAGEN_BAD_SHAPE, "'x' is not a number"},
    {"example:auto", "", CDNAGEN_BAD_SHAPE, "heads is missing"},
    {"example:mfma32x32x64_bkv999", "heads=64", CDNAGEN_LIMIT, "gfx950 holds no tile of 999"},
    {NULL, "heads=64", CDNAGEN_BAD_ARGUMENT, "must not be NULL"},
    {"example:auto", NULL, CDNAGEN_BAD_ARGUMENT, "must not be NULL"},
};

static void bad_requests_are_explained_and_change_nothing(void **state) {
    (void)state;
    const target t = gfx950();
    for (size_t i = 0; i < COUNT(bad_plans); i++) {
        static plan p, before;
        memset(&p, 0x5a, sizeof p);
        memset(&before, 0x5a, sizeof before);
        assert_int_equal(plan_make(bad_plans[i].tag, bad_plans[i].shape, &t, 0, &p), bad_plans[i].status);
        assert_memory_equal(&p, &before, sizeof p);
        if (!strstr(cdnagen_error(), bad_plans[i].says))
            fail_msg("\"%s\" does not say \"%s\"", cdnagen_error(), bad_plans[i].says);
    }
}

static void structs_are_checked(void **state) {
    (void)state;
    const target t = gfx950();
    plan p;
    example_variant v = {.atom = TRIPLE(32, 32, 64), .tile = 64, .rows = 1, .depth = 2};
    const example_shape s = {-1, 64, 1, 0, 1};
    assert_int_equal(plan_from_structs(&example_family, &v, &s, &t, &p), CDNAGEN_OK);
    assert_string_equal(p.tag, "mfma32x32x64_bkv64_r1");
    v.pipeline = 1;
    assert_int_equal(plan_from_structs(&example_family, &v, &s, &t, &p), CDNAGEN_BAD_TAG);
    assert_int_equal(plan_from_structs(&example_family, NULL, &s, &t, &p), CDNAGEN_BAD_ARGUMENT);
}

/* A grammar whose canonical text outgrows the plan's arrays. */
static void texts_that_do_not_fit_are_refused(void **state) {
    (void)state;
    static char long_names[8][40];
    field fields[8];
    for (int i = 0; i < 8; i++) {
        memset(long_names[i], 'a' + i, sizeof long_names[i] - 1);
        fields[i] = (field){.name = long_names[i], .kind = FIELD_FLAG, .offset = (size_t)i * 8, .help = ""};
    }
    family f = example_family;
    f.tag = (field_table){.operator_name = "example", .what = "tag", .fields = fields, .count = 8, .struct_bytes = 64};
    const int64_t all[8] = {1, 1, 1, 1, 1, 1, 1, 1}, few[8] = {1, 1, 1, 1, 1, 1};
    const example_shape s = {-1, 64, 1, 0, 1};
    const target t = gfx950();
    plan p;
    assert_int_equal(plan_from_structs(&f, all, &s, &t, &p), CDNAGEN_LIMIT);
    assert_non_null(strstr(cdnagen_error(), "the canonical tag has 319 characters and at most 255 fit"));
    assert_int_equal(plan_from_structs(&f, few, &s, &t, &p), CDNAGEN_LIMIT);
    assert_non_null(strstr(cdnagen_error(), "is longer than the 255 characters that fit"));
}

static void allocations_may_fail(void **state) {
    (void)state;
    const target t = gfx950();
    const long before = mem_live();
    int failed = 0;
    for (long k = 1; k < 30; k++) {
        plan p;
        mem_fail_at(k);
        const cdnagen_status made = plan_make("example:mfma32x32x64_bkv64_ns4", "heads=64", &t, 0, &p);
        mem_fail_at(k);
        const cdnagen_status unknown = plan_make("nothing:auto", "heads=64", &t, 0, &p);
        mem_fail_at(0);
        assert_true(made == CDNAGEN_OK || made == CDNAGEN_NO_MEMORY);
        assert_true(unknown == CDNAGEN_BAD_TAG || unknown == CDNAGEN_NO_MEMORY);
        failed += made == CDNAGEN_NO_MEMORY;
        assert_int_equal(mem_live(), before);
    }
    assert_true(failed >= 5 && failed < 29);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_and_symbol_are_canonical),
        cmocka_unit_test(host_fields_and_run_time_words_leave_the_symbol),
        cmocka_unit_test(auto_takes_the_ranked_route),
        cmocka_unit_test(bad_requests_are_explained_and_change_nothing),
        cmocka_unit_test(structs_are_checked),
        cmocka_unit_test(texts_that_do_not_fit_are_refused),
        cmocka_unit_test(allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
