# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors: a pointer with sizes, strides and element type, made by hand or taken from another library's array."""
import ctypes as c
import math
from dataclasses import dataclass, field, replace

from cdnagen.error import refuse

BYTES = {"u8": 1, "e4m3fn": 1, "e4m3fnuz": 1, "ue8m0": 1, "u16": 2, "bf16": 2, "f16": 2, "f32": 4, "i32": 4, "i64": 8}

# What numpy has no word for is "V1" or "V2"; the array's dtype may have a name for it, as those of ml_dtypes and torch.
_OF_NAME = {"float8_e4m3fn": "e4m3fn", "float8_e4m3fnuz": "e4m3fnuz", "float8_e8m0fnu": "ue8m0", "bfloat16": "bf16"}
_OF_TYPESTR = {"u1": "u8", "i1": "u8", "V1": "u8", "u2": "u16", "i2": "u16", "V2": "u16", "f2": "f16", "f4": "f32",
               "i4": "i32", "i8": "i64"}

# source: dlpack.h, https://github.com/dmlc/dlpack
_OF_DLPACK = {(0, 8): "u8", (1, 8): "u8", (0, 16): "u16", (1, 16): "u16", (0, 32): "i32", (0, 64): "i64",
              (2, 16): "f16", (2, 32): "f32", (4, 16): "bf16", (10, 8): "e4m3fn", (11, 8): "e4m3fnuz",
              (14, 8): "ue8m0"}
_DLPACK_CPU, _DLPACK_ROCM = 1, 10
_DLPACK_NO_ORDER = -1  # the caller's stream is the one that the launch is in


class _DLTensor(c.Structure):
    _fields_ = [("data", c.c_void_p), ("device_type", c.c_int32), ("device_id", c.c_int32), ("ndim", c.c_int32),
                ("code", c.c_uint8), ("bits", c.c_uint8), ("lanes", c.c_uint16), ("shape", c.POINTER(c.c_int64)),
                ("strides", c.POINTER(c.c_int64)), ("byte_offset", c.c_uint64)]


_capsule_pointer = c.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype, _capsule_pointer.argtypes = c.c_void_p, [c.py_object, c.c_char_p]


@dataclass(frozen=True)
class Tensor:
    """Tensor: memory of a device or of the host as an operand.
    ptr: address of the first element   type: a word of BYTES   strides: elements; left out: contiguous
    bytes: what may be accessed from ptr on; left out: up to the last element   count: of the elements
    device: of GPU memory, its number; None: not known   owner: whatever keeps the memory; it lives as long as this
    """
    ptr: int
    shape: tuple
    type: str
    strides: tuple = None
    bytes: int = None
    device: int = None
    is_host: bool = False
    is_readonly: bool = False
    owner: object = None
    count: int = field(init=False)

    def __post_init__(self):
        if self.type not in BYTES:
            raise refuse(f"type \"{self.type}\" is not one of {', '.join(BYTES)}")
        shape = tuple(int(n) for n in self.shape)
        if any(n < 0 for n in shape):
            raise refuse(f"a tensor has sizes {list(shape)}: they must not be negative")
        strides = _dense(shape) if self.strides is None else tuple(int(s) for s in self.strides)
        if len(strides) != len(shape):
            raise refuse(f"a tensor has {len(shape)} sizes and {len(strides)} strides")
        object.__setattr__(self, "shape", shape)
        object.__setattr__(self, "strides", strides)
        object.__setattr__(self, "count", math.prod(shape))
        if self.bytes is None:
            object.__setattr__(self, "bytes", self.span)

    @property
    def span(self):
        """span: from the first element to the last.   units: bytes"""
        if not self.count:
            return 0
        return (1 + sum((n - 1) * s for n, s in zip(self.shape, self.strides))) * BYTES[self.type]

    @property
    def is_contiguous(self):
        return not self.count or all(n == 1 or s == d for n, s, d in zip(self.shape, self.strides, _dense(self.shape)))

    @property
    def T(self):
        """T: a matrix with rows and columns exchanged; the same memory."""
        return replace(self, shape=self.shape[::-1], strides=self.strides[::-1])

    def stride(self, axis):
        """stride: elements to the next one along `axis`; 0 where there is no next."""
        return self.strides[axis] if self.shape[axis] > 1 else 0


def _dense(shape):
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= max(n, 1)
    return tuple(reversed(strides))


def tensor_of(name, array):
    """tensor_of: a Tensor as it is; host arrays with __array_interface__ (numpy); arrays with __dlpack__ of the host or
    of an AMD GPU (torch); GPU arrays with __cuda_array_interface__. Nothing is copied.   errors: BAD_ARGUMENT
    """
    if isinstance(array, Tensor):
        return array
    if hasattr(array, "__array_interface__"):
        return _of_interface(name, array, array.__array_interface__, is_host=True)
    if hasattr(array, "__dlpack__"):
        return _of_dlpack(name, array)
    if hasattr(array, "__cuda_array_interface__"):
        return _of_interface(name, array, array.__cuda_array_interface__, is_host=False)
    raise refuse(f"{name} is {type(array).__name__}: a Tensor is needed, or an array with __array_interface__, "
                 "__dlpack__ or __cuda_array_interface__")


# source: https://numpy.org/doc/stable/reference/arrays.interface.html
def _of_interface(name, array, interface, is_host):
    order, word = interface["typestr"][0], interface["typestr"][1:]
    if word not in _OF_TYPESTR or order == ">":
        raise refuse(f"{name} has elements \"{interface['typestr']}\": view them as unsigned bytes or 16-bit words if "
                     "they are FP8 or bf16; f16, f32, i32 and i64 are taken as they are")
    kind = _OF_NAME.get(str(getattr(array, "dtype", "")).rpartition(".")[2], _OF_TYPESTR[word])
    strides = interface.get("strides")
    if strides is not None:
        if any(s % BYTES[kind] for s in strides):
            raise refuse(f"{name} has strides of {list(strides)} bytes, not multiples of its elements' {BYTES[kind]}: "
                         "copy it")
        strides = [s // BYTES[kind] for s in strides]
    pointer, is_readonly = interface["data"]
    return Tensor(pointer or 0, interface["shape"], kind, strides, is_host=is_host, is_readonly=is_readonly,
                  owner=array)


def _of_dlpack(name, array):
    where = array.__dlpack_device__()[0]
    if where not in (_DLPACK_CPU, _DLPACK_ROCM):
        raise refuse(f"{name} is on DLPack device type {int(where)}: {_DLPACK_ROCM} (an AMD GPU) or {_DLPACK_CPU} (the "
                     "host) is needed")
    capsule = array.__dlpack__() if where == _DLPACK_CPU else array.__dlpack__(stream=_DLPACK_NO_ORDER)
    t = _DLTensor.from_address(_capsule_pointer(capsule, b"dltensor"))
    kind = _OF_DLPACK.get((t.code, t.bits)) if t.lanes == 1 else None
    if not kind:
        raise refuse(f"{name} has DLPack elements of code {t.code}, {t.bits} bits, {t.lanes} lanes: no kernel has them")
    return Tensor((t.data or 0) + t.byte_offset, t.shape[:t.ndim], kind, t.strides[:t.ndim] if t.strides else None,
                  device=t.device_id if where == _DLPACK_ROCM else None, is_host=where == _DLPACK_CPU,
                  owner=(array, capsule))
