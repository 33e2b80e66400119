# The matrix instructions: one kernel source, compiled for three instruction sets and chosen at run time.
set(SIM_MFMA_SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/mfma.c ${CMAKE_CURRENT_LIST_DIR}/mfma_table.c ${CMAKE_CURRENT_LIST_DIR}/mfma_plain.c
    ${CMAKE_CURRENT_LIST_DIR}/mfma_baseline.c ${CMAKE_CURRENT_LIST_DIR}/mfma_avx2.c
    ${CMAKE_CURRENT_LIST_DIR}/mfma_avx512.c)
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/mfma_baseline.c PROPERTIES COMPILE_OPTIONS "-O3")
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/mfma_avx2.c PROPERTIES COMPILE_OPTIONS "-O3;-mavx2;-mfma")
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/mfma_avx512.c
    PROPERTIES COMPILE_OPTIONS "-O3;-mavx512f;-mavx2;-mfma;-mprefer-vector-width=512")
