/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Stream capture and graphs. The order in which works are captured is one of those that their dependencies allow, so a
 * graph is a list and is run from its start. */
#include <string.h>

#include "sim/hip/machine.h"

/* ---- recordings ---- */

static void recording_leave(recording *r) {
    if (--r->owners) return;
    while (r->first) {
        work *next = r->first->next;
        mem_free(r->first->kernarg);
        mem_free(r->first);
        r->first = next;
    }
    mem_free(r);
}

static hip_error record(recording *r, const work *w) {
    work *copy = mem_alloc(sizeof *copy);
    if (!copy) return HIP_ERROR_OUT_OF_MEMORY;
    *copy = *w;
    copy->next = NULL;
    if (w->kind == WORK_LAUNCH) {
        const size_t size = w->function->kernel.kernarg_bytes;
        copy->kernarg = mem_alloc(size ? size : 1);
        if (!copy->kernarg) {
            mem_free(copy);
            return HIP_ERROR_OUT_OF_MEMORY;
        }
        memcpy(copy->kernarg, w->kernarg, size);
    }
    *r->end = copy;
    r->end = &copy->next;
    r->count++;
    return HIP_SUCCESS;
}

/* ---- what captures refuse ---- */

static _Thread_local int thread_mode = CAPTURE_GLOBAL;

void capture_invalidate(capture *c) { c->invalid = 1; }

