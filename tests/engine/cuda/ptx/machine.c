/* Runs a launch: see machine.h. Whatever a card would leave undefined, or do now so and now otherwise, ends it. */
#include "machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bits.h"
#include "half.h"
#include "operations.h"

typedef uint8_t pred;

enum {
#define X(name, statement) op_##name,
    OPERATIONS(X)
#undef X
    op_ld, op_st, op_bra, op_bar, op_warpsync, op_ret, op_shfl_up, op_shfl_down, op_shfl_bfly, op_shfl_idx, op_mma_16_8_32,
    op_mma_8_8_16, op_unpack_b64, op_unpack_b32, op_nothing, op_count
};

static const char *const names[] = {
#define X(name, statement) #name,
    OPERATIONS(X)
#undef X
    "ld", "st", "bra", "bar", "warpsync", "ret", "shfl_up", "shfl_down", "shfl_bfly", "shfl_idx", "mma_16_8_32", "mma_8_8_16",
    "unpack_b64", "unpack_b32", "nothing",
};

const char *machine_name(int op) { return op < op_count ? names[op] : NULL; }
int machine_sizes(int which) { return which == 0 ? (int)sizeof(instruction) : which == 1 ? (int)sizeof(launch) : (int)sizeof(memory); }

typedef struct {
    uint64_t (*r)[LANES];
    uint32_t *known;          /* lanes in which each register is set */
    int32_t pc[LANES];
    uint32_t live;
    int32_t waiting;          /* at a barrier */
    uint32_t syncs;           /* how often its lanes were brought together */
} warp;

/* Who touched a byte of shared memory since the last barrier. */
typedef struct {
    int32_t writer, reader;   /* threads; NONE: none, MANY: several of one warp */
    uint32_t write_sync, read_sync, readers; /* of which warps */
    uint8_t known;
} shared_byte;
enum { MANY = -2 };

typedef struct {
    const launch *l;
    memory *m;
    warp *w;
    shared_byte *shared;
    uint8_t *shared_bytes;
    int32_t warps, threads, barriers;
    int64_t block;
    uint64_t random;
    outcome *out;
} machine;

