/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* From machine code to instruction arrays: LLVM's disassembler prints, this file parses the print. Whatever the parser
 * does not know leaves `run` NULL, and executing it is a fault; nothing is guessed. */
#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Disassembler.h>
#include <llvm-c/Target.h>

#include "core/machine_code.h"
#include "sim/lane_math.h"
#include "sim/lanes.h"
#include "sim/wave.h"

typedef struct parser {
    program *program;
    inst *in;
    int accum_offset, register_limit;
    int select_count, op_sel_count, hex[OPERANDS_MAX];
} parser;

static const isa_row matrix_row = {"v_mfma", F_MATRIX, 0, {T_u32, T_u32, T_u32, T_f32, T_u32, T_u32}, -1, -1, ""};

/* ---- operands ---- */

static int parse_range(const char *s, unsigned *first, unsigned *count) {
    unsigned last;
    char end;
    if (sscanf(s, "[%u:%u]%c", first, &last, &end) == 2 && last >= *first) {
        *count = last - *first + 1;
        return 1;
    }
    *count = 1;
    return sscanf(s, "%u%c", first, &end) == 1;
}

static const struct {
    const char *name;
    uint8_t kind;
    uint16_t index, count;
} named_operands[] = {{"vcc", K_SGPR, SGPR_VCC, 2},
                      {"vcc_lo", K_SGPR, SGPR_VCC, 1},
                      {"vcc_hi", K_SGPR, SGPR_VCC + 1, 1},
                      {"exec", K_SGPR, SGPR_EXEC, 2},
                      {"exec_lo", K_SGPR, SGPR_EXEC, 1},
                      {"exec_hi", K_SGPR, SGPR_EXEC + 1, 1},
                      {"m0", K_SGPR, SGPR_M0, 1},
                      {"null", K_SGPR, SGPR_NULL, 1},
                      {"flat_scratch", K_SGPR, SGPR_FLAT_SCRATCH, 2},
                      {"flat_scratch_lo", K_SGPR, SGPR_FLAT_SCRATCH, 1},
                      {"flat_scratch_hi", K_SGPR, SGPR_FLAT_SCRATCH + 1, 1},
                      {"xnack_mask", K_SGPR, SGPR_XNACK_MASK, 2},
                      {"xnack_mask_lo", K_SGPR, SGPR_XNACK_MASK, 1},
                      {"xnack_mask_hi", K_SGPR, SGPR_XNACK_MASK + 1, 1},
                      {"src_shared_base", K_SGPR, SGPR_SHARED_BASE, 2},
                      {"src_shared_limit", K_SGPR, SGPR_SHARED_LIMIT, 2},
                      {"src_private_base", K_SGPR, SGPR_PRIVATE_BASE, 2},
                      {"src_private_limit", K_SGPR, SGPR_PRIVATE_LIMIT, 2},
                      {"src_scc", K_SCC, 0, 1},
                      {"scc", K_SCC, 0, 1},
                      {"off", K_OFF, 0, 0}};

static int parse_register(const parser *p, const char *s, operand *o) {
    unsigned first, count;
    for (size_t i = 0; i < sizeof named_operands / sizeof *named_operands; i++)
        if (strcmp(s, named_operands[i].name) == 0) {
            o->kind = named_operands[i].kind;
            o->index = named_operands[i].index;
            o->count = named_operands[i].count;
            return 1;
        }
    int base = 0;
    if (strncmp(s, "ttmp", 4) == 0) {
        base = SGPR_TTMP;
        s += 3;
        o->kind = K_SGPR;
    } else if (*s == 's') {
        o->kind = K_SGPR;
    } else if (*s == 'v') {
        o->kind = K_VGPR;
    } else if (*s == 'a') {
        o->kind = K_VGPR;
        base = p->accum_offset;
    } else {
        return 0;
    }
    if (!parse_range(s + 1, &first, &count)) return 0;
    const unsigned limit = o->kind == K_VGPR ? (unsigned)p->register_limit : SGPR_COUNT;
    if (base + first + count > limit) return 0;
    o->index = (uint16_t)(base + first);
    o->count = (uint16_t)count;
    return 1;
}

