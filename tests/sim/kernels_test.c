/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* OpenCL C kernels that clang compiles while the test runs; results equal plain C bit for bit. */
#include "tests/sim/gpu.h"

#include <stdlib.h>
#include <string.h>

#include "core/fp8.h"
#include "tests/sim/bits.h"

static const char *const option_sets[] = {"-O3 -w", "-O0 -w"}, *const chip_names[] = {"gfx950", "gfx942"};
enum { OPTION_SETS = 2 };
static const char *const modes[] = {"threads=2", "late poison threads=2", "check=all threads=2"};

#define HEAD                                                                                                           \
    "#define LID ((uint)__builtin_amdgcn_workitem_id_x())\n"                                                           \
    "#define GROUP ((uint)__builtin_amdgcn_workgroup_id_x())\n"                                                        \
    "#define BARRIER() do { __builtin_amdgcn_fence(__ATOMIC_RELEASE, \"workgroup\"); __builtin_amdgcn_s_barrier(); "   \
    "__builtin_amdgcn_fence(__ATOMIC_ACQUIRE, \"workgroup\"); } while (0)\n"

static uint32_t seed = 1;
static uint32_t random_word(void) { return seed = seed * 1664525u + 1013904223u, seed >> 8 ^ seed << 24; }

/* Every kernel: two input buffers and one output of N dwords, run on both chips, with and without optimisation, in both
 * completion modes. */
enum { N = 1000, GROUPS = 4, THREADS = 250 }; /* 250 threads: the last wave is partial */
typedef void expected(uint32_t *out, const uint32_t *a, const uint32_t *b);

static void check_on(int chip_count, const char *source, gpu_grid grid, expected *reference) {
    static uint32_t a[N], b[N], out[N], want[N];
    for (int i = 0; i < N; i++) {
        a[i] = random_word();
        b[i] = random_word();
    }
    memset(want, 0, sizeof want);
    reference(want, a, b);
    for (int run = 0; run < chip_count * OPTION_SETS; run++) {
        const char *options = option_sets[run % OPTION_SETS];
        gpu_chip = chip_names[run / OPTION_SETS];
        gpu_open(modes[0]);
        const hip_module module = gpu_compile(source, options);
        for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
            gpu_open(modes[m]);
            const uint64_t da = gpu_buffer(a, sizeof a), db = gpu_buffer(b, sizeof b),
                           dout = gpu_buffer(NULL, sizeof out);
            const hip_error error = gpu_launch(module, "k", grid, 3, dout, da, db);
            if (error != HIP_SUCCESS)
                fail_msg("%s %s %s: HIP %d: %s", gpu_chip, modes[m], options, error, gpu->last_fault());
            gpu_read(out, dout, sizeof out);
            for (int i = 0; i < N; i++)
                if (out[i] != want[i])
                    fail_msg("%s %s %s: element %d is 0x%08x, not 0x%08x", gpu_chip, modes[m], options, i, out[i],
                             want[i]);
            gpu->free((void *)(uintptr_t)da);
            gpu->free((void *)(uintptr_t)db);
            gpu->free((void *)(uintptr_t)dout);
        }
        assert_int_equal(gpu->module_unload(module), HIP_SUCCESS);
    }
}
static void check(const char *source, gpu_grid grid, expected *reference) { check_on(2, source, grid, reference); }
static const gpu_grid plain = {.groups = GROUPS, .threads = THREADS};

static void saxpy_reference(uint32_t *out, const uint32_t *a, const uint32_t *b) {
    for (int i = 0; i < N; i++) out[i] = as_bits(__builtin_fmaf(2.5f, (float)(int32_t)a[i], (float)(int32_t)b[i]));
}
static void saxpy(void **state) {
    (void)state;
    check(HEAD "kernel void k(global float *out, global int *a, global int *b) { uint i = GROUP * 250 + LID;"
               " out[i] = __builtin_fmaf(2.5f, (float)a[i], (float)b[i]); }",
          plain, saxpy_reference);
}

static void reduction_reference(uint32_t *out, const uint32_t *a, const uint32_t *b) {
    for (int g = 0; g < GROUPS; g++)
        for (int i = 0; i < THREADS; i++) out[g] += a[g * THREADS + i] ^ b[g * THREADS + i];
}
static void reduction_with_lds_and_barriers(void **state) {
    (void)state;
    check(HEAD "kernel void k(global uint *out, global uint *a, global uint *b) { local uint part[256]; uint i = GROUP "
               "* 250 + LID;"
               " part[LID] = a[i] ^ b[i]; if (LID < 6) part[250 + LID] = 0; BARRIER();"
               " for (uint n = 128; n; n /= 2) { if (LID < n) part[LID] += part[LID + n]; BARRIER(); }"
               " if (LID == 0) out[GROUP] = part[0]; }",
          plain, reduction_reference);
}

