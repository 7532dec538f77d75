/* Codes, scale and offset of one group, for one instruction set: included once for each, with TARGET, NAME, WIDTH (of
 * its vectors VF, VI and VB of floats, integers and bytes), MAX and MIN defined. Every set gives the same bits: a sum is
 * kept in 16 lanes, lane i of the columns i, i + 16, and so on, and the lanes are added as a tree. */

#define PARTS (16 / WIDTH)

TARGET static inline float NAME(total)(const VF *sum) {
    v4f a, b, c, d;
    const char *lanes = (const char *)sum;
    memcpy(&a, lanes, sizeof a);
    memcpy(&b, lanes + 16, sizeof b);
    memcpy(&c, lanes + 32, sizeof c);
    memcpy(&d, lanes + 48, sizeof d);
    a = (a + c) + (b + d);
    return (a[0] + a[2]) + (a[1] + a[3]);
}

/* What a least-squares line through weights and their codes is made from. */
TARGET static inline moments NAME(moments_of)(const float *w, int32_t group, const line *from, float middle) {
    const VF zero = {0}, rounder = zero + ROUNDER, offset = zero + from->offset, inverse = zero + from->inverse;
    const VF top = zero + from->top, centre = zero + middle;
    VF codes[PARTS] = {{0}}, squares[PARTS] = {{0}}, products[PARTS] = {{0}};
    for (int32_t c = 0; c < group; c += 16) {
        for (int h = 0; h < PARTS; h++) {
            const VF value = *(const VF *)(w + c + h * WIDTH);
            VF code = (value - offset) * inverse;
            code = MIN(MAX(code, zero), top);
            code = (code + rounder) - rounder;
            codes[h] += code;
            squares[h] += code * code;
            products[h] += code * (value - centre);
        }
    }
    return (moments){NAME(total)(codes), NAME(total)(squares), NAME(total)(products)};
}

TARGET static void NAME(codes_of)(const float *w, int32_t group, const line *from, uint8_t *codes) {
    const VF zero = {0}, rounder = zero + ROUNDER, offset = zero + from->offset, inverse = zero + from->inverse;
    const VF top = zero + from->top;
    for (int32_t c = 0; c < group; c += WIDTH) {
        VF code = (*(const VF *)(w + c) - offset) * inverse;
        code = MIN(MAX(code, zero), top) + rounder; /* the code is now in the lowest bits */
        *(VB *)(codes + c) = __builtin_convertvector((VI)code, VB);
    }
}

/* The range of a group, its middle, and the sum of distances from that. */
TARGET static range NAME(range_of)(const float *w, int32_t group) {
    VF low = *(const VF *)w, high = low, sum[PARTS] = {{0}};
    for (int32_t c = WIDTH; c < group; c += WIDTH) {
        low = MIN(low, *(const VF *)(w + c));
        high = MAX(high, *(const VF *)(w + c));
    }
    range r = {low[0], high[0], 0.0f, 0.0f};
    for (int i = 1; i < WIDTH; i++) {
        if (low[i] < r.low) r.low = low[i];
        if (high[i] > r.high) r.high = high[i];
    }
    r.middle = 0.5f * (r.low + r.high);
    for (int32_t c = 0; c < group; c += 16)
        for (int h = 0; h < PARTS; h++) sum[h] += *(const VF *)(w + c + h * WIDTH) - r.middle;
    r.sum = NAME(total)(sum);
    return r;
}

TARGET static void NAME(load)(const uint8_t *weights, int32_t kind, int32_t n, float factor, float *w) {
    uint16_t halves[MOST_GROUP];
    if (kind == 32) {
        memcpy(w, weights, (size_t)n * sizeof *w);
    } else {
        memcpy(halves, weights, (size_t)n * sizeof *halves);
        for (int32_t c = 0; c < n; c++) {
            const uint32_t bits = (uint32_t)halves[c] << 16;
            memcpy(&w[c], &bits, sizeof bits);
        }
    }
    for (int32_t c = 0; c < n; c++) w[c] *= factor;
}

TARGET static void NAME(fit)(const float *w, int32_t group, int32_t kind, uint8_t *codes, uint16_t *params) {
    const float top = kind == 3 ? 255.0f : 15.0f, n = (float)group;
    const range r = NAME(range_of)(w, group);
    uint16_t scale = uh_float_to_half((r.high - r.low) / top), offset = uh_float_to_half(scale ? r.low : r.middle);
    if (kind == 2 && scale) {
        float best = -1.0f, slope = 0.0f, mean = 0.0f;
        for (int trial = 0; trial < TRIALS * TRIALS + REFITS; trial++) {
            line from = {0.0f, 0.0f, top};
            if (trial < TRIALS * TRIALS) {
                const float low = r.middle - SHARES[trial / TRIALS] * (r.middle - r.low);
                const float high = r.middle + SHARES[trial % TRIALS] * (r.high - r.middle);
                from.offset = low;
                from.inverse = top / (high - low);
            } else {
                from.offset = uh_half_to_float(offset);
                from.inverse = 1.0f / uh_half_to_float(scale);
            }
            const moments m = NAME(moments_of)(w, group, &from, r.middle);
            const float spread = m.squares - m.codes * m.codes / n, shared = m.products - m.codes * r.sum / n;
            const float gain = spread > 0.0f ? shared * shared / spread : 0.0f; /* squared error that the line saves */
            if (gain > best) {
                best = gain;
                slope = shared / spread;
                mean = m.codes / n;
            }
            if (trial >= TRIALS * TRIALS - 1 && uh_float_to_half(slope)) {
                scale = uh_float_to_half(slope);
                offset = uh_float_to_half(r.middle + (r.sum / n - uh_half_to_float(scale) * mean));
            }
        }
    }
    const line final = {uh_half_to_float(offset), scale ? 1.0f / uh_half_to_float(scale) : 0.0f, top};
    NAME(codes_of)(w, group, &final, codes);
    params[0] = scale;
    params[UH_ROWS] = offset;
}

#undef PARTS
#undef TARGET
#undef NAME
#undef WIDTH
#undef VF
#undef VI
#undef VB
#undef MAX
#undef MIN
