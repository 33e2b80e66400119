# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Contexts and kernels from Python: options, errors, log, store, lifetimes; the caller's streams and captures on the
simulated HIP library; the runtime without a compiler on a pack. CDNAGEN_BUILD names the build's folder."""
import ctypes
import gc
import os
import subprocess
import sys
import tempfile
import threading
import unittest

import numpy as np

import cdnagen

BUILD = os.environ["CDNAGEN_BUILD"]
SHAPE = "heads=32 dim=64"


def arrays(seq=2, seq_kv=70):
    """arrays: every number is 1, so that each logit is 32 * 64."""
    return (np.full((seq, 32, 64), 0x38, np.uint8), np.full((seq_kv, 64), 0x38, np.uint8),
            np.ones(seq_kv, np.float32), np.ones((seq, 32), np.float32), np.zeros(seq, np.int32),
            np.full(seq, seq_kv, np.int32), np.zeros((seq, seq_kv), np.float32))


class Contexts(unittest.TestCase):
    def setUp(self):
        self.options = {"device": "sim", "target": "gfx950", "cache_dir": ""}

    def test_options_that_are_refused(self):
        for says, error, options in (("gfx1100", cdnagen.Error, {"target": "gfx1100"}),
                                     ("kernels_kept", cdnagen.Error, {"kernels_kept": -1}),
                                     ("no devise", TypeError, {"devise": "sim"})):
            with self.assertRaisesRegex(error, says):
                cdnagen.Context(**options)

    def test_errors_carry_status_name_and_sentence(self):
        with cdnagen.Context(**self.options) as ctx:
            for status, tag, shape in ((cdnagen.Status.BAD_TAG, "mqa_logits:nonsense", SHAPE),
                                       (cdnagen.Status.BAD_SHAPE, "mqa_logits:auto", "heads=many dim=64")):
                with self.assertRaises(cdnagen.Error) as raised:
                    ctx.gen_kernel(tag, shape)
                error = raised.exception
                self.assertEqual((error.status, error.name), (status, f"CDNAGEN_{status.name}"))
                self.assertEqual(str(error), f"{error.name}: {error.message}")
                self.assertIn("nonsense" if status == cdnagen.Status.BAD_TAG else "many", error.message)

    def test_a_status_of_a_newer_library_is_kept(self):
        error = cdnagen.Error(63, "something new", "CDNAGEN_NEW")
        self.assertEqual((error.status, error.name), (63, "CDNAGEN_NEW"))

    def test_supports_compiles_nothing(self):
        cdnagen.supports("mqa_logits:auto", SHAPE, "gfx942")
        with self.assertRaises(cdnagen.Error) as raised:
            cdnagen.supports("gemm_blockscale:mfma16x16x128_t128x256x128_8w", "", "gfx942")
        self.assertIs(raised.exception.status, cdnagen.Status.LIMIT)

    def test_what_is_prepared_is_at_hand(self):
        with cdnagen.Context(kernels_kept=1, memory_bytes=1, **self.options) as ctx:
            ctx.prepare("mqa_logits:auto", SHAPE)
            for heads in range(1, 6):
                ctx.gen_kernel("mqa_logits:auto", f"heads={heads} dim=64")
            self.assertIs(ctx.gen_kernel("mqa_logits:auto", SHAPE).info.cache_tier, cdnagen.CacheTier.MEMORY)
            with self.assertRaisesRegex(cdnagen.Error, "heads"):
                ctx.prepare("mqa_logits:auto", "heads=many dim=64")

    def test_what_is_known_of_a_kernel(self):
        with cdnagen.Context(**self.options) as ctx, ctx.gen_kernel("mqa_logits:auto", SHAPE) as kernel:
            info = kernel.info
            self.assertEqual((info.op, info.target, info.shape), ("mqa_logits", "gfx950", SHAPE + " clean=1"))
            self.assertTrue(info.symbol.startswith("mqa_logits_" + info.tag))
            self.assertEqual(info.object[:4], b"\x7fELF")
            self.assertEqual(len(info.object), info.object_bytes)
            self.assertEqual((len(info.key), info.block[1:], info.grid), (64, (1, 1), (0, 0, 0)))
            self.assertIs(info.cache_tier, cdnagen.CacheTier.NONE)
            self.assertGreater(info.codegen_ms, 0)
            self.assertIn("define", kernel.text(cdnagen.Text.IR))
            self.assertIn("v_mfma", kernel.text(cdnagen.Text.ISA))

    def test_typed_shapes_are_their_words(self):
        with cdnagen.Context(**self.options) as ctx:
            rows = (("mqa_logits", cdnagen.MqaLogitsShape(heads=32, dim=64, clean=1, kv_fp8=cdnagen.Fp8.E4M3FN),
                     SHAPE + " clean=1 kv_fp8=e4m3fn"),
                    ("gemm_blockscale", cdnagen.GemmBlockscaleShape(m=5, n=512, k=1024,
                                                                    b_layout=cdnagen.BLayout.PRESHUFFLED),
                     "m=5 n=512 k=1024 b=preshuffled"),
                    ("gemm_grouped", cdnagen.GemmGroupedShape(groups=2, m=9, n=128, k=128,
                                                              layout=cdnagen.GroupedLayout.PADDED),
                     "layout=padded groups=2 m=9 n=128 k=128"))
            for op, shape, words in rows:
                with self.subTest(op):
                    self.assertEqual(ctx.gen_kernel(op + ":auto", shape).info.symbol,
                                     ctx.gen_kernel(op + ":auto", words).info.symbol)

    def test_the_log(self):
        lines = []
        with cdnagen.Context(log=lambda level, line: lines.append((level, line)), device="auto", cache_dir="") as ctx:
            self.assertIn("gfx9", ctx.device_name)
        self.assertIn(cdnagen.LogLevel.LOG_INFO, {level for level, _ in lines})
        self.assertTrue(any("device auto" in line for _, line in lines), lines)

    def test_a_store_of_the_callers_own(self):
        class Store(dict):
            def put(self, key, data):
                self[key] = data

        store = Store()
        with cdnagen.Context(store=store, **self.options) as ctx:
            key = ctx.gen_kernel("mqa_logits:auto", SHAPE).info.key
        self.assertEqual(list(store), [key])
        with cdnagen.Context(store=store, cache_only=True, **self.options) as ctx:
            self.assertIs(ctx.gen_kernel("mqa_logits:auto", SHAPE).info.cache_tier, cdnagen.CacheTier.STORE)
            with self.assertRaises(cdnagen.Error) as raised:
                ctx.gen_kernel("mqa_logits:auto", "heads=16 dim=64")
            self.assertIs(raised.exception.status, cdnagen.Status.CACHE_MISS)

    def test_a_kernel_outlives_its_closed_context(self):
        ctx = cdnagen.Context(**self.options)
        kernel = ctx.gen_kernel("mqa_logits:auto", SHAPE)
        ctx.close()
        ctx.close()
        self.assertEqual(kernel.info.op, "mqa_logits")
        for call in (lambda: ctx.device_name, lambda: ctx.zeros((1,), "u8"), ctx.synchronize,
                     lambda: ctx.gen_kernel("mqa_logits:auto", SHAPE),
                     lambda: cdnagen.launch_mqa_logits(kernel, *arrays())):
            with self.assertRaisesRegex(cdnagen.Error, "the context is closed"):
                call()

    def test_many_threads_on_one_context(self):
        with cdnagen.Context(**self.options) as ctx:
            results = []

            def work(heads):
                kernel = ctx.gen_kernel("mqa_logits:auto", f"heads={heads} dim=64")
                q, kv, scales, weights, *windows, logits = arrays()
                cdnagen.launch_mqa_logits(kernel, q[:, :heads], kv, scales, weights[:, :heads].copy(), *windows, logits)
                results.append((logits == 64 * heads).all())

            threads = [threading.Thread(target=work, args=(heads,)) for heads in (8, 16, 32, 16)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            self.assertEqual(results, [True] * 4)

    def test_the_process_ends_well_with_everything_alive(self):
        code = ("import cdnagen; ctx = cdnagen.Context(device='sim', target='gfx950', cache_dir='');"
                f"kernel = ctx.gen_kernel('mqa_logits:auto', '{SHAPE}'); memory = ctx.zeros((64,), 'u8')")
        done = subprocess.run([sys.executable, "-X", "dev", "-c", code], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


HIP_PROGRAM = '''
import ctypes, gc
import numpy as np
import cdnagen
from context_test import SHAPE, arrays

ctx = cdnagen.Context(device="gpu:1", cache_dir="", no_cache=True)
assert ctx.is_simulator and ctx.device_index == 1, ctx.device_name
hip = ctypes.CDLL(HIP)
def ok(error): assert error == 0, error
kernel, unused = ctx.gen_kernel("mqa_logits:auto", SHAPE), ctx.zeros((1000,), "u8")
*inputs, logits = [ctx.upload(array) for array in arrays()]
stream, graph, executable = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
ok(hip.hipSetDevice(1))
ok(hip.hipStreamCreate(ctypes.byref(stream)))
class Stream:
    cuda_stream = stream.value
ok(hip.hipStreamBeginCapture(stream, 0))
cdnagen.launch_mqa_logits(kernel, *inputs, logits, stream=Stream())
cold = ctx.gen_kernel("mqa_logits:auto", "heads=16 dim=64")
del cold, kernel, unused
gc.collect()  # frees a kernel, memory, and the handle of what was captured
ok(hip.hipStreamEndCapture(stream, ctypes.byref(graph)))
ok(hip.hipGraphInstantiateWithFlags(ctypes.byref(executable), graph, ctypes.c_ulonglong(0)))
got = arrays()[-1]
ctx.download(logits, got)
assert not got.any()
ok(hip.hipGraphLaunch(executable, stream))
ctx.synchronize(stream.value)
ctx.download(logits, got)
assert (got == 32 * 64).all(), got
'''


DEVICES_PROGRAM = '''
import threading
import cdnagen
from context_test import SHAPE, arrays

ctxs = [cdnagen.Context(device=f"gpu:{i}", cache_dir="") for i in range(3)]
kernels = [ctx.gen_kernel("mqa_logits:auto", SHAPE) for ctx in ctxs]
assert [k.info.target for k in kernels] == ["gfx950", "gfx942", "gfx950"]
right = []
def work(own):
    for _ in range(5):
        *inputs, logits = arrays()
        cdnagen.launch_mqa_logits(kernels[own], *inputs, logits)
        scale = 4 if own == 1 else 1  # bytes of e4m3fn are half their value in e4m3fnuz
        right.append((logits * scale == 32 * 64).all())
threads = [threading.Thread(target=work, args=(own,)) for own in range(3)]
for t in threads: t.start()
for t in threads: t.join()
assert right == [True] * 15, right
*inputs, logits = map(ctxs[0].upload, arrays())
try:
    cdnagen.launch_mqa_logits(kernels[2], *inputs, logits)
    ctxs[2].synchronize()
    raise SystemExit("memory of another device was taken")
except cdnagen.Error as error:
    assert error.name == "CDNAGEN_HIP" and " answers " in error.message, error
'''


class Hip(unittest.TestCase):
    def run_python(self, code, **environment):
        environment = {**os.environ, "CDNAGEN_HIP_LIBRARY": BUILD + "/libamdhip64-sim.so", **environment}
        return subprocess.run([sys.executable, "-c", f"HIP = {environment['CDNAGEN_HIP_LIBRARY']!r}\n" + code],
                              env=environment, cwd=os.path.dirname(os.path.abspath(__file__)), capture_output=True,
                              text=True)

    def test_a_capture_of_the_callers_stream_survives_the_garbage_collector(self):
        done = self.run_python(HIP_PROGRAM, CDNAGEN_SIM_DEVICES="gfx942,gfx950")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_each_device_has_its_modules_and_memory(self):
        done = self.run_python(DEVICES_PROGRAM, CDNAGEN_SIM_DEVICES="gfx950,gfx942,gfx950")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("no live allocation holds", done.stderr)  # the simulator's, of the last launch

    def test_host_arrays_need_the_simulator(self):
        class Gpu(cdnagen.Context):
            device_name = "AMD Instinct MI350X (gfx950)"

        ctx = Gpu(device="sim", target="gfx950", cache_dir="")
        kernel = ctx.gen_kernel("mqa_logits:auto", SHAPE)
        with self.assertRaisesRegex(cdnagen.Error, "q is in host memory, which only the simulator takes"):
            cdnagen.launch_mqa_logits(kernel, *arrays())

    def test_the_runtime_without_a_compiler_takes_kernels_from_a_pack(self):
        code = f'''
import cdnagen
from context_test import SHAPE, arrays
ctx = cdnagen.Context(device="gpu")
kernel = ctx.gen_kernel("mqa_logits:auto", SHAPE)
assert kernel.info.cache_tier == cdnagen.CacheTier.DISK, kernel.info.cache_tier
*inputs, logits = arrays()
cdnagen.launch_mqa_logits(kernel, *inputs, logits)
assert (logits == 32 * 64).all(), logits
for status, call in ((cdnagen.Status.CACHE_MISS, lambda: ctx.gen_kernel("mqa_logits:auto", "heads=16 dim=64")),
                     (cdnagen.Status.UNAVAILABLE, lambda: kernel.text(cdnagen.Text.IR))):
    try:
        call()
        raise SystemExit(status)
    except cdnagen.Error as e:
        assert e.status == status, e
'''
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "CDNAGEN_CACHE_DIR": folder + "/cache"}
            os.mkdir(folder + "/cache")
            for words in (f"gen mqa_logits:auto {SHAPE} --target gfx950", f"pack {folder}/kernels.pack {folder}/cache"):
                subprocess.run([BUILD + "/cdnagen", *words.split()], env=environment, check=True, capture_output=True)
            done = self.run_python(code, CDNAGEN_LIBRARY=BUILD + "/libcdnagen-rt.so", CDNAGEN_SIM_DEVICES="gfx950",
                                   CDNAGEN_CACHE_DIR=folder + "/kernels.pack")
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_library_that_is_not_there_is_named(self):
        done = self.run_python("import cdnagen", CDNAGEN_LIBRARY="/nowhere/libcdnagen.so")
        self.assertIn("ImportError: no cdnagen library", done.stderr)
        self.assertIn("/nowhere/libcdnagen.so", done.stderr)


if __name__ == "__main__":
    unittest.main()
