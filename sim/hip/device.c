/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Devices: which there are, which is current, what they are. */
#include <stdio.h>
#include <string.h>

#include "sim/hip/machine.h"

enum { BLOCK_MAX = 1024, HIP_VERSION = 60000000 };
/* hipDeviceArch_t: all but funnel shift, __syncthreads_count, surfaces and launches from kernels. */
enum { ARCH_FLAGS = 0x97ff };

hip_error sim_init(unsigned flags) { return flags ? HIP_ERROR_INVALID_VALUE : HIP_SUCCESS; }
hip_error sim_runtime_get_version(int *version) {
    if (!version) return HIP_ERROR_INVALID_VALUE;
    *version = HIP_VERSION;
    return HIP_SUCCESS;
}
hip_error sim_get_device_count(int *count) {
    if (!count) return HIP_ERROR_INVALID_VALUE;
    ENTER();
    *count = sim.device_count;
    return finish(HIP_SUCCESS);
}
hip_error sim_get_device(int *ordinal) {
    if (!ordinal) return HIP_ERROR_INVALID_VALUE;
    ENTER();
    current_device(); /* makes the thread's ordinal one that exists */
    *ordinal = current_ordinal;
    return finish(HIP_SUCCESS);
}
hip_error sim_set_device(int ordinal) {
    ENTER();
    if (!device_at(ordinal)) return finish(HIP_ERROR_INVALID_DEVICE);
    current_ordinal = ordinal;
    return finish(HIP_SUCCESS);
}
hip_error sim_device_get(int *out, int ordinal) {
    if (!out) return HIP_ERROR_INVALID_VALUE;
    ENTER();
    if (!device_at(ordinal)) return finish(HIP_ERROR_INVALID_DEVICE);
    *out = ordinal;
    return finish(HIP_SUCCESS);
}
hip_error sim_device_get_name(char *name, int length, int ordinal) {
    ENTER();
    const sim_device *d = device_at(ordinal);
    if (!d) return finish(HIP_ERROR_INVALID_DEVICE);
    if (!name || length <= 0) return finish(HIP_ERROR_INVALID_VALUE);
    snprintf(name, (size_t)length, "%s simulator", d->chip->name);
    return finish(HIP_SUCCESS);
}
hip_error sim_device_total_mem(size_t *size, int ordinal) {
    if (!size) return HIP_ERROR_INVALID_VALUE;
    ENTER();
    const sim_device *d = device_at(ordinal);
    if (!d) return finish(HIP_ERROR_INVALID_DEVICE);
    *size = d->memory.reserved;
    return finish(HIP_SUCCESS);
}
hip_error sim_device_can_access_peer(int *can, int ordinal, int peer) {
    if (!can) return HIP_ERROR_INVALID_VALUE;
    ENTER();
    if (!device_at(ordinal) || !device_at(peer)) return finish(HIP_ERROR_INVALID_DEVICE);
    *can = 0;
    return finish(HIP_SUCCESS);
}
cdnagen_status sim_device_target(int ordinal, target *out) {
    const sim_device *d = device_at(ordinal);
    if (d) return target_parse(d->chip->name, out);
    return fail(CDNAGEN_NO_DEVICE, "the simulator has no device %d: it has %d, counted from 0", ordinal,
                sim.device_count);
}
int sim_cu_count(int ordinal) { return device_at(ordinal) ? device_at(ordinal)->chip->cus : 0; }

/* ---- properties ---- */

enum { PROPERTIES_MAX = 64 };
typedef struct property {
    int attribute, offset_5, offset_6, bytes;
    uint64_t value;
} property;

/* "gfx942" is 9.4, "gfx950" 9.5: the last two digits are minor and stepping. */
static size_t list_properties(const sim_device *d, property out[PROPERTIES_MAX]) {
    const int major = d->chip->name[3] - '0', minor = d->chip->name[4] - '0';
    const int registers = d->chip->simds * d->chip->vgpr_per_simd * LANES;
    const property all[] = {
#define PROPERTY(name, attribute, offset_5, offset_6, bytes, value)                                                    \
    {attribute, offset_5, offset_6, bytes, (uint64_t)(value)},
#include "sim/hip/properties.def"
#undef PROPERTY
    };
    _Static_assert(sizeof all / sizeof *all <= PROPERTIES_MAX, "the table of properties outgrew its callers' arrays");
    memcpy(out, all, sizeof all);
    return sizeof all / sizeof *all;
}

