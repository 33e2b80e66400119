/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Golden counts: what the steady loop of every listed kernel consists of, what the kernel uses, and a hash of its code.
 * One line a kernel in golden/<operator>_<chip>.txt. `golden` writes the file, `golden --check` compares. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/codeobj.h"
#include "runtime/compile.h"

enum { TAGS_MAX = 40, SHAPES_MAX = 8, BARS_MAX = 12 };

/* bar: what the first tag must hold at the first shape, whatever the golden file says. */
typedef struct bar {
    const char *figure;
    unsigned long least, most;
} bar;

typedef struct golden_chip {
    const char *operator_name, *name;
    const char *tags[TAGS_MAX]; /* the default variant first */
    const char *shapes[SHAPES_MAX];
    bar bars[BARS_MAX];
} golden_chip;

static const golden_chip golden_chips[] = {
    {"mqa_logits",
     "gfx950",
     {
         "mfma32x32x64_bkv64_r1_w1_lds2_swp_rs_hfma",
         "mfma32x32x64_bkv64_r1_w1_lds2_swp_rs_hfma_wpe1",
         "mfma32x32x64_bkv64_r1_w1_lds2_swp_rs_hfma2",
         "mfma32x32x64_bkv64_r1_w1_lds2_swp_rs",
         "mfma32x32x64_bkv64_r1_w1_lds2_rs_hfma",
         "mfma32x32x64_bkv64_r1_w1_lds2_hfma",
         "mfma32x32x64_bkv64_r1_w1_lds4_pd1_swp_rs_hfma_wpe3",
         "mfma32x32x64_bkv64_r1_w1_lds4_pd3_swp_rs_hfma",
         "mfma32x32x64_bkv64_r1_w2_lds3_swp_rs_hfma",
         "mfma32x32x64_bkv64_r2_w4_lds3_swp_rs",
         "mfma32x32x64_bkv128_r1_w4_lds2_swp_rs_hfma",
         "mfma16x16x128_bkv64_r1_w4_lds2_swp_rs_hfma",
         "mfma16x16x128_bkv64_r2_w4_lds3_rs",
         "mfma32x32x64_bkv64_r1_w1_lds2_swp_rs_ls_hfma",
         "mfma32x32x64_bkv64_r1_w1_lds2_swp_rs_ls_ts_dg_hfma",
         "mfma32x32x64_bkv64_r1_w1_lds2_ls_hfma",
         "mfma32x32x64_bkv64_r1_w1_lds4_pd3_swp_rs_dg_hfma",
         "mfma32x32x64_bkv64_r1_w2_lds3_swp_rs_ls",
         "mfma32x32x64_bkv64_r2_w4_lds3_swp_rs_ts",
         "mfma16x16x128_bkv64_r1_w4_lds2_rs_ls_dg_hfma",
         "mfma32x32x64_bkv64_r1_w2_lds3_swp_rs_ct_hfma",
         "mfma32x32x64_bkv64_r1_w2_lds3_swp_rs_ls_dg_ct_hfma",
         "mfma32x32x64_bkv64_r2_w1_lds2_swp_rs_ct_hfma",
         "mfma16x16x128_bkv64_r1_w4_lds3_pd3_swp_rs_ct_hfma",
         "mfma32x32x64_bkv64_r1_w1",
         "mfma32x32x64_bkv64_r2_w2_hfma",
         "mfma16x16x128_bkv64_r1_w2_hfma2",
         "mfma16x16x32_bkv128_r2_w4",
         "mfma32x32x16_bkv64_r1_w1_hfma",
     },
     {"heads=64 dim=128 clean=1", "heads=64 dim=128 clean=0", "heads=128 dim=128 clean=1", "heads=32 dim=64 clean=1",
      "heads=32 dim=512 clean=1"},
     /* per 64 columns eight products, DMA of 16 bytes a lane for the whole tile, one store by 64 lanes, and nothing
  * that stalls or moves registers about */
     {{" mfma=", 8, 8},
      {" lds_dma=", 8, 8},
      {" stores=", 1, 1},
      {" valu=", 128, 140},
      {" full_waits=", 0, 0},
      {" accvgpr=", 0, 0},
      {" scratch=", 0, 0},
      {" spills=", 0, 0}}},
    {"mqa_logits",
     "gfx942",
     {
         "mfma16x16x32_bkv128_r1_w4",
         "mfma16x16x32_bkv128_r1_w1",
         "mfma16x16x32_bkv128_r1_w2",
         "mfma16x16x32_bkv128_r2_w1",
         "mfma16x16x32_bkv128_r2_w2",
         "mfma16x16x32_bkv128_r2_w4",
         "mfma16x16x32_bkv128_r4_w1",
         "mfma16x16x32_bkv128_r4_w2",
         "mfma16x16x32_bkv128_r4_w4",
         "mfma16x16x32_bkv128_r2_w4_hfma",
         "mfma16x16x32_bkv128_r2_w4_hfma2",
         "mfma16x16x32_bkv128_r1_w4_hfma_wpe4",
         "mfma16x16x32_bkv16_r1_w1",
         "mfma32x32x16_bkv128_r1_w4",
         "mfma32x32x16_bkv128_r2_w2_hfma2",
         "mfma32x32x16_bkv64_r1_w1_hfma",
     },
     {"heads=64 dim=128 clean=1", "heads=64 dim=128 clean=0", "heads=128 dim=128 clean=1", "heads=32 dim=64 clean=1",
      "heads=32 dim=512 clean=1", "heads=64 dim=128 clean=1 q_fp8=e4m3fn", "heads=64 dim=128 clean=1 kv_fp8=e4m3fn",
      "heads=64 dim=128 clean=0 q_fp8=e4m3fn kv_fp8=e4m3fn"},
     /* a wave's 32 columns of a tile: 32 products, its keys in 16 bytes a lane and its scales, one store */
     {{" mfma=", 32, 32},
      {" loads=", 5, 5},
      {" stores=", 1, 1},
      {" valu=", 64, 80},
      {" accvgpr=", 0, 0},
      {" scratch=", 0, 0},
      {" spills=", 0, 0}}},
    {"gemm_blockscale",
     "gfx950",
     {
         "mfma16x16x128_t64x256x128_4w_wpe2",
         "mfma16x16x128_t64x256x128_4w_fused_wpe2",
         "mfma16x16x128_t64x256x128_4w_panel8_cs_async_wpe2",
         "mfma16x16x128_t64x256x128_4w_fused_panel8_cs_async_wpe2",
         "mfma16x16x128_t64x256x128_4w_fused_cs_async_pers_wpe2",
         "mfma16x16x128_t64x256x128_4w_fused_group8_cs_async_wpe2",
         "mfma16x16x128_t64x256x128_4w_fused_xcd_cs_async_wpe2",
         "mfma16x16x128_t128x128x128_4w_wm2_fused_cs_async_wpe2",
         "mfma16x16x128_t64x128x128_4w_fused_cs_async",
         "mfma16x16x128_t64x128x256_4w_fused_cs_async",
         "mfma16x16x128_t32x64x256_4w_async",
         "mfma16x16x128_t16x64x256_4w",
         "mfma16x16x128_t16x128x256_4w_sk4",
         "mfma32x32x64_t64x128x128_4w_fused_async",
         "mfma16x16x128_t64x256x128_4w_fused_cs_async_xtwin_wpe2",
         "mfma16x16x128_t64x256x128_4w_fused_cs_async_xscales_wpe2",
         "mfma16x16x128_t64x256x128_4w_fused_cs_async_xa_wpe2",
         "mfma16x16x128_t64x256x128_4w_fused_cs_async_xb_wpe2",
         "mfma16x16x128_t64x256x128_4w_fused_cs_async_xlds_wpe2",
         "mfma16x16x128_t64x256x128_4w_fused_cs_async_xstore_wpe2",
         "mfma16x16x128_t128x256x128_8w",
         "mfma16x16x128_t128x256x128_8w_delayed",
         "mfma16x16x128_t128x256x128_8w_cluster",
         "mfma16x16x128_t128x256x128_8w_fold1",
         "mfma16x16x128_t192x256x128_8w_cluster",
         "mfma16x16x128_t256x128x128_8w_cluster_cs",
         "mfma16x16x128_t128x256x128_8w_cluster_xtwin",
     },
     {"k_tail=0 n_tail=0 b=preshuffled a_scales=kmajor", "k_tail=1 n_tail=1 b=plain",
      "k_tail=0 n_tail=0 b=preshuffled scales=ue8m0"},
     /* sixteen atoms, their promotion, the factors of four rows of atoms and the next tiles' places; A twice and B
      * eight times 16 bytes a lane and five scales; nothing that spills or moves registers about */
     {{" mfma=", 16, 16},
      {" loads=", 15, 15},
      {" lds_reads=", 8, 8},
      {" valu=", 64, 76},
      {" full_waits=", 0, 0},
      {" barriers=", 1, 1},
      {" accvgpr=", 0, 0},
      {" vgpr=", 1, 256},
      {" scratch=", 0, 0},
      {" spills=", 0, 0}}},
    {"gemm_blockscale",
     "gfx942",
     {
         "mfma16x16x32_t64x256x128_4w_fused_wpe2",
         "mfma16x16x32_t64x256x128_4w_fused_panel8_cs_wpe2",
         "mfma16x16x32_t128x128x128_4w_wm2_fused_cs",
         "mfma16x16x32_t64x128x128_4w_fused_cs",
         "mfma16x16x32_t32x64x256_4w",
         "mfma16x16x32_t16x64x256_4w_sk4",
         "mfma32x32x16_t64x128x128_4w_fused",
     },
     {"k_tail=0 n_tail=0 b=preshuffled a_scales=kmajor", "k_tail=1 n_tail=1 b=plain"},
     {{" mfma=", 64, 64},
      {" loads=", 15, 15},
      {" lds_reads=", 8, 8},
      {" barriers=", 1, 1},
      {" accvgpr=", 0, 0},
      {" vgpr=", 1, 256},
      {" scratch=", 0, 0},
      {" spills=", 0, 0}}},
    {"gemm_grouped",
     "gfx950",
     {
         "mfma16x16x128_t64x256x128_cs_async_wpe2",
         "mfma16x16x128_t64x256x128_group16_cs_async_wpe2",
         "mfma16x16x128_t128x128x128_cs_async_wpe2",
         "mfma16x16x128_t64x128x256_cs_async",
         "mfma16x16x128_t32x128x128_sk4",
     },
     {"layout=sizes k_tail=0 n_tail=0 b=preshuffled", "layout=offsets k_tail=0 n_tail=0 b=preshuffled scale=block",
      "layout=padded k_tail=1 n_tail=1", "layout=batched k_tail=0 n_tail=0 scale=block", "layout=n_offsets k_tail=0",
      "layout=k_offsets n_tail=0"},
     {{" mfma=", 16, 16},
      {" full_waits=", 0, 0},
      {" barriers=", 1, 2},
      {" accvgpr=", 0, 0},
      {" vgpr=", 1, 256},
      {" scratch=", 0, 0},
      {" spills=", 0, 0}}},
    {"gemm_grouped",
     "gfx942",
     {
         "mfma16x16x32_t64x256x128_cs_wpe2",
         "mfma16x16x32_t64x256x128_group16_cs_wpe2",
         "mfma16x16x32_t64x128x128_cs",
         "mfma16x16x32_t32x128x128_sk4",
     },
     {"layout=sizes k_tail=0 n_tail=0 b=preshuffled", "layout=offsets k_tail=0 n_tail=0 b=preshuffled scale=block",
      "layout=padded k_tail=1 n_tail=1", "layout=n_offsets k_tail=0", "layout=k_offsets n_tail=0"},
     {{" mfma=", 64, 64},
      {" barriers=", 1, 2},
      {" accvgpr=", 0, 0},
      {" vgpr=", 1, 256},
      {" scratch=", 0, 0},
      {" spills=", 0, 0}}},
};

