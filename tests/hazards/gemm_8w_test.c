/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The 8-wave core's waits and barriers: kernels are silent under every check and right with results that appear late, from
 * 1 K tile to 5; and each wait and each barrier of the loop over K tiles is needed: let it wait for one operation less, or
 * leave it out, and the checks name a race or a register that is read too early. */
#include <stdio.h>
#include <stdlib.h>

#include "core/codeobj.h"
#include "gen/gemm_blockscale/gemm_blockscale.h"
#include "runtime/compile.h"
#include "sim/sim.h"
#include "tests/gen/testing.h"

enum { ARGS_BYTES_MAX = 512 };
#define OP "gemm_blockscale:mfma16x16x128_"

/* job: a kernel, its launch and data on the device. */
typedef struct job {
    plan plan;
    bytes object;
    problem problem;
    void *device[PROBLEM_BUFFERS_MAX];
    launch launch;
} job;

static bytes compiled(const plan *p) {
    bytes object = {0};
    compile *c = NULL;
    assert_int_equal(compile_emit(p, &c), CDNAGEN_OK);
    assert_int_equal(compile_verify(c), CDNAGEN_OK);
    assert_int_equal(compile_optimise(c), CDNAGEN_OK);
    assert_int_equal(compile_codegen(c), CDNAGEN_OK);
    assert_int_equal(compile_link(c, &object), CDNAGEN_OK);
    compile_free(c);
    return object;
}

static void begin(job *j, const char *tag, const char *shape) {
    char full[256];
    snprintf(full, sizeof full, OP "%s", tag);
    *j = (job){.plan = plan_of(full, shape)};
    j->object = compiled(&j->plan);
    assert_int_equal(j->plan.family->workload->make(&j->plan, 1, &j->problem), CDNAGEN_OK);
    assert_int_equal(j->plan.family->workload->reference(&j->plan, &j->problem), CDNAGEN_OK);
}

static void end(job *j) {
    j->plan.family->workload->release(&j->problem);
    bytes_free(&j->object);
}

/* Launch `object` in this mode: does the simulator stop it? `pass`: are the results right? */
static hip_error run(job *j, const bytes *object, const char *mode, int *pass, char *fault, size_t room) {
    const family *const f = j->plan.family;
    const hip_table *gpu;
    hip_module module;
    hip_function function;
    _Alignas(16) unsigned char args[ARGS_BYTES_MAX];
    void *back[PROBLEM_BUFFERS_MAX] = {NULL};
    assert_true(f->args_bytes <= sizeof args);
    assert_int_equal(sim_open(j->plan.target.chip, mode, &gpu), CDNAGEN_OK);
    for (size_t i = 0; i < j->problem.buffer_count; i++) {
        const problem_buffer *const b = &j->problem.buffers[i];
        assert_int_equal(gpu->malloc(&j->device[i], b->bytes), HIP_SUCCESS);
        assert_int_equal(gpu->memcpy(j->device[i], b->data, b->bytes, HIP_MEMCPY_HOST_TO_DEVICE), HIP_SUCCESS);
    }
    f->workload->arguments(&j->plan, &j->problem, j->device, args);
    const device_facts facts = {.cus = j->plan.target.chip->cus, .workgroups_per_cu = 1};
    assert_int_equal(f->bind(&j->plan, &facts, args, &j->launch), CDNAGEN_OK);
    assert_int_equal(gpu->module_load_data(&module, object->data), HIP_SUCCESS);
    assert_int_equal(gpu->module_get_function(&function, module, j->plan.symbol), HIP_SUCCESS);
    void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, j->launch.kernarg, HIP_LAUNCH_PARAM_BUFFER_SIZE,
                     &j->launch.kernarg_bytes, HIP_LAUNCH_PARAM_END};
    const uint32_t *const grid = j->launch.grid, *const block = j->plan.block;
    hip_error error = gpu->module_launch_kernel(function, grid[0], grid[1], grid[2], block[0], block[1], block[2], 0,
                                                NULL, NULL, extra);
    if (error == HIP_SUCCESS) error = gpu->device_synchronize();
    snprintf(fault, room, "%s", error == HIP_SUCCESS ? "" : gpu->last_fault());
    for (size_t i = 0; i < j->problem.buffer_count; i++) {
        const problem_buffer *const b = &j->problem.buffers[i];
        if (b->output && error == HIP_SUCCESS) {
            back[i] = malloc(b->bytes);
            assert_non_null(back[i]);
            assert_int_equal(gpu->memcpy(back[i], j->device[i], b->bytes, HIP_MEMCPY_DEVICE_TO_HOST), HIP_SUCCESS);
        }
        assert_int_equal(gpu->free(j->device[i]), HIP_SUCCESS);
    }
    *pass = 0;
    if (error == HIP_SUCCESS) {
        grade g = {0};
        assert_int_equal(f->workload->grade_outputs(&j->plan, &j->problem, back, &g), CDNAGEN_OK);
        *pass = g.pass;
    }
    for (size_t i = 0; i < j->problem.buffer_count; i++) free(back[i]);
    assert_int_equal(gpu->module_unload(module), HIP_SUCCESS);
    return error;
}

