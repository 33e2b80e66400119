/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The key's text: every row of an operator's tag and shape tables that reaches the code changes it, and no other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache/cache.h"
#include "cdnagen_build_id.h"
#include "runtime/key.h"
#include "tests/runtime/fake_compile.h"
#include "tests/runtime/scratch.h"

#include <cmocka.h> /* after core/status.h: it has a macro fail() */

/* Where the walk over an operator's rows starts; an operator without a line here fails the test. */
static const struct base {
    const char *operator_name, *tag, *shape;
} bases[] = {
    {"mqa_logits", "mfma32x32x64_bkv64_r1_w1_lds2_swp_rs_hfma", "seq=128 seq_kv=1024 heads=64 dim=128 clean=1"},
    {"gemm_blockscale", "mfma16x16x128_t64x256x128_4w", "m=64 n=256 k=128 k_tail=0 n_tail=0"},
    {"gemm_grouped", "mfma16x16x128_t64x256x128", "layout=sizes groups=4 m=64 n=256 k=128 k_tail=0 n_tail=0"},
};

static const char base_shape[] = "seq=128 seq_kv=1024 heads=64 dim=128 clean=1";

static void copy_text(void (*print)(const field_table *, const void *, unsigned, text *), const field_table *table,
                      const void *s, unsigned uses, char out[SYMBOL_MAX]) {
    text t = {0};
    print(table, s, uses, &t);
    assert_false(t.failed);
    snprintf(out, SYMBOL_MAX, "%s", t.data ? t.data : "");
    text_free(&t);
}

/* A plan without the cross-field check, so that each row can be changed alone. */
static char *key_of(const family *f, const void *variant, const void *shape, const char *target_id) {
    plan *p = calloc(1, sizeof *p);
    p->family = f;
    assert_int_equal(target_parse(target_id, &p->target), CDNAGEN_OK);
    memcpy(p->variant, variant, f->tag.struct_bytes);
    memcpy(p->shape, shape, f->shape.struct_bytes);
    const unsigned kernel = 1u << FIELD_KERNEL;
    copy_text(tag_print, &f->tag, variant, kernel, p->kernel_tag);
    copy_text(shape_print, &f->shape, shape, kernel, p->facts);
    assert_int_equal(f->make_plan(p), CDNAGEN_OK);
    text t = {0};
    assert_int_equal(key_text(p, &t), CDNAGEN_OK);
    free(p);
    return t.data;
}

enum { VALUES_MAX = 64 };

/* The values of a row that are worth telling apart; returns how many. */
static int values_of(const field *f, int64_t values[VALUES_MAX]) {
    int n = 0, m, k, c;
    switch (f->kind) {
    case FIELD_FLAG: values[n++] = 0, values[n++] = 1; break;
    case FIELD_LIST: values[n++] = 0, values[n++] = 1; break; /* counts */
    case FIELD_NUMBER:
        values[n++] = f->max;
        values[n++] = f->min;
        if (!f->required && f->standard != f->min && f->standard != f->max) values[n++] = f->standard;
        break;
    case FIELD_WORD:
        while (f->words[n]) values[n] = n, n++;
        break;
    case FIELD_TRIPLE:
        for (; f->words[n]; n++) {
            assert_int_equal(sscanf(f->words[n], "%dx%dx%d", &m, &c, &k), 3);
            values[n] = TRIPLE(m, c, k);
        }
        break;
    }
    return n;
}

static void walk(const family *f, const field_table *table, void *varied, const void *variant, const void *shape) {
    for (size_t row = 0; row < table->count; row++) {
        const field *f_row = &table->fields[row];
        const int64_t kept = field_get(f_row, varied);
        int64_t values[VALUES_MAX];
        char *keys[VALUES_MAX];
        const int count = values_of(f_row, values);
        assert_true(count >= 2);
        for (int i = 0; i < count; i++) {
            field_set(f_row, varied, values[i]);
            keys[i] = key_of(f, variant, shape, "gfx950");
        }
        field_set(f_row, varied, kept);
        for (int i = 1; i < count; i++)
            for (int j = 0; j < i; j++) {
                const int same = !strcmp(keys[i], keys[j]);
                if (same != (f_row->use != FIELD_KERNEL))
                    fail_msg("%s %s: values %lld and %lld have %s key", table->what, f_row->name, (long long)values[i],
                             (long long)values[j], same ? "the same" : "not the same");
            }
        for (int i = 0; i < count; i++) mem_free(keys[i]);
    }
}

static void every_row_of_every_operators_tables(void **state) {
    (void)state;
    assert_non_null(families[0]);
    for (const family *const *f = families; *f; f++) {
        const struct base *b = bases;
        while (b < bases + sizeof bases / sizeof *bases && strcmp(b->operator_name, (*f)->name) != 0) b++;
        if (b == bases + sizeof bases / sizeof *bases) fail_msg("%s has no base to walk from", (*f)->name);
        _Alignas(16) unsigned char variant[VARIANT_BYTES_MAX], shape[SHAPE_BYTES_MAX];
        assert_int_equal(tag_parse(&(*f)->tag, b->tag, variant), CDNAGEN_OK);
        assert_int_equal(shape_parse(&(*f)->shape, b->shape, shape), CDNAGEN_OK);
        walk(*f, &(*f)->tag, variant, variant, shape);
        walk(*f, &(*f)->shape, shape, variant, shape);
    }
}

