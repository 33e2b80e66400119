/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the kernels of mqa_logits:auto spend in their hot loops, modelled: no more than a tenth beyond the larger of
 * matrix pipe and issue. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <jansson.h>

#include "tests/cli/command.h"
#include "tests/timing/json.h"

/* The loop in which most of the time goes. */
static const json_t *hot_loop(const json_t *all) {
    const json_t *hot = NULL, *x;
    double most = 0;
    size_t i;
    json_array_foreach(json_object_get(all, "loops"), i, x) {
        const double clk = number(x, "trips") * number(x, "clk");
        if (clk <= most) continue;
        hot = x;
        most = clk;
    }
    if (!hot) fail_msg("no loop");
    return hot;
}

static void hot_loops_are_within_a_tenth_of_their_bounds(void **state) {
    (void)state;
    static const char *const chips[] = {"gfx950", "gfx942"};
    static const int heads[] = {32, 64, 128}, dims[] = {64, 128};
    for (int i = 0; i < 12; i++) {
        char line[160];
        snprintf(line, sizeof line,
                 "explain mqa_logits:auto seq=8192 seq_kv=8192 heads=%d dim=%d clean=0 --target %s --json",
                 heads[i / 2 % 3], dims[i % 2], chips[i / 6]);
        outcome o = command_good(line);
        json_t *all = json_loads(o.out, 0, NULL);
        assert_non_null(all);
        const json_t *loop = hot_loop(all);
        const double pipe = number(loop, "mfma_bound"), issue = number(loop, "issue_bound");
        const double ratio = number(loop, "simd_clk") / (pipe > issue ? pipe : issue);
        print_message("%s, %s: %.3f\n", line, json_string_value(json_object_get(all, "tag")), ratio);
        if (ratio < 1 || ratio > 1.10) /* below 1 the bound itself would be wrong */
            fail_msg("%s: %.3f", line, ratio);
        json_decref(all);
        command_free(&o);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(hot_loops_are_within_a_tenth_of_their_bounds)};
    return cmocka_run_group_tests_name("modelled routes", tests, command_setup, command_teardown);
}
