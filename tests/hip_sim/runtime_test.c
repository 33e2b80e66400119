/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The command with its GPU device, on the HIP library that is a simulator. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/cli/command.h"

#define LIBRARY "CDNAGEN_HIP_LIBRARY=" HIP_LIBRARY " "
#define DEMO                                                                                                           \
    "run mqa_logits:mfma32x32x64_bkv64_r1_w1_lds2_swp_rs_hfma seq=16 seq_kv=128 heads=64 dim=128 window=causal "       \
    "clean=1 --check "

static void expect(const char *environment, const char *words, int code, const char *says) {
    outcome o = command_run(environment, words);
    if (o.code != code || !strstr(code ? o.err : o.out, says))
        fail_msg("%s %s: exit %d, \"%s\" wanted\n%s%s", environment, words, o.code, says, o.out, o.err);
    command_free(&o);
}

static void kernels_run_on_it_and_pass_their_check(void **state) {
    (void)state;
    expect(LIBRARY, DEMO "--device gpu", 0, "device       gfx950 simulator (gfx950)\n");
    expect(LIBRARY, DEMO "--device gpu", 0, "check        pass");
    expect(LIBRARY "CDNAGEN_SIM_DEVICES=gfx942,gfx950 CDNAGEN_SIM=late,poisoned", DEMO "--device gpu:1", 4,
           "\"poisoned\" is unknown");
    expect(LIBRARY "CDNAGEN_SIM_DEVICES=gfx942,gfx950 CDNAGEN_SIM='late poison'", DEMO "--device gpu:1", 0,
           "check        pass");
}

static void it_is_the_gpu_that_doctor_finds(void **state) {
    (void)state;
    expect(LIBRARY "CDNAGEN_SIM_DEVICES=gfx942", "doctor", 0, "libamdhip64-sim.so\n");
    expect(LIBRARY "CDNAGEN_SIM_DEVICES=gfx942", "doctor", 0, "device       gfx942 simulator (gfx942)\n");
}

static void wrong_devices_are_told(void **state) {
    (void)state;
    expect(LIBRARY "CDNAGEN_SIM_DEVICES=gfx950,gfx90a", DEMO "--device gpu", 4, "\"gfx90a\" is not a device");
    expect(LIBRARY, DEMO "--device gpu:1", 3, "gpu:1 does not exist");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(kernels_run_on_it_and_pass_their_check),
                                       cmocka_unit_test(it_is_the_gpu_that_doctor_finds),
                                       cmocka_unit_test(wrong_devices_are_told)};
    return cmocka_run_group_tests(tests, command_setup, command_teardown);
}
