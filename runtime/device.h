/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The device of a context: one HIP provider, one device index, and what runs there. */
#ifndef RUNTIME_DEVICE_H
#define RUNTIME_DEVICE_H

#include "core/hip.h"

typedef enum device_choice { DEVICE_GPU, DEVICE_SIM, DEVICE_AUTO, DEVICE_NONE } device_choice;

typedef struct device {
    const hip_table *hip; /* NULL: compile only */
    int index;
    target target; /* what the device is */
    int cus;
    char name[192];
} device;

enum { DEVICE_NOTE_BYTES = 768 };

/* device_choose: "gpu", "gpu:1", "sim", "auto", "none" -> choice and index.   errors: BAD_ARGUMENT, listing them */
cdnagen_status device_choose(const char *text, device_choice *choice, int *index);

/* device_prepare: open the device that was chosen.
 * wanted: the target that kernels are to be made for; NULL: the device's own
 * note:   text for the log, or "" (which device "auto" took and why; a count that had to be assumed)
 * errors: NO_HIP, NO_DEVICE, HIP, BAD_TARGET (the device cannot run `wanted`), BAD_ARGUMENT (simulator words) */
cdnagen_status device_prepare(device_choice choice, int index, const target *wanted, const char *sim_mode, device *out,
                              char note[DEVICE_NOTE_BYTES]);

/* device_runs: 1 if code for `t` can run on `own`: same chip, and each feature that `t` fixes is the device's. */
int device_runs(const target *own, const target *t);

/* device_is_gpu: 1 for a GPU, 0 for the simulator and for none. */
int device_is_gpu(const device *d);

/* device_clear: bytes of device memory become 0, in the stream's order; 0 bytes are fine.   errors: HIP */
cdnagen_status device_clear(const device *d, void *ptr, size_t size, hip_stream stream);

/* device_enter, device_leave: make the device current for this thread; put the previous one back. */
cdnagen_status device_enter(const device *d, int *previous);
void device_leave(const device *d, int previous);

#endif
