/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Programs of kernels/programs.cl that clang compiles while the test runs, for both chips, without and with
 * optimisation; results equal plain C bit for bit. */
#include "tests/sim/gpu.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 3072, BYTES = N * 4 };
typedef void reference(uint32_t *out, const uint32_t *a, const uint32_t *b);

static uint32_t a[N], b[N], got[N], want[N];
enum { OPTIONS = 3 };
static hip_module modules[2][OPTIONS];
static const char *const chip_names[] = {"gfx950", "gfx942"}, *const options[] = {
                                                                  "-O3", "-O0",
                                                                  "-O3 -mllvm -amdgpu-kernarg-preload-count=16"};
static const char *const modes[] = {"threads=2", "late poison threads=2"};

static int compile_all(void **state) {
    (void)state;
    static char source[1 << 16];
    FILE *f = fopen(PROGRAMS "/programs.cl", "r");
    if (!f) return -1;
    source[fread(source, 1, sizeof source - 1, f)] = 0;
    fclose(f);
    uint32_t seed = 12345;
    for (int i = 0; i < N; i++) {
        seed = seed * 1664525u + 1013904223u;
        a[i] = seed ^ seed >> 15;
        seed = seed * 1664525u + 1013904223u;
        b[i] = seed ^ seed >> 13;
    }
    for (int c = 0; c < 2; c++)
        for (int o = 0; o < OPTIONS; o++) {
            char with[256];
            snprintf(with, sizeof with, "-w -I " PROGRAMS " %s", options[o]);
            gpu_chip = chip_names[c];
            gpu_open(modes[0]);
            modules[c][o] = gpu_compile(source, with);
        }
    return 0;
}

typedef struct grid3 {
    unsigned groups[3], threads[3], lds;
} grid3;

static hip_error launch3(hip_module module, const char *kernel, grid3 g, uint64_t *words) {
    hip_function function;
    void *params[8];
    for (int i = 0; i < 8; i++) params[i] = &words[i];
    assert_int_equal(gpu->module_get_function(&function, module, kernel), HIP_SUCCESS);
    const hip_error error = gpu->module_launch_kernel(function, g.groups[0], g.groups[1], g.groups[2], g.threads[0],
                                                      g.threads[1], g.threads[2], g.lds, NULL, params, NULL);
    return error != HIP_SUCCESS ? error : gpu->device_synchronize();
}

static void check(const char *kernel, grid3 g, uint64_t number, reference *compute) {
    memset(want, 0, sizeof want);
    compute(want, a, b);
    for (int c = 0; c < 2; c++)
        for (int o = 0; o < OPTIONS; o++)
            for (int m = 0; m < 2; m++) {
                gpu_chip = chip_names[c];
                gpu_open(modes[m]);
                const uint64_t da = gpu_buffer(a, BYTES), db = gpu_buffer(b, BYTES), dout = gpu_buffer(NULL, BYTES);
                uint64_t words[8] = {dout, da, db, number};
                const hip_error error = launch3(modules[c][o], kernel, g, words);
                if (error != HIP_SUCCESS)
                    fail_msg("%s %s %s: HIP %d: %s", chip_names[c], options[o], modes[m], error, gpu->last_fault());
                gpu_read(got, dout, BYTES);
                for (int i = 0; i < N; i++)
                    if (got[i] != want[i])
                        fail_msg("%s %s %s: word %d is 0x%08x, not 0x%08x", chip_names[c], options[o], modes[m], i,
                                 got[i], want[i]);
                gpu->free((void *)(uintptr_t)da);
                gpu->free((void *)(uintptr_t)db);
                gpu->free((void *)(uintptr_t)dout);
            }
}

enum { COUNT = 1500 };
static const grid3 line = {.groups = {6, 1, 1}, .threads = {250, 1, 1}}; /* partial last waves */

