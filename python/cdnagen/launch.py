# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launches of the three operators, with tensors; include/cdnagen.h says what each computes and demands."""
import ctypes

from cdnagen import abi
from cdnagen.error import refuse
from cdnagen.library import lib, stream_handle
from cdnagen.operands import Operands, buffer, check_layout
from cdnagen.tensor import tensor_of


_BYTES = ("u8", "e4m3fn", "e4m3fnuz")


def _operands(kernel, op, stream):
    if kernel.info.op != op:
        raise refuse(f"the kernel is {kernel.info.symbol} and cannot take the arguments of {op}")
    return Operands(kernel.ctx, op, stream)


def _output_types(kernel):
    return ("f16", "u16") if kernel.words.get("out") == "f16" else ("bf16", "u16")


def _ceil(a, b):
    return -(-a // b)


def launch_mqa_logits(kernel, q, kv, kv_scales, weights, cu_starts, cu_ends, logits, *, num_splits=0, stream=None):
    """launch_mqa_logits: logits[m,n] = kv_scales[n] * sum_h weights[m,h] * max(0, q[m,h,:] . kv[n,:]).
    shapes: q [seq, heads, dim] and kv [seq_kv, dim] FP8, kv_scales [seq_kv] f32, weights [seq, heads] f32 or bf16 as
            the shape says, cu_starts and cu_ends [seq] i32, logits [seq, seq_kv] f32, written
    errors: as cdnagen_launch_mqa_logits
    """
    with _operands(kernel, "mqa_logits", stream) as o:
        heads, dim = int(kernel.words["heads"]), int(kernel.words["dim"])
        q = o.take("q", q, kernel.fp8("q_fp8"), (None, heads, dim))
        kv = o.take("kv", kv, kernel.fp8("kv_fp8"), (None, dim))
        seq, seq_kv = q.shape[0], kv.shape[0]
        kv_scales = o.take("kv_scales", kv_scales, ("f32",), (seq_kv,))
        weight_types = ("bf16", "u16") if kernel.words.get("weights") == "bf16" else ("f32",)
        weights = o.take("weights", weights, weight_types, (seq, heads))
        cu_starts = o.take("cu_starts", cu_starts, ("i32",), (seq,))
        cu_ends = o.take("cu_ends", cu_ends, ("i32",), (seq,))
        logits = o.take("logits", logits, ("f32",), (seq, seq_kv), is_written=True)
        args = abi.MqaLogitsArgs(q=buffer(q), kv=buffer(kv), kv_scales=buffer(kv_scales), weights=buffer(weights),
                                 cu_starts=buffer(cu_starts), cu_ends=buffer(cu_ends), logits=buffer(logits), seq=seq,
                                 seq_kv=seq_kv, q_stride=q.stride(0), q_head_stride=q.stride(1), kv_stride=kv.stride(0),
                                 weights_stride=weights.stride(0), logits_stride=logits.stride(0),
                                 num_splits=num_splits)
        lib.cdnagen_launch_mqa_logits(kernel.handle, ctypes.byref(args), stream_handle(stream))


def launch_gemm_blockscale(kernel, a, b, a_scales, b_scales, c, *, workspace=None, stream=None):
    """launch_gemm_blockscale: c[m,n] = sum_kb (sum_(k in kb) a[m,k] b[n,k]) a_scales[m,kb] b_scales[n/128,kb].
    shapes: a [m, k] and b [n, k] FP8, b as pack_b leaves it if the shape says preshuffled; a_scales [ceil(m / scale_m),
            ceil(k / 128)], of a_scales=kmajor with rows next to each other in memory, which is x.T of [k / 128, m];
            b_scales [ceil(n / scale_n), ceil(k / 128)]; c [m, n] bf16 or f16, written; workspace of
            gemm_blockscale_workspace bytes
    errors: as cdnagen_launch_gemm_blockscale
    """
    words = kernel.words
    with _operands(kernel, "gemm_blockscale", stream) as o:
        a = o.take("a", a, kernel.fp8("a_fp8"), (None, None))
        m, k = a.shape
        b = o.take("b", b, kernel.fp8("b_fp8"), (None, k))
        n = b.shape[0]
        scale_types = ("u8", "ue8m0") if words.get("scales") == "ue8m0" else ("f32",)
        rows, blocks = _ceil(m, int(words.get("scale_m", 1))), _ceil(k, 128)
        a_scales = tensor_of("a_scales", a_scales)
        if words.get("a_scales") == "kmajor":
            a_scales = o.take("a_scales, transposed,", a_scales.T, scale_types, (blocks, rows))
        else:
            a_scales = o.take("a_scales", a_scales, scale_types, (rows, blocks))
        b_scales = o.take("b_scales", b_scales, scale_types, (_ceil(n, int(words.get("scale_n", 128))), blocks))
        out = o.take("c", c, _output_types(kernel), (m, n), is_written=True)
        workspace = o.flat("workspace", workspace, ("u8",), None, is_written=True)
        args = abi.GemmBlockscaleArgs(a=buffer(a), b=buffer(b), a_scales=buffer(a_scales), b_scales=buffer(b_scales),
                                      c=buffer(out), workspace=buffer(workspace), m=m, n=n, k=k, a_stride=a.stride(0),
                                      b_stride=b.stride(0), a_scales_stride=a_scales.stride(0),
                                      b_scales_stride=b_scales.stride(0), c_stride=out.stride(0))
        lib.cdnagen_launch_gemm_blockscale(kernel.handle, ctypes.byref(args), stream_handle(stream))


# Which operands have a dimension of groups, and what extents are. source: include/cdnagen.h, cdnagen_grouped_layout
_LAYOUTS = {"sizes": ("b", "i64"), "offsets": ("b", "i32"), "padded": ("abc", "i64"), "batched": ("abc", None),
            "n_offsets": ("a", "i32"), "k_offsets": ("c", "i32")}


def launch_gemm_grouped(kernel, a, b, a_scales, b_scales, c, extents=None, *, workspace=None, keep_padding=False,
                        stream=None):
    """launch_gemm_grouped: c_g[m,n] = sum_k a_g[m,k] b_g[n,k] * a_scales[m] * b_scales[n] for each group g.
    shapes: as cdnagen_grouped_layout and cdnagen_grouped_scale say; everything is contiguous, scales may have any sizes
            that make as many elements; workspace of gemm_grouped_workspace bytes
    errors: as cdnagen_launch_gemm_grouped
    """
    words = kernel.words
    with _operands(kernel, "gemm_grouped", stream) as o:
        slabs, extent_type = _LAYOUTS[words["layout"]]
        rank = {name: 3 if name in slabs else 2 for name in "abc"}
        a = o.take("a", a, kernel.fp8("a_fp8"), (None,) * rank["a"], is_contiguous=True)
        m, k = a.shape[-2:]
        b = o.take("b", b, kernel.fp8("b_fp8"), (None,) * (rank["b"] - 1) + (k,), is_contiguous=True)
        n = b.shape[-2]
        if extent_type:
            extents = o.take("extents", extents, (extent_type,), (None,), is_contiguous=True)
        elif extents is not None:
            raise refuse(f"gemm_grouped: layout={words['layout']} has no extents")
        groups = (extents if extent_type else a).shape[0]
        for name, t in ("a", a), ("b", b):
            if name in slabs and t.shape[0] != groups:
                raise refuse(f"gemm_grouped: {name} has {t.shape[0]} groups; it must have {groups}")
        out = o.take("c", c, _output_types(kernel), (groups,) * (rank["c"] - 2) + (m, n), is_written=True,
                     is_contiguous=True)
        times = groups if words["layout"] == "k_offsets" else 1
        counts = [a.count // k * times, b.count // k * times] if k else [None, None]
        if words.get("scale") == "block":
            counts = [a.count // 128, b.count // (128 * 128)]
        args = abi.GemmGroupedArgs(a=buffer(a), b=buffer(b), c=buffer(out), extents=buffer(extents),
                                   a_scales=buffer(o.flat("a_scales", a_scales, ("f32",), counts[0])),
                                   b_scales=buffer(o.flat("b_scales", b_scales, ("f32",), counts[1])),
                                   workspace=buffer(o.flat("workspace", workspace, ("u8",), None, is_written=True)),
                                   groups=groups, m=m, n=n, k=k, keep_padding=int(keep_padding))
        lib.cdnagen_launch_gemm_grouped(kernel.handle, ctypes.byref(args), stream_handle(stream))


def gemm_blockscale_workspace(kernel, m, n):
    """gemm_blockscale_workspace: device memory that a launch needs, zeroed before its first.   units: bytes"""
    size = ctypes.c_size_t()
    lib.cdnagen_gemm_blockscale_workspace(kernel.handle, m, n, ctypes.byref(size))
    return size.value


def gemm_grouped_workspace(kernel, groups, m, n):
    """gemm_grouped_workspace: device memory that a launch needs, zeroed before its first.   units: bytes"""
    size = ctypes.c_size_t()
    lib.cdnagen_gemm_grouped_workspace(kernel.handle, groups, m, n, ctypes.byref(size))
    return size.value


def pack_b(rows, packed):
    """pack_b: B as kernels of b=preshuffled read it, from host memory to other host memory.
    shapes: rows [n, k] FP8, packed as many bytes; n is a multiple of 16, k of 32   errors: BAD_ARGUMENT
    """
    source, target = tensor_of("rows", rows), tensor_of("packed", packed)
    check_layout("pack_b", "rows", source, _BYTES, (None, None))
    check_layout("pack_b", "packed", target, _BYTES, is_written=True, is_contiguous=True)
    if not source.is_host or not target.is_host or source.count != target.count:
        raise refuse(f"pack_b: {source.count} bytes of rows go into as many, both in host memory; packed has "
                     f"{target.count}")
    n, k = source.shape
    lib.cdnagen_pack_b(source.ptr, source.stride(0), n, k, target.ptr)
