/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Work-item ids for kernels that are compiled without a library. */
#define LOCAL_X ((uint)__builtin_amdgcn_workitem_id_x())
#define LOCAL_Y ((uint)__builtin_amdgcn_workitem_id_y())
#define LOCAL_Z ((uint)__builtin_amdgcn_workitem_id_z())
#define GROUP_X ((uint)__builtin_amdgcn_workgroup_id_x())
#define GROUP_Y ((uint)__builtin_amdgcn_workgroup_id_y())
#define GROUP_Z ((uint)__builtin_amdgcn_workgroup_id_z())
#define SIZE_X ((uint)__builtin_amdgcn_workgroup_size_x())
#define SIZE_Y ((uint)__builtin_amdgcn_workgroup_size_y())
#define SIZE_Z ((uint)__builtin_amdgcn_workgroup_size_z())
#define GLOBAL_X (GROUP_X * SIZE_X + LOCAL_X)
#define BARRIER()                                                                                                      \
    do {                                                                                                               \
        __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");                                                         \
        __builtin_amdgcn_s_barrier();                                                                                  \
        __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");                                                         \
    } while (0)
