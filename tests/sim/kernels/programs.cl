/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One kernel a test of programs_test.c: out, two inputs, and a number. */
#include "ids.h"
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable

#define ARGUMENTS(out_type, in_type) global out_type *out, global const in_type *a, global const in_type *b, ulong n

kernel void transpose(ARGUMENTS(uint, uint)) { /* tiles of 16 x 16 in LDS, a matrix of 64 x 48 */
    local uint tile[16][17];
    const uint x = LOCAL_X & 15, y = LOCAL_X >> 4;
    tile[y][x] = a[(GROUP_Y * 16 + y) * 48 + GROUP_X * 16 + x];
    BARRIER();
    out[(GROUP_X * 16 + y) * 64 + GROUP_Y * 16 + x] = tile[x][y];
}

kernel void scan(ARGUMENTS(uint, uint)) { /* inclusive sums of a group by doubling: barriers in a loop */
    local uint part[2][256];
    uint at = 0;
    part[0][LOCAL_X] = a[GLOBAL_X];
    for (uint d = 1; d < SIZE_X; d *= 2) {
        BARRIER();
        part[!at][LOCAL_X] = part[at][LOCAL_X] + (LOCAL_X >= d ? part[at][LOCAL_X - d] : 0);
        at = !at;
    }
    out[GLOBAL_X] = part[at][LOCAL_X];
}

kernel void gemm_f64(ARGUMENTS(double, double)) { /* 16 x 16 times 16 x 16, k ascending, fused */
    const uint i = LOCAL_X >> 4, j = LOCAL_X & 15;
    double sum = 0;
    for (uint k = 0; k < 16; k++) sum = __builtin_fma(a[i * 16 + k], b[k * 16 + j], sum);
    out[LOCAL_X] = sum;
}

/* Every exponent against every other; any NaN is written as one. */
kernel void divide_f32(ARGUMENTS(float, float)) {
    const float q = a[GLOBAL_X] / b[GLOBAL_X];
    out[GLOBAL_X] = q == q ? q : __builtin_nanf("");
}

kernel void divide_f64(ARGUMENTS(double, double)) {
    const double q = a[GLOBAL_X] / b[GLOBAL_X];
    out[GLOBAL_X] = q == q ? q : __builtin_nan("");
}

kernel void far_index(ARGUMENTS(uint, uint)) { /* n reaches 2^34: elements lie beyond 4 GiB */
    global uint *far = out + n * (GLOBAL_X & 3);
    far[GLOBAL_X] = a[GLOBAL_X] + (uint)(((ulong)b[GLOBAL_X] * n) >> 32);
}

kernel void bit_tricks(ARGUMENTS(uint, uint)) {
    const uint x = a[GLOBAL_X], y = b[GLOBAL_X];
    uint r = __builtin_popcount(x) + (x ? __builtin_clz(x) : 40) * 64 + (y ? __builtin_ctz(y) : 50) * 4096;
    r ^= __builtin_bitreverse32(x) + ((x << (y & 31)) | (x >> (-y & 31)));
    r += (uint)__builtin_popcountll((ulong)x << 32 | y) + ((x ^ (x >> 1)) & ~y);
    r ^= (uint)((int)x >> (y & 31)) + __builtin_bswap32(y) + (uchar)(x >> 9) * (char)(y >> 3) + (x & -x);
    out[GLOBAL_X] = r ^ (x & 0xffff) * (y >> 16) ^ (uint)__builtin_amdgcn_ubfe(x, y & 31, 7);
}

kernel void nested_loops(ARGUMENTS(uint, uint)) { /* breaks, continues and returns under divergence, three deep */
    const uint x = a[GLOBAL_X], y = b[GLOBAL_X];
    uint sum = 0;
    if ((x & 15) == 15) {
        out[GLOBAL_X] = 77;
        return;
    }
    for (uint i = 0; i < (x & 7) + 1; i++) {
        for (uint j = 0; j < (y & 15); j++) {
            if (((x >> j) & 3) == i) continue;
            uint k = j;
            while (k < 20) {
                sum += k * i ^ y;
                if ((sum & 63) == (x >> 26)) break;
                k += 1 + (sum & 3);
            }
            if (sum > 0xf0000000u) goto done;
            switch (sum % 5) {
            case 0: sum += 3; break;
            case 1: sum ^= x; /* falls through */
            case 2: sum = sum * 5 + 1; break;
            default: sum -= j;
            }
        }
    }
done:
    out[GLOBAL_X] = sum;
}

