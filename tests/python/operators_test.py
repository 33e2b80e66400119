# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each operator with numpy arrays on the simulator, against numpy: sums are exact, results compared bit for bit."""
import unittest

import numpy as np

import cdnagen
import reference
from reference import KINDS, bf16, fp8_values, integers, powers

UNTOUCHED = 77


def context(target):
    return cdnagen.Context(device="sim", target=target, cache_dir="", sim_mode="late poison check=races")


class MqaLogits(unittest.TestCase):
    def inputs(self, kind, seq, seq_kv, heads, dim):
        rng = np.random.default_rng(seq_kv)
        q, kv = integers(rng, (seq, heads, dim), kind), integers(rng, (seq_kv, dim), kind)
        starts = rng.integers(0, seq_kv // 2, seq).astype(np.int32)
        ends = (seq_kv - np.arange(seq)).astype(np.int32)
        weights = rng.integers(-2, 3, (seq, heads)).astype(np.float32)
        return [q, kv, powers(rng, seq_kv), weights, starts, ends]

    def expected(self, kind, q, kv, kv_scales, weights, starts, ends):
        return reference.mqa_logits(fp8_values(kind)[q], fp8_values(kind)[kv], kv_scales, weights, starts, ends)

    def test_it_is_what_numpy_computes(self):
        for target, kind in KINDS.items():
            for seq, seq_kv, heads, dim in (5, 300, 32, 64), (1, 70, 64, 128), (3, 129, 9, 80):
                with context(target) as ctx, self.subTest(target=target, heads=heads, dim=dim):
                    kernel = ctx.gen_kernel("mqa_logits:auto", f"heads={heads} dim={dim}")
                    inputs = self.inputs(kind, seq, seq_kv, heads, dim)
                    logits = np.full((seq, seq_kv), UNTOUCHED, np.float32)
                    cdnagen.launch_mqa_logits(kernel, *inputs, logits)
                    np.testing.assert_array_equal(logits, self.expected(kind, *inputs))

    def test_strides_are_the_arrays_own_and_what_lies_between_is_left(self):
        kind, seq, seq_kv, heads, dim = KINDS["gfx950"], 4, 100, 16, 64
        with context("gfx950") as ctx:
            kernel = ctx.gen_kernel("mqa_logits:auto", cdnagen.MqaLogitsShape(heads=heads, dim=dim, clean=1,
                                                                              weights=cdnagen.Weights.BF16))
            inputs = self.inputs(kind, seq, seq_kv, heads, dim)
            q = np.full((heads, seq, 2 * dim), 0x7f, np.uint8)[:, :, :dim].transpose(1, 0, 2)
            kv = np.full((seq_kv, 3 * dim), 0x7f, np.uint8)[:, dim:2 * dim]
            q[:], kv[:] = inputs[:2]
            wide = np.full((seq, seq_kv + 11), UNTOUCHED, np.float32)
            cdnagen.launch_mqa_logits(kernel, q, kv, inputs[2], bf16(inputs[3]), *inputs[4:], wide[:, 3:3 + seq_kv])
            np.testing.assert_array_equal(wide[:, 3:3 + seq_kv], self.expected(kind, *inputs))
            wide[:, 3:3 + seq_kv] = UNTOUCHED
            self.assertTrue((wide == UNTOUCHED).all())

    def test_no_rows_are_no_launch(self):
        with context("gfx950") as ctx:
            kernel = ctx.gen_kernel("mqa_logits:auto", "heads=32 dim=64")
            inputs = self.inputs(KINDS["gfx950"], 2, 70, 32, 64)
            none = [inputs[0][:0], *inputs[1:3], *(x[:0] for x in inputs[3:])]
            cdnagen.launch_mqa_logits(kernel, *none, np.zeros((0, 70), np.float32))


class GemmBlockscale(unittest.TestCase):
    def check(self, target, m, n, k, words="", tag="auto", k_major=False, launches=1):
        kind, rng = KINDS[target], np.random.default_rng(k)
        a, b = integers(rng, (m, k), kind, 2), integers(rng, (n, k), kind, 2)
        blocks = -(-k // 128)
        a_scales, b_scales = powers(rng, (blocks, m)).T, powers(rng, (-(-n // 128), blocks))
        if not k_major:
            a_scales = np.ascontiguousarray(a_scales)
        sums = reference.gemm_blockscale(fp8_values(kind)[a], fp8_values(kind)[b], a_scales, b_scales)
        half = "out=f16" in words
        packed = b
        if "preshuffled" in words:
            packed = np.zeros_like(b)
            cdnagen.pack_b(b, packed)
        with context(target) as ctx, self.subTest(target=target, m=m, n=n, k=k, words=words):
            kernel = ctx.gen_kernel("gemm_blockscale:" + tag, f"m={m} n={n} k={k} {words}")
            size = cdnagen.gemm_blockscale_workspace(kernel, m, n)
            self.assertEqual(size > 0, "_sk" in kernel.info.tag)
            workspace = ctx.zeros((size,), "u8")
            for _ in range(launches):
                wide = np.full((m, n + 5), UNTOUCHED, np.float16 if half else np.uint16)
                cdnagen.launch_gemm_blockscale(kernel, a, packed, a_scales, b_scales, wide[:, :n], workspace=workspace)
                np.testing.assert_array_equal(wide[:, :n], sums.astype(np.float16) if half else bf16(sums))
                self.assertTrue((wide[:, n:] == UNTOUCHED).all())

    def test_it_is_what_numpy_computes(self):
        for target in KINDS:
            self.check(target, 5, 256, 256)
            self.check(target, 33, 200, 336)
            self.check(target, 17, 128, 384, "out=f16")
            self.check(target, 6, 256, 256, "b=preshuffled")

    def test_scales_next_to_each_other_by_rows(self):
        self.check("gfx950", 9, 256, 384, "a_scales=kmajor", k_major=True)

    def test_a_workspace_serves_one_launch_after_another(self):
        self.check("gfx950", 5, 256, 1024, "b=preshuffled", tag="mfma16x16x128_t16x64x256_4w_sk4", launches=3)


class GemmGrouped(unittest.TestCase):
    GROUPS, N, K = 3, 128, 256

    def problem(self, layout, extents, scale="row", preshuffle=False, target="gfx950"):
        kind, rng = KINDS[target], np.random.default_rng(len(layout))
        g, n, k = self.GROUPS, self.N, self.K
        slabs = layout in ("padded", "batched", "n_offsets")
        m = 20
        if layout == "n_offsets":
            n = extents[-1]
        a = integers(rng, (g, m, k) if slabs else (m, k), kind)
        b = integers(rng, (n, k) if layout in ("n_offsets", "k_offsets") else (g, n, k), kind)
        values_a, values_b = fp8_values(kind)[a], fp8_values(kind)[b]
        c = np.full((g, m, n) if layout in ("padded", "batched", "k_offsets") else (m, n), UNTOUCHED, np.uint16)
        want = c.copy()
        times = g if layout == "k_offsets" else 1
        sa, sb = powers(rng, times * a.size // k), powers(rng, times * b.size // k)
        if scale == "block":
            sa, sb = powers(rng, a.size // 128), powers(rng, (g, k // 128, n // 128))
        begin = 0
        for i in range(g):
            if layout == "sizes":
                rows = slice(begin, begin + extents[i])
            elif layout in ("offsets", "n_offsets", "k_offsets"):
                rows = slice(begin, extents[i])
            begin = 0 if slabs and layout != "n_offsets" else rows.stop
            if layout in ("sizes", "offsets") and scale == "block":
                own = sa[rows.start * (k // 128):rows.stop * (k // 128)].reshape(k // 128, -1).T
                want[rows] = bf16(reference.gemm_blockscale(values_a[rows], values_b[i], own, sb[i].T))
            elif layout in ("sizes", "offsets"):
                want[rows] = bf16(reference.rows_product(values_a[rows], values_b[i], sa[rows], sb[i * n:(i + 1) * n]))
            elif layout in ("padded", "batched"):
                used = extents[i] if layout == "padded" else m
                product = reference.rows_product(values_a[i], values_b[i], sa[i * m:(i + 1) * m], sb[i * n:(i + 1) * n])
                want[i] = bf16(np.where(np.arange(m)[:, None] < used, product, 0))
            elif layout == "n_offsets":
                product = reference.rows_product(values_a[i], values_b[rows], sa[i * m:(i + 1) * m], sb[rows])
                want[:, rows] = bf16(product)
            else:
                want[i] = bf16(reference.rows_product(values_a[:, rows], values_b[:, rows], sa[i * m:(i + 1) * m],
                                                      sb[i * n:(i + 1) * n]))
        packed = b
        if preshuffle:
            packed = np.zeros_like(b)
            for i in range(g):
                cdnagen.pack_b(b[i], packed[i])
        number = np.int64 if layout in ("sizes", "padded") else np.int32
        operands = (a, packed, sa, sb)
        return operands, None if extents is None else np.array(extents, number), c, want

    CASES = (("sizes", [5, 0, 15]), ("offsets", [7, 7, 20]), ("padded", [3, 20, 0]), ("batched", None),
             ("n_offsets", [64, 72, 128]), ("k_offsets", [128, 144, 256]))

    def test_every_layout_is_what_numpy_computes(self):
        for target in KINDS:
            for layout, extents in self.CASES:
                with context(target) as ctx, self.subTest(layout=layout, target=target):
                    operands, extents, c, want = self.problem(layout, extents, target=target)
                    kernel = ctx.gen_kernel("gemm_grouped:auto", f"layout={layout} groups=3 m=20 n=128 k=256")
                    workspace = ctx.zeros((cdnagen.gemm_grouped_workspace(kernel, 3, 20, 128),), "u8")
                    cdnagen.launch_gemm_grouped(kernel, *operands, c, extents, workspace=workspace)
                    np.testing.assert_array_equal(c, want)

    def test_padding_may_be_kept(self):
        with context("gfx950") as ctx:
            operands, extents, c, want = self.problem("padded", [3, 20, 0])
            kernel = ctx.gen_kernel("gemm_grouped:mfma16x16x128_t64x64x256", "layout=padded")
            cdnagen.launch_gemm_grouped(kernel, *operands, c, extents, keep_padding=True)
            self.assertTrue((c[0, 3:] == UNTOUCHED).all())
            self.assertTrue((c[2] == UNTOUCHED).all())
            np.testing.assert_array_equal(c[0, :3], want[0, :3])

    def test_forms_that_take_tensors(self):
        form = cdnagen.GroupedForm
        rows = (
            (cdnagen.rowwise_grouped_stacked, form.STACKED, "sizes", [5, 0, 15], "row"),
            (cdnagen.rowwise_grouped_dynamic, form.DYNAMIC, "padded", [3, 20, 0], "row"),
            (cdnagen.rowwise_grouped_mm, form.MM, "offsets", [7, 7, 20], "row"),
            (cdnagen.rowwise_grouped_mm, form.MM, "batched", None, "row"),
            (cdnagen.rowwise_grouped_mm, form.MM, "n_offsets", [64, 72, 128], "row"),
            (cdnagen.rowwise_grouped_mm, form.MM, "k_offsets", [128, 144, 256], "row"),
            (cdnagen.groupwise_grouped, form.GROUPWISE, "sizes", [5, 0, 15], "block"),
        )
        with context("gfx950") as ctx:
            for function, which, layout, ends, scale in rows:
                for preshuffle in (False, True):
                    if preshuffle and layout in ("n_offsets", "k_offsets"):
                        continue
                    with self.subTest(form=which.name, layout=layout, preshuffle=preshuffle):
                        (a, b, sa, sb), extents, c, want = self.problem(layout, ends, scale, preshuffle)
                        self.assertEqual(cdnagen.grouped_output(which + preshuffle, a, b, extents), c.shape)
                        function(ctx, a, b, sa, sb, extents, c, preshuffle=preshuffle)
                        np.testing.assert_array_equal(c, want)


if __name__ == "__main__":
    unittest.main()