typedef struct counts {
    unsigned mfma, valu, salu, lds_dma, lds_reads, loads, stores, waits, full_waits, barriers, nops, accvgpr;
} counts;

static int starts(const char *line, const char *word) { return !strncmp(line, word, strlen(word)); }

static void count(const char *line, counts *c) {
    c->mfma += (unsigned)starts(line, "v_mfma");
    c->accvgpr += (unsigned)starts(line, "v_accvgpr");
    c->valu += starts(line, "v_") && !starts(line, "v_mfma");
    c->lds_reads += (unsigned)starts(line, "ds_read");
    if (starts(line, "buffer_load") || starts(line, "global_load"))
        (*(strstr(line, " lds") ? &c->lds_dma : &c->loads))++;
    c->stores += starts(line, "buffer_store") || starts(line, "global_store");
    c->waits += (unsigned)starts(line, "s_waitcnt");
    c->full_waits += starts(line, "s_waitcnt") && strstr(line, "vmcnt(0)");
    c->barriers += (unsigned)starts(line, "s_barrier");
    c->nops += (unsigned)starts(line, "s_nop");
    c->salu += starts(line, "s_") && !starts(line, "s_waitcnt") && !starts(line, "s_barrier") && !starts(line, "s_nop");
}

/* A listing line is a label "L1a00:" or "  ADDRESS  instruction". */
static const char *instruction_of(const char *line) {
    if (*line != ' ') return NULL;
    line += strspn(line, " ");
    line += strcspn(line, " ");
    return line + strspn(line, " ");
}

