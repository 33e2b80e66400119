/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* sim_open for tests. */
#include "tests/runtime/fake_sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/sim.h"

fake_sim_state fake_sim;
static target sim_target;

static hip_error get_device(int *device) { return *device = 0; }
static hip_error set_device(int device) { return device ? HIP_ERROR_INVALID_DEVICE : HIP_SUCCESS; }
static hip_error allocate(void **ptr, size_t size) {
    *ptr = malloc(size);
    return *ptr ? HIP_SUCCESS : HIP_ERROR_OUT_OF_MEMORY;
}
static hip_error release(void *ptr) {
    free(ptr);
    return HIP_SUCCESS;
}
static hip_error copy(void *to, const void *from, size_t size, int kind) {
    memcpy(to, from, size);
    return kind ? HIP_SUCCESS : HIP_ERROR_INVALID_VALUE;
}
static hip_error synchronise(hip_stream stream) {
    (void)stream;
    return fake_sim.fault_error;
}
static hip_error load(hip_module *module, const void *image) {
    *module = (hip_module)(uintptr_t)image;
    fake_sim.loads++;
    return HIP_SUCCESS;
}
static hip_error unload(hip_module module) {
    (void)module;
    fake_sim.unloads++;
    return HIP_SUCCESS;
}
static hip_error is_capturing(hip_stream stream, int *status) {
    *status = 0;
    return stream ? HIP_ERROR_INVALID_HANDLE : HIP_SUCCESS;
}
static hip_error exchange(int *mode) { return *mode = 0; }
static hip_error get_function(hip_function *function, hip_module module, const char *name) {
    (void)name;
    *function = (hip_function)module;
    return HIP_SUCCESS;
}
static const char *error_name(hip_error error) { return error ? "hipErrorFakeSim" : "hipSuccess"; }
static cdnagen_status device_target(int device, target *out) {
    (void)device;
    *out = sim_target;
    return CDNAGEN_OK;
}
static int cu_count(int device) { return device ? 0 : 7; }
static const char *last_fault(void) { return fake_sim.fault ? fake_sim.fault : ""; }

cdnagen_status sim_open(const chip *c, const char *mode, const hip_table **out) {
    static const hip_table table = {.get_device = get_device,
                                    .set_device = set_device,
                                    .malloc = allocate,
                                    .free = release,
                                    .memcpy = copy,
                                    .stream_synchronize = synchronise,
                                    .module_load_data = load,
                                    .module_unload = unload,
                                    .module_get_function = get_function,
                                    .stream_is_capturing = is_capturing,
                                    .thread_exchange_capture_mode = exchange,
                                    .get_error_name = error_name,
                                    .get_error_string = error_name,
                                    .provider = "simulator",
                                    .device_target = device_target,
                                    .cu_count = cu_count,
                                    .last_fault = last_fault};
    if (!strcmp(mode, "nonsense")) return fail(CDNAGEN_BAD_ARGUMENT, "unknown simulator word %s", mode);
    TRY(target_parse(c->name, &sim_target));
    fake_sim.opened++;
    snprintf(fake_sim.mode, sizeof fake_sim.mode, "%s", mode);
    snprintf(fake_sim.chip, sizeof fake_sim.chip, "%s", c->name);
    *out = &table;
    return CDNAGEN_OK;
}
