/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Bad input through the command: the message names what is wrong and what would be right, the exit code is the
 * documented one, and nothing is lost: no output file appears, and the next good command works. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/cli/command.h"

enum { CHECK_FAILED = 1, BAD_INPUT = 2, NO_GPU = 3 };
#define GOOD_TAG "mqa_logits:mfma32x32x64_bkv64_lds2_swp_rs_hfma"

static const struct row {
    const char *name, *environment, *words;
    int code;
    const char *says[5]; /* in stderr */
} rows[] = {
    {"no command", "", "", BAD_INPUT, {"usage:", "precompile"}},
    {"unknown command", "", "frobnicate", BAD_INPUT, {"frobnicate", "usage:"}},
    {"nothing to tune", "", "tune", BAD_INPUT, {"one operator", "cdnagen list"}},
    {"an unknown operator to tune", "", "tune frob", BAD_INPUT, {"frob", "cdnagen list"}},
    {"a budget that is no number", "", "tune mqa_logits --budget some", BAD_INPUT, {"--budget", "some"}},
    {"shapes that no class has", "", "tune mqa_logits --sim --db :memory: --shapes heads=7", BAD_INPUT, {"heads=7"}},
    {"a tuner's file in no folder", "", "tune mqa_logits --sim --db /no/such/x.db", BAD_INPUT, {"/no/such/x.db"}},
    {"no tag", "", "gen", BAD_INPUT, {"OP:TAG", "cdnagen list"}},
    {"unknown option", "", "gen --frob " GOOD_TAG, BAD_INPUT, {"--frob", "--target", "--dump"}},
    {"option of another command", "", "gen --check " GOOD_TAG, BAD_INPUT, {"--check", "known are"}},
    {"option without its value", "", "gen --target", BAD_INPUT, {"--target needs a value"}},
    {"flag with a value", "", "run --check=yes " GOOD_TAG, BAD_INPUT, {"--check takes no value", "yes"}},
    {"an unknown level of checks", "", "run --sim-check some " GOOD_TAG, BAD_INPUT, {"check=some", "off, races, all"}},
    {"sim and another device", "", "run --sim --device gpu " GOOD_TAG, BAD_INPUT, {"--sim", "gpu"}},
    {"less than no threads", "", "run --sim=late,threads=-1 " GOOD_TAG, BAD_INPUT, {"threads=-1", "1 to 999999999"}},
    {"no limit at all", "CDNAGEN_SIM=late,limit=0", "run --device sim " GOOD_TAG, BAD_INPUT, {"limit=0"}},
    {"a mode that is too long",
     "",
     "run "
     "--sim=late,late,late,late,late,late,late,late,late,late,late,late,late,late,late,late,late,late,late,late,late,"
     "late,late,late,late,late,threads=16 " GOOD_TAG,
     BAD_INPUT,
     {"at most 127"}},
    {"unknown device", "", "run --device tpu " GOOD_TAG " heads=64 dim=128", BAD_INPUT, {"tpu", "gpu", "sim"}},
    {"unknown simulator word",
     "",
     "run --sim=fast " GOOD_TAG " seq=1 seq_kv=64 heads=64 dim=128",
     BAD_INPUT,
     {"fast", "late", "poison"}},
    {"unknown operator", "", "gen frob:mfma heads=64 dim=128", BAD_INPUT, {"frob", "mqa_logits", "BAD_TAG"}},
    {"no operator", "", "gen mfma32x32x64_bkv64 heads=64 dim=128", BAD_INPUT, {"mqa_logits", "BAD_TAG"}},
    {"unknown tag field",
     "",
     "gen mqa_logits:mfma32x32x64_bkv64_frob heads=64 dim=128",
     BAD_INPUT,
     {"frob", "lds", "BAD_TAG"}},
    {"no digits", "", "gen mqa_logits:mfma32x32x64_bkvX heads=64 dim=128", BAD_INPUT, {"bkv", "BAD_TAG"}},
    {"number out of bounds",
     "",
     "gen mqa_logits:mfma32x32x64_bkv64_w99 heads=64 dim=128",
     BAD_INPUT,
     {"w99", "16", "BAD_TAG"}},
    {"unknown atom",
     "",
     "gen mqa_logits:mfma8x8x8_bkv64 heads=64 dim=128",
     BAD_INPUT,
     {"8x8x8", "32x32x64", "BAD_TAG"}},
    {"field without what it needs",
     "",
     "gen mqa_logits:mfma32x32x64_bkv64_swp heads=64 dim=128",
     BAD_INPUT,
     {"swp", "lds", "BAD_TAG"}},
    {"fields out of order",
     "",
     "gen mqa_logits:bkv64_mfma32x32x64 heads=64 dim=128",
     BAD_INPUT,
     {"bkv64", "mfma", "BAD_TAG"}},
    {"unknown shape word", "", "gen " GOOD_TAG " head=64 dim=128", BAD_INPUT, {"head", "heads", "dim", "BAD_SHAPE"}},
    {"missing shape word", "", "gen " GOOD_TAG " heads=64", BAD_INPUT, {"dim", "BAD_SHAPE"}},
    {"shape word without a number",
     "",
     "gen " GOOD_TAG " heads=many dim=128",
     BAD_INPUT,
     {"many", "heads", "BAD_SHAPE"}},
    {"shape word twice", "", "gen " GOOD_TAG " heads=64 heads=64 dim=128", BAD_INPUT, {"heads", "BAD_SHAPE"}},
    {"run-time word missing", "", "run --sim --json " GOOD_TAG " heads=64 dim=128", BAD_INPUT, {"seq", "BAD_SHAPE"}},
    {"LDS does not fit",
     "",
     "gen mqa_logits:mfma32x32x64_bkv128_lds3 heads=64 dim=512",
     BAD_INPUT,
     {"196608", "163840", "gfx950", "LIMIT"}},
    {"dim not a multiple of 16",
     "",
     "gen mqa_logits:mfma16x16x128_bkv64 heads=64 dim=72",
     BAD_INPUT,
     {"dim=72", "multiple of 16", "64 and 80"}},
    {"rs with the wrong tile count",
     "",
     "gen mqa_logits:mfma32x32x64_bkv32_lds2_rs heads=64 dim=128",
     BAD_INPUT,
     {"rs", "bkv"}},
    {"heads beyond what is served", "", "gen mqa_logits:auto heads=129 dim=64", BAD_INPUT, {"heads", "1..128"}},
    {"unknown chip",
     "",
     "gen --target gfx9999 " GOOD_TAG " heads=64 dim=128",
     BAD_INPUT,
     {"gfx9999", "gfx950", "BAD_TARGET"}},
    {"unknown target feature",
     "",
     "gen --target gfx950:frob+ " GOOD_TAG " heads=64 dim=128",
     BAD_INPUT,
     {"frob", "xnack", "BAD_TARGET"}},
    {"target of the environment",
     "CDNAGEN_TARGET=gfx1",
     "gen " GOOD_TAG " heads=64 dim=128",
     BAD_INPUT,
     {"gfx1", "gfx950"}},
    {"target of the environment, for list", "CDNAGEN_TARGET=gfx1", "list mqa_logits", BAD_INPUT, {"gfx1", "gfx950"}},
    {"operands that the chip cannot read",
     "",
     "gen --target gfx950 mqa_logits:mfma_r2_w4 heads=64 dim=128 kv_fp8=e4m3fnuz",
     BAD_INPUT,
     {"kv_fp8=e4m3fnuz", "gfx950", "LIMIT"}},
    {"no HIP library",
     "CDNAGEN_HIP_LIBRARY=/nowhere/libamdhip64.so",
     "run --device gpu " GOOD_TAG " seq=1 seq_kv=64 heads=64 dim=128",
     NO_GPU,
     {"/nowhere/libamdhip64.so", "NO_HIP"}},
    {"dump of an unknown kind",
     "",
     "gen --dump frob=d " GOOD_TAG " heads=64 dim=128",
     BAD_INPUT,
     {"frob", "ir, isa, obj"}},
    {"dump without a folder", "", "gen --dump ir " GOOD_TAG " heads=64 dim=128", BAD_INPUT, {"DIR"}},
    {"output that cannot be written",
     "",
     "gen -o /nowhere/x.co " GOOD_TAG " heads=64 dim=128",
     BAD_INPUT,
     {"/nowhere/x.co", "No such file", "CDNAGEN_IO"}},
    {"no jobs file", "", "precompile --jobs nowhere --out d", BAD_INPUT, {"nowhere", "No such file"}},
    {"precompile without --out", "", "precompile --jobs x", BAD_INPUT, {"--out DIR"}},
    {"precompile of jobs and routes",
     "",
     "precompile --jobs x --routes --out d",
     BAD_INPUT,
     {"--jobs FILE or --routes"}},
    {"a shard beyond the last", "", "precompile --routes --out d --shard 4/4", BAD_INPUT, {"4/4", "from 0 to N-1"}},
    {"a shard that is none", "", "precompile --routes --out d --shard 1/4x", BAD_INPUT, {"1/4x"}},
    {"no workers", "", "precompile --routes --out d -j 0", BAD_INPUT, {"-j 0", "from 1 to 1024"}},
    {"a timeout that is no number", "", "precompile --routes --out d --timeout 5s", BAD_INPUT, {"--timeout 5s"}},
    {"a target given twice", "", "precompile --routes --out d --target gfx950,gfx950", BAD_INPUT, {"given twice"}},
    {"an unknown second target", "", "precompile --routes --out d --target gfx950,gfx9", BAD_INPUT, {"gfx9"}},
    {"a directory that no list of roots can name", "", "precompile --routes --out d:e", BAD_INPUT, {"d:e", "':'"}},
    {"pack without a file", "", "pack", BAD_INPUT, {"the file to write"}},
    {"pack of nothing", "", "pack p nowhere.pack/x", BAD_INPUT, {"nowhere.pack/x"}},
    {"unpack without a directory", "", "unpack p", BAD_INPUT, {"the directory to fill"}},
    {"unpack of nothing", "", "unpack nowhere d", BAD_INPUT, {"nowhere"}},
    {"pack of a default cache that is not there",
     "-u CDNAGEN_CACHE_DIR -u HOME -u XDG_CACHE_HOME",
     "pack p",
     BAD_INPUT,
     {"Name a cache directory", "HOME is not set"}},
    {"unpack into what no list of roots can name", "", "unpack p d:e", BAD_INPUT, {"d:e", "':'"}},
    {"verify of nothing", "", "verify", BAD_INPUT, {"verify what?"}},
    {"cache without a word", "", "cache", BAD_INPUT, {"info", "verify", "clear"}},
    {"list of an unknown operator", "", "list frob", BAD_INPUT, {"frob", "cdnagen list"}},
    {"only the cache, which is empty",
     "CDNAGEN_CACHE_ONLY=1",
     "gen " GOOD_TAG " heads=64 dim=128",
     BAD_INPUT,
     {"CDNAGEN_CACHE_ONLY", "bkv64", "CACHE_MISS"}},
};

