/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The HIP functions over the simulator: one device, one lock, launches done when they are asked for. */
#include "sim/sim.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sim/dispatch.h"
#include "sim/loader.h"

struct hip_stream_object {
    struct hip_stream_object *next;
};
struct hip_event_object {
    struct hip_event_object *next;
    struct timespec at;
    int recorded;
};

/* The process's simulated device. Every HIP call holds the lock. */
static struct {
    pthread_mutex_t lock;
    const chip *chip;
    memory memory;
    int open, late, poison;
    unsigned threads;
    hip_error sticky; /* an asynchronous failure not yet reported */
    struct hip_module_object *modules;
    struct hip_stream_object *streams;
    struct hip_event_object *events;
} sim = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local char fault_text[1024];

static hip_error finish(hip_error error) {
    pthread_mutex_unlock(&sim.lock);
    return error;
}
/* As on hardware, a kernel's failure is the result of the next call that could wait for it, once. */
static hip_error finish_synchronous(hip_error error) {
    if (error == HIP_SUCCESS && sim.sticky) {
        error = sim.sticky;
        sim.sticky = HIP_SUCCESS;
    }
    return finish(error);
}
#define ENTER() pthread_mutex_lock(&sim.lock)

/* ---- device ---- */

static hip_error sim_init(unsigned flags) { return flags ? HIP_ERROR_INVALID_VALUE : HIP_SUCCESS; }
static hip_error sim_runtime_get_version(int *version) {
    if (!version) return HIP_ERROR_INVALID_VALUE;
    *version = 60000000;
    return HIP_SUCCESS;
}
static hip_error sim_get_device_count(int *count) {
    if (!count) return HIP_ERROR_INVALID_VALUE;
    *count = 1;
    return HIP_SUCCESS;
}
static hip_error sim_get_device(int *device) {
    if (!device) return HIP_ERROR_INVALID_VALUE;
    *device = 0;
    return HIP_SUCCESS;
}
static hip_error sim_set_device(int device) { return device ? HIP_ERROR_INVALID_DEVICE : HIP_SUCCESS; }
static hip_error sim_device_get_name(char *name, int length, int device) {
    if (device) return HIP_ERROR_INVALID_DEVICE;
    if (!name || length <= 0) return HIP_ERROR_INVALID_VALUE;
    snprintf(name, (size_t)length, "%s simulator", sim.chip->name);
    return HIP_SUCCESS;
}
/* hipDeviceAttribute_t of HIP 5.2 to 7.x. */
enum {
    ATTRIBUTE_MAX_BLOCK_X = 26,
    ATTRIBUTE_MULTIPROCESSORS = 63,
    ATTRIBUTE_MAX_THREADS = 56,
    ATTRIBUTE_MAX_LDS = 74,
    ATTRIBUTE_WARP = 87
};
static hip_error sim_device_get_attribute(int *value, int attribute, int device) {
    if (device) return HIP_ERROR_INVALID_DEVICE;
    if (!value) return HIP_ERROR_INVALID_VALUE;
    switch (attribute) {
    case ATTRIBUTE_MAX_BLOCK_X:
    case ATTRIBUTE_MAX_THREADS: *value = 1024; return HIP_SUCCESS;
    case ATTRIBUTE_MULTIPROCESSORS: *value = sim.chip->cus; return HIP_SUCCESS;
    case ATTRIBUTE_MAX_LDS: *value = sim.chip->lds_bytes; return HIP_SUCCESS;
    case ATTRIBUTE_WARP: *value = LANES; return HIP_SUCCESS;
    default: return HIP_ERROR_NOT_SUPPORTED;
    }
}
static cdnagen_status sim_device_target(int device, target *out) {
    if (device) return fail(CDNAGEN_NO_DEVICE, "the simulator has device 0 only, not %d", device);
    return target_parse(sim.chip->name, out);
}
static int sim_cu_count(int device) { return device ? 0 : sim.chip->cus; }
static const char *sim_last_fault(void) { return fault_text; }

