/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The simulated machine that the HIP functions act on, and the functions by their own names. One lock guards all of it
 * and every HIP call holds it; work is done when it is queued, so that streams and events only keep order and time. */
#ifndef SIM_HIP_MACHINE_H
#define SIM_HIP_MACHINE_H

#include <pthread.h>
#include <time.h>

#include "core/hip.h"
#include "sim/loader.h"
#include "sim/memory.h"

typedef struct hip_context_object *hip_context;

/* Errors that core/hip.h has no use for. source: hip/hip_runtime_api.h */
enum {
    HIP_ERROR_NOT_MAPPED = 211,
    HIP_ERROR_PEER_ACCESS_UNSUPPORTED = 217,
    HIP_ERROR_INVALID_CONTEXT = 201,
    HIP_ERROR_ILLEGAL_STATE = 401,
    HIP_ERROR_STREAM_CAPTURE_MERGE = 902,
    HIP_ERROR_STREAM_CAPTURE_UNMATCHED = 903,
    HIP_ERROR_STREAM_CAPTURE_UNJOINED = 904,
    HIP_ERROR_STREAM_CAPTURE_ISOLATION = 905,
    HIP_ERROR_CAPTURED_EVENT = 907,
    HIP_ERROR_STREAM_CAPTURE_WRONG_THREAD = 908
};
enum { HIP_MEMCPY_HOST_TO_HOST = 0, HIP_MEMCPY_DEFAULT = 4 };
enum { STREAM_NON_BLOCKING = 1 };
enum { CAPTURE_GLOBAL, CAPTURE_THREAD_LOCAL = HIP_CAPTURE_THREAD_LOCAL, CAPTURE_RELAXED };

/* work: what a stream is asked to do; kept in graphs, else done at once. */
typedef enum work_kind { WORK_LAUNCH, WORK_COPY, WORK_SET } work_kind;
typedef struct work work;
struct work {
    work *next;
    work_kind kind;
    /* WORK_LAUNCH */
    hip_function function;
    uint32_t grid[3], block[3], lds_bytes; /* lds_bytes: dynamic */
    unsigned char *kernarg;                /* the whole segment; a graph owns its copy */
    /* WORK_COPY, WORK_SET */
    void *to;
    const void *from;
    size_t bytes;
    uint32_t value, value_bytes; /* WORK_SET: 1, 2 or 4 */
    int kind_of_copy;            /* hipMemcpyKind */
};

/* recording: works in the order in which they were captured, shared by a graph and what is instantiated from it. */
typedef struct recording {
    unsigned owners;
    work *first, **end;
    size_t count;
} recording;

typedef struct capture {
    recording *recording;
    hip_stream origin;
    int mode, invalid;
    pthread_t thread;
    unsigned long long id;
    struct capture *next;
} capture;

/* graph_handle: what a hip_graph or hip_graph_exec points at. */
typedef struct graph_handle {
    struct graph_handle *next;
    recording *recording;
} graph_handle;
struct hip_stream_object {
    struct hip_stream_object *next;
    int device;
    unsigned flags;
    capture *capture; /* NULL: not capturing */
    int joined;       /* the origin waits for all that this stream captured */
};
struct hip_event_object {
    struct hip_event_object *next;
    struct timespec at;
    int recorded, timed;
    capture *capture; /* recorded in a stream that was capturing, which was: */
    hip_stream stream;
};

typedef struct sim_device {
    const chip *chip;
    memory memory;
    hip_error sticky; /* an asynchronous failure not yet reported */
    struct hip_module_object *modules;
} sim_device;

enum { DEVICES_MAX = 16 };
typedef struct machine {
    pthread_mutex_t lock;
    sim_device devices[DEVICES_MAX];
    int device_count;
    memory host; /* pinned host memory, which every device reaches */
    int late, poison;
    check_level check;
    unsigned threads;
    uint64_t limit; /* instructions of a wave, beyond which a kernel counts as endless */
    struct hip_stream_object *streams;
    struct hip_event_object *events;
    graph_handle *graphs, *executables;
    capture *captures;
} machine;
extern machine sim;

#define ENTER() pthread_mutex_lock(&sim.lock)

/* finish: leave the machine.   finish_synchronous: and report a kernel's failure, which like on hardware is the result
 * of the next call that could wait for it, once. */
hip_error finish(hip_error error);
hip_error finish_synchronous(hip_error error);

/* current_device: the calling thread's.   device_at: by ordinal, NULL if there is none. */
extern _Thread_local int current_ordinal;
sim_device *current_device(void);
sim_device *device_at(int ordinal);

