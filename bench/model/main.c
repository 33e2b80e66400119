/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The timing model beside published figures. Every row prints both and the error; README.md says what the differences
 * are. The model's parameters are not changed for a row here. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/model/kernels.h"
#include "sim/timing/panels.h"

static void row(const char *what, double modelled, double published, const char *unit, const char *source) {
    printf("%-62s %9.4g %9.4g %-12s %+6.1f%%  %s\n", what, modelled, published, unit, 100 * (modelled / published - 1),
           source);
}

/* ---- rates: clk of a piece of code between 64 and 128 repetitions ---- */

static const struct rate {
    const char *what, *chip, *setup, *once;
    unsigned threads;
    double per; /* what is counted in one repetition */
    double published;
    const char *source;
} rates[] = {
    {"independent v_add_f32", "gfx950", "", "v_add_f32 v1, v2, v3\nv_add_f32 v4, v5, v6\n", 64, 2, 4,
     "thread traces, gfx950"},
    {"dependent v_add_f32", "gfx950", "", "v_add_f32 v1, v1, v2\n", 64, 1, 4, "thread traces: 64 of 96 pairs"},
    {"dependent v_fma_f32", "gfx950", "", "v_fma_f32 v1, v1, v2, v3\n", 64, 1, 8.3,
     "s_memtime (facebookexperimental/triton)"},
    {"dependent 16x16x32 f16 on one accumulator", "gfx950", "",
     "v_mfma_f32_16x16x32_f16 v[0:3], v[32:35], v[40:43], v[0:3]\n", 64, 1, 18,
     "s_memtime (facebookexperimental/triton)"},
    {"four streams of 16x16x32 f16", "gfx950", "",
     "v_mfma_f32_16x16x32_f16 v[0:3], v[32:35], v[40:43], v[0:3]\nv_mfma_f32_16x16x32_f16 v[4:7], v[32:35], v[40:43], "
     "v[4:7]\n"
     "v_mfma_f32_16x16x32_f16 v[8:11], v[32:35], v[40:43], v[8:11]\n"
     "v_mfma_f32_16x16x32_f16 v[12:15], v[32:35], v[40:43], v[12:15]\n",
     64, 4, 17, "s_memtime (facebookexperimental/triton)"},
    {"16x16x128 fp8", "gfx950", "", "v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[32:39], v[40:47], v[0:3]\n", 64, 1, 32,
     "8192 FLOP/clk/CU"},
    {"32x32x64 fp8", "gfx950", "", "v_mfma_f32_32x32x64_f8f6f4 v[0:15], v[32:39], v[40:47], v[0:15]\n", 64, 1, 64,
     "8192 FLOP/clk/CU"},
    {"32x32x64 fp4", "gfx950", "", "v_mfma_f32_32x32x64_f8f6f4 v[0:15], v[32:35], v[40:43], v[0:15] cbsz:4 blgp:4\n",
     64, 1, 32, "16384 FLOP/clk/CU"},
    {"32x32x16 fp8", "gfx942", "", "v_mfma_f32_32x32x16_fp8_fp8 v[0:15], v[32:33], v[40:41], v[0:15]\n", 64, 1, 32,
     "matrix instruction calculator"},
    {"16x16x32 fp8 with 3 VALU beside it (12 of 16 clk are free)", "gfx942", "",
     "v_mfma_f32_16x16x32_fp8_fp8 v[0:3], v[32:33], v[40:41], v[0:3]\nv_add_f32 v50, v51, v52\nv_add_f32 v53, v51, "
     "v52\n"
     "v_add_f32 v54, v51, v52\n",
     64, 1, 16, "matrix instruction calculator"},
    {"32x32x16 fp8 with 7 VALU beside it (28 of 32 clk are free)", "gfx942", "",
     "v_mfma_f32_32x32x16_fp8_fp8 v[0:15], v[32:33], v[40:41], v[0:15]\nv_add_f32 v50, v51, v52\nv_add_f32 v53, v51, "
     "v52\n"
     "v_add_f32 v54, v51, v52\nv_add_f32 v55, v51, v52\nv_add_f32 v56, v51, v52\nv_add_f32 v57, v51, v52\n"
     "v_add_f32 v58, v51, v52\n",
     64, 1, 32, "matrix instruction calculator"},
    {"16x16x128 fp8, then v_pk_mul_f32, which waits for the pipe", "gfx950", "",
     "v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[32:39], v[40:47], v[0:3]\nv_pk_mul_f32 v[50:51], v[52:53], v[54:55]\n", 64,
     1, 48, "llvm PR 233721: slot passes+3, then the next"},
    {"dependent ds_read_b32", "gfx950", "v_mov_b32 v1, 0\n", "ds_read_b32 v1, v1\ns_waitcnt lgkmcnt(0)\n", 64, 1, 69,
     "s_memtime (facebookexperimental/triton)"},
    {"ds_read_b128 by 16 waves, bytes a clk", "gfx950", "v_lshlrev_b32 v1, 4, v0\nv_and_b32 v1, 0x3ff, v1\n",
     "ds_read_b128 v[4:7], v1\nds_read_b128 v[8:11], v1\nds_read_b128 v[12:15], v1\nds_read_b128 v[16:19], v1\n"
     "s_waitcnt lgkmcnt(0)\n",
     1024, 0, 256, "peak of gfx950"},
};