hip_error capture_refuses(void) {
    hip_error error = HIP_SUCCESS;
    for (capture *c = sim.captures; c && thread_mode != CAPTURE_RELAXED; c = c->next) {
        const int own = pthread_equal(c->thread, pthread_self());
        if (c->mode == CAPTURE_RELAXED || (!own && (c->mode != CAPTURE_GLOBAL || thread_mode != CAPTURE_GLOBAL)))
            continue;
        capture_invalidate(c);
        error = HIP_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    return error;
}

hip_error capture_refuses_legacy(void) {
    hip_error error = HIP_SUCCESS;
    for (capture *c = sim.captures; c; c = c->next) {
        if (c->origin->flags & STREAM_NON_BLOCKING || c->origin->device != current_ordinal) continue;
        capture_invalidate(c);
        error = HIP_ERROR_STREAM_CAPTURE_IMPLICIT;
    }
    return error;
}

hip_error capture_refuses_wait(hip_stream stream) {
    hip_error error = HIP_SUCCESS;
    for (capture *c = sim.captures; c; c = c->next) {
        if (stream ? stream->capture != c : c->origin->device != current_ordinal) continue;
        capture_invalidate(c);
        error = HIP_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    return error;
}

/* ---- capture ---- */

hip_error capture_record(hip_stream stream, const work *w) {
    capture *c = stream->capture;
    if (c->invalid) return HIP_ERROR_STREAM_CAPTURE_INVALIDATED;
    stream->joined = 0;
    return record(c->recording, w);
}

/* Streams and events forget it. */
static void capture_end(capture *c) {
    for (struct hip_stream_object *s = sim.streams; s; s = s->next)
        if (s->capture == c) s->capture = NULL;
    for (struct hip_event_object *e = sim.events; e; e = e->next)
        if (e->capture == c) e->capture = NULL;
    for (capture **link = &sim.captures; *link; link = &(*link)->next)
        if (*link == c) {
            *link = c->next;
            break;
        }
    recording_leave(c->recording);
    mem_free(c);
}

void capture_leave(hip_stream stream) {
    if (!stream->capture) return;
    if (stream->capture->origin == stream)
        capture_end(stream->capture);
    else
        capture_invalidate(stream->capture);
}

static capture *capture_make(hip_stream origin, int mode) {
    static unsigned long long made;
    capture *c = mem_alloc(sizeof *c);
    recording *r = mem_alloc(sizeof *r);
    if (!c || !r) {
        mem_free(c);
        mem_free(r);
        return NULL;
    }
    *r = (recording){.owners = 1, .end = &r->first};
    *c = (capture){.recording = r, .origin = origin, .mode = mode, .thread = pthread_self(), .id = ++made};
    return c;
}

hip_error sim_stream_begin_capture(hip_stream stream, int mode) {
    if (mode < CAPTURE_GLOBAL || mode > CAPTURE_RELAXED) return HIP_ERROR_INVALID_VALUE;
    if (!stream) return HIP_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    ENTER();
    if (!is_stream(stream)) return finish(HIP_ERROR_INVALID_HANDLE);
    if (stream->capture) return finish(HIP_ERROR_ILLEGAL_STATE);
    capture *c = capture_make(stream, mode);
    if (!c) return finish(HIP_ERROR_OUT_OF_MEMORY);
    c->next = sim.captures;
    sim.captures = c;
    stream->capture = c;
    return finish(HIP_SUCCESS);
}

/* graph_make: another one of `all`, sim's graphs or executables. */
static void *graph_make(graph_handle **all, recording *r) {
    graph_handle *g = mem_alloc(sizeof *g);
    if (!g) return NULL;
    *g = (graph_handle){.next = *all, .recording = r};
    r->owners++;
    *all = g;
    return g;
}

static hip_error end_of(const capture *c) {
    if (c->invalid) return HIP_ERROR_STREAM_CAPTURE_INVALIDATED;
    for (struct hip_stream_object *s = sim.streams; s; s = s->next)
        if (s->capture == c && s != c->origin && !s->joined) return HIP_ERROR_STREAM_CAPTURE_UNJOINED;
    return HIP_SUCCESS;
}
hip_error sim_stream_end_capture(hip_stream stream, hip_graph *graph) {
    if (!graph) return HIP_ERROR_INVALID_VALUE;
    *graph = NULL;
    ENTER();
    if (!stream || !is_stream(stream)) return finish(HIP_ERROR_INVALID_HANDLE);
    capture *c = stream->capture;
    if (!c) return finish(HIP_ERROR_ILLEGAL_STATE);
    if (c->origin != stream) return finish(HIP_ERROR_STREAM_CAPTURE_UNMATCHED);
    if (c->mode != CAPTURE_RELAXED && !pthread_equal(c->thread, pthread_self()))
        return finish(HIP_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    hip_error error = end_of(c);
    if (!error && !(*graph = graph_make(&sim.graphs, c->recording))) error = HIP_ERROR_OUT_OF_MEMORY;
    capture_end(c);
    return finish(error);
}

hip_error sim_stream_get_capture_info(hip_stream stream, int *status, unsigned long long *id) {
    if (!status) return HIP_ERROR_INVALID_VALUE;
    ENTER();
    if (!is_stream(stream)) return finish(HIP_ERROR_INVALID_HANDLE);
    for (const capture *c = sim.captures; c && !stream; c = c->next)
        if (!(c->origin->flags & STREAM_NON_BLOCKING) && c->origin->device == current_ordinal)
            return finish(HIP_ERROR_STREAM_CAPTURE_IMPLICIT);
    const capture *c = stream ? stream->capture : NULL;
    *status = !c ? 0 : c->invalid ? 2 : 1;
    if (id && c) *id = c->id;
    return finish(HIP_SUCCESS);
}
hip_error sim_stream_is_capturing(hip_stream stream, int *status) {
    return sim_stream_get_capture_info(stream, status, NULL);
}

hip_error sim_thread_exchange_capture_mode(int *mode) {
    if (!mode || *mode < CAPTURE_GLOBAL || *mode > CAPTURE_RELAXED) return HIP_ERROR_INVALID_VALUE;
    const int before = thread_mode;
    thread_mode = *mode;
    *mode = before;
    return HIP_SUCCESS;
}

/* ---- graphs ---- */

static graph_handle *graph_find(graph_handle *all, const void *handle) {
    graph_handle *g = all;
    while (g && g != handle) g = g->next;
    return g;
}

/* Flags ask for uploads, launches from kernels and priorities, none of which change what runs. */
hip_error sim_graph_instantiate(hip_graph_exec *out, hip_graph graph, unsigned long long flags) {
    (void)flags;
    if (!out) return HIP_ERROR_INVALID_VALUE;
    ENTER();
    const graph_handle *g = graph_find(sim.graphs, graph);
    if (!g) return finish(HIP_ERROR_INVALID_VALUE);
    *out = graph_make(&sim.executables, g->recording);
    return finish(*out ? HIP_SUCCESS : HIP_ERROR_OUT_OF_MEMORY);
}

hip_error sim_graph_launch(hip_graph_exec executable, hip_stream stream) {
    ENTER();
    const graph_handle *g = graph_find(sim.executables, executable);
    if (!g) return finish(HIP_ERROR_INVALID_VALUE);
    hip_error error = HIP_SUCCESS;
    for (const work *w = g->recording->first; w && !error; w = w->next) error = submit(stream, w);
    return finish(error);
}

static hip_error destroy(graph_handle **all, const void *handle) {
    ENTER();
    graph_handle **link = all;
    while (*link && *link != handle) link = &(*link)->next;
    graph_handle *const g = *link;
    if (!g) return finish(HIP_ERROR_INVALID_VALUE);
    *link = g->next;
    recording_leave(g->recording);
    mem_free(g);
    return finish(HIP_SUCCESS);
}

hip_error sim_graph_destroy(hip_graph graph) { return destroy(&sim.graphs, graph); }
hip_error sim_graph_exec_destroy(hip_graph_exec executable) { return destroy(&sim.executables, executable); }

hip_error sim_graph_get_nodes(hip_graph graph, hip_graph_node *nodes, size_t *count) {
    if (!count) return HIP_ERROR_INVALID_VALUE;
    ENTER();
    const graph_handle *g = graph_find(sim.graphs, graph);
    if (!g) return finish(HIP_ERROR_INVALID_VALUE);
    size_t i = 0;
    for (work *w = g->recording->first; w && nodes && i < *count; w = w->next) nodes[i++] = (hip_graph_node)w;
    *count = nodes ? i : g->recording->count;
    return finish(HIP_SUCCESS);
}
