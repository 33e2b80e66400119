/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the simulator's tests share: kernels compiled or assembled while the test runs, and launches in one line. */
#ifndef TESTS_SIM_GPU_H
#define TESTS_SIM_GPU_H

#include "sim/sim.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* gpu_open: the table in this mode, for the chip gpu_chip ("gfx950" unless a test says another).   gpu_compile: OpenCL
 * C by clang, options such as "-O3".
 * gpu_assemble: the body of a kernel "k" by llvm-mc: it starts with s[0:1] = kernel arguments, s2.. = workgroup x, y,
 * z, v0 = packed work-item id; `lds` static bytes, `agprs` from a0 on. All stop the test on failure. */
extern const char *gpu_chip;
void gpu_open(const char *mode);
extern const hip_table *gpu;
hip_module gpu_compile(const char *source, const char *options);
hip_module gpu_assemble(const char *body, int lds);

typedef struct gpu_grid {
    unsigned groups, threads, lds, groups_y, threads_y;
} gpu_grid;

/* gpu_launch: run a kernel to its end; arguments are 8-byte words. Returns what HIP says at the next
 * synchronisation. */
hip_error gpu_launch(hip_module module, const char *kernel, gpu_grid grid, int count, ...);

/* gpu_buffer: device memory with this content (NULL: zeros). gpu_read: back to the host. */
uint64_t gpu_buffer(const void *content, size_t size);
void gpu_read(void *to, uint64_t from, size_t size);

/* gpu_run_words: assemble, run one wave with one buffer of `words` dwords as argument, read the buffer back. */
hip_error gpu_run_words(const char *body, int lds, uint32_t *words, size_t count);

#endif
