/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* cdnagen cache: what is on disk, whether it is sound, and how to be rid of it. */
#include "cache/cache.h"

#include <inttypes.h>
#include <string.h>

#include "cli/cli.h"

static void show_problem(void *user, const char *path, const char *what) {
    (void)user;
    printf("%s: %s\n", path, what);
}

static void show_census(const char *verb, const cache_census *c) {
    printf("%s%" PRIu64 " entries, %" PRIu64 " bytes, %" PRIu64 " damaged, %" PRIu64 " foreign, %" PRIu64
           " temporaries\n",
           verb, c->entries, c->bytes, c->damaged, c->foreign, c->temporaries);
}

int cache_command(const cli *options) {
    const char *verb = options->word_count == 1 ? options->words[0] : "";
    const int verify = !strcmp(verb, "verify"), clear = !strcmp(verb, "clear");
    if (!verify && !clear && strcmp(verb, "info"))
        return fail_exit(fail(CDNAGEN_BAD_ARGUMENT, "cache takes one word: info, verify or clear"));
    const char *why = "";
    char *dir = cache_default_dir(&why);
    if (!dir) {
        printf("no cache on disk: %s\n", why);
        return EXIT_OK;
    }
    printf("%s (from %s)\n", dir, why);
    cache_census census = {0};
    const cdnagen_status status =
        clear ? cache_clear(dir, &census) : cache_walk(dir, verify, show_problem, NULL, &census);
    if (!status) show_census(clear ? "removed " : "", &census);
    mem_free(dir);
    if (status) return fail_exit(status);
    return census.damaged || census.foreign ? EXIT_CHECK_FAILED : EXIT_OK;
}