static int parse_number(const char *s, operand *o, int *hex) {
    char buffer[64], *end;
    if (strncmp(s, "lit(", 4) == 0 || strncmp(s, "lit64(", 6) == 0) {
        const char *open = strchr(s, '('), *close = strchr(s, ')');
        if (!close || (size_t)(close - open) > sizeof buffer) return 0;
        memcpy(buffer, open + 1, (size_t)(close - open - 1));
        buffer[close - open - 1] = 0;
        s = buffer;
    }
    if (!isdigit((unsigned char)*s) && *s != '-') return 0;
    o->kind = K_CONST;
    *hex = strncmp(s, "0x", 2) == 0;
    if (!*hex && strchr(s, '.')) {
        o->is_float = 1;
        o->real = strtod(s, &end);
    } else {
        o->value = *s == '-' ? (uint64_t)strtoll(s, &end, 0) : strtoull(s, &end, 0);
    }
    return *end == 0;
}

static int parse_hwreg(inst *in, const char *s) {
    static const struct {
        const char *name;
        uint16_t id;
    } known[] = {{"HW_REG_MODE", 1},      {"HW_REG_STATUS", 2},    {"HW_REG_TRAPSTS", 3}, {"HW_REG_HW_ID", 4},
                 {"HW_REG_GPR_ALLOC", 5}, {"HW_REG_LDS_ALLOC", 6}, {"HW_REG_IB_STS", 7},  {"HW_REG_XCC_ID", 20}};
    char name[32];
    unsigned offset = 0, width = 32;
    if (sscanf(s, "hwreg(%31[A-Z0-9_]", name) != 1) return 0;
    const char *comma = strchr(s, ',');
    if (comma && sscanf(comma, ", %u, %u)", &offset, &width) != 2) return 0;
    in->hwreg_offset = (uint16_t)offset;
    in->hwreg_width = (uint16_t)width;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, name) == 0) return in->hwreg = known[i].id, 1;
    return 0;
}

/* gpr_idx(SRC0,DST): which vector operands are relative. */
static int parse_gpr_idx(operand *o, const char *s) {
    static const char *const names[] = {"SRC0", "SRC1", "SRC2", "DST"};
    o->kind = K_CONST;
    for (int i = 0; i < 4; i++)
        if (strstr(s, names[i])) o->value |= 1u << i;
    return s[strlen(s) - 1] == ')';
}

/* An operand with its source modifiers: -|v1|, sext(v1), 0x7f, s[2:3], hwreg(...). */
static int parse_operand(parser *p, char *s) {
    if (p->in->op_count == OPERANDS_MAX) return 0;
    operand *o = &p->in->op[p->in->op_count];
    int *hex = &p->hex[p->in->op_count];
    memset(o, 0, sizeof *o);
    if (strncmp(s, "hwreg(", 6) == 0) return p->in->op_count++, parse_hwreg(p->in, s);
    if (strncmp(s, "gpr_idx(", 8) == 0) return p->in->op_count++, parse_gpr_idx(o, s);
    if (parse_number(s, o, hex)) return p->in->op_count++, 1;
    if (*s == '-') {
        o->negate = 1;
        s++;
    }
    size_t n = strlen(s);
    if (n > 2 && *s == '|' && s[n - 1] == '|') {
        o->absolute = 1;
        s[n - 1] = 0;
        s++;
    } else if (strncmp(s, "sext(", 5) == 0 && s[n - 1] == ')') {
        o->sign_extend = 1;
        s[n - 1] = 0;
        s += 5;
    }
    if (!parse_register(p, s, o) && !parse_number(s, o, hex)) return 0;
    return p->in->op_count++, 1;
}