static unsigned long address_of(const char *line) { return strtoul(line, NULL, 16); }

/* The steady loop: the shortest span from the target of a backward branch to the branch that has MFMAs, and LDS DMA if
 * any such span has (a loop without may be the end of one that prefetches). */
static counts steady_loop(char *listing) {
    enum { LINES_MAX = 65536 };
    static const char *lines[LINES_MAX];
    size_t line_count = 0;
    for (char *at = strtok(listing, "\n"); at && line_count < LINES_MAX; at = strtok(NULL, "\n"))
        if (instruction_of(at)) lines[line_count++] = at;
    counts best = {0};
    size_t best_length = LINES_MAX;
    for (size_t end = 0; end < line_count; end++) {
        const char *const text_at = instruction_of(lines[end]), *const label = strstr(text_at, " L");
        if ((!starts(text_at, "s_cbranch") && !starts(text_at, "s_branch")) || !label) continue;
        const unsigned long head = strtoul(label + 2, NULL, 16);
        if (head > address_of(lines[end])) continue;
        size_t begin = end;
        while (begin > 0 && address_of(lines[begin]) > head) begin--;
        counts c = {0};
        for (size_t i = begin; i <= end; i++) count(instruction_of(lines[i]), &c);
        const int starts_dma = c.lds_dma && !best.lds_dma, lacks_dma = !c.lds_dma && best.lds_dma;
        if (!c.mfma || lacks_dma || (!starts_dma && end - begin >= best_length)) continue;
        best = c;
        best_length = end - begin;
    }
    return best;
}