static const struct {
    hip_error error;
    const char *name, *text;
} errors[] = {
    {HIP_SUCCESS, "hipSuccess", "no error"},
    {HIP_ERROR_INVALID_VALUE, "hipErrorInvalidValue", "invalid argument"},
    {HIP_ERROR_OUT_OF_MEMORY, "hipErrorOutOfMemory", "out of memory"},
    {HIP_ERROR_INVALID_DEVICE_FUNCTION, "hipErrorInvalidDeviceFunction", "invalid device function"},
    {HIP_ERROR_INVALID_DEVICE, "hipErrorInvalidDevice", "invalid device ordinal"},
    {HIP_ERROR_INVALID_IMAGE, "hipErrorInvalidImage", "device kernel image is invalid"},
    {HIP_ERROR_NO_BINARY_FOR_GPU, "hipErrorNoBinaryForGpu", "no kernel image is available for execution on the device"},
    {HIP_ERROR_FILE_NOT_FOUND, "hipErrorFileNotFound", "file not found"},
    {HIP_ERROR_INVALID_HANDLE, "hipErrorInvalidHandle", "invalid resource handle"},
    {HIP_ERROR_NOT_FOUND, "hipErrorNotFound", "named symbol not found"},
    {HIP_ERROR_LAUNCH_FAILURE, "hipErrorLaunchFailure", "unspecified launch failure"},
    {HIP_ERROR_NOT_SUPPORTED, "hipErrorNotSupported", "operation not supported"}};
static const char *sim_get_error_name(hip_error error) {
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].error == error) return errors[i].name;
    return "hipErrorUnknown";
}
static const char *sim_get_error_string(hip_error error) {
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].error == error) return errors[i].text;
    return "unknown error";
}

/* ---- memory ---- */

static hip_error sim_malloc(void **ptr, size_t size) {
    if (!ptr) return HIP_ERROR_INVALID_VALUE;
    *ptr = NULL;
    if (size == 0) return HIP_SUCCESS;
    ENTER();
    const uint64_t address = memory_allocate(&sim.memory, size, 0);
    *ptr = (void *)(uintptr_t)address;
    return finish(address ? HIP_SUCCESS : HIP_ERROR_OUT_OF_MEMORY);
}
static hip_error sim_free(void *ptr) {
    if (!ptr) return HIP_SUCCESS;
    ENTER();
    return finish_synchronous(memory_release(&sim.memory, (uint64_t)(uintptr_t)ptr, 0) ? HIP_SUCCESS
                                                                                       : HIP_ERROR_INVALID_VALUE);
}
static int is_device(const void *p, size_t size) {
    const allocation *a = memory_find(&sim.memory, (uint64_t)(uintptr_t)p, size);
    return a && !a->internal;
}
static hip_error sim_memcpy(void *to, const void *from, size_t size, int kind) {
    if (size == 0) return HIP_SUCCESS;
    ENTER();
    const int to_device = kind == HIP_MEMCPY_HOST_TO_DEVICE || kind == HIP_MEMCPY_DEVICE_TO_DEVICE;
    const int from_device = kind == HIP_MEMCPY_DEVICE_TO_HOST || kind == HIP_MEMCPY_DEVICE_TO_DEVICE;
    if (!to || !from || (!to_device && !from_device) || (to_device && !is_device(to, size)) ||
        (from_device && !is_device(from, size)))
        return finish(HIP_ERROR_INVALID_VALUE);
    memmove(to, from, size);
    return finish_synchronous(HIP_SUCCESS);
}
static hip_error sim_memcpy_async(void *to, const void *from, size_t size, int kind, hip_stream stream) {
    (void)stream;
    return sim_memcpy(to, from, size, kind);
}
static hip_error sim_memset_async(void *to, int value, size_t size, hip_stream stream) {
    (void)stream;
    if (size == 0) return HIP_SUCCESS;
    ENTER();
    if (!is_device(to, size)) return finish(HIP_ERROR_INVALID_VALUE);
    memset(to, value, size);
    return finish(HIP_SUCCESS);
}

/* ---- streams and events: work is done when it is queued, so they only keep order and time ---- */