/* ---- modifiers ---- */

static int parse_list(const char *s, unsigned *bits, int *count) {
    *bits = 0;
    *count = 0;
    if (*s++ != '[') return 0;
    for (; *s && *s != ']'; s++)
        if (*s == '0' || *s == '1') *bits |= (unsigned)(*s - '0') << (*count)++;
    return *s == ']';
}

static int parse_select(const char *s, uint8_t *out) {
    static const char *const names[] = {"DWORD", "BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(s, names[i]) == 0) return *out = (uint8_t)i, 1;
    return 0;
}

/* ds_swizzle_b32's offset as a pattern name. source: LLVM AMDGPU operand syntax, "swizzle" */
static int parse_swizzle(inst *in, const char *s) {
    unsigned a, b, c, d;
    char mask[8];
    if (sscanf(s, "swizzle(QUAD_PERM,%u,%u,%u,%u)", &a, &b, &c, &d) == 4)
        return in->swizzle = (uint16_t)(0x8000 | a | b << 2 | c << 4 | d << 6), 1;
    if (sscanf(s, "swizzle(BROADCAST,%u,%u)", &a, &b) == 2)
        return in->swizzle = (uint16_t)((32 - a) & 31) | (uint16_t)(b << 5), 1;
    if (sscanf(s, "swizzle(SWAP,%u)", &a) == 1) return in->swizzle = (uint16_t)(0x1f | a << 10), 1;
    if (sscanf(s, "swizzle(REVERSE,%u)", &a) == 1) return in->swizzle = (uint16_t)(0x1f | (a - 1) << 10), 1;
    if (sscanf(s, "swizzle(BITMASK_PERM,\"%5[01ipP]\")", mask) == 1 ||
        sscanf(s, "swizzle(BITMASK_PERM, \"%5[01ipP]\")", mask) == 1) {
        uint16_t keep = 0, set = 0, flip = 0;
        for (int i = 0; mask[i]; i++) {
            const uint16_t bit = (uint16_t)(1 << (4 - i));
            if (mask[i] == '1') set |= bit;
            if (mask[i] == 'p' || mask[i] == 'i') keep |= bit;
            if (mask[i] == 'i') flip |= bit;
        }
        return in->swizzle = (uint16_t)(keep | set << 5 | flip << 10), 1;
    }
    return 0;
}

static int parse_dpp(inst *in, const char *name, const char *value) {
    static const struct {
        const char *name;
        uint8_t kind;
    } kinds[] = {
        {"row_shl", DPP_ROW_SHL},          {"row_shr", DPP_ROW_SHR},       {"row_ror", DPP_ROW_ROR},
        {"wave_shl", DPP_WAVE_SHL},        {"wave_rol", DPP_WAVE_ROL},     {"wave_shr", DPP_WAVE_SHR},
        {"wave_ror", DPP_WAVE_ROR},        {"row_mirror", DPP_ROW_MIRROR}, {"row_half_mirror", DPP_ROW_HALF_MIRROR},
        {"row_newbcast", DPP_ROW_NEWBCAST}};
    if (strcmp(name, "quad_perm") == 0) {
        unsigned a, b, c, d;
        if (sscanf(value, "[%u,%u,%u,%u]", &a, &b, &c, &d) != 4) return 0;
        in->dpp = DPP_QUAD_PERM;
        in->dpp_count = (uint8_t)(a | b << 2 | c << 4 | d << 6);
        return 1;
    }
    if (strcmp(name, "row_bcast") == 0) {
        in->dpp = strcmp(value, "15") == 0 ? DPP_ROW_BCAST15 : DPP_ROW_BCAST31;
        return 1;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, name) == 0) {
            in->dpp = kinds[i].kind;
            in->dpp_count = (uint8_t)atoi(value);
            return 1;
        }
    return 0;
}

