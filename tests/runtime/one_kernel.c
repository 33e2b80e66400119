/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* one_kernel DIR: a process that generates a kernel, with DIR as its cache and a fake compiler, and says where it came
 * from: "compiled" or "disk". */
#include <stdio.h>

#include "cdnagen.h"

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    const cdnagen_options options = {
        .size = sizeof options, .device = "none", .target = "gfx950", .cache_dir = argv[1]};
    cdnagen *ctx = NULL;
    cdnagen_kernel *kernel = NULL;
    cdnagen_kernel_info info = {.size = sizeof info};
    cdnagen_status s = cdnagen_create_context(&options, &ctx);
    if (!s) s = gen_kernel(ctx, "mqa_logits:auto", "heads=64 dim=128", &kernel);
    if (!s) s = cdnagen_get_kernel_info(kernel, &info);
    if (s)
        fprintf(stderr, "%s\n", cdnagen_error());
    else
        puts(info.cache_tier == CDNAGEN_TIER_NONE   ? "compiled"
             : info.cache_tier == CDNAGEN_TIER_DISK ? "disk"
                                                    : "elsewhere");
    cdnagen_free_kernel(kernel);
    cdnagen_free_context(ctx);
    return s != CDNAGEN_OK;
}
