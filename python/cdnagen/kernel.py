# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels: what is known of one, and its end. Launches are in launch.py."""
import ctypes as c
import functools
import types
import weakref

from cdnagen import abi
from cdnagen.library import lib


class Kernel:
    """Kernel: a generated kernel, loaded where its context has a device; Context.gen_kernel makes it.
    owner: freed by close, at the end of a with statement, or when it is garbage, also during a stream capture; its
           launches must have completed
    """

    def __init__(self, ctx, handle):
        self.ctx, self.handle = ctx, handle
        self._free = weakref.finalize(self, lib.cdnagen_free_kernel, handle)
        self._free.atexit = False  # the process's end frees it, and HIP may be gone by then

    def close(self):
        """close: release the kernel."""
        self._free()
        self.handle = None

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    @functools.cached_property
    def info(self):
        """info: the members of cdnagen_kernel_info: strings are str, the code object bytes, block and grid tuples."""
        raw = abi.KernelInfo()
        lib.cdnagen_get_kernel_info(self.handle, c.byref(raw))
        info = types.SimpleNamespace()
        for name, kind in abi.KernelInfo._fields_[1:]:
            value = getattr(raw, name)
            if kind is c.c_char_p:
                value = value.decode()
            elif issubclass(kind, c.Array):
                value = tuple(value)
            setattr(info, name, value)
        info.object = c.string_at(raw.object, raw.object_bytes)
        info.cache_tier = abi.CacheTier(raw.cache_tier)
        return info

    @functools.cached_property
    def words(self):
        """words: the shape words that are not at their default."""
        return dict(word.split("=") for word in self.info.shape.split())

    def fp8(self, word):
        """fp8: the element types that an operand may have whose meaning the shape word `word` gives."""
        own = "e4m3fnuz" if self.info.target.startswith("gfx942") else "e4m3fn"
        meaning = self.words.get(word, "native")
        return ("u8", own if meaning == "native" else meaning)

    def text(self, which):
        """text: Text.IR: LLVM IR, emitted again; Text.ISA: disassembly.   errors: NO_MEMORY, COMPILE, UNAVAILABLE"""
        text = c.c_char_p()
        lib.cdnagen_get_kernel_text(self.handle, which, c.byref(text))
        return text.value.decode()
