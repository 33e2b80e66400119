/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Wait states that software must keep: a table of rules, and the distance between the instructions that they name. A
 * slot is one instruction, s_nop N is N+1 of them; an instruction's own duration is not counted, as the compiler does
 * not either.
 * source: AMD CDNA3 ISA guide, "Manually Inserted Wait States (NOPs)"; what LLVM 22 inserts for gfx942 and gfx950
 *         (llc -run-pass post-RA-hazard-rec), which has also what the guides leave out */
#include <string.h>

#include "sim/check_state.h"

typedef enum conflict {
    RESULT_READ,      /* the second reads what the first wrote */
    RESULT_WRITTEN,   /* the second writes it again */
    C_OVERWRITTEN,    /* the second writes the first's accumulator input */
    DATA_OVERWRITTEN, /* the second writes the data that the first stores */
    MODE_ORDER        /* s_setreg and s_getreg of one hardware register */
} conflict;

typedef enum place {
    IN_VGPR,
    IN_VGPR_AB,      /* not as accumulator */
    IN_VGPR_C_SAME,  /* as accumulator, the very registers */
    IN_VGPR_C_OTHER, /* as accumulator, overlapping */
    IN_SGPR,
    IN_LANE_SELECT,
    IN_VCC,
    IN_EXEC,
    IN_M0,
    ANYWHERE
} place;

typedef struct slot_rule {
    uint32_t first, second; /* any of these classes */
    conflict conflict;
    place place;
    uint8_t slots[CHIP_COUNT][4]; /* in the chip table's order; by the first's passes 2, 4, 8, 16 */
    const char *what, *source;
} slot_rule;

#define BOTH(n)                                                                                                        \
    {                                                                                                                  \
        {n, n, n, n}, { n, n, n, n }                                                                                   \
    }
#define BY_PASSES(a, b, c, d, e, f, g, h)                                                                              \
    {                                                                                                                  \
        {a, b, c, d}, { e, f, g, h }                                                                                   \
    }
#define GUIDE "CDNA3 ISA guide, manually inserted wait states"
#define LLVM "LLVM 22 hazard recognizer"
#define IS_MEMORY (IS_VMEM | IS_LDS)

