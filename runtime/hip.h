/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The dlopen provider: libamdhip64 as a HIP table. */
#ifndef RUNTIME_HIP_H
#define RUNTIME_HIP_H

#include "core/hip.h"

/* hip_open: the process's libamdhip64, opened and initialised at the first call; later calls answer the same table.
 * The library: the file that CDNAGEN_HIP_LIBRARY names, else a copy that is already in the process, else
 * $ROCM_PATH/lib, the loader's own search, /opt/rocm/lib; in each place libamdhip64.so.7, .6, .5, then plain.
 * owner: *out is static
 * errors: NO_HIP (names what was tried, or the functions that are missing), NO_DEVICE, HIP */
cdnagen_status hip_open(const hip_table **out);

/* hip_check: OK for HIP_SUCCESS. Otherwise FAULT if the provider knows what the kernel did, else HIP with the error's
 * number, name and text, and the HIP function that answered it. */
cdnagen_status hip_check(const hip_table *hip, hip_error error, const char *function);

/* hip_find_arch: the "gfx..." word in a device property block whose layout is not known; NULL if there is none.
 * The block starts with the product's name (256 bytes), which is passed over. */
const char *hip_find_arch(const char *properties, size_t size);

#endif