static void transpose_reference(uint32_t *out, const uint32_t *x, const uint32_t *y) {
    (void)y;
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < 48; j++) out[j * 64 + i] = x[i * 48 + j];
}
static void transpose(void **state) {
    (void)state;
    check("transpose", (grid3){{3, 4, 1}, {256, 1, 1}, 0}, 0, transpose_reference);
}
static void scan_reference(uint32_t *out, const uint32_t *x, const uint32_t *y) {
    (void)y;
    for (int i = 0; i < COUNT; i++) out[i] = x[i] + (i % 250 ? out[i - 1] : 0);
}
static void scan_with_barriers_in_a_loop(void **state) {
    (void)state;
    check("scan", line, 0, scan_reference);
}
static double double_at(const uint32_t *x, int i) {
    double f;
    memcpy(&f, x + 2 * i, 8);
    return f;
}
static void gemm_reference(uint32_t *out, const uint32_t *x, const uint32_t *y) {
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 16; j++) {
            double sum = 0;
            for (int k = 0; k < 16; k++) sum = fma(double_at(x, i * 16 + k), double_at(y, k * 16 + j), sum);
            memcpy(out + 2 * (i * 16 + j), &sum, 8);
        }
}
static void gemm_in_f64(void **state) {
    (void)state;
    static uint32_t keep[2][512];
    memcpy(keep[0], a, sizeof keep[0]);
    memcpy(keep[1], b, sizeof keep[1]);
    for (int i = 0; i < 256; i++) { /* numbers of like size */
        const double x = (double)(int32_t)keep[0][i] / 3, y = (double)(int32_t)keep[1][i] / 7;
        memcpy(a + 2 * i, &x, 8);
        memcpy(b + 2 * i, &y, 8);
    }
    check("gemm_f64", (grid3){{1, 1, 1}, {256, 1, 1}, 0}, 0, gemm_reference);
    memcpy(a, keep[0], sizeof keep[0]);
    memcpy(b, keep[1], sizeof keep[1]);
}

/* Quotients: every pair of exponents at which v_div_scale and v_div_fmas change what they do, then random ones. */
static void divide_f32_reference(uint32_t *out, const uint32_t *x, const uint32_t *y) {
    for (int i = 0; i < N; i++) {
        float f, g;
        memcpy(&f, x + i, 4);
        memcpy(&g, y + i, 4);
        const float q = f / g == f / g ? f / g : __builtin_nanf("");
        memcpy(out + i, &q, 4);
    }
}
static void divide_f64_reference(uint32_t *out, const uint32_t *x, const uint32_t *y) {
    for (int i = 0; i < N / 2; i++) {
        const double q = double_at(x, i) / double_at(y, i), r = q == q ? q : __builtin_nan("");
        memcpy(out + 2 * i, &r, 8);
    }
}
static void quotients(void **state) {
    (void)state;
    static const uint32_t at32[16] = {0, 1, 2, 22, 23, 24, 30, 100, 126, 127, 128, 229, 252, 253, 254, 255};
    static const uint32_t at64[16] = {0, 1, 2, 52, 53, 54, 60, 300, 1022, 1023, 1024, 1790, 2044, 2045, 2046, 2047};
    static uint32_t keep[2][N];
    memcpy(keep[0], a, BYTES);
    memcpy(keep[1], b, BYTES);
    for (int i = 0; i < 512; i++) {
        a[i] = (a[i] & 0x807fffff) | at32[i & 15] << 23;
        b[i] = (b[i] & 0x807fffff) | at32[i >> 4 & 15] << 23;
    }
    check("divide_f32", (grid3){{N / 256, 1, 1}, {256, 1, 1}, 0}, 0, divide_f32_reference);
    for (int i = 0; i < 512; i++) {
        a[2 * i + 1] = (a[2 * i + 1] & 0x800fffff) | at64[i & 15] << 20;
        b[2 * i + 1] = (b[2 * i + 1] & 0x800fffff) | at64[i >> 4 & 15] << 20;
    }
    check("divide_f64", (grid3){{N / 512, 1, 1}, {256, 1, 1}, 0}, 0, divide_f64_reference);
    memcpy(a, keep[0], BYTES);
    memcpy(b, keep[1], BYTES);
}