static void test_row(void **state) {
    const struct row *row = *state;
    outcome o = command_run(row->environment, row->words);
    if (o.code != row->code) fail_msg("exit code %d, not %d; it said: %s", o.code, row->code, o.err);
    for (size_t i = 0; i < sizeof row->says / sizeof *row->says && row->says[i]; i++)
        if (!strstr(o.err, row->says[i])) fail_msg("\"%s\" is not in: %s", row->says[i], o.err);
    assert_string_equal(o.out, "");
    command_free(&o);
}

/* A cache that cannot be used is told at most once and fails nothing. */
static const struct {
    const char *name, *prepare, *environment;
    const char *warns[2]; /* what a user is told, what root is told; NULL: nothing */
} bad_caches[] = {
    {"cache directory is a file",
     "touch file",
     "CDNAGEN_CACHE_DIR=file",
     {"file: it is no pack", "file: it is no pack"}},
    {"cache directory cannot be made",
     "true",
     "CDNAGEN_CACHE_DIR=/proc/nowhere",
     {"/proc/nowhere cannot be used", "/proc/nowhere cannot be used"}},
    {"cache directory cannot be written", /* which root can */
     "mkdir locked && chmod 0500 locked",
     "CDNAGEN_CACHE_DIR=locked",
     {"locked cannot be used: Permission denied", NULL}},
    {"cache directory of another user", /* which only root can make */
     "mkdir -m 0700 other && { chown 65534 other || true; }",
     "CDNAGEN_CACHE_DIR=other",
     {NULL, "other belongs to user 65534"}},
    {"no HOME", "true", "-u CDNAGEN_CACHE_DIR -u HOME -u XDG_CACHE_HOME", {NULL, NULL}},
    {"cache is off", "true", "CDNAGEN_CACHE=off", {NULL, NULL}},
};

