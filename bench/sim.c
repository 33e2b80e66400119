/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Speed of the simulator: vector wave-instructions per second, whole kernels, what the timing model costs on top, and
 * two host threads against one. Per core: by the process's CPU time, so that other work on the machine does not count.
 * OpenCL kernels are compiled by clang-22 when the benchmark starts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cdnagen.h"
#include "sim/sim.h"
#include "sim/timing.h"

static const char source[] =
    "kernel void floats(global float *out) { float x = out[0], y = out[1], z = out[2], u = out[3];"
    " for (int j = 0; j < 20000; j++) { x = __builtin_fmaf(x, y, z); y = __builtin_fmaxf(y, x) * 0.5f; z = z + u;"
    " u = __builtin_fmaf(u, 0.99f, x); } out[__builtin_amdgcn_workitem_id_x()] = x + y + z + u; }\n"
    "kernel void integers(global uint *out) { uint x = out[0] + __builtin_amdgcn_workitem_id_x(), y = out[1];"
    " for (int j = 0; j < 20000; j++) { x = x * 3 + y; y = (y << 7) ^ (x >> 5); x = x > y ? x - y : x + 11; }"
    " out[__builtin_amdgcn_workitem_id_x()] = x + y; }\n"
    /* C = A times B transposed, 512 x 512 x 1024 fp8: tiles of 128 x 128 in LDS, 64 x 64 a wave, K in steps of 64. */
    "typedef int v8 __attribute__((ext_vector_type(8))); typedef float v16 __attribute__((ext_vector_type(16)));\n"
    "__attribute__((reqd_work_group_size(256, 1, 1))) kernel void gemm(global float *c, global const v8 *a,"
    " global const v8 *b) { local v8 ta[256], tb[256]; const uint t = __builtin_amdgcn_workitem_id_x(), l = t & 63,"
    " w = t >> 6, g = __builtin_amdgcn_workgroup_id_x(), m = g / 4 * 128, n = g % 4 * 128; v16 acc[4] = {0};"
    " for (uint k = 0; k < 32; k += 2) {"
    " ta[t] = a[(m + (t >> 1)) * 32 + k + (t & 1)]; tb[t] = b[(n + (t >> 1)) * 32 + k + (t & 1)];"
    " __builtin_amdgcn_fence(__ATOMIC_RELEASE, \"workgroup\"); __builtin_amdgcn_s_barrier();"
    " __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, \"workgroup\");"
    " for (int i = 0; i < 4; i++) acc[i] = __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4("
    "ta[((w >> 1) * 64 + (i >> 1) * 32 + (l & 31)) * 2 + (l >> 5)],"
    " tb[((w & 1) * 64 + (i & 1) * 32 + (l & 31)) * 2 + (l >> 5)], acc[i], 0, 0, 0, 0, 0, 0);"
    " __builtin_amdgcn_s_barrier(); }"
    " for (int i = 0; i < 4; i++) for (int r = 0; r < 16; r++) c[((g * 4 + w) * 64 + i * 16 + r) * 64 + l] = "
    "acc[i][r]; }\n";
/* Vector instructions of one trip, as clang-22 -O3 emits them. */
enum { FLOAT_VALU = 6, INTEGER_VALU = 8, TRIPS = 20000, GROUPS = 32, WAVES = 4 };
enum { GEMM_M = 512, GEMM_N = 512, GEMM_K = 1024, GEMM_GROUPS = 16, FP8_ONE = 0x38 };

static void die(const char *what, const char *detail) {
    fprintf(stderr, "bench_sim: %s %s\n", what, detail);
    exit(1);
}
static void must(cdnagen_status status, const char *what) {
    if (status != CDNAGEN_OK) die(what, cdnagen_error());
}

