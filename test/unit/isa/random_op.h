/* Random legal operations and bundles from the tables, for the tests of isa/. */
#ifndef HD_TEST_UNIT_ISA_RANDOM_OP_H
#define HD_TEST_UNIT_ISA_RANDOM_OP_H

#include <stdint.h>
#include <string.h>

#include "isa/isa.h"

static inline uint32_t random_u32(uint64_t *seed) { /* splitmix64 */
    uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)(z ^ z >> 31);
}

/* Words are often 0, all ones or small, so that corners are met. */
static inline uint32_t random_word(uint64_t *seed) {
    uint32_t v = random_u32(seed);
    switch (random_u32(seed) % 6) {
    case 0:
        return 0;
    case 1:
        return UINT32_MAX;
    case 2:
        return v & 0xff;
    case 3:
        return v & 0x00010001;
    default:
        return v;
    }
}

static inline struct hd_op_word random_op(uint64_t *seed) {
    const struct hd_op_info *info = &hd_isa_ops[random_u32(seed) % HD_OPCODES];
    struct hd_op_word op;
    memset(&op, 0, sizeof op);
    op.unit = (uint8_t)info->unit;
    op.code = (uint8_t)info->code;
    if (random_u32(seed) % 2) op.wait = random_u32(seed) & random_u32(seed);
    if (random_u32(seed) % 2) op.signal = random_u32(seed) & random_u32(seed);
    uint32_t known = (UINT32_C(1) << hd_isa_units[op.unit].n_words) - 1;
    op.set = random_u32(seed) & random_u32(seed) & known;
    for (int i = 0; i < HD_PARAM_WORDS; i++)
        if (op.set >> i & 1) op.lit[i] = random_word(seed);
    return op;
}

/* Writes a random bundle to out[0..255): returns its words. */
static inline int random_bundle(uint64_t *seed, uint32_t *out) {
    struct hd_op_word ops[HD_UNITS];
    uint32_t slots = 0;
    int n = 1;
    for (int i = (int)(random_u32(seed) % 5); i >= 0; i--) {
        struct hd_op_word op = random_op(seed);
        ops[op.unit] = op;
        slots |= UINT32_C(1) << op.unit;
    }
    for (int u = 0; u < HD_UNITS; u++)
        if (slots >> u & 1) n += hd_op_encode(&ops[u], out + n);
    out[0] = hd_bundle_head(slots);
    return n;
}

#endif
