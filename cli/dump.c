/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* --dump ir,isa,obj=DIR: what a kernel is made of, as files named by its symbol. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "study/files.h"

typedef enum dump_kind { DUMP_IR, DUMP_ISA, DUMP_OBJECT, DUMP_KINDS } dump_kind;
static const struct {
    const char *name, *suffix;
} kinds[DUMP_KINDS] = {{"ir", ".ll"}, {"isa", ".s"}, {"obj", ".co"}};

static cdnagen_status write_kind(dump_kind kind, const char *dir, cdnagen_kernel *kernel,
                                 const cdnagen_kernel_info *info) {
    if (kind == DUMP_OBJECT) return write_file(dir, info->symbol, kinds[kind].suffix, info->object, info->object_bytes);
    const char *listing;
    TRY(cdnagen_get_kernel_text(kernel, kind == DUMP_IR ? CDNAGEN_TEXT_IR : CDNAGEN_TEXT_ISA, &listing));
    return write_file(dir, info->symbol, kinds[kind].suffix, listing, strlen(listing));
}

cdnagen_status dump_write(const char *dump, cdnagen_kernel *kernel, const cdnagen_kernel_info *info, int quiet) {
    const char *equals = strchr(dump, '=');
    if (!equals || !equals[1])
        return fail(CDNAGEN_BAD_ARGUMENT, "--dump %s names no directory: write --dump ir,isa,obj=DIR", dump);
    const char *dir = equals + 1;
    if (mkdir(dir, 0777) && errno != EEXIST)
        return fail(CDNAGEN_IO, "cannot create directory %s: %s", dir, strerror(errno));
    for (const char *word = dump; word < equals;) {
        const size_t length = strcspn(word, ",=");
        int kind = 0;
        while (kind < DUMP_KINDS && (strlen(kinds[kind].name) != length || strncmp(kinds[kind].name, word, length)))
            kind++;
        if (kind == DUMP_KINDS)
            return fail(CDNAGEN_BAD_ARGUMENT, "--dump: \"%.*s\" is not one of ir, isa, obj", (int)length, word);
        TRY(write_kind((dump_kind)kind, dir, kernel, info));
        if (!quiet) printf("dump         %s/%s%s\n", dir, info->symbol, kinds[kind].suffix);
        word += length + 1;
    }
    return CDNAGEN_OK;
}
