/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Launches under the timing model for the tests. */
#include "tests/timing/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

sim_timing model(hip_module module, const char *kernel, gpu_grid grid, uint64_t buffer, const char *overrides,
                 int only) {
    char path[] = "/tmp/cdnagen-model-XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    if (overrides) assert_int_equal(write(file, overrides, strlen(overrides)), strlen(overrides));
    close(file);
    const sim_timing_options options = {.parameters = overrides ? path : NULL, .only = only};
    sim_timing t;
    assert_int_equal(sim_timing_next(chip_find("gfx950", 6), &options, &t), CDNAGEN_OK);
    const hip_error error = gpu_launch(module, kernel, grid, 1, buffer);
    if (error) fail_msg("%s", gpu->last_fault());
    unlink(path);
    return t;
}

sim_timing model_body(const char *body, unsigned threads, const char *overrides) {
    const uint64_t buffer = gpu_buffer(NULL, 65536);
    const hip_module module = gpu_assemble(body, 8192);
    const sim_timing t = model(module, "k", (gpu_grid){.groups = 1, .threads = threads}, buffer, overrides, 1);
    assert_int_equal(gpu->module_unload(module), HIP_SUCCESS);
    assert_int_equal(gpu->free((void *)(uintptr_t)buffer), HIP_SUCCESS);
    return t;
}

void assert_sums(const sim_timing *t) {
    uint64_t any = 0, inst = 0, active = 0;
    for (int s = 0; s < STALL_COUNT; s++) *(s < STALL_WAIT_ANY ? &any : &inst) += t->stall[s];
    assert_int_equal(any, t->wait_any);
    assert_int_equal(inst, t->wait_inst);
    for (size_t i = 0; i < t->instruction_count; i++) active += t->instructions[i].active;
    assert_int_equal(active, t->active);
    assert_int_equal(t->wave_clk, t->active + t->wait_any + t->wait_inst);
}