static int parse_modifier(parser *p, char *s) {
    inst *in = p->in;
    static const struct {
        const char *name;
        size_t place;
    } flags[] = {{"offen", offsetof(inst, offen)}, {"idxen", offsetof(inst, idxen)}, {"lds", offsetof(inst, lds)},
                 {"sc0", offsetof(inst, sc0)},     {"glc", offsetof(inst, sc0)},     {"sc1", offsetof(inst, sc1)},
                 {"nt", offsetof(inst, nt)},       {"clamp", offsetof(inst, clamp)}, {"gds", offsetof(inst, gds)}};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (strcmp(s, flags[i].name) == 0) return *((uint8_t *)in + flags[i].place) = 1, 1;
    unsigned n;
    int count;
    if (sscanf(s, "vmcnt(%u)", &n) == 1) return in->wait_vm = (uint16_t)n, 1;
    if (sscanf(s, "lgkmcnt(%u)", &n) == 1) return in->wait_lgkm = (uint16_t)n, 1;
    if (sscanf(s, "expcnt(%u)", &n) == 1) return 1;
    char none[] = "";
    char *value = strchr(s, ':');
    if (value)
        *value++ = 0;
    else
        value = none;
    if (strcmp(s, "offset") == 0)
        return strncmp(value, "swizzle(", 8) == 0
                   ? parse_swizzle(in, value)
                   : (in->offset = (int32_t)strtol(value, NULL, 0), in->swizzle = (uint16_t)in->offset, 1);
    if (strcmp(s, "offset0") == 0) return in->offset0 = atoi(value), 1;
    if (strcmp(s, "offset1") == 0) return in->offset1 = atoi(value), 1;
    if (strcmp(s, "mul") == 0) return in->omod = *value == '2' ? 1 : 2, 1;
    if (strcmp(s, "div") == 0) return in->omod = 3, 1;
    if (strcmp(s, "cbsz") == 0) return in->cbsz = (uint8_t)atoi(value), 1;
    if (strcmp(s, "abid") == 0) return in->abid = (uint8_t)atoi(value), 1;
    if (strcmp(s, "blgp") == 0) return in->blgp = (uint8_t)atoi(value), 1;
    if (strcmp(s, "neg") == 0) return parse_list(value, &n, &count) ? in->blgp = (uint8_t)n, 1 : 0;
    if (strcmp(s, "bitop3") == 0) return in->bitop3 = (uint8_t)strtol(value, NULL, 0), 1;
    if (strcmp(s, "row_mask") == 0) return in->row_mask = (uint8_t)strtol(value, NULL, 0), 1;
    if (strcmp(s, "bank_mask") == 0) return in->bank_mask = (uint8_t)strtol(value, NULL, 0), 1;
    if (strcmp(s, "bound_ctrl") == 0) return in->bound_ctrl = 1, 1;
    if (strcmp(s, "op_sel") == 0) return parse_list(value, &n, &p->op_sel_count) ? in->op_sel = (uint8_t)n, 1 : 0;
    if (strcmp(s, "op_sel_hi") == 0) return parse_list(value, &n, &count) ? in->op_sel_hi = (uint8_t)n, 1 : 0;
    if (strcmp(s, "neg_lo") == 0) return parse_list(value, &n, &count) ? in->neg_lo = (uint8_t)n, 1 : 0;
    if (strcmp(s, "neg_hi") == 0) return parse_list(value, &n, &count) ? in->neg_hi = (uint8_t)n, 1 : 0;
    const int source = in->row && in->row->carry_out == 1 ? 2 : 1;
    if (strcmp(s, "dst_sel") == 0) return in->sdwa = 1, parse_select(value, &in->dst_select);
    if (strcmp(s, "src0_sel") == 0) return in->sdwa = 1, parse_select(value, &in->op[source].select);
    if (strcmp(s, "src1_sel") == 0) return in->sdwa = 1, parse_select(value, &in->op[source + 1].select);
    if (strcmp(s, "dst_unused") == 0) {
        in->sdwa = 1;
        in->dst_unused = strcmp(value, "UNUSED_PRESERVE") == 0 ? 2 : strcmp(value, "UNUSED_SEXT") == 0;
        return 1;
    }
    return parse_dpp(in, s, value);
}