static hip_error sim_device_synchronize(void) {
    ENTER();
    return finish_synchronous(HIP_SUCCESS);
}
static int is_stream(hip_stream stream) {
    for (struct hip_stream_object *s = sim.streams; s; s = s->next)
        if (s == stream) return 1;
    return stream == NULL;
}
static hip_error sim_stream_create(hip_stream *stream) {
    if (!stream) return HIP_ERROR_INVALID_VALUE;
    ENTER();
    struct hip_stream_object *s = mem_alloc(sizeof *s);
    if (!s) return finish(HIP_ERROR_OUT_OF_MEMORY);
    s->next = sim.streams;
    sim.streams = s;
    *stream = s;
    return finish(HIP_SUCCESS);
}
static hip_error sim_stream_destroy(hip_stream stream) {
    ENTER();
    for (struct hip_stream_object **link = &sim.streams; *link; link = &(*link)->next)
        if (*link == stream) {
            *link = stream->next;
            mem_free(stream);
            return finish(HIP_SUCCESS);
        }
    return finish(HIP_ERROR_INVALID_HANDLE);
}
static hip_error sim_stream_synchronize(hip_stream stream) {
    ENTER();
    return is_stream(stream) ? finish_synchronous(HIP_SUCCESS) : finish(HIP_ERROR_INVALID_HANDLE);
}
static hip_error sim_stream_is_capturing(hip_stream stream, int *status) {
    if (!status) return HIP_ERROR_INVALID_VALUE;
    ENTER();
    *status = 0;
    return finish(is_stream(stream) ? HIP_SUCCESS : HIP_ERROR_INVALID_HANDLE);
}
static int is_event(hip_event event) {
    for (struct hip_event_object *e = sim.events; e; e = e->next)
        if (e == event) return 1;
    return 0;
}
static hip_error sim_event_create(hip_event *event) {
    if (!event) return HIP_ERROR_INVALID_VALUE;
    ENTER();
    struct hip_event_object *e = mem_alloc(sizeof *e);
    if (!e) return finish(HIP_ERROR_OUT_OF_MEMORY);
    e->next = sim.events;
    sim.events = e;
    *event = e;
    return finish(HIP_SUCCESS);
}
static hip_error sim_event_destroy(hip_event event) {
    ENTER();
    for (struct hip_event_object **link = &sim.events; *link; link = &(*link)->next)
        if (*link == event) {
            *link = event->next;
            mem_free(event);
            return finish(HIP_SUCCESS);
        }
    return finish(HIP_ERROR_INVALID_HANDLE);
}
static hip_error sim_event_record(hip_event event, hip_stream stream) {
    ENTER();
    if (!is_event(event) || !is_stream(stream)) return finish(HIP_ERROR_INVALID_HANDLE);
    clock_gettime(CLOCK_MONOTONIC, &event->at);
    event->recorded = 1;
    return finish(HIP_SUCCESS);
}
static hip_error sim_event_synchronize(hip_event event) {
    ENTER();
    return is_event(event) ? finish_synchronous(HIP_SUCCESS) : finish(HIP_ERROR_INVALID_HANDLE);
}
static hip_error sim_event_elapsed_time(float *ms, hip_event start, hip_event stop) {
    if (!ms) return HIP_ERROR_INVALID_VALUE;
    ENTER();
    if (!is_event(start) || !is_event(stop) || !start->recorded || !stop->recorded)
        return finish(HIP_ERROR_INVALID_HANDLE);
    *ms = (float)(1e3 * (double)(stop->at.tv_sec - start->at.tv_sec) +
                  1e-6 * (double)(stop->at.tv_nsec - start->at.tv_nsec));
    return finish(HIP_SUCCESS);
}

/* ---- modules ---- */

