/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Names and texts of HIP's errors. */
#include "sim/hip/machine.h"

static const struct {
    hip_error error;
    const char *name, *text;
} errors[] = {
#define ERROR(number, name, text) {number, #name, text},
#include "sim/hip/errors.def"
#undef ERROR
};

const char *sim_get_error_name(hip_error error) {
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].error == error) return errors[i].name;
    return "hipErrorUnknown";
}
const char *sim_get_error_string(hip_error error) {
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].error == error) return errors[i].text;
    return "unknown error";
}
