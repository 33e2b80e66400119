/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Allocations of devices and of pinned host memory, copies and fills. */
#include <string.h>

#include "sim/hip/machine.h"

static uint64_t address_of(const void *p) { return (uint64_t)(uintptr_t)p; }

/* The memory that holds the bytes in one allocation, NULL if none does. */
static memory *memory_of(const void *p, size_t size) {
    const memory *found = NULL;
    for (int i = 0; i < sim.device_count && !found; i++)
        if (memory_find(&sim.devices[i].memory, address_of(p), size)) found = &sim.devices[i].memory;
    if (memory_find(&sim.host, address_of(p), size)) found = &sim.host;
    return (memory *)found;
}

int is_device(const void *p, size_t size) { return memory_of(p, size) != NULL; }

static hip_error allocate(memory *m, void **ptr, size_t size) {
    hip_error refused = capture_refuses();
    if (refused) return finish(refused);
    const uint64_t address = memory_allocate(m, size, 0);
    *ptr = (void *)(uintptr_t)address;
    return finish(address ? HIP_SUCCESS : HIP_ERROR_OUT_OF_MEMORY);
}
hip_error sim_malloc(void **ptr, size_t size) {
    if (!ptr) return HIP_ERROR_INVALID_VALUE;
    *ptr = NULL;
    if (size == 0) return HIP_SUCCESS;
    ENTER();
    return allocate(&current_device()->memory, ptr, size);
}
hip_error sim_host_malloc(void **ptr, size_t size) {
    if (!ptr) return HIP_ERROR_INVALID_VALUE;
    *ptr = NULL;
    if (size == 0) return HIP_SUCCESS;
    ENTER();
    return allocate(&sim.host, ptr, size);
}

static hip_error release(const memory *only, void *ptr) {
    if (!ptr) return HIP_SUCCESS;
    ENTER();
    const hip_error refused = capture_refuses();
    if (refused) return finish(refused);
    memory *m = memory_of(ptr, 1);
    const int released = m && (!only || m == only) && memory_release(m, address_of(ptr), 0);
    return finish_synchronous(released ? HIP_SUCCESS : HIP_ERROR_INVALID_VALUE);
}
hip_error sim_free(void *ptr) { return release(NULL, ptr); }
hip_error sim_host_free(void *ptr) { return release(&sim.host, ptr); }

hip_error sim_host_get_device_pointer(void **out, void *ptr) {
    if (!out || !ptr) return HIP_ERROR_INVALID_VALUE;
    ENTER();
    if (!memory_find(&sim.host, address_of(ptr), 1)) return finish(HIP_ERROR_INVALID_VALUE);
    *out = ptr;
    return finish(HIP_SUCCESS);
}

hip_error sim_mem_get_info(size_t *free_bytes, size_t *total_bytes) {
    if (!free_bytes || !total_bytes) return HIP_ERROR_INVALID_VALUE;
    ENTER();
    const memory *m = &current_device()->memory;
    *free_bytes = m->reserved - m->next;
    *total_bytes = m->reserved;
    return finish(HIP_SUCCESS);
}

/* ---- copies ---- */

static hip_error check_copy(const work *w) {
    const int kind = w->kind_of_copy;
    if (!w->to || (w->kind == WORK_COPY && !w->from) || kind < HIP_MEMCPY_HOST_TO_HOST || kind > HIP_MEMCPY_DEFAULT)
        return HIP_ERROR_INVALID_VALUE;
    const int to_device =
        w->kind == WORK_SET || kind == HIP_MEMCPY_HOST_TO_DEVICE || kind == HIP_MEMCPY_DEVICE_TO_DEVICE;
    const int from_device = kind == HIP_MEMCPY_DEVICE_TO_HOST || kind == HIP_MEMCPY_DEVICE_TO_DEVICE;
    if ((to_device && !is_device(w->to, w->bytes)) ||
        (w->kind == WORK_COPY && from_device && !is_device(w->from, w->bytes)))
        return HIP_ERROR_INVALID_VALUE;
    return HIP_SUCCESS;
}

hip_error perform_copy(const work *w) {
    const hip_error error = check_copy(w); /* what a graph holds may have been freed */
    if (error) return error;
    if (w->kind == WORK_COPY)
        memmove(w->to, w->from, w->bytes);
    else if (w->value_bytes == 1)
        memset(w->to, (int)w->value, w->bytes);
    else
        for (size_t i = 0; i < w->bytes; i += w->value_bytes)
            memcpy((unsigned char *)w->to + i, &w->value, w->value_bytes);
    return HIP_SUCCESS;
}

static hip_error submit_checked(hip_stream stream, const work *w) {
    const hip_error error = check_copy(w);
    return error ? error : submit(stream, w);
}

hip_error sim_memcpy(void *to, const void *from, size_t size, int kind) {
    if (size == 0) return HIP_SUCCESS;
    ENTER();
    return finish_synchronous(
        submit_checked(NULL, &(work){.kind = WORK_COPY, .to = to, .from = from, .bytes = size, .kind_of_copy = kind}));
}
hip_error sim_memcpy_async(void *to, const void *from, size_t size, int kind, hip_stream stream) {
    if (size == 0) return HIP_SUCCESS;
    ENTER();
    return finish(submit_checked(
        stream, &(work){.kind = WORK_COPY, .to = to, .from = from, .bytes = size, .kind_of_copy = kind}));
}
hip_error sim_memset_words(void *to, uint32_t value, uint32_t value_bytes, size_t count, hip_stream stream) {
    if (count == 0) return HIP_SUCCESS;
    if (count > SIZE_MAX / value_bytes) return HIP_ERROR_INVALID_VALUE;
    ENTER();
    return finish(submit_checked(
        stream,
        &(work){.kind = WORK_SET, .to = to, .bytes = count * value_bytes, .value = value, .value_bytes = value_bytes}));
}
hip_error sim_memset_async(void *to, int value, size_t size, hip_stream stream) {
    return sim_memset_words(to, (uint32_t)value, 1, size, stream);
}
hip_error sim_memset(void *to, uint32_t value, uint32_t value_bytes, size_t count) {
    return sim_memset_words(to, value, value_bytes, count, NULL);
}
