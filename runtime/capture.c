/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which streams capture. HIP answers it for one stream at a time, so those that captured our kernels are listed. */
#include "runtime/capture.h"

#include <pthread.h>

enum { STREAMS_MAX = 64 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct known_stream {
    const hip_table *hip;
    hip_stream stream;
} known[STREAMS_MAX];
static int known_count;

static int captures(const hip_table *hip, hip_stream stream) {
    int status = 0;
    return hip->stream_is_capturing(stream, &status) == HIP_SUCCESS && status;
}

/* A stream that was destroyed answers an error. */
static void forget_ended(void) {
    int kept = 0;
    for (int i = 0; i < known_count; i++)
        if (captures(known[i].hip, known[i].stream)) known[kept++] = known[i];
    known_count = kept;
}

int capture_note(const hip_table *hip, hip_stream stream) {
    if (!stream || !captures(hip, stream)) return 0;
    pthread_mutex_lock(&lock);
    int i = 0;
    while (i < known_count && known[i].stream != stream) i++;
    if (i == STREAMS_MAX) forget_ended(), i = known_count;
    /* More captures at once than places: each of the others keeps modules where they are. */
    if (i == known_count && i < STREAMS_MAX) known[known_count++] = (struct known_stream){hip, stream};
    pthread_mutex_unlock(&lock);
    return 1;
}

int capture_any(const hip_table *hip) {
    int status = 0;
    if (hip->stream_is_capturing(NULL, &status) == HIP_ERROR_STREAM_CAPTURE_IMPLICIT) return 1;
    pthread_mutex_lock(&lock);
    forget_ended();
    const int any = known_count > 0;
    pthread_mutex_unlock(&lock);
    return any;
}

int capture_relax(const hip_table *hip) {
    int mode = HIP_CAPTURE_RELAXED;
    return hip->thread_exchange_capture_mode(&mode) == HIP_SUCCESS ? mode : HIP_CAPTURE_RELAXED;
}

void capture_restore(const hip_table *hip, int mode) { hip->thread_exchange_capture_mode(&mode); }

void capture_before_fork(void) { pthread_mutex_lock(&lock); }
void capture_after_fork(void) { pthread_mutex_unlock(&lock); }
