# cdnagen_module(name SOURCES a.c ... LINKS x ...): one folder as a static library `cdnagen_<name>`.
# cdnagen_test(name SOURCES a.c ... LINKS x ...): one cmocka program, run by ctest as `name`.
# cdnagen_fuzz(name SOURCES a.c ... LINKS x ...): one libFuzzer program in <build>/fuzz, built with clang if CDNAGEN_FUZZ is on.
set(CDNAGEN_WARNINGS -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion
    $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes> $<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes>)

if(CDNAGEN_FUZZ) # coverage counters in every object, so that the fuzzer sees its way
  add_compile_options(-fsanitize=fuzzer-no-link)
  add_link_options(-fsanitize=fuzzer-no-link)
endif()

function(cdnagen_flags target)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR})
  target_compile_definitions(${target} PRIVATE _GNU_SOURCE)
  target_compile_options(${target} PRIVATE ${CDNAGEN_WARNINGS} -ffunction-sections -fdata-sections)
  add_dependencies(${target} cdnagen_build_id)
  if(CDNAGEN_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()

function(cdnagen_module name)
  cmake_parse_arguments(M "" "" "SOURCES;LINKS" ${ARGN})
  add_library(cdnagen_${name} STATIC ${M_SOURCES})
  cdnagen_flags(cdnagen_${name})
  target_link_libraries(cdnagen_${name} PUBLIC ${M_LINKS})
endfunction()

function(cdnagen_test name)
  cmake_parse_arguments(T "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(${name} ${T_SOURCES})
  cdnagen_flags(${name})
  target_link_libraries(${name} PRIVATE ${T_LINKS} cmocka m pthread)
  add_test(NAME ${name} COMMAND ${name})
endfunction()

function(cdnagen_fuzz name)
  if(CDNAGEN_FUZZ)
    cmake_parse_arguments(F "" "" "SOURCES;LINKS" ${ARGN})
    add_executable(${name} ${F_SOURCES})
    cdnagen_flags(${name})
    target_compile_options(${name} PRIVATE -fsanitize=fuzzer)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
    target_link_libraries(${name} PRIVATE ${F_LINKS} m pthread)
  endif()
endfunction()