static uint32_t collatz(uint32_t x) {
    uint32_t steps = 0;
    while (x != 1 && steps < 200) {
        if (x & 1)
            x = 3 * x + 1;
        else
            while (!(x & 1)) x >>= 1;
        steps++;
    }
    return steps;
}
static void divergent_reference(uint32_t *out, const uint32_t *a, const uint32_t *b) {
    for (int i = 0; i < N; i++) out[i] = collatz((a[i] & 1023) + 1) * 1000 + (b[i] % 7 == 3 ? b[i] / 7 : b[i] % 13);
}
static void divergent_loops(void **state) {
    (void)state;
    check(HEAD "kernel void k(global uint *out, global uint *a, global uint *b) { uint i = GROUP * 250 + LID; uint x = "
               "(a[i] & 1023) + 1,"
               " steps = 0; while (x != 1 && steps < 200) { if (x & 1) x = 3 * x + 1; else while (!(x & 1)) x >>= 1; "
               "steps++; }"
               " out[i] = steps * 1000 + (b[i] % 7 == 3 ? b[i] / 7 : b[i] % 13); }",
          plain, divergent_reference);
}

static void bytes_reference(uint32_t *out, const uint32_t *a, const uint32_t *b) {
    const int8_t *pa = (const int8_t *)a;
    const uint16_t *pb = (const uint16_t *)b;
    uint8_t *bytes_out = (uint8_t *)out;
    for (int i = 0; i < N; i++) {
        bytes_out[i] = (uint8_t)(pa[i] * 3 + (int16_t)pb[i]);
        const uint16_t half = (uint16_t)(pb[i] - (uint8_t)pa[i]);
        memcpy(bytes_out + N + 2 * i, &half, 2);
    }
}
static void byte_and_short_access(void **state) {
    (void)state;
    check(HEAD "kernel void k(global uchar *out, global char *a, global short *b) { uint i = GROUP * 250 + LID;"
               " out[i] = (uchar)(a[i] * 3 + b[i]); ((global ushort *)(out + 1000))[i] = (ushort)((ushort)b[i] - "
               "(uchar)a[i]); }",
          plain, bytes_reference);
}

static void wide_reference(uint32_t *out, const uint32_t *a, const uint32_t *b) {
    for (int i = 0; i < N / 2; i++) {
        uint64_t x, y;
        memcpy(&x, a + 2 * i, 8);
        memcpy(&y, b + 2 * i, 8);
        uint64_t r = x * y + (x >> (y & 63)) - (uint64_t)((int64_t)y >> (x & 31)) + (x < y ? x << 7 : y << 9);
        r ^=
            (uint64_t)((int64_t)x > (int64_t)y) + (x / (y >> 40 | 1)) + (uint64_t)((int64_t)x % (int64_t)(y >> 33 | 1));
        memcpy(out + 2 * i, &r, 8);
    }
}
static void arithmetic_of_64_bits(void **state) {
    (void)state;
    check(HEAD "kernel void k(global ulong *out, global ulong *a, global ulong *b) { uint i = GROUP * 250 + LID; if (i "
               ">= 500) return;"
               " ulong x = a[i], y = b[i]; ulong r = x * y + (x >> (y & 63)) - (ulong)((long)y >> (x & 31)) + (x < y ? "
               "x << 7 : y << 9);"
               " r ^= (ulong)((long)x > (long)y) + (x / (y >> 40 | 1)) + (ulong)((long)x % (long)(y >> 33 | 1)); "
               "out[i] = r; }",
          plain, wide_reference);
}