static double rate_of(const struct rate *r) {
    double clk[2];
    for (int i = 0; i < 2; i++) {
        char *middle = repeat(r->once, 64 << i), *body = malloc(strlen(r->setup) + strlen(middle) + 1);
        if (!body) exit(1);
        strcpy(stpcpy(body, r->setup), middle);
        const kernel k = {.chip = r->chip, .body = body, .vgprs = 128, .lds = 16384, .threads = r->threads};
        sim_timing t = kernel_time(&k);
        clk[i] = t.cu_clk;
        sim_timing_free(&t);
        free(middle);
        free(body);
    }
    const double each = (clk[1] - clk[0]) / 64;
    return r->per > 0 ? each / r->per : 4 * 16 * LANES * (r->threads / LANES) / each;
}

/* ---- the occupancy cliff ---- */

/* A wave's 8 KiB of B for a block of K. */
static char *load_b(char *p, int first) {
    for (int i = 0; i < 8; i++)
        p += sprintf(p, "global_load_dwordx4 v[%d:%d], v1, s[4:5] offset:%d\n", first + 4 * i, first + 3 + 4 * i,
                     1024 * i - 4096);
    return p;
}

/* A K loop in the manner of the 64x256x128 block-scale product, 4 waves: per block of K and wave 16 products of
 * 16x16x128 into fresh parts, 64 fma that promote them, 8 LDS reads of A, 2 loads and LDS stores for A, 8 loads of B a
 * block ahead. An XCD's workgroups share 8 panels of B, and each 8 of them a panel of A. v1 and v20 are the places in B
 * and A. */
