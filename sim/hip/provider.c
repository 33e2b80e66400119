/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The simulator as a provider: its HIP table, and the words of its mode. */
#include "sim/sim.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sim/hip/machine.h"

enum { LIMIT_DEFAULT = 4000 }; /* millions */

/* n characters, all digits, as a number of 1 or more; 0 if they are none. */
static unsigned number(const char *digits, size_t n) {
    unsigned x = 0;
    if (n > 9) return 0; /* what 32 bits hold for certain */
    for (size_t i = 0; i < n; i++) {
        if (digits[i] < '0' || digits[i] > '9') return 0;
        x = 10 * x + (unsigned)(digits[i] - '0');
    }
    return x;
}

/* What follows `name` in the n characters at p, or NULL. */
static const char *after(const char *p, size_t n, const char *name) {
    const size_t length = strlen(name);
    return n >= length && strncmp(p, name, length) == 0 ? p + length : NULL;
}

static cdnagen_status parse_mode(const char *mode, int *late, int *poison, check_level *check, unsigned *threads,
                                 uint64_t *limit) {
    static const char *const levels[] = {[CHECK_OFF] = "off", [CHECK_RACES] = "races", [CHECK_ALL] = "all"};
    static const char separators[] = " \t,";
    *late = *poison = 0;
    *check = CHECK_OFF;
    *limit = UINT64_C(1000000) * LIMIT_DEFAULT;
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    *threads = cpus > 0 ? (unsigned)cpus : 1;
    size_t n;
    for (const char *p = mode ? mode : ""; *(p += strspn(p, separators)); p += n) {
        n = strcspn(p, separators);
        const char *value;
        if (n == 4 && after(p, n, "late")) {
            *late = 1;
        } else if (n == 6 && after(p, n, "poison")) {
            *poison = 1;
        } else if ((value = after(p, n, "threads="))) {
            if (!(*threads = number(value, n - (size_t)(value - p))))
                return fail(CDNAGEN_BAD_ARGUMENT, "simulator mode %.*s: a number of 1 to 999999999 is needed", (int)n,
                            p);
        } else if ((value = after(p, n, "limit="))) {
            if (!(*limit = UINT64_C(1000000) * number(value, n - (size_t)(value - p))))
                return fail(CDNAGEN_BAD_ARGUMENT,
                            "simulator mode %.*s: millions of instructions, 1 to 999999999, are needed", (int)n, p);
        } else if ((value = after(p, n, "check="))) {
            const size_t length = n - (size_t)(value - p);
            int level = CHECK_ALL;
            while (level >= 0 && (strlen(levels[level]) != length || strncmp(value, levels[level], length) != 0))
                level--;
            if (level < 0)
                return fail(CDNAGEN_BAD_ARGUMENT, "simulator mode %.*s: the levels are off, races, all", (int)n, p);
            *check = (check_level)level;
        } else {
            return fail(CDNAGEN_BAD_ARGUMENT,
                        "simulator mode word \"%.*s\" is unknown; known: late, poison, check=LEVEL, threads=N, limit=N",
                        (int)n, p);
        }
    }
    return CDNAGEN_OK;
}

cdnagen_status sim_open_devices(const chip *const *chip_list, int count, const char *mode, const hip_table **out) {
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
    check_level check;
    unsigned threads;
    uint64_t limit;
    TRY(parse_mode(mode, &late, &poison, &check, &threads, &limit));
    TRY(machine_open(chip_list, count, late, poison, check, threads, limit));
    *out = &table;
    return CDNAGEN_OK;
}

cdnagen_status sim_open(const chip *device_chip, const char *mode, const hip_table **out) {
    return sim_open_devices(&device_chip, 1, mode, out);
}
