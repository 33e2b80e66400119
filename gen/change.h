/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Changes of a kernel, one after another, for the operators' diagnoses. */
#ifndef GEN_CHANGE_H
#define GEN_CHANGE_H

#include "gen/family.h"

/* choice: all of the work, done another way: fields of the variant, and what they become. */
typedef struct choice {
    const char *name;
    lever lever;
    int only; /* the operator's own mark of the kernels that it is for; 0: all of them */
    struct {
        size_t offset; /* of an int64_t in the variant; 0, where the MFMA is, ends the list */
        int64_t value;
    } set[3];
} choice;

/* change_set: p's own variant with one field changed.
 * change_is_next: 1, with *out but its variant set, if this change is the *before-th from here on; else it counts as
 * passed.
 * change_is_choice: the same of the choices that are for kernels of this mark and change anything; sets the variant
 * too. */
void change_set(const plan *p, size_t offset, int64_t value, change *out);
int change_is_next(int *before, const char *name, change_kind kind, lever helped, change *out);
int change_is_choice(int *before, const plan *p, const choice *choices, size_t count, int mark, change *out);

#endif
