/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Thousands of kernels through a context that keeps a few, with the compiler and on the simulator: memory in use does
 * not grow, LLVM's part of it included. */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cdnagen.h"
#include "sim/hip/machine.h"

#include <cmocka.h> /* after core/status.h: it has a macro fail() */

enum { KERNELS = 5000, KEPT = 64, WARM = 1000, STEP = 1999 };

static long resident_kib(void) {
    long pages = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%ld %ld", &pages, &resident), 2);
    fclose(f);
    return resident * sysconf(_SC_PAGESIZE) / 1024;
}

static long in_use_kib(void) {
    const struct mallinfo2 m = mallinfo2();
    return (long)((m.uordblks + m.hblkhd) / 1024);
}

static int modules(void) {
    int count = 0;
    for (const struct hip_module_object *m = sim.devices[0].modules; m; m = m->next) count++;
    return count;
}

/* The shapes are all different: 125 head counts, 20 head sizes, both values of clean; large and small ones in turn. */
static cdnagen_kernel *gen(cdnagen *ctx, int number) {
    char shape[64];
    const int i = number * STEP % KERNELS;
    snprintf(shape, sizeof shape, "heads=%d dim=%d clean=%d", 1 + i % 125, 32 + 16 * (i / 125 % 20), i / 2500);
    cdnagen_kernel *kernel = NULL;
    if (gen_kernel(ctx, "mqa_logits:auto", shape, &kernel)) fail_msg("%s: %s", shape, cdnagen_error());
    return kernel;
}

static void thousands_of_kernels_through_a_small_table(void **state) {
    (void)state;
    const cdnagen_options options = {.size = sizeof options,
                                     .device = "sim",
                                     .target = "gfx950",
                                     .cache_dir = "",
                                     .kernels_kept = KEPT,
                                     .memory_bytes = 1 << 20};
    cdnagen *ctx = NULL;
    assert_int_equal(cdnagen_create_context(&options, &ctx), CDNAGEN_OK);
    cdnagen_kernel *held = gen(ctx, 0);
    long used = 0, resident = 0;
    for (int i = 1; i < KERNELS; i++) {
        cdnagen_free_kernel(gen(ctx, i));
        if (modules() > KEPT + 1) fail_msg("%d modules are loaded after %d kernels", modules(), i + 1);
        const long now = in_use_kib();
        if (i < WARM && now > used) used = now; /* the most: kernels differ in what they need */
        if (i == WARM) resident = resident_kib();
        if ((i + 1) % 500 == 0)
            print_message("%d kernels: %ld KiB in use, %ld KiB resident\n", i + 1, now, resident_kib());
    }
    assert_true(in_use_kib() < used + used / 10);
    assert_true(resident_kib() < resident + resident / 4); /* malloc's holes among it */
    cdnagen_free_kernel(held);
    cdnagen_free_context(ctx);
    assert_int_equal(modules(), 0);
}

int main(void) {
    static const char *const variables[] = {"CDNAGEN_TARGET", "CDNAGEN_SIM", "CDNAGEN_CACHE", "CDNAGEN_CACHE_ONLY"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) unsetenv(variables[i]);
    const struct CMUnitTest tests[] = {cmocka_unit_test(thousands_of_kernels_through_a_small_table)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
