/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Assembling, compiling and launching for bench/model. */
#include "bench/model/kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void die(const char *what, const char *detail) {
    fprintf(stderr, "bench_model: %s %s\n", what, detail);
    exit(1);
}

static const char head[] = ".text\n.globl k\n.p2align 8\n.type k,@function\nk:\n";
static const char tail[] = "\ns_endpgm\n.Lend:\n.size k, .Lend-k\n.rodata\n.p2align 6\n.amdhsa_kernel k\n"
                           ".amdhsa_group_segment_fixed_size %d\n.amdhsa_kernarg_size 16\n"
                           ".amdhsa_user_sgpr_kernarg_segment_ptr 1\n.amdhsa_system_sgpr_workgroup_id_x 1\n"
                           ".amdhsa_next_free_vgpr %d\n.amdhsa_next_free_sgpr 64\n.amdhsa_accum_offset %d\n"
                           ".end_amdhsa_kernel\n.amdgpu_metadata\namdhsa.version: [1, 2]\namdhsa.kernels:\n"
                           "  - .name: k\n    .symbol: k.kd\n    .kernarg_segment_size: 16\n"
                           "    .group_segment_fixed_size: %d\n    .private_segment_fixed_size: 0\n"
                           "    .kernarg_segment_align: 8\n    .wavefront_size: 64\n    .sgpr_count: 64\n"
                           "    .vgpr_count: %d\n    .max_flat_workgroup_size: 1024\n    .args:\n"
                           "      - {.size: 8, .offset: 0, .value_kind: by_value}\n"
                           "      - {.size: 8, .offset: 8, .value_kind: by_value}\n.end_amdgpu_metadata\n";

static void build(const kernel *k, char path[64]) {
    char folder[] = "/tmp/cdnagen-model-XXXXXX", command[1024];
    if (!mkdtemp(folder)) die("no folder", folder);
    snprintf(path, 64, "%s/k.%s", folder, k->opencl ? "cl" : "s");
    FILE *f = fopen(path, "w");
    if (!f) die("cannot write", path);
    if (k->opencl) {
        fputs(k->body, f);
        snprintf(
            command, sizeof command,
            "cd %s && clang-22 -w -x cl -cl-std=CL2.0 -target amdgcn-amd-amdhsa -mcpu=%s -nogpulib -O3 -c k.cl -o k.o"
            " && ld.lld-22 -shared k.o -o k.co",
            folder, k->chip);
    } else {
        fprintf(f, ".amdgcn_target \"amdgcn-amd-amdhsa--%s\"\n%s%s", k->chip, head, k->body);
        fprintf(f, tail, k->lds, k->vgprs, k->vgprs < 256 ? k->vgprs : 256, k->lds, k->vgprs);
        snprintf(command, sizeof command,
                 "cd %s && llvm-mc-22 -triple amdgcn-amd-amdhsa -mcpu=%s -filetype=obj k.s -o k.o"
                 " && ld.lld-22 -shared k.o -o k.co",
                 folder, k->chip);
    }
    fclose(f);
    if (system(command)) die("failed:", command);
    snprintf(path, 64, "%s/k.co", folder);
}

static void check(const hip_table *hip, hip_error error, const char *what) {
    if (error) die(what, *hip->last_fault() ? hip->last_fault() : hip->get_error_string(error));
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* run: one launch; `t` NULL: without the model. Returns the host's seconds. */
static double run(const kernel *k, sim_timing *t) {
    const hip_table *hip;
    const chip *c = chip_find(k->chip, strlen(k->chip));
    hip_module module;
    hip_function function;
    void *buffer[2], *params[] = {&buffer[0], &buffer[1]};
    char path[64], command[128];
    const sim_timing_options options = {.only = 1};
    build(k, path);
    if (sim_open(c, "threads=1", &hip)) die("simulator:", cdnagen_error());
    check(hip, hip->module_load(&module, path), "load");
    check(hip, hip->module_get_function(&function, module, "k"), "kernel");
    for (int i = 0; i < 2; i++)
        check(hip, hip->malloc(&buffer[i], k->buffer_bytes ? k->buffer_bytes : 65536), "memory");
    if (t && sim_timing_next(c, &options, t)) die("model:", cdnagen_error());
    const double started = seconds();
    check(hip,
          hip->module_launch_kernel(function, k->groups ? k->groups : 1, 1, 1, k->threads ? k->threads : 64, 1, 1, 0,
                                    NULL, params, NULL),
          "launch");
    check(hip, hip->device_synchronize(), "run");
    const double took = seconds() - started;
    for (int i = 0; i < 2; i++) check(hip, hip->free(buffer[i]), "free");
    check(hip, hip->module_unload(module), "unload");
    *strrchr(path, '/') = 0;
    snprintf(command, sizeof command, "rm -r %s", path);
    if (system(command)) die("failed:", command);
    return took;
}

sim_timing kernel_time(const kernel *k) {
    sim_timing t;
    run(k, &t);
    return t;
}

double kernel_cost(const kernel *k, int modelled) {
    sim_timing t = {0};
    const double took = run(k, modelled ? &t : NULL);
    sim_timing_free(&t);
    return took;
}

char *repeat(const char *once, int n) {
    const size_t length = strlen(once);
    char *all = malloc(length * (size_t)n + 1);
    if (!all) die("no", "memory");
    for (int i = 0; i < n; i++) memcpy(all + (size_t)i * length, once, length);
    all[length * (size_t)n] = 0;
    return all;
}
