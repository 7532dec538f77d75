/* The selftest's own arithmetic: halves there and back, and one packed weight looked up by hand. */
#include <math.h>

#include "check.h"
#include "matrix.h"
#include "selftest.h"

void test_numbers(void) {
    group("the selftest's own halves and packing");
    for (int half = 0; half < 0x7c00; half++) {
        const double value = value_of_half((uint16_t)half);
        check(half_of(value) == half && (half == 0 || half_of(-value) == (half | 0x8000)), "half %04x", half);
    }
    check(value_of_half(0x3c00) == 1.0 && value_of_half(0xc500) == -5.0 && value_of_half(1) == 0x1p-24, "known halves");
    check(half_of(1.0 + 0x1p-11) == 0x3c00 && half_of(1.0 + 3 * 0x1p-11) == 0x3c02, "ties go to even");

    /* Row 17 and column 37 of a matrix with group 32: tile (1, 1) of 2 x 2, row 1 of it, column 5 of its group. */
    reseed(4);
    const recipe how = {20, 40, 32, 8, 0, 0};
    const matrix m = make_matrix(&how);
    const uh_matrix_view view = view_of_matrix(&m, 3, 0);
    const int code = m.codes[17 * 64 + 37], at = 4 * 1 + 1;
    check((view.codes[0][3 * 128 + at] >> 2 & 3) == code >> 6, "plane 0: 4 codes a byte, of columns 4 apart");
    check((view.codes[1][3 * 128 + at] >> 2 & 3) == (code >> 4 & 3), "plane 1 likewise");
    check((view.codes[2][3 * 256 + at] >> 4) == (code & 15), "plane 2: 2 codes a byte");
    check(view.params[3 * 64 + 2] + (view.params[3 * 64 + 3] << 8) == m.scales[2][17 * 2 + 1], "a scale");
    check(view.params[3 * 64 + 34] + (view.params[3 * 64 + 35] << 8) == m.offsets[2][17 * 2 + 1], "an offset");
    release_all();
}
