/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a run says about a kernel: text for people, one JSON object for programs. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

static const char *tier_name(cdnagen_cache_tier tier) {
    static const char *const names[] = {[CDNAGEN_TIER_NONE] = "none",
                                        [CDNAGEN_TIER_MEMORY] = "memory",
                                        [CDNAGEN_TIER_DISK] = "disk",
                                        [CDNAGEN_TIER_STORE] = "store"};
    return names[tier];
}

void report_kernel(const cdnagen_kernel_info *i, double wall_ms) {
    printf("kernel       %s:%s\n", i->op, i->tag);
    printf("shape        %s\n", i->shape);
    printf("target       %s\n", i->target);
    if (i->cache_tier)
        printf("cache        hit (%s)\n", tier_name(i->cache_tier));
    else
        printf("cache        miss\n"
               "compile      %.1f ms: emit %.1f, verify %.1f, passes %.1f, codegen %.1f, link %.1f\n",
               i->total_ms, i->emit_ms, i->verify_ms, i->passes_ms, i->codegen_ms, i->link_ms);
    printf("ready after  %.1f ms\n", wall_ms);
    printf("registers    %u VGPR + %u AGPR (%u allocated), %u SGPR; %u VGPR and %u SGPR spills, %u bytes scratch\n",
           i->vgpr, i->agpr, i->vgpr_allocated, i->sgpr, i->vgpr_spills, i->sgpr_spills, i->scratch_bytes);
    printf("memory       %u bytes LDS, %u bytes code\n", i->lds_bytes, i->code_bytes);
    printf("occupancy    %u waves per SIMD, limited by %s", i->waves_per_simd, i->occupancy_limit);
    if (i->waves_per_eu_asked) printf("; %u asked", i->waves_per_eu_asked);
    printf("\nlaunch       grid %u x %u x %u, block %u x %u x %u\n", i->grid[0], i->grid[1], i->grid[2], i->block[0],
           i->block[1], i->block[2]);
}

void report_check(const check_report *c) {
    printf("run          ");
    for (int s = 0; s < CHECK_STEPS; s++)
        if (c->step_ms[s] > 0) printf("%s%s %.1f ms", s ? ", " : "", check_step_names[s], c->step_ms[s]);
    printf("\n");
    if (!(c->step_ms[CHECK_GRADE] > 0)) return;
    const grade *g = &c->grade;
    printf("check        %s:", g->pass ? "pass" : "FAIL");
    if (g->mask_equal != GRADE_NO_MASK) printf(" -inf places %s;", g->mask_equal ? "agree" : "DIFFER");
    for (int f = 0; f < g->figure_count; f++)
        printf(" %s %.3g (limit %g);", g->figures[f].name, g->figures[f].value, g->figures[f].limit);
    printf(" guards %s\n", g->guards_intact ? "intact" : "OVERWRITTEN");
    if (g->first[0]) printf("             first difference: %s\n", g->first);
}

/* Instructions by kind, told by their mnemonics. The first match counts. */
static const struct {
    const char *prefix, *kind; /* NULL: padding after the end, not counted */
} instruction_kinds[] = {
    {"v_mfma", "MFMA"},
    {"v_accvgpr", "AGPR moves"},
    {"v_", "VALU"},
    {"s_code_end", NULL},
    {"s_nop", "s_nop"},
    {"s_waitcnt", "waits"},
    {"s_barrier", "barriers"},
    {"s_load", "SMEM"},
    {"s_", "SALU"},
    {"ds_", "LDS"},
    {"buffer_", "VMEM"},
    {"global_", "VMEM"},
    {"flat_", "VMEM"},
    {"scratch_", "scratch"},
};
enum { KIND_ROWS = sizeof instruction_kinds / sizeof *instruction_kinds };

/* kind_row: the row of the instruction on a line of disassembly, or KIND_ROWS. */
static size_t kind_row(const char *line, const char *end) {
    for (const char *word = line; word < end; word++) {
        if (word != line && !strchr(" \t:", word[-1])) continue;
        for (size_t row = 0; row < KIND_ROWS; row++)
            if (!strncmp(word, instruction_kinds[row].prefix, strlen(instruction_kinds[row].prefix))) return row;
    }
    return KIND_ROWS;
}

