/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Look into a kernel without any device: its resources and its instructions.
 * usage: isa [TAG [SHAPE]], for example isa mqa_logits:mfma32x32x64_bkv64_lds2_swp_rs "heads=64 dim=128" */
#include <cdnagen.h>
#include <stdio.h>

int main(int argc, char **argv) {
    const char *tag = argc > 1 ? argv[1] : "mqa_logits:mfma32x32x64_bkv64_lds2_swp_rs_hfma";
    const char *shape = argc > 2 ? argv[2] : "heads=64 dim=128 clean=1";
    const cdnagen_options options = {.size = sizeof options, .target = "gfx950", .device = "none"};
    cdnagen *ctx = NULL;
    cdnagen_kernel *kernel = NULL;
    cdnagen_kernel_info info = {.size = sizeof info};
    const char *isa;
    cdnagen_status status = cdnagen_create_context(&options, &ctx);
    if (!status) status = gen_kernel(ctx, tag, shape, &kernel);
    if (!status) status = cdnagen_get_kernel_info(kernel, &info);
    if (!status) status = cdnagen_get_kernel_text(kernel, CDNAGEN_TEXT_ISA, &isa);
    if (status)
        fprintf(stderr, "%s: %s\n", cdnagen_status_name(status), cdnagen_error());
    else
        printf("%s\n; %s: %u VGPR, %u bytes LDS, %u waves per SIMD (limit: %s), %u spills\n", isa, info.symbol,
               info.vgpr, info.lds_bytes, info.waves_per_simd, info.occupancy_limit, info.vgpr_spills);
    cdnagen_free_kernel(kernel);
    cdnagen_free_context(ctx);
    return status != CDNAGEN_OK;
}
