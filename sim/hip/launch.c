/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Launches: the caller's arguments, the hidden ones, the dispatch packet. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim/dispatch.h"
#include "sim/hip/machine.h"
#include "sim/timing/kernel.h"

/* Hidden arguments of code object v5. source: LLVM "User Guide for AMDGPU Backend", "Code Object V5 Metadata" */
static uint64_t hidden_value(const work *w, const char *kind) {
    static const char *const axes = "xyz";
    const size_t n = strlen(kind);
    const char *axis = n > 2 && kind[n - 2] == '_' ? strchr(axes, kind[n - 1]) : NULL;
    if (axis && strncmp(kind, "hidden_block_count", 18) == 0) return w->grid[axis - axes];
    if (axis && strncmp(kind, "hidden_group_size", 17) == 0) return w->block[axis - axes];
    if (strcmp(kind, "hidden_grid_dims") == 0)
        return w->grid[2] * w->block[2] > 1 ? 3 : w->grid[1] * w->block[1] > 1 ? 2 : 1;
    if (strcmp(kind, "hidden_dynamic_lds_size") == 0) return w->lds_bytes;
    if (strcmp(kind, "hidden_shared_base") == 0) return SHARED_BASE >> 32;
    if (strcmp(kind, "hidden_private_base") == 0) return PRIVATE_BASE >> 32;
    return 0;
}

static void write_hidden(const work *w) {
    const codeobj_kernel *k = &w->function->kernel;
    for (size_t i = 0; i < k->arg_count; i++) {
        const codeobj_arg *a = &k->args[i];
        if (a->kind != ARG_HIDDEN || a->size > 8 || a->offset + a->size > k->kernarg_bytes) continue;
        const uint64_t value = hidden_value(w, a->value_kind);
        memcpy(w->kernarg + a->offset, &value, a->size);
    }
}

/* A HIP error with the sentence behind it. */
static hip_error refuse(hip_error error, const codeobj_kernel *k, const char *format, ...) {
    char reason[160], sentence[400];
    va_list values;
    va_start(values, format);
    vsnprintf(reason, sizeof reason, format, values);
    va_end(values);
    snprintf(sentence, sizeof sentence, "kernel %.200s: %s", k->name, reason);
    explain(sentence);
    return error;
}

/* Bytes up to the end of the last argument that the caller gives. */
static size_t given_bytes(const codeobj_kernel *k) {
    size_t end = 0;
    for (size_t i = 0; i < k->arg_count; i++)
        if (k->args[i].kind != ARG_HIDDEN && (size_t)k->args[i].offset + k->args[i].size > end)
            end = (size_t)k->args[i].offset + k->args[i].size;
    return end;
}