static char *promote_loop(void) {
    static char body[65536];
    char *p = body;
    p += sprintf(p, "s_load_dwordx4 s[4:7], s[0:1], 0x0\ns_lshr_b32 s8, s2, 3\ns_and_b32 s9, s8, 7\n"
                    "s_lshl_b32 s9, s9, 20\ns_lshr_b32 s8, s8, 3\ns_lshl_b32 s8, s8, 18\n"
                    "v_lshlrev_b32 v2, 4, v0\nv_add_u32 v20, s8, v2\nv_add_u32 v20, 0x1000, v20\n"
                    "v_lshrrev_b32 v1, 6, v0\nv_lshlrev_b32 v1, 13, v1\nv_and_b32 v3, 63, v0\n"
                    "v_lshl_add_u32 v1, v3, 4, v1\nv_add_u32 v1, s9, v1\nv_add_u32 v1, 0x1000, v1\n"
                    "s_mov_b32 s10, 0\ns_waitcnt lgkmcnt(0)\n");
    p = load_b(p, 32);
    p += sprintf(p, "again:\n");
    for (int half = 0; half < 2; half++) {
        const int b = 32 + 32 * half;
        for (int i = 0; i < 2; i++)
            p += sprintf(p, "global_load_dwordx4 v[%d:%d], v20, s[6:7] offset:%d\n", 4 + 4 * i, 7 + 4 * i, -4096 * i);
        for (int i = 0; i < 8; i++)
            p += sprintf(p, "ds_read_b128 v[%d:%d], v2 offset:%d\n", 96 + 4 * i, 99 + 4 * i, 1024 * i);
        p += sprintf(p, "v_add_u32 v1, 0x8000, v1\nv_add_u32 v20, 0x2000, v20\ns_waitcnt vmcnt(2) lgkmcnt(0)\n");
        p = load_b(p, 96 - b);
        for (int m = 0; m < 4; m++)
            for (int n = 0; n < 4; n++)
                p += sprintf(p, "v_mfma_f32_16x16x128_f8f6f4 v[%d:%d], v[%d:%d], v[%d:%d], 0\n", 128 + 4 * (4 * m + n),
                             131 + 4 * (4 * m + n), 96 + 8 * m, 103 + 8 * m, b + 8 * n, b + 7 + 8 * n);
        for (int i = 0; i < 64; i++)
            p += sprintf(p, "v_fma_f32 v%d, v%d, v3, v%d\n", 192 + i % 63, 128 + i, 192 + i % 63);
        p += sprintf(p, "s_waitcnt vmcnt(8)\nds_write_b128 v2, v[4:7]\nds_write_b128 v2, v[8:11] offset:4096\n"
                        "s_waitcnt lgkmcnt(0)\ns_barrier\n");
    }
    sprintf(p, "s_add_u32 s10, s10, 1\ns_cmp_lt_u32 s10, 12\ns_cbranch_scc1 again\n");
    return body;
}

static void occupancy_cliff(void) {
    double clk[2];
    for (int i = 0; i < 2; i++) {
        const kernel k = {.chip = "gfx950",
                          .body = promote_loop(),
                          .vgprs = i ? 264 : 256,
                          .lds = 16384,
                          .groups = 2048,
                          .threads = 256,
                          .buffer_bytes = 64 << 20};
        sim_timing t = kernel_time(&k);
        clk[i] = t.kernel_clk;
        printf("  %d registers: %u waves per SIMD (%s), %.0f clk, mfma_busy %.1f%%, L2 hit %.1f%%\n", k.vgprs,
               t.waves_per_simd, t.limit, t.kernel_clk, 100 * t.mfma_busy, 100 * t.l2_hit);
        sim_timing_free(&t);
    }
    row("264 registers over 256, promoting K loop", clk[1] / clk[0], 1.5, "times",
        "MSLK PR 471: 1.4 to 1.6, 1.61 rolled");
}

/* ---- LDS conflicts in a copy that HBM bounds ---- */

#define TRANSPOSE(place)                                                                                               \
    "#define BARRIER() __builtin_amdgcn_fence(__ATOMIC_RELEASE, \"workgroup\"); __builtin_amdgcn_s_barrier();"         \
    " __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, \"workgroup\")\n"                                                       \
    "kernel __attribute__((reqd_work_group_size(256, 1, 1))) void k(global const ushort *a, global ushort *b) {\n"     \
    "  local ushort t[64 * 64]; const uint i = __builtin_amdgcn_workitem_id_x(), g = "                                 \
    "__builtin_amdgcn_workgroup_id_x();\n"                                                                             \
    "  const uint r0 = g / 4 * 64, c0 = g % 4 * 64, c = i % 8, r = i / 8;\n"                                           \
    "  for (uint n = 0; n < 64; n += 32) {\n"                                                                          \
    "    const ushort8 x = *(global const ushort8 *)&a[(r0 + r + n) * 256 + c0 + 8 * c];\n"                            \
    "    const uint row = r + n; *(local ushort8 *)&t[row * 64 + 8 * (" place ")] = x;\n  }\n  BARRIER();\n"           \
    "  for (uint n = 0; n < 64; n += 32) {\n    ushort8 y; const uint col = r + n;\n"                                  \
    "    for (uint j = 0; j < 8; j++) { const uint row = 8 * c + j, c = col / 8;"                                      \
    " y[j] = t[row * 64 + 8 * (" place ") + col % 8]; }\n"                                                             \
    "    *(global ushort8 *)&b[(ulong)(c0 + col) * 65536 + r0 + 8 * c] = y;\n  }\n}\n"