static uint32_t inner(uint32_t n) { return n * 17 ^ n >> 3; }
static uint32_t outer(uint32_t n) {
    uint32_t t[8], sum = 0;
    for (uint32_t j = 0; j < 8; j++) t[(n + j) & 7] = inner(n + j) + j;
    for (uint32_t j = 0; j < 8; j++) sum = sum * 3 + t[j];
    return sum;
}
static void call_reference(uint32_t *out, const uint32_t *a, const uint32_t *b) {
    for (int i = 0; i < N; i++) {
        uint32_t table[16];
        for (uint32_t j = 0; j < 16; j++) table[j] = a[i] * j + b[i];
        out[i] = table[a[i] & 15] + table[b[i] & 15] + outer(a[i]);
    }
}
static void calls_with_scratch(void **state) {
    (void)state;
    check(
        HEAD
        "__attribute__((noinline)) uint inner(uint n) { return n * 17 ^ n >> 3; }\n"
        "__attribute__((noinline)) uint outer(uint n) { uint t[8], sum = 0; for (uint j = 0; j < 8; j++) t[(n + j) & "
        "7] = inner(n + j) + j;"
        " for (uint j = 0; j < 8; j++) sum = sum * 3 + t[j]; return sum; }\n"
        "__attribute__((noinline)) void fill(private uint *t, uint x, uint y) { for (uint j = 0; j < 16; j++) t[j] = x "
        "* j + y; }\n"
        "kernel void k(global uint *out, global uint *a, global uint *b) { uint i = GROUP * 250 + LID; uint table[16];"
        " fill(table, a[i], b[i]); out[i] = table[a[i] & 15] + table[b[i] & 15] + outer(a[i]); }",
        plain, call_reference);
}

static void floats_reference(uint32_t *out, const uint32_t *a, const uint32_t *b) {
    for (int i = 0; i < N; i++) {
        const float x = as_float((a[i] & 0x0fffffff) | 0x30000000), y = as_float((b[i] & 0x0fffffff) | 0x30000000);
        const double d = (double)x * (double)y - (double)y / (double)(x + 1.0f);
        out[i] = as_bits(x / y + (float)d + (x < y ? x * 3.0f : -y));
    }
}
static void division_and_double(void **state) {
    (void)state;
    check(HEAD "#pragma OPENCL FP_CONTRACT OFF\nkernel void k(global float *out, global uint *a, global uint *b) { "
               "uint i = GROUP * 250 + LID;"
               " float x = as_float((a[i] & 0x0fffffff) | 0x30000000), y = as_float((b[i] & 0x0fffffff) | 0x30000000);"
               " double d = (double)x * (double)y - (double)y / (double)(x + 1.0f); out[i] = x / y + (float)d + (x < y "
               "? x * 3.0f : -y); }",
          plain, floats_reference);
}

static void atomics_reference(uint32_t *out, const uint32_t *a, const uint32_t *b) {
    for (int i = 0; i < N; i++) {
        out[a[i] % 61]++;
        out[100 + b[i] % 17] += a[i] >> 20;
        if (b[i] > out[200]) out[200] = b[i];
    }
}
static void histogram_with_atomics(void **state) {
    (void)state;
    check(HEAD
          "kernel void k(global uint *out, global uint *a, global uint *b) { local uint h[64]; uint i = GROUP * 250 + "
          "LID;"
          " if (LID < 64) h[LID] = 0; BARRIER(); __atomic_fetch_add(&h[a[i] % 61], 1, __ATOMIC_RELAXED); BARRIER();"
          " if (LID < 61) __atomic_fetch_add(&out[LID], h[LID], __ATOMIC_RELAXED);"
          " __atomic_fetch_add(&out[100 + b[i] % 17], a[i] >> 20, __ATOMIC_RELAXED);"
          " __atomic_fetch_max(&out[200], b[i], __ATOMIC_RELAXED); }",
          plain, atomics_reference);
}

/* Halves: plain, packed, fused, and conversions; the compiler's _Float16 rounds as the hardware does. */
static uint16_t half_bits(float x) {
    const _Float16 h = (_Float16)x;
    uint16_t bits;
    memcpy(&bits, &h, 2);
    return bits;
}
static float half_value(uint32_t bits) {
    _Float16 h;
    const uint16_t x = (uint16_t)(bits & 0x3bff); /* below 1 */
    memcpy(&h, &x, 2);
    return (float)h;
}
static void halves_reference(uint32_t *out, const uint32_t *a, const uint32_t *b) {
    for (int i = 0; i < N; i++) {
        uint32_t word = 0;
        for (int e = 0; e < 32; e += 16) {
            const float x = half_value(a[i] >> e), y = half_value(b[i] >> e);
            const float sum = (float)(_Float16)(x + y), product = (float)(_Float16)(x * y);
            const float least = sum < product ? sum : product;
            word |= (uint32_t)half_bits(least - y) << e;
        }
        out[i] = word;
    }
}
static void packed_halves(void **state) {
    (void)state;
    check(HEAD "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n#pragma OPENCL FP_CONTRACT OFF\n"
               "kernel void k(global half2 *out, global uint *a, global uint *b) { uint i = GROUP * 250 + LID;"
               " half2 x = as_half2(a[i] & 0x3bff3bff), y = as_half2(b[i] & 0x3bff3bff); half2 s = x + y, p = x * y;"
               " half2 least = __builtin_elementwise_min(s, p); out[i] = least - y; }",
          plain, halves_reference);
}