static uint64_t next_random(machine *m) { /* splitmix64 */
    uint64_t z = m->random += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static int fault(machine *m, int kind, int32_t warp, int32_t pc, int32_t lane, uint64_t address) {
    *m->out = (outcome){kind, pc, lane, warp, m->block, address, m->out->executed, m->out->sectors};
    return kind;
}

/* Bits 44 up the launch, 16 up the block, 8 up the warp, then barriers so far. */
static uint64_t stamp_of(const machine *m, int32_t w) {
    return (uint64_t)m->m->launch << 44 | (uint64_t)m->block << 16 | (uint64_t)w << 8 | (uint64_t)(m->barriers & 255);
}
static const uint64_t MANY_BLOCKS = 0xfffffffu;

/* Whether who left this stamp and we are not ordered: another block, or another warp since the same barrier. */
static int unordered(uint64_t stamp, uint64_t mine) {
    if (stamp >> 44 != mine >> 44 || stamp == mine) return 0;
    if (stamp >> 16 != mine >> 16) return 1;
    return (stamp >> 8 & 255) != (mine >> 8 & 255) && (stamp & 255) == (mine & 255);
}

static void note_page(memory *mem, uint64_t at, int write) {
    const uint64_t page = at / PAGE;
    uint32_t *seen = write ? mem->page_written : mem->page_read;
    if (seen[page] == mem->launch) return;
    seen[page] = mem->launch;
    if (write) mem->pages_written[mem->n_pages_written++] = (int32_t)page;
    else mem->pages_read[mem->n_pages_read++] = (int32_t)page;
}

static int touch_global(machine *m, int32_t w, int32_t pc, int32_t lane, uint64_t address, int32_t bytes, int write) {
    memory *mem = m->m;
    const uint64_t at = address - mem->base, mine = stamp_of(m, w);
    if (address < mem->base || at >= mem->size || at + bytes > mem->size) return fault(m, OUT_OF_BOUNDS, w, pc, lane, address);
    if (address % bytes) return fault(m, MISALIGNED, w, pc, lane, address);
    for (int32_t i = 0; i < bytes; i++) {
        if (!mem->state[at + i]) return fault(m, OUT_OF_BOUNDS, w, pc, lane, address + i);
        if (!write && mem->state[at + i] != 3) return fault(m, UNINITIALIZED, w, pc, lane, address + i);
        if (write) mem->state[at + i] = 3;
    }
    for (uint64_t word = at / 4; word <= (at + bytes - 1) / 4; word++) {
        uint64_t *reader = &mem->read[word], *writer = &mem->written[word];
        if (unordered(*writer, mine) || (write && unordered(*reader, mine))) return fault(m, RACE, w, pc, lane, address);
        if (write) *writer = mine;
        else *reader = unordered(*reader, mine) && *reader >> 16 != mine >> 16 ? (mine >> 44 << 44 | MANY_BLOCKS << 16) : mine;
    }
    note_page(mem, at, write);
    return FINE;
}

static int touch_shared(machine *m, int32_t w, int32_t pc, int32_t lane, uint64_t address, int32_t bytes, int write) {
    const int32_t thread = w * LANES + lane;
    const uint32_t sync = m->w[w].syncs;
    if (address + bytes > (uint64_t)m->l->shared_bytes) return fault(m, SHARED_OUT_OF_BOUNDS, w, pc, lane, address);
    if (address % bytes) return fault(m, MISALIGNED, w, pc, lane, address);
    for (uint64_t at = address; at < address + bytes; at++) {
        shared_byte *b = &m->shared[at];
        if (!m->l->shared_map[at]) return fault(m, SHARED_OUT_OF_BOUNDS, w, pc, lane, at);
        if (b->writer != NONE && b->writer != thread && (b->writer / LANES != w || b->write_sync == sync))
            return fault(m, SHARED_RACE, w, pc, lane, at);
        if (write) {
            const int others = (b->readers & ~(1u << w)) != 0;
            const int own = b->readers >> w & 1 && b->reader != thread && b->read_sync == sync;
            if (others || own) return fault(m, SHARED_RACE, w, pc, lane, at);
            b->writer = thread, b->write_sync = sync, b->known = 1;
        } else {
            if (!b->known) return fault(m, SHARED_UNINITIALIZED, w, pc, lane, at);
            b->reader = b->readers >> w & 1 && b->read_sync == sync && b->reader != thread ? MANY : thread;
            b->readers |= 1u << w, b->read_sync = sync;
        }
    }
    return FINE;
}

static void forget_shared(machine *m, int all) {
    for (int32_t i = 0; i < m->l->shared_bytes; i++) {
        shared_byte *b = &m->shared[i];
        b->writer = b->reader = NONE, b->readers = 0;
        if (all) b->known = 0;
    }
}

/* Counts the sectors of one load or store of a warp, each once. */
typedef struct {
    uint64_t seen[2 * LANES * 4 + 1]; /* open addressing; twice as many places as there can be */
} sector_set;

static int add_sector(sector_set *set, uint64_t sector) {
    const size_t places = sizeof set->seen / sizeof *set->seen;
    size_t at = sector % places;
    while (set->seen[at] && set->seen[at] != sector) at = (at + 1) % places;
    if (set->seen[at]) return 0;
    set->seen[at] = sector;
    return 1;
}

static int access(machine *m, int32_t w, int32_t pc, const instruction *in, uint32_t mask) {
    warp *self = &m->w[w];
    const int store = in->op == op_st, all = in->bytes * in->count;
    const int32_t base = in->operand[store ? 0 : in->count];
    sector_set sectors = {{0}};
    for (int lane = 0; lane < LANES; lane++) {
        if (!(mask >> lane & 1)) continue;
        const uint64_t address = (base == NONE ? 0 : self->r[base][lane]) + (uint64_t)in->offset;
        uint8_t *at;
        int failed = FINE;
        if (in->space == PARAM) {
            if (address + all > (uint64_t)m->l->params_bytes || store) return fault(m, PARAM_OUT_OF_BOUNDS, w, pc, lane, address);
            if (address % all) return fault(m, MISALIGNED, w, pc, lane, address);
            at = (uint8_t *)m->l->params + address;
        } else if (in->space == SHARED) {
            failed = touch_shared(m, w, pc, lane, address, all, store);
            at = m->shared_bytes + address;
        } else {
            failed = touch_global(m, w, pc, lane, address, all, store);
            at = m->m->bytes + (address - m->m->base);
            if (!failed) m->out->sectors += add_sector(&sectors, address / SECTOR);
        }
        if (failed) return failed;
        for (int32_t i = 0; i < in->count; i++, at += in->bytes) {
            uint64_t value = 0;
            if (store) {
                value = self->r[in->operand[1 + i]][lane];
                memcpy(at, &value, in->bytes);
            } else {
                memcpy(&value, at, in->bytes);
                if (in->sign && in->bytes < 8 && value >> (8 * in->bytes - 1) & 1) value |= ~0ull << 8 * in->bytes;
                self->r[in->operand[i]][lane] = value;
            }
        }
    }
    return FINE;
}

/* d | p = a of another lane. operands: d, p or NONE, a, b, c, member mask. */
static int shuffle(machine *m, int32_t w, int32_t pc, const instruction *in, uint32_t mask) {
    warp *self = &m->w[w];
    uint64_t result[LANES];
    pred found[LANES];
    for (int lane = 0; lane < LANES; lane++) {
        if (!(mask >> lane & 1)) continue;
        const uint32_t members = (uint32_t)self->r[in->operand[5]][lane];
        /* every lane that is named has to be here, and only they */
        if (members != mask) return fault(m, LANES_MISSING, w, pc, lane, members);
        const int b = (int)self->r[in->operand[3]][lane] & 31, c = (int)self->r[in->operand[4]][lane];
        const int segment = c >> 8 & 31, most = (lane & segment) | (c & 31 & ~segment);
        int from;
        switch (in->op) {
        case op_shfl_up: from = lane - b, found[lane] = from >= most; break;
        case op_shfl_down: from = lane + b, found[lane] = from <= most; break;
        case op_shfl_bfly: from = lane ^ b, found[lane] = from <= most; break;
        default: from = (lane & segment) | (b & ~segment), found[lane] = from <= most; break;
        }
        if (!found[lane]) from = lane;
        if (!(mask >> from & 1)) return fault(m, LANES_MISSING, w, pc, lane, (uint64_t)from);
        result[lane] = self->r[in->operand[2]][from] & 0xffffffffu;
    }
    for (int lane = 0; lane < LANES; lane++) {
        if (!(mask >> lane & 1)) continue;
        self->r[in->operand[0]][lane] = result[lane];
        if (in->operand[1] != NONE) self->r[in->operand[1]][lane] = found[lane];
    }
    return FINE;
}

/* Where the PTX manual has the parts of mma.m16n8k32 and mma.m8n8k16 with .u8 and .s8: lane = 4 * group + in_group.
 * A, a0..a3: row group (+ 8 for a1, a3), columns 4 * in_group + byte (+ 16 for a2, a3). B, b0, b1: column group, rows
 * 4 * in_group + byte (+ 16 for b1). C: row group (+ 8 for c2, c3), column 2 * in_group + (i & 1). */
static int mma(machine *m, int32_t w, int32_t pc, const instruction *in, uint32_t mask, int rows, int depth) {
    warp *self = &m->w[w];
    if (mask != 0xffffffffu) return fault(m, LANES_MISSING, w, pc, 0, mask);
    const int n_a = rows * depth / 128, n_b = depth / 16, n_c = rows / 4;
    const int32_t *d = in->operand, *a = d + n_c, *b = a + n_a, *c = b + n_b;
    int32_t wide_a[16][32], wide_b[32][8];
    for (int lane = 0; lane < LANES; lane++) {
        const int group = lane / 4, within = lane % 4;
        for (int i = 0; i < n_a; i++)
            for (int byte = 0; byte < 4; byte++)
                wide_a[group + (rows == 16 ? 8 * (i & 1) : 0)][4 * within + byte + (i >> 1) * 16] = (uint8_t)(self->r[a[i]][lane] >> 8 * byte);
        for (int i = 0; i < n_b; i++)
            for (int byte = 0; byte < 4; byte++) wide_b[4 * within + byte + 16 * i][group] = (int8_t)(self->r[b[i]][lane] >> 8 * byte);
    }
    int32_t result[4][LANES];
    for (int lane = 0; lane < LANES; lane++) {
        for (int i = 0; i < n_c; i++) {
            const int row = lane / 4 + 8 * (i >> 1), column = 2 * (lane % 4) + (i & 1);
            uint32_t sum = (uint32_t)self->r[c[i]][lane];
            for (int k = 0; k < depth; k++) sum += (uint32_t)(wide_a[row][k] * wide_b[k][column]);
            result[i][lane] = (int32_t)sum;
        }
    }
    for (int lane = 0; lane < LANES; lane++)
        for (int i = 0; i < n_c; i++) self->r[d[i]][lane] = (uint32_t)result[i][lane];
    return FINE;
}

static inline uint64_t bits_of_float(float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return bits;
}
static inline float float_of(uint64_t bits) {
    const uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, 4);
    return value;
}
#define WIDE(type, value)                                                                                          \
    _Generic((type)0, float: bits_of_float((float)(value)), int8_t: (uint64_t)(uint8_t)(value),                    \
             int16_t: (uint64_t)(uint16_t)(value), int32_t: (uint64_t)(uint32_t)(value), default: (uint64_t)(value))