hip_error sim_device_get_attribute(int *value, int attribute, int ordinal) {
    ENTER();
    const sim_device *d = device_at(ordinal);
    if (!d) return finish(HIP_ERROR_INVALID_DEVICE);
    if (!value || attribute < 0) return finish(HIP_ERROR_INVALID_VALUE);
    property all[PROPERTIES_MAX];
    const size_t count = list_properties(d, all);
    for (size_t i = 0; i < count; i++)
        if (all[i].attribute == attribute) {
            *value = (int)all[i].value;
            return finish(HIP_SUCCESS);
        }
    return finish(HIP_ERROR_NOT_SUPPORTED);
}

hip_error sim_device_compute_capability(int *major, int *minor, int ordinal) {
    enum { ATTRIBUTE_MAJOR = 23, ATTRIBUTE_MINOR = 61 };
    const hip_error error = sim_device_get_attribute(major, ATTRIBUTE_MAJOR, ordinal);
    return error ? error : sim_device_get_attribute(minor, ATTRIBUTE_MINOR, ordinal);
}

hip_error sim_properties(void *properties, int ordinal, int layout) {
    static const struct {
        size_t bytes, name, arch;
    } layouts[] = {[5] = {792, 0, 396}, [6] = {1472, 0, 1160}};
    if (!properties) return HIP_ERROR_INVALID_VALUE;
    ENTER();
    const sim_device *d = device_at(ordinal);
    if (!d) return finish(HIP_ERROR_INVALID_DEVICE);
    unsigned char *to = memset(properties, 0, layouts[layout].bytes);
    property all[PROPERTIES_MAX];
    const size_t count = list_properties(d, all);
    for (size_t i = 0; i < count; i++) {
        const int offset = layout == 5 ? all[i].offset_5 : all[i].offset_6;
        if (offset >= 0) memcpy(to + offset, &all[i].value, (size_t)all[i].bytes);
    }
    snprintf((char *)to + layouts[layout].name, 256, "%s simulator", d->chip->name);
    snprintf((char *)to + layouts[layout].arch, 256, "%s:sramecc+:xnack-", d->chip->name);
    return finish(HIP_SUCCESS);
}

/* ---- contexts: a device's one context, named by the device's place ---- */

enum { CONTEXT_STACK = 32 };
static _Thread_local int context_stack[CONTEXT_STACK], context_depth;

static int ordinal_of(hip_context context) {
    for (int i = 0; i < sim.device_count; i++)
        if ((const void *)context == (const void *)&sim.devices[i]) return i;
    return -1;
}
static hip_context context_of(int ordinal) { return (hip_context)(void *)&sim.devices[ordinal]; }

hip_error sim_context_create(hip_context *out, int ordinal, int make_current) {
    if (!out) return HIP_ERROR_INVALID_VALUE;
    ENTER();
    if (!device_at(ordinal)) return finish(HIP_ERROR_INVALID_DEVICE);
    *out = context_of(ordinal);
    if (make_current) current_ordinal = ordinal;
    return finish(HIP_SUCCESS);
}
hip_error sim_context_check(hip_context context) {
    ENTER();
    return finish(ordinal_of(context) >= 0 ? HIP_SUCCESS : HIP_ERROR_INVALID_CONTEXT);
}
hip_error sim_context_set(hip_context context) {
    ENTER();
    const int ordinal = ordinal_of(context);
    if (ordinal < 0) return finish(HIP_ERROR_INVALID_CONTEXT);
    current_ordinal = ordinal;
    return finish(HIP_SUCCESS);
}
hip_error sim_context_get(hip_context *out) {
    if (!out) return HIP_ERROR_INVALID_VALUE;
    ENTER();
    current_device();
    *out = context_of(current_ordinal);
    return finish(HIP_SUCCESS);
}
hip_error sim_context_push(hip_context context) {
    ENTER();
    const int ordinal = ordinal_of(context);
    if (ordinal < 0 || context_depth == CONTEXT_STACK) return finish(HIP_ERROR_INVALID_CONTEXT);
    context_stack[context_depth++] = current_ordinal;
    current_ordinal = ordinal;
    return finish(HIP_SUCCESS);
}
hip_error sim_context_pop(hip_context *out) {
    ENTER();
    if (!context_depth) return finish(HIP_ERROR_INVALID_CONTEXT);
    if (out) *out = context_of(current_ordinal);
    current_ordinal = context_stack[--context_depth];
    return finish(HIP_SUCCESS);
}
