/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Timelines of waves in the JSON trace format of Chrome and Perfetto. */
#include "study/trace.h"

#include <string.h>

#include "study/files.h"

/* About 60 MB of JSON, which the viewers still open. */
enum { EVENTS_MAX = 400000 };

struct timeline_event {
    uint64_t clk, length;
    size_t track, instruction;
    int stall; /* sim_stall or EVENT_ISSUE */
};
struct timeline_track {
    uint64_t group;
    unsigned wave;
    int simd;
    size_t last; /* its latest event, if it has one */
    int events;
};

/* ---- collecting ---- */

void timeline_start(timeline *t) { *t = (timeline){.cut = UINT64_MAX}; }

void timeline_free(timeline *t) {
    mem_free(t->events);
    mem_free(t->tracks);
    timeline_start(t);
}

/* grown: the array with room for one more, or NULL; then the old one stays. */
static void *grown(void *array, size_t count, size_t *capacity, size_t size) {
    if (count < *capacity) return array;
    const size_t wanted = *capacity ? 2 * *capacity : 64;
    void *larger = mem_realloc(array, wanted * size);
    if (larger) *capacity = wanted;
    return larger;
}

/* track_of: the waves that are resident are among the latest. */
static timeline_track *track_of(timeline *t, const sim_event *e) {
    for (size_t i = t->track_count; i-- > 0;)
        if (t->tracks[i].group == e->group && t->tracks[i].wave == e->wave) return &t->tracks[i];
    timeline_track *larger = grown(t->tracks, t->track_count, &t->track_capacity, sizeof *larger);
    if (!larger) return NULL;
    t->tracks = larger;
    t->tracks[t->track_count] = (timeline_track){.group = e->group, .wave = e->wave, .simd = e->simd};
    return &t->tracks[t->track_count++];
}

/* goes_on: the wave waits on for the same reason. */
static int goes_on(const timeline_event *last, const sim_event *e) {
    return e->stall != EVENT_ISSUE && last->stall == e->stall && last->instruction == e->instruction &&
           last->clk + last->length == e->clk;
}

void timeline_take(void *user, const sim_event *e) {
    timeline *t = user;
    if (t->failed || t->cut != UINT64_MAX) return;
    timeline_track *track = track_of(t, e);
    if (track && track->events && goes_on(&t->events[track->last], e)) {
        t->events[track->last].length += e->length;
        return;
    }
    if (track && t->event_count == EVENTS_MAX) {
        t->cut = e->clk;
        return;
    }
    timeline_event *larger = grown(t->events, t->event_count, &t->event_capacity, sizeof *larger);
    if (larger) t->events = larger;
    t->failed = !track || !larger;
    if (t->failed) return;
    track->last = t->event_count;
    track->events = 1;
    t->events[t->event_count++] = (timeline_event){.clk = e->clk,
                                                   .length = e->length,
                                                   .track = (size_t)(track - t->tracks),
                                                   .instruction = e->instruction,
                                                   .stall = e->stall};
}

/* ---- writing ---- */

static void add_string(text *out, const char *s, size_t length) {
    text_add(out, "\"");
    for (size_t i = 0; i < length; i++) {
        const unsigned char c = (unsigned char)s[i];
        if (c == '"' || c == '\\')
            text_add(out, "\\%c", c);
        else if (c < ' ')
            text_add(out, " ");
        else
            text_add_bytes(out, &c, 1);
    }
    text_add(out, "\"");
}

/* add_names: processes and threads; numbers start at 1, since viewers take 0 for the idle process. */
static void add_names(text *out, const timeline *t) {
    uint32_t named = 0;
    for (size_t i = 0; i < t->track_count; i++) {
        const timeline_track *track = &t->tracks[i];
        const int pid = track->simd + 1;
        if (!(named >> track->simd & 1))
            text_add(out, "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,\"args\":{\"name\":\"SIMD %d\"}},\n", pid,
                     track->simd);
        named |= 1u << track->simd;
        text_add(out,
                 "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%d,\"tid\":%zu,\"args\":{\"name\":\"workgroup %llu "
                 "wave %u\"}},\n",
                 pid, i + 1, (unsigned long long)track->group, track->wave);
    }
}

/* add_event: the format counts in us, with 1 clk shown as 1 ns. */
static void add_event(text *out, const timeline *t, const timeline_event *e, const sim_timing *timing) {
    const sim_instruction *x = &timing->instructions[e->instruction];
    text_add(out, "{\"ph\":\"X\",\"pid\":%d,\"tid\":%zu,\"ts\":%llu.%03u,\"dur\":%llu.%03u,\"name\":",
             t->tracks[e->track].simd + 1, e->track + 1, (unsigned long long)(e->clk / 1000), (unsigned)(e->clk % 1000),
             (unsigned long long)(e->length / 1000), (unsigned)(e->length % 1000));
    if (e->stall == EVENT_ISSUE) {
        add_string(out, x->text, strcspn(x->text, " \t"));
        text_add(out, ",\"cat\":\"%s\"", sim_kind_names[x->kind]);
    } else {
        text_add(out, "\"wait: %s\",\"cat\":\"%s\"", sim_stall_names[e->stall],
                 e->stall < (int)STALL_WAIT_ANY ? "wait_any" : "wait_inst");
    }
    text_add(out, ",\"args\":{\"address\":\"0x%x\",\"instruction\":", x->address);
    add_string(out, x->text, strlen(x->text));
    text_add(out, "}}");
}

cdnagen_status timeline_write(const timeline *t, const sim_timing *timing, const char *path) {
    text out = {0};
    text_add(&out, "{\"displayTimeUnit\":\"ns\",\n\"otherData\":{\"modelled\":\"nothing here was measured\","
                   "\"unit\":\"1 ns is 1 clk\",\"kernel\":");
    add_string(&out, timing->kernel, strlen(timing->kernel));
    text_add(&out, ",\"chip\":\"%s\",\"cu_cycles\":%.0f,\"complete\":%s", timing->chip->name, timing->cu_clk,
             t->cut == UINT64_MAX && timing->complete ? "true" : "false");
    if (t->cut != UINT64_MAX) text_add(&out, ",\"cut_at_clk\":%llu", (unsigned long long)t->cut);
    text_add(&out, "},\n\"traceEvents\":[\n");
    add_names(&out, t);
    for (size_t i = 0; i < t->event_count; i++) {
        add_event(&out, t, &t->events[i], timing);
        text_add(&out, i + 1 < t->event_count ? ",\n" : "\n");
    }
    text_add(&out, "]}\n");
    const cdnagen_status status =
        out.failed || t->failed ? fail_no_memory() : write_file(NULL, path, "", out.data, out.length);
    text_free(&out);
    return status;
}
