/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Code objects, their kernels and their variables. */
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "sim/hip/machine.h"

static hip_error error_of(cdnagen_status status) {
    if (status) explain(cdnagen_error());
    switch (status) {
    case CDNAGEN_OK: return HIP_SUCCESS;
    case CDNAGEN_BAD_TARGET: return HIP_ERROR_NO_BINARY_FOR_GPU;
    case CDNAGEN_NO_MEMORY: return HIP_ERROR_OUT_OF_MEMORY;
    case CDNAGEN_BAD_ARGUMENT: return HIP_ERROR_NOT_FOUND;
    default: return HIP_ERROR_INVALID_IMAGE;
    }
}

static sim_device *module_device(hip_module module) {
    for (int i = 0; i < sim.device_count; i++)
        for (struct hip_module_object *m = sim.devices[i].modules; m; m = m->next)
            if (m == module) return &sim.devices[i];
    return NULL;
}

int is_function(hip_function function, sim_device **owner) {
    for (int i = 0; i < sim.device_count; i++)
        for (struct hip_module_object *m = sim.devices[i].modules; m; m = m->next)
            for (struct hip_function_object *f = m->functions; f; f = f->next)
                if (f == function) {
                    *owner = &sim.devices[i];
                    return 1;
                }
    return 0;
}

