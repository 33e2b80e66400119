/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* cdnagen-worker TAG SHAPE TARGET KEY: generate one kernel and write its code object to standard output; for the
 * library's own use (options.isolate). A failure is one line on stderr, "cdnagen: SENTENCE (STATUS)". */
#include <cdnagen.h>
#include <stdio.h>
#include <string.h>

static int fails(const char *sentence, cdnagen_status status) {
    fprintf(stderr, "cdnagen: %s (%s)\n", sentence, cdnagen_status_name(status));
    return 1;
}

/* work: the kernel's code object to standard output.   errors: as gen_kernel, UNAVAILABLE, IO */
static int work(cdnagen *ctx, char *const *argv) {
    cdnagen_kernel *kernel = NULL;
    cdnagen_kernel_info info = {.size = sizeof info};
    cdnagen_status s = gen_kernel(ctx, argv[1], argv[2], &kernel);
    if (!s) s = cdnagen_get_kernel_info(kernel, &info);
    int code = 0;
    if (s)
        code = fails(cdnagen_error(), s);
    else if (strcmp(info.key, argv[4]) != 0)
        code = fails("the worker is of another build than the library that started it", CDNAGEN_UNAVAILABLE);
    else if (fwrite(info.object, 1, info.object_bytes, stdout) != info.object_bytes || fflush(stdout))
        code = fails("the code object cannot be written to standard output", CDNAGEN_IO);
    cdnagen_free_kernel(kernel);
    return code;
}

int main(int argc, char **argv) {
    if (argc != 5) return fails("usage: cdnagen-worker TAG SHAPE TARGET KEY", CDNAGEN_BAD_ARGUMENT);
    const cdnagen_options options = {.size = sizeof options, .target = argv[3], .device = "none", .no_cache = 1};
    cdnagen *ctx = NULL;
    const cdnagen_status s = cdnagen_create_context(&options, &ctx);
    const int code = s ? fails(cdnagen_error(), s) : work(ctx, argv);
    cdnagen_free_context(ctx);
    return code;
}
