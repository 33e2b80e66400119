/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Two small kernels for the code-object reader's tests: dynamic LDS, scratch, several kinds of argument. */
__kernel __attribute__((reqd_work_group_size(128, 1, 1))) void scale(__global float *restrict x, float s, long n,
                                                                     __local float *staged) {
    const uint lane = __builtin_amdgcn_workitem_id_x();
    staged[lane] = x[lane];
    __builtin_amdgcn_s_barrier();
    if (lane < n) x[lane] = s * staged[127 - lane];
}

__kernel void spread(__global int *out, int value) {
    volatile int kept[8];
    const uint lane = __builtin_amdgcn_workitem_id_x();
    kept[value & 7] = value;
    out[lane] = kept[0];
}