static hip_error load(hip_module *module, const void *image, size_t size) {
    struct hip_module_object *made;
    ENTER();
    sim_device *d = current_device();
    const cdnagen_status status = module_make(&d->memory, d->chip, image, size, &made);
    if (status != CDNAGEN_OK) return finish(error_of(status));
    made->next = d->modules;
    d->modules = made;
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
hip_error sim_module_load_data(hip_module *module, const void *image) {
    if (!module || !image) return HIP_ERROR_INVALID_VALUE;
    const size_t size = image_size(image);
    return size ? load(module, image, size) : HIP_ERROR_INVALID_IMAGE;
}
hip_error sim_module_load(hip_module *module, const char *path) {
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

hip_error sim_module_unload(hip_module module) {
    ENTER();
    sim_device *d = module_device(module);
    const hip_error refused = d ? capture_refuses() : HIP_ERROR_INVALID_HANDLE;
    if (refused) return finish(refused);
    struct hip_module_object **link = &d->modules;
    while (*link != module) link = &(*link)->next;
    *link = module->next;
    module_free(&d->memory, module);
    return finish_synchronous(HIP_SUCCESS);
}

hip_error sim_module_get_function(hip_function *function, hip_module module, const char *name) {
    if (!function || !name) return HIP_ERROR_INVALID_VALUE;
    ENTER();
    sim_device *d = module_device(module);
    if (!d) return finish(HIP_ERROR_INVALID_HANDLE);
    return finish(error_of(function_make(&d->memory, module, name, function)));
}

hip_error sim_module_get_global(void **ptr, size_t *size, hip_module module, const char *name) {
    if (!name || (!ptr && !size)) return HIP_ERROR_INVALID_VALUE;
    ENTER();
    if (!module_device(module)) return finish(HIP_ERROR_INVALID_HANDLE);
    const codeobj *o = &module->object;
    for (size_t i = 0; i < o->symbol_count; i++) {
        Elf64_Sym s;
        memcpy(&s, o->data + o->symbols_offset + i * sizeof s, sizeof s);
        const char *own = (const char *)o->data + o->strings_offset + s.st_name;
        if (ELF64_ST_TYPE(s.st_info) != STT_OBJECT || s.st_name >= o->strings_bytes ||
            strnlen(own, o->strings_bytes - s.st_name) == o->strings_bytes - s.st_name || strcmp(own, name) != 0)
            continue;
        if (ptr) *ptr = (void *)(uintptr_t)(module->image + s.st_value);
        if (size) *size = s.st_size;
        return finish(HIP_SUCCESS);
    }
    return finish(HIP_ERROR_NOT_FOUND);
}

/* ---- what a kernel needs ---- */

hip_error sim_module_occupancy(int *blocks, hip_function function, int block_threads, size_t lds_bytes) {
    if (!blocks || block_threads <= 0) return HIP_ERROR_INVALID_VALUE;
    ENTER();
    sim_device *d;
    if (!is_function(function, &d)) return finish(HIP_ERROR_INVALID_HANDLE);
    const uint32_t lds = lds_bytes < UINT32_MAX ? (uint32_t)lds_bytes : UINT32_MAX;
    *blocks = (int)codeobj_occupancy(d->chip, &function->kernel, (uint32_t)block_threads, lds).workgroups_per_cu;
    return finish(HIP_SUCCESS);
}

/* The block size with most waves per CU, the largest of equals. */
hip_error sim_module_potential_block(int *grid, int *block, hip_function function, size_t lds_bytes, int limit) {
    if (!grid || !block || limit < 0) return HIP_ERROR_INVALID_VALUE;
    ENTER();
    sim_device *d;
    if (!is_function(function, &d)) return finish(HIP_ERROR_INVALID_HANDLE);
    const codeobj_kernel *k = &function->kernel;
    uint32_t most = k->max_workgroup ? k->max_workgroup : 1024;
    if (limit && (uint32_t)limit < most) most = (uint32_t)limit;
    uint32_t best = 0, best_groups = 0;
    for (uint32_t threads = most < LANES ? most : most / LANES * LANES; threads;
         threads -= threads < LANES ? threads : LANES) {
        const uint32_t groups = codeobj_occupancy(d->chip, k, threads, (uint32_t)lds_bytes).workgroups_per_cu;
        if (groups * threads <= best_groups * best) continue;
        best = threads;
        best_groups = groups;
    }
    *block = (int)best;
    *grid = (int)best_groups * d->chip->cus;
    return finish(best ? HIP_SUCCESS : HIP_ERROR_INVALID_VALUE);
}

/* hipFunction_attribute. source: hip/hip_runtime_api.h */
typedef enum function_attribute {
    FUNCTION_MAX_THREADS,
    FUNCTION_LDS_BYTES,
    FUNCTION_CONST_BYTES,
    FUNCTION_SCRATCH_BYTES,
    FUNCTION_REGISTERS,
    FUNCTION_MAX_DYNAMIC_LDS = 8
} function_attribute;

hip_error sim_func_get_attribute(int *value, int attribute, hip_function function) {
    if (!value) return HIP_ERROR_INVALID_VALUE;
    ENTER();
    sim_device *d;
    if (!is_function(function, &d)) return finish(HIP_ERROR_INVALID_HANDLE);
    const codeobj_kernel *k = &function->kernel;
    switch (attribute) {
    case FUNCTION_MAX_THREADS: *value = (int)k->max_workgroup; break;
    case FUNCTION_LDS_BYTES: *value = (int)k->lds_bytes; break;
    case FUNCTION_CONST_BYTES: *value = 0; break;
    case FUNCTION_SCRATCH_BYTES: *value = (int)k->scratch_bytes; break;
    case FUNCTION_REGISTERS: *value = (int)k->vgpr; break;
    case FUNCTION_MAX_DYNAMIC_LDS: *value = d->chip->lds_bytes - (int)k->lds_bytes; break;
    default: return finish(HIP_ERROR_INVALID_VALUE);
    }
    return finish(HIP_SUCCESS);
}

/* Any dynamic LDS that fits can be had without asking; asking for more is refused. */
hip_error sim_func_set_attribute(const void *function, int attribute, int value) {
    ENTER();
    sim_device *d;
    hip_function f = (hip_function)(uintptr_t)function;
    if (!is_function(f, &d)) return finish(HIP_ERROR_INVALID_DEVICE_FUNCTION);
    const int room = d->chip->lds_bytes - (int)f->kernel.lds_bytes;
    const int good =
        attribute == FUNCTION_MAX_DYNAMIC_LDS ? value >= 0 && value <= room : attribute == FUNCTION_MAX_DYNAMIC_LDS + 1;
    return finish(good ? HIP_SUCCESS : HIP_ERROR_INVALID_VALUE);
}
