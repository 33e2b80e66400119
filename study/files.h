/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Files that a user named: read whole, written whole, errors that say which file and why. */
#ifndef STUDY_FILES_H
#define STUDY_FILES_H

#include "core/memory.h"
#include "core/status.h"

/* read_text_file: the file's bytes appended to *out, NUL-terminated.   errors: IO, NO_MEMORY   owner: text_free */
cdnagen_status read_text_file(const char *path, text *out);

/* write_file: `dir`/`name``suffix`; a NULL dir writes `name``suffix` itself.   errors: IO, NO_MEMORY */
cdnagen_status write_file(const char *dir, const char *name, const char *suffix, const void *data, size_t size);

#endif