static void target_features_and_attribute_and_layout_change_the_key(void **state) {
    (void)state;
    static const char *const targets[] = {"gfx950", "gfx950:xnack-", "gfx950:xnack+", "gfx950:sramecc+", "gfx942"};
    enum { COUNT = sizeof targets / sizeof *targets };
    char *keys[COUNT + 2];
    plan p = {.family = family_find("mqa_logits", 10), .kernel_tag = "a", .facts = "b", .kernarg_version = 1};
    for (size_t i = 0; i < COUNT + 2; i++) {
        assert_int_equal(target_parse(targets[i < COUNT ? i : 0], &p.target), CDNAGEN_OK);
        if (i == COUNT) snprintf(p.waves_per_eu, sizeof p.waves_per_eu, "2,2");
        if (i == COUNT + 1) p.kernarg_version = 2;
        text t = {0};
        assert_int_equal(key_text(&p, &t), CDNAGEN_OK);
        keys[i] = t.data;
        for (size_t j = 0; j < i; j++) assert_string_not_equal(keys[i], keys[j]);
    }
    for (size_t i = 0; i < COUNT + 2; i++) mem_free(keys[i]);
}

static void the_text_is_one_fact_a_line(void **state) {
    (void)state;
    const family *f = family_find("mqa_logits", 10);
    _Alignas(16) unsigned char variant[VARIANT_BYTES_MAX], shape[SHAPE_BYTES_MAX];
    assert_int_equal(tag_parse(&f->tag, "mfma32x32x64_bkv64_lds2_wpe2_ns3", variant), CDNAGEN_OK);
    assert_int_equal(shape_parse(&f->shape, base_shape, shape), CDNAGEN_OK);
    char *key = key_of(f, variant, shape, "gfx950:xnack-");
    assert_string_equal(key, "operator mqa_logits\n"
                             "tag mfma32x32x64_bkv64_r1_w1_lds2_wpe2\n"
                             "waves_per_eu 2,2\n"
                             "shape heads=64 dim=128 clean=1\n"
                             "target gfx950:xnack-\n"
                             "code_object 5\n"
                             "kernarg 2\n"
                             "generator " CDNAGEN_BUILD_ID "\n"
                             "llvm 0.0.0\n"
                             "passes none\n");
    mem_free(key);
}

/* The fault this guards against: a sweep over wpe that measures one binary three times. */
static void wpe1_wpe2_and_none_are_three_entries_in_memory_and_on_disk(void **state) {
    (void)state;
    static const char *const tags[] = {"mqa_logits:mfma32x32x64_bkv64_lds2_swp_rs_hfma",
                                       "mqa_logits:mfma32x32x64_bkv64_lds2_swp_rs_hfma_wpe1",
                                       "mqa_logits:mfma32x32x64_bkv64_lds2_swp_rs_hfma_wpe2"};
    const cdnagen_options options = {
        .size = sizeof options, .target = "gfx950", .device = "none", .cache_dir = scratch_make()};
    fake_reset();
    char keys[3][CACHE_KEY_CHARS + 1];
    for (int round = 0; round < 3; round++) {
        /* Cold; again in the same context with another spelling of the shape; in a fresh context. */
        static cdnagen *ctx;
        if (round != 1) assert_int_equal(cdnagen_create_context(&options, &ctx), CDNAGEN_OK);
        for (int i = 0; i < 3; i++) {
            cdnagen_kernel *kernel;
            cdnagen_kernel_info info = {.size = sizeof info};
            assert_int_equal(gen_kernel(ctx, tags[i], round == 1 ? "dim=128 heads=64" : "heads=64 dim=128", &kernel),
                             CDNAGEN_OK);
            assert_int_equal(cdnagen_get_kernel_info(kernel, &info), CDNAGEN_OK);
            assert_int_equal(info.cache_tier, round == 0   ? CDNAGEN_TIER_NONE
                                              : round == 1 ? CDNAGEN_TIER_MEMORY
                                                           : CDNAGEN_TIER_DISK);
            assert_int_equal(info.waves_per_eu_asked, i);
            if (round == 0) snprintf(keys[i], sizeof keys[i], "%s", info.key);
            assert_string_equal(info.key, keys[i]);
            for (int j = 0; j < i; j++) assert_string_not_equal(keys[i], keys[j]);
            cdnagen_free_kernel(kernel);
        }
        if (round != 0) cdnagen_free_context(ctx);
    }
    assert_int_equal(fake.linked, 3);
    cache_census census;
    assert_int_equal(cache_walk(options.cache_dir, &(cache_visitor){0}, &census), CDNAGEN_OK);
    assert_int_equal(census.entries, 3);
    assert_int_equal(census.damaged, 0);
    scratch_remove();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_of_every_operators_tables),
        cmocka_unit_test(target_features_and_attribute_and_layout_change_the_key),
        cmocka_unit_test(the_text_is_one_fact_a_line),
        cmocka_unit_test(wpe1_wpe2_and_none_are_three_entries_in_memory_and_on_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
