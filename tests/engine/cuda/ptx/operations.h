/* What each operation does to one lane: X(name, statement). A(n, type) is operand n, D(type, value) sets the first. */

#define INTEGERS(X, bits, U, S)                                                                  \
    X(add_b##bits, D(U, A(1, U) + A(2, U)))                                                      \
    X(sub_b##bits, D(U, A(1, U) - A(2, U)))                                                      \
    X(mul_lo_b##bits, D(U, (U)((uint64_t)A(1, U) * A(2, U))))                                    \
    X(mad_lo_b##bits, D(U, (U)((uint64_t)A(1, U) * A(2, U) + A(3, U))))                          \
    X(and_b##bits, D(U, A(1, U) & A(2, U)))                                                      \
    X(or_b##bits, D(U, A(1, U) | A(2, U)))                                                       \
    X(xor_b##bits, D(U, A(1, U) ^ A(2, U)))                                                      \
    X(not_b##bits, D(U, (U)~A(1, U)))                                                            \
    X(neg_b##bits, D(U, (U)(0 - A(1, U))))                                                       \
    X(abs_s##bits, D(U, A(1, S) < 0 ? (U)(0 - A(1, U)) : A(1, U)))                               \
    X(min_s##bits, D(S, A(1, S) < A(2, S) ? A(1, S) : A(2, S)))                                  \
    X(max_s##bits, D(S, A(1, S) > A(2, S) ? A(1, S) : A(2, S)))                                  \
    X(min_u##bits, D(U, A(1, U) < A(2, U) ? A(1, U) : A(2, U)))                                  \
    X(max_u##bits, D(U, A(1, U) > A(2, U) ? A(1, U) : A(2, U)))                                  \
    X(div_s##bits, D(S, A(2, S) == 0 ? -1 : A(2, S) == -1 ? (S)(0 - A(1, U)) : (S)(A(1, S) / A(2, S)))) \
    X(div_u##bits, D(U, A(2, U) == 0 ? (U)-1 : (U)(A(1, U) / A(2, U))))                          \
    X(rem_s##bits, D(S, A(2, S) == 0 || A(2, S) == -1 ? 0 : (S)(A(1, S) % A(2, S))))             \
    X(rem_u##bits, D(U, A(2, U) == 0 ? 0 : (U)(A(1, U) % A(2, U))))                              \
    X(shl_b##bits, D(U, A(2, uint32_t) >= bits ? 0 : (U)(A(1, U) << A(2, uint32_t))))            \
    X(shr_u##bits, D(U, A(2, uint32_t) >= bits ? 0 : (U)(A(1, U) >> A(2, uint32_t))))            \
    X(shr_s##bits, D(S, (S)(A(1, S) >> (A(2, uint32_t) >= bits ? bits - 1 : A(2, uint32_t)))))   \
    COMPARISONS(X, s##bits, S)                                                                   \
    COMPARISONS(X, u##bits, U)

#define COMPARISONS(X, name, type)                   \
    X(setp_eq_##name, D(pred, A(1, type) == A(2, type))) \
    X(setp_ne_##name, D(pred, A(1, type) != A(2, type))) \
    X(setp_lt_##name, D(pred, A(1, type) < A(2, type)))  \
    X(setp_le_##name, D(pred, A(1, type) <= A(2, type))) \
    X(setp_gt_##name, D(pred, A(1, type) > A(2, type)))  \
    X(setp_ge_##name, D(pred, A(1, type) >= A(2, type)))

/* Of floats eq, lt and so on are false where one is not a number, ne too; equ, ltu and so on are true then. */
#define UNORDERED(X, name, type)                                        \
    X(setp_equ_##name, D(pred, !(A(1, type) < A(2, type)) && !(A(1, type) > A(2, type)))) \
    X(setp_neu_##name, D(pred, A(1, type) != A(2, type)))               \
    X(setp_ltu_##name, D(pred, !(A(1, type) >= A(2, type))))            \
    X(setp_leu_##name, D(pred, !(A(1, type) > A(2, type))))             \
    X(setp_gtu_##name, D(pred, !(A(1, type) <= A(2, type))))            \
    X(setp_geu_##name, D(pred, !(A(1, type) < A(2, type))))             \
    X(setp_nan_##name, D(pred, isnan(A(1, type)) || isnan(A(2, type)))) \
    X(setp_num_##name, D(pred, !isnan(A(1, type)) && !isnan(A(2, type))))

#define OPERATIONS(X)                                                                             \
    X(mov, D(uint64_t, A(1, uint64_t)))                                                           \
    X(selp, D(uint64_t, A(3, pred) ? A(1, uint64_t) : A(2, uint64_t)))                            \
    X(not_pred, D(pred, !A(1, pred)))                                                             \
    INTEGERS(X, 16, uint16_t, int16_t)                                                            \
    INTEGERS(X, 32, uint32_t, int32_t)                                                            \
    INTEGERS(X, 64, uint64_t, int64_t)                                                            \
    X(mul_wide_s32, D(int64_t, (int64_t)A(1, int32_t) * A(2, int32_t)))                           \
    X(mul_wide_u32, D(uint64_t, (uint64_t)A(1, uint32_t) * A(2, uint32_t)))                       \
    X(mul_wide_s16, D(int32_t, (int32_t)A(1, int16_t) * A(2, int16_t)))                           \
    X(mul_wide_u16, D(uint32_t, (uint32_t)A(1, uint16_t) * A(2, uint16_t)))                       \
    X(mad_wide_s32, D(int64_t, (int64_t)A(1, int32_t) * A(2, int32_t) + A(3, int64_t)))           \
    X(mad_wide_u32, D(uint64_t, (uint64_t)A(1, uint32_t) * A(2, uint32_t) + A(3, uint64_t)))      \
    X(mul_hi_s32, D(int32_t, (int32_t)((int64_t)A(1, int32_t) * A(2, int32_t) >> 32)))            \
    X(mul_hi_u32, D(uint32_t, (uint32_t)((uint64_t)A(1, uint32_t) * A(2, uint32_t) >> 32)))       \
    X(bfe_u32, D(uint32_t, field(A(1, uint32_t), A(2, uint32_t), A(3, uint32_t))))                \
    X(bfi_b32, D(uint32_t, insert(A(1, uint32_t), A(2, uint32_t), A(3, uint32_t), A(4, uint32_t)))) \
    X(prmt_b32, D(uint32_t, permute(A(1, uint32_t), A(2, uint32_t), A(3, uint32_t))))             \
    X(pack_b64, D(uint64_t, A(1, uint32_t) | (uint64_t)A(2, uint32_t) << 32))                     \
    X(pack_b32, D(uint32_t, A(1, uint16_t) | (uint32_t)A(2, uint16_t) << 16))                     \
    X(lop3_b32, D(uint32_t, truth(A(1, uint32_t), A(2, uint32_t), A(3, uint32_t), A(4, uint32_t)))) \
    X(dp4a_u32_s32, D(int32_t, dot4(A(1, uint32_t), A(2, uint32_t), 0) + A(3, int32_t)))          \
    X(dp4a_s32_s32, D(int32_t, dot4(A(1, uint32_t), A(2, uint32_t), 1) + A(3, int32_t)))          \
    X(add_f32, D(float, A(1, float) + A(2, float)))                                               \
    X(sub_f32, D(float, A(1, float) - A(2, float)))                                               \
    X(mul_f32, D(float, A(1, float) * A(2, float)))                                               \
    X(div_f32, D(float, A(1, float) / A(2, float)))                                               \
    X(fma_f32, D(float, fmaf(A(1, float), A(2, float), A(3, float))))                             \
    X(rcp_f32, D(float, 1.0f / A(1, float)))                                                      \
    X(sqrt_f32, D(float, sqrtf(A(1, float))))                                                     \
    X(rsqrt_f32, D(float, (float)(1.0 / sqrt((double)A(1, float)))))                              \
    X(ex2_f32, D(float, exp2f(A(1, float))))                                                      \
    X(lg2_f32, D(float, log2f(A(1, float))))                                                      \
    X(sin_f32, D(float, sinf(A(1, float))))                                                       \
    X(cos_f32, D(float, cosf(A(1, float))))                                                       \
    X(neg_f32, D(uint32_t, A(1, uint32_t) ^ 0x80000000u))                                         \
    X(abs_f32, D(uint32_t, A(1, uint32_t) & 0x7fffffffu))                                         \
    X(min_f32, D(float, fminf(A(1, float), A(2, float))))                                         \
    X(max_f32, D(float, fmaxf(A(1, float), A(2, float))))                                         \
    COMPARISONS(X, f32, float)                                                                    \
    UNORDERED(X, f32, float)                                                                      \
    X(setp_one_f32, D(pred, A(1, float) < A(2, float) || A(1, float) > A(2, float)))              \
    X(cvt_rzi_f32_f32, D(float, truncf(A(1, float))))                                             \
    X(cvt_rni_f32_f32, D(float, nearbyintf(A(1, float))))                                         \
    X(cvt_rmi_f32_f32, D(float, floorf(A(1, float))))                                             \
    X(cvt_rn_f32_s32, D(float, (float)A(1, int32_t)))                                             \
    X(cvt_rn_f32_u32, D(float, (float)A(1, uint32_t)))                                            \
    X(cvt_rn_f32_u16, D(float, (float)A(1, uint16_t)))                                            \
    X(cvt_rn_f32_s16, D(float, (float)A(1, int16_t)))                                             \
    X(cvt_rn_f32_s64, D(float, (float)A(1, int64_t)))                                             \
    X(cvt_rzi_s32_f32, D(int32_t, whole(truncf(A(1, float)))))                                    \
    X(cvt_rni_s32_f32, D(int32_t, whole(nearbyintf(A(1, float)))))                                \
    X(cvt_f32_f16, D(float, uh_half_to_float(A(1, uint16_t))))                                    \
    X(cvt_rn_f16_f32, D(uint16_t, uh_float_to_half(A(1, float))))                                 \
    X(cvt_s8, D(int64_t, A(1, int8_t)))                                                           \
    X(cvt_u8, D(uint64_t, A(1, uint8_t)))                                                         \
    X(cvt_s16, D(int64_t, A(1, int16_t)))                                                         \
    X(cvt_u16, D(uint64_t, A(1, uint16_t)))                                                       \
    X(cvt_s32, D(int64_t, A(1, int32_t)))                                                         \
    X(cvt_u32, D(uint64_t, A(1, uint32_t)))
