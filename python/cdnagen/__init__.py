# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""cdnagen: AMDGPU kernels at run time, by the C library that CDNAGEN_LIBRARY names or the loader finds.

    ctx = cdnagen.Context(device="auto")
    kernel = ctx.gen_kernel("gemm_blockscale:auto", "m=64 n=512 k=1024")
    cdnagen.launch_gemm_blockscale(kernel, a, b, a_scales, b_scales, c, stream=stream)

Operands are tensors of a GPU (anything with __dlpack__ or __cuda_array_interface__, or a Tensor made of a pointer) or
of Context.upload; on the simulator also host arrays, such as numpy's. FP8 may be unsigned bytes, bf16 unsigned 16-bit
words. Order, lifetimes and threads are those of include/cdnagen.h: a launch on a GPU returns before it is done.
"""
from cdnagen.abi import (BLayout, CacheTier, Fp8, GemmBlockscaleShape, GemmGroupedShape, GroupedForm, GroupedLayout,
                         GroupedScale, LogLevel, MqaLogitsShape, OutType, ScaleLayout, ScaleType, SpillPolicy, Status,
                         Tail, Text, Weights)
from cdnagen.context import Context
from cdnagen.error import Error
from cdnagen.grouped import (grouped_output, groupwise_grouped, rowwise_grouped_dynamic, rowwise_grouped_mm,
                             rowwise_grouped_stacked)
from cdnagen.kernel import Kernel
from cdnagen.launch import (gemm_blockscale_workspace, gemm_grouped_workspace, launch_gemm_blockscale,
                            launch_gemm_grouped, launch_mqa_logits, pack_b)
from cdnagen.library import lib, version
from cdnagen.tensor import Tensor


def supports(tag, shape, target):
    """supports: raise the Error that gen_kernel would give for `target`, without compiling; no context is needed.
    errors: BAD_ARGUMENT, BAD_TAG, BAD_SHAPE, BAD_TARGET, LIMIT, NO_MEMORY
    """
    lib.cdnagen_supports(tag.encode(), shape.encode(), target.encode())
