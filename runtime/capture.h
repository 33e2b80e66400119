/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Stream capture, as far as it can be known: the streams that launched a kernel of ours while they captured, of all
 * contexts of the process, and what the device's default stream says of others. */
#ifndef RUNTIME_CAPTURE_H
#define RUNTIME_CAPTURE_H

#include "core/hip.h"

/* capture_note: 1 if this stream captures, which is then remembered until it has ended. */
int capture_note(const hip_table *hip, hip_stream stream);

/* capture_any: 1 if a stream that is known captures. The device that it is asked for is current. */
int capture_any(const hip_table *hip);

/* capture_relax, capture_restore: what this thread does between them damages no capture, of streams that are not known
 * either.   source: hip/hip_runtime_api.h, hipThreadExchangeStreamCaptureMode */
int capture_relax(const hip_table *hip);
void capture_restore(const hip_table *hip, int mode);

void capture_before_fork(void);
void capture_after_fork(void);

#endif