static char file[64];
static void compile(void) {
    char folder[] = "/tmp/cdnagen-bench-XXXXXX", command[512];
    if (!mkdtemp(folder)) die("no folder", folder);
    snprintf(file, sizeof file, "%s/k.cl", folder);
    FILE *f = fopen(file, "w");
    if (!f || fputs(source, f) < 0 || fclose(f) != 0) die("cannot write", file);
    snprintf(command, sizeof command,
             "cd %s && clang-22 -w -x cl -cl-std=CL2.0 -target amdgcn-amd-amdhsa -mcpu=gfx950 -nogpulib -O3"
             " -fno-unroll-loops -c k.cl -o k.o && ld.lld-22 -shared k.o -o k.co",
             folder);
    if (system(command) != 0) die("failed:", command);
    snprintf(file, sizeof file, "%s/k.co", folder);
}
static void discard(void) {
    char command[96];
    *strrchr(file, '/') = 0;
    snprintf(command, sizeof command, "rm -r %s", file);
    if (system(command) != 0) die("failed:", command);
}

/* ---- what is run: one launch each ---- */

typedef struct sample {
    double wall, cpu; /* s */
} sample;
typedef struct job {
    const char *name;
    void (*open)(const char *mode);
    void (*launch)(void);
    void (*close)(void);
    double vector_instructions; /* 0: a whole kernel, told by its time */
} job;

static const hip_table *hip;
static hip_module module;
static hip_function function;
static void *buffer[3];
static void check(hip_error error, const char *what) {
    if (error != HIP_SUCCESS) die(what, *hip->last_fault() ? hip->last_fault() : hip->get_error_string(error));
}
static void open_opencl(const char *mode, const char *kernel) {
    must(sim_open(chip_find("gfx950", 6), mode, &hip), "simulator:");
    check(hip->module_load(&module, file), "load:");
    check(hip->module_get_function(&function, module, kernel), "kernel:");
    for (int i = 0; i < 3; i++) check(hip->malloc(&buffer[i], GEMM_M * GEMM_K * 2), "memory:");
    for (int i = 1; i < 3; i++) check(hip->memset_async(buffer[i], FP8_ONE, GEMM_M * GEMM_K, NULL), "fill:");
}
static void open_floats(const char *mode) { open_opencl(mode, "floats"); }
static void open_integers(const char *mode) { open_opencl(mode, "integers"); }
static void open_gemm(const char *mode) { open_opencl(mode, "gemm"); }
static void run(unsigned groups) {
    void *params[] = {&buffer[0], &buffer[1], &buffer[2]};
    check(hip->module_launch_kernel(function, groups, 1, 1, 64 * WAVES, 1, 1, 0, NULL, params, NULL), "launch:");
    check(hip->device_synchronize(), "run:");
}
static void launch_loop(void) { run(GROUPS); }
static void launch_gemm(void) { run(GEMM_GROUPS); }
static void close_opencl(void) {
    for (int i = 0; i < 3; i++) check(hip->free(buffer[i]), "free:");
    check(hip->module_unload(module), "unload:");
}
static void close_gemm(void) {
    static float c[GEMM_M * GEMM_N];
    check(hip->memcpy(c, buffer[0], sizeof c, HIP_MEMCPY_DEVICE_TO_HOST), "copy:");
    for (int i = 0; i < GEMM_M * GEMM_N; i++)
        if (c[i] != (float)GEMM_K) die("the product is wrong", "");
    close_opencl();
}

