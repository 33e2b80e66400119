/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* libFuzzer target: any bytes as a code object that the simulator loads, relocates and runs a wave of each kernel
 * of. */
#include <stdlib.h>
#include <string.h>

#include "sim/dispatch.h"
#include "sim/loader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What a launch could ask of the host, but a fuzz target should not spend. */
enum { SCRATCH_BYTES_MAX = 4096, LOADS = 500, IMAGE_BYTES_MAX = 1 << 24 };

static void run(memory *m, const chip *c, const struct hip_function_object *f) {
    const codeobj_kernel *const k = &f->kernel;
    launch l = {.chip = c,
                .program = &f->program,
                .memory = m,
                .check_level = CHECK_ALL,
                .threads = 1,
                .limit = 1,
                .entry = f->entry,
                .rsrc1 = k->rsrc1,
                .rsrc2 = k->rsrc2,
                .properties = k->properties,
                .preload = k->preload,
                .vgprs = 8 * ((k->rsrc1 & 63) + 1),
                .kernarg = f->kernarg,
                .packet = f->packet,
                .grid = {1, 1, 1},
                .block = {LANES, 1, 1},
                .lds_bytes = k->lds_bytes,
                .scratch_bytes = k->scratch_bytes};
    if (k->scratch_bytes > SCRATCH_BYTES_MAX || k->lds_bytes > (uint32_t)c->lds_bytes) return;
    launch_run(&l);
    if (atomic_load(&l.faulted) && !*l.fault) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static memory m;
    static int loads;
    codeobj o;
    struct hip_module_object *module = NULL;
    if (codeobj_open(data, size, &o)) return 0;
    for (size_t i = 0; i < o.segment_count; i++)
        if (o.segments[i].address + o.segments[i].memory_bytes > IMAGE_BYTES_MAX) return 0;
    if (loads++ % LOADS == 0) memory_close(&m);
    if (!m.base && memory_open(&m)) abort();
    if (module_make(&m, o.chip, data, size, &module)) return 0;
    for (size_t i = 0; i < o.kernel_count; i++) {
        codeobj_kernel k;
        struct hip_function_object *f = NULL;
        if (!codeobj_kernel_at(&o, i, &k) && !function_make(&m, module, k.name, &f)) run(&m, o.chip, f);
    }
    module_free(&m, module);
    return 0;
}
