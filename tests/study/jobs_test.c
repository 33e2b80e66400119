/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Job lines: lists, ranges, comments, what is wrong with a line, and the jobs that routes make. */
#include "tests/core/cmocka_tests.h"

#include <stdio.h>
#include <string.h>

#include "gen/family.h"
#include "study/jobs.h"

static const struct {
    const char *lines, *jobs; /* each "LINE words\n", or "LINE ! part of the error\n" */
} rows[] = {
    {"", ""},
    {"\n \t\r\n# nothing\n", ""},
    {"op:tag", "1 op:tag\n"},
    {"op:tag a=1 b=2", "1 op:tag a=1 b=2\n"},
    {"  op:tag\ta=1   b=2 # why\r\n\nop:other\n", "1 op:tag a=1 b=2\n3 op:other\n"},
    {"op:t a=1,2,x", "1 op:t a=1\n1 op:t a=2\n1 op:t a=x\n"},
    {"op:t a=1..3", "1 op:t a=1\n1 op:t a=2\n1 op:t a=3\n"},
    {"op:t a=7..7", "1 op:t a=7\n"},
    {"op:t a=16..64:16", "1 op:t a=16\n1 op:t a=32\n1 op:t a=48\n1 op:t a=64\n"},
    {"op:t a=16..63:16", "1 op:t a=16\n1 op:t a=32\n1 op:t a=48\n"},
    {"op:t a=32..128:pow2", "1 op:t a=32\n1 op:t a=64\n1 op:t a=128\n"},
    {"op:t a=3..13:pow2", "1 op:t a=3\n1 op:t a=6\n1 op:t a=12\n"},
    {"op:t a=1,8..10:2,x", "1 op:t a=1\n1 op:t a=8\n1 op:t a=10\n1 op:t a=x\n"},
    {"op:t a=1,2 b=x,y", "1 op:t a=1 b=x\n1 op:t a=1 b=y\n1 op:t a=2 b=x\n1 op:t a=2 b=y\n"},
    {"op:t a=1..1000000000000000000", "1 ! is no range\n"},
    {"op:t a=999999999999999999..999999999999999999", "1 op:t a=999999999999999999\n"},
    {"op:t a=1..999999999999999999", "1 ! more than 1000000\n"},
    {"op:t a=1..1000 b=1..1001\nop:u", "1 ! more than 1000000 jobs\n2 op:u\n"},
    {"op:t a=1..\nop:t a=..3\nop:t a=3..1\nop:t a=1..3:0\nop:t a=0..8:pow2\nop:t a=1..3:pow3\nop:t a=1..3x",
     "1 ! '1..' is no range\n2 ! '..3'\n3 ! '3..1'\n4 ! '1..3:0'\n5 ! '0..8:pow2'\n6 ! '1..3:pow3'\n7 ! '1..3x'\n"},
    {"op:t a=", "1 op:t a=\n"}, /* for the parser of shapes to refuse */
    {"op:t a b=1,2", "1 op:t a b=1\n1 op:t a b=2\n"},
    {"op:1..3,4", "1 op:1..3,4\n"}, /* a tag has no ranges */
};

static void lines_are_written_out(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        job_list l = {0};
        assert_int_equal(jobs_parse(rows[i].lines, &l), CDNAGEN_OK);
        const char *want = rows[i].jobs;
        for (size_t j = 0; j < l.count; j++) {
            const size_t size = strcspn(want, "\n");
            char have[256], *says = NULL;
            snprintf(have, sizeof have, "%d %s", l.jobs[j].line, l.jobs[j].error ? "!" : l.jobs[j].words);
            const char *const mark = memchr(want, '!', size);
            if (mark) {
                char part[128];
                snprintf(part, sizeof part, "%.*s", (int)(want + size - mark - 2), mark + 2);
                says = l.jobs[j].error ? strstr(l.jobs[j].error, part) : NULL;
                if (!says) fail_msg("'%s': '%s', not '%s'", rows[i].lines, l.jobs[j].error, part);
                assert_true(l.jobs[j].status != CDNAGEN_OK);
            } else if (strlen(have) != size || memcmp(have, want, size) != 0) {
                fail_msg("'%s': job %zu is '%s', not '%.*s'", rows[i].lines, j, have, (int)size, want);
            }
            want += size + (want[size] == '\n');
        }
        if (*want) fail_msg("'%s': %zu jobs, and then '%s'", rows[i].lines, l.count, want);
        jobs_free(&l);
    }
}

static void exactly_a_million_fit(void **state) {
    (void)state;
    job_list l = {0};
    assert_int_equal(jobs_parse("op:t a=1..1000 b=1..1000\nop:u\n", &l), CDNAGEN_OK);
    assert_int_equal(l.count, 1000001);
    assert_string_equal(l.jobs[999999].words, "op:t a=1000 b=1000");
    assert_non_null(strstr(l.jobs[1000000].error, "more than 1000000 jobs"));
    jobs_free(&l);
}

/* A long word a million times over is refused before it takes the memory; the lines behind it are not. */
static void long_words_by_the_million_are_refused(void **state) {
    (void)state;
    static const char *const ranges[] = {"=1..1000000", "=1 b=1..1000000", "=1 b=1..1000 c=1..1000"};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        text lines = {0};
        text_add(&lines, "op:t %0400d%s\nop:u a=1..2\n", 0, ranges[i]);
        job_list l = {0};
        assert_int_equal(jobs_parse(lines.data, &l), CDNAGEN_OK);
        assert_int_equal(l.count, 3);
        assert_int_equal(l.jobs[0].status, CDNAGEN_LIMIT);
        assert_non_null(strstr(l.jobs[0].error, "more than 268435456 bytes"));
        assert_string_equal(l.jobs[2].words, "op:u a=2");
        jobs_free(&l);
        text_free(&lines);
    }
}

