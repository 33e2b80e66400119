/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Speed of the simulator: vector wave-instructions per second, in all and per core (other work on the machine does not
 * count there). The kernel is compiled by clang-22 when the benchmark starts. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "sim/sim.h"

static const char source[] =
    "kernel void floats(global float *out) { float x = out[0], y = out[1], z = out[2], u = out[3];"
    " for (int j = 0; j < 20000; j++) { x = __builtin_fmaf(x, y, z); y = __builtin_fmaxf(y, x) * 0.5f; z = z + u;"
    " u = __builtin_fmaf(u, 0.99f, x); } out[__builtin_amdgcn_workitem_id_x()] = x + y + z + u; }\n"
    "kernel void integers(global uint *out) { uint x = out[0] + __builtin_amdgcn_workitem_id_x(), y = out[1];"
    " for (int j = 0; j < 20000; j++) { x = x * 3 + y; y = (y << 7) ^ (x >> 5); x = x > y ? x - y : x + 11; }"
    " out[__builtin_amdgcn_workitem_id_x()] = x + y; }\n";
/* Vector instructions of one trip, as clang-22 -O3 emits them. */
enum { FLOAT_VALU = 6, INTEGER_VALU = 8, TRIPS = 20000, GROUPS = 32, WAVES = 4 };

static double seconds(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compile(void) {
    FILE *f = fopen("/tmp/cdnagen-bench-sim.cl", "w");
    if (!f) return 0;
    fputs(source, f);
    fclose(f);
    return system("cd /tmp && clang-22 -x cl -target amdgcn-amd-amdhsa -mcpu=gfx950 -nogpulib -O3 -fno-unroll-loops"
                  " -c cdnagen-bench-sim.cl -o cdnagen-bench-sim.o && ld.lld-22 -shared cdnagen-bench-sim.o -o "
                  "cdnagen-bench-sim.co") == 0;
}

static int measure(const char *mode, const char *kernel, int valu) {
    const hip_table *hip;
    hip_module module;
    hip_function function;
    void *buffer, *params[] = {&buffer};
    if (sim_open(chip_find("gfx950", 6), mode, &hip) != CDNAGEN_OK || hip->malloc(&buffer, 4096) != HIP_SUCCESS ||
        hip->module_load(&module, "/tmp/cdnagen-bench-sim.co") != HIP_SUCCESS ||
        hip->module_get_function(&function, module, kernel) != HIP_SUCCESS)
        return 0;
    const double start = seconds(CLOCK_MONOTONIC), cpu_start = seconds(CLOCK_PROCESS_CPUTIME_ID);
    if (hip->module_launch_kernel(function, GROUPS, 1, 1, 64 * WAVES, 1, 1, 0, NULL, params, NULL) != HIP_SUCCESS ||
        hip->device_synchronize() != HIP_SUCCESS)
        return 0;
    const double taken = seconds(CLOCK_MONOTONIC) - start, cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu_start;
    const double millions = 1e-6 * (double)(GROUPS * WAVES * TRIPS * valu);
    printf("sim %-10s %-15s %6.1f million vector wave-instructions per second, %6.1f per core and second\n", kernel,
           mode, millions / taken, millions / cpu);
    return hip->module_unload(module) == HIP_SUCCESS && hip->free(buffer) == HIP_SUCCESS;
}

int main(void) {
    if (!compile()) return fprintf(stderr, "sim: clang-22 or ld.lld-22 failed\n"), 1;
    static const char *const modes[] = {"threads=1", "threads=2", "late threads=1"};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (!measure(modes[i], "floats", FLOAT_VALU) || !measure(modes[i], "integers", INTEGER_VALU))
            return fprintf(stderr, "sim: a launch failed\n"), 1;
    return 0;
}
