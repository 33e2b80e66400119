/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gemm_grouped on the simulator: every layout with plain and preshuffled B, both kinds of scales and tails, with
 * results that appear late and what is unwritten poisoned, graded by the operator's rules.
 * usage: sweep_gemm_grouped_layouts [--full] */
#include <stdlib.h>

#include "tests/sweep/grouped_runs.h"

enum { CASES_MAX = 2048, NAME_BYTES = 400 };
#define OP "gemm_grouped:"

static const kernel_row kernels[] = {
    {"gfx950", "mfma16x16x128_t64x128x128"},
    {"gfx950", "mfma16x16x128_t64x128x256_cs_async"},
    {"gfx950", "mfma16x16x128_t64x128x128_sk2"},
    {"gfx942", "mfma16x16x32_t64x128x128_cs"},
    {"gfx950", "mfma32x32x64_t64x128x128_async_wpe2"},
    {"gfx942", "mfma16x16x32_t32x128x256"},
    {"gfx950", "mfma16x16x128_t128x128x128_wm2_cs_async_wpe2"},
    {"gfx950", "mfma16x16x128_t32x256x128"},
    {"gfx950", "mfma16x16x128_t16x128x128_group3"},
    {"gfx942", "mfma16x16x32_t64x128x128_group8_cs"},
    {"gfx950", "mfma16x16x128_t32x128x256_group2_sk2"},
};

static const char *const shapes[] = {
    "layout=sizes groups=4 m=200 n=256 k=512",
    "layout=sizes groups=5 m=150 n=256 k=768 b=preshuffled out=f16",
    "layout=sizes groups=3 m=130 n=256 k=512 scale=block",
    "layout=sizes groups=4 m=90 n=256 k=1024 b=preshuffled scale=block",
    "layout=sizes groups=3 m=90 n=384 k=384 scale=block data=exact",
    "layout=offsets groups=4 m=140 n=264 k=528 data=coherent",
    "layout=offsets groups=4 m=140 n=128 k=512 b=preshuffled data=exact",
    "layout=padded groups=3 m=100 n=200 k=272",
    "layout=padded groups=3 m=70 n=128 k=512 b=preshuffled",
    "layout=padded groups=3 m=70 n=256 k=384 scale=block",
    "layout=batched groups=2 m=100 n=136 k=144 data=coherent",
    "layout=batched groups=2 m=65 n=128 k=512 b=preshuffled scale=block",
    "layout=n_offsets groups=3 m=70 n=640 k=512 extents=8,504,128 data=coherent",
    "layout=n_offsets groups=4 m=40 n=400 k=272",
    "layout=k_offsets groups=4 m=70 n=136 k=1152 extents=288,288,288,288 data=coherent",
    "layout=k_offsets groups=4 m=70 n=128 k=1024 extents=0,256,256,512",
    "layout=k_offsets groups=4 m=40 n=128 k=1024 extents=16,512,0,496 empty_k=leave",
    "layout=sizes groups=32 m=130 n=64 k=128",
    "layout=offsets groups=33 m=130 n=64 k=128",
    "layout=sizes groups=64 m=130 n=64 k=128 data=coherent",
    "layout=n_offsets groups=64 m=20 n=1024 k=128",
    "layout=offsets groups=65 m=130 n=64 k=128",
    "layout=offsets groups=128 m=300 n=64 k=128",
    "layout=sizes groups=129 m=300 n=64 k=128",
    "layout=sizes groups=130 m=300 n=64 k=256",
    "layout=n_offsets groups=70 m=20 n=1120 k=256",
    "layout=k_offsets groups=70 m=20 n=64 k=2240",
};

static const char *const modes[] = {"late poison check=all threads=1", "late threads=1", "poison threads=2"};

typedef struct sweep_case {
    const kernel_row *kernel;
    const char *shape, *mode;
    uint64_t seed;
    char name[NAME_BYTES];
} sweep_case;

static sweep_case *cases;
static int case_count;

/* Unless the kernel has no such launch. */
static void add_case(int kernel, int shape, int mode) {
    const kernel_row *const k = &kernels[kernel];
    const target t = target_of(k->chip);
    char tag[NAME_BYTES];
    snprintf(tag, sizeof tag, OP "%s", k->tag);
    plan p;
    const cdnagen_status status = plan_make(tag, shapes[shape], &t, 0, &p);
    if (status == CDNAGEN_LIMIT || status == CDNAGEN_BAD_SHAPE) return; /* LDS, parts of K, whole tiles of packed B */
    sweep_case *const c = &cases[case_count++];
    *c = (sweep_case){k, shapes[shape], modes[mode], (uint64_t)(kernel + shape) % 4, ""};
    snprintf(c->name, sizeof c->name, "%s %s %s seed %d, %s", k->chip, k->tag, c->shape, (int)c->seed, c->mode);
}

static void a_case(void **state) {
    const sweep_case *const c = *state;
    runs_graded(c->kernel, c->shape, c->mode, c->seed);
}

int main(int argc, char **argv) {
    const int is_full = argc > 1 && !strcmp(argv[1], "--full");
    if (argc > 1 && !is_full) {
        fprintf(stderr, "usage: %s [--full]\n", argv[0]);
        return 2;
    }
    cases = calloc(CASES_MAX, sizeof *cases);
    struct CMUnitTest *const tests = calloc(CASES_MAX, sizeof *tests);
    if (!cases || !tests) return 1;
    const int kernel_count = (int)COUNT(kernels), modes_count = (int)COUNT(modes);
    for (int k = 0; k < kernel_count; k++)
        for (int s = 0; s < (int)COUNT(shapes); s++)
            if (is_full || s % kernel_count == k || (s + 3) % kernel_count == k) add_case(k, s, (k + s) % modes_count);
    for (int i = 0; i < case_count; i++) tests[i] = (struct CMUnitTest){cases[i].name, a_case, NULL, NULL, &cases[i]};
    runs_open();
    const int failed = _cmocka_run_group_tests("gemm_grouped", tests, (size_t)case_count, NULL, NULL);
    runs_close();
    free(tests);
    free(cases);
    return failed != 0;
}