static void a_line_of_too_many_words_is_one_bad_job(void **state) {
    (void)state;
    text line = {0};
    for (int i = 0; i < 65; i++) text_add(&line, "w%d ", i);
    job_list l = {0};
    assert_int_equal(jobs_parse(line.data, &l), CDNAGEN_OK);
    assert_int_equal(l.count, 1);
    assert_non_null(strstr(l.jobs[0].error, "64 words"));
    jobs_free(&l);
    text_free(&line);
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    const long live = mem_live();
    cdnagen_status status = CDNAGEN_NO_MEMORY;
    long k = 1;
    for (; status && k < 1000; k++) {
        job_list l = {0};
        mem_fail_at(k);
        status = jobs_parse("op:t a=1,2..4 b=1..16:pow2\nop:t a=1..x\n", &l);
        mem_fail_at(0);
        assert_true(status == CDNAGEN_OK || status == CDNAGEN_NO_MEMORY);
        jobs_free(&l);
        assert_int_equal(mem_live(), live);
    }
    assert_in_range(k, 10, 999);
}

/* Every operator says over which shapes `auto` is to be ready, and its jobs are kernels, each of them once. */
static void routes_are_jobs_of_one_kernel_each(void **state) {
    (void)state;
    target t;
    job_list l = {0};
    assert_int_equal(target_parse(TARGET_STANDARD, &t), CDNAGEN_OK);
    assert_int_equal(jobs_of_routes(&t, &l), CDNAGEN_OK);
    for (const family *const *f = families; *f; f++) {
        size_t count = 0;
        int generated = 0;
        for (size_t i = 0; i < l.count; i++) count += !strncmp(l.jobs[i].words, (*f)->name, strlen((*f)->name));
        for (const char *const *shape = (*f)->examples; *shape && !generated; shape++) {
            plan p;
            char tag[SYMBOL_MAX];
            snprintf(tag, sizeof tag, "%s:auto", (*f)->name);
            generated = plan_make(tag, *shape, &t, 0, &p) == CDNAGEN_OK;
        }
        if (!(*f)->route_shapes || !count != !generated) fail_msg("%zu routes of %s are jobs", count, (*f)->name);
    }
    plan *plans = mem_alloc(l.count * sizeof *plans);
    for (size_t i = 0; i < l.count; i++) {
        char tag[SYMBOL_MAX];
        const char *const shape = strchr(l.jobs[i].words, ' ');
        snprintf(tag, sizeof tag, "%.*s", (int)(shape - l.jobs[i].words), l.jobs[i].words);
        assert_int_equal(plan_make(tag, shape + 1, &t, 0, &plans[i]), CDNAGEN_OK);
        for (size_t j = 0; j < i; j++) assert_string_not_equal(plans[i].symbol, plans[j].symbol);
    }
    mem_free(plans);
    jobs_free(&l);
}

enum { TAGS_MAX = 64 };
typedef struct tag_set {
    char tags[TAGS_MAX][SYMBOL_MAX];
    size_t count;
} tag_set;

/* has: whether the tag is in the set; with `add` it is from then on. */
static int has(tag_set *s, const char *tag, int add) {
    for (size_t i = 0; i < s->count; i++)
        if (!strcmp(s->tags[i], tag)) return 1;
    if (!add) return 0;
    assert_true(s->count < TAGS_MAX);
    strcpy(s->tags[s->count++], tag);
    return 1;
}

/* No tag that `auto` takes for some shape is missing among the jobs. */
static void routes_take_every_tag_that_auto_takes(void **state) {
    (void)state;
    static const char *const lengths[] = {"",
                                          "seq=1 seq_kv=4096 ",
                                          "seq=64 seq_kv=65536 ",
                                          "seq=256 seq_kv=256 ",
                                          "seq=257 seq_kv=1024 ",
                                          "seq=16384 seq_kv=16384 "};
    static const char op[] = "mqa_logits:auto";
    static tag_set set;
    for (int c = 0; c < CHIP_COUNT; c++) {
        target t;
        job_list l = {0};
        plan p;
        set.count = 0;
        assert_int_equal(target_parse(chips[c].name, &t), CDNAGEN_OK);
        assert_int_equal(jobs_of_routes(&t, &l), CDNAGEN_OK);
        for (size_t i = 0; i < l.count; i++) {
            if (strncmp(l.jobs[i].words, op, strlen(op)) != 0) continue;
            assert_int_equal(plan_make(op, l.jobs[i].words + strlen(op) + 1, &t, 0, &p), CDNAGEN_OK);
            has(&set, p.tag, 1);
        }
        for (int heads = 16; heads <= 128; heads++)
            for (int dim = 64; dim <= 512; dim += 32)
                for (size_t n = 0; n < sizeof lengths / sizeof *lengths; n++) {
                    char shape[96];
                    snprintf(shape, sizeof shape, "%sheads=%d dim=%d", lengths[n], heads, dim);
                    if (plan_make(op, shape, &t, 0, &p) == CDNAGEN_OK && !has(&set, p.tag, 0))
                        fail_msg("%s: %s takes %s, which no job of the routes does", t.text, shape, p.tag);
                }
        jobs_free(&l);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_written_out),
        cmocka_unit_test(exactly_a_million_fit),
        cmocka_unit_test(long_words_by_the_million_are_refused),
        cmocka_unit_test(a_line_of_too_many_words_is_one_bad_job),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(routes_are_jobs_of_one_kernel_each),
        cmocka_unit_test(routes_take_every_tag_that_auto_takes),
    };
    return cmocka_run_group_tests_name("jobs", tests, NULL, NULL);
}