typedef uint operation(uint, uint);
__attribute__((noinline)) static uint add(uint x, uint y) { return x + y * 3; }
__attribute__((noinline)) static uint mix(uint x, uint y) { return (x ^ y) * 2654435761u; }
__attribute__((noinline)) static uint deep(uint x, uint y) {
    uint t[12];
    for (uint i = 0; i < 12; i++) t[(x + i) % 12] = y * i + add(x, i);
    return mix(t[x % 12], t[y % 12]);
}
kernel void function_pointers(ARGUMENTS(uint, uint)) { /* the lanes of a wave call three functions */
    operation *const table[3] = {add, mix, deep};
    const uint x = a[GLOBAL_X], y = b[GLOBAL_X];
    out[GLOBAL_X] = table[x % 3](x, y) + table[y % 3](y, x);
}

kernel void generic_pointers(ARGUMENTS(uint, uint)) { /* one pointer to LDS, scratch or memory: flat accesses */
    local uint shared[256];
    uint own[8];
    const uint x = a[GLOBAL_X];
    for (uint i = 0; i < 8; i++) own[i] = x * i;
    shared[LOCAL_X] = x ^ 5;
    BARRIER();
    const uint *p = x % 3 == 0 ? (const uint *)&shared[LOCAL_X ^ 1] :
    x % 3 == 1 ? &own[x % 8] : (const uint *)&b[GLOBAL_X];
    out[GLOBAL_X] = *p + x;
}

kernel void three_dimensions(ARGUMENTS(uint, uint)) { /* groups of 5 x 3 x 2 on a grid of 3 x 2 x 4,
    sizes from the packet */
    const uint x = GROUP_X * SIZE_X + LOCAL_X, y = GROUP_Y * SIZE_Y + LOCAL_Y, z = GROUP_Z * SIZE_Z + LOCAL_Z;
    out[(z * 6 + y) * 15 + x] = a[x] + 1000 * b[y] + z * 1000000 + __builtin_amdgcn_grid_size_z() * 7;
}

kernel void dynamic_lds(ARGUMENTS(uint, uint), local uint *room) { /* n dwords given at the launch */
    for (uint i = LOCAL_X; i < n; i += SIZE_X) room[i] = a[i] + i;
    BARRIER();
    out[GLOBAL_X] = room[n - 1 - LOCAL_X] ^ b[GLOBAL_X];
}

kernel void wide_atomics(ARGUMENTS(ulong, ulong)) {
    local ulong shared;
    local uint count;
    if (LOCAL_X == 0) shared = 0, count = 0;
    BARRIER();
    __atomic_fetch_add(&shared, a[GLOBAL_X], __ATOMIC_RELAXED);
    __atomic_fetch_xor(&out[0], a[GLOBAL_X], __ATOMIC_RELAXED);
    __atomic_fetch_add(&out[1], b[GLOBAL_X], __ATOMIC_RELAXED);
    __atomic_fetch_max(&out[2], b[GLOBAL_X], __ATOMIC_RELAXED);
    ulong seen = __atomic_load_n(&out[3], __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&out[3], &seen, seen * 3 + 1, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
    __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
    BARRIER();
    if (LOCAL_X == 0) {
        __atomic_fetch_add(&out[4], shared, __ATOMIC_RELAXED);
        __atomic_fetch_add(&out[5], count, __ATOMIC_RELAXED);
    }
}

kernel void wave_reduction(ARGUMENTS(uint, uint)) { /* by DPP, swizzle and bpermute */
    uint x = a[GLOBAL_X];
    x += __builtin_amdgcn_update_dpp(0, x, 0xb1, 0xf, 0xf, 1);  /* quad_perm [1,0,3,2] */
    x += __builtin_amdgcn_update_dpp(0, x, 0x4e, 0xf, 0xf, 1);  /* quad_perm [2,3,0,1] */
    x += __builtin_amdgcn_update_dpp(0, x, 0x141, 0xf, 0xf, 1); /* row_half_mirror */
    x += __builtin_amdgcn_update_dpp(0, x, 0x140, 0xf, 0xf, 1); /* row_mirror */
    x += __builtin_amdgcn_ds_swizzle(x, 0x401f);                /* lane ^ 16 */
    x += __builtin_amdgcn_ds_bpermute(4 * ((LOCAL_X & 63) ^ 32), x);
    out[GLOBAL_X] = x + __builtin_amdgcn_readfirstlane(b[GLOBAL_X]);
}