static unsigned long long fnv1a(const unsigned char *data, size_t size) {
    unsigned long long hash = 0xcbf29ce484222325ull;
    for (size_t i = 0; i < size; i++) hash = (hash ^ data[i]) * 0x100000001b3ull;
    return hash;
}

static cdnagen_status generate(const plan *p, bytes *object, text *listing) {
    compile *c = NULL;
    cdnagen_status status = compile_emit(p, &c);
    if (status == CDNAGEN_OK) status = compile_verify(c);
    if (status == CDNAGEN_OK) status = compile_optimise(c);
    if (status == CDNAGEN_OK) status = compile_codegen(c);
    if (status == CDNAGEN_OK) status = compile_link(c, object);
    compile_free(c);
    return status == CDNAGEN_OK ? compile_disassemble(object->data, object->size, listing) : status;
}

/* One golden line; nothing for a shape that the tag cannot serve. */
static cdnagen_status add_line(const golden_chip *of, const char *tag, const char *shape, text *out) {
    char full[512];
    snprintf(full, sizeof full, "%s:%s", of->operator_name, tag);
    target t;
    plan p;
    TRY(target_parse(of->name, &t));
    const cdnagen_status planned = plan_make(full, shape, &t, 0, &p);
    if (planned == CDNAGEN_LIMIT) return CDNAGEN_OK;
    TRY(planned);
    bytes object = {0};
    text listing = {0};
    cdnagen_status status = generate(&p, &object, &listing);
    codeobj o;
    codeobj_kernel k;
    if (status == CDNAGEN_OK) status = codeobj_open(object.data, object.size, &o);
    if (status == CDNAGEN_OK) status = codeobj_find(&o, p.symbol, &k);
    if (status == CDNAGEN_OK) {
        const counts c = steady_loop(listing.data);
        text_add(
            out,
            "%s %s : mfma=%u valu=%u salu=%u lds_dma=%u lds_reads=%u loads=%u stores=%u waits=%u full_waits=%u "
            "barriers=%u nops=%u accvgpr=%u vgpr=%u agpr=%u sgpr=%u lds=%u scratch=%u spills=%u code=%u hash=%016llx\n",
            tag, shape, c.mfma, c.valu, c.salu, c.lds_dma, c.lds_reads, c.loads, c.stores, c.waits, c.full_waits,
            c.barriers, c.nops, c.accvgpr, k.vgpr, k.agpr, k.sgpr, k.lds_bytes, k.scratch_bytes,
            k.vgpr_spills + k.sgpr_spills, k.code_bytes, fnv1a(o.data + o.text_offset, o.text_bytes));
    }
    text_free(&listing);
    bytes_free(&object);
    return status;
}

