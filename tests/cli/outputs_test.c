/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the command prints and writes: it arrives whole, or the exit code and a message say that it did not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/cli/command.h"

enum { BAD_INPUT = 2 };
#define GOOD "mqa_logits:mfma32x32x64_bkv64_lds2_swp_rs_hfma heads=64 dim=128 "
#define GEN "CDNAGEN_CACHE_DIR=$PWD/cache " CDNAGEN_COMMAND " gen " GOOD

static void lost_output(void **state) {
    (void)state;
    command_shell(CDNAGEN_COMMAND " version >/dev/full 2>err; test $? = 4 && grep -q 'No space left on device' err");
    command_shell(CDNAGEN_COMMAND " list mqa_logits >/dev/full 2>err; test $? = 4 && grep -q 'cannot be written' err");
    command_shell(CDNAGEN_COMMAND " version >&- 2>err; test $? = 4 && grep -q 'Bad file descriptor' err");
}

/* A stream that is closed does not lend its number to a file that is written. */
static void closed_streams(void **state) {
    (void)state;
    command_shell(GEN "-o open.co >/dev/null");
    command_shell(GEN "-o closed.co --no-cache <&- >&- 2>&-; test $? = 4 && cmp open.co closed.co");
}

/* A file that is there stays whole when its successor cannot be written, and keeps its mode when it can. */
static void whole_files(void **state) {
    (void)state;
    command_shell(GEN ">/dev/null && echo old >good.co");
    command_shell("(ulimit -f 0; trap '' XFSZ; ! " GEN "-o good.co >/dev/null 2>&1)");
    command_shell("test \"$(cat good.co)\" = old && test -z \"$(find . -name '.cdnagen.*')\"");
    command_shell("chmod 0640 good.co && ln -s target.co link.co && for f in good.co link.co; do " GEN
                  "-o $f >/dev/null || exit 1; done");
    command_shell("test \"$(stat -c %a good.co)\" = 640 && test -L link.co && cmp good.co target.co");
}

static void refused_words(void **state) {
    (void)state;
    static const struct {
        const char *words, *says;
    } rows[] = {
        {"gen --dump =d " GOOD, "\"\" is not one of ir, isa, obj"},
        {"gen --dump ir,=d " GOOD, "\"\" is not one of ir, isa, obj"},
        {"gen --dump ir,frob=d " GOOD, "\"frob\" is not one of ir, isa, obj"},
        {"gen --dump ir=/dev/null " GOOD, "/dev/null is not a directory"},
        {"gen -o '' " GOOD, "empty name"},
        {"precompile --jobs /dev/null --out /dev/null", "/dev/null is not a directory"},
        {"version now", "version takes no words, but \"now\" was given"},
        {"doctor now", "doctor takes no words, but \"now\" was given"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        outcome o = command_run("", rows[i].words);
        if (o.code != BAD_INPUT || !strstr(o.err, rows[i].says))
            fail_msg("%s: exit code %d, %s", rows[i].words, o.code, o.err);
        command_free(&o);
    }
    command_shell("! test -e d"); /* nothing is made before all words are read */
}

static void jobs_that_are_not_text(void **state) {
    (void)state;
    command_shell("printf '\\377 a\\n' >jobs && ! " CDNAGEN_COMMAND " precompile --jobs jobs --out d >out 2>err");
    command_shell("grep -q '\"job\": \"? a\"' d/report.json && grep -q '\"error\": \"tag .?' d/report.json");
    command_shell("printf 'a\\n\\0b\\n' >jobs");
    outcome o = command_run("", "precompile --jobs jobs --out d");
    assert_int_equal(o.code, BAD_INPUT);
    if (!strstr(o.err, "jobs is not text: byte 3 is 0")) fail_msg("%s", o.err);
    command_free(&o);
}

/* The table for a class goes to the folder; a second run times nothing and writes the same. */
static void route_tables(void **state) {
    (void)state;
#define TUNE "CDNAGEN_CACHE_DIR=$PWD/cache " CDNAGEN_COMMAND " tune mqa_logits --target gfx950 --sim=late,threads=1 "
    command_shell(TUNE "--db t.db --shapes 'seq=64 heads=32 dim=64' --budget 2 --out first >out 2>err");
    command_shell("grep -q '2 timed (0 of them from the file)' out && grep -q 'clk modelled' out && ! test -s err");
    command_shell(TUNE "--db t.db --shapes 'seq=64 heads=32 dim=64' --budget 0 --out second >out 2>err");
    command_shell(
        "grep -q '2 timed (2 of them from the file)' out && cmp first/routes_gfx950.inc second/routes_gfx950.inc");
    command_shell("grep -q '^ROUTE(\"gfx950\", 32, 64, 256, ANY, \"mfma' first/routes_gfx950.inc");
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, command_setup, command_teardown)
    const struct CMUnitTest tests[] = {TEST(lost_output),   TEST(closed_streams),         TEST(whole_files),
                                       TEST(refused_words), TEST(jobs_that_are_not_text), TEST(route_tables)};
    return cmocka_run_group_tests_name("outputs", tests, NULL, NULL);
}