static hip_error error_of(cdnagen_status status) {
    switch (status) {
    case CDNAGEN_OK: return HIP_SUCCESS;
    case CDNAGEN_BAD_TARGET: return HIP_ERROR_NO_BINARY_FOR_GPU;
    case CDNAGEN_NO_MEMORY: return HIP_ERROR_OUT_OF_MEMORY;
    case CDNAGEN_BAD_ARGUMENT: return HIP_ERROR_NOT_FOUND;
    default: return HIP_ERROR_INVALID_IMAGE;
    }
}
static int is_module(hip_module module) {
    for (struct hip_module_object *m = sim.modules; m; m = m->next)
        if (m == module) return 1;
    return 0;
}
static int is_function(hip_function function) {
    for (struct hip_module_object *m = sim.modules; m; m = m->next)
        for (struct hip_function_object *f = m->functions; f; f = f->next)
            if (f == function) return 1;
    return 0;
}
static hip_error load(hip_module *module, const void *image, size_t size) {
    struct hip_module_object *made;
    ENTER();
    const cdnagen_status status = module_make(&sim.memory, sim.chip, image, size, &made);
    if (status != CDNAGEN_OK) return finish(error_of(status));
    made->next = sim.modules;
    sim.modules = made;
    *module = made;
    return finish(HIP_SUCCESS);
}
/* An image comes without its size: the section headers are the last thing in what LLVM and lld write. */
static size_t image_size(const unsigned char *image) {
    uint64_t headers, end = 64;
    uint16_t entry, count;
    if (memcmp(image, "\177ELF", 4) != 0) return 0;
    memcpy(&headers, image + 40, 8);
    memcpy(&entry, image + 58, 2);
    memcpy(&count, image + 60, 2);
    if (headers + (uint64_t)entry * count > end) end = headers + (uint64_t)entry * count;
    return end;
}
static hip_error sim_module_load_data(hip_module *module, const void *image) {
    if (!module || !image) return HIP_ERROR_INVALID_VALUE;
    const size_t size = image_size(image);
    return size ? load(module, image, size) : HIP_ERROR_INVALID_IMAGE;
}
static hip_error sim_module_load(hip_module *module, const char *path) {
    if (!module || !path) return HIP_ERROR_INVALID_VALUE;
    FILE *f = fopen(path, "rb");
    if (!f) return HIP_ERROR_FILE_NOT_FOUND;
    text content = {0};
    char block[4096];
    for (size_t n = sizeof block; n == sizeof block;) {
        n = fread(block, 1, sizeof block, f);
        text_add_bytes(&content, block, n);
    }
    fclose(f);
    const hip_error error = content.failed        ? HIP_ERROR_OUT_OF_MEMORY
                            : content.length < 64 ? HIP_ERROR_INVALID_IMAGE
                                                  : load(module, content.data, content.length);
    text_free(&content);
    return error;
}
static hip_error sim_module_unload(hip_module module) {
    ENTER();
    for (struct hip_module_object **link = &sim.modules; *link; link = &(*link)->next)
        if (*link == module) {
            *link = module->next;
            module_free(&sim.memory, module);
            return finish_synchronous(HIP_SUCCESS);
        }
    return finish(HIP_ERROR_INVALID_HANDLE);
}
static hip_error sim_module_get_function(hip_function *function, hip_module module, const char *name) {
    if (!function || !name) return HIP_ERROR_INVALID_VALUE;
    ENTER();
    if (!is_module(module)) return finish(HIP_ERROR_INVALID_HANDLE);
    return finish(error_of(function_make(&sim.memory, module, name, function)));
}

/* ---- launches ---- */

/* Hidden arguments of code object v5. source: LLVM "User Guide for AMDGPU Backend", "Code Object V5 Metadata" */
static uint64_t hidden_value(const launch *l, const char *kind) {
    static const char *const axes = "xyz";
    const size_t n = strlen(kind);
    const char *axis = n > 2 && kind[n - 2] == '_' ? strchr(axes, kind[n - 1]) : NULL;
    if (axis && strncmp(kind, "hidden_block_count", 18) == 0) return l->grid[axis - axes];
    if (axis && strncmp(kind, "hidden_group_size", 17) == 0) return l->block[axis - axes];
    if (strcmp(kind, "hidden_grid_dims") == 0)
        return l->grid[2] * l->block[2] > 1 ? 3 : l->grid[1] * l->block[1] > 1 ? 2 : 1;
    if (strcmp(kind, "hidden_dynamic_lds_size") == 0) return l->lds_bytes;
    if (strcmp(kind, "hidden_shared_base") == 0) return SHARED_BASE >> 32;
    if (strcmp(kind, "hidden_private_base") == 0) return PRIVATE_BASE >> 32;
    return 0;
}