/* Cut the text after the mnemonic at commas and blanks outside brackets; what follows a comma is an operand. */
static int parse_fields(parser *p, char *s) {
    int after_comma = 1;
    while (*s) {
        while (isspace((unsigned char)*s)) s++;
        if (!*s) break;
        char *start = s;
        int depth = 0, quoted = 0;
        for (; *s && (depth || quoted || (*s != ',' && !isspace((unsigned char)*s))); s++) {
            if (*s == '[' || *s == '(') depth++;
            if (*s == ']' || *s == ')') depth--;
            if (*s == '"') quoted = !quoted;
        }
        const int comma = *s == ',';
        if (*s) *s++ = 0;
        const int first = p->in->op_count == 0 && after_comma;
        if (after_comma ? !parse_operand(p, start) && (!first || !parse_modifier(p, start)) : !parse_modifier(p, start))
            return 0;
        after_comma = comma;
    }
    return 1;
}

/* ---- binding to the table ---- */

/* The bits that a constant means to an operand of this type. A 32-bit literal is the high word of an f64. */
static uint64_t constant_bits(const operand *o, value_type type, int hex) {
    switch (type) {
    case T_u16:
    case T_i16:
    case T_f16:
    case T_h16:
    case T_hi16:
    case T_hf16:
    case T_p16:
    case T_pf16: return o->is_float ? f16_of_f32((float)o->real) : (uint32_t)o->value;
    case T_f64: return o->is_float ? bits_of_f64(o->real) : hex && o->value <= UINT32_MAX ? o->value << 32 : o->value;
    case T_u64: return o->is_float ? bits_of_f64(o->real) : o->value;
    case T_mask: return o->value;
    case T_i64:
        return o->is_float                     ? bits_of_f64(o->real)
               : hex && o->value <= UINT32_MAX ? (uint64_t)(int32_t)o->value
                                               : o->value;
    case T_pf32: {
        const uint32_t x = o->is_float ? bits_of_f32((float)o->real) : (uint32_t)o->value;
        return x | (uint64_t)x << 32;
    }
    default: return o->is_float ? bits_of_f32((float)o->real) : (uint32_t)o->value;
    }
}

static void bind_constants(parser *p) {
    inst *in = p->in;
    const int lanes_needed = in->row->format == F_VECTOR || in->row->format == F_COMPARE || in->row->format == F_MATRIX;
    for (int i = 0; i < in->op_count; i++) {
        operand *o = &in->op[i];
        if (o->kind != K_CONST) continue;
        o->value = constant_bits(o, in->row->type[i], p->hex[i]);
        if (!lanes_needed) continue;
        uint32_t *lane = arena_alloc(&p->program->memory, 2 * LANES * sizeof *lane);
        if (!lane) return;
        for (int l = 0; l < LANES; l++) {
            lane[l] = (uint32_t)o->value;
            lane[l + LANES] = (uint32_t)(o->value >> 32);
        }
        o->lanes = lane;
    }
}

/* Whether the row obeys the clamp bit: floats behind any effect, integers where the effect asks for it. */
static int clamps(const isa_row *row) {
    const value_type t = row->type[0];
    if (row->format != F_VECTOR) return 0;
    return t == T_f32 || t == T_f16 || t == T_hf16 || t == T_f64 || t == T_pf16 || t == T_pf32 ||
           isa_mentions(row->body, "clamp", "");
}

static int is_packed(value_type t) { return t == T_p16 || t == T_pf16 || t == T_pf32; }
static int is_half(value_type t) { return t == T_h16 || t == T_hf16; }

