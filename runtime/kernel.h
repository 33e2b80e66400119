/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The handle that gen_kernel gives out. */
#ifndef RUNTIME_KERNEL_H
#define RUNTIME_KERNEL_H

#include <pthread.h>

#include "runtime/prepared.h"

struct cdnagen_kernel {
    cdnagen *ctx;
    prepared *prepared;
    stages took;
    double total_ms;
    pthread_mutex_t lock; /* guards `texts` */
    text texts[2];        /* by cdnagen_text, made at the first call */
};

#endif