/* An output of 48 GiB of which a few pages are touched. */
static void index_beyond_4_gib(void **state) {
    (void)state;
    const uint64_t step = UINT64_C(1) << 32; /* elements */
    for (int c = 0; c < 2; c++)
        for (int o = 0; o < OPTIONS; o++) {
            gpu_chip = chip_names[c];
            gpu_open(modes[0]);
            void *far;
            assert_int_equal(gpu->malloc(&far, 3 * step * 4 + BYTES), HIP_SUCCESS);
            uint64_t words[8] = {(uint64_t)(uintptr_t)far, gpu_buffer(a, BYTES), gpu_buffer(b, BYTES), step};
            assert_int_equal(launch3(modules[c][o], "far_index", line, words), HIP_SUCCESS);
            for (uint32_t i = 0; i < COUNT; i++) {
                uint32_t word;
                gpu_read(&word, words[0] + 4 * (step * (i & 3) + i), 4);
                assert_int_equal(word, a[i] + b[i]);
            }
            for (int i = 0; i < 3; i++) gpu->free((void *)(uintptr_t)words[i]);
        }
}

static void bits_reference(uint32_t *out, const uint32_t *p, const uint32_t *q) {
    for (int i = 0; i < COUNT; i++) {
        const uint32_t x = p[i], y = q[i];
        uint32_t reversed = 0;
        for (int k = 0; k < 32; k++) reversed |= (x >> k & 1) << (31 - k);
        uint32_t r = (uint32_t)__builtin_popcount(x) + (x ? (uint32_t)__builtin_clz(x) : 40) * 64 +
                     (y ? (uint32_t)__builtin_ctz(y) : 50) * 4096;
        r ^= reversed + (x << (y & 31) | x >> (-y & 31));
        r += (uint32_t)__builtin_popcountll((uint64_t)x << 32 | y) + ((x ^ x >> 1) & ~y);
        r ^= (uint32_t)((int32_t)x >> (y & 31)) + __builtin_bswap32(y) +
             (uint32_t)((uint8_t)(x >> 9) * (int8_t)(y >> 3)) + (x & -x);
        out[i] = r ^ (x & 0xffff) * (y >> 16) ^ (x >> (y & 31) & 127);
    }
}
static void bit_tricks(void **state) {
    (void)state;
    check("bit_tricks", line, 0, bits_reference);
}

static uint32_t nested(uint32_t x, uint32_t y) {
    uint32_t sum = 0;
    if ((x & 15) == 15) return 77;
    for (uint32_t i = 0; i < (x & 7) + 1; i++)
        for (uint32_t j = 0; j < (y & 15); j++) {
            if ((x >> j & 3) == i) continue;
            for (uint32_t k = j; k < 20; k += 1 + (sum & 3)) {
                sum += (k * i) ^ y;
                if ((sum & 63) == x >> 26) break;
            }
            if (sum > 0xf0000000u) return sum;
            const uint32_t which = sum % 5;
            if (which == 0) sum += 3;
            if (which == 1) sum ^= x;
            if (which == 1 || which == 2) sum = sum * 5 + 1;
            if (which > 2) sum -= j;
        }
    return sum;
}
static void nested_reference(uint32_t *out, const uint32_t *x, const uint32_t *y) {
    for (int i = 0; i < COUNT; i++) out[i] = nested(x[i], y[i]);
}
static void nested_divergent_loops(void **state) {
    (void)state;
    check("nested_loops", line, 0, nested_reference);
}