/* Whether sources and result go straight between registers and the lane loop. */
static int is_simple(const inst *in) {
    const value_type result = in->row->type[in->row->format == F_COMPARE ? 1 : 0];
    const int float_result =
        result == T_f32 || result == T_f16 || result == T_f64 || result == T_pf16 || result == T_pf32;
    if (in->dpp || in->sdwa || in->omod || is_half(result) || in->op_sel || in->neg_lo || in->neg_hi) return 0;
    if (in->clamp && float_result) return 0;
    for (int i = 0; i < in->op_count; i++)
        if ((is_packed(in->row->type[i]) && in->op_sel_hi != 7) || in->op[i].negate || in->op[i].absolute ||
            in->row->type[i] == T_mix)
            return 0;
    return 1;
}

static run_function *runner(const isa_row *row) {
    switch (row->format) {
    case F_SCALAR: return scalar_runner(row->effect);
    case F_LANE: return lane_runner(row->effect);
    case F_VECTOR: return run_vector;
    case F_COMPARE: return run_compare;
    case F_VMEM: return run_vmem;
    case F_LDS: return run_lds;
    case F_SMEM: return run_smem;
    case F_MATRIX: return run_matrix;
    }
    return NULL;
}

static int operand_count(const isa_row *row) {
    int n = 0;
    while (n < OPERANDS_MAX && row->type[n] != T_none) n++;
    return n;
}

static void bind(parser *p) {
    inst *in = p->in;
    const lanes_effects *effects = lanes_for_host();
    if (in->clamp && !clamps(in->row)) return;
    bind_constants(p);
    if (in->row->format == F_VECTOR || in->row->format == F_COMPARE) {
        if (in->op_count != operand_count(in->row)) return;
        in->effect = (in->row->format == F_VECTOR ? effects->vector : effects->compare)[in->row->effect];
        if (strstr(in->row->name, "mixhi")) {
            in->op_sel |= 8;
        } else if (p->op_sel_count && is_half(in->row->type[0]) && in->row->type[1] != T_mix) {
            const int sources = p->op_sel_count - 1; /* the last bit of the list is the destination's */
            in->op_sel = (uint8_t)((in->op_sel & ((1 << sources) - 1)) | (in->op_sel >> sources & 1) << 3);
        }
        in->simple = is_simple(in);
    } else if (in->row->format == F_LANE) {
        if (in->op_count != operand_count(in->row)) return;
        /* Three bits of two sources and a destination: the last is the destination's. */
        if (p->op_sel_count == 3) in->op_sel = (uint8_t)((in->op_sel & 3) | (in->op_sel >> 2 & 1) << 3);
    }
    if (!in->gds) in->run = runner(in->row); /* there is no global data share on these chips to simulate */
}

static void strip_suffixes(char *name) {
    static const char *const suffixes[] = {"_dpp", "_sdwa", "_e32", "_e64"};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        const size_t n = strlen(name), m = strlen(suffixes[i]);
        if (n > m && strcmp(name + n - m, suffixes[i]) == 0) name[n - m] = 0;
    }
}

static void parse_inst(parser *p, char *line) {
    inst *in = p->in;
    char *fields = line;
    while (*fields && !isspace((unsigned char)*fields)) fields++;
    if (*fields) *fields++ = 0;
    in->wait_vm = in->wait_lgkm = 0xffff;
    in->row_mask = in->bank_mask = 0xf;
    in->mfma = sim_mfma_find(line);
    if (!in->mfma) strip_suffixes(line);
    in->row = in->mfma ? &matrix_row : isa_find(line);
    if (!in->row) return;
    in->op_sel_hi = is_packed(in->row->type[0]) || is_packed(in->row->type[1]) ? 7 : 0;
    p->op_sel_count = 0;
    if (parse_fields(p, fields)) bind(p);
}

/* ---- the text section ---- */

