/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* libFuzzer target: a tag, a shape and a target, a line each, as cdnagen_supports takes them. What is planned has
 * canonical texts that mean the same plan; what is refused has a sentence. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/family.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_plan(const plan *p) {
    static const device_facts devices[] = {{.cus = 1, .workgroups_per_cu = 1}, {.cus = 304}};
    char tag[2 * SYMBOL_MAX];
    plan again;
    if (!*p->symbol || p->kernarg_count > PLAN_KERNARGS_MAX || p->lds_bytes > (uint32_t)p->target.chip->lds_bytes)
        abort();
    for (size_t i = 0; i < p->kernarg_count; i++)
        if (p->kernargs[i].offset + (p->kernargs[i].kind == KERNARG_I32 ? 4u : 8u) > p->kernarg_bytes) abort();
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        uint32_t grid[3];
        p->family->grid(p, &devices[i], grid);
    }
    snprintf(tag, sizeof tag, "%s:%s", p->family->name, p->tag);
    if (plan_make(tag, p->shape_text, &p->target, 0, &again)) abort();
    if (strcmp(p->symbol, again.symbol) || strcmp(p->shape_text, again.shape_text) || strcmp(p->tag, again.tag))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *const words = calloc(1, size + 1);
    if (!words) return 0;
    memcpy(words, data, size);
    char *rest = words;
    const char *const tag = strsep(&rest, "\n");
    const char *const shape = rest ? strsep(&rest, "\n") : "";
    target t;
    plan p;
    if (target_parse(rest ? rest : TARGET_STANDARD, &t) || plan_make(tag, shape, &t, 0, &p)) {
        if (!*cdnagen_error()) abort();
    } else {
        check_plan(&p);
    }
    free(words);
    return 0;
}
