# Matrix instructions: lane tables and jobs are shared by three programs.
foreach(name IN ITEMS elements rules damage)
  cdnagen_test(sim_mfma_${name} SOURCES mfma_${name}_test.c mfma_job.c LINKS cdnagen_sim cdnagen_core)
  target_compile_definitions(sim_mfma_${name} PRIVATE MFMA_LAYOUTS="${CMAKE_CURRENT_LIST_DIR}/data/mfma_layouts.txt")
endforeach()
