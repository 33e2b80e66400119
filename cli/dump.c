/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* --dump ir,isa,obj=DIR: what a kernel is made of, as files named by its symbol. */
#include <string.h>

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

/* parse_kinds: the words before '=', as bits by dump_kind. */
static cdnagen_status parse_kinds(const char *dump, unsigned *kinds_given) {
    *kinds_given = 0;
    for (const char *word = dump, *end;; word = end + 1) {
        end = word + strcspn(word, ",=");
        const size_t length = (size_t)(end - word);
        int kind = 0;
        while (kind < DUMP_KINDS && (strlen(kinds[kind].name) != length || strncmp(kinds[kind].name, word, length)))
            kind++;
        if (kind == DUMP_KINDS)
            return fail(CDNAGEN_BAD_ARGUMENT, "--dump: \"%.*s\" is not one of ir, isa, obj", (int)length, word);
        *kinds_given |= 1u << kind;
        if (*end != ',') return CDNAGEN_OK;
    }
}

cdnagen_status dump_write(const char *dump, cdnagen_kernel *kernel, const cdnagen_kernel_info *info, int quiet) {
    const char *equals = strchr(dump, '=');
    if (!equals || !equals[1])
        return fail(CDNAGEN_BAD_ARGUMENT, "--dump %s names no directory: write --dump ir,isa,obj=DIR", dump);
    const char *dir = equals + 1;
    unsigned given;
    TRY(parse_kinds(dump, &given));
    TRY(make_folder(dir));
    for (dump_kind kind = 0; kind < DUMP_KINDS; kind++) {
        if (!(given >> kind & 1)) continue;
        TRY(write_kind(kind, dir, kernel, info));
        if (!quiet) printf("dump         %s/%s%s\n", dir, info->symbol, kinds[kind].suffix);
    }
    return CDNAGEN_OK;
}
