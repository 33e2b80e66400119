cdnagen_test(sim_mfma SOURCES mfma_test.c LINKS cdnagen_sim cdnagen_core)
target_compile_definitions(sim_mfma PRIVATE MFMA_LAYOUTS="${CMAKE_CURRENT_LIST_DIR}/data/mfma_layouts.txt")
