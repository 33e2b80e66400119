# libcdnagen.so, libcdnagen-rt.so, libcdnagen.a and their installation.
foreach(module core ir gen emit cache runtime compile sim)
  list(APPEND CDNAGEN_ARCHIVES $<TARGET_FILE:cdnagen_${module}>)
  list(APPEND CDNAGEN_MODULES cdnagen_${module})
endforeach()

# Shared: LLVM and lld inside, nothing but the public names outside. The public functions are in core and runtime,
# whose objects are named because --exclude-libs hides what comes out of an archive.
add_library(cdnagen_shared SHARED $<TARGET_OBJECTS:cdnagen_core> $<TARGET_OBJECTS:cdnagen_runtime>)
set_target_properties(cdnagen_shared PROPERTIES
  OUTPUT_NAME cdnagen VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} LINKER_LANGUAGE CXX
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR} LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/exports.map)
target_link_libraries(cdnagen_shared PRIVATE cdnagen_runtime cdnagen_compile cdnagen_sim)
target_link_options(cdnagen_shared PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/exports.map
  -Wl,-z,nodelete # threads and forks call into it for the life of the process
  -Wl,-Bsymbolic-functions -Wl,--exclude-libs,ALL -Wl,--gc-sections -Wl,--as-needed)
if(NOT CMAKE_C_FLAGS MATCHES "sanitize") # clang's sanitizer functions are in the program
  target_link_options(cdnagen_shared PRIVATE -Wl,-z,defs)
endif()

# The runtime without a compiler: the same objects without ir, emit and sim.
add_library(cdnagen_rt SHARED $<TARGET_OBJECTS:cdnagen_core> $<TARGET_OBJECTS:cdnagen_runtime>
            $<TARGET_OBJECTS:cdnagen_without_llvm>)
set_target_properties(cdnagen_rt PROPERTIES
  OUTPUT_NAME cdnagen-rt VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} LINKER_LANGUAGE C
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR} LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/exports.map)
target_link_libraries(cdnagen_rt PRIVATE cdnagen_runtime)
get_target_property(CDNAGEN_LINK_OPTIONS cdnagen_shared LINK_OPTIONS)
target_link_options(cdnagen_rt PRIVATE ${CDNAGEN_LINK_OPTIONS})
target_link_options(cdnagen_shared PRIVATE -Wl,--wrap=__cxa_atexit) # ir/process.c

# Static: one object in which every name but the public ones is local, lld included, so that neither our `tag_parse` nor
# another copy of lld can clash with the host's. LLVM itself stays outside: the package files name it.
set(CDNAGEN_ARCHIVE ${PROJECT_BINARY_DIR}/libcdnagen.a)
add_custom_command(
  OUTPUT ${CDNAGEN_ARCHIVE}
  COMMAND ${CMAKE_LINKER} -r --force-group-allocation -o cdnagen.o --whole-archive ${CDNAGEN_ARCHIVES}
          --no-whole-archive ${CDNAGEN_LLD_FILES} $<TARGET_FILE:cdnagen_llvm_stubs>
  COMMAND ${CMAKE_OBJCOPY} --wildcard --keep-global-symbol=cdnagen_* --keep-global-symbol=gen_kernel cdnagen.o
  COMMAND ${CMAKE_COMMAND} -E rm -f ${CDNAGEN_ARCHIVE}
  COMMAND ${CMAKE_AR} rcs ${CDNAGEN_ARCHIVE} cdnagen.o
  DEPENDS ${CDNAGEN_MODULES} ${CDNAGEN_ARCHIVES} cdnagen_llvm_stubs COMMAND_EXPAND_LISTS VERBATIM)
add_custom_target(cdnagen_archive ALL DEPENDS ${CDNAGEN_ARCHIVE})
# What gets installed.
add_custom_target(cdnagen_all DEPENDS cdnagen_command cdnagen_worker cdnagen_shared cdnagen_rt cdnagen_archive amdhip64_sim)

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(CDNAGEN_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/cdnagen)
configure_package_config_file(cmake/cdnagenConfig.cmake.in package/cdnagenConfig.cmake
                              INSTALL_DESTINATION ${CDNAGEN_PACKAGE_DIR} PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/cdnagenConfigVersion.cmake COMPATIBILITY SameMinorVersion)
file(RELATIVE_PATH CDNAGEN_PC_INCLUDE /${CMAKE_INSTALL_LIBDIR}/pkgconfig /${CMAKE_INSTALL_INCLUDEDIR})
configure_file(cmake/cdnagen.pc.in cdnagen.pc @ONLY)
configure_file(cmake/cdnagen-rt.pc.in cdnagen-rt.pc @ONLY)
install(TARGETS cdnagen_shared cdnagen_rt amdhip64_sim LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS cdnagen_worker RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/cdnagen)
install(TARGETS cdnagen_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES ${CDNAGEN_ARCHIVE} DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES include/cdnagen.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${PROJECT_BINARY_DIR}/package/cdnagenConfig.cmake ${PROJECT_BINARY_DIR}/package/cdnagenConfigVersion.cmake
        DESTINATION ${CDNAGEN_PACKAGE_DIR})
install(FILES ${PROJECT_BINARY_DIR}/cdnagen.pc ${PROJECT_BINARY_DIR}/cdnagen-rt.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES LICENSE THIRD_PARTY.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
