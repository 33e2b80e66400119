/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The search on a grid of a few variants: what is ranked, what never is, what a second run finds in the file. The
 * operator is mqa_logits with a tuning and a grade of this test's own. */
#include "tests/core/cmocka_tests.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gen/mqa_logits/mqa_logits.h"
#include "runtime/context.h"
#include "sim/sim.h"
#include "study/tune.h"

static char path[64];

static int fresh_file(void **state) {
    (void)state;
    snprintf(path, sizeof path, "/tmp/cdnagen_tune_%ld.db", (long)getpid());
    unlink(path);
    return 0;
}
static int remove_file(void **state) {
    (void)state;
    unlink(path);
    return 0;
}

/* ---- the operator ---- */

static const int64_t waves[] = {1, 2};
static const tune_axis axes[] = {{"w", waves, 2}, {"swp", NULL, 0}, {"h", NULL, 0}};

static int point(const target *t, int index, tune_point *out) {
    (void)t;
    snprintf(out->shape, sizeof out->shape, "seq=%d seq_kv=512 heads=32 dim=64 clean=0", index ? 64 : 8);
    snprintf(out->proof[0], sizeof out->proof[0], "seq=3 seq_kv=77 heads=32 dim=64 clean=0");
    snprintf(out->proof[1], sizeof out->proof[1], "seq=3 seq_kv=77 heads=32 dim=64");
    snprintf(out->bounds, sizeof out->bounds, "32, 64, %s, ANY", index ? "ANY" : "8");
    return index < 2;
}
static const char *const seeds[] = {"mfma32x32x64_bkv64_r1_w1_lds2_rs", NULL};
static const char *no_prune(const plan *p) {
    (void)p;
    return NULL;
}
static const char *prune_two_waves(const plan *p) { return strstr(p->tag, "_w2") ? "two waves" : NULL; }
static double no_mfmas(const plan *p) {
    (void)p;
    return 0;
}
/* So many that only the first, which has nothing to beat, is run. */
static double many_mfmas(const plan *p) {
    (void)p;
    return 1e15;
}
static cdnagen_status no_route(const target *t, const void *shape, int rank, void *variant) {
    (void)t, (void)shape, (void)rank, (void)variant;
    return fail(CDNAGEN_LIMIT, "no routes");
}
static cdnagen_status grade_swp_wrong(const plan *p, const problem *data, void *const *back, grade *out) {
    const cdnagen_status status = family_find("mqa_logits", 10)->workload->grade_outputs(p, data, back, out);
    if (strstr(p->tag, "_swp")) out->pass = 0;
    return status;
}

typedef struct operator_of_test {
    family family;
    tuning tuning;
    workload workload;
} operator_of_test;

static void make_operator(operator_of_test *o) {
    o->family = *family_find("mqa_logits", 10);
    o->workload = *o->family.workload;
    o->tuning = (tuning){axes, 3, point, seeds, no_prune, no_mfmas};
    o->family.route = no_route;
    o->family.workload = &o->workload;
    o->family.tuning = &o->tuning;
}

/* ---- runs ---- */

static struct {
    char text[64][160]; /* "tag status" of what was told */
    int count, kill_after;
} told;

static void tell(void *user, const tune_event *e) {
    (void)user;
    if (!e->tag) return;
    if (told.count < 64) snprintf(told.text[told.count], sizeof told.text[0], "%s %s", e->tag, e->status);
    told.count++;
    if (told.kill_after && told.count == told.kill_after) raise(SIGKILL);
}

static cdnagen *context(void) {
    const cdnagen_options options = {
        .size = sizeof options, .device = "sim", .target = "gfx950", .sim_mode = "late,threads=1", .cache_dir = ""};
    cdnagen *ctx = NULL;
    assert_int_equal(cdnagen_create_context(&options, &ctx), CDNAGEN_OK);
    return ctx;
}

