; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; A kernel whose every resource is stated, so that the reader's numbers are known exactly:
; 140 architectural VGPRs and 36 accumulation VGPRs, 80 SGPRs, 40960 bytes of LDS.
	.text
	.globl	counts
	.p2align	8
	.type	counts,@function
counts:
	s_nop 0
	s_endpgm
.Lcounts_end:
	.size	counts, .Lcounts_end-counts

	.rodata
	.p2align	6
	.amdhsa_kernel counts
		.amdhsa_group_segment_fixed_size 40960
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 104
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_next_free_vgpr 176
		.amdhsa_next_free_sgpr 74
		.amdhsa_accum_offset 140
	.end_amdhsa_kernel

	.amdgpu_metadata
---
amdhsa.version: [ 1, 2 ]
amdhsa.kernels:
  - .name: counts
    .symbol: counts.kd
    .vgpr_count: 176
    .agpr_count: 36
    .sgpr_count: 80
    .vgpr_spill_count: 3
    .sgpr_spill_count: 300
    .group_segment_fixed_size: 40960
    .private_segment_fixed_size: 0
    .kernarg_segment_size: 104
    .kernarg_segment_align: 8
    .max_flat_workgroup_size: 256
    .wavefront_size: 64
    .uses_dynamic_stack: true
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global, .name: q }
      - { .offset: 8, .size: 4, .value_kind: by_value, .name: seq }
      - { .offset: 16, .size: 4, .value_kind: dynamic_shared_pointer }
      - { .offset: 24, .size: 4, .value_kind: hidden_block_count_x }
      - { .offset: 32, .size: 8, .value_kind: image }
      - { .offset: 40, .size: 64, .value_kind: by_value, .name: a_name_that_is_longer_than_the_forty_bytes_kept_for_it }
...
	.end_amdgpu_metadata
