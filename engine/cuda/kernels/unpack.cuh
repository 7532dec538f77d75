/* Codes out of their planes: of one row, the 16 columns of a line, four columns to a word. */
#ifndef UH_UNPACK_CUH
#define UH_UNPACK_CUH

#include "matrix.cuh"

/* The words of one row of a line in each plane; the third has two lines for every 16 columns. */
struct uh_words {
    uint32_t first, second, low, high;
};

/* line: of the whole row block. Words follow one another by row, so that half a warp reads a line of 64 bytes. */
template <int KIND>
UH_DEVICE uh_words uh_load(const uh_product_view &view, int64_t line, int32_t r) {
    uh_words w = {0, 0, 0, 0};
    w.first = __ldg((const uint32_t *)view.codes[0] + line * UH_ROWS + r);
    if (UH_HAS_SECOND(KIND)) w.second = __ldg((const uint32_t *)view.codes[1] + line * UH_ROWS + r);
    if (UH_HAS_FINE(KIND)) {
        w.low = __ldg((const uint32_t *)view.codes[2] + 2 * line * UH_ROWS + r);
        w.high = __ldg((const uint32_t *)view.codes[2] + (2 * line + 1) * UH_ROWS + r);
    }
    return w;
}

/* The levels of eight codes, which are the nibbles of `codes`: of the lower nibbles into *even, of the upper into *odd.
 * prmt takes one of eight bytes by three bits; so both halves of the table are asked, and the fourth bit chooses. */
UH_DEVICE void uh_levels(const uint32_t (&table)[4], uint32_t codes, uint32_t *even, uint32_t *odd) {
    uint32_t found[2];
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const uint32_t four = codes >> 16 * i, within = four & 0x7777u, upper = 0x3210u | (four & 0x8888u) >> 1;
        found[i] = __byte_perm(__byte_perm(table[0], table[1], within), __byte_perm(table[2], table[3], within), upper);
    }
    *even = __byte_perm(found[0], found[1], 0x6420);
    *odd = __byte_perm(found[0], found[1], 0x7531);
}

/* c[s]: the codes, or levels, of columns 4 s + j, byte j each. */
template <int KIND>
UH_DEVICE void uh_unpack(const uh_product_view &view, const uh_words &w, uint32_t (&c)[4]) {
    if (KIND == 1) {
#pragma unroll
        for (int s = 0; s < 4; s++) c[s] = w.first >> 2 * s & 0x03030303u;
        return;
    }
    if (KIND == UH_SIX) {
        c[0] = (w.first << 4 & 0x30303030u) | (w.low & 0x0f0f0f0fu);
        c[1] = (w.first << 2 & 0x30303030u) | (w.low >> 4 & 0x0f0f0f0fu);
        c[2] = (w.first & 0x30303030u) | (w.high & 0x0f0f0f0fu);
        c[3] = (w.first >> 2 & 0x30303030u) | (w.high >> 4 & 0x0f0f0f0fu);
        return;
    }
    /* Upper four bits of the columns s = 0 and 2, and of s = 1 and 3, each in a nibble. */
    const uint32_t even = (w.second & 0x33333333u) | (w.first << 2 & 0xccccccccu);
    const uint32_t odd = (w.second >> 2 & 0x33333333u) | (w.first & 0xccccccccu);
    if (UH_HAS_TABLE(KIND)) {
        uh_levels(view.table, even, &c[0], &c[2]);
        uh_levels(view.table, odd, &c[1], &c[3]);
    } else if (KIND == 2) {
        c[0] = even & 0x0f0f0f0fu, c[2] = even >> 4 & 0x0f0f0f0fu;
        c[1] = odd & 0x0f0f0f0fu, c[3] = odd >> 4 & 0x0f0f0f0fu;
    } else {
        c[0] = (even << 4 & 0xf0f0f0f0u) | (w.low & 0x0f0f0f0fu);
        c[1] = (odd << 4 & 0xf0f0f0f0u) | (w.low >> 4 & 0x0f0f0f0fu);
        c[2] = (even & 0xf0f0f0f0u) | (w.high & 0x0f0f0f0fu);
        c[3] = (odd & 0xf0f0f0f0u) | (w.high >> 4 & 0x0f0f0f0fu);
    }
}

/* One body for each kind. Two kinds of tables differ on the processor only. */
#define UH_FOR_KIND(kind, call)                 \
    switch (kind) {                             \
    case 1: call(1); break;                     \
    case 2: call(2); break;                     \
    case 3: call(3); break;                     \
    case UH_SIX: call(UH_SIX); break;           \
    default: call(UH_TABLED); break;            \
    }

#endif