#define A(n, type) _Generic((type)0, float: float_of(r[in->operand[n]][lane]), default: (type)r[in->operand[n]][lane])
#define D(type, value) r[in->operand[0]][lane] = WIDE(type, (type)(value))

/* Everything that lanes do on their own. */
static int compute(machine *m, int32_t w, int32_t pc, const instruction *in, uint32_t mask) {
    uint64_t(*r)[LANES] = m->w[w].r;
    switch (in->op) {
#define X(name, statement)                                                     \
    case op_##name:                                                            \
        if (mask == 0xffffffffu) {                                             \
            for (int lane = 0; lane < LANES; lane++) statement;                \
        } else {                                                               \
            for (int lane = 0; lane < LANES; lane++)                           \
                if (mask >> lane & 1) statement;                               \
        }                                                                      \
        return FINE;
        OPERATIONS(X)
#undef X
    case op_unpack_b64:
    case op_unpack_b32:
        for (int lane = 0; lane < LANES; lane++) {
            if (!(mask >> lane & 1)) continue;
            const uint64_t value = r[in->operand[2]][lane];
            const int bits = in->op == op_unpack_b64 ? 32 : 16;
            r[in->operand[0]][lane] = value & ((1ull << bits) - 1);
            r[in->operand[1]][lane] = value >> bits & ((1ull << bits) - 1);
        }
        return FINE;
    case op_ld:
    case op_st: return access(m, w, pc, in, mask);
    case op_shfl_up:
    case op_shfl_down:
    case op_shfl_bfly:
    case op_shfl_idx: return shuffle(m, w, pc, in, mask);
    case op_mma_16_8_32: return mma(m, w, pc, in, mask, 16, 32);
    case op_mma_8_8_16: return mma(m, w, pc, in, mask, 8, 16);
    case op_warpsync:
        if ((uint32_t)r[in->operand[0]][__builtin_ctz(mask)] != mask) return fault(m, LANES_MISSING, w, pc, 0, mask);
        m->w[w].syncs++;
        return FINE;
    case op_nothing: return FINE;
    default: return fault(m, BAD_INSTRUCTION, w, pc, 0, 0);
    }
}

