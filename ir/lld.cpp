/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* lld's ELF driver has no C interface: this file is it. */
#include "ir/lld.h"

#include <cstdio>
#include <lld/Common/Driver.h>
#include <llvm/ADT/ArrayRef.h>
#include <llvm/Support/raw_ostream.h>
#include <string>

LLD_HAS_DRIVER(elf)

extern "C" int lld_link(int argc, const char *const *argv, char *said, size_t said_bytes, int *can_run_again) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    const lld::Result result = lld::lldMain(llvm::ArrayRef<const char *>(argv, static_cast<size_t>(argc)), stream,
                                            stream, {{lld::Gnu, &lld::elf::link}});
    std::snprintf(said, said_bytes, "%s", text.c_str());
    *can_run_again = result.canRunAgain;
    return result.retCode;
}
