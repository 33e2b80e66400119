# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The C library by ctypes: found, checked for its version, and with the prototypes of include/cdnagen.h. A function
that returns a status raises Error."""
import ctypes as c
import os

from cdnagen import abi
from cdnagen.error import Error

VERSION = "0.1"  # of the structs in abi.py
NAMES = ("libcdnagen.so.0", "libcdnagen-rt.so.0")


def _load():
    named = os.environ.get("CDNAGEN_LIBRARY")
    failures = []
    for name in (named,) if named else NAMES:
        try:
            return c.CDLL(name)
        except OSError as e:
            failures.append(str(e))
    raise ImportError("no cdnagen library: install it, or let CDNAGEN_LIBRARY name libcdnagen.so or libcdnagen-rt.so ("
                      + "; ".join(failures) + ")")


lib = _load()
lib.cdnagen_version.restype = lib.cdnagen_error.restype = lib.cdnagen_status_name.restype = c.c_char_p
lib.cdnagen_status_name.argtypes = [c.c_int]
version = lib.cdnagen_version().decode()
if not version.startswith(VERSION + "."):
    raise ImportError(f"the library is cdnagen {version}, this package is of {VERSION}: install both of one version")


def _raise(status, function, arguments):
    if status:
        raise Error(status, lib.cdnagen_error().decode(errors="replace"), lib.cdnagen_status_name(status).decode())


_handle, _text, _stream, _out = c.c_void_p, c.c_char_p, c.c_void_p, c.POINTER(c.c_void_p)
_size, _i64 = c.POINTER(c.c_size_t), c.c_int64
_tensor = c.POINTER(abi.CTensor)
_form = [_handle] + [_tensor] * 6 + [_stream]
_form_with_padding = [_handle] + [_tensor] * 5 + [c.c_int, _tensor, _stream]

for _name, _arguments in {
        "gen_kernel": [_handle, _text, _text, _out],
        "cdnagen_prepare": [_handle, _text, _text],
        "cdnagen_supports": [_text, _text, _text],
        "cdnagen_create_context": [c.POINTER(abi.Options), _out],
        "cdnagen_device_name": [_handle, c.POINTER(_text)],
        "cdnagen_gen_mqa_logits": [_handle, _text, c.POINTER(abi.MqaLogitsShape), _out],
        "cdnagen_gen_gemm_blockscale": [_handle, _text, c.POINTER(abi.GemmBlockscaleShape), _out],
        "cdnagen_gen_gemm_grouped": [_handle, _text, c.POINTER(abi.GemmGroupedShape), _out],
        "cdnagen_launch_mqa_logits": [_handle, c.POINTER(abi.MqaLogitsArgs), _stream],
        "cdnagen_launch_gemm_blockscale": [_handle, c.POINTER(abi.GemmBlockscaleArgs), _stream],
        "cdnagen_launch_gemm_grouped": [_handle, c.POINTER(abi.GemmGroupedArgs), _stream],
        "cdnagen_gemm_blockscale_workspace": [_handle, _i64, _i64, _size],
        "cdnagen_gemm_grouped_workspace": [_handle, _i64, _i64, _i64, _size],
        "cdnagen_pack_b": [c.c_void_p, _i64, _i64, _i64, c.c_void_p],
        "cdnagen_grouped_output": [c.c_int, _tensor, _tensor, _tensor, _tensor],
        "cdnagen_rowwise_grouped_stacked": _form,
        "cdnagen_rowwise_grouped_stacked_preshuffle": _form,
        "cdnagen_rowwise_grouped_dynamic": _form_with_padding,
        "cdnagen_rowwise_grouped_dynamic_preshuffle": _form_with_padding,
        "cdnagen_rowwise_grouped_mm": _form,
        "cdnagen_rowwise_grouped_mm_preshuffle": _form,
        "cdnagen_groupwise_grouped": _form,
        "cdnagen_groupwise_grouped_preshuffle": _form,
        "cdnagen_alloc": [_handle, c.c_size_t, _out],
        "cdnagen_free_memory": [_handle, c.c_void_p],
        "cdnagen_copy_to_device": [_handle, c.c_void_p, c.c_void_p, c.c_size_t],
        "cdnagen_copy_to_host": [_handle, c.c_void_p, c.c_void_p, c.c_size_t],
        "cdnagen_synchronize": [_handle, _stream],
        "cdnagen_get_kernel_info": [_handle, c.POINTER(abi.KernelInfo)],
        "cdnagen_get_kernel_text": [_handle, c.c_int, c.POINTER(_text)],
}.items():
    _function = getattr(lib, _name)
    _function.restype, _function.argtypes, _function.errcheck = c.c_int, _arguments, _raise

_procedures = {"cdnagen_free_kernel": [_handle], "cdnagen_free_context": [_handle], "cdnagen_shutdown": []}
for _name, _arguments in _procedures.items():
    _function = getattr(lib, _name)
    _function.restype, _function.argtypes = None, _arguments


def stream_handle(stream):
    """stream_handle: a caller's stream: None, hipStream_t as an int, or an object whose cuda_stream is that."""
    return getattr(stream, "cuda_stream", stream)
