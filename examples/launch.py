#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The library from Python by ctypes, with raw pointers: no package, no build step.
A library that is not installed is named by CDNAGEN_LIBRARY=build/libcdnagen.so.
With a framework the pointers are its tensors' (t.data_ptr()) and the stream its current one."""
import ctypes as c
import os

lib = c.CDLL(os.environ.get("CDNAGEN_LIBRARY", "libcdnagen.so.0"))
lib.cdnagen_error.restype = c.c_char_p


class Options(c.Structure):
    _fields_ = [("size", c.c_size_t), ("target", c.c_char_p), ("device", c.c_char_p), ("sim_mode", c.c_char_p),
                ("cache_dir", c.c_char_p), ("no_cache", c.c_int), ("spills", c.c_int), ("log", c.c_void_p),
                ("log_user", c.c_void_p)]


class Buffer(c.Structure):
    _fields_ = [("ptr", c.c_void_p), ("bytes", c.c_size_t)]


BUFFERS = ["q", "kv", "kv_scales", "weights", "cu_starts", "cu_ends", "logits"]


class Args(c.Structure):
    _fields_ = ([("size", c.c_size_t)] + [(name, Buffer) for name in BUFFERS] +
                [(name, c.c_int64) for name in ("seq", "seq_kv", "q_stride", "kv_stride", "weights_stride",
                                                "logits_stride")] +
                [("num_splits", c.c_int32), ("reserved", c.c_int32)])


def must(status):
    if status:
        raise RuntimeError(lib.cdnagen_error().decode())


def on_device(ctx, host):
    pointer = c.c_void_p()
    must(lib.cdnagen_alloc(ctx, c.c_size_t(c.sizeof(host)), c.byref(pointer)))
    must(lib.cdnagen_copy_to_device(ctx, pointer, host, c.c_size_t(c.sizeof(host))))
    return Buffer(pointer, c.sizeof(host))


seq, seq_kv, heads, dim, stride = 16, 100, 32, 64, 256
ctx, kernel = c.c_void_p(), c.c_void_p()
must(lib.cdnagen_create_context(c.byref(Options(size=c.sizeof(Options), device=b"auto")), c.byref(ctx)))
shape = f"seq={seq} seq_kv={seq_kv} heads={heads} dim={dim}"
must(lib.gen_kernel(ctx, b"mqa_logits:auto", shape.encode(), c.byref(kernel)))

one = 0x38  # 1.0 in e4m3fn
host = {
    "q": (c.c_uint8 * (seq * heads * dim))(*[one] * (seq * heads * dim)),
    "kv": (c.c_uint8 * (seq_kv * dim))(*[one] * (seq_kv * dim)),
    "kv_scales": (c.c_float * seq_kv)(*[1.0] * seq_kv),
    "weights": (c.c_float * (seq * heads))(*[1.0] * (seq * heads)),
    "cu_starts": (c.c_int32 * seq)(),
    "cu_ends": (c.c_int32 * seq)(*[seq_kv] * seq),
    "logits": (c.c_float * (seq * stride))(),
}
device = {name: on_device(ctx, host[name]) for name in BUFFERS}
args = Args(size=c.sizeof(Args), seq=seq, seq_kv=seq_kv, logits_stride=stride, **device)
must(lib.cdnagen_launch_mqa_logits(kernel, c.byref(args), None))
must(lib.cdnagen_synchronize(ctx, None))
logits = host["logits"]
must(lib.cdnagen_copy_to_host(ctx, logits, c.c_void_p(device["logits"].ptr), c.c_size_t(c.sizeof(logits))))
wrong = sum(logits[m * stride + n] != heads * dim for m in range(seq) for n in range(seq_kv))
print(f"{wrong} of {seq * seq_kv} logits are wrong")
for buffer in device.values():
    must(lib.cdnagen_free_memory(ctx, c.c_void_p(buffer.ptr)))
lib.cdnagen_free_kernel(kernel)
lib.cdnagen_free_context(ctx)
raise SystemExit(wrong != 0)
