/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which copy of the lane loops this host runs. */
#include "sim/lanes.h"

const lanes_effects *lanes_for_host(void) {
    __builtin_cpu_init();
    const int avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
    if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
        return &lanes_avx512;
    return avx2 ? &lanes_avx2 : &lanes_baseline;
}
