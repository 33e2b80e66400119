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

/* treat: do to one root what the command says.   errors: IO */
static cdnagen_status treat(const char *root, int verify, int clear, int *bad) {
    static const cache_visitor visitor = {.report = show_problem};
    cache_census census = {0};
    TRY(clear ? cache_clear(root, &census) : cache_walk(root, verify ? &visitor : NULL, &census));
    show_census(clear ? "removed " : "", &census);
    *bad |= census.damaged || census.foreign;
    return CDNAGEN_OK;
}

int cache_command(const cli *options) {
    const char *verb = options->word_count == 1 ? options->words[0] : "";
    const int verify = !strcmp(verb, "verify"), clear = !strcmp(verb, "clear");
    if (!verify && !clear && strcmp(verb, "info"))
        return fail_exit(fail(CDNAGEN_BAD_ARGUMENT, "cache takes one word: info, verify or clear"));
    const char *why = "";
    char *roots = cache_default_roots(&why);
    if (!roots) {
        printf("no cache on disk: %s\n", why);
        return EXIT_OK;
    }
    const int writable = cache_writable_root(roots);
    cdnagen_status status = CDNAGEN_OK;
    int bad = 0;
    char *root;
    for (int i = 0; !status && (root = cache_root(roots, (size_t)i)); i++) {
        if (!clear || i == writable) {
            printf("%s (from %s)\n", root, why);
            status = treat(root, verify, clear, &bad);
        }
        mem_free(root);
    }
    mem_free(roots);
    return status ? fail_exit(status) : bad ? EXIT_CHECK_FAILED : EXIT_OK;
}
