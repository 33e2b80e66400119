/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Compiling, assembling and launching for the simulator's tests. */
#include "tests/sim/gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const hip_table *gpu;
const char *gpu_chip = "gfx950";

void gpu_open(const char *mode) { assert_int_equal(sim_open(chip_find(gpu_chip, 6), mode, &gpu), CDNAGEN_OK); }

static void run(const char *format, const char *a, const char *b, const char *c) {
    char command[1024];
    snprintf(command, sizeof command, format, a, b, c);
    if (system(command) != 0) fail_msg("failed: %s", command);
}

/* Source in a fresh folder, two commands, module. */
static hip_module build(const char *source, const char *file, const char *compile, const char *options) {
    char folder[] = "/tmp/cdnagen-sim-XXXXXX", path[64];
    hip_module module;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/%s", folder, file);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(source, f);
    assert_int_equal(fclose(f), 0);
    run(compile, folder, options, folder);
    run("ld.lld-22 -shared %s/k.o -o %s/k.co", folder, folder, "");
    snprintf(path, sizeof path, "%s/k.co", folder);
    assert_int_equal(gpu->module_load(&module, path), HIP_SUCCESS);
    run("rm -r %s", folder, "", "");
    return module;
}

hip_module gpu_compile(const char *source, const char *options) {
    char all[256];
    snprintf(all, sizeof all, "-mcpu=%s %s", gpu_chip, options);
    return build(source, "k.cl",
                 "cd %s && clang-22 -x cl -cl-std=CL2.0 -target amdgcn-amd-amdhsa -nogpulib "
                 "-cl-fp32-correctly-rounded-divide-sqrt %s -c k.cl -o k.o",
                 all);
}

hip_module gpu_assemble(const char *body, int lds) {
    static const char head[] = ".amdgcn_target \"amdgcn-amd-amdhsa--%s\"\n"
                               ".text\n.globl k\n.p2align 8\n.type k,@function\nk:\n";
    static const char tail[] = "\ns_endpgm\n.Lend:\n.size k, .Lend-k\n"
                               ".rodata\n.p2align 6\n.amdhsa_kernel k\n"
                               ".amdhsa_group_segment_fixed_size %d\n.amdhsa_private_segment_fixed_size 64\n"
                               ".amdhsa_kernarg_size 64\n.amdhsa_user_sgpr_kernarg_segment_ptr 1\n"
                               ".amdhsa_system_sgpr_workgroup_id_x 1\n.amdhsa_system_sgpr_workgroup_id_y 1\n"
                               ".amdhsa_system_vgpr_workitem_id 2\n"
                               ".amdhsa_next_free_vgpr 512\n.amdhsa_next_free_sgpr 96\n.amdhsa_accum_offset 256\n"
                               ".amdhsa_enable_private_segment 1\n.end_amdhsa_kernel\n"
                               ".amdgpu_metadata\namdhsa.version: [1, 2]\namdhsa.kernels:\n"
                               "  - .name: k\n    .symbol: k.kd\n    .kernarg_segment_size: 64\n"
                               "    .group_segment_fixed_size: %d\n    .private_segment_fixed_size: 64\n"
                               "    .kernarg_segment_align: 8\n    .wavefront_size: 64\n    .sgpr_count: 96\n"
                               "    .vgpr_count: 512\n    .agpr_count: 256\n    .max_flat_workgroup_size: 1024\n"
                               "    .args:\n"
                               "      - {.size: 8, .offset: 0, .value_kind: by_value}\n"
                               "      - {.size: 8, .offset: 8, .value_kind: by_value}\n"
                               "      - {.size: 8, .offset: 16, .value_kind: by_value}\n"
                               ".end_amdgpu_metadata\n";
    const size_t size = sizeof head + strlen(body) + sizeof tail + 32;
    char *source = malloc(size);
    assert_non_null(source);
    int n = snprintf(source, size, head, gpu_chip);
    n += snprintf(source + n, size - (size_t)n, "%s", body);
    snprintf(source + n, size - (size_t)n, tail, lds, lds);
    char option[32];
    snprintf(option, sizeof option, "-mcpu=%s", gpu_chip);
    const hip_module module =
        build(source, "k.s", "cd %s && llvm-mc-22 -triple amdgcn-amd-amdhsa %s -filetype=obj k.s -o k.o", option);
    free(source);
    return module;
}

hip_error gpu_launch(hip_module module, const char *kernel, gpu_grid grid, int count, ...) {
    hip_function function;
    uint64_t words[16];
    void *params[16];
    va_list arguments;
    assert_int_equal(gpu->module_get_function(&function, module, kernel), HIP_SUCCESS);
    va_start(arguments, count);
    for (int i = 0; i < 16; i++) {
        words[i] = i < count ? va_arg(arguments, uint64_t) : 0;
        params[i] = &words[i];
    }
    va_end(arguments);
    const hip_error error =
        gpu->module_launch_kernel(function, grid.groups, grid.groups_y ? grid.groups_y : 1, 1, grid.threads,
                                  grid.threads_y ? grid.threads_y : 1, 1, grid.lds, NULL, params, NULL);
    return error != HIP_SUCCESS ? error : gpu->device_synchronize();
}

uint64_t gpu_buffer(const void *content, size_t size) {
    void *p;
    assert_int_equal(gpu->malloc(&p, size), HIP_SUCCESS);
    if (content) assert_int_equal(gpu->memcpy(p, content, size, HIP_MEMCPY_HOST_TO_DEVICE), HIP_SUCCESS);
    return (uint64_t)(uintptr_t)p;
}

void gpu_read(void *to, uint64_t from, size_t size) {
    assert_int_equal(gpu->memcpy(to, (const void *)(uintptr_t)from, size, HIP_MEMCPY_DEVICE_TO_HOST), HIP_SUCCESS);
}

hip_error gpu_run_words(const char *body, int lds, uint32_t *words, size_t count) {
    const uint64_t buffer = gpu_buffer(words, count * sizeof *words);
    const hip_module module = gpu_assemble(body, lds);
    const hip_error error = gpu_launch(module, "k", (gpu_grid){.groups = 1, .threads = 64}, 1, buffer);
    if (error == HIP_SUCCESS) gpu_read(words, buffer, count * sizeof *words);
    assert_int_equal(gpu->module_unload(module), HIP_SUCCESS);
    assert_int_equal(gpu->free((void *)(uintptr_t)buffer), HIP_SUCCESS);
    return error;
}