enum { SEQ = 128, SEQ_KV = 1024, HEADS = 64, DIM = 128 };
static cdnagen *context;
static cdnagen_kernel *kernel;
static cdnagen_mqa_logits_args args;
static cdnagen_buffer mqa_buffer(size_t size) {
    cdnagen_buffer b = {NULL, size};
    must(cdnagen_alloc(context, size, &b.ptr), "memory:");
    return b;
}
static void open_mqa(const char *mode) {
    const cdnagen_options options = {
        .size = sizeof options, .target = "gfx950", .device = "sim", .sim_mode = mode, .no_cache = 1};
    int ends[SEQ];
    for (int i = 0; i < SEQ; i++) ends[i] = SEQ_KV;
    must(cdnagen_create_context(&options, &context), "context:");
    must(gen_kernel(context, "mqa_logits:mfma32x32x64_bkv64_r1_w1_lds2_swp_rs_hfma", "heads=64 dim=128", &kernel),
         "kernel:");
    args = (cdnagen_mqa_logits_args){.size = sizeof args,
                                     .q = mqa_buffer(SEQ * HEADS * DIM),
                                     .kv = mqa_buffer(SEQ_KV * DIM),
                                     .kv_scales = mqa_buffer(SEQ_KV * sizeof(float)),
                                     .weights = mqa_buffer(SEQ * HEADS * sizeof(float)),
                                     .cu_starts = mqa_buffer(sizeof ends),
                                     .cu_ends = mqa_buffer(sizeof ends),
                                     .logits = mqa_buffer(SEQ * SEQ_KV * sizeof(float)),
                                     .seq = SEQ,
                                     .seq_kv = SEQ_KV};
    must(cdnagen_copy_to_device(context, args.cu_ends.ptr, ends, sizeof ends), "copy:");
}
static void launch_mqa(void) {
    must(cdnagen_launch_mqa_logits(kernel, &args, NULL), "launch:");
    must(cdnagen_synchronize(context, NULL), "run:");
}
static void close_mqa(void) {
    void *const all[] = {args.q.ptr,         args.kv.ptr,      args.kv_scales.ptr, args.weights.ptr,
                         args.cu_starts.ptr, args.cu_ends.ptr, args.logits.ptr};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) must(cdnagen_free_memory(context, all[i]), "free:");
    cdnagen_free_kernel(kernel);
    cdnagen_free_context(context);
}

static const job jobs[] = {
    {"floats", open_floats, launch_loop, close_opencl, (double)(GROUPS * WAVES * TRIPS * FLOAT_VALU)},
    {"integers", open_integers, launch_loop, close_opencl, (double)(GROUPS * WAVES * TRIPS * INTEGER_VALU)},
    {"fp8 gemm 512x512x1024", open_gemm, launch_gemm, close_gemm, 0},
    {"mqa logits 128x1024 H64 D128", open_mqa, launch_mqa, close_mqa, 0},
};

/* ---- measuring ---- */

static double seconds(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
static sample timed(void (*launch)(void)) {
    const double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    launch();
    return (sample){seconds(CLOCK_MONOTONIC) - wall, seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu};
}

enum { RUNS = 5 };
/* The best of some launches after one that is not counted. */
static sample measure(const job *j, const char *mode) {
    sample best = {1e30, 1e30};
    j->open(mode);
    j->launch();
    for (int i = 0; i < RUNS; i++) {
        const sample s = timed(j->launch);
        if (s.wall < best.wall) best.wall = s.wall;
        if (s.cpu < best.cpu) best.cpu = s.cpu;
    }
    j->close();
    const double millions = 1e-6 * j->vector_instructions;
    if (millions > 0)
        printf("%-30s %-15s %8.1f million vector wave-instructions per second, %6.1f per core and second\n", j->name,
               mode, millions / best.wall, millions / best.cpu);
    else
        printf("%-30s %-15s %8.1f ms, %8.1f ms of CPU time\n", j->name, mode, 1e3 * best.wall, 1e3 * best.cpu);
    return best;
}

/* The model runs some workgroups in detail on one thread; its cost is told for one workgroup. */
static void measure_model(const job *j, double functional_cpu) {
    const sim_timing_options options = {.only = 1};
    sim_timing t;
    j->open("threads=1");
    j->launch();
    must(sim_timing_next(chip_find("gfx950", 6), &options, &t), "model:");
    const sample s = timed(j->launch);
    printf("%-30s %-15s %8.1f ms of CPU time, %llu of %llu workgroups in detail: %.1f times functional\n", j->name,
           "modelled", 1e3 * s.cpu, (unsigned long long)t.groups_detailed, (unsigned long long)t.groups,
           s.cpu / (double)t.groups_detailed / (functional_cpu / (double)t.groups));
    sim_timing_free(&t);
    j->close();
}

int main(void) {
    compile();
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        const sample one = measure(&jobs[i], "threads=1"), two = measure(&jobs[i], "threads=2");
        /* By CPU time: what an idle machine would give, were nothing but the threads' own work slowing them. */
        printf("%-30s two threads     %8.2f x by the clock, %.2f x by CPU time\n", jobs[i].name, one.wall / two.wall,
               2 * one.cpu / two.cpu);
        measure(&jobs[i], "late threads=1");
        measure_model(&jobs[i], one.cpu);
    }
    discard();
    return 0;
}