static tune_totals run(cdnagen *ctx, const operator_of_test *o, int budget, const char *shapes, text *table) {
    static const measure_counts counts = {.turns = 1, .samples = 1, .replays = 1, .flush_bytes = 4096};
    const tune_options how = {.db = path, .shapes = shapes, .budget = budget, .counts = &counts, .report = tell};
    tune_totals n = {0};
    told.count = 0;
    if (tune_run(ctx, &o->family, &how, table, &n)) fail_msg("%s", cdnagen_error());
    return n;
}

/* The grid of a class: 2 wave counts, swp or not, 3 head sums. */
enum { GRID = 2 * 2 * 3 };

static void each_class_gets_a_row_and_a_second_run_times_nothing(void **state) {
    (void)state;
    operator_of_test o;
    make_operator(&o);
    cdnagen *ctx = context();
    text table = {0}, again = {0};
    const tune_totals first = run(ctx, &o, 100, NULL, &table);
    assert_true(first.grid >= 2 * GRID);
    assert_int_equal(first.seen, first.illegal + first.pruned + first.refused + first.spills + first.bound +
                                     first.wrong + first.ranked + first.left);
    assert_true(first.ranked >= 10);
    assert_int_equal(first.recalled, 0);
    assert_non_null(strstr(table.data, "\nROUTE(\"gfx950\", 32, 64, 8, ANY, \"mfma32x32x64_bkv64_r1_"));
    assert_non_null(strstr(table.data, "\nROUTE(\"gfx950\", 32, 64, ANY, ANY, \"mfma32x32x64_bkv64_r1_"));
    assert_non_null(strstr(table.data, "times are a model's: nothing was measured"));
    const tune_totals second = run(ctx, &o, 0, NULL, &again);
    assert_int_equal(second.recalled, first.ranked);
    assert_int_equal(second.ranked, first.ranked);
    assert_string_equal(table.data, again.data);
    text_free(&again);
    text_free(&table);
    cdnagen_free_context(ctx);
}

static void a_wrong_variant_is_recorded_and_never_ranked(void **state) {
    (void)state;
    operator_of_test o;
    make_operator(&o);
    o.workload.grade_outputs = grade_swp_wrong;
    cdnagen *ctx = context();
    text table = {0};
    const tune_totals n = run(ctx, &o, 100, "seq=8", &table);
    assert_true(n.wrong >= 1);
    assert_null(strstr(table.data, "_swp"));
    int wrong = 0;
    for (int i = 0; i < told.count; i++) {
        const int swp = strstr(told.text[i], "_swp") != NULL;
        assert_int_equal(swp, strstr(told.text[i], " wrong") != NULL);
        wrong += swp;
    }
    assert_int_equal(wrong, n.wrong);
    /* And is not run again. */
    o.workload.grade_outputs = family_find("mqa_logits", 10)->workload->grade_outputs;
    text_free(&table);
    const tune_totals again = run(ctx, &o, 100, "seq=8", &table);
    assert_int_equal(again.wrong, n.wrong);
    text_free(&table);
    cdnagen_free_context(ctx);
}

static void what_cannot_win_is_not_run(void **state) {
    (void)state;
    operator_of_test o;
    make_operator(&o);
    o.tuning.mfmas = many_mfmas;
    cdnagen *ctx = context();
    text table = {0};
    const tune_totals n = run(ctx, &o, 100, "seq=64", &table);
    assert_int_equal(n.ranked, 1);
    assert_true(n.bound >= 3);
    make_operator(&o);
    o.tuning.prune = prune_two_waves;
    const tune_totals pruned = run(ctx, &o, 100, "seq=64", &table);
    assert_true(pruned.pruned >= 1);
    for (int i = 0; i < told.count; i++) assert_null(strstr(told.text[i], "_w2"));
    text_free(&table);
    cdnagen_free_context(ctx);
}

static int is_two_waves(const void *variant) { return ((const mqa_variant *)variant)->waves == 2; }

static void kernels_for_diagnosis_are_never_tried(void **state) {
    (void)state;
    operator_of_test o;
    make_operator(&o);
    const diagnosis wrong = {.is_wrong = is_two_waves};
    o.family.diagnosis = &wrong;
    cdnagen *ctx = context();
    text table = {0};
    const tune_totals n = run(ctx, &o, 100, "seq=8", &table);
    assert_true(n.illegal >= 1 && n.ranked >= 1);
    for (int i = 0; i < told.count; i++)
        if (strstr(told.text[i], "_w2")) fail_msg("%s", told.text[i]);
    assert_null(strstr(table.data, "_w2"));
    text_free(&table);
    cdnagen_free_context(ctx);
}

