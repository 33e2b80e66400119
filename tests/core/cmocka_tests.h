/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* cmocka with the headers that it wants included before itself, and without its macro `fail`, which is a function
 * here. */
#ifndef TESTS_CORE_CMOCKA_TESTS_H
#define TESTS_CORE_CMOCKA_TESTS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#undef fail
#undef fail_msg
#define fail_msg(...)                                                                                                  \
    do {                                                                                                               \
        print_error(__VA_ARGS__);                                                                                      \
        print_error("\n");                                                                                             \
        _fail(__FILE__, __LINE__);                                                                                     \
    } while (0)

#endif