static void pairs_reference(uint32_t *out, const uint32_t *a, const uint32_t *b) {
    for (int i = 0; i < N / 2; i++)
        for (int e = 0; e < 2; e++) {
            const float x = (float)(a[2 * i + e] & 0xffff), y = (float)(b[2 * i + e] & 0xffff);
            out[2 * i + e] = as_bits(__builtin_fmaf(x, y, -x) + y * 0.25f);
        }
}
static void packed_floats(void **state) {
    (void)state;
    check(
        HEAD
        "#pragma OPENCL FP_CONTRACT OFF\nkernel void k(global float2 *out, global uint2 *a, global uint2 *b) {"
        " uint i = GROUP * 250 + LID; if (i >= 500) return; float2 x = __builtin_convertvector(a[i] & 0xffff, float2),"
        " y = __builtin_convertvector(b[i] & 0xffff, float2); out[i] = __builtin_elementwise_fma(x, y, -x) + y * "
        "0.25f; }",
        plain, pairs_reference);
}

static void small_floats_reference(uint32_t *out, const uint32_t *a, const uint32_t *b) {
    for (int i = 0; i < N; i++) {
        const float x = (float)(int32_t)(a[i] & 0x1ff) - 256.0f, y = (float)(b[i] & 0xff) * 0.37f;
        const uint32_t packed = e4m3fn_from_f32(x) | (uint32_t)e4m3fn_from_f32(y) << 8 |
                                (uint32_t)e5m2_from_f32(y) << 16 | (uint32_t)e5m2_from_f32(x) << 24;
        const float back = f32_from_e4m3fn((uint8_t)packed) + f32_from_e4m3fn((uint8_t)(packed >> 8)) +
                           f32_from_e5m2((uint8_t)(packed >> 16)) * f32_from_e5m2((uint8_t)(packed >> 24));
        out[i] = packed ^ as_bits(back) ^ (bf16_from_f32(x * 1.7f) | (uint32_t)bf16_from_f32(y) << 16);
    }
}
static void conversions_to_8_and_16_bits(void **state) {
    (void)state;
    check_on(
        1, /* OCP formats, and an instruction that gfx942 lacks */

        HEAD
        "#pragma OPENCL FP_CONTRACT OFF\nkernel void k(global uint *out, global uint *a, global uint *b) { uint i = "
        "GROUP * 250 + LID;"
        " float x = (float)(int)(a[i] & 0x1ff) - 256.0f, y = (float)(b[i] & 0xff) * 0.37f;"
        " int w = __builtin_amdgcn_cvt_pk_fp8_f32(x, y, 0, false); w = __builtin_amdgcn_cvt_pk_bf8_f32(y, x, w, true);"
        " float back = __builtin_amdgcn_cvt_f32_fp8(w, 0) + __builtin_amdgcn_cvt_f32_fp8(w, 1) +"
        " __builtin_amdgcn_cvt_f32_bf8(w, 2) * __builtin_amdgcn_cvt_f32_bf8(w, 3); uint p;"
        " __asm__(\"v_cvt_pk_bf16_f32 %0, %1, %2\" : \"=v\"(p) : \"v\"(x * 1.7f), \"v\"(y)); out[i] = w ^ "
        "as_uint(back) ^ p; }",
        plain, small_floats_reference);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(saxpy),
        cmocka_unit_test(reduction_with_lds_and_barriers),
        cmocka_unit_test(divergent_loops),
        cmocka_unit_test(byte_and_short_access),
        cmocka_unit_test(arithmetic_of_64_bits),
        cmocka_unit_test(calls_with_scratch),
        cmocka_unit_test(division_and_double),
        cmocka_unit_test(histogram_with_atomics),
        cmocka_unit_test(packed_halves),
        cmocka_unit_test(packed_floats),
        cmocka_unit_test(conversions_to_8_and_16_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
