/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Contexts of the sweeps over matrix products. */
#include "tests/sweep/runs.h"

#include "sim/sim.h"
#include "tests/gen/testing.h"

static cdnagen *contexts[CHIP_COUNT]; /* in the order of the chip table */

/* The device is opened at a context's first use, which sets the mode: from then on runs_on() does. */
void runs_open(void) {
    for (int i = 0; i < CHIP_COUNT; i++) {
        const cdnagen_options options = {.size = sizeof options,
                                         .device = "sim",
                                         .target = chips[i].name,
                                         .sim_mode = "",
                                         .cache_dir = "",
                                         .log = no_log};
        const char *name;
        if (cdnagen_create_context(&options, &contexts[i]) || cdnagen_device_name(contexts[i], &name))
            fail_msg("%s", cdnagen_error());
    }
}

void runs_close(void) {
    for (int i = 0; i < CHIP_COUNT; i++) cdnagen_free_context(contexts[i]);
}

cdnagen *runs_on(const char *chip_name, const char *mode) {
    const target t = target_of(chip_name);
    const hip_table *table;
    if (sim_open(t.chip, mode, &table)) fail_msg("%s: %s", mode, cdnagen_error());
    return contexts[t.chip - chips];
}
