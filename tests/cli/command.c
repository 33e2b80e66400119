/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Running the command under test. */
#include "tests/cli/command.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

static char folder[] = "/tmp/cdnagen-cli-XXXXXX";
static int made;

const char *command_folder(void) { return folder; }

static int shell(const char *line) {
    const int status = system(line); /* NOLINT(bugprone-command-processor): a test's own constant lines */
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int command_setup(void **state) {
    (void)state;
    if (made) command_teardown(state);
    memset(folder + strlen(folder) - 6, 'X', 6);
    made = mkdtemp(folder) != NULL;
    return made ? 0 : -1;
}

int command_teardown(void **state) {
    (void)state;
    char line[128];
    snprintf(line, sizeof line, "rm -rf %s", folder);
    made = 0;
    return shell(line);
}

void command_shell(const char *words) {
    char line[2048];
    snprintf(line, sizeof line, "cd %s && { %s; }", folder, words);
    assert_int_equal(shell(line), 0);
}

char *command_read(const char *path) {
    char full[512];
    snprintf(full, sizeof full, "%s/%s", folder, path);
    FILE *f = fopen(full, "rb");
    if (!f) fail_msg("%s was not written", full);
    char *data = calloc(1, 1 << 22);
    assert_non_null(data);
    const size_t read = fread(data, 1, (1 << 22) - 1, f);
    data[read] = 0;
    fclose(f);
    return data;
}

outcome command_run(const char *environment, const char *words) {
    char line[4096];
    snprintf(line, sizeof line,
             "cd %s && unset CDNAGEN_DEVICE CDNAGEN_TARGET CDNAGEN_SIM CDNAGEN_CACHE CDNAGEN_CACHE_ONLY "
             "CDNAGEN_CACHE_BYTES CDNAGEN_CACHE_TRUST && "
             "CDNAGEN_CACHE_DIR=%s/cache env %s %s %s >out 2>err",
             folder, folder, environment, CDNAGEN_COMMAND, words);
    outcome o = {.code = shell(line)};
    o.out = command_read("out");
    o.err = command_read("err");
    return o;
}

outcome command_good(const char *words) {
    outcome o = command_run("", words);
    if (o.code) fail_msg("exit code %d: %s%s", o.code, o.out, o.err);
    return o;
}

void says(const char *where, const char *what) {
    if (!strstr(where, what)) fail_msg("\"%s\" is not in:\n%s", what, where);
}

void command_refused(const char *words, const char *message) {
    enum { BAD_INPUT = 2 };
    outcome o = command_run("", words);
    if (o.code != BAD_INPUT) fail_msg("%s: exit code %d: %s%s", words, o.code, o.out, o.err);
    says(o.err, message);
    command_free(&o);
}

void command_free(outcome *o) {
    free(o->out);
    free(o->err);
    *o = (outcome){0};
}