static int registers_are_set(machine *m, int32_t w, int32_t pc, const instruction *in, uint32_t mask) {
    warp *self = &m->w[w];
    for (int32_t i = in->writes; i < in->writes + in->reads; i++) {
        const int32_t reg = in->operand[i];
        if (reg != NONE && mask & ~self->known[reg])
            return fault(m, UNSET_REGISTER, w, pc, __builtin_ctz(mask & ~self->known[reg]), (uint64_t)reg);
    }
    for (int32_t i = 0; i < in->writes; i++)
        if (in->operand[i] != NONE) self->known[in->operand[i]] |= mask;
    return FINE;
}

static uint32_t guarded(warp *self, const instruction *in, uint32_t mask) {
    uint32_t pass = 0;
    for (int lane = 0; lane < LANES; lane++)
        if (mask >> lane & 1 && (self->r[in->guard][lane] != 0) != in->negated) pass |= 1u << lane;
    return pass;
}

/* Runs a warp until it waits, has ended, or has run `budget` instructions. Lanes that parted go on by the least address, so
 * that they come together where the program does. */
static int run_warp(machine *m, int32_t w, int64_t budget) {
    warp *self = &m->w[w];
    const launch *l = m->l;
    while (self->live && budget > 0) {
        int32_t pc = INT32_MAX;
        for (int lane = 0; lane < LANES; lane++)
            if (self->live >> lane & 1 && self->pc[lane] < pc) pc = self->pc[lane];
        uint32_t mask = 0;
        int32_t others = INT32_MAX;
        for (int lane = 0; lane < LANES; lane++) {
            if (!(self->live >> lane & 1)) continue;
            if (self->pc[lane] == pc) mask |= 1u << lane;
            else if (self->pc[lane] < others) others = self->pc[lane];
        }
        int parted = 0;
        while (!parted && pc != others && budget > 0) {
            if (pc < 0 || pc >= l->length) return fault(m, BAD_INSTRUCTION, w, pc, 0, 0);
            const instruction *in = &l->code[pc];
            uint32_t pass = mask;
            budget--, m->out->executed++;
            if (in->guard != NONE) {
                if (mask & ~self->known[in->guard]) return fault(m, UNSET_REGISTER, w, pc, 0, (uint64_t)in->guard);
                pass = guarded(self, in, mask);
            }
            if (in->op == op_bra) {
                parted = 1;
                for (int lane = 0; lane < LANES; lane++)
                    if (mask >> lane & 1) self->pc[lane] = pass >> lane & 1 ? in->target : pc + 1;
                if (pass == mask && others == INT32_MAX) pc = in->target, parted = 0;
                else if (!pass && others == INT32_MAX) pc++, parted = 0;
                continue;
            }
            if (in->op == op_ret) {
                self->live &= ~pass, mask &= ~pass, pc++;
                if (!mask) parted = 2;
                continue;
            }
            if (in->op == op_bar) {
                if (pass != self->live || pass != mask) return fault(m, DIVERGED_BARRIER, w, pc, 0, pass);
                for (int lane = 0; lane < LANES; lane++) self->pc[lane] = pc + 1;
                self->waiting = 1, self->syncs++;
                return FINE;
            }
            if (pass) {
                int failed = registers_are_set(m, w, pc, in, pass);
                if (!failed) failed = compute(m, w, pc, in, pass);
                if (failed) return failed;
            }
            pc++;
        }
        if (parted != 1)
            for (int lane = 0; lane < LANES; lane++)
                if (mask >> lane & 1) self->pc[lane] = pc;
    }
    return FINE;
}

