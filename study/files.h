/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Files that a user named: read whole, written whole, errors that say which file and why. */
#ifndef STUDY_FILES_H
#define STUDY_FILES_H

#include "core/memory.h"
#include "core/status.h"

/* read_text_file: the file's bytes appended to *out, NUL-terminated.   errors: IO, NO_MEMORY   owner: text_free */
cdnagen_status read_text_file(const char *path, text *out);

/* make_folder: `dir`, where it is missing; its parents must exist.   errors: IO */
cdnagen_status make_folder(const char *dir);

/* write_file: `dir`/`name``suffix`; a NULL dir writes `name``suffix` itself. A regular file is
 * replaced at once when all of it is written, and is left as it was on failure.   errors: IO, NO_MEMORY */
cdnagen_status write_file(const char *dir, const char *name, const char *suffix, const void *data, size_t size);

#endif