static void transposes(void) {
    static const char *const bodies[] = {TRANSPOSE("c"), TRANSPOSE("c ^ (row / 8 & 7)")};
    double us[2];
    for (int i = 0; i < 2; i++) {
        const kernel k = {.chip = "gfx950",
                          .body = bodies[i],
                          .opencl = 1,
                          .groups = 4096,
                          .threads = 256,
                          .buffer_bytes = 65536 * 256 * 2};
        sim_timing t = kernel_time(&k);
        us[i] = t.ns * 1e-3;
        printf("  %s: %.2f us, LDS %.0f%% conflicts\n", i ? "swizzled" : "rows", us[i],
               t.lds_clk ? 100 * (double)t.lds_conflict / (double)t.lds_clk : 0);
        sim_timing_free(&t);
    }
    row("transpose 65536x256 f16, rows over swizzled", us[0] / us[1], 14.08 / 11.88, "times",
        "composable_kernel, LDS bank conflicts");
    row("transpose 65536x256 f16, swizzled", us[1], 11.88, "us", "composable_kernel (its kernel is another)");
}

/* ---- memory ---- */

static void pointer_chase(void) {
    char *body = repeat(
        "global_load_dword v1, v1, s[4:5]\ns_waitcnt vmcnt(0)\nv_add_u32 v1, 0x1000, v2\nv_mov_b32 v2, v1\n", 64);
    char all[16384];
    snprintf(all, sizeof all,
             "s_load_dwordx2 s[4:5], s[0:1], 0x0\nv_mov_b32 v1, 0\nv_mov_b32 v2, 0\ns_waitcnt lgkmcnt(0)\n%s", body);
    const kernel k = {.chip = "gfx950", .body = all, .vgprs = 32, .buffer_bytes = 1 << 20};
    sim_timing t = kernel_time(&k);
    row("pointer chase through HBM, a load", ((double)t.stall[STALL_VMCNT]) / 64, 790, "clk",
        "s_memtime (facebookexperimental/triton)");
    sim_timing_free(&t);
    free(body);
}

static void copy_rate(void) {
    static const char body[] = "kernel __attribute__((reqd_work_group_size(256, 1, 1))) void k(global const float4 *a, "
                               "global float4 *b) { const uint i = __builtin_amdgcn_workgroup_id_x() * 256 + "
                               "__builtin_amdgcn_workitem_id_x(); b[i] = a[i]; }\n";
    const kernel k = {
        .chip = "gfx950", .body = body, .opencl = 1, .groups = 32768, .threads = 256, .buffer_bytes = 128 << 20};
    sim_timing t = kernel_time(&k);
    row("copy of 128 MiB", 2.0 * 128 * 1.048576 / (t.ns * 1e-3), 5.65, "TB/s", "composable_kernel's transpose copy");
    sim_timing_free(&t);
}

/* ---- orders of tiles ---- */

typedef struct order {
    uint32_t rows, columns, window;
    int by_columns, chunked;
} order;

static void tile_of(const void *user, uint32_t id, uint32_t *tile_row, uint32_t *tile_column) {
    const order *o = user;
    const uint32_t total = o->rows * o->columns, x = id % 8, q = total / 8, r = total % 8;
    const uint32_t w = o->chunked ? x * q + (x < r ? x : r) + id / 8 : id;
    const uint32_t along = o->by_columns ? o->columns : o->rows, across = o->by_columns ? o->rows : o->columns;
    const uint32_t first = w / (o->window * across) * o->window, i = w % (o->window * across);
    const uint32_t g = along - first < o->window ? along - first : o->window;
    *(o->by_columns ? tile_column : tile_row) = first + i % g;
    *(o->by_columns ? tile_row : tile_column) = i / g;
}

