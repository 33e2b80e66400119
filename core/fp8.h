/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Conversions between f32 and the 8-bit and bf16 formats, in plain C: what the references and data makers use.
 * source: OCP 8-bit Floating Point Specification 1.0 (e4m3fn, e5m2); AMD CDNA3 ISA guide (e4m3fnuz, e5m2fnuz). */
#ifndef CORE_FP8_H
#define CORE_FP8_H

#include <stdint.h>

#include "core/chip.h"

float f32_from_e4m3fn(uint8_t x);
float f32_from_e4m3fnuz(uint8_t x);
float f32_from_e5m2(uint8_t x);
float f32_from_e5m2fnuz(uint8_t x);
float f32_from_bf16(uint16_t x);
/* Round to nearest even. Overflow: e4m3fn saturates to NaN as torch's cast does past 464, so callers clamp first;
 * NaN stays NaN. */
uint8_t e4m3fn_from_f32(float x);
uint8_t e4m3fnuz_from_f32(float x);
uint8_t e5m2_from_f32(float x);
uint8_t e5m2fnuz_from_f32(float x);
uint16_t bf16_from_f32(float x);

#define E4M3FN_MAX 448.0f
#define E4M3FNUZ_MAX 240.0f

/* The same by kind, which is one of the two e4m3: CDNAGEN_FP8_NATIVE was settled with a chip before. */
float f32_from_fp8(fp8_kind kind, uint8_t x);
uint8_t fp8_from_f32(fp8_kind kind, float x);
float fp8_max(fp8_kind kind); /* the largest finite value */
void fp8_values(fp8_kind kind, float values[256]);

#endif
