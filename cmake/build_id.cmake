# cdnagen_build_id.h: CDNAGEN_BUILD_ID, the identity of the sources that decide a kernel's bytes, for cache keys: core, ir
# and gen, the steps and their order (runtime), and the numbers of the public header.
file(GLOB_RECURSE CDNAGEN_GENERATOR_SOURCES RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS
     core/*.[ch] core/*.def ir/*.[ch] ir/*.cpp ir/*.def gen/*.[ch] gen/*.def gen/*.inc
     runtime/compile.[ch] runtime/pipeline.c include/cdnagen.h)
list(SORT CDNAGEN_GENERATOR_SOURCES)
add_executable(build_id cmake/build_id.c)
target_link_libraries(build_id PRIVATE cdnagen_blake3)
add_custom_command(
  OUTPUT build_id.stamp BYPRODUCTS ${PROJECT_BINARY_DIR}/cdnagen_build_id.h
  COMMAND build_id ${PROJECT_BINARY_DIR}/cdnagen_build_id.h ${CDNAGEN_GENERATOR_SOURCES}
  COMMAND ${CMAKE_COMMAND} -E touch ${CMAKE_CURRENT_BINARY_DIR}/build_id.stamp
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
  DEPENDS ${CDNAGEN_GENERATOR_SOURCES} VERBATIM)
add_custom_target(cdnagen_build_id DEPENDS build_id.stamp)
