/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* core/chip.c: the tables' own consistency, and target ids. */
#include "tests/core/cmocka_tests.h"

#include <string.h>

#include "core/chip.h"

static void chips_are_found_by_name_and_mach(void **state) {
    (void)state;
    assert_ptr_equal(chip_find("gfx942:xnack-", 6), &chips[0]);
    assert_ptr_equal(chip_find("gfx950", 6), &chips[1]);
    assert_null(chip_find("gfx95", 5));
    assert_null(chip_find("gfx9500", 7));
    assert_null(chip_find("", 0));
    assert_ptr_equal(chip_from_mach(0x4c), &chips[0]); /* EF_AMDGPU_MACH_AMDGCN_GFX942 */
    assert_ptr_equal(chip_from_mach(0x4f), &chips[1]); /* EF_AMDGPU_MACH_AMDGCN_GFX950 */
    assert_null(chip_from_mach(0x3f));
}

static void atoms_are_consistent(void **state) {
    (void)state;
    for (const atom *a = atoms; a < atoms + ATOM_COUNT; a++) {
        assert_ptr_equal(atom_find(a->m, a->n, a->k), a);
        assert_int_equal(a->m * a->k, a->fragment_bytes * LANES);
        assert_true(chip_has_atom(&chips[1], a));
        assert_int_equal(chip_has_atom(&chips[0], a), a->k <= 32);
        assert_int_equal(chip_has_atom(&chips[0], a), !a->scaled);
        assert_int_equal(ATOM_PRODUCTS_MAX / atom_products(a), chip_has_atom(&chips[0], a) ? 2 : 1);
    }
    assert_null(atom_find(32, 32, 32));
}

static const struct good_target {
    const char *words, *canonical;
    int sramecc, xnack;
} good_targets[] = {
    {"gfx950", "gfx950", 0, 0},
    {"gfx942:xnack-", "gfx942:xnack-", 0, -1},
    {"gfx942:xnack-:sramecc+", "gfx942:sramecc+:xnack-", 1, -1},
    {"gfx950:sramecc-:xnack+", "gfx950:sramecc-:xnack+", -1, 1},
};

static void targets_parse_to_canonical_text(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof good_targets / sizeof *good_targets; i++) {
        const struct good_target *g = &good_targets[i];
        target t, again;
        assert_int_equal(target_parse(g->words, &t), CDNAGEN_OK);
        assert_string_equal(t.text, g->canonical);
        assert_int_equal(t.sramecc, g->sramecc);
        assert_int_equal(t.xnack, g->xnack);
        assert_int_equal(target_parse(t.text, &again), CDNAGEN_OK);
        assert_memory_equal(&again, &t, sizeof t);
    }
}

static const struct bad_target {
    const char *words, *says[3];
} bad_targets[] = {
    {"gfx90a", {"unknown processor 'gfx90a'", "gfx942, gfx950"}},
    {"", {"unknown processor ''", "gfx942, gfx950"}},
    {"gfx950:", {"character 8: unknown feature ''", "sramecc+, sramecc-, xnack+, xnack-"}},
    {"gfx950:tgsplit+", {"character 8: unknown feature 'tgsplit+'", "sramecc+"}},
    {"gfx950:xnack", {"character 8: 'xnack' must be xnack+ or xnack-"}},
    {"gfx950:xnack*", {"'xnack*' must be xnack+ or xnack-"}},
    {"gfx950:xnack+:sramecc", {"character 15: 'sramecc' must be sramecc+ or sramecc-"}},
    {"gfx950:xnack+:xnack-", {"character 15: 'xnack-' gives xnack twice"}},
    {"gfx950:xnack+:", {"character 15: unknown feature ''"}},
    {"GFX950", {"unknown processor 'GFX950'"}},
    {" gfx950", {"unknown processor ' gfx950'"}},
};

static void bad_targets_are_explained_and_change_nothing(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof bad_targets / sizeof *bad_targets; i++) {
        target t, before;
        memset(&t, 7, sizeof t);
        memset(&before, 7, sizeof before);
        assert_int_equal(target_parse(bad_targets[i].words, &t), CDNAGEN_BAD_TARGET);
        assert_memory_equal(&t, &before, sizeof t);
        for (int j = 0; j < 3 && bad_targets[i].says[j]; j++)
            if (!strstr(cdnagen_error(), bad_targets[i].says[j]))
                fail_msg("'%s' does not say '%s'", cdnagen_error(), bad_targets[i].says[j]);
    }
    target t;
    assert_int_equal(target_parse(NULL, &t), CDNAGEN_BAD_ARGUMENT);
}

static void chips_hold_the_published_facts(void **state) {
    (void)state;
    const chip *a = &chips[0], *b = &chips[1];
    assert_int_equal(a->lds_bytes, 64 * 1024);
    assert_int_equal(b->lds_bytes, 160 * 1024);
    assert_int_equal(b->lds_bytes % b->lds_granule, 0);
    assert_int_equal(a->fp8, CDNAGEN_FP8_E4M3FNUZ);
    assert_int_equal(b->fp8, CDNAGEN_FP8_E4M3FN);
    assert_int_equal(a->cus, 304);
    assert_int_equal(b->cus, 256);
    assert_int_equal(a->lds_dma_bytes, 4);
    assert_int_equal(b->lds_dma_bytes, 16);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chips_are_found_by_name_and_mach),
        cmocka_unit_test(atoms_are_consistent),
        cmocka_unit_test(targets_parse_to_canonical_text),
        cmocka_unit_test(bad_targets_are_explained_and_change_nothing),
        cmocka_unit_test(chips_hold_the_published_facts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
