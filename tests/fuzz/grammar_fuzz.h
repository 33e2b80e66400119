/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the tag and shape targets share: the choice of a grammar, and the property that every input must satisfy. */
#ifndef TESTS_FUZZ_GRAMMAR_FUZZ_H
#define TESTS_FUZZ_GRAMMAR_FUZZ_H

#include <stdlib.h>
#include <string.h>

#include "gen/family.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef cdnagen_status parser(const field_table *table, const char *words, void *out);
typedef void printer(const field_table *table, const void *s, unsigned uses, text *out);

/* What parses passes the check, prints, and parses back to the same struct and text; what does not has a sentence. */
static inline void check_grammar(const field_table *table, parser *parse, printer *print, const uint8_t *data,
                                 size_t size) {
    const unsigned all = 7;
    char *words = calloc(1, size + 1);
    _Alignas(16) unsigned char first[VARIANT_BYTES_MAX], second[VARIANT_BYTES_MAX];
    memcpy(words, data, size);
    if (parse(table, words, first) != CDNAGEN_OK) {
        if (!*cdnagen_error()) abort();
        free(words);
        return;
    }
    text once = {0}, again = {0};
    if (fields_check(table, first)) abort();
    print(table, first, all, &once);
    if (parse(table, once.data ? once.data : "", second)) abort();
    if (memcmp(first, second, table->struct_bytes)) abort();
    print(table, second, all, &again);
    if (once.length != again.length) abort();
    if (once.length && memcmp(once.data, again.data, once.length)) abort();
    text_free(&once);
    text_free(&again);
    free(words);
}

#endif
