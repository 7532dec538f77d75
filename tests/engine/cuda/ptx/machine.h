/* A machine that runs PTX: warps of 32 lanes in step, one block at a time. machine.py fills these structures. */
#ifndef MACHINE_H
#define MACHINE_H

#include <stdint.h>

enum { LANES = 32, OPERANDS = 16, NONE = -1 };
enum { GLOBAL, SHARED, PARAM, GENERIC };

/* Operands are numbers of registers; constants and %tid and the like are registers that are set beforehand. */
typedef struct {
    int32_t op, guard, negated;  /* guard: a predicate register, or NONE */
    int32_t reads, writes;       /* of `operand`: first those written, then those read */
    int32_t operand[OPERANDS];
    int32_t space, bytes, count, sign; /* of ld and st: each element, and how many */
    int32_t target;                    /* of bra */
    int64_t offset;
} instruction;

/* state of a byte: 0 not allocated, 1 allocated, 3 written to as well. Stamps are of words of 4 bytes. */
typedef struct {
    uint8_t *bytes, *state;
    uint64_t *written, *read; /* the last launch, block, warp and barrier: see stamp_of */
    uint32_t *page_read, *page_written; /* the last launch that did */
    int32_t *pages_read, *pages_written; /* lists of the pages of this launch */
    uint64_t base, size;
    int32_t n_pages_read, n_pages_written;
    uint32_t launch;
} memory;

enum { PAGE = 1024, SECTOR = 32 };

typedef struct {
    const instruction *code;
    int32_t length, registers;
    const uint64_t *fixed; /* [n_fixed] what the last registers hold: constants */
    int32_t n_fixed;
    int32_t special[12];       /* registers of %tid.xyz, %ntid.xyz, %ctaid.xyz, %nctaid.xyz; NONE */
    int32_t laneid, shared_bytes;
    const uint8_t *shared_map; /* [shared_bytes] 1 where a variable is */
    const uint8_t *params;
    int32_t params_bytes;
    int32_t grid[3], block[3];
    uint64_t seed;
    memory *memory;
} launch;

/* What went wrong, where. */
typedef struct {
    int32_t kind, pc, lane, warp;
    int64_t block;
    uint64_t address;
    int64_t executed; /* instructions, by warps */
    int64_t sectors;  /* of 32 bytes that loads and stores of warps asked global memory and its caches for */
} outcome;

enum {
    FINE, OUT_OF_BOUNDS, MISALIGNED, UNINITIALIZED, RACE, UNSET_REGISTER, LANES_MISSING, DIVERGED_BARRIER, MISSING_AT_BARRIER,
    SHARED_OUT_OF_BOUNDS, SHARED_UNINITIALIZED, SHARED_RACE, PARAM_OUT_OF_BOUNDS, BAD_INSTRUCTION, ENDLESS, NO_MEMORY
};

#endif
