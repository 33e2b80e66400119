/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Symbols that a static lld names and that cdnagen does not need: lld's LTO code registers every target that LLVM was
 * built with, and LLVM's LTO asks Polly for its passes. Kernels are never bitcode when they reach lld, so that none of
 * these is ever called. */
#define STUB(target, part)                                                                                             \
    void LLVMInitialize##target##part(void);                                                                           \
    void LLVMInitialize##target##part(void) {}
#define AMDGPU Unused /* the real ones are linked */

#define LLVM_TARGET(target) STUB(target, TargetInfo) STUB(target, Target) STUB(target, TargetMC)
#include "llvm/Config/Targets.def"
#define LLVM_ASM_PRINTER(target) STUB(target, AsmPrinter)
#include "llvm/Config/AsmPrinters.def"
#define LLVM_ASM_PARSER(target) STUB(target, AsmParser)
#include "llvm/Config/AsmParsers.def"

struct plugin { /* llvm::PassPluginLibraryInfo */
    unsigned api;
    const char *name, *version;
    void *register_passes, *before_codegen;
};
struct plugin polly_plugin(void) __asm__("_Z18getPollyPluginInfov");
struct plugin polly_plugin(void) { return (struct plugin){0, 0, 0, 0, 0}; }