static int read_file(const char *path, text *out) {
    FILE *const f = fopen(path, "r");
    if (!f) return 0;
    char part[4096];
    for (size_t n; (n = fread(part, 1, sizeof part, f)) > 0;) text_add_bytes(out, part, n);
    fclose(f);
    return out->data != NULL;
}

/* The line of `lines` that begins as `line` does up to " : ", or NULL. */
static const char *same_kernel(const char *lines, const char *line) {
    const size_t name = (size_t)(strstr(line, " : ") - line) + 3;
    for (const char *at = lines; *at; at += strcspn(at, "\n"), at += *at == '\n')
        if (!strncmp(at, line, name)) return at;
    return NULL;
}

/* Print every figure that differs between two lines of one kernel; how many did. */
static int compare(const char *expected, const char *got) {
    int differences = 0;
    const int name = (int)(strstr(got, " : ") - got);
    const char *a = strstr(expected, " : ") + 3, *b = strstr(got, " : ") + 3;
    while (*a && *a != '\n' && *b && *b != '\n') {
        const size_t la = strcspn(a, " \n"), lb = strcspn(b, " \n");
        if (la != lb || strncmp(a, b, la)) {
            fprintf(stderr, "%.*s: %.*s, golden has %.*s\n", name, got, (int)lb, b, (int)la, a);
            differences++;
        }
        a += la + (a[la] == ' ');
        b += lb + (b[lb] == ' ');
    }
    return differences;
}

static int check_bars(const bar *bars, const char *line) {
    int differences = 0;
    for (int i = 0; i < BARS_MAX && bars[i].figure; i++) {
        const bar *const b = &bars[i];
        const unsigned long value = strtoul(strstr(line, b->figure) + strlen(b->figure), NULL, 10);
        if (value >= b->least && value <= b->most) continue;
        fprintf(stderr, "%.*s:%s%lu, must be %lu to %lu\n", (int)strcspn(line, ":"), line, b->figure, value, b->least,
                b->most);
        differences++;
    }
    return differences;
}

static int check(const golden_chip *of, const char *golden, const char *now) {
    int differences = check_bars(of->bars, now), kernels = 0;
    for (const char *at = now; *at; at += strcspn(at, "\n"), at += *at == '\n', kernels++) {
        const char *const expected = same_kernel(golden, at);
        if (expected) {
            differences += compare(expected, at);
            continue;
        }
        fprintf(stderr, "%.*s: not in the golden file\n", (int)strcspn(at, ":"), at);
        differences++;
    }
    for (const char *at = golden; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        if (same_kernel(now, at)) continue;
        fprintf(stderr, "%.*s: golden, but no longer generated\n", (int)strcspn(at, ":"), at);
        differences++;
    }
    printf("%s %s: %d kernels, %d differences\n", of->operator_name, of->name, kernels, differences);
    if (differences) printf("if they are meant: ./dev golden, and commit what it writes\n");
    return differences != 0;
}

/* Write a chip's file, or compare with it; 1 if that failed. */
static int make(const golden_chip *of, int checking) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s_%s.txt", GOLDEN_DIR, of->operator_name, of->name);
    text now = {0}, golden = {0};
    for (int t = 0; t < TAGS_MAX && of->tags[t]; t++)
        for (int s = 0; s < SHAPES_MAX && of->shapes[s]; s++)
            if (add_line(of, of->tags[t], of->shapes[s], &now) != CDNAGEN_OK) {
                fprintf(stderr, "%s %s: %s\n", of->tags[t], of->shapes[s], cdnagen_error());
                return 1;
            }
    int failed = now.failed;
    if (checking && !failed) {
        failed = !read_file(path, &golden);
        if (failed) fprintf(stderr, "%s cannot be read\n", path);
        if (!failed) failed = check(of, golden.data, now.data);
    } else if (!failed) {
        FILE *const f = fopen(path, "w");
        failed = !f || fwrite(now.data, 1, now.length, f) != now.length;
        if (f && fclose(f)) failed = 1;
        if (failed) fprintf(stderr, "%s cannot be written\n", path);
    }
    text_free(&now);
    text_free(&golden);
    return failed;
}

int main(int argc, char **argv) {
    const int checking = argc > 1 && !strcmp(argv[1], "--check");
    if (argc > 1 && !checking) {
        fprintf(stderr, "usage: golden           write %s anew\n       golden --check   compare with it\n", GOLDEN_DIR);
        return 2;
    }
    int failed = 0;
    for (size_t i = 0; i < sizeof golden_chips / sizeof *golden_chips; i++) failed |= make(&golden_chips[i], checking);
    return failed;
}