static const char *const modes[] = {"check=all threads=1", "late poison threads=1"};
enum { MODES = sizeof modes / sizeof *modes };

static void check_right(const char *tag, const char *shape) {
    job j;
    begin(&j, tag, shape);
    for (int m = 0; m < MODES; m++) {
        char fault[512];
        int pass;
        const hip_error error = run(&j, &j.object, modes[m], &pass, fault, sizeof fault);
        if (error != HIP_SUCCESS) fail_msg("%s %s, %s: HIP %d: %s", tag, shape, modes[m], error, fault);
        if (!pass) fail_msg("%s %s, %s: wrong results", tag, shape, modes[m]);
    }
    end(&j);
}

/* Every order of turns: quarters and halves of a K tile, none; a tile whose halves are no whole DMA; an epilogue that takes
 * over LDS; workgroups that take it over for their next tile. */
static const char *const tags[] = {
    "t128x256x128_8w",         "t128x256x128_8w_delayed",     "t128x256x128_8w_cluster_cs",
    "t128x256x128_8w_fold1",   "t128x256x128_8w_fold4_cs",    "t192x256x128_8w_cluster",
    "t256x128x128_8w_delayed", "t128x128x128_8w_cluster_pers"};

static void one_to_five_k_tiles_are_silent_and_right(void **state) {
    (void)state;
    for (size_t t = 0; t < sizeof tags / sizeof *tags; t++)
        for (int tiles = 1; tiles <= 5; tiles++) {
            char shape[128];
            snprintf(shape, sizeof shape, "m=128 n=256 k=%d k_tail=0 n_tail=0 data=exact %s", 128 * tiles,
                     tiles % 2 ? "b=preshuffled" : "b=plain");
            check_right(tags[t], shape);
        }
}

/* K that ends inside a word, a chunk, an MFMA's half, and right behind a tile. */
static void k_that_ends_inside_a_tile_is_silent_and_right(void **state) {
    (void)state;
    static const int lengths[] = {1, 17, 127, 129, 255, 300, 385};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (size_t t = 0; t < 4; t++) {
            char shape[128];
            snprintf(shape, sizeof shape, "m=77 n=250 k=%d data=exact", lengths[i]);
            check_right(tags[t], shape);
        }
}

/* ---- faults ---- */

static const char *instruction_of(const char *line) {
    if (*line != ' ') return NULL;
    line += strspn(line, " ");
    line += strcspn(line, " ");
    return line + strspn(line, " ");
}
static uint64_t address_of(const char *line) { return strtoull(line, NULL, 16); }
static int starts(const char *line, const char *word) { return !strncmp(line, word, strlen(word)); }

enum { LINES_MAX = 8192 };
typedef struct listing {
    text text;
    const char *lines[LINES_MAX];
    int count, first, last; /* of the loop over K tiles: the one that has LDS DMA */
} listing;

static void find_loop(listing *l, const bytes *object) {
    *l = (listing){.first = -1};
    assert_int_equal(compile_disassemble(object->data, object->size, &l->text), CDNAGEN_OK);
    for (char *at = strtok(l->text.data, "\n"); at && l->count < LINES_MAX; at = strtok(NULL, "\n"))
        if (instruction_of(at)) l->lines[l->count++] = at;
    for (int end_line = 0; end_line < l->count && l->first < 0; end_line++) {
        const char *const code = instruction_of(l->lines[end_line]), *const label = strstr(code, " L");
        if (!starts(code, "s_cbranch") || !label) continue;
        const uint64_t head = strtoull(label + 2, NULL, 16);
        int line = end_line, dma = 0;
        while (line > 0 && address_of(l->lines[line]) > head) dma |= strstr(l->lines[line--], " lds") != NULL;
        if (head > address_of(l->lines[end_line]) || !dma) continue;
        l->first = line;
        l->last = end_line;
    }
    assert_true(l->first >= 0);
}

/* fault: an instruction word replaced by another. */
typedef enum fault_kind { NO_BARRIER, LESS_VMCNT, LESS_LGKMCNT, FAULT_KINDS } fault_kind;
static const char *const fault_names[FAULT_KINDS] = {"without", "one vector memory operation less by",
                                                     "one LDS operation less by"};
