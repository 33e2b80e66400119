/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* other_llvm LIBCDNAGEN ORDER OTHER: a process with another LLVM beside ours, its names global. Both do their work.
 * ORDER: a word a step: "other", "ours" (open, if it is not yet, and use), "close-other", "close-ours". */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cdnagen.h"

static void *library;

static void *find(void *handle, const char *name) {
    void *const symbol = dlsym(handle, name);
    if (!symbol) fprintf(stderr, "%s\n", dlerror()), exit(1);
    return symbol;
}

static int use_other(void *handle) {
    void *(*create)(void), *(*module)(const char *, void *);
    char *(*print)(void *);
    void (*dispose)(char *);
    *(void **)&create = find(handle, "LLVMContextCreate");
    *(void **)&module = find(handle, "LLVMModuleCreateWithNameInContext");
    *(void **)&print = find(handle, "LLVMPrintModuleToString");
    *(void **)&dispose = find(handle, "LLVMDisposeMessage");
    char *const words = print(module("a module", create()));
    const int good = strstr(words, "a module") != NULL;
    dispose(words);
    return good;
}

/* On a thread of its own, whose end frees what ours keeps for it. */
static void *generate(void *result) {
    __typeof__(&cdnagen_create_context) create;
    __typeof__(&cdnagen_free_context) release;
    __typeof__(&gen_kernel) gen;
    __typeof__(&cdnagen_free_kernel) release_kernel;
    __typeof__(&cdnagen_error) error;
    *(void **)&create = find(library, "cdnagen_create_context");
    *(void **)&release = find(library, "cdnagen_free_context");
    *(void **)&gen = find(library, "gen_kernel");
    *(void **)&release_kernel = find(library, "cdnagen_free_kernel");
    *(void **)&error = find(library, "cdnagen_error");
    const cdnagen_options options = {.size = sizeof options, .device = "none", .target = "gfx950", .no_cache = 1};
    cdnagen *ctx = NULL;
    cdnagen_kernel *kernel = NULL;
    cdnagen_status s = create(&options, &ctx);
    if (!s) s = gen(ctx, "mqa_logits:auto", "heads=32 dim=64", &kernel);
    if (s) fprintf(stderr, "%d: %s\n", s, error());
    release_kernel(kernel);
    release(ctx);
    *(int *)result = !s;
    return NULL;
}

static int use_ours(void) {
    pthread_t thread;
    int good = 0;
    if (pthread_create(&thread, NULL, generate, &good)) return 0;
    pthread_join(thread, NULL);
    return good;
}

static void *open_library(const char *file, int flags) {
    void *const handle = dlopen(file, RTLD_NOW | flags);
    if (!handle) fprintf(stderr, "%s\n", dlerror()), exit(1);
    return handle;
}

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    void *other = NULL;
    char *rest = NULL;
    for (char *step = strtok_r(argv[2], " ", &rest); step; step = strtok_r(NULL, " ", &rest)) {
        int good = 1;
        if (!strcmp(step, "other")) {
            if (!other) other = open_library(argv[3], RTLD_GLOBAL);
            good = use_other(other);
        } else if (!strcmp(step, "ours")) {
            if (!library) library = open_library(argv[1], RTLD_LOCAL);
            good = use_ours();
        } else if (!strcmp(step, "close-other")) {
            dlclose(other);
            other = NULL;
        } else {
            dlclose(library);
            library = NULL;
        }
        if (!good) return fprintf(stderr, "%s beside %s: step %s failed\n", argv[1], argv[3], step), 1;
    }
    return 0;
}
