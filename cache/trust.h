/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Trust: whoever can write what the cache reads decides which code runs on the device. */
#ifndef CACHE_TRUST_H
#define CACHE_TRUST_H

#include <sys/stat.h>

enum { TRUST_WHY_BYTES = 128 };

/* trust_of: 1 if only this user, root and the group that its owner lets in can write it; else 0 and why not. */
int trust_of(const struct stat *st, char why[TRUST_WHY_BYTES]);

/* trust_advice: what its user can do about it, one clause. */
extern const char trust_advice[];

#endif
