# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Grouped products by the forms that take tensors: the library chooses the kernel and keeps it in the context. wq of
preshuffle=True is, for each group, as pack_b leaves it. The library checks sizes, which are the header's."""
import ctypes

from cdnagen import abi
from cdnagen.library import lib, stream_handle
from cdnagen.operands import Operands
from cdnagen.tensor import Tensor, tensor_of

_RANK_MAX = 3
_TYPES = {"f32": abi.Type.F32, "bf16": abi.Type.BF16, "u16": abi.Type.BF16, "f16": abi.Type.F16,
          "e4m3fn": abi.Type.E4M3FN, "e4m3fnuz": abi.Type.E4M3FNUZ, "i32": abi.Type.I32, "i64": abi.Type.I64}


def _described(t, native_fp8):
    """_described: a tensor as cdnagen_tensor: bytes are FP8 of the device's own kind, 16-bit words bf16."""
    if t is None:
        return None
    d = abi.CTensor(ptr=t.ptr, type=_TYPES.get(native_fp8 if t.type == "u8" else t.type, 0), rank=len(t.shape))
    for axis in range(min(d.rank, _RANK_MAX)):
        d.size[axis], d.stride[axis] = t.shape[axis], t.strides[axis]
    return d


def _call(ctx, form, preshuffle, xq, wq, x_scale, w_scale, extents, out, stream, *padding):
    with Operands(ctx, form, stream) as o:
        given = [o.flat(name, array, _TYPES.keys() | {"u8"}, None, is_written=name == "out")
                 for name, array in (("xq", xq), ("wq", wq), ("x_scale", x_scale), ("w_scale", w_scale),
                                     ("extents", extents), ("out", out))]
        *inputs, out = [t and ctypes.byref(_described(t, ctx.native_fp8)) for t in given]
        function = getattr(lib, f"cdnagen_{form}" + ("_preshuffle" if preshuffle else ""))
        function(ctx.live, *inputs, *padding, out, stream_handle(stream))


def rowwise_grouped_stacked(ctx, xq, wq, x_scale, w_scale, m_sizes, out, *, preshuffle=False, stream=None):
    """rowwise_grouped_stacked: groups own rows of xq and out, one group's after another's.
    shapes: xq [m, k], wq [groups, n, k], m_sizes [groups] i64, out [m, n] bf16   errors: as the header's function
    """
    _call(ctx, "rowwise_grouped_stacked", preshuffle, xq, wq, x_scale, w_scale, m_sizes, out, stream)


def rowwise_grouped_dynamic(ctx, xq, wq, x_scale, w_scale, zero_start_index_m, out, *, zeroing_output_tensor=True,
                            preshuffle=False, stream=None):
    """rowwise_grouped_dynamic: each group has a slab, of which the first zero_start_index_m[g] rows take part.
    shapes: xq [groups, m, k], wq [groups, n, k], zero_start_index_m [groups] i64, out [groups, m, n] bf16
    errors: as the header's function
    """
    _call(ctx, "rowwise_grouped_dynamic", preshuffle, xq, wq, x_scale, w_scale, zero_start_index_m, out, stream,
          int(zeroing_output_tensor))


def rowwise_grouped_mm(ctx, xq, wq, x_scale, w_scale, offsets, out, *, preshuffle=False, stream=None):
    """rowwise_grouped_mm: by the ranks of xq and wq.
    shapes: offsets [groups] i32: one past each group's last place; None for 3D-3D   errors: as the header's function
    """
    _call(ctx, "rowwise_grouped_mm", preshuffle, xq, wq, x_scale, w_scale, offsets, out, stream)


def groupwise_grouped(ctx, xq, wq, x_scale, w_scale, m_sizes, out, *, preshuffle=False, stream=None):
    """groupwise_grouped: as rowwise_grouped_stacked, with scales of blocks.   errors: as the header's function"""
    _call(ctx, "groupwise_grouped", preshuffle, xq, wq, x_scale, w_scale, m_sizes, out, stream)


def grouped_output(form, xq, wq, extents=None):
    """grouped_output: the sizes of a form's `out`, which is bf16, as a tuple.
    form: a GroupedForm   extents: its m_sizes, zero_start_index_m or offsets   errors: BAD_ARGUMENT, LIMIT
    """
    out = abi.CTensor()
    given = [None if a is None else ctypes.byref(_described(tensor_of(name, a), "e4m3fn"))
             for name, a in (("xq", xq), ("wq", wq), ("extents", extents))]
    lib.cdnagen_grouped_output(form, *given, ctypes.byref(out))
    return tuple(out.size[:out.rank])
