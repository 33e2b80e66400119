# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operators in numpy and double precision, and the number formats that numpy lacks."""
import numpy as np

KINDS = {"gfx950": "e4m3fn", "gfx942": "e4m3fnuz"}


def fp8_values(kind):
    """fp8_values: what each of the 256 bytes means.
    source: OCP 8-bit Floating Point Specification; AMD CDNA3 ISA guide (fnuz: bias 8, 0x80 is the only NaN)
    """
    byte = np.arange(256)
    exponent, mantissa = byte >> 3 & 15, byte & 7
    bias = 7 if kind == "e4m3fn" else 8
    value = np.where(exponent == 0, mantissa * 2.0**(1 - bias - 3), (8 + mantissa) * 2.0**(exponent - bias - 3.0))
    value = np.where(byte & 0x80, -value, value)
    value[(byte & 0x7f) == 0x7f if kind == "e4m3fn" else byte == 0x80] = np.nan
    return value


def integers(rng, shape, kind, most=4):
    """integers: FP8 bytes of whole numbers from -most to most, whose products add up exactly in f32."""
    values = fp8_values(kind)
    code = [int(np.flatnonzero(values == n)[0]) for n in range(-most, most + 1)]
    return np.array(code, np.uint8)[rng.integers(0, len(code), shape)]


def powers(rng, shape):
    """powers: scales of 1/4 to 4, exact factors."""
    return (2.0**rng.integers(-2, 3, shape)).astype(np.float32)


def bf16(x):
    """bf16: 16-bit words of the nearest bf16, ties to even."""
    bits = np.asarray(x, np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7fff + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def from_bf16(words):
    return (words.astype(np.uint32) << 16).view(np.float32)


def mqa_logits(q, kv, kv_scales, weights, starts, ends):
    """mqa_logits: of values, -inf outside of the windows."""
    scores = np.maximum(np.einsum("mhd,nd->mhn", q, kv), 0)
    logits = np.einsum("mh,mhn->mn", weights, scores) * kv_scales
    columns = np.arange(kv.shape[0])
    inside = (columns >= starts[:, None]) & (columns < ends[:, None])
    return np.where(inside, logits, -np.inf)


def gemm_blockscale(a, b, a_scales, b_scales, scale_m=1, scale_n=128):
    (m, k), n = a.shape, b.shape[0]
    out = np.zeros((m, n))
    for block in range(a_scales.shape[1]):
        part = slice(128 * block, min(128 * block + 128, k))
        out += (a[:, part] @ b[:, part].T * np.repeat(a_scales[:, block], scale_m)[:m, None] *
                np.repeat(b_scales[:, block], scale_n)[:n])
    return out


def rows_product(a, b, a_scales, b_scales):
    """rows_product: of one group, with a scale for each row of a and of b."""
    return a @ b.T * a_scales[:, None] * b_scales
