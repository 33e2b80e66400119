/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Any text as a shape: the first character picks the grammar, '0' the example of tests/core, then the operators in
 * order. */
#include "tests/core/example_table.h"
#include "tests/fuzz/grammar_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!size) return 0;
    const field_table *table = &example_shape_table;
    for (int i = 0; families[i]; i++)
        if (data[0] == '1' + i) table = &families[i]->shape;
    check_grammar(table, shape_parse, shape_print, data + 1, size - 1);
    return 0;
}
