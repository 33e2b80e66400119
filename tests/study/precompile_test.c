/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Precompile: shards, resumption, the same bytes in any order, and workers that hang, crash or run out of memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "study/precompile.h"
#include "tests/cli/command.h"
#include "tests/core/cmocka_tests.h"

#include <jansson.h>

#define DIRECT "mqa_logits:mfma32x32x64_bkv32_r1_w1_hfma"
#define THREE DIRECT " heads=32,64 dim=64\\n" DIRECT " heads=64 dim=128\\n"

static outcome precompile(const char *environment, const char *words, int code) {
    char line[512];
    snprintf(line, sizeof line, "precompile %s", words);
    outcome o = command_run(environment, line);
    if (o.code != code) fail_msg("%s: exit code %d\n%s%s", words, o.code, o.out, o.err);
    return o;
}

static void precompile_says(const char *environment, const char *words, int code, const char *what) {
    outcome o = precompile(environment, words, code);
    says(o.out, what);
    command_free(&o);
}

static json_t *report_of(const char *path) {
    char *read = command_read(path);
    json_t *all = json_loads(read, 0, NULL);
    if (!all) fail_msg("%s is not JSON:\n%s", path, read);
    free(read);
    return all;
}

static const char *member(const json_t *report, size_t entry, const char *key) {
    const json_t *j = json_object_get(json_array_get(json_object_get(report, "entries"), entry), key);
    return j ? json_string_value(j) : "";
}

static void a_bad_line_never_stops_the_rest(void **state) {
    (void)state;
    command_shell("printf '# kernels\\n\\n" DIRECT " heads=64 dim=128\\nmqa_logits:frob heads=64 dim=128\\n" DIRECT
                  " heads=1..x dim=64\\n-o heads=64\\n" DIRECT " heads=32 dim=64  # the last\\n' >jobs");
    outcome o = precompile("", "--jobs jobs --out d", 1);
    says(o.out, "gfx950, line 4: mqa_logits:frob");
    says(o.out, "BAD_TAG");
    says(o.out, "5 jobs: 2 generated, 0 were there, 3 failed; report in d/report.json");
    command_free(&o);
    command_shell("test $(ls d/gfx950/*.co | wc -l) = 2 && test ! -e heads=64");
    json_t *report = report_of("d/report.json");
    static const char *const statuses[] = {"CDNAGEN_OK", "CDNAGEN_BAD_TAG", "CDNAGEN_BAD_SHAPE", "CDNAGEN_BAD_TAG",
                                           "CDNAGEN_OK"};
    for (size_t i = 0; i < 5; i++) assert_string_equal(member(report, i, "status"), statuses[i]);
    assert_int_equal(json_integer_value(json_object_get(json_array_get(json_object_get(report, "entries"), 1), "line")),
                     4);
    says(member(report, 2, "error"), "'1..x' is no range");
    json_decref(report);
    /* What was made is a cache root. */
    o = command_run("CDNAGEN_CACHE_DIR=d CDNAGEN_CACHE_ONLY=1", "gen " DIRECT " heads=64 dim=128");
    says(o.out, "cache        hit (disk)");
    command_free(&o);
}

static void what_is_there_is_not_made_again(void **state) {
    (void)state;
    command_shell("printf '" THREE "' >jobs");
    precompile_says("", "--jobs jobs --out d", 0, "3 jobs: 3 generated, 0 were there, 0 failed");
    command_shell("rm -r d/gfx950 && find d/v1 -type f | head -1 | xargs truncate -s 100");
    precompile_says("", "--jobs jobs --out d", 0, "3 jobs: 1 generated, 2 were there, 0 failed");
    command_shell("test $(ls d/gfx950/*.co | wc -l) = 3");
    precompile_says("", "--jobs jobs --out d", 0, "3 jobs: 0 generated, 3 were there, 0 failed");
}

/* One after the other, at once, in two shards, from another folder, another order, another locale, other variables. */
static void the_bytes_depend_on_the_jobs_alone(void **state) {
    (void)state;
    command_shell("printf '" THREE "' >jobs && printf '" DIRECT " heads=64 dim=128\\n" DIRECT
                  " dim=64 heads=64,32\\n' >turned && mkdir -p 'far away'");
    precompile_says("", "--jobs jobs --out a -j 1", 0, " 0 failed");
    precompile_says("LC_ALL=C.UTF-8 TZ=Asia/Tokyo CDNAGEN_TARGET=gfx942 CDNAGEN_CACHE=off "
                    "CDNAGEN_CACHE_ONLY=1 CDNAGEN_DEVICE=gpu TMPDIR=/nowhere",
                    "--jobs turned --out 'far away/b' -j 3 --target gfx950 --timeout 600", 0, " 0 failed");
    precompile_says("", "--jobs jobs --out c --shard 1/2", 0, "1 jobs: 1 generated");
    precompile_says("", "--jobs jobs --out c --shard 0/2", 0, "2 jobs: 2 generated");
    command_shell("test -f c/report-0-of-2.json && test -f c/report-1-of-2.json");
    command_shell("diff -r a/v1 'far away/b/v1' && diff -r a/gfx950 'far away/b/gfx950'");
    command_shell("diff -r a/v1 c/v1 && diff -r a/gfx950 c/gfx950");
    precompile_says("", "--jobs jobs --out again -j 2", 0, " 0 failed");
    command_shell("diff -r a again"); /* the report too */
}