static void print_counts(const unsigned counts[KIND_ROWS], unsigned dma) {
    printf("counts       ");
    for (size_t row = 0; row < KIND_ROWS; row++) {
        const char *kind = instruction_kinds[row].kind;
        if (!kind || (row && instruction_kinds[row - 1].kind && !strcmp(instruction_kinds[row - 1].kind, kind)))
            continue;
        unsigned sum = 0;
        for (size_t k = row; k < KIND_ROWS && instruction_kinds[k].kind && !strcmp(instruction_kinds[k].kind, kind);
             k++)
            sum += counts[k];
        printf("%s %u, ", kind, sum);
    }
    printf("LDS DMA %u\n", dma);
}

cdnagen_status report_stats(cdnagen_kernel *kernel, const cdnagen_kernel_info *info) {
    const char *isa;
    TRY(cdnagen_get_kernel_text(kernel, CDNAGEN_TEXT_ISA, &isa));
    unsigned counts[KIND_ROWS + 1] = {0}, dma = 0;
    for (const char *line = isa; *line;) {
        const char *end = line + strcspn(line, "\n");
        counts[kind_row(line, end)]++;
        dma += end - line > 4 && !strncmp(end - 4, " lds", 4);
        line = end + (*end == '\n');
    }
    printf("symbol       %s\nkey          %s\n", info->symbol, info->key);
    for (const char *line = info->key_text; *line;) {
        const int length = (int)strcspn(line, "\n");
        printf("  of         %.*s\n", length, line);
        line += length + (line[length] == '\n');
    }
    print_counts(counts, dma);
    return CDNAGEN_OK;
}

/* number: JSON has no NaN and no infinity; they become null. */
static json_t *number(double x) { return isfinite(x) ? json_real(x) : json_null(); }

cdnagen_status report_json(const cdnagen_kernel_info *i, const char *device, const check_report *check) {
    json_t *checked = json_null();
    if (check) {
        const grade *g = &check->grade;
        checked = json_pack("{s:b, s:b}", "pass", g->pass, "guards_intact", g->guards_intact);
        for (int f = 0; f < g->figure_count; f++)
            json_object_set_new(checked, g->figures[f].name, number(g->figures[f].value));
        if (g->mask_equal != GRADE_NO_MASK) json_object_set_new(checked, "mask_equal", json_boolean(g->mask_equal));
    }
    json_t *resources =
        json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i}", "vgpr", i->vgpr, "agpr", i->agpr,
                  "vgpr_allocated", i->vgpr_allocated, "sgpr", i->sgpr, "lds_bytes", i->lds_bytes, "scratch_bytes",
                  i->scratch_bytes, "vgpr_spills", i->vgpr_spills, "code_bytes", i->code_bytes, "waves_per_simd",
                  i->waves_per_simd, "waves_per_eu_asked", i->waves_per_eu_asked);
    json_t *compile =
        json_pack("{s:f, s:f, s:f, s:f, s:f, s:f}", "total_ms", i->total_ms, "emit_ms", i->emit_ms, "verify_ms",
                  i->verify_ms, "passes_ms", i->passes_ms, "codegen_ms", i->codegen_ms, "link_ms", i->link_ms);
    json_t *cache =
        json_pack("{s:b, s:s}", "hit", i->cache_tier != CDNAGEN_TIER_NONE, "tier", tier_name(i->cache_tier));
    json_t *all = json_pack("{s:s, s:s, s:s, s:s, s:s?, s:o, s:o, s:o, s:o}", "op", i->op, "tag", i->tag, "target",
                            i->target, "shape", i->shape, "device", device, "check", checked, "resources", resources,
                            "compile", compile, "cache", cache);
    return print_object(all);
}

cdnagen_status print_object(json_t *all) {
    char *line = all ? json_dumps(all, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) : NULL;
    json_decref(all);
    if (!line) return fail_no_memory();
    puts(line);
    free(line);
    return CDNAGEN_OK;
}
