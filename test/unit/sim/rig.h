/* Test rig: a machine with memory, and programs made of whole operations. Included by the tests of
 * sim. */
#ifndef HD_TEST_SIM_RIG_H
#define HD_TEST_SIM_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/iss.h"

enum { RIG_DRAM = 1 << 18, RIG_CODE_WORDS = 4096, RIG_DATA = 1 << 16 };

struct rig {
    const struct hd_machine *m;
    hd_axi_mem *mem;
    hd_iss *iss;
    uint8_t *image, *arena; /* data of the image begins at RIG_DATA */
    uint32_t *code;
    uint32_t n; /* words of code */
    uint64_t rng;
};

static inline uint32_t rig_random(struct rig *r) {
    r->rng = r->rng * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(r->rng >> 33);
}
static inline int64_t rig_between(struct rig *r, int64_t lo, int64_t hi) {
    return lo + (int64_t)(rig_random(r) % (uint64_t)(hi - lo + 1));
}

static inline void rig_reg64(struct rig *r, uint32_t offset, uint64_t v) {
    hd_iss_reg_write(r->iss, offset, (uint32_t)v);
    hd_iss_reg_write(r->iss, offset + 4, (uint32_t)(v >> 32));
}

static inline struct rig rig_open(int machine, uint64_t jitter_seed) {
    struct rig r = {.m = &hd_machines[machine], .rng = 12345};
    struct hd_mem_config cfg = {40, r.m->axi_bits / 8, 16, jitter_seed};
    r.mem = hd_axi_mem_create(r.m->axi_bits / 8, &cfg);
    r.iss = hd_iss_create(r.m, r.mem);
    r.image = calloc(1, RIG_DRAM);
    r.arena = calloc(1, RIG_DRAM);
    assert_true(r.mem && r.iss && r.image && r.arena);
    for (int i = RIG_DATA; i < RIG_DRAM; i++) r.image[i] = (uint8_t)rig_random(&r);
    r.code = (uint32_t *)(void *)r.image;
    r.n = HD_PROG_HEADER_WORDS;
    hd_axi_mem_region(r.mem, 0, UINT64_C(0x123456000), r.image, RIG_DRAM);
    hd_axi_mem_region(r.mem, 1, UINT64_C(0x9abcde000), r.arena, RIG_DRAM);
    rig_reg64(&r, HD_REG_image_ptr, UINT64_C(0x123456000));
    rig_reg64(&r, HD_REG_arena_ptr, UINT64_C(0x9abcde000));
    hd_iss_reg_write(r.iss, HD_REG_image_bytes, RIG_DRAM);
    hd_iss_reg_write(r.iss, HD_REG_arena_bytes, RIG_DRAM);
    hd_iss_reg_write(r.iss, HD_REG_watchdog, 5000);
    return r;
}

static inline void rig_close(struct rig *r) {
    hd_iss_destroy(r->iss);
    hd_axi_mem_destroy(r->mem);
    free(r->image);
    free(r->arena);
}

/* Appends a bundle of one operation that sets every word of its own; its layer is the number of its
 * unit. Returns its word offset. */
static inline uint32_t rig_op(struct rig *r, enum hd_opcode o, uint32_t wait, uint32_t signal,
                              const uint32_t *words) {
    struct hd_op_word op = {.unit = (uint8_t)hd_isa_ops[o].unit,
                            .code = (uint8_t)hd_isa_ops[o].code,
                            .wait = wait,
                            .signal = signal};
    if (words) {
        op.set = (UINT32_C(1) << hd_isa_units[op.unit].n_words) - 1;
        memcpy(op.lit, words, sizeof op.lit);
        op.lit[HD_TAG_WORD] = op.unit;
    }
    assert_true(r->n + 1 + HD_OP_MAX_WORDS <= RIG_CODE_WORDS);
    int len = hd_op_encode(&op, r->code + r->n + 1);
    r->code[r->n] = hd_bundle_head(1u << op.unit);
    r->n += (uint32_t)len + 1;
    return r->n - (uint32_t)len;
}

static inline void rig_end(struct rig *r) {
    rig_op(r, HD_OP_seq_halt, 0, 0, NULL);
    r->code[0] = HD_PROG_MAGIC;
    r->code[1] = hd_isa_hash();
    r->code[2] = hd_machine_hash(r->m);
    r->code[3] = r->n;
}

/* Runs what is in the image; returns the error register. */
static inline uint32_t rig_run(struct rig *r) {
    hd_iss_reg_write(r->iss, HD_REG_ap_ctrl, 1);
    assert_true(hd_iss_run(r->iss, 100000000));
    assert_int_equal(hd_iss_reg_read(r->iss, HD_REG_ap_ctrl) & 2, 2);
    assert_int_equal(hd_iss_reg_read(r->iss, HD_REG_ap_ctrl) & 2, 0);
    return hd_iss_reg_read(r->iss, HD_REG_error);
}

/* Ends the program, runs it, expects no error, and starts a new one. */
static inline void rig_go(struct rig *r) {
    rig_end(r);
    assert_int_equal(rig_run(r), HD_ERR_none);
    r->n = HD_PROG_HEADER_WORDS;
}

static inline void *rig_memory(struct rig *r, enum hd_iss_memory which) {
    size_t bytes;
    return hd_iss_memory(r->iss, which, &bytes);
}

static inline void rig_fill(struct rig *r, enum hd_iss_memory which) {
    size_t bytes;
    uint8_t *p = hd_iss_memory(r->iss, which, &bytes);
    for (size_t i = 0; i < bytes; i++) p[i] = (uint8_t)rig_random(r);
}

#define RIG_SET(words, unit, field, value) hd_field_set((words), HD_F_##unit##_##field, (value))

#endif
