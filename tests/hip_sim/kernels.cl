/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the HIP program loads. */
#define LOCAL (__builtin_amdgcn_workitem_id_x())
#define INDEX (__builtin_amdgcn_workgroup_id_x() * 64 + LOCAL)

__attribute__((visibility("default"))) global int scale = 3;

kernel void saxpy(global float *y, global const float *x, float a, uint n) {
    const uint i = INDEX;
    if (i < n) y[i] = a * x[i] + y[i];
}

kernel void add(global int *to, int value) { to[INDEX] += value; }

kernel void scaled(global int *to) { to[INDEX] = (int)INDEX * scale; }

kernel void reversed(global int *to, global const int *from, local int *scratch) {
    const uint i = LOCAL;
    scratch[i] = from[i];
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
    to[i] = scratch[63 - i];
}