static void start_block(machine *m, int64_t number) {
    const launch *l = m->l;
    m->block = number, m->barriers = 0;
    forget_shared(m, 1);
    for (int32_t w = 0; w < m->warps; w++) {
        warp *self = &m->w[w];
        memset(self->known, 0, (size_t)(l->registers - l->n_fixed) * sizeof *self->known);
        memset(self->pc, 0, sizeof self->pc);
        self->waiting = 0, self->syncs = 0;
        const int32_t here = m->threads - w * LANES;
        self->live = here >= LANES ? 0xffffffffu : (1u << here) - 1;
        for (int lane = 0; lane < LANES; lane++) {
            const int32_t thread = w * LANES + lane, bx = l->block[0], by = l->block[1], gx = l->grid[0], gy = l->grid[1];
            const int64_t values[12] = {thread % bx, thread / bx % by, thread / bx / by, bx, by, l->block[2],
                                        number % gx, number / gx % gy, number / gx / gy, gx, gy, l->grid[2]};
            for (int i = 0; i < 12; i++)
                if (l->special[i] != NONE) self->r[l->special[i]][lane] = (uint64_t)values[i], self->known[l->special[i]] = 0xffffffffu;
            if (l->laneid != NONE) self->r[l->laneid][lane] = (uint64_t)lane, self->known[l->laneid] = 0xffffffffu;
        }
    }
}