static void the_budget_holds(void **state) {
    (void)state;
    operator_of_test o;
    make_operator(&o);
    cdnagen *ctx = context();
    text table = {0};
    const tune_totals n = run(ctx, &o, 3, "seq=64,heads=32", &table);
    assert_int_equal(n.ranked, 3);
    assert_true(n.left >= 1);
    text_free(&table);
    cdnagen_free_context(ctx);
}

static void kill_9_loses_the_running_variant_only(void **state) {
    (void)state;
    operator_of_test o;
    make_operator(&o);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        text table = {0};
        told.kill_after = 4;
        run(context(), &o, 100, "seq=64", &table);
        _exit(1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    cdnagen *ctx = context();
    text table = {0};
    assert_int_equal(run(ctx, &o, 100, "seq=64", &table).recalled, 4);
    text_free(&table);
    cdnagen_free_context(ctx);
}

/* ---- as on a GPU: the simulator's table under another name ---- */

static const hip_table *real;
static int graph_launches;
static hip_error graph_launch(hip_graph_exec graph, hip_stream stream) {
    graph_launches++;
    return real->graph_launch(graph, stream);
}

static void a_device_that_is_no_simulator_is_measured(void **state) {
    (void)state;
    operator_of_test o;
    make_operator(&o);
    cdnagen *ctx = context();
    assert_int_equal(context_ready(ctx), CDNAGEN_OK);
    real = ctx->device.hip;
    hip_table named = *real;
    named.provider = "libamdhip64 of a test";
    named.graph_launch = graph_launch;
    ctx->device.hip = &named;
    text table = {0};
    const tune_totals n = run(ctx, &o, 3, "seq=8", &table);
    assert_int_equal(n.ranked, 3);
    assert_int_equal(graph_launches, 3 * 2 * 2); /* variants, sides, hot and cold */
    assert_non_null(strstr(table.data, "us measured"));
    assert_null(strstr(table.data, "model"));
    text_free(&table);
    cdnagen_free_context(ctx);
}

static void what_cannot_be_tuned_is_named(void **state) {
    (void)state;
    operator_of_test o;
    make_operator(&o);
    cdnagen *ctx = context();
    text table = {0};
    tune_totals n = {0};
    tune_options how = {.db = path, .shapes = "seq=9", .budget = 1};
    assert_int_equal(tune_run(ctx, &o.family, &how, &table, &n), CDNAGEN_BAD_ARGUMENT);
    assert_non_null(strstr(cdnagen_error(), "seq=9"));
    how.db = "/no/such/folder/x.db";
    assert_int_equal(tune_run(ctx, &o.family, &how, &table, &n), CDNAGEN_IO);
    o.family.tuning = NULL;
    assert_int_equal(tune_run(ctx, &o.family, &how, &table, &n), CDNAGEN_BAD_ARGUMENT);
    text_free(&table);
    cdnagen_free_context(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(kill_9_loses_the_running_variant_only, fresh_file, remove_file),
        cmocka_unit_test_setup_teardown(each_class_gets_a_row_and_a_second_run_times_nothing, fresh_file, remove_file),
        cmocka_unit_test_setup_teardown(a_wrong_variant_is_recorded_and_never_ranked, fresh_file, remove_file),
        cmocka_unit_test_setup_teardown(what_cannot_win_is_not_run, fresh_file, remove_file),
        cmocka_unit_test_setup_teardown(kernels_for_diagnosis_are_never_tried, fresh_file, remove_file),
        cmocka_unit_test_setup_teardown(the_budget_holds, fresh_file, remove_file),
        cmocka_unit_test_setup_teardown(a_device_that_is_no_simulator_is_measured, fresh_file, remove_file),
        cmocka_unit_test_setup_teardown(what_cannot_be_tuned_is_named, fresh_file, remove_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