typedef struct fault {
    fault_kind kind;
    uint32_t word;
} fault;

enum { FAULTS_MAX = 2, VM_NONE = 63, LGKM_NONE = 15 };
#define S_NOP 0xbf800000u

static int vmcnt_of(uint32_t word) { return (int)((word & 15) | (word >> 14 & 3) << 4); }

/* What may be broken about an instruction. */
static int faults_of(const char *code, uint32_t word, fault out[FAULTS_MAX]) {
    int count = 0;
    if (starts(code, "s_barrier")) out[count++] = (fault){NO_BARRIER, S_NOP};
    if (!starts(code, "s_waitcnt")) return count;
    const int vm = vmcnt_of(word), lgkm = (int)(word >> 8 & 15);
    if (vm < VM_NONE) {
        const uint32_t more = (uint32_t)(vm + 1);
        out[count++] = (fault){LESS_VMCNT, (word & ~0xc00fu) | (more & 15) | (more >> 4) << 14};
    }
    if (lgkm < LGKM_NONE) out[count++] = (fault){LESS_LGKMCNT, word + (1u << 8)};
    return count;
}

/* spare: faults in the loop that do no harm, since something else keeps the order.
 * - A's halves of 128-row tiles: four waves read what the same four waves bring in, and need no barrier for it. Inline and
 *   delayed read and fetch between the MFMA alone: barriers around the reads of A order nothing, nor does a read of A that returns
 *   a phase late, before it is used. Cluster: the barrier before A's half 0 is read.
 * - The wait for A's half 1: a wave waits for its scales, which are younger, before it reads that half (inline, delayed, fold),
 *   or for younger halves, and who reads what the other four waves bring in is a barrier behind them (cluster). */
static const struct {
    const char *tag;
    int spare[FAULT_KINDS];
} broken[] = {{"t128x256x128_8w", {4, 1, 1}},
              {"t128x256x128_8w_delayed", {4, 1, 1}},
              {"t128x256x128_8w_cluster", {1, 1, 0}},
              {"t128x256x128_8w_fold1", {0, 1, 0}},
              {"t192x256x128_8w_cluster", {0, 1, 0}}};

static void each_wait_and_barrier_of_the_loop_is_needed(void **state) {
    (void)state;
    int wrong = 0;
    for (size_t b = 0; b < sizeof broken / sizeof *broken; b++) {
        job j;
        listing l;
        codeobj o;
        int tried[FAULT_KINDS] = {0}, silent[FAULT_KINDS] = {0};
        begin(&j, broken[b].tag, "m=128 n=256 k=640 k_tail=0 n_tail=0 data=exact b=plain");
        find_loop(&l, &j.object);
        assert_int_equal(codeobj_open(j.object.data, j.object.size, &o), CDNAGEN_OK);
        for (int line = l.first; line <= l.last; line++) {
            fault faults[FAULTS_MAX];
            const uint64_t address = address_of(l.lines[line]);
            unsigned char *const at = (unsigned char *)j.object.data + o.text_offset + (address - o.text_address);
            uint32_t word;
            memcpy(&word, at, sizeof word);
            const int count = faults_of(instruction_of(l.lines[line]), word, faults);
            for (int f = 0; f < count; f++) {
                char said[512];
                int pass;
                memcpy(at, &faults[f].word, sizeof word);
                const hip_error error = run(&j, &j.object, "check=races threads=1", &pass, said, sizeof said);
                memcpy(at, &word, sizeof word);
                const fault_kind kind = faults[f].kind;
                tried[kind]++;
                if (error == HIP_SUCCESS && silent[kind]++ >= broken[b].spare[kind])
                    fprintf(stderr, "%s: nothing is found %s%s\n", broken[b].tag, fault_names[kind], l.lines[line]);
            }
        }
        for (int kind = 0; kind < FAULT_KINDS; kind++) {
            if (silent[kind] == broken[b].spare[kind]) continue;
            fprintf(stderr, "%s: of %d faults \"%s\" %d are not found, not %d\n", broken[b].tag, tried[kind],
                    fault_names[kind], silent[kind], broken[b].spare[kind]);
            wrong = 1;
        }
        text_free(&l.text);
        end(&j);
    }
    assert_false(wrong);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_to_five_k_tiles_are_silent_and_right),
        cmocka_unit_test(k_that_ends_inside_a_tile_is_silent_and_right),
        cmocka_unit_test(each_wait_and_barrier_of_the_loop_is_needed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
