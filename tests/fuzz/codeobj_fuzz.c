/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Any bytes as a code object: open it, read every kernel, and touch every byte that the result says is there. */
#include <stdlib.h>
#include <string.h>

#include "core/codeobj.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile unsigned touched;

static void touch(const unsigned char *p, size_t size) {
    for (size_t i = 0; i < size; i++) touched += p[i];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    codeobj o;
    if (codeobj_open(data, size, &o)) return 0;
    touch(o.data + o.text_offset, o.text_bytes);
    for (size_t i = 0; i < o.segment_count; i++) touch(o.data + o.segments[i].file_offset, o.segments[i].file_bytes);
    for (size_t i = 0; i < o.kernel_count; i++) {
        codeobj_kernel k, found;
        if (codeobj_kernel_at(&o, i, &k)) continue;
        touch(o.data + o.text_offset + (k.entry_address - o.text_address), k.code_bytes);
        if (codeobj_find(&o, k.name, &found) == CDNAGEN_BAD_ARGUMENT) abort();
        if (codeobj_occupancy(o.chip, &k, k.max_workgroup, 0).waves_per_simd > 8) abort();
    }
    return 0;
}