static const slot_rule rules[] = {
    {IS_VALU, IS_VMEM, RESULT_READ, IN_SGPR, BOTH(5), "VALU writes an SGPR that vector memory reads", GUIDE},
    {IS_VALU, IS_VALU, RESULT_READ, IN_SGPR, BOTH(2), "VALU writes an SGPR or VCC that VALU reads", GUIDE},
    {IS_VALU, IS_READLANE | IS_WRITELANE, RESULT_READ, IN_LANE_SELECT, BOTH(4),
     "VALU writes the SGPR that selects the lane", GUIDE},
    {IS_VALU, IS_DIV_FMAS, RESULT_READ, IN_VCC, BOTH(4), "VALU writes VCC, v_div_fmas reads it", GUIDE},
    {IS_VALU, IS_DPP, RESULT_READ, IN_EXEC, BOTH(5), "VALU writes EXEC before a DPP instruction", GUIDE},
    {IS_VALU, IS_READLANE | IS_WRITELANE, RESULT_READ, IN_EXEC, BOTH(4),
     "VALU writes EXEC before v_readlane, v_readfirstlane or v_writelane", GUIDE},
    {IS_VALU, IS_MATRIX, RESULT_READ, IN_EXEC, BOTH(4), "VALU writes EXEC before a matrix instruction", GUIDE},
    {IS_VALU, IS_DPP, RESULT_READ, IN_VGPR, BOTH(2), "VALU writes a VGPR that DPP reads", GUIDE},
    {IS_VALU, IS_READLANE, RESULT_READ, IN_VGPR, BOTH(1), "VALU writes a VGPR that v_readlane reads", GUIDE},
    {IS_VALU, IS_PERMLANE, RESULT_READ, IN_VGPR, BOTH(2), "VALU writes a VGPR that a permlane swap reads", LLVM},
    {IS_TRANS, IS_PLAIN, RESULT_READ, IN_VGPR, BOTH(1),
     "a transcendental instruction writes a VGPR that another kind of VALU instruction reads", GUIDE},
    {IS_PARTIAL, IS_VALU, RESULT_READ, IN_VGPR, BOTH(1), "VALU writes a part of a VGPR that VALU reads", GUIDE},
    {IS_DOT, IS_VALU | IS_MEMORY, RESULT_READ, IN_VGPR_AB, BOTH(3), "a dot instruction writes a VGPR that is read",
     GUIDE},
    {IS_DOT, IS_VALU, RESULT_WRITTEN, IN_VGPR, BOTH(3), "a dot instruction writes a VGPR that VALU writes too", GUIDE},
    {IS_WIDE_STORE, IS_VALU, DATA_OVERWRITTEN, IN_VGPR, BOTH(2),
     "VALU writes the data of a vector memory store of more than 8 bytes a lane", GUIDE},
    {IS_SALU, IS_LDS_DMA, RESULT_READ, IN_M0, BOTH(1), "SALU writes M0, an LDS DMA reads it", GUIDE},
    {IS_SETREG, IS_SETREG | IS_GETREG, MODE_ORDER, ANYWHERE, BOTH(2),
     "s_setreg before s_setreg or s_getreg of the same hardware register", GUIDE},
    {IS_VALU, IS_MATRIX, RESULT_READ, IN_VGPR, BOTH(2), "VALU writes a VGPR that a matrix instruction reads", GUIDE},

    {IS_XDL, IS_VALU | IS_MEMORY, RESULT_READ, IN_VGPR, BY_PASSES(5, 7, 11, 19, 5, 8, 12, 20),
     "a matrix instruction writes a VGPR that VALU, vector memory or LDS reads", GUIDE},
    {IS_XDL, IS_VALU | IS_MEMORY, RESULT_WRITTEN, IN_VGPR, BY_PASSES(5, 7, 11, 19, 5, 8, 12, 20),
     "a matrix instruction writes a VGPR that another kind of instruction writes too", GUIDE},
    {IS_XDL, IS_VALU | IS_MEMORY, C_OVERWRITTEN, IN_VGPR, BY_PASSES(1, 3, 7, 15, 1, 3, 7, 15),
     "a matrix instruction reads C, another kind of instruction writes it", GUIDE},
    {IS_XDL, IS_MATRIX, RESULT_READ, IN_VGPR_AB, BY_PASSES(5, 7, 11, 19, 5, 8, 12, 20),
     "a matrix instruction writes a VGPR that another reads as A or B", GUIDE},
    {IS_XDL, IS_MATRIX, RESULT_READ, IN_VGPR_C_SAME, BY_PASSES(2, 0, 0, 0, 2, 0, 0, 0),
     "a matrix instruction writes a VGPR that another reads as C", GUIDE},
    {IS_XDL, IS_MATRIX, RESULT_READ, IN_VGPR_C_OTHER, BY_PASSES(3, 5, 9, 17, 4, 6, 10, 18),
     "a matrix instruction writes VGPRs that overlap another's C", GUIDE},

    {IS_SGEMM, IS_VALU | IS_MEMORY, RESULT_READ, IN_VGPR, BY_PASSES(4, 6, 10, 18, 4, 6, 10, 18),
     "an f32 matrix instruction writes a VGPR that VALU, vector memory or LDS reads", GUIDE},
    {IS_SGEMM, IS_VALU | IS_MEMORY, RESULT_WRITTEN, IN_VGPR, BY_PASSES(4, 6, 10, 18, 4, 6, 10, 18),
     "an f32 matrix instruction writes a VGPR that another kind of instruction writes too", GUIDE},
    {IS_SGEMM, IS_MATRIX, RESULT_READ, IN_VGPR_AB, BY_PASSES(4, 6, 10, 18, 4, 6, 10, 18),
     "an f32 matrix instruction writes a VGPR that another reads as A or B", GUIDE},
    {IS_SGEMM, IS_MATRIX, RESULT_READ, IN_VGPR_C_SAME, BY_PASSES(2, 0, 0, 0, 2, 0, 0, 0),
     "an f32 matrix instruction writes a VGPR that another reads as C", GUIDE},
    {IS_SGEMM, IS_SGEMM | IS_DGEMM, RESULT_READ, IN_VGPR_C_OTHER, BY_PASSES(2, 4, 8, 16, 2, 4, 8, 16),
     "an f32 matrix instruction writes VGPRs that overlap another's C", GUIDE},

    /* f64: 4x4x4 in the column of 4 passes, 16x16x4 in that of 8 */
    {IS_DGEMM, IS_VALU, RESULT_READ, IN_VGPR, BY_PASSES(0, 6, 11, 0, 0, 6, 19, 0),
     "an f64 matrix instruction writes a VGPR that VALU reads", LLVM},
    {IS_DGEMM, IS_MEMORY, RESULT_READ, IN_VGPR, BY_PASSES(0, 9, 18, 0, 0, 9, 18, 0),
     "an f64 matrix instruction writes a VGPR that vector memory or LDS reads", LLVM},
    {IS_DGEMM, IS_VALU | IS_MEMORY, RESULT_WRITTEN, IN_VGPR, BY_PASSES(0, 6, 11, 0, 0, 6, 11, 0),
     "an f64 matrix instruction writes a VGPR that another kind of instruction writes too", LLVM},
    {IS_DGEMM, IS_MATRIX, RESULT_READ, IN_VGPR_AB, BY_PASSES(0, 6, 11, 0, 0, 6, 19, 0),
     "an f64 matrix instruction writes a VGPR that another reads as A or B", LLVM},
    {IS_DGEMM, IS_DGEMM, RESULT_READ, IN_VGPR_C_SAME, BY_PASSES(0, 4, 0, 0, 0, 4, 0, 0),
     "an f64 4x4x4 matrix instruction writes a VGPR that another reads as C", LLVM},
    {IS_DGEMM, IS_SGEMM | IS_DGEMM, RESULT_READ, IN_VGPR_C_OTHER, BY_PASSES(0, 4, 9, 0, 0, 4, 17, 0),
     "an f64 matrix instruction writes VGPRs that overlap another's C", LLVM},
    {IS_DGEMM, IS_FMA64, MODE_ORDER, ANYWHERE, BOTH(2), "an f64 matrix instruction before v_fma_f64", LLVM},
};
enum { RULES = sizeof rules / sizeof *rules, REACH = 20 };
_Static_assert(RULES <= 64, "rules are bits of a word");

