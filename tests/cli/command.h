/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The command under test, run through the shell in a folder of its own with a cache of its own. */
#ifndef TESTS_CLI_COMMAND_H
#define TESTS_CLI_COMMAND_H

typedef struct outcome {
    int code;
    char *out, *err; /* what it printed */
} outcome;

/* command_run: `words` after "cdnagen", with `environment` ("NAME=VALUE ...", may be "") before it, in
 * command_folder(). The cache is command_folder()/cache unless the environment names another.   owner: command_free */
outcome command_run(const char *environment, const char *words);
void command_free(outcome *o);
outcome command_good(const char *words); /* the same; fails the test if the command does */
/* command_refused: run, expect the exit code of bad input and the words in what it says of it. */
void command_refused(const char *words, const char *message);

void says(const char *where, const char *what); /* fails the test where the words are missing */

const char *command_folder(void);
void command_shell(const char *line); /* a shell line in the folder; fails the test if it fails */
int command_setup(void **state);      /* a new, empty folder */
int command_teardown(void **state);

/* command_read: PATH in the folder, read whole.   owner: free */
char *command_read(const char *path);

#endif