static int run_block(machine *m, int64_t number) {
    start_block(m, number);
    for (int64_t turns = 0;; turns++) {
        int32_t able[64], n = 0, waiting = 0, ended = 0;
        for (int32_t w = 0; w < m->warps; w++) {
            if (!m->w[w].live) ended++;
            else if (m->w[w].waiting) waiting++;
            else able[n++] = w;
        }
        if (ended == m->warps) return FINE;
        if (turns > 100000000) return fault(m, ENDLESS, 0, 0, 0, 0);
        if (n) {
            const int failed = run_warp(m, able[next_random(m) % (uint64_t)n], 1 + (int64_t)(next_random(m) % 400));
            if (failed) return failed;
            continue;
        }
        if (ended) return fault(m, MISSING_AT_BARRIER, 0, m->w[0].pc[0], 0, 0);
        for (int32_t w = 0; w < m->warps; w++) {
            if (m->w[w].live != (m->threads - w * LANES >= LANES ? 0xffffffffu : (1u << (m->threads - w * LANES)) - 1))
                return fault(m, MISSING_AT_BARRIER, w, m->w[w].pc[0], 0, 0);
            if (m->w[w].pc[0] != m->w[0].pc[0]) return fault(m, DIVERGED_BARRIER, w, m->w[w].pc[0], 0, 0);
            m->w[w].waiting = 0;
        }
        m->barriers++;
        forget_shared(m, 0);
    }
}

/* Blocks run one after the other, in an order drawn by the seed. */
int machine_run(const launch *l, outcome *out) {
    machine m = {.l = l, .m = l->memory, .out = out, .random = l->seed};
    memset(out, 0, sizeof *out);
    m.threads = l->block[0] * l->block[1] * l->block[2];
    m.warps = (m.threads + LANES - 1) / LANES;
    const int64_t blocks = (int64_t)l->grid[0] * l->grid[1] * l->grid[2];
    const size_t lanes = (size_t)l->registers * LANES * sizeof(uint64_t), known = (size_t)l->registers * sizeof(uint32_t);
    m.w = calloc((size_t)m.warps, sizeof *m.w);
    m.shared = calloc((size_t)l->shared_bytes + 1, sizeof *m.shared);
    m.shared_bytes = calloc((size_t)l->shared_bytes + 1, 1);
    int failed = m.w && m.shared && m.shared_bytes && m.warps <= 32 ? FINE : NO_MEMORY;
    for (int32_t w = 0; !failed && w < m.warps; w++) {
        m.w[w].r = malloc(lanes);
        m.w[w].known = malloc(known);
        if (!m.w[w].r || !m.w[w].known) failed = NO_MEMORY;
        for (int32_t i = l->registers - l->n_fixed; !failed && i < l->registers; i++) {
            m.w[w].known[i] = 0xffffffffu;
            for (int lane = 0; lane < LANES; lane++) m.w[w].r[i][lane] = l->fixed[i - (l->registers - l->n_fixed)];
        }
    }
    /* a step that is coprime to the number of blocks visits each once */
    uint64_t step = blocks > 2 ? 1 + next_random(&m) % (uint64_t)(blocks - 1) : 1;
    for (uint64_t a = step, b = (uint64_t)blocks; !failed; a = ++step, b = (uint64_t)blocks) {
        while (b) { const uint64_t t = a % b; a = b, b = t; }
        if (a == 1) break;
    }
    const uint64_t first = blocks ? next_random(&m) % (uint64_t)blocks : 0;
    for (int64_t i = 0; !failed && i < blocks; i++) failed = run_block(&m, (int64_t)((first + (uint64_t)i * step) % (uint64_t)blocks));
    for (int32_t w = 0; m.w && w < m.warps; w++) free(m.w[w].r), free(m.w[w].known);
    free(m.w), free(m.shared), free(m.shared_bytes);
    out->kind = failed;
    return failed;
}