static uint32_t call(uint32_t which, uint32_t x, uint32_t y) {
    if (which == 0) return x + y * 3;
    if (which == 1) return (x ^ y) * 2654435761u;
    uint32_t t[12];
    for (uint32_t i = 0; i < 12; i++) t[(x + i) % 12] = y * i + call(0, x, i);
    return call(1, t[x % 12], t[y % 12]);
}
static void pointers_reference(uint32_t *out, const uint32_t *x, const uint32_t *y) {
    for (int i = 0; i < COUNT; i++) out[i] = call(x[i] % 3, x[i], y[i]) + call(y[i] % 3, y[i], x[i]);
}
static void function_pointers_with_scratch(void **state) {
    (void)state;
    check("function_pointers", line, 0, pointers_reference);
}
static void generic_reference(uint32_t *out, const uint32_t *x, const uint32_t *y) {
    for (int i = 0; i < COUNT; i++) {
        const uint32_t v = x[i];
        const int other = i / 250 * 250 + (i % 250 ^ 1);
        out[i] = v + (v % 3 == 0 ? x[other] ^ 5 : v % 3 == 1 ? v * (v % 8) : y[i]);
    }
}
static void generic_pointers(void **state) {
    (void)state;
    check("generic_pointers", line, 0, generic_reference);
}
static void dimensions_reference(uint32_t *out, const uint32_t *x, const uint32_t *y) {
    for (uint32_t k = 0; k < 8; k++)
        for (uint32_t j = 0; j < 6; j++)
            for (uint32_t i = 0; i < 15; i++) out[(k * 6 + j) * 15 + i] = x[i] + 1000 * y[j] + k * 1000000 + 8 * 7;
}
static void grids_of_three_dimensions(void **state) {
    (void)state;
    check("three_dimensions", (grid3){{3, 2, 4}, {5, 3, 2}, 0}, 0, dimensions_reference);
}
static void dynamic_reference(uint32_t *out, const uint32_t *x, const uint32_t *y) {
    for (uint32_t i = 0; i < COUNT; i++) out[i] = (x[N - 1 - i % 250] + N - 1 - i % 250) ^ y[i];
}
static void dynamic_lds(void **state) {
    (void)state;
    check("dynamic_lds", (grid3){{6, 1, 1}, {250, 1, 1}, BYTES}, N, dynamic_reference);
}
static void atomics_reference(uint32_t *out, const uint32_t *x, const uint32_t *y) {
    uint64_t r[6] = {0}, p, q;
    for (int i = 0; i < COUNT; i++) {
        memcpy(&p, x + 2 * i, 8);
        memcpy(&q, y + 2 * i, 8);
        r[0] ^= p;
        r[1] += q;
        r[2] = q > r[2] ? q : r[2];
        r[3] = r[3] * 3 + 1;
        r[4] += p;
        r[5]++;
    }
    memcpy(out, r, sizeof r);
}
static void atomics_of_64_bits(void **state) {
    (void)state;
    check("wide_atomics", line, 0, atomics_reference);
}
static void wave_reference(uint32_t *out, const uint32_t *x, const uint32_t *y) {
    for (int i = 0; i < N; i += 64) {
        uint32_t sum = 0;
        for (int l = 0; l < 64; l++) sum += x[i + l];
        for (int l = 0; l < 64; l++) out[i + l] = sum + y[i];
    }
}
static void reduction_across_lanes(void **state) {
    (void)state;
    check("wave_reduction", (grid3){{12, 1, 1}, {256, 1, 1}, 0}, 0, wave_reference);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transpose),
        cmocka_unit_test(scan_with_barriers_in_a_loop),
        cmocka_unit_test(gemm_in_f64),
        cmocka_unit_test(quotients),
        cmocka_unit_test(index_beyond_4_gib),
        cmocka_unit_test(bit_tricks),
        cmocka_unit_test(nested_divergent_loops),
        cmocka_unit_test(function_pointers_with_scratch),
        cmocka_unit_test(generic_pointers),
        cmocka_unit_test(grids_of_three_dimensions),
        cmocka_unit_test(dynamic_lds),
        cmocka_unit_test(atomics_of_64_bits),
        cmocka_unit_test(reduction_across_lanes),
    };
    return cmocka_run_group_tests(tests, compile_all, NULL);
}