static panel_problem problem_of(const order *o, uint64_t row_panel, uint64_t col_panel, uint32_t resident) {
    return (panel_problem){.rows = o->rows,
                           .columns = o->columns,
                           .row_panel = row_panel,
                           .col_panel = col_panel,
                           .xcds = 8,
                           .resident = resident,
                           .l2_bytes = 4 << 20,
                           .tile = tile_of,
                           .user = o};
}

static void windows(void) {
    static const struct {
        uint32_t window;
        double tflops;
    } rows[] = {{2, 1083}, {4, 1109}, {8, 1114}, {32, 875}};
    double hits[4];
    printf("bf16 8192 cubed, tiles 256x256, one workgroup a CU, window of rows in each XCD's chunk\n"
           "  window   panels: hit of a round   walk of K slices: hit   published TFLOP/s\n");
    for (size_t i = 0; i < 4; i++) {
        const order o = {32, 32, rows[i].window, 0, 1};
        /* All of K is 4 MiB a panel; in step, a slice of 64 is what lives in L2 at a time. */
        const panel_problem p = problem_of(&o, 256 * 64 * 2, 256 * 64 * 2, 32);
        panel_count round, walked;
        if (panels_resident(&p, &round) || panels_walk(&p, &walked)) exit(1);
        hits[i] = round.hit;
        printf("  %6u %24.1f%% %22.1f%% %19.0f\n", rows[i].window, 100 * round.hit, 100 * walked.hit, rows[i].tflops);
    }
    const int right = hits[2] >= hits[1] && hits[1] > hits[0] && hits[0] > hits[3];
    printf("  order 8 ~ 4 > 2 > 32: %s by the panels of a round\n", right ? "reproduced" : "NOT reproduced");
}

static void wide_product(void) {
    static const struct {
        const char *name;
        order order;
        double mib;
    } rows[] = {{"raw", {64, 256, 64, 0, 0}, 774},
                {"group of 4 rows", {64, 256, 4, 0, 1}, 1542},
                {"group of 8 rows", {64, 256, 8, 0, 1}, 774},
                {"group of 16 rows", {64, 256, 16, 0, 1}, 396},
                {"panel of 8 columns", {64, 256, 8, 1, 1}, 288}};
    printf("fp8 4096x65536x1536, tiles 64x256, two workgroups a CU: bytes that the L2 caches fill\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const panel_problem p = problem_of(&rows[i].order, 64 * 1536, 256 * 1536, 64);
        panel_count round, walked;
        if (panels_resident(&p, &round) || panels_walk(&p, &walked)) exit(1);
        printf("  %-20s walk %6.0f MiB, hit %.1f%%; round alone %6.0f MiB, hit %.1f%%\n", rows[i].name,
               (double)walked.filled / 1048576, 100 * walked.hit, (double)round.filled / 1048576, 100 * round.hit);
    }
}

/* ---- what the model costs ---- */

static void cost(void) {
    char *fma = repeat("v_fma_f32 v1, v2, v3, v4\n", 96), body[8192];
    snprintf(body, sizeof body,
             "s_mov_b32 s4, 0\nagain: %ss_add_u32 s4, s4, 1\ns_cmp_lt_u32 s4, 1000\ns_cbranch_scc1 again\n", fma);
    free(fma);
    const kernel k = {.chip = "gfx950", .body = body, .vgprs = 32, .threads = 256};
    const double instructions = 4 * 1000 * 99.0, plain = kernel_cost(&k, 0), modelled = kernel_cost(&k, 1);
    /* A modelled launch also walks the workgroup once without the model. */
    printf("host: %.2f million instructions a second without the model, %.2f with it, %.1f times the cost\n",
           instructions / plain * 1e-6, instructions / (modelled - plain) * 1e-6, (modelled - plain) / plain);
}

int main(void) {
    printf("Modelled figures beside published ones; nothing was measured here.\n%-62s %9s %9s %-12s %7s\n", "", "model",
           "published", "", "error");
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        row(rates[i].what, rate_of(&rates[i]), rates[i].published, rates[i].per > 0 ? "clk" : "B/clk", rates[i].source);
    pointer_chase();
    copy_rate();
    transposes();
    occupancy_cliff();
    windows();
    wide_product();
    cost();
    return 0;
}
