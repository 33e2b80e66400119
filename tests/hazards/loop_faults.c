/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Kernels whose loop over K is broken on purpose, run under the simulator's checks. */
#include "tests/hazards/loop_faults.h"

#include <stdlib.h>

#include "core/codeobj.h"
#include "runtime/compile.h"
#include "sim/sim.h"

enum { ARGS_BYTES_MAX = 512 };

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

static void begin(job *j, const char *chip_name, const char *tag, const char *shape) {
    *j = (job){.plan = plan_on(chip_name, tag, shape)};
    j->object = compiled(&j->plan);
    assert_int_equal(j->plan.family->workload->make(&j->plan, 1, &j->problem), CDNAGEN_OK);
    assert_int_equal(j->plan.family->workload->reference(&j->plan, &j->problem), CDNAGEN_OK);
}

static void end(job *j) {
    problem_release(&j->problem);
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

void check_right(const char *chip_name, const char *tag, const char *shape) {
    job j;
    begin(&j, chip_name, tag, shape);
    for (int m = 0; m < MODES; m++) {
        char fault[512];
        int pass;
        const hip_error error = run(&j, &j.object, modes[m], &pass, fault, sizeof fault);
        if (error != HIP_SUCCESS) fail_msg("%s %s, %s: HIP %d: %s", tag, shape, modes[m], error, fault);
        if (!pass) fail_msg("%s %s, %s: wrong results", tag, shape, modes[m]);
    }
    end(&j);
}

text disassembled(const char *chip_name, const char *tag, const char *shape) {
    const plan p = plan_on(chip_name, tag, shape);
    bytes object = compiled(&p);
    text out = {0};
    assert_int_equal(compile_disassemble(object.data, object.size, &out), CDNAGEN_OK);
    bytes_free(&object);
    return out;
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
    int count, first, last; /* of the loop over K tiles: the first that has the marker */
} listing;

static void find_loop(listing *l, const bytes *object, const char *marker) {
    *l = (listing){.first = -1};
    assert_int_equal(compile_disassemble(object->data, object->size, &l->text), CDNAGEN_OK);
    for (char *at = strtok(l->text.data, "\n"); at && l->count < LINES_MAX; at = strtok(NULL, "\n"))
        if (instruction_of(at)) l->lines[l->count++] = at;
    for (int end_line = 0; end_line < l->count && l->first < 0; end_line++) {
        const char *const code = instruction_of(l->lines[end_line]), *const label = strstr(code, " L");
        if (!starts(code, "s_cbranch") || !label) continue;
        const uint64_t head = strtoull(label + 2, NULL, 16);
        int line = end_line, has = 0;
        while (line > 0 && address_of(l->lines[line]) > head) has |= strstr(l->lines[line--], marker) != NULL;
        if (head > address_of(l->lines[end_line]) || !has) continue;
        l->first = line;
        l->last = end_line;
    }
    assert_true(l->first >= 0);
}

/* fault: an instruction word replaced by another. */
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

int loop_is_needed(const char *chip_name, const char *tag, const char *shape, const char *marker,
                   const int spare[FAULT_KINDS]) {
    job j;
    listing l;
    codeobj o;
    int tried[FAULT_KINDS] = {0}, silent[FAULT_KINDS] = {0}, right = 1;
    begin(&j, chip_name, tag, shape);
    find_loop(&l, &j.object, marker);
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
            if (error == HIP_SUCCESS && silent[kind]++ >= spare[kind])
                fprintf(stderr, "%s %s %s: nothing is found %s%s\n", chip_name, tag, shape, fault_names[kind],
                        l.lines[line]);
        }
    }
    for (int kind = 0; kind < FAULT_KINDS; kind++) {
        if (silent[kind] == spare[kind]) continue;
        fprintf(stderr, "%s %s: of %d faults \"%s\" %d are not found, not %d\n", chip_name, tag, tried[kind],
                fault_names[kind], silent[kind], spare[kind]);
        right = 0;
    }
    text_free(&l.text);
    end(&j);
    return right;
}
