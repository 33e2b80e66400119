/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Matrix instructions of the simulator: instructions per second and core, each row on each path that this CPU has. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "sim/mfma_rows.h"

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); /* other work on the machine does not count */
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double rate(const sim_mfma_call *call, void (*run)(const sim_mfma_call *)) {
    const double window = 0.05, start = now();
    double elapsed = 0;
    long count = 0;
    for (int batch = 1; elapsed < window; batch *= 2) {
        for (int i = 0; i < batch; i++) run(call);
        count += batch;
        elapsed = now() - start;
    }
    return (double)count / elapsed;
}

int main(void) {
    static const sim_mfma_path *const paths[] = {&sim_mfma_baseline, &sim_mfma_avx2, &sim_mfma_avx512};
    static _Alignas(64) uint32_t a[8 * 64], b[8 * 64], acc[32 * 64], scales[64];
    for (size_t i = 0; i < sizeof a / sizeof *a; i++) a[i] = (uint32_t)random() & 0x3f3f3f3f, b[i] = (uint32_t)random();
    for (size_t i = 0; i < 64; i++) scales[i] = 0x7f7f7f7f;
    printf("%-38s %12s", "MFMA/s on one core", "plain");
    for (int p = 0; p < 3; p++) printf(" %12s", paths[p]->name);
    printf("\n");
    for (int i = 0; i < sim_mfma_count(); i++) {
        const sim_mfma *m = sim_mfma_at(i);
        const chip *c = chip_find(m->chips & ON_GFX950 ? "gfx950" : "gfx942", 6);
        const sim_mfma_modifiers mod = {.scale_a = scales, .scale_b = scales};
        const sim_mfma_call call = {m, c, &mod, a, b, acc, acc};
        printf("%-38s %12.0f", sim_mfma_name(m), rate(&call, sim_mfma_plain));
        for (int p = 0; p < 3; p++)
            if (sim_mfma_path_here(paths[p]) && sim_mfma_path_runs(paths[p], m, &mod))
                printf(" %12.0f", rate(&call, paths[p]->run));
            else
                printf(" %12s", "-");
        printf("\n");
    }
    return 0;
}
