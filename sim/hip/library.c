/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* libamdhip64-sim.so: HIP's own names over the simulator, for programs that know nothing of it. CDNAGEN_SIM_DEVICES
 * names the devices ("gfx950,gfx942"; default one TARGET_STANDARD), CDNAGEN_SIM the mode. What stopped a kernel is told
 * on stderr. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/hip/machine.h"
#include "sim/sim.h"

#define EXPORT __attribute__((visibility("default")))

#define FORWARD(symbol, arguments, call) EXPORT hip_error symbol arguments;
#include "sim/hip/library.def"
#undef FORWARD
EXPORT hip_error hipGetLastError(void);
EXPORT hip_error hipPeekAtLastError(void);
EXPORT const char *hipGetErrorName(hip_error error);
EXPORT const char *hipGetErrorString(hip_error error);

/* ---- opening, at the first call ---- */

static cdnagen_status parse_devices(const char *words, const chip *out[DEVICES_MAX], int *count) {
    *count = 0;
    for (const char *p = words;; p++) {
        const size_t n = strcspn(p, ",");
        const chip *c = chip_find(p, n);
        if (!c)
            return fail(CDNAGEN_BAD_TARGET,
                        "CDNAGEN_SIM_DEVICES: \"%.*s\" is not a device: give gfx950 or gfx942, separated by commas",
                        (int)n, p);
        if (*count == DEVICES_MAX)
            return fail(CDNAGEN_BAD_TARGET, "CDNAGEN_SIM_DEVICES: more than %d devices", DEVICES_MAX);
        out[(*count)++] = c;
        p += n;
        if (!*p) return CDNAGEN_OK;
    }
}

static const char *setting(const char *variable, const char *standard) {
    const char *value = getenv(variable);
    return value && *value ? value : standard;
}

static int opened;
static void open_once(void) {
    const chip *chip_list[DEVICES_MAX];
    const hip_table *table;
    int count;
    explains_on_stderr = 1;
    cdnagen_status status = parse_devices(setting("CDNAGEN_SIM_DEVICES", TARGET_STANDARD), chip_list, &count);
    if (!status) status = sim_open_devices(chip_list, count, setting("CDNAGEN_SIM", ""), &table);
    if (status) explain(cdnagen_error());
    opened = status == CDNAGEN_OK;
}

/* ---- HIP's names ---- */

static _Thread_local hip_error last_error;

static hip_error tell(hip_error error) {
    if (error) last_error = error;
    return error;
}
static int open_machine(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_once);
    return opened;
}

#define FORWARD(symbol, arguments, call)                                                                               \
    hip_error symbol arguments { return tell(open_machine() ? (call) : HIP_ERROR_NOT_INITIALIZED); }
#include "sim/hip/library.def"
#undef FORWARD

hip_error hipGetLastError(void) {
    const hip_error error = last_error;
    last_error = HIP_SUCCESS;
    return error;
}
hip_error hipPeekAtLastError(void) { return last_error; }
const char *hipGetErrorName(hip_error error) { return sim_get_error_name(error); }
const char *hipGetErrorString(hip_error error) { return sim_get_error_string(error); }
