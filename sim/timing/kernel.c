/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* From a launch to its modelled time: which workgroups are looked at, what the others of the XCD do to the caches, and
 * what follows for the whole grid. */
#include "sim/timing/kernel.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/dispatch.h"
#include "sim/timing/model.h"
#include "sim/timing/report.h"

/* Limits of one look, in instructions of waves: a few seconds. */
enum { DETAIL_INSTRUCTIONS = 3000000, WALK_INSTRUCTIONS = 4000000, ROUNDS = 3, PEERS_LEAST = 3 };

static struct {
    pthread_mutex_t lock;
    const chip *chip;
    sim_timing_options options;
    parameters parameters;
    sim_timing *out; /* NULL: nobody asked */
} next = {.lock = PTHREAD_MUTEX_INITIALIZER};

cdnagen_status sim_timing_next(const chip *c, const sim_timing_options *options, sim_timing *out) {
    parameters q;
    TRY(parameters_of(c, options->parameters, &q));
    if (options->traffic > 0) {
        q.mall_width /= options->traffic;
        q.hbm_width /= options->traffic;
    }
    *out = (sim_timing){0};
    pthread_mutex_lock(&next.lock);
    next.chip = c;
    next.options = *options;
    next.parameters = q;
    next.out = out;
    pthread_mutex_unlock(&next.lock);
    return CDNAGEN_OK;
}

void sim_timing_free(sim_timing *t) {
    if (!t) return;
    pthread_mutex_lock(&next.lock);
    if (next.out == t) next.out = NULL; /* the launch never came */
    pthread_mutex_unlock(&next.lock);
    text_free(&t->notes);
    arena_free(&t->memory);
    *t = (sim_timing){0};
}