static pthread_once_t initialised = PTHREAD_ONCE_INIT;
static void initialise(void) {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
}

static int is_branch(const inst *in) {
    return in->row && in->op_count &&
           (strncmp(in->row->name, "s_cbranch", 9) == 0 || strcmp(in->row->name, "s_branch") == 0 ||
            strcmp(in->row->name, "s_call_b64") == 0);
}

static void resolve_branches(program *p) {
    for (size_t i = 0; i < p->count; i++) {
        inst *in = &p->code[i];
        if (!is_branch(in)) continue;
        const int16_t words = (int16_t)in->op[in->op_count - 1].value;
        const int64_t to = (int64_t)in->address + 4 + 4 * (int64_t)words;
        const uint32_t index = to >= 0 && (size_t)to < p->text_bytes ? p->index_of[to / 4] : UINT32_MAX;
        if (index == UINT32_MAX)
            in->run = NULL;
        else
            in->target = index;
    }
}

/* The bytes of the instruction and its text; 0: there is none. */
static size_t disassemble(LLVMDisasmContextRef with, const unsigned char *code, size_t left, uint64_t address,
                          char *line, size_t line_bytes) {
    unsigned char end[INSTRUCTION_BYTES_MAX] = {0};
    const size_t seen = left < sizeof end ? sizeof end : left;
    if (left < sizeof end) code = memcpy(end, code, left);
    if (!machine_code_safe(code)) return 0;
    const size_t n = LLVMDisasmInstruction(with, (uint8_t *)(uintptr_t)code, seen, address, line, line_bytes);
    return n > left ? 0 : n;
}

cdnagen_status program_decode(const chip *c, const unsigned char *section, size_t size, uint64_t base, int accum_offset,
                              int register_limit, program *out) {
    *out = (program){.chip = c, .accum_offset = accum_offset, .text_bytes = size, .base = base, .bytes = section};
    pthread_once(&initialised, initialise);
    LLVMDisasmContextRef disassembler = LLVMCreateDisasmCPU("amdgcn-amd-amdhsa", c->name, NULL, 0, NULL, NULL);
    if (!disassembler) return fail(CDNAGEN_UNAVAILABLE, "this LLVM has no disassembler for %s", c->name);
    const size_t words = size / 4;
    out->code = arena_alloc(&out->memory, (words + 1) * sizeof *out->code);
    out->index_of = arena_alloc(&out->memory, (words + 1) * sizeof *out->index_of);
    out->executed = arena_alloc(&out->memory, words + 1);
    if (!out->code || !out->index_of || !out->executed) goto no_memory;
    memset(out->index_of, 0xff, (words + 1) * sizeof *out->index_of);
    parser p = {.program = out, .accum_offset = accum_offset, .register_limit = register_limit};
    for (size_t at = 0; at + 4 <= size;) {
        char line[512];
        const size_t n = disassemble(disassembler, section + at, size - at, base + at, line, sizeof line);
        inst *in = &out->code[out->count];
        in->address = (uint32_t)at;
        in->bytes = n ? (uint32_t)n : 4;
        in->text = arena_format(&out->memory, "%s", n ? line + strspn(line, " \t") : "(not an instruction)");
        if (!in->text) goto no_memory;
        out->index_of[at / 4] = (uint32_t)out->count++;
        p.in = in;
        if (n) parse_inst(&p, line + strspn(line, " \t"));
        at += in->bytes;
    }
    if (out->memory.failed) goto no_memory;
    /* Running past the section's end meets an instruction that cannot run. */
    out->code[out->count] = (inst){.address = (uint32_t)size, .text = "(end of the text section)"};
    LLVMDisasmDispose(disassembler);
    resolve_branches(out);
    return CDNAGEN_OK;
no_memory:
    LLVMDisasmDispose(disassembler);
    program_free(out);
    return fail_no_memory();
}

void program_free(program *p) {
    arena_free(&p->memory);
    *p = (program){0};
}