static void test_bad_caches(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof bad_caches / sizeof *bad_caches; i++) {
        command_shell(bad_caches[i].prepare);
        outcome o = command_run(bad_caches[i].environment, "gen -o good.co " GOOD_TAG " heads=64 dim=128");
        if (o.code) fail_msg("%s: exit code %d: %s", bad_caches[i].name, o.code, o.err);
        command_shell("test -s good.co && rm good.co");
        const char *warning = strstr(o.err, "cdnagen:"), *expected = bad_caches[i].warns[geteuid() == 0];
        if (!expected != !warning || (expected && !strstr(warning, expected)))
            fail_msg("%s: it said: %s", bad_caches[i].name, o.err);
        if (warning && strstr(warning + 1, "cdnagen:")) fail_msg("%s: told twice: %s", bad_caches[i].name, o.err);
        command_free(&o);
    }
}

static void test_damaged_entries(void **state) {
    (void)state;
    static const char *const damages[] = {"truncate -s 100 \"$f\"", "truncate -s 0 \"$f\"",
                                          "printf X | dd of=\"$f\" bs=1 seek=2000 conv=notrunc status=none"};
    const char *words = "gen " GOOD_TAG " heads=64 dim=128";
    outcome first = command_run("", words);
    assert_int_equal(first.code, 0);
    assert_non_null(strstr(first.out, "cache        miss"));
    command_free(&first);
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        char line[256];
        snprintf(line, sizeof line, "f=$(find cache/v1 -type f -size +0 -name '????????????*') && test \"$f\" && %s",
                 damages[i]);
        command_shell(line);
        outcome verified = command_run("", "cache verify");
        assert_int_equal(verified.code, CHECK_FAILED);
        command_free(&verified);
        for (int again = 0; again < 2; again++) {
            outcome o = command_run("", words);
            if (o.code) fail_msg("%s: exit code %d: %s", damages[i], o.code, o.err);
            if (!strstr(o.out, again ? "cache        hit (disk)" : "cache        miss"))
                fail_msg("%s, run %d: %s", damages[i], again, o.out);
            command_free(&o);
        }
    }
}

