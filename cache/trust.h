/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Trust: whoever can write what the cache reads decides which code runs on the device. */
#ifndef CACHE_TRUST_H
#define CACHE_TRUST_H

#include <sys/stat.h>

enum { TRUST_WHY_BYTES = 256 };

/* trust_of: 1 if only this user, root and the group that its owner lets in can write it; else 0 and why not. */
int trust_of(const struct stat *st, char why[TRUST_WHY_BYTES]);

/* trust_open: open(path, flags) of what passes trust_of, on a way that no other user can turn: no folder that a name of
 * the path, or of a symbolic link on it, is looked up in lets every user exchange that name, and none that is sticky
 * has it from another user. Who owns those folders, or is in their group, is trusted.
 * trust_all: of anything   errors: -1 with errno; EPERM: *why, which else stays as it is, says what cannot be
 * trusted */
int trust_open(const char *path, int flags, int trust_all, char why[TRUST_WHY_BYTES]);

/* trust_advice: what its user can do about it, one clause. */
extern const char trust_advice[];

#endif
