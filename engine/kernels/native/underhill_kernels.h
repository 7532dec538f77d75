/* The plain C interface of the expert kernels: one call runs one layer's experts from packed planes.
 *
 * Layout of planes, tiles and parameters: engine/store/layout.py, which fills uh_layout; nothing is laid out here.
 * Every function may be called with Python's lock released. One context runs one call at a time.
 */
#ifndef UNDERHILL_KERNELS_H
#define UNDERHILL_KERNELS_H

#include <stdint.h>

#if defined(_WIN32)
#define UH_API __declspec(dllexport)
#else
#define UH_API __attribute__((visibility("default")))
#endif

#define UH_ABI 2

enum { UH_GATE, UH_UP, UH_DOWN, UH_MATRICES };
enum { UH_PORTABLE, UH_AVX2, UH_AVX512 };
enum {
    UH_SILU,
    UH_GELU,
    UH_GELU_TANH,
    UH_RELU,
    UH_RELU2,
    UH_CLAMPED_SWIGLU,
    UH_LIMITED_SWIGLU,
    UH_SOFTCAPPED_SWIGLU
};

/* One weight matrix, y [rows] = W [rows, cols] x. Offsets are bytes from the start of their plane. */
typedef struct {
    int32_t rows, cols;               /* of the matrix */
    int32_t stored_rows, stored_cols; /* padded to whole tiles; the same as above in raw records */
    int64_t codes[3], params[3];
    int64_t bias; /* in plane 0; -1: none */
    int64_t unit; /* in plane 0; not read in raw records */
} uh_matrix;

typedef struct {
    int32_t hidden, intermediate, group;
    int32_t top; /* 4 or 8: progressive planes; 16, 32: raw bf16 or float32 */
    int32_t has_gate, activation;
    float alpha;           /* of UH_CLAMPED_SWIGLU */
    float limit, up_limit; /* of the last three; up_limit of UH_SOFTCAPPED_SWIGLU alone */
    uh_matrix matrix[UH_MATRICES];
} uh_layout;

/* One expert to run on `count` slots, listed from slots[first] on. planes: how many are read (1, 2, 3: 2, 4, 8 bits). */
typedef struct {
    const uint8_t *plane[3];
    int32_t planes, first, count, reserved;
} uh_expert;

typedef struct uh_context uh_context;

UH_API int uh_abi(void);
UH_API int uh_best_isa(void);
/* NULL: out of memory, or an instruction set that this processor lacks. threads counts the caller. */
UH_API uh_context *uh_open(int threads, int isa);
UH_API void uh_close(uh_context *context);

/* out[slot] = expert(x[slot / k]) for every slot of every expert. x [T, hidden], out [T * k, hidden], float32.
 * The result of a slot does not depend on the other slots, on the number of threads or on the order of the experts.
 * 0: done; -1: out of memory. */
UH_API int uh_run(uh_context *context, const uh_layout *layout, const uh_expert *experts, int32_t n_experts,
                  const int32_t *slots, int32_t n_slots, int32_t k, const float *x, int32_t tokens, float *out);

/* y[t] = sum over k, in order, of weights[t, k] * out[t * k + k]; a weight of exactly 0 drops its slot unread. */
UH_API void uh_combine(uh_context *context, const float *weights, const float *out, float *y, int32_t tokens, int32_t k,
                       int32_t hidden);

/* Reads n bytes once with all threads, as fast as it goes: the roof the kernels are measured against. */
UH_API uint64_t uh_read(uh_context *context, const uint8_t *bytes, int64_t n);

#endif