static void test_empty_shapes(void **state) {
    (void)state;
    static const char *const shapes[] = {"seq=0 seq_kv=64", "seq=4 seq_kv=0", "seq=0 seq_kv=0"};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        char words[256];
        snprintf(words, sizeof words, "run --sim --check " GOOD_TAG " heads=64 dim=128 %s", shapes[i]);
        outcome o = command_run("", words);
        if (o.code) fail_msg("%s: exit code %d: %s", shapes[i], o.code, o.err);
        command_free(&o);
    }
}

int main(void) {
    enum { ROWS = sizeof rows / sizeof *rows };
    struct CMUnitTest tests[ROWS + 3];
    for (size_t i = 0; i < ROWS; i++)
        tests[i] =
            (struct CMUnitTest){rows[i].name, test_row, command_setup, command_teardown, (void *)(uintptr_t)&rows[i]};
    tests[ROWS] = (struct CMUnitTest){"bad caches", test_bad_caches, command_setup, command_teardown, NULL};
    tests[ROWS + 1] =
        (struct CMUnitTest){"damaged entries", test_damaged_entries, command_setup, command_teardown, NULL};
    tests[ROWS + 2] = (struct CMUnitTest){"empty shapes", test_empty_shapes, command_setup, command_teardown, NULL};
    return cmocka_run_group_tests_name("bad input", tests, NULL, NULL);
}
