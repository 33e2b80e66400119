/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The machine's state: devices, what a call leaves behind, and doing or recording a stream's work. */
#include "sim/hip/machine.h"

#include <stdio.h>
#include <string.h>

machine sim = {.lock = PTHREAD_MUTEX_INITIALIZER};
_Thread_local int current_ordinal;
int explains_on_stderr;

static _Thread_local char fault_text[1024];

hip_error finish(hip_error error) {
    pthread_mutex_unlock(&sim.lock);
    return error;
}

hip_error finish_synchronous(hip_error error) {
    sim_device *d = current_device();
    if (error == HIP_SUCCESS && d->sticky) {
        error = d->sticky;
        d->sticky = HIP_SUCCESS;
    }
    return finish(error);
}

sim_device *device_at(int ordinal) { return ordinal >= 0 && ordinal < sim.device_count ? &sim.devices[ordinal] : NULL; }

/* The process may have been opened anew with fewer devices since the thread chose one. */
sim_device *current_device(void) {
    sim_device *d = device_at(current_ordinal);
    return d ? d : &sim.devices[current_ordinal = 0];
}

void explain(const char *sentence) {
    if (explains_on_stderr) fprintf(stderr, "simulator: %s\n", sentence);
}
void fault_set(const char *kernel, const char *fault) {
    snprintf(fault_text, sizeof fault_text, "kernel %.200s: %.760s", kernel, fault);
    explain(fault_text);
}
const char *sim_last_fault(void) { return fault_text; }

hip_error perform(const work *w) { return w->kind == WORK_LAUNCH ? perform_launch(w) : perform_copy(w); }

hip_error submit(hip_stream stream, const work *w) {
    if (!is_stream(stream)) return HIP_ERROR_INVALID_HANDLE;
    if (stream && stream->capture) return capture_record(stream, w);
    const hip_error refused = stream ? HIP_SUCCESS : capture_refuses_legacy();
    return refused ? refused : perform(w);
}

cdnagen_status machine_open(const chip *const *chip_list, int count, int late, int poison, check_level check,
                            unsigned threads, uint64_t limit) {
    if (count < 1 || count > DEVICES_MAX)
        return fail(CDNAGEN_BAD_ARGUMENT, "%d simulated devices: from 1 to %d can be had", count, DEVICES_MAX);
    ENTER();
    cdnagen_status status = sim.host.base ? CDNAGEN_OK : memory_open(&sim.host);
    for (int i = 0; i < count && !status; i++) {
        sim_device *d = &sim.devices[i];
        if (!d->memory.base) status = memory_open(&d->memory);
        d->memory.beyond = &sim.host;
        d->chip = chip_list[i];
    }
    if (!status) {
        sim.device_count = count;
        sim.late = late;
        sim.poison = poison;
        sim.check = check;
        sim.threads = threads;
        sim.limit = limit;
    }
    pthread_mutex_unlock(&sim.lock);
    return status;
}
