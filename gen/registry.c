/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The operators of families.def, by name. */
#include "gen/family.h"

#include <string.h>

#define CDNAGEN_FAMILY(name) extern const family name##_family;
#include "gen/families.def"
#undef CDNAGEN_FAMILY

const family *const families[] = {
#define CDNAGEN_FAMILY(name) &name##_family,
#include "gen/families.def"
#undef CDNAGEN_FAMILY
    NULL};

const family *family_find(const char *name, size_t length) {
    for (const family *const *f = families; *f; f++)
        if (strlen((*f)->name) == length && !memcmp((*f)->name, name, length)) return *f;
    return NULL;
}
