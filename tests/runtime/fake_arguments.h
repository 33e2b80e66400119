/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Arguments for launches on the fake HIP, which reads none of what they point to. */
#ifndef TESTS_RUNTIME_FAKE_ARGUMENTS_H
#define TESTS_RUNTIME_FAKE_ARGUMENTS_H

#include "cdnagen.h"

static inline cdnagen_buffer fake_buffer(uintptr_t address) {
    return (cdnagen_buffer){(void *)address, (size_t)1 << 40};
}

static inline cdnagen_mqa_logits_args fake_arguments(void) {
    return (cdnagen_mqa_logits_args){.size = sizeof(cdnagen_mqa_logits_args),
                                     .q = fake_buffer(0x10000000),
                                     .kv = fake_buffer(0x20000000),
                                     .kv_scales = fake_buffer(0x30000000),
                                     .weights = fake_buffer(0x40000000),
                                     .cu_starts = fake_buffer(0x50000000),
                                     .cu_ends = fake_buffer(0x60000000),
                                     .logits = fake_buffer(0x70000000),
                                     .seq = 128,
                                     .seq_kv = 1024};
}

#endif
