# cdnagen_module(name SOURCES a.c ... LINKS x ...): one folder as a static library `cdnagen_<name>`.
# cdnagen_test(name SOURCES a.c ... LINKS x ...): one cmocka program, run by ctest as `name`.
set(CDNAGEN_WARNINGS -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion
    $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes> $<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes>)

function(cdnagen_flags target)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include
                             ${PROJECT_BINARY_DIR})
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
