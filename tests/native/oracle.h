/* What the kernels should give, in double and as plainly as it can be said. */
#ifndef ORACLE_H
#define ORACLE_H

#include "underhill_kernels.h"

/* y [rows] = w [rows, cols] x + bias (or NULL) */
void product(const double *w, const float *bias, int rows, int cols, const double *x, double *y);
/* x [cols] as 8 bits can say it: per group, whole multiples of its largest size / 127. Groups with NaN or an infinity
 * become NaN. */
void in_8_bits(double *x, int cols, int group);
/* h of one value; gate is not read where the experts have none. */
double activated(const uh_layout *layout, double gate, double up);

#endif