static void write_hidden(const struct hip_function_object *f, const launch *l, uint32_t dynamic_lds) {
    launch values = *l;
    values.lds_bytes = dynamic_lds;
    for (size_t i = 0; i < f->kernel.arg_count; i++) {
        const codeobj_arg *a = &f->kernel.args[i];
        if (a->kind != ARG_HIDDEN || a->size > 8 || a->offset + a->size > f->kernel.kernarg_bytes) continue;
        const uint64_t value = hidden_value(&values, a->value_kind);
        memcpy((unsigned char *)(uintptr_t)f->kernarg + a->offset, &value, a->size);
    }
}

/* The caller's arguments, by HIP's two ways. */
static hip_error write_arguments(const struct hip_function_object *f, void **params, void **extra) {
    unsigned char *to = (unsigned char *)(uintptr_t)f->kernarg;
    memset(to, 0, f->kernel.kernarg_bytes);
    if (extra) {
        const void *buffer = NULL;
        size_t size = 0;
        for (int i = 0; extra[i] != HIP_LAUNCH_PARAM_END; i += 2) {
            if (extra[i] == HIP_LAUNCH_PARAM_BUFFER_POINTER)
                buffer = extra[i + 1];
            else if (extra[i] == HIP_LAUNCH_PARAM_BUFFER_SIZE)
                memcpy(&size, extra[i + 1], sizeof size);
            else
                return HIP_ERROR_INVALID_VALUE;
        }
        if (!buffer) return HIP_ERROR_INVALID_VALUE;
        memcpy(to, buffer, size < f->kernel.kernarg_bytes ? size : f->kernel.kernarg_bytes);
        return HIP_SUCCESS;
    }
    for (size_t i = 0, given = 0; i < f->kernel.arg_count; i++) {
        const codeobj_arg *a = &f->kernel.args[i];
        if (a->kind == ARG_HIDDEN) continue;
        if (!params || !params[given] || a->offset + a->size > f->kernel.kernarg_bytes) return HIP_ERROR_INVALID_VALUE;
        memcpy(to + a->offset, params[given++], a->size);
    }
    return HIP_SUCCESS;
}

/* The dispatch packet that kernels with a dispatch pointer read. source: HSA Platform System Architecture, "AQL packets" */
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