uint64_t check_slots_of(const inst_uses *u, int second) {
    uint64_t bits = 0;
    for (int i = 0; i < RULES; i++)
        if (u->classes & (second ? rules[i].second : rules[i].first)) bits |= 1ull << i;
    return bits;
}

static const inst_uses *uses_at(const wave *w, uint32_t index) { return &w->group->launch->check->uses[index]; }

static unsigned needed(const wave *w, const slot_rule *r, const inst_uses *first) {
    const int column = first->passes == 16 ? 3 : first->passes == 8 ? 2 : first->passes == 4 ? 1 : 0;
    return r->slots[chip_index(w->program->chip)][column];
}

/* Whether the second instruction's use is of the kind that the rule means. */
static int fits(place p, const use *x, const inst_uses *first) {
    const use *d = &first->write[0];
    switch (p) {
    case IN_VGPR: return !x->scalar;
    case IN_VGPR_AB: return !x->scalar && x->role != USE_C;
    case IN_VGPR_C_SAME: return !x->scalar && x->role == USE_C && x->first == d->first && x->count == d->count;
    case IN_VGPR_C_OTHER: return !x->scalar && x->role == USE_C && (x->first != d->first || x->count != d->count);
    case IN_SGPR: return x->scalar;
    case IN_LANE_SELECT: return x->role == USE_LANE_SELECT;
    case IN_VCC: return x->scalar && x->first == SGPR_VCC;
    case IN_M0: return x->scalar && x->first == SGPR_M0;
    case IN_EXEC:
    case ANYWHERE: break;
    }
    return 0;
}

