# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Enums and structs of include/cdnagen.h, which says what each member means. tests/python/abi_test.py compares them
with tests/build/abi.txt. Enum members lack the header's CDNAGEN_ and topic: Fp8.E4M3FN."""
import ctypes as c
import functools
from enum import IntEnum


class Status(IntEnum):
    OK = 0
    BAD_ARGUMENT = 1
    BAD_TAG = 2
    BAD_SHAPE = 3
    BAD_TARGET = 4
    LIMIT = 5
    NOT_YET = 6
    SPILLS = 7
    BAD_OBJECT = 8
    NO_MEMORY = 20
    NO_HIP = 21
    NO_DEVICE = 22
    HIP = 23
    FAULT = 24
    IO = 25
    CAPTURING = 26
    COMPILE = 40
    CACHE_MISS = 41
    UNAVAILABLE = 42


class SpillPolicy(IntEnum):
    SPILLS_ALLOW = 0
    SPILLS_REFUSE = 1


class LogLevel(IntEnum):
    LOG_WARNING = 1
    LOG_INFO = 2


class Weights(IntEnum):
    F32 = 0
    BF16 = 1


class Fp8(IntEnum):
    NATIVE = 0
    E4M3FN = 1
    E4M3FNUZ = 2


class BLayout(IntEnum):
    PLAIN = 0
    PRESHUFFLED = 1


class ScaleLayout(IntEnum):
    ROW_MAJOR = 0
    K_MAJOR = 1


class ScaleType(IntEnum):
    F32 = 0
    UE8M0 = 1


class OutType(IntEnum):
    BF16 = 0
    F16 = 1


class Tail(IntEnum):
    AS_SHAPE = 0
    ANY = 1
    NONE = 2


class GroupedLayout(IntEnum):
    SIZES = 0
    OFFSETS = 1
    PADDED = 2
    BATCHED = 3
    N_OFFSETS = 4
    K_OFFSETS = 5


class GroupedScale(IntEnum):
    ROW = 0
    BLOCK = 1


class Type(IntEnum):
    F32 = 1
    BF16 = 2
    F16 = 3
    E4M3FN = 4
    E4M3FNUZ = 5
    I32 = 6
    I64 = 7


class GroupedForm(IntEnum):
    STACKED = 0
    STACKED_PRESHUFFLE = 1
    DYNAMIC = 2
    DYNAMIC_PRESHUFFLE = 3
    MM = 4
    MM_PRESHUFFLE = 5
    GROUPWISE = 6
    GROUPWISE_PRESHUFFLE = 7


class CacheTier(IntEnum):
    NONE = 0
    MEMORY = 1
    DISK = 2
    STORE = 3


class Text(IntEnum):
    IR = 0
    ISA = 1


@functools.lru_cache(maxsize=None)
def _names(struct):
    return frozenset(name for name, _ in struct._fields_[1:])


class Sized(c.Structure):
    """Sized: a struct whose first member is its size, which is set here. A member that it lacks is a TypeError."""

    def __init__(self, **given):
        if not given.keys() <= _names(type(self)):
            unknown = sorted(given.keys() - _names(type(self)))
            raise TypeError(f"{type(self).__name__} has no {', '.join(unknown)}")
        super().__init__(size=c.sizeof(type(self)), **given)


LOG = c.CFUNCTYPE(None, c.c_void_p, c.c_int, c.c_char_p)
ACCEPT = c.CFUNCTYPE(None, c.c_void_p, c.c_void_p, c.c_size_t)
STORE_GET = c.CFUNCTYPE(c.c_int, c.c_void_p, c.c_char_p, ACCEPT, c.c_void_p)
STORE_PUT = c.CFUNCTYPE(None, c.c_void_p, c.c_char_p, c.c_void_p, c.c_size_t)


def members(type_, *names):
    return [(name, type_) for name in names]