/* fault_set: what stopped the thread's last failing kernel.   explain: the sentence behind a HIP error, on stderr if
 * explains_on_stderr: HIP's callers have no other way to it. */
void fault_set(const char *kernel, const char *fault);
void explain(const char *sentence);
extern int explains_on_stderr;

/* is_stream, is_function: whether a handle is alive; is_function gives the function's device.
 * is_device: whether one allocation of any device, or of pinned host memory, holds the bytes. */
int is_stream(hip_stream stream);
int is_function(hip_function function, sim_device **owner);
int is_device(const void *p, size_t size);

/* submit: do the work now, or record it if the stream is capturing.   perform: do it now. Both with the lock held. */
hip_error submit(hip_stream stream, const work *w);
hip_error perform(const work *w);
hip_error perform_launch(const work *w);
hip_error perform_copy(const work *w);

/* What a call must ask before it acts while streams capture. Each answers HIP_SUCCESS, or the error after it has made
 * the captures in question invalid. source: HIP documentation, "HIP graphs", stream capture
 * capture_refuses: calls that allocate, free or unload, by the modes of the captures and of the thread.
 * capture_refuses_legacy: work on the NULL stream, with which blocking streams keep order.
 * capture_refuses_wait: waiting for a stream; NULL: for the device. */
hip_error capture_refuses(void);
hip_error capture_refuses_legacy(void);
hip_error capture_refuses_wait(hip_stream stream);
void capture_invalidate(capture *c);
/* capture_leave: a stream goes away; a capture that it began ends. */
void capture_leave(hip_stream stream);
/* capture_record: a copy of the work to the end of a capture. */
hip_error capture_record(hip_stream stream, const work *w);

/* machine_open: set the devices and modes; memory and handles stay.   errors: BAD_ARGUMENT, NO_MEMORY */
cdnagen_status machine_open(const chip *const *chips, int count, int late, int poison, check_level check,
                            unsigned threads, uint64_t limit);

/* The functions of core/hip.def, and those that the shared library has beyond them: HIP's signatures. */
#define HIP_FUNCTION(member, symbol, arguments) hip_error sim_##member arguments;
#include "core/hip.def"
#undef HIP_FUNCTION
const char *sim_get_error_name(hip_error error);
const char *sim_get_error_string(hip_error error);
cdnagen_status sim_device_target(int ordinal, target *out);
int sim_cu_count(int ordinal);
const char *sim_last_fault(void);

hip_error sim_device_get(int *out, int ordinal);
hip_error sim_device_total_mem(size_t *size, int ordinal);
hip_error sim_device_compute_capability(int *major, int *minor, int ordinal);
hip_error sim_device_can_access_peer(int *can, int ordinal, int peer);
hip_error sim_properties(void *properties, int ordinal, int layout); /* layout: 5 or 6 */
hip_error sim_context_create(hip_context *out, int ordinal, int make_current);
hip_error sim_context_set(hip_context context);
hip_error sim_context_get(hip_context *out);
hip_error sim_context_push(hip_context context);
hip_error sim_context_pop(hip_context *out);
hip_error sim_context_check(hip_context context);
hip_error sim_mem_get_info(size_t *free_bytes, size_t *total_bytes);
hip_error sim_host_malloc(void **ptr, size_t size);
hip_error sim_host_free(void *ptr);
hip_error sim_host_get_device_pointer(void **out, void *ptr);
hip_error sim_memset(void *to, uint32_t value, uint32_t value_bytes, size_t count);
hip_error sim_memset_words(void *to, uint32_t value, uint32_t value_bytes, size_t count, hip_stream stream);
hip_error sim_stream_create_with_flags(hip_stream *stream, unsigned flags);
hip_error sim_stream_get_flags(hip_stream stream, unsigned *flags);
hip_error sim_stream_query(hip_stream stream);
hip_error sim_stream_wait_event(hip_stream stream, hip_event event, unsigned flags);
hip_error sim_event_create_with_flags(hip_event *event, unsigned flags);
hip_error sim_event_query(hip_event event);
hip_error sim_stream_get_capture_info(hip_stream stream, int *status, unsigned long long *id);
hip_error sim_thread_exchange_capture_mode(int *mode);
hip_error sim_module_get_global(void **ptr, size_t *size, hip_module module, const char *name);
hip_error sim_func_set_attribute(const void *function, int attribute, int value);
hip_error sim_module_potential_block(int *grid, int *block, hip_function function, size_t lds_bytes, int limit);

#endif
