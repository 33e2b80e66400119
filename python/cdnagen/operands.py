# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operands of one call: checked, and on the simulator copied there and back where they are host arrays."""
from dataclasses import replace

from cdnagen.abi import Buffer
from cdnagen.context import Memory
from cdnagen.error import refuse
from cdnagen.library import lib
from cdnagen.tensor import tensor_of

_WORD = 16  # a buffer's last word is read whole


def check_layout(op, name, t, types, shape=None, is_written=False, is_contiguous=False):
    """check_layout: element type, sizes and strides of an operand; elements of its last axis follow each other.
    types: words of tensor.BYTES, one of which it has   shape: None stands for any size   errors: BAD_ARGUMENT
    """
    if t.type not in types:
        raise refuse(f"{op}: {name} has elements of {t.type}; they must be {' or '.join(types)}")
    if shape is not None and (len(t.shape) != len(shape) or any(n not in (None, m) for n, m in zip(shape, t.shape))):
        wanted = ", ".join("any" if n is None else str(n) for n in shape)
        raise refuse(f"{op}: {name} has sizes {list(t.shape)}; they must be [{wanted}]")
    for axis, stride in enumerate(t.strides):
        if t.count and t.shape[axis] > 1 and stride < 1:
            raise refuse(f"{op}: {name} has stride {stride} in dimension {axis}; it must be positive: copy it")
    if t.count and t.shape and t.stride(-1) > 1:
        raise refuse(f"{op}: {name} has stride {t.stride(-1)} in its last dimension; it must be 1: copy it")
    if is_contiguous and not t.is_contiguous:
        raise refuse(f"{op}: {name} has strides {list(t.strides)} and must be contiguous: copy it")
    if is_written and t.is_readonly:
        raise refuse(f"{op}: {name} is written, and is read-only")


class Operands:
    """Operands: a with statement around a call, within which operands are device memory. Host arrays are taken on the
    simulator alone: at the end the stream is waited for, and what was written is copied back.
    """

    def __init__(self, ctx, op, stream):
        self.ctx, self.op, self.stream = ctx, op, stream
        self.staged = []

    def take(self, name, array, types, shape=None, is_written=False, is_contiguous=False):
        """take: an operand in device memory; the rest as check_layout.   errors: BAD_ARGUMENT, HIP"""
        t = tensor_of(name, array)
        check_layout(self.op, name, t, types, shape, is_written, is_contiguous)
        if t.is_host:
            return self._stage(name, t, is_written)
        if t.device not in (None, self.ctx.device_index):
            raise refuse(f"{self.op}: {name} is on GPU {t.device}, the context is on GPU {self.ctx.device_index}")
        return t

    def flat(self, name, array, types, count, is_written=False):
        """flat: an operand of any sizes that has `count` elements, one behind the other; None for none of them."""
        if array is None:
            return None
        t = self.take(name, array, types, None, is_written, is_contiguous=True)
        if count is not None and t.count != count:
            raise refuse(f"{self.op}: {name} has {t.count} elements; it must have {count}")
        return t

    def _stage(self, name, host, is_written):
        if not self.ctx.is_simulator:
            raise refuse(f"{self.op}: {name} is in host memory, which only the simulator takes: Context.upload it")
        if not host.bytes:
            return replace(host, ptr=0, is_host=False)
        size = (host.bytes + _WORD - 1) // _WORD * _WORD
        memory = Memory(self.ctx, size)
        self.staged.append((host, memory, is_written))
        lib.cdnagen_copy_to_device(self.ctx.handle, memory.ptr, host.ptr, host.bytes)
        return replace(host, ptr=memory.ptr, bytes=size, is_host=False)

    def __enter__(self):
        return self

    def __exit__(self, failure, *where):
        try:
            if self.staged and not failure:
                self.ctx.synchronize(self.stream)
                for host, memory, is_written in self.staged:
                    if is_written:
                        lib.cdnagen_copy_to_host(self.ctx.handle, host.ptr, memory.ptr, host.bytes)
        finally:
            for _, memory, _ in self.staged:
                memory.close()


def buffer(tensor):
    """buffer: a tensor as cdnagen_buffer; None is one of no bytes."""
    return Buffer(tensor.ptr, tensor.bytes) if tensor and tensor.bytes else Buffer()
