/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Rows of the chip and atom tables, and target ids. */
#include "core/chip.h"

#include <stdio.h>
#include <string.h>

const atom atoms[ATOM_COUNT] = {
    {16, 16, 32, 8, 4, "mfma_16x16x32_fp8_fp8", NULL},
    {32, 32, 16, 8, 8, "mfma_32x32x16_fp8_fp8", NULL},
    {16, 16, 128, 32, 8, "mfma_16x16x128_f8f6f4", "scaled_mfma_16x16x128_f8f6f4"},
    {32, 32, 64, 32, 16, "mfma_32x32x64_f8f6f4", "scaled_mfma_32x32x64_f8f6f4"},
};

const atom *atom_find(int m, int n, int k) {
    for (int i = 0; i < ATOM_COUNT; i++)
        if (atoms[i].m == m && atoms[i].n == n && atoms[i].k == k) return &atoms[i];
    return NULL;
}

const chip chips[CHIP_COUNT] = {
    [CHIP_GFX942] = {.name = "gfx942",
                     .product = "MI300X/MI325X",
                     .elf_mach = 0x4c,
                     .atom_mask = 0x3,
                     .lds_bytes = 65536,
                     .lds_granule = 512,
                     .lds_dma_bytes = 4,
                     .lds_read_banks = 32,
                     .vgpr_granule = 8,
                     .vgpr_per_simd = 512,
                     .agpr_per_wave = 256,
                     .simds = 4,
                     .waves_per_simd = 8,
                     .sgpr_per_simd = 800,
                     .xcds = 8,
                     .cus = 304,
                     .l2_bytes = 4 << 20,
                     .fp8 = CDNAGEN_FP8_E4M3FNUZ,
                     .has_permlane_swap = 0,
                     .long_mfma_slots = 19},
    [CHIP_GFX950] = {.name = "gfx950",
                     .product = "MI350X/MI355X",
                     .elf_mach = 0x4f,
                     .atom_mask = 0xf,
                     .lds_bytes = 163840,
                     .lds_granule = 1280,
                     .lds_dma_bytes = 16,
                     .lds_read_banks = 64,
                     .vgpr_granule = 8,
                     .vgpr_per_simd = 512,
                     .agpr_per_wave = 256,
                     .simds = 4,
                     .waves_per_simd = 8,
                     .sgpr_per_simd = 800,
                     .xcds = 8,
                     .cus = 256,
                     .l2_bytes = 4 << 20,
                     .fp8 = CDNAGEN_FP8_E4M3FN,
                     .has_permlane_swap = 1,
                     .long_mfma_slots = 20},
};

const chip *chip_find(const char *name, size_t length) {
    for (int i = 0; i < CHIP_COUNT; i++)
        if (strlen(chips[i].name) == length && !memcmp(chips[i].name, name, length)) return &chips[i];
    return NULL;
}

const chip *chip_from_mach(uint32_t elf_mach) {
    for (int i = 0; i < CHIP_COUNT; i++)
        if (chips[i].elf_mach == elf_mach) return &chips[i];
    return NULL;
}

int chip_has_atom(const chip *c, const atom *a) { return (int)(c->atom_mask >> (a - atoms) & 1); }

cdnagen_status chip_check_atom(const char *op, const chip *c, int m, int n, int k) {
    const atom *const asked = atom_find(m, n, k);
    if (asked && chip_has_atom(c, asked)) return CDNAGEN_OK;
    char list[120] = "";
    size_t used = 0;
    for (const atom *a = atoms; a < atoms + ATOM_COUNT; a++)
        if (chip_has_atom(c, a) && used < sizeof list)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%dx%dx%d", used ? ", " : "", a->m, a->n, a->k);
    return fail(CDNAGEN_LIMIT, "%s: %s has no fp8 MFMA %dx%dx%d; it has %s", op, c->name, m, n, k, list);
}

cdnagen_status chip_check_fp8(const char *op, const chip *c, const char *operand, int64_t kind) {
    if (kind != CDNAGEN_FP8_E4M3FNUZ || c->fp8 != CDNAGEN_FP8_E4M3FN) return CDNAGEN_OK;
    return fail(CDNAGEN_LIMIT, "%s: %s=e4m3fnuz cannot be read on %s: its matrix unit reads e4m3fn; quantise to e4m3fn",
                op, operand, c->name);
}

/* Canonical order: alphabetical. */
enum { SRAMECC, XNACK, FEATURE_COUNT };
static const char *const feature_names[FEATURE_COUNT] = {[SRAMECC] = "sramecc", [XNACK] = "xnack"};

static cdnagen_status parse_feature(const char *whole, const char *word, size_t length, int8_t *features) {
    for (int i = 0; i < FEATURE_COUNT; i++) {
        const size_t name = strlen(feature_names[i]);
        if (length < name || memcmp(word, feature_names[i], name)) continue;
        if (length != name + 1 || (word[name] != '+' && word[name] != '-'))
            return fail(CDNAGEN_BAD_TARGET, "target '%.80s' character %zu: '%.*s' must be %s+ or %s-", whole,
                        (size_t)(word - whole) + 1, (int)(length < 40 ? length : 40), word, feature_names[i],
                        feature_names[i]);
        if (features[i])
            return fail(CDNAGEN_BAD_TARGET, "target '%.80s' character %zu: '%.*s' gives %s twice", whole,
                        (size_t)(word - whole) + 1, (int)length, word, feature_names[i]);
        features[i] = word[name] == '+' ? 1 : -1;
        return CDNAGEN_OK;
    }
    return fail(CDNAGEN_BAD_TARGET,
                "target '%.80s' character %zu: unknown feature '%.*s'; known: sramecc+, sramecc-, xnack+, xnack-",
                whole, (size_t)(word - whole) + 1, (int)(length < 40 ? length : 40), word);
}

cdnagen_status target_parse(const char *words, target *out) {
    if (!words) return fail(CDNAGEN_BAD_ARGUMENT, "the target is NULL: give a processor such as \"gfx950\"");
    const size_t name = strcspn(words, ":");
    target t = {.chip = chip_find(words, name)};
    if (!t.chip) {
        char known[64] = "";
        for (int i = 0; i < CHIP_COUNT; i++) {
            const size_t used = strlen(known);
            snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", chips[i].name);
        }
        return fail(CDNAGEN_BAD_TARGET, "target '%.80s' character 1: unknown processor '%.*s'; known: %s", words,
                    (int)(name < 40 ? name : 40), words, known);
    }
    int8_t features[FEATURE_COUNT] = {0};
    for (const char *at = words + name; *at;) {
        const char *word = at + 1;
        const size_t length = strcspn(word, ":");
        TRY(parse_feature(words, word, length, features));
        at = word + length;
    }
    t.sramecc = features[SRAMECC];
    t.xnack = features[XNACK];
    size_t used = (size_t)snprintf(t.text, sizeof t.text, "%s", t.chip->name);
    for (int i = 0; i < FEATURE_COUNT; i++)
        if (features[i])
            used += (size_t)snprintf(t.text + used, sizeof t.text - used, ":%s%c", feature_names[i],
                                     features[i] > 0 ? '+' : '-');
    *out = t;
    return CDNAGEN_OK;
}
