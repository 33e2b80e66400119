/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Trust: whoever can write what the cache reads decides which code runs on the device. */
#include "cache/trust.h"

#include <stdio.h>
#include <unistd.h>

int trust_of(const struct stat *st, char why[TRUST_WHY_BYTES]) {
    const unsigned owner = (unsigned)st->st_uid, us = (unsigned)geteuid(), mode = (unsigned)st->st_mode & 07777;
    if (owner != us && owner != 0)
        snprintf(why, TRUST_WHY_BYTES, "belongs to user %u and neither to this user, %u, nor to root", owner, us);
    else if (mode & S_IWOTH)
        snprintf(why, TRUST_WHY_BYTES, "of user %u has mode %04o: every user can write to it", owner, mode);
    else
        return 1;
    return 0;
}

const char trust_advice[] = "chown it to this user or root and chmod o-w, or set CDNAGEN_CACHE_TRUST=all (trust_all of "
                            "a context) if whoever can "
                            "write there may decide which code runs";
