/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The simulator as a provider: its HIP table, and the words of its mode. */
#include "sim/sim.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sim/hip/machine.h"

enum { LIMIT_DEFAULT = 4000 }; /* millions */

static cdnagen_status parse_mode(const char *mode, int *late, int *poison, check_level *check, unsigned *threads,
                                 uint64_t *limit) {
    static const char *const levels[] = {[CHECK_OFF] = "off", [CHECK_RACES] = "races", [CHECK_ALL] = "all"};
    *late = *poison = 0;
    *check = CHECK_OFF;
    *limit = UINT64_C(1000000) * LIMIT_DEFAULT;
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
        } else if (n > 6 && n < 16 && strncmp(p, "limit=", 6) == 0) {
            char word[16] = "";
            unsigned millions;
            memcpy(word, p + 6, n - 6);
            if (sscanf(word, "%u%c", &millions, &end) != 1 || millions == 0)
                return fail(CDNAGEN_BAD_ARGUMENT, "simulator mode limit=%s: millions of instructions, at least 1",
                            word);
            *limit = UINT64_C(1000000) * millions;
        } else if (n > 6 && strncmp(p, "check=", 6) == 0) {
            int level = CHECK_ALL;
            while (level >= 0 && (strlen(levels[level]) != n - 6 || strncmp(p + 6, levels[level], n - 6) != 0)) level--;
            if (level < 0)
                return fail(CDNAGEN_BAD_ARGUMENT, "simulator mode %.*s: the levels are off, races, all", (int)n, p);
            *check = (check_level)level;
        } else if (n) {
            return fail(CDNAGEN_BAD_ARGUMENT,
                        "simulator mode word \"%.*s\" is unknown; known: late, poison, check=LEVEL, threads=N, limit=N",
                        (int)n, p);
        }
        p += n;
        p += strspn(p, " \t");
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
