/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The route tables: each row is a canonical tag, and `auto` takes the first row that holds a shape and serves it
 * unpadded, or padded as the shape of its class. */
#include "tests/gen/mqa_testing.h"

#define ANY INT64_MAX
static const struct row {
    const char *chip;
    int64_t heads_max, dim_max, seq_max, seq_kv_max;
    const char *tag;
} rows[] = {
#define ROUTE(chip, heads_max, dim_max, seq_max, seq_kv_max, tag) {chip, heads_max, dim_max, seq_max, seq_kv_max, tag},
#include "gen/mqa_logits/routes_gfx942.inc"
#include "gen/mqa_logits/routes_gfx950.inc"
#undef ROUTE
};

static void tags_are_canonical_and_pin_no_split(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const mqa_variant v = variant_of(rows[i].tag);
        text printed = {0};
        tag_print(&mqa_logits_family.tag, &v, 1u << FIELD_KERNEL, &printed);
        assert_string_equal(printed.data, rows[i].tag);
        text_free(&printed);
        assert_non_null(chip_find(rows[i].chip, strlen(rows[i].chip)));
    }
}

/* expected: what the tables mean, looked up the slow way; NULL if no row serves the shape so. */
static const char *expected(const target *t, const mqa_shape *s) {
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct row *r = &rows[i];
        const mqa_variant v = variant_of(r->tag);
        if (strcmp(r->chip, t->chip->name) || s->heads > r->heads_max || s->dim > r->dim_max) continue;
        if ((s->seq < 0 || s->seq > r->seq_max) && r->seq_max != ANY) continue;
        if ((s->seq_kv < 0 || s->seq_kv > r->seq_kv_max) && r->seq_kv_max != ANY) continue;
        if (s->heads % TRIPLE_M(v.atom) && s->heads != r->heads_max) continue;
        if (s->dim % TRIPLE_K(v.atom) && s->dim != r->dim_max) continue;
        if (mqa_check(t, &v, s) == CDNAGEN_OK) return r->tag;
    }
    return NULL;
}

static void the_first_row_that_was_timed_with_what_it_pads_is_taken(void **state) {
    (void)state;
    static const int64_t lengths[][2] = {{-1, -1},    {-1, 4096},  {1, 1024},   {64, 8192},
                                         {256, 8192}, {257, 8192}, {4096, 4096}};
    static const int heads[] = {16, 32, 48, 64, 96, 128}, dims[] = {64, 128, 192, 256, 512};
    int served = 0;
    for (int c = 0; c < CHIP_COUNT; c++) {
        const target t = target_of(chips[c].name);
        for (size_t l = 0; l < COUNT(lengths); l++)
            for (size_t h = 0; h < COUNT(heads); h++)
                for (size_t d = 0; d < COUNT(dims); d++) {
                    const mqa_shape s = {.seq = lengths[l][0],
                                         .seq_kv = lengths[l][1],
                                         .heads = heads[h],
                                         .dim = dims[d],
                                         .clean = 1,
                                         .batch = 2};
                    const char *const tag = expected(&t, &s);
                    mqa_variant v;
                    if (!tag) continue;
                    assert_int_equal(mqa_route(&t, &s, 0, &v), CDNAGEN_OK);
                    const mqa_variant first = variant_of(tag);
                    if (memcmp(&v, &first, sizeof v))
                        fail_msg("%s heads=%d dim=%d seq=%d: not %s", t.text, heads[h], dims[d], (int)s.seq, tag);
                    served++;
                }
    }
    assert_true(served > 100);
}

/* row_of: the first row that holds a shape. */
static const struct row *row_of(const target *t, const mqa_shape *s) {
    for (size_t i = 0; i < COUNT(rows); i++)
        if (!strcmp(rows[i].chip, t->chip->name) && s->heads <= rows[i].heads_max && s->dim <= rows[i].dim_max &&
            s->seq <= rows[i].seq_max && s->seq_kv <= rows[i].seq_kv_max)
            return &rows[i];
    return NULL;
}

/* Every class that the tuner has for a chip is one that its table answers, with the tag that the tuner wrote for it. */
static void classes_take_the_rows_written_for_them(void **state) {
    (void)state;
    for (int c = 0; c < CHIP_COUNT; c++) {
        const target t = target_of(chips[c].name);
        tune_point p;
        for (int i = 0; mqa_tuning.point(&t, i, &p); i++) {
            const mqa_shape s = shape_of(p.shape);
            for (int k = 0; k < TUNE_PROOFS; k++) {
                const mqa_shape proof = shape_of(p.proof[k]);
                assert_int_equal(proof.heads, s.heads);
                assert_int_equal(proof.dim, s.dim);
            }
            const struct row *const r = row_of(&t, &s);
            mqa_variant v;
            char bounds[96];
            if (mqa_route(&t, &s, 0, &v)) fail_msg("%s %s: %s", t.text, p.shape, cdnagen_error());
            if (!r) fail_msg("%s %s: no row", t.text, p.shape);
            const int n = snprintf(bounds, sizeof bounds, "%d, %d, ", (int)r->heads_max, (int)r->dim_max);
            if (strncmp(bounds, p.bounds, n)) fail_msg("%s %s: a row for %s", t.text, p.shape, bounds);
            const mqa_variant first = variant_of(r->tag);
            if (memcmp(&v, &first, sizeof v)) fail_msg("%s %s: not %s", t.text, p.shape, r->tag);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tags_are_canonical_and_pin_no_split),
        cmocka_unit_test(the_first_row_that_was_timed_with_what_it_pads_is_taken),
        cmocka_unit_test(classes_take_the_rows_written_for_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
