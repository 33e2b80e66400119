# LLVM 22 and lld. Interface targets:
#   cdnagen_llvm          code generation for AMDGPU (ir)
#   cdnagen_lld           lld's ELF driver (ir/lld.cpp)
#   cdnagen_disassembler  AMDGPU disassembler only (sim, runtime's ISA text)
#   cdnagen_blake3        the C members of libLLVMSupport.a (cache)
# Static by default, so that a process may hold another LLVM beside ours; CDNAGEN_SHARED_LLVM links libLLVM.so instead.
list(PREPEND CMAKE_PREFIX_PATH /usr/lib/llvm-22)
find_package(LLVM 22.1 REQUIRED CONFIG)
find_package(LLD REQUIRED CONFIG)
find_package(Threads REQUIRED)
set(CDNAGEN_LLVM_SYSTEM_LIBRARIES z zstd rt dl m Threads::Threads)
set(CDNAGEN_LLD_FILES $<TARGET_FILE:lldELF> $<TARGET_FILE:lldCommon>)

# The registration functions of the targets that are not linked, which lld's LTO code names.
add_library(cdnagen_llvm_stubs STATIC cmake/llvm_stubs.c)
target_include_directories(cdnagen_llvm_stubs SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})

if(CDNAGEN_SHARED_LLVM)
  set(CDNAGEN_LLVM_LIBRARIES LLVM)
else()
  # llvm-config knows the order; its Polly is not packaged, and llvm_stubs.c stands in for it.
  execute_process(
    COMMAND ${LLVM_TOOLS_BINARY_DIR}/llvm-config --link-static --libfiles amdgpucodegen amdgpuasmparser amdgpudesc
            amdgpuinfo amdgpudisassembler amdgpuutils passes lto dtlto option bitwriter
    OUTPUT_VARIABLE CDNAGEN_LLVM_LIBRARIES OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(CDNAGEN_LLVM_LIBRARIES)
  list(FILTER CDNAGEN_LLVM_LIBRARIES EXCLUDE REGEX "Polly")
  list(APPEND CDNAGEN_LLVM_LIBRARIES cdnagen_llvm_stubs stdc++)
endif()

add_library(cdnagen_llvm INTERFACE)
target_include_directories(cdnagen_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
target_link_libraries(cdnagen_llvm INTERFACE ${CDNAGEN_LLVM_LIBRARIES} ${CDNAGEN_LLVM_SYSTEM_LIBRARIES})
add_library(cdnagen_disassembler ALIAS cdnagen_llvm)
add_library(cdnagen_lld INTERFACE)
target_link_libraries(cdnagen_lld INTERFACE ${CDNAGEN_LLD_FILES} cdnagen_llvm)
add_library(cdnagen_blake3 INTERFACE)
target_include_directories(cdnagen_blake3 SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
target_link_libraries(cdnagen_blake3 INTERFACE $<TARGET_FILE:LLVMSupport>)