class Options(Sized):
    _fields_ = (members(c.c_size_t, "size") + members(c.c_char_p, "target", "device", "sim_mode", "cache_dir") +
                members(c.c_int, "no_cache", "spills") + [("log", LOG), ("log_user", c.c_void_p)] +
                members(c.c_int, "cache_only", "refuse_loads_in_capture") +
                [("store_get", STORE_GET), ("store_put", STORE_PUT), ("store_user", c.c_void_p)] +
                members(c.c_size_t, "memory_bytes") +
                members(c.c_int, "kernels_kept", "isolate", "isolate_seconds", "isolate_megabytes") +
                members(c.c_size_t, "disk_bytes") + members(c.c_int, "trust_all", "reserved"))


class Buffer(c.Structure):
    _fields_ = [("ptr", c.c_void_p), ("bytes", c.c_size_t)]


class MqaLogitsShape(Sized):
    _fields_ = (members(c.c_size_t, "size") + members(c.c_int64, "seq", "seq_kv") +
                members(c.c_int32, "heads", "dim", "clean", "q_fp8", "kv_fp8", "weights"))


class MqaLogitsArgs(Sized):
    _fields_ = (members(c.c_size_t, "size") +
                members(Buffer, "q", "kv", "kv_scales", "weights", "cu_starts", "cu_ends", "logits") +
                members(c.c_int64, "seq", "seq_kv", "q_stride", "kv_stride", "weights_stride", "logits_stride",
                        "q_head_stride", "q_inner_stride", "kv_inner_stride", "weights_inner_stride",
                        "logits_inner_stride") + members(c.c_int32, "num_splits", "reserved"))


class GemmBlockscaleShape(Sized):
    _fields_ = (members(c.c_size_t, "size") + members(c.c_int64, "m", "n", "k") +
                members(c.c_int32, "k_tail", "n_tail", "a_fp8", "b_fp8", "b_layout", "a_scale_layout", "scale_m",
                        "scale_n", "scale_type", "c_type"))


class GemmBlockscaleArgs(Sized):
    _fields_ = (members(c.c_size_t, "size") +
                members(Buffer, "a", "b", "a_scales", "b_scales", "c", "workspace") +
                members(c.c_int64, "m", "n", "k", "a_stride", "b_stride", "a_scales_stride", "b_scales_stride",
                        "c_stride"))


class GemmGroupedShape(Sized):
    _fields_ = (members(c.c_size_t, "size") + members(c.c_int64, "groups", "m", "n", "k") +
                members(c.c_int32, "layout", "scale", "b_layout", "leave_empty_k", "c_type", "a_fp8", "b_fp8", "k_tail",
                        "n_tail", "reserved"))


class GemmGroupedArgs(Sized):
    _fields_ = (members(c.c_size_t, "size") +
                members(Buffer, "a", "b", "a_scales", "b_scales", "c", "extents", "workspace") +
                members(c.c_int64, "groups", "m", "n", "k") + members(c.c_int32, "keep_padding", "reserved"))


class CTensor(c.Structure):
    _fields_ = [("ptr", c.c_void_p), ("type", c.c_int32), ("rank", c.c_int32), ("size", c.c_int64 * 3),
                ("stride", c.c_int64 * 3)]


class KernelInfo(Sized):
    _fields_ = (members(c.c_size_t, "size") +
                members(c.c_char_p, "op", "tag", "shape", "target", "symbol", "key", "key_text") +
                [("object", c.c_void_p), ("object_bytes", c.c_size_t), ("block", c.c_uint32 * 3),
                 ("grid", c.c_uint32 * 3)] +
                members(c.c_uint32, "vgpr", "agpr", "vgpr_allocated", "sgpr", "lds_bytes", "scratch_bytes",
                        "vgpr_spills", "sgpr_spills", "code_bytes", "waves_per_simd", "waves_per_eu_asked") +
                members(c.c_char_p, "occupancy_limit") + members(c.c_int, "cache_tier") +
                members(c.c_double, "total_ms", "emit_ms", "verify_ms", "passes_ms", "codegen_ms", "link_ms"))