static void report(wave *w, const slot_rule *r, const slot_record *first, const char *name, unsigned need) {
    const inst *in = &w->program->code[first->inst];
    const unsigned have = w->check->slot - first->slot;
    wave_fault(w, -1,
               "missing wait states: %s%s%s: \"%s\" at .text+0x%x, then %u of the %u slots that must lie between "
               "(%s); right is s_nop %u more before this instruction",
               r->what, name ? ": " : "", name ? name : "", in->text, in->address, have, need, r->source,
               need - have - 1);
}

static void match(wave *w, const inst *in, const slot_record *first, const inst_uses *u, conflict how, const use *x,
                  int index) {
    if (w->check->slot - first->slot >= REACH || check_stopped(w)) return;
    const inst_uses *producer = uses_at(w, first->inst);
    for (uint64_t left = producer->produces & u->consumes; left; left &= left - 1) {
        const slot_rule *r = &rules[__builtin_ctzll(left)];
        if (r->conflict != how || !fits(r->place, x, producer)) continue;
        /* Dot instructions of one kind accumulate one after the other. */
        if (r->first == IS_DOT && how == RESULT_WRITTEN && w->program->code[first->inst].row == in->row) continue;
        const unsigned need = needed(w, r, producer);
        if (w->check->slot - first->slot >= need) continue;
        report(w, r, first, check_register(w, x->scalar, index).text, need);
        return;
    }
}

/* Rules of EXEC and of the hardware registers, which no operand shows. */
static void match_implicit(wave *w, const inst *in, const slot_record *first, const inst_uses *u, place p,
                           conflict how) {
    if (w->check->slot - first->slot >= REACH || check_stopped(w)) return;
    const inst *before = &w->program->code[first->inst];
    for (uint64_t left = uses_at(w, first->inst)->produces & u->consumes; left; left &= left - 1) {
        const slot_rule *r = &rules[__builtin_ctzll(left)];
        if (r->place != p || r->conflict != how || w->check->slot - first->slot >= r->slots[0][0]) continue;
        if (r->first == IS_SETREG && before->hwreg != in->hwreg) continue;
        report(w, r, first, NULL, r->slots[0][0]);
        return;
    }
}

void check_slots_step(wave *w, const inst *in, const inst_uses *u) {
    struct check_wave *c = w->check;
    const slot_record now = {.inst = (uint32_t)(w->current - w->program->code),
                             .slot = c->slot + (u->classes & IS_NOP ? (uint32_t)in->op[0].value + 1 : 1)};
    if (u->consumes) {
        for (int i = 0; i < u->reads; i++)
            for (int r = u->read[i].first; r < u->read[i].first + u->read[i].count; r++)
                match(w, in, u->read[i].scalar ? &c->sgpr_write[r] : &c->vgpr_write[r], u, RESULT_READ, &u->read[i], r);
        for (int i = 0; i < u->writes; i++)
            for (int r = u->write[i].first; !u->write[i].scalar && r < u->write[i].first + u->write[i].count; r++) {
                match(w, in, &c->vgpr_write[r], u, RESULT_WRITTEN, &u->write[i], r);
                match(w, in, &c->vgpr_c[r], u, C_OVERWRITTEN, &u->write[i], r);
                match(w, in, &c->vgpr_store[r], u, DATA_OVERWRITTEN, &u->write[i], r);
            }
        match_implicit(w, in, &c->sgpr_write[SGPR_EXEC], u, IN_EXEC, RESULT_READ);
        match_implicit(w, in, &c->ordered, u, ANYWHERE, MODE_ORDER);
    }
    c->slot = now.slot;
    for (int i = 0; i < u->writes; i++)
        for (int r = u->write[i].first; r < u->write[i].first + u->write[i].count; r++)
            *(u->write[i].scalar ? &c->sgpr_write[r] : &c->vgpr_write[r]) = now;
    if (u->classes & (IS_SETREG | IS_DGEMM)) c->ordered = now;
    if (!(u->classes & (IS_XDL | IS_WIDE_STORE))) return;
    for (int i = 0; i < u->reads; i++)
        for (int r = u->read[i].first; !u->read[i].scalar && r < u->read[i].first + u->read[i].count; r++) {
            if (u->read[i].role == USE_C) c->vgpr_c[r] = now;
            if (u->read[i].role == USE_DATA) c->vgpr_store[r] = now;
        }
}
