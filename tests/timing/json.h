/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Members of JSON objects that the command prints. */
#ifndef TESTS_TIMING_JSON_H
#define TESTS_TIMING_JSON_H

#include <jansson.h>

static inline json_int_t integer(const json_t *o, const char *key) {
    const json_t *x = json_object_get(o, key);
    if (!json_is_integer(x)) fail_msg("no integer %s", key);
    return json_integer_value(x);
}

static inline double number(const json_t *o, const char *key) {
    const json_t *x = json_object_get(o, key);
    if (!json_is_number(x)) fail_msg("no number %s", key);
    return json_number_value(x);
}

#endif
