/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* sim/sim.h in the runtime without a compiler: the simulator is a library beside it. */
#include "sim/sim.h"

cdnagen_status sim_open(const chip *c, const char *mode, const hip_table **out) {
    (void)mode;
    (void)out;
    return fail(
        CDNAGEN_UNAVAILABLE,
        "this library has no simulator of %s (libcdnagen-rt): set CDNAGEN_HIP_LIBRARY to libamdhip64-sim.so and "
        "use device \"gpu\"",
        c->name);
}