static hip_error write_buffer(const codeobj_kernel *k, unsigned char *to, void **extra) {
    const void *buffer = NULL, *size_at = NULL;
    for (int i = 0; extra[i] != HIP_LAUNCH_PARAM_END; i += 2) {
        if (extra[i] == HIP_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[i + 1];
        else if (extra[i] == HIP_LAUNCH_PARAM_BUFFER_SIZE)
            size_at = extra[i + 1];
        else
            return refuse(HIP_ERROR_INVALID_VALUE, k, "extra[%d] is none of HIP_LAUNCH_PARAM_...", i);
    }
    if (!buffer || !size_at)
        return refuse(HIP_ERROR_INVALID_VALUE, k, "extra needs the buffer and a pointer to its size");
    size_t size;
    memcpy(&size, size_at, sizeof size);
    if (size < given_bytes(k))
        return refuse(HIP_ERROR_INVALID_VALUE, k, "the buffer in extra has %zu bytes, the arguments need %zu", size,
                      given_bytes(k));
    memcpy(to, buffer, size < k->kernarg_bytes ? size : k->kernarg_bytes);
    return HIP_SUCCESS;
}

/* The caller's arguments, by HIP's two ways. */
static hip_error write_arguments(const work *w, void **params, void **extra) {
    const codeobj_kernel *k = &w->function->kernel;
    unsigned char *to = w->kernarg;
    if (extra) return write_buffer(k, to, extra);
    for (size_t i = 0, given = 0; i < k->arg_count; i++) {
        const codeobj_arg *a = &k->args[i];
        if (a->kind == ARG_HIDDEN) continue;
        if (!params || !params[given] || a->offset + a->size > k->kernarg_bytes)
            return refuse(HIP_ERROR_INVALID_VALUE, k, "there is no pointer to argument %zu", given + 1);
        memcpy(to + a->offset, params[given++], a->size);
    }
    return HIP_SUCCESS;
}

/* The dispatch packet that kernels with a dispatch pointer read. source: HSA Platform System Architecture, "AQL
 * packets" */
static void write_packet(const struct hip_function_object *f, const launch *l) {
    unsigned char *p = (unsigned char *)(uintptr_t)f->packet;
    for (int i = 0; i < 3; i++) {
        const uint16_t block = (uint16_t)l->block[i];
        const uint32_t grid = l->grid[i] * l->block[i];
        memcpy(p + 4 + 2 * i, &block, 2);
        memcpy(p + 12 + 4 * i, &grid, 4);
    }
    memcpy(p + 24, &l->scratch_bytes, 4);
    memcpy(p + 28, &l->lds_bytes, 4);
    memcpy(p + 40, &f->kernarg, 8);
}

enum { STACK_BYTES = 16384, BLOCK_MAX = 1024 }; /* stack of kernels that call through pointers, as ROCm's default */

hip_error perform_launch(const work *w) {
    sim_device *d;
    if (!is_function(w->function, &d)) return HIP_ERROR_INVALID_HANDLE; /* a graph outlived its module */
    const struct hip_function_object *f = w->function;
    const codeobj_kernel *k = &f->kernel;
    launch l = {.chip = d->chip,
                .program = &f->program,
                .memory = &d->memory,
                .late = sim.late,
                .poison = sim.poison,
                .check_level = sim.check,
                .threads = sim.threads,
                .limit = sim.limit,
                .entry = f->entry,
                .rsrc1 = k->rsrc1,
                .rsrc2 = k->rsrc2,
                .properties = k->properties,
                .preload = k->preload,
                .vgprs = 8 * ((k->rsrc1 & 63) + 1),
                .kernarg = f->kernarg,
                .packet = f->packet,
                .grid = {w->grid[0], w->grid[1], w->grid[2]},
                .block = {w->block[0], w->block[1], w->block[2]},
                .lds_bytes = k->lds_bytes + w->lds_bytes,
                .scratch_bytes = k->dynamic_stack && k->scratch_bytes < STACK_BYTES ? STACK_BYTES : k->scratch_bytes};
    memcpy((unsigned char *)(uintptr_t)f->kernarg, w->kernarg, k->kernarg_bytes);
    write_packet(f, &l);
    if (!timing_launch(&l, k)) launch_run(&l);
    if (atomic_load(&l.faulted)) {
        fault_set(k->name, l.fault);
        d->sticky = HIP_ERROR_LAUNCH_FAILURE;
    }
    return HIP_SUCCESS;
}

static hip_error launch_on(hip_stream stream, work *w, void **params, void **extra) {
    sim_device *d;
    if (!is_function(w->function, &d) || !is_stream(stream)) return HIP_ERROR_INVALID_HANDLE;
    if (d != (stream ? device_at(stream->device) : current_device())) return HIP_ERROR_INVALID_DEVICE_FUNCTION;
    const codeobj_kernel *k = &w->function->kernel;
    const uint64_t limit = k->max_workgroup && k->max_workgroup < BLOCK_MAX ? k->max_workgroup : BLOCK_MAX;
    uint64_t threads = 1;
    for (int i = 0; i < 3; i++) { /* the dispatch packet counts work-items in 32 bits an axis */
        if ((uint64_t)w->grid[i] * w->block[i] > UINT32_MAX)
            return refuse(HIP_ERROR_INVALID_CONFIGURATION, k, "grid %u of blocks of %u: an axis has 2^32-1 work-items",
                          w->grid[i], w->block[i]);
        if (!w->grid[i] || !w->block[i])
            return refuse(HIP_ERROR_INVALID_VALUE, k, "grid and block are 1 or more in each axis");
        if (threads <= limit) threads *= w->block[i];
    }
    if (threads > limit)
        return refuse(HIP_ERROR_INVALID_VALUE, k, "block %u x %u x %u: at most %llu work-items", w->block[0],
                      w->block[1], w->block[2], (unsigned long long)limit);
    if ((uint64_t)k->lds_bytes + w->lds_bytes > (uint64_t)d->chip->lds_bytes)
        return refuse(HIP_ERROR_INVALID_VALUE, k, "%u bytes of LDS and %u dynamic ones, %s has %d", k->lds_bytes,
                      w->lds_bytes, d->chip->name, d->chip->lds_bytes);
    w->kernarg = mem_alloc(k->kernarg_bytes ? k->kernarg_bytes : 1);
    if (!w->kernarg) return HIP_ERROR_OUT_OF_MEMORY;
    hip_error error = write_arguments(w, params, extra);
    if (!error) {
        write_hidden(w);
        error = submit(stream, w);
    }
    mem_free(w->kernarg);
    return error;
}

hip_error sim_module_launch_kernel(hip_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned lds_bytes,
                                   hip_stream stream, void **params, void **extra) {
    work w = {.kind = WORK_LAUNCH,
              .function = function,
              .grid = {grid_x, grid_y, grid_z},
              .block = {block_x, block_y, block_z},
              .lds_bytes = lds_bytes};
    ENTER();
    return finish(launch_on(stream, &w, params, extra));
}