static uint64_t divide_up(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

/* ---- one look at a launch ---- */

typedef struct look {
    const parameters *q;
    launch launch; /* a copy: with the observer, without late completion */
    const codeobj_kernel *kernel;
    sim_timing *out;
    cu cu;
    op *ops;
    occupancy occupancy;
    /* the detailed CU is number `column` of XCD 0; its list has `positions` workgroups, of which `sample` are looked
     * at */
    uint64_t groups, meant, on_xcd; /* meant: of the launch that this one stands for */
    uint32_t per_xcd, column, positions, sample;
    uint64_t *id, *done;
    uint32_t *position; /* of each sampled workgroup in the CU's list */
    /* observer */
    trace *tracing; /* NULL: the CU is running */
    tags traced_l1;
    line_set saved; /* segments whose content is in `content` */
    uint64_t *saved_at;
    unsigned char *content;
    size_t saved_count, saved_capacity;
    int out_of_memory;
    uint64_t walked, walked_instructions;
} look;

/* save_segment: what 64 bytes held before the first store there. */
static int save_segment(look *k, uint64_t segment) {
    int fresh;
    if (!line_set_add(&k->saved, segment, 1, &fresh)) return 0;
    if (!fresh) return 1;
    if (k->saved_count == k->saved_capacity) {
        const size_t capacity = k->saved_capacity ? 2 * k->saved_capacity : 1024;
        uint64_t *at = mem_realloc(k->saved_at, capacity * sizeof *at);
        if (at) k->saved_at = at;
        unsigned char *content = mem_realloc(k->content, capacity * SEGMENT_BYTES);
        if (content) k->content = content;
        if (!at || !content) return 0;
        k->saved_capacity = capacity;
    }
    memcpy(k->content + k->saved_count * SEGMENT_BYTES, (const void *)(uintptr_t)(segment * SEGMENT_BYTES),
           SEGMENT_BYTES);
    k->saved_at[k->saved_count++] = segment;
    return 1;
}
static void put_back(look *k) {
    for (size_t i = 0; i < k->saved_count; i++)
        memcpy((void *)(uintptr_t)(k->saved_at[i] * SEGMENT_BYTES), k->content + i * SEGMENT_BYTES, SEGMENT_BYTES);
}

static int trace_footprint(look *k, const footprint *f) {
    uint64_t before = UINT64_MAX;
    for (int i = 0; i < f->segments; i++) {
        const uint64_t line = footprint_line(f, i);
        int hit = 0;
        if (line == before && !f->store) continue; /* a store's segments count one by one, as its bytes do */
        before = line;
        if (!f->store) tags_take(&k->traced_l1, line, &hit);
        if (!hit && !trace_add(k->tracing, line, f->store)) return 0;
    }
    return trace_next(k->tracing);
}

static void observe(void *user, wave *w, const transfer *a) {
    look *k = user;
    k->cu.seen = a;
    if (a->in->row->format != F_VMEM) return;
    footprint f;
    footprint_of(w, a, &f);
    int ok = 1;
    for (int i = 0; f.store && ok && i < f.segments; i++) ok = save_segment(k, f.segment[i]);
    if (k->tracing && ok) ok = trace_footprint(k, &f);
    if (!ok) k->out_of_memory = 1;
}

/* walk: run a workgroup for its memory accesses alone, its waves in turn. */
static int walk(look *k, uint64_t id, uint64_t most, trace *out) {
    group g;
    int ok = group_make(&g, &k->launch);
    k->tracing = out;
    tags_clear(&k->traced_l1);
    if (ok) group_start(&g, id);
    for (unsigned ready = 1; ok && ready && out->instructions < most;) {
        unsigned waiting = 0;
        ready = 0;
        for (unsigned i = 0; i < g.waves; i++) {
            if (g.wave[i]->state == WAVE_READY) {
                wave_step(g.wave[i]);
                out->instructions++;
                ready++;
            } else if (g.wave[i]->state == WAVE_AT_BARRIER) {
                waiting++;
            }
        }
        for (unsigned i = 0; !ready && waiting && i < g.waves; i++)
            if (g.wave[i]->state == WAVE_AT_BARRIER) g.wave[i]->state = WAVE_READY;
        ready += waiting;
        if (k->out_of_memory || atomic_load(&k->launch.faulted)) ok = 0;
    }
    group_free(&g);
    k->tracing = NULL;
    k->walked++;
    k->walked_instructions += out->instructions;
    return ok;
}

static uint64_t group_at(const look *k, uint32_t xcd, uint32_t column, uint32_t position) {
    return xcd + (uint64_t)k->cu.chip->xcds * (column + (uint64_t)position * k->per_xcd);
}

static int note_readers(look *k, uint32_t xcd, const trace *t) {
    int fresh;
    for (uint32_t i = 0; i < t->lines; i++)
        if (!(t->line[i] & 1) && !line_set_add(&k->cu.traffic.xcds, t->line[i] >> 1, (uint8_t)(1u << xcd), &fresh))
            return 0;
    return 1;
}

/* columns_of: CUs of the XCD that have a workgroup at a position of their lists. */
static uint32_t columns_of(const look *k, uint32_t position) {
    const uint64_t before = (uint64_t)position * k->per_xcd;
    return k->on_xcd <= before ? 0 : k->on_xcd - before < k->per_xcd ? (uint32_t)(k->on_xcd - before) : k->per_xcd;
}

/* walk_position: the workgroups that run beside the detailed one at the i-th sampled position, on its XCD and on
 * others. */
static int walk_position(look *k, uint32_t i, uint32_t peers, uint64_t most) {
    const uint32_t columns = columns_of(k, k->position[i]);
    if (peers > columns) peers = columns;
    k->cu.peers[i] = mem_alloc((peers ? peers : 1) * sizeof *k->cu.peers[i]);
    if (!k->cu.peers[i]) return 0;
    for (uint32_t n = 0; n < peers; n++) {
        const uint32_t column = (uint32_t)((uint64_t)n * columns / peers);
        if (column == k->column) continue;
        trace *t = &k->cu.peers[i][k->cu.peer_count[i]++];
        if (!walk(k, group_at(k, 0, column, k->position[i]), most, t)) return 0;
    }
    for (uint32_t xcd = 1; xcd < (uint32_t)k->cu.chip->xcds; xcd++) {
        const uint64_t id = group_at(k, xcd, k->column, k->position[i]);
        trace t = {0};
        if (id >= k->groups) continue;
        const int ok = walk(k, id, most, &t) && note_readers(k, xcd, &t);
        trace_free(&t);
        if (!ok) return 0;
    }
    return 1;
}

/* choose_column: the CU whose first workgroup has the most to do, of a few that have the longest lists. */
static int choose_column(look *k, uint64_t *instructions) {
    const uint32_t columns = columns_of(k, k->positions - 1), tries = columns < 8 ? columns : 8;
    uint64_t most = 0, sum = 0;
    for (uint32_t n = 0; n < tries; n++) {
        const uint32_t column = (uint32_t)((uint64_t)n * columns / tries);
        trace t = {0};
        const int ok = walk(k, group_at(k, 0, column, 0), WALK_INSTRUCTIONS / 8, &t);
        const uint64_t count = t.instructions;
        trace_free(&t);
        if (!ok) return 0;
        sum += count;
        if (count <= most) continue;
        most = count;
        k->column = column;
    }
    *instructions = most ? most : 1;
    if (most * tries > sum + sum / 10)
        text_add(
            &k->out->notes,
            "Workgroups differ in length: of %u looked at, the longest issues %.2f times the mean; the CU that has "
            "it was taken, and bytes and shares are told as if all were as long.\n",
            tries, (double)most * tries / (double)sum);
    return 1;
}

/* sample: positions of the CU's list that are run in detail: all, or evenly spread ones. */
static int make_sample(look *k, uint64_t instructions, uint64_t detail) {
    const uint32_t resident = k->occupancy.workgroups_per_cu;
    uint64_t most = detail / instructions;
    if (most > (uint64_t)ROUNDS * resident) most = (uint64_t)ROUNDS * resident;
    if (most < resident + 1) most = resident + 1;
    k->sample = k->positions < most ? k->positions : (uint32_t)most;
    k->id = mem_alloc(k->sample * sizeof *k->id);
    k->done = mem_alloc(k->sample * sizeof *k->done);
    k->position = mem_alloc(k->sample * sizeof *k->position);
    k->cu.peers = mem_alloc(k->sample * sizeof *k->cu.peers);
    k->cu.peer_count = mem_alloc(k->sample * sizeof *k->cu.peer_count);
    if (!k->id || !k->done || !k->position || !k->cu.peers || !k->cu.peer_count) return 0;
    for (uint32_t i = 0; i < k->sample; i++) {
        k->position[i] = (uint32_t)((uint64_t)i * k->positions / k->sample);
        k->id[i] = group_at(k, 0, k->column, k->position[i]);
    }
    return 1;
}

static int walk_all(look *k, uint64_t instructions) {
    const uint32_t xcds = (uint32_t)k->cu.chip->xcds;
    const uint64_t affordable = WALK_INSTRUCTIONS / (instructions * k->sample);
    uint32_t peers = affordable > PEERS_LEAST + xcds ? (uint32_t)affordable - xcds : PEERS_LEAST;
    const uint32_t columns = columns_of(k, 0);
    if (peers > columns) peers = columns;
    for (uint32_t i = 0; i < k->sample; i++)
        if (!walk_position(k, i, peers, WALK_INSTRUCTIONS / 8)) return 0;
    const uint64_t meant = divide_up(k->meant, xcds), cus = (uint64_t)k->cu.chip->cus / xcds;
    const uint32_t at_once = meant < cus ? (uint32_t)meant : (uint32_t)cus;
    k->cu.traffic.weight = (double)at_once / (k->cu.peer_count[0] + 1);
    if (k->cu.peer_count[0] + 1 < at_once)
        text_add(&k->out->notes,
                 "Of the %u CUs of the XCD %u were walked; each stands for %.1f at the shared caches.\n", at_once,
                 k->cu.peer_count[0] + 1, k->cu.traffic.weight);
    return 1;
}

/* find_loops: branches backwards. */
static int find_loops(look *k) {
    const program *p = k->launch.program;
    size_t n = 0;
    for (int pass = 0; pass < 2; pass++) {
        n = 0;
        for (size_t i = 0; i < p->count; i++) {
            const char *name = p->code[i].row ? p->code[i].row->name : "";
            if (k->ops[i].group != GROUP_BRANCH || p->code[i].target > i) continue;
            if (strncmp(name, "s_cbranch", 9) && strcmp(name, "s_branch")) continue;
            if (pass) {
                k->cu.loop[n] = (loop_sum){.first = p->code[i].target, .last = i};
                k->ops[i].loop = (int)n;
            }
            n++;
        }
        if (!pass && !(k->cu.loop = mem_alloc((n ? n : 1) * sizeof *k->cu.loop))) return 0;
    }
    k->cu.loops = n;
    return 1;
}

static int compare_clk(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* extrapolate: the CU's whole list from its sample: the first to end, and then one after another at the steady pace. */
static double extrapolate(look *k, int finished, uint64_t clk, uint64_t instructions) {
    const uint32_t resident = k->occupancy.workgroups_per_cu;
    if (!finished) {
        const double part = (double)k->cu.instructions / ((double)instructions * k->positions);
        text_add(&k->out->notes,
                 "Stopped after %llu instructions, about %.3g of what this CU has to do; the rest was taken to go on "
                 "alike.\n",
                 (unsigned long long)k->cu.instructions, part < 1 ? part : 1);
        return (double)clk / (part < 1 ? part : 1);
    }
    if (k->sample == k->positions) return (double)clk;
    qsort(k->done, k->sample, sizeof *k->done, compare_clk);
    const uint64_t first = k->done[resident - 1];
    const double each = (double)(k->done[k->sample - 1] - first) / (k->sample - resident);
    text_add(
        &k->out->notes,
        "%u of the CU's %u workgroups were run, evenly spread; after the first %u ended, one took %.0f clk, and the "
        "others were taken to do so.\n",
        k->sample, k->positions, resident, each);
    return (double)k->done[k->sample - 1] + each * (k->positions - k->sample);
}

static int run_look(look *k, const sim_timing_options *options) {
    const uint64_t detail = options->instructions_most ? options->instructions_most : DETAIL_INSTRUCTIONS;
    const double slots = (double)k->occupancy.workgroups_per_cu * k->cu.chip->cus;
    uint64_t instructions, clk;
    k->ops = ops_classify(k->launch.program, k->q);
    k->cu.ops = k->ops;
    k->cu.instruction = mem_alloc((k->launch.program->count + 1) * sizeof *k->cu.instruction);
    if (!k->ops || !k->cu.instruction || !find_loops(k) || !tags_make(&k->traced_l1, k->q->l1_kib, k->q->l1_ways) ||
        !traffic_make(&k->cu.traffic, k->q, k->cu.chip, (double)k->meant < slots ? (double)k->meant : slots))
        return 0;
    if (!choose_column(k, &instructions) || !make_sample(k, instructions, detail) || !walk_all(k, instructions))
        return 0;
    const int finished = cu_run(&k->cu, k->id, k->sample, k->occupancy.workgroups_per_cu, detail, k->done, &clk);
    if (atomic_load(&k->launch.faulted) || k->out_of_memory || k->cu.traffic.failed) return 0;
    k->out->complete = finished;
    k->out->cu_clk = (double)clk;
    k->out->kernel_clk = extrapolate(k, finished, clk, instructions);
    const double looked = finished ? k->sample : (double)k->cu.instructions / (double)instructions;
    return report_fill(k->out, &k->cu, k->launch.program, (double)k->meant / (looked > 0 ? looked : 1));
}

static void look_free(look *k) {
    for (uint32_t i = 0; k->cu.peers && i < k->sample; i++) {
        for (uint32_t n = 0; k->cu.peers[i] && n < k->cu.peer_count[i]; n++) trace_free(&k->cu.peers[i][n]);
        mem_free(k->cu.peers[i]);
    }
    mem_free(k->cu.peers);
    mem_free(k->cu.peer_count);
    mem_free(k->cu.instruction);
    mem_free(k->cu.loop);
    mem_free(k->ops);
    mem_free(k->id);
    mem_free(k->done);
    mem_free(k->position);
    mem_free(k->saved_at);
    mem_free(k->content);
    line_set_free(&k->saved);
    tags_free(&k->traced_l1);
    traffic_free(&k->cu.traffic);
}

static void model(launch *l, const codeobj_kernel *kernel, const sim_timing_options *options, const parameters *q,
                  sim_timing *out) {
    const chip *c = l->chip;
    const uint32_t threads = l->block[0] * l->block[1] * l->block[2];
    look k = {.q = q, .kernel = kernel, .out = out};
    k.launch = (launch){.chip = c,
                        .program = l->program,
                        .memory = l->memory,
                        .threads = 1,
                        .entry = l->entry,
                        .rsrc1 = l->rsrc1,
                        .rsrc2 = l->rsrc2,
                        .properties = l->properties,
                        .preload = l->preload,
                        .vgprs = l->vgprs,
                        .kernarg = l->kernarg,
                        .packet = l->packet,
                        .grid = {l->grid[0], l->grid[1], l->grid[2]},
                        .block = {l->block[0], l->block[1], l->block[2]},
                        .lds_bytes = l->lds_bytes,
                        .scratch_bytes = l->scratch_bytes,
                        .observe = observe,
                        .observer = &k};
    k.cu = (cu){.q = q, .chip = c, .launch = &k.launch, .event = options->event, .event_user = options->event_user};
    k.groups = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
    k.meant = options->stands_for > k.groups ? options->stands_for : k.groups;
    k.on_xcd = divide_up(k.groups, (uint64_t)c->xcds);
    k.positions = (uint32_t)divide_up(divide_up(k.meant, (uint64_t)c->xcds), (uint64_t)(c->cus / c->xcds));
    k.per_xcd = (uint32_t)divide_up(k.on_xcd, k.positions);
    k.positions = (uint32_t)divide_up(k.on_xcd, k.per_xcd);
    k.occupancy = codeobj_occupancy(c, kernel, threads, l->lds_bytes - kernel->lds_bytes);
    if (!k.occupancy.workgroups_per_cu) k.occupancy.workgroups_per_cu = 1;
    *out = (sim_timing){.chip = c,
                        .groups = k.groups,
                        .waves_per_group = (threads + LANES - 1) / LANES,
                        .groups_per_cu = k.occupancy.workgroups_per_cu,
                        .waves_per_simd = k.occupancy.waves_per_simd,
                        .limit = k.occupancy.limit};
    memcpy(out->kernel, kernel->name, sizeof out->kernel);
    const int ok = run_look(&k, options);
    out->groups_detailed = k.sample;
    out->groups_walked = k.walked;
    put_back(&k);
    if (!ok && !atomic_exchange(&l->faulted, 1))
        snprintf(l->fault, sizeof l->fault, "%s",
                 atomic_load(&k.launch.faulted) ? k.launch.fault : "host memory for the timing model ran out");
    look_free(&k);
}

int timing_launch(launch *l, const codeobj_kernel *k) {
    pthread_mutex_lock(&next.lock);
    sim_timing *out = next.out && next.chip == l->chip ? next.out : NULL;
    const sim_timing_options options = next.options;
    const parameters q = next.parameters;
    if (out) next.out = NULL;
    pthread_mutex_unlock(&next.lock);
    if (!out) return 0;
    model(l, k, &options, &q, out);
    return options.only || atomic_load(&l->faulted);
}
