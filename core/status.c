/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The calling thread's last error: a record of fixed size, so that reporting a failure never allocates. */
#include "core/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char sentence[SENTENCE_BYTES];

static const struct status_name {
    cdnagen_status status;
    const char *name;
} status_names[] = {
#define NAME(status) {status, #status}
    NAME(CDNAGEN_OK),         NAME(CDNAGEN_BAD_ARGUMENT), NAME(CDNAGEN_BAD_TAG),   NAME(CDNAGEN_BAD_SHAPE),
    NAME(CDNAGEN_BAD_TARGET), NAME(CDNAGEN_LIMIT),        NAME(CDNAGEN_NOT_YET),   NAME(CDNAGEN_SPILLS),
    NAME(CDNAGEN_BAD_OBJECT), NAME(CDNAGEN_NO_MEMORY),    NAME(CDNAGEN_NO_HIP),    NAME(CDNAGEN_NO_DEVICE),
    NAME(CDNAGEN_HIP),        NAME(CDNAGEN_FAULT),        NAME(CDNAGEN_IO),        NAME(CDNAGEN_COMPILE),
    NAME(CDNAGEN_CACHE_MISS), NAME(CDNAGEN_UNAVAILABLE),  NAME(CDNAGEN_CAPTURING),
#undef NAME
};

const char *cdnagen_status_name(cdnagen_status status) {
    for (size_t i = 0; i < sizeof status_names / sizeof *status_names; i++)
        if (status_names[i].status == status) return status_names[i].name;
    return "unknown status";
}

const char *cdnagen_error(void) { return sentence; }

cdnagen_status fail(cdnagen_status status, const char *format, ...) {
    /* A second buffer, because an argument may be cdnagen_error() itself. */
    char next[SENTENCE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(next, sizeof next, format, arguments);
    va_end(arguments);
    if (length < 0) next[0] = 0;
    if (length >= (int)sizeof next) memcpy(next + sizeof next - 4, "...", 4);
    /* One line for logs and terminals, whatever text a user handed in. */
    for (char *c = next; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f) *c = ' ';
    memcpy(sentence, next, strlen(next) + 1);
    return status;
}

cdnagen_status fail_no_memory(void) {
    static const char words[] = "host memory ran out: free some and call again";
    memcpy(sentence, words, sizeof words);
    return CDNAGEN_NO_MEMORY;
}
