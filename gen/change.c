/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Changes of a kernel, counted one after another. */
#include "gen/change.h"

#include <string.h>

static void set_field(size_t offset, int64_t value, change *out) {
    memcpy(out->variant + offset, &value, sizeof value);
}

void change_set(const plan *p, size_t offset, int64_t value, change *out) {
    memcpy(out->variant, p->variant, sizeof out->variant);
    set_field(offset, value, out);
}

int change_is_next(int *before, const char *name, change_kind kind, lever helped, change *out) {
    if ((*before)--) return 0;
    out->name = name;
    out->kind = kind;
    out->lever = helped;
    return 1;
}

int change_is_choice(int *before, const plan *p, const choice *choices, size_t count, int mark, change *out) {
    enum { FIELDS = sizeof choices->set / sizeof choices->set[0] };
    for (const choice *c = choices; c < choices + count; c++) {
        if (c->only && c->only != mark) continue;
        memcpy(out->variant, p->variant, sizeof out->variant);
        for (int i = 0; i < FIELDS && c->set[i].offset; i++) set_field(c->set[i].offset, c->set[i].value, out);
        if (!memcmp(out->variant, p->variant, sizeof out->variant)) continue;
        if (change_is_next(before, c->name, CHANGE_CHOICE, c->lever, out)) return 1;
    }
    return 0;
}