/* As container runtimes mount volumes; the workers are told too whom to trust. */
static void a_folder_that_all_can_write_is_filled_on_request(void **state) {
    (void)state;
    command_shell("printf '" DIRECT " heads=64 dim=128\\n' >jobs && mkdir d && chmod 0777 d");
    precompile_says("", "--jobs jobs --out d", 1, "set CDNAGEN_CACHE_TRUST=all");
    precompile_says("CDNAGEN_CACHE_TRUST=all", "--jobs jobs --out d", 0, "1 jobs: 1 generated");
}

static void several_targets_are_told_apart(void **state) {
    (void)state;
    command_shell("printf '" DIRECT " heads=64 dim=128\\n' >jobs");
    precompile_says("", "--jobs jobs --out d --target gfx950,gfx950:xnack-", 0, "2 jobs: 2 generated");
    command_shell("test -f d/gfx950/*.co && test -f d/gfx950:xnack-/*.co && test $(find d/v1 -type f | wc -l) = 2");
}

/* Without memory a sanitizer's own start ends in ways that are not the command's. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define STARTS_A_SANITIZER 1
#endif
#endif
#ifndef STARTS_A_SANITIZER
#define STARTS_A_SANITIZER 0
#endif

static void a_memory_limit_is_one_kernels_own(void **state) {
    (void)state;
    command_shell("printf '" DIRECT " heads=64 dim=128\\n' >jobs");
    precompile_says("", "--jobs jobs --out d --memory 1", 1, "under a limit of 1 MB");
    json_t *report = report_of("d/report.json");
    if (!STARTS_A_SANITIZER) assert_string_equal(member(report, 0, "status"), "CDNAGEN_NO_MEMORY");
    json_decref(report);
    precompile_says("", "--jobs jobs --out d", 0, "1 jobs: 1 generated");
}

/* ---- workers that do what they should not: a script in their place ---- */

typedef struct told {
    int events, last_done, total;
    char error[4][512];
    cdnagen_status status[4];
} told;

static void note(void *user, const precompile_event *e) {
    told *t = user;
    const int line = e->job->line - 1;
    t->events++;
    t->total = (int)e->total;
    t->last_done = (int)e->done;
    t->status[line] = e->status;
    snprintf(t->error[line], sizeof t->error[line], "%s", e->error);
}

static void misbehaving_workers_are_contained_and_told(void **state) {
    (void)state;
    command_shell("printf '" DIRECT " heads=32 dim=64\\n" DIRECT " heads=32 dim=128\\n" DIRECT " heads=64 dim=64\\n"
                  "" DIRECT " heads=64 dim=128\\n' >jobs");
    command_shell("printf '#!/bin/sh\\n"
                  "case \"$3 $4\" in\\n"
                  "\"heads=32 dim=64\") exec sleep 600;;\\n"
                  "\"heads=32 dim=128\") echo about to fall >&2; kill -SEGV $$;;\\n"
                  "\"heads=64 dim=64\") exit 0;;\\n"
                  "*) exec " CDNAGEN_COMMAND " \"$@\";;\\nesac\\n' >script && chmod +x script");
    char jobs[128], dir[128], script[128];
    snprintf(jobs, sizeof jobs, "%s/jobs", command_folder());
    snprintf(dir, sizeof dir, "%s/d", command_folder());
    snprintf(script, sizeof script, "%s/script", command_folder());
    const precompile_options options = {.jobs_path = jobs,
                                        .targets = "gfx950",
                                        .dir = dir,
                                        .shards = 1,
                                        .workers = 2,
                                        .seconds = 30,
                                        .program = script};
    told t = {0};
    precompile_totals totals;
    assert_int_equal(precompile_run(&options, note, &t, &totals), CDNAGEN_OK);
    assert_int_equal(totals.jobs, 4);
    assert_int_equal(totals.failed, 3);
    assert_int_equal(totals.made, 1);
    assert_int_equal(t.events, 4);
    assert_int_equal(t.last_done, 4);
    assert_int_equal(t.total, 4);
    says(t.error[0], "stopped after 30 seconds");
    assert_int_equal(t.status[0], CDNAGEN_COMPILE);
    says(t.error[1], "signal 11 (SEGV): about to fall");
    assert_int_equal(t.status[1], CDNAGEN_COMPILE);
    says(t.error[2], "it was generated, but");
    assert_int_equal(t.status[2], CDNAGEN_IO);
    assert_int_equal(t.status[3], CDNAGEN_OK);
}

static void a_worker_that_cannot_be_started_is_told(void **state) {
    (void)state;
    command_shell("printf '" DIRECT " heads=32 dim=64\\n' >jobs");
    char jobs[128], dir[128];
    snprintf(jobs, sizeof jobs, "%s/jobs", command_folder());
    snprintf(dir, sizeof dir, "%s/d", command_folder());
    const precompile_options options = {
        .jobs_path = jobs, .targets = "gfx950", .dir = dir, .shards = 1, .workers = 1, .program = "/nowhere/cdnagen"};
    told t = {0};
    precompile_totals totals;
    assert_int_equal(precompile_run(&options, note, &t, &totals), CDNAGEN_OK);
    assert_int_equal(totals.failed, 1);
    says(t.error[0], "cannot start a worker, /nowhere/cdnagen: No such file");
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, command_setup, command_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_bad_line_never_stops_the_rest),
        TEST(what_is_there_is_not_made_again),
        TEST(the_bytes_depend_on_the_jobs_alone),
        TEST(several_targets_are_told_apart),
        TEST(a_folder_that_all_can_write_is_filled_on_request),
        TEST(a_memory_limit_is_one_kernels_own),
        TEST(misbehaving_workers_are_contained_and_told),
        TEST(a_worker_that_cannot_be_started_is_told),
    };
    return cmocka_run_group_tests_name("precompile", tests, NULL, NULL);
}