static hip_error sim_module_launch_kernel(hip_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                          unsigned block_x, unsigned block_y, unsigned block_z, unsigned lds_bytes,
                                          hip_stream stream, void **params, void **extra) {
    ENTER();
    if (!is_function(function) || !is_stream(stream)) return finish(HIP_ERROR_INVALID_HANDLE);
    const codeobj_kernel *k = &function->kernel;
    const uint64_t threads = (uint64_t)block_x * block_y * block_z;
    const uint64_t limit = k->max_workgroup && k->max_workgroup < BLOCK_MAX ? k->max_workgroup : BLOCK_MAX;
    const uint64_t lds = (uint64_t)k->lds_bytes + lds_bytes;
    if (!grid_x || !grid_y || !grid_z || !threads || threads > limit || lds > (uint64_t)sim.chip->lds_bytes)
        return finish(HIP_ERROR_INVALID_VALUE);
    launch l = {.chip = sim.chip,
                .program = &function->program,
                .memory = &sim.memory,
                .late = sim.late,
                .poison = sim.poison,
                .threads = sim.threads,
                .entry = function->entry,
                .rsrc1 = k->rsrc1,
                .rsrc2 = k->rsrc2,
                .properties = k->properties,
                .preload = k->preload,
                .vgprs = 8 * ((k->rsrc1 & 63) + 1),
                .kernarg = function->kernarg,
                .packet = function->packet,
                .grid = {grid_x, grid_y, grid_z},
                .block = {block_x, block_y, block_z},
                .lds_bytes = (uint32_t)lds,
                .scratch_bytes = k->dynamic_stack && k->scratch_bytes < STACK_BYTES ? STACK_BYTES : k->scratch_bytes};
    const hip_error error = write_arguments(function, params, extra);
    if (error != HIP_SUCCESS) return finish(error);
    write_hidden(function, &l, lds_bytes);
    write_packet(function, &l);
    launch_run(&l);
    if (atomic_load(&l.faulted)) {
        snprintf(fault_text, sizeof fault_text, "kernel %.200s: %.760s", k->name, l.fault);
        sim.sticky = HIP_ERROR_LAUNCH_FAILURE;
    }
    return finish(HIP_SUCCESS);
}
static hip_error sim_module_occupancy(int *blocks, hip_function function, int block_threads, size_t lds_bytes) {
    if (!blocks || block_threads <= 0) return HIP_ERROR_INVALID_VALUE;
    ENTER();
    if (!is_function(function)) return finish(HIP_ERROR_INVALID_HANDLE);
    *blocks = (int)codeobj_occupancy(sim.chip, &function->kernel, (uint32_t)block_threads, (uint32_t)lds_bytes)
                  .workgroups_per_cu;
    return finish(HIP_SUCCESS);
}
/* hipFunction_attribute. source: hip/driver_types.h */
static hip_error sim_func_get_attribute(int *value, int attribute, hip_function function) {
    if (!value) return HIP_ERROR_INVALID_VALUE;
    ENTER();
    if (!is_function(function)) return finish(HIP_ERROR_INVALID_HANDLE);
    const codeobj_kernel *k = &function->kernel;
    const uint32_t values[] = {k->max_workgroup, k->lds_bytes, 0, k->scratch_bytes, k->vgpr};
    if (attribute < 0 || (size_t)attribute >= sizeof values / sizeof *values) return finish(HIP_ERROR_INVALID_VALUE);
    *value = (int)values[attribute];
    return finish(HIP_SUCCESS);
}

/* ---- opening ---- */

static cdnagen_status parse_mode(const char *mode, int *late, int *poison, unsigned *threads) {
    *late = *poison = 0;
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    *threads = cpus > 0 ? (unsigned)cpus : 1;
    for (const char *p = mode ? mode : ""; *p;) {
        const size_t n = strcspn(p, " \t");
        char end;
        if (n == 4 && strncmp(p, "late", 4) == 0)
            *late = 1;
        else if (n == 6 && strncmp(p, "poison", 6) == 0)
            *poison = 1;
        else if (n > 8 && n < 16 && strncmp(p, "threads=", 8) == 0) {
            char word[16] = "";
            memcpy(word, p + 8, n - 8);
            if (sscanf(word, "%u%c", threads, &end) != 1 || *threads == 0)
                return fail(CDNAGEN_BAD_ARGUMENT, "simulator mode threads=%s: a positive number is needed", word);
        } else if (n) {
            return fail(CDNAGEN_BAD_ARGUMENT, "simulator mode word \"%.*s\" is unknown; known: late, poison, threads=N",
                        (int)n, p);
        }
        p += n;
        p += strspn(p, " \t");
    }
    return CDNAGEN_OK;
}

cdnagen_status sim_open(const chip *device_chip, const char *mode, const hip_table **out) {
    static const hip_table table = {
#define HIP_FUNCTION(member, symbol, arguments) .member = sim_##member,
#include "core/hip.def"
#undef HIP_FUNCTION
        .get_error_name = sim_get_error_name,
        .get_error_string = sim_get_error_string,
        .provider = "simulator",
        .device_target = sim_device_target,
        .cu_count = sim_cu_count,
        .last_fault = sim_last_fault};
    int late, poison;
    unsigned threads;
    TRY(parse_mode(mode, &late, &poison, &threads));
    ENTER();
    const cdnagen_status status = sim.open ? CDNAGEN_OK : memory_open(&sim.memory);
    if (status == CDNAGEN_OK) {
        sim.open = 1;
        sim.chip = device_chip;
        sim.late = late;
        sim.poison = poison;
        sim.threads = threads;
        *out = &table;
    }
    pthread_mutex_unlock(&sim.lock);
    return status;
}
