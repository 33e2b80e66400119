# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where operands come from: numpy, DLPack, __cuda_array_interface__, pointers; and what is refused in them."""
import ctypes
import gc
import unittest
import weakref

import numpy as np

import cdnagen
from cdnagen.tensor import tensor_of

M, N, K = 5, 128, 256
ONE = 0x38  # in e4m3fn


class OnlyDlpack:
    """OnlyDlpack: an array with nothing but __dlpack__, as numpy makes it."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class Managed(ctypes.Structure):
    """Managed: DLManagedTensor, written out anew. source: dlpack.h, https://github.com/dmlc/dlpack"""
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class GpuArray:
    """GpuArray: memory of a device behind __dlpack__, as a framework's."""

    def __init__(self, pointer, shape, code=1, bits=8, device=(10, 0), strides=None, byte_offset=0):
        self.device, self.stream = device, "not asked"
        self.shape = (ctypes.c_int64 * len(shape))(*shape)
        self.strides = strides and (ctypes.c_int64 * len(shape))(*strides)
        self.managed = Managed(pointer, device, len(shape), code, bits, 1, self.shape, self.strides, byte_offset)

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, stream=None):
        self.stream = stream
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self.managed), b"dltensor", None)


class CudaArray:
    def __init__(self, pointer, shape, typestr):
        self.__cuda_array_interface__ = {"data": (pointer, False), "shape": shape, "typestr": typestr, "version": 3}


class Named:
    """Named: an array whose dtype numpy does not know, as of ml_dtypes."""

    def __init__(self, array, dtype):
        self.__array_interface__ = array.__array_interface__
        self.array, self.dtype = array, dtype


