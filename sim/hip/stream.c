/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Streams and events. */
#include "sim/hip/machine.h"

int is_stream(hip_stream stream) {
    for (struct hip_stream_object *s = sim.streams; s; s = s->next)
        if (s == stream) return 1;
    return stream == NULL;
}

hip_error sim_stream_create_with_flags(hip_stream *stream, unsigned flags) {
    if (!stream || flags > STREAM_NON_BLOCKING) return HIP_ERROR_INVALID_VALUE;
    ENTER();
    struct hip_stream_object *s = mem_alloc(sizeof *s);
    if (!s) return finish(HIP_ERROR_OUT_OF_MEMORY);
    current_device(); /* makes the thread's ordinal one that exists */
    *s = (struct hip_stream_object){.next = sim.streams, .device = current_ordinal, .flags = flags};
    sim.streams = s;
    *stream = s;
    return finish(HIP_SUCCESS);
}
hip_error sim_stream_create(hip_stream *stream) { return sim_stream_create_with_flags(stream, 0); }

hip_error sim_stream_destroy(hip_stream stream) {
    ENTER();
    for (struct hip_stream_object **link = &sim.streams; *link; link = &(*link)->next)
        if (*link == stream) {
            capture_leave(stream);
            *link = stream->next;
            mem_free(stream);
            return finish(HIP_SUCCESS);
        }
    return finish(HIP_ERROR_INVALID_HANDLE);
}

static hip_error wait_for(hip_stream stream) {
    if (!is_stream(stream)) return finish(HIP_ERROR_INVALID_HANDLE);
    const hip_error refused = stream ? capture_refuses_wait(stream) : capture_refuses_legacy();
    return refused ? finish(refused) : finish_synchronous(HIP_SUCCESS);
}
hip_error sim_stream_synchronize(hip_stream stream) {
    ENTER();
    return wait_for(stream);
}
hip_error sim_stream_query(hip_stream stream) { return sim_stream_synchronize(stream); }
hip_error sim_device_synchronize(void) {
    ENTER();
    const hip_error refused = capture_refuses_wait(NULL);
    return refused ? finish(refused) : finish_synchronous(HIP_SUCCESS);
}

hip_error sim_stream_get_flags(hip_stream stream, unsigned *flags) {
    if (!flags) return HIP_ERROR_INVALID_VALUE;
    ENTER();
    if (!is_stream(stream)) return finish(HIP_ERROR_INVALID_HANDLE);
    *flags = stream ? stream->flags : 0;
    return finish(HIP_SUCCESS);
}

/* ---- events ---- */

static int is_event(hip_event event) {
    for (struct hip_event_object *e = sim.events; e; e = e->next)
        if (e == event) return 1;
    return 0;
}

/* The flags ask for blocking waits, for no times, for use between processes: the first changes nothing here. */
enum { EVENT_BLOCKING = 1, EVENT_NO_TIMING = 2 };
hip_error sim_event_create_with_flags(hip_event *event, unsigned flags) {
    if (!event || flags & ~(unsigned)(EVENT_BLOCKING | EVENT_NO_TIMING)) return HIP_ERROR_INVALID_VALUE;
    ENTER();
    struct hip_event_object *e = mem_alloc(sizeof *e);
    if (!e) return finish(HIP_ERROR_OUT_OF_MEMORY);
    e->timed = !(flags & EVENT_NO_TIMING);
    e->next = sim.events;
    sim.events = e;
    *event = e;
    return finish(HIP_SUCCESS);
}
hip_error sim_event_create(hip_event *event) { return sim_event_create_with_flags(event, 0); }

hip_error sim_event_destroy(hip_event event) {
    ENTER();
    for (struct hip_event_object **link = &sim.events; *link; link = &(*link)->next)
        if (*link == event) {
            *link = event->next;
            mem_free(event);
            return finish(HIP_SUCCESS);
        }
    return finish(HIP_ERROR_INVALID_HANDLE);
}

hip_error sim_event_record(hip_event event, hip_stream stream) {
    ENTER();
    if (!is_event(event) || !is_stream(stream)) return finish(HIP_ERROR_INVALID_HANDLE);
    const hip_error refused = stream ? HIP_SUCCESS : capture_refuses_legacy();
    if (refused) return finish(refused);
    event->stream = stream;
    event->capture = stream ? stream->capture : NULL;
    event->recorded = !event->capture;
    clock_gettime(CLOCK_MONOTONIC, &event->at);
    return finish(HIP_SUCCESS);
}

static hip_error check_event(hip_event event) {
    if (!is_event(event)) return HIP_ERROR_INVALID_HANDLE;
    return event->capture ? HIP_ERROR_CAPTURED_EVENT : HIP_SUCCESS;
}
hip_error sim_event_synchronize(hip_event event) {
    ENTER();
    const hip_error error = check_event(event);
    return error ? finish(error) : finish_synchronous(HIP_SUCCESS);
}
hip_error sim_event_query(hip_event event) { return sim_event_synchronize(event); }

hip_error sim_event_elapsed_time(float *ms, hip_event start, hip_event stop) {
    if (!ms) return HIP_ERROR_INVALID_VALUE;
    ENTER();
    hip_error error = check_event(start);
    if (!error) error = check_event(stop);
    if (!error && (!start->recorded || !stop->recorded || !start->timed || !stop->timed))
        error = HIP_ERROR_INVALID_HANDLE;
    if (!error)
        *ms = (float)(1e3 * (double)(stop->at.tv_sec - start->at.tv_sec) +
                      1e-6 * (double)(stop->at.tv_nsec - start->at.tv_nsec));
    return finish(error);
}

static hip_error refuse(capture *a, capture *b, hip_error error) {
    if (a) capture_invalidate(a);
    if (b) capture_invalidate(b);
    return error;
}

/* Outside of captures the order is kept already. Inside, waiting for an event brings a stream into its capture, or
 * brings the event's stream back. */
static hip_error wait_event(hip_stream stream, hip_event event) {
    if (!stream) return event->capture ? refuse(event->capture, NULL, HIP_ERROR_STREAM_CAPTURE_IMPLICIT) : HIP_SUCCESS;
    if (!event->capture)
        return stream->capture && event->recorded ? refuse(stream->capture, NULL, HIP_ERROR_STREAM_CAPTURE_ISOLATION)
                                                  : HIP_SUCCESS;
    if (stream->capture && stream->capture != event->capture)
        return refuse(stream->capture, event->capture, HIP_ERROR_STREAM_CAPTURE_MERGE);
    if (!stream->capture) {
        stream->capture = event->capture;
        stream->joined = 0;
    }
    if (is_stream(event->stream) && event->stream != stream) event->stream->joined = 1;
    return HIP_SUCCESS;
}
hip_error sim_stream_wait_event(hip_stream stream, hip_event event, unsigned flags) {
    if (flags) return HIP_ERROR_INVALID_VALUE;
    ENTER();
    return finish(is_event(event) && is_stream(stream) ? wait_event(stream, event) : HIP_ERROR_INVALID_HANDLE);
}
