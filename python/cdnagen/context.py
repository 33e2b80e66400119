# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Contexts: options, device memory, and the way to kernels."""
import ctypes as c
import os
import weakref

from cdnagen import abi
from cdnagen.error import refuse
from cdnagen.kernel import Kernel
from cdnagen.library import lib, stream_handle
from cdnagen.tensor import BYTES, Tensor, tensor_of

_GENERATORS = {abi.MqaLogitsShape: lib.cdnagen_gen_mqa_logits,
               abi.GemmBlockscaleShape: lib.cdnagen_gen_gemm_blockscale,
               abi.GemmGroupedShape: lib.cdnagen_gen_gemm_grouped}


class Context:
    """Context: target, device, caches and log.
    options: the members of cdnagen_options by name: device="auto", target="gfx950", cache_dir=..., no_cache=1, ...
    log: called with a LogLevel and a line; None: warnings go to stderr
    store: an object with get(key) -> bytes or None and put(key, data); None: no store
    owner: freed by close, at the end of a with statement, or with the last kernel and memory that use it
    errors: BAD_ARGUMENT, BAD_TARGET, NO_MEMORY
    """

    def __init__(self, *, log=None, store=None, **options):
        for name, value in options.items():
            if isinstance(value, (str, os.PathLike)):
                options[name] = os.fsencode(value)
        device = os.fsdecode(options.get("device") or os.environ.get("CDNAGEN_DEVICE") or "gpu")
        callbacks = {}
        if log is not None:
            callbacks["log"] = abi.LOG(
                lambda user, level, line: log(abi.LogLevel(level), line.decode(errors="replace")))
        if store is not None:
            callbacks["store_get"] = abi.STORE_GET(lambda user, key, accept, to: _fetch(store, key, accept, to))
            callbacks["store_put"] = abi.STORE_PUT(
                lambda user, key, data, size: store.put(key.decode(), c.string_at(data, size)))
        handle = c.c_void_p()
        lib.cdnagen_create_context(c.byref(abi.Options(**options, **callbacks)), c.byref(handle))
        self.handle = handle
        self.device_index = int(device.partition(":")[2] or 0)  # which GPU, of HIP's count
        self._free = weakref.finalize(self, _free_context, handle, callbacks)
        self._free.atexit = False  # the process's end frees it, and HIP may be gone by then

    def close(self):
        """close: give the context up; its kernels stay good, its memory must have been freed."""
        self._free()
        self.handle = None

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    @property
    def live(self):
        """live: the handle for a call; of a closed context it would be the process's default one."""
        if not self.handle:
            raise refuse("the context is closed")
        return self.handle

    @property
    def device_name(self):
        """device_name: what launches run on; opens it.   errors: as cdnagen_device_name"""
        name = c.c_char_p()
        lib.cdnagen_device_name(self.live, c.byref(name))
        return name.value.decode()

    @property
    def is_simulator(self):
        return "simulator" in self.device_name

    @property
    def native_fp8(self):
        """native_fp8: the FP8 that the device's matrix unit reads."""
        return "e4m3fnuz" if self.device_name.endswith("(gfx942)") else "e4m3fn"

    def gen_kernel(self, tag, shape):
        """gen_kernel: the kernel that tag and shape name, from the cache or generated now.
        shapes: `shape` is "key=value" words, or one of MqaLogitsShape, GemmBlockscaleShape, GemmGroupedShape
        errors: as gen_kernel of the header
        """
        handle = c.c_void_p()
        if type(shape) in _GENERATORS:
            _GENERATORS[type(shape)](self.live, tag.encode(), c.byref(shape), c.byref(handle))
        else:
            lib.gen_kernel(self.live, tag.encode(), shape.encode(), c.byref(handle))
        return Kernel(self, handle)

    def prepare(self, tag, shape):
        """prepare: gen_kernel ahead of time: the kernel stays loaded until the context is closed, for gen_kernel in a
        capture with refuse_loads_in_capture.
        shapes: `shape` is "key=value" words   errors: as gen_kernel
        """
        lib.cdnagen_prepare(self.live, tag.encode(), shape.encode())

    def zeros(self, shape, type):
        """zeros: device memory of zeros; a workspace begins as that.   errors: BAD_ARGUMENT, NO_DEVICE, HIP"""
        return self._filled(Tensor(0, shape, type), None)

    def upload(self, array):
        """upload: the elements of a contiguous host array in device memory.   errors: BAD_ARGUMENT, NO_DEVICE, HIP"""
        host = tensor_of("array", array)
        if not host.is_host or not host.is_contiguous:
            raise refuse("what is uploaded must be contiguous host memory")
        return self._filled(Tensor(0, host.shape, host.type), host.ptr)

    def _filled(self, like, source):
        size = like.count * BYTES[like.type]
        if not size:
            return like
        memory = Memory(self, size)
        if source is None:
            source = c.cast(c.create_string_buffer(size), c.c_void_p)
        lib.cdnagen_copy_to_device(self.handle, memory.ptr, source, size)
        return Tensor(memory.ptr, like.shape, like.type, owner=memory)

    def download(self, tensor, array):
        """download: a contiguous tensor's bytes into a contiguous host array of as many, after the default stream.
        errors: BAD_ARGUMENT, NO_DEVICE, HIP, FAULT
        """
        host = tensor_of("array", array)
        sizes = [t.count * BYTES[t.type] for t in (host, tensor)]
        writable = host.is_host and not host.is_readonly
        if not writable or not host.is_contiguous or not tensor.is_contiguous or sizes[0] != sizes[1]:
            raise refuse(f"{sizes[1]} bytes of a contiguous tensor go into a contiguous host array of as many that can "
                         f"be written, not of {sizes[0]}")
        lib.cdnagen_copy_to_host(self.live, host.ptr, tensor.ptr, sizes[0])

    def synchronize(self, stream=None):
        """synchronize: wait until `stream` is done.   errors: NO_DEVICE, HIP, FAULT (what a kernel in it did)"""
        lib.cdnagen_synchronize(self.live, stream_handle(stream))


class Memory:
    """Memory: device memory of a context.   owner: freed with the last tensor that uses it   units: bytes"""

    def __init__(self, ctx, size):
        pointer = c.c_void_p()
        lib.cdnagen_alloc(ctx.live, size, c.byref(pointer))
        self.ptr = pointer.value
        self._free = weakref.finalize(self, _free_memory, ctx, self.ptr)
        self._free.atexit = False

    def close(self):
        self._free()


def _fetch(store, key, accept, to):
    data = store.get(key.decode())
    if data is not None:
        accept(to, data, len(data))
    return int(data is not None)


def _free_context(handle, callbacks):
    lib.cdnagen_free_context(handle)
    callbacks.clear()


def _free_memory(ctx, pointer):
    if ctx.handle:
        lib.cdnagen_free_memory(ctx.handle, pointer)