class Operands(unittest.TestCase):
    def setUp(self):
        self.ctx = cdnagen.Context(device="sim", target="gfx950", cache_dir="")
        self.kernel = self.ctx.gen_kernel("gemm_blockscale:mfma16x16x128_t16x64x128_4w", f"n={N} k={K}")
        self.good = {"a": np.full((M, K), ONE, np.uint8), "b": np.full((N, K), ONE, np.uint8),
                     "a_scales": np.ones((M, K // 128), np.float32), "b_scales": np.ones((1, K // 128), np.float32),
                     "c": np.zeros((M, N), np.uint16)}

    def tearDown(self):
        self.kernel.close()
        gc.collect()
        self.ctx.close()

    def launch(self, **changed):
        cdnagen.launch_gemm_blockscale(self.kernel, **{**self.good, **changed})

    def expect(self, c):
        np.testing.assert_array_equal(c.view(np.uint16), np.full((M, N), 0x4380))  # 256 in bf16
        c[:] = 0

    def test_dlpack_of_the_host(self):
        packed = {name: OnlyDlpack(array) for name, array in self.good.items()}
        self.launch(**packed)
        self.expect(self.good["c"])

    def test_dlpack_of_a_gpu_is_taken_where_it_is(self):
        device = {name: self.ctx.upload(array) for name, array in self.good.items()}
        types = {"a": (10, 8), "b": (10, 8), "a_scales": (2, 32), "b_scales": (2, 32), "c": (4, 16)}
        arrays = {name: GpuArray(t.ptr, t.shape, *types[name]) for name, t in device.items()}
        self.launch(**arrays)
        self.assertEqual(arrays["a"].stream, -1)
        self.ctx.synchronize()
        self.ctx.download(device["c"], self.good["c"])
        self.expect(self.good["c"])

    def test_dlpack_offset_and_strides(self):
        t = tensor_of("x", GpuArray(0x1000, (3, 4), 2, 32, strides=(8, 1), byte_offset=64))
        self.assertEqual((t.ptr, t.strides, t.type, t.bytes, t.device), (0x1040, (8, 1), "f32", (2 * 8 + 4) * 4, 0))

    def test_a_dlpack_capsule_lives_as_long_as_its_tensor(self):
        array = np.zeros(4, np.float32)
        t = tensor_of("x", OnlyDlpack(array))
        self.assertEqual(t.ptr, array.ctypes.data)
        gone = weakref.ref(t.owner[0])
        self.assertIsNotNone(gone())
        del t
        gc.collect()
        self.assertIsNone(gone())

    def test_cuda_array_interface(self):
        device = {name: self.ctx.upload(array) for name, array in self.good.items()}
        self.launch(**{name: CudaArray(t.ptr, t.shape, self.good[name].dtype.str) for name, t in device.items()})
        self.ctx.synchronize()
        self.ctx.download(device["c"], self.good["c"])
        self.expect(self.good["c"])

    def test_pointers_with_sizes_and_strides(self):
        pitch = K + 64
        wide = self.ctx.upload(np.full((M, pitch), ONE, np.uint8))
        self.launch(a=cdnagen.Tensor(wide.ptr, (M, K), "e4m3fn", (pitch, 1)))
        self.expect(self.good["c"])
        with self.assertRaisesRegex(cdnagen.Error, "a has 100 bytes"):
            self.launch(a=cdnagen.Tensor(wide.ptr, (M, K), "e4m3fn", (pitch, 1), bytes=100))

    def test_unsized_elements_are_bytes(self):
        self.launch(a=self.good["a"].view("V1"), c=self.good["c"].view("V2"))
        self.expect(self.good["c"])

    def test_a_dtype_with_a_name_is_what_it_says(self):
        good = self.good
        self.launch(a=Named(good["a"].view("V1"), "float8_e4m3fn"), c=Named(good["c"].view("V2"), "bfloat16"))
        self.expect(good["c"])
        with self.assertRaisesRegex(cdnagen.Error, "a has elements of e4m3fnuz; they must be u8 or e4m3fn"):
            self.launch(a=Named(good["a"].view("V1"), "torch.float8_e4m3fnuz"))

    def test_readonly_inputs(self):
        self.good["a"].flags.writeable = False
        self.launch()
        self.expect(self.good["c"])

    def test_what_is_refused_and_what_is_said(self):
        good = self.good
        readonly = good["c"].copy()
        readonly.flags.writeable = False
        for says, changed in (
                (r"a has elements of f32; they must be u8 or e4m3fn", {"a": good["a"].astype(np.float32)}),
                (r"a has elements of e4m3fnuz", {"a": cdnagen.Tensor(0x1000, (M, K), "e4m3fnuz")}),
                (r"c has elements of f16; they must be bf16 or u16", {"c": np.zeros((M, N), np.float16)}),
                (r"b has sizes \[128, 255\]; they must be \[any, 256\]", {"b": good["b"][:, 1:]}),
                (r"a has sizes \[1280\]; they must be \[any, any\]", {"a": good["a"].ravel()}),
                (r"c has sizes \[128, 5\]; they must be \[5, 128\]", {"c": good["c"].T}),
                (r"a_scales has sizes \[5, 1\]; they must be \[5, 2\]", {"a_scales": good["a_scales"][:, :1]}),
                (r"a has stride 0 in dimension 0; it must be positive", {"a": np.broadcast_to(good["a"][:1], (M, K))}),
                (r"a has stride -256 in dimension 0", {"a": good["a"][::-1]}),
                (r"a has stride 2 in its last dimension", {"a": np.zeros((M, 2 * K), np.uint8)[:, ::2]}),
                (r"a_scales has stride 5 in its last dimension", {"a_scales": np.zeros((2, M), np.float32).T}),
                (r"c is written, and is read-only", {"c": readonly}),
                (r"a is NoneType: a Tensor is needed", {"a": None}),
                (r"a has elements \">f4\"", {"a": good["a"].astype(">f4")}),
                (r"a has elements \"<c8\"", {"a": good["a"].astype(np.complex64)}),
                (r"a is on DLPack device type 2: 10 \(an AMD GPU\)", {"a": GpuArray(1, (M, K), device=(2, 0))}),
                (r"a is on GPU 1, the context is on GPU 0", {"a": GpuArray(1, (M, K), device=(10, 1))}),
                (r"a has DLPack elements of code 5, 64 bits", {"a": GpuArray(1, (M, K), 5, 64)}),
                (r"a\.ptr 0x1001 is not aligned to 16 bytes", {"a": GpuArray(0x1001, (M, K))}),
        ):
            with self.subTest(says):
                with self.assertRaisesRegex(cdnagen.Error, says) as raised:
                    self.launch(**changed)
                self.assertIs(raised.exception.status, cdnagen.Status.BAD_ARGUMENT)
                self.assertEqual(raised.exception.name, "CDNAGEN_BAD_ARGUMENT")
        self.assertFalse(good["c"].any())

    def test_tensors_that_are_none(self):
        for says, arguments in ((r"type \"int8\" is not one of u8", (0, (1,), "int8")),
                                (r"sizes \[-1\]", (0, (-1,), "u8")),
                                (r"2 sizes and 1 strides", (0, (1, 1), "u8", (1,)))):
            with self.assertRaisesRegex(cdnagen.Error, says):
                cdnagen.Tensor(*arguments)

    def test_memory_of_the_context(self):
        matrix = np.arange(12, dtype=np.float32).reshape(3, 4)
        t = self.ctx.upload(matrix)
        self.assertEqual((t.shape, t.type, t.bytes), ((3, 4), "f32", 48))
        back = np.zeros_like(matrix)
        self.ctx.download(t, back)
        np.testing.assert_array_equal(back, matrix)
        self.ctx.download(self.ctx.zeros((3, 4), "f32"), back)
        self.assertFalse(back.any())
        with self.assertRaisesRegex(cdnagen.Error, "must be contiguous host memory"):
            self.ctx.upload(matrix.T)
        for wrong in back[:2], back.T, t:
            with self.assertRaisesRegex(cdnagen.Error, "48 bytes of a contiguous tensor"):
                self.ctx.download(t, wrong)

    def test_a_fault_of_a_kernel_is_told_and_the_next_launch_works(self):
        with self.assertRaises(cdnagen.Error) as raised:
            self.launch(a=cdnagen.Tensor(0x1000, (M, K), "u8"))
        self.assertIs(raised.exception.status, cdnagen.Status.FAULT)
        self.launch()
        self.expect(self.good["c"])

    def test_other_operators_kernels_are_refused(self):
        with self.assertRaisesRegex(cdnagen.Error, "cannot take the arguments of mqa_logits"):
            cdnagen.launch_mqa_logits(self.kernel, *[self.good["a"]] * 7)
        self.kernel.close()
        with self.assertRaisesRegex(cdnagen.Error, "kernel is NULL"):
            cdnagen.gemm_blockscale_workspace(self.kernel, 1, 1)

    def test_pack_b(self):
        rows = np.random.default_rng(1).integers(0, 256, (32, 64)).astype(np.uint8)
        packed = np.zeros_like(rows)
        cdnagen.pack_b(np.pad(rows, ((0, 0), (0, 7)))[:, :64], packed)
        by_hand = rows.reshape(2, 16, 2, 2, 16).transpose(0, 2, 3, 1, 4)
        np.testing.assert_array_equal(packed.ravel(), by_hand.ravel())
        for says, arguments in ((r"2048 bytes of rows go into as many, .* packed has 1024", (rows, packed[:16, :])),
                                (r"rows has sizes \[2048\]", (rows.ravel(), packed)),
                                (r"rows has elements of f32", (rows.astype(np.float32), packed)),
                                (r"must be contiguous", (rows, np.zeros((32, 65), np.uint8)[:, :64])),
                                (r"multiple of 16", (rows[:15], packed[:15]))):
            with self.assertRaisesRegex(cdnagen.Error, says):
                cdnagen.pack_b(*arguments)


if __name__ == "__main__":
    unittest.main()
