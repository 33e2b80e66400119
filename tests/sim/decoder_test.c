/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The decoder on bytes that are no code. What the fuzz target found stands here by word; the rest is a walk over the
 * first halves of all instructions. */
#include "tests/core/cmocka_tests.h"

#include <string.h>

#include "core/random.h"
#include "sim/isa.h"

enum { REGISTERS = 512, ACCUM_OFFSET = 256 };

static void decode(const chip *c, const uint32_t *words, size_t count, program *out) {
    assert_int_equal(
        program_decode(c, (const unsigned char *)words, count * sizeof *words, 0, ACCUM_OFFSET, REGISTERS, out),
        CDNAGEN_OK);
}

static void words_that_are_no_instruction(void **state) {
    (void)state;
    static const struct {
        const char *what;
        uint32_t words[4];
        size_t count;
    } cases[] = {
        {"a literal past the end", {0x000000ff}, 1},
        {"a scalar compare's literal past the end", {0xbf0000ff}, 1},
        {"the first word of two", {0xd1c10000}, 1},
        {"VOP3, src0 a literal", {0xd1c10000, 0x000000ff, 0, 0}, 4},
        {"VOP3, src2 a literal", {0xd1c10000, 0x03fc0000, 0, 0}, 4},
        {"VOP3, a compare into a literal", {0xd06891ff, 0x03ea541c, 0, 0}, 4},
        {"VOP3, v_readlane_b32 into a literal", {0xd28900ff, 0x00000101, 0, 0}, 4},
        {"v_readfirstlane_b32 into a literal", {0x7ffe0501, 0, 0, 0}, 4},
        {"MUBUF, soffset a literal", {0xe0700040, 0xff10b07c, 0x0068922e, 0x10000000}, 4},
        {"v_madmk_f16 with 0xff", {0x49ff05a5, 0x000000ff, 0, 0}, 4},
        {"v_madak_f16 with 0xff", {0x4a4a4a4a, 0x000000ff, 0, 0}, 4},
        {"SDWA, dst_sel 7", {0x06cc30f9, 0x0406e753, 0, 0}, 4},
        {"SDWA, src0_sel 7", {0x04aaeaf9, 0x0407035d, 0, 0}, 4},
        {"SDWA, src1_sel 7", {0x07586ef9, 0x07061fca, 0, 0}, 4},
        {"v_mfma_f32_32x32x64_f8f6f4 of a constant", {0xd3ae0200, 0x040202f1, 0, 0}, 4},
        {"the same with scales", {0xd3ac0000, 0, 0xd3ae0200, 0x040202f1}, 4},
    };
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        program p;
        decode(&chips[i % 2], cases[i / 2].words, cases[i / 2].count, &p);
        if (p.code[0].run || strcmp(p.code[0].text, "(not an instruction)") != 0)
            fail_msg("%s on %s: %s", cases[i / 2].what, chips[i % 2].name, p.code[0].text);
        program_free(&p);
    }
}

/* A compare's SDWA form has no dst_sel: those bits name its result. */
static void neighbours_of_those_are_instructions(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint32_t words[4];
    } cases[] = {
        {"v_add_u32_sdwa", {0x680202f9, 0x06060601, 0, 0}},
        {"v_cmp_eq_u32_sdwa s[14:15]", {0x7d9402f9, 0x06068e01, 0, 0}},
        {"v_mov_b32_e32 v0, 0x12345", {0x7e0002ff, 0x12345, 0, 0}},
        {"v_readfirstlane_b32 s5", {0x7e0a0501, 0, 0, 0}},
        {"buffer_load_dword v1", {0xe0500000, 0x80000100, 0, 0}},
    };
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        program p;
        decode(&chips[i % 2], cases[i / 2].words, 4, &p);
        if (!p.code[0].run || strncmp(p.code[0].text, cases[i / 2].text, strlen(cases[i / 2].text)) != 0)
            fail_msg("%s on %s: %s", cases[i / 2].text, chips[i % 2].name, p.code[0].text);
        program_free(&p);
    }
}

static void any_first_half_with_any_rest(void **state) {
    (void)state;
    enum { TOPS = 1 << 16, WORDS = 4 };
    static uint32_t words[TOPS * WORDS];
    uint64_t seed = 1;
    for (uint32_t top = 0; top < TOPS; top++) {
        uint32_t *const w = words + (size_t)top * WORDS;
        for (int i = 0; i < WORDS; i++) w[i] = (uint32_t)random64(&seed);
        w[0] = top << 16 | (w[0] & 0xffff);
        const uint64_t any = random64(&seed);
        if (any & 1) w[0] |= 0xff;
        if (any & 2) w[1] |= 0xffu << (any >> 8 & 3) * 8;
        if ((any & 0xc) == 0xc) w[0] = (w[0] & ~0x1ffu) | 0xf9; /* SDWA */
    }
    for (int c = 0; c < CHIP_COUNT; c++) {
        program p;
        size_t runs = 0;
        decode(&chips[c], words, TOPS * WORDS, &p);
        for (size_t i = 0; i < p.count; i++) runs += p.code[i].run != NULL;
        assert_in_range(runs, TOPS / 8, TOPS * WORDS - TOPS / 8);
        program_free(&p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_that_are_no_instruction),
        cmocka_unit_test(neighbours_of_those_are_instructions),
        cmocka_unit_test(any_first_half_with_any_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
