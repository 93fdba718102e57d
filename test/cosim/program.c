/* Whole random programs: memories filled, random operations, memories stored. */
#include "test/cosim/gen.h"

enum { VIEWS = 4 }; /* in which AM is stored */

static void prologue(struct gen *g) { /* random data in XM, WM, PM and TM */
    gen_begin(g, HD_UNIT_lx, 1);
    gen_set(g, HD_F_lx_seg, 1), gen_set(g, HD_F_lx_run, g->m->xm_bytes), gen_set(g, HD_F_lx_n1, 1);
    gen_set(g, HD_F_lx_n2, 1), gen_set(g, HD_F_lx_n3, 1);
    if (g->m->xm_bytes > SHARED_BYTES) gen_set(g, HD_F_lx_run, SHARED_BYTES);
    gen_touch(g, SPACE_DRAM, 0, SHARED_BYTES, false),
        gen_touch(g, SPACE_XM, 0, g->m->xm_bytes, true);
    static const enum space spaces[] = {SPACE_WM, SPACE_PM, SPACE_TM};
    static const int64_t counts[] = {16, N_PM, HD_TM_TABLES}, from[] = {8192, 0, 1024};
    for (int mem = 0; mem < 3; mem++) {
        gen_begin(g, HD_UNIT_lw, 1);
        gen_set(g, HD_F_lw_seg, 1), gen_set(g, HD_F_lw_mem, mem), gen_set(g, HD_F_lw_n1, 1);
        gen_set(g, HD_F_lw_count, counts[mem]), gen_set(g, HD_F_lw_src, from[mem]);
        int64_t bytes =
            counts[mem] * hd_lw_word_bytes(g->m, mem); /* of big words beyond READ_BYTES */
        gen_touch(g, SPACE_DRAM, from[mem], from[mem] + bytes, false);
        gen_touch(g, spaces[mem], 0, N_WM, true);
    }
}

/* mem: 0 XM, 1 AM */
static void store_all(struct gen *g, int mem, int64_t dst, int64_t bytes) {
    gen_begin(g, HD_UNIT_seq, 2)->opens_bundle = true;
    gen_begin(g, HD_UNIT_st, 1)->opens_bundle = true;
    gen_set(g, HD_F_st_seg, 1), gen_set(g, HD_F_st_run, bytes), gen_set(g, HD_F_st_n1, 1);
    gen_set(g, HD_F_st_n2, 1), gen_set(g, HD_F_st_n3, 1), gen_set(g, HD_F_st_dst, dst);
    gen_set(g, HD_F_st_mem, mem);
}

/* XM, then AM: as it is, or where ST cannot read it as bytes of its value, of its value / 2^8, 2^16
 * and 2^24. */
static void epilogue(struct gen *g) {
    int64_t am = hd_am_words(g->m), at = SHARED_BYTES;
    store_all(g, 0, at, g->m->xm_bytes);
    at += g->m->xm_bytes;
    const bool whole = 4 * g->m->n >= g->m->axi_bits / 8;
    if (whole) store_all(g, 1, at, 4 * am * g->m->n);
    for (int v = 0; v < VIEWS && !whole; v++, at += am * g->m->n) {
        gen_begin(g, HD_UNIT_seq, 2)->opens_bundle = true;
        gen_begin(g, HD_UNIT_vx, 1)->opens_bundle = true;
        gen_set(g, HD_F_vx_b_kind, 4), gen_set(g, HD_F_vx_n0, am), gen_set(g, HD_F_vx_n1, 1);
        gen_set(g, HD_F_vx_n2, 1), gen_set(g, HD_F_vx_n3, 1), gen_set(g, HD_F_vx_as0, 1);
        gen_set(g, HD_F_vx_ds0, 1), gen_set(g, HD_F_vx_lo, -32768), gen_set(g, HD_F_vx_hi, 32767);
        gen_set(g, HD_F_vx_a_scale, (int64_t)(127 - 8 * v) << 23);
        store_all(g, 0, at, am * g->m->n);
    }
    gen_begin(g, HD_UNIT_seq, 1)->opens_bundle = true;
}

/* One operand becomes illegal. */
static void spoil(struct gen *g, struct op *op) {
    static const struct {
        enum hd_field loop, chip, dram;
    } f[HD_UNITS] = {{0, 0, 0},
                     {HD_F_lx_n2, HD_F_lx_dst, HD_F_lx_src},
                     {HD_F_lw_n1, HD_F_lw_dst, HD_F_lw_src},
                     {HD_F_mx_n4, HD_F_mx_x, HD_F_mx_w},
                     {HD_F_vx_n2, HD_F_vx_d, HD_F_vx_d},
                     {HD_F_st_n3, HD_F_st_src, HD_F_st_dst}};
    int how = (int)gen_pick(g, 0, 2);
    g->op = op;
    if (how == 0) {
        gen_set(g, f[op->unit].loop, 0);
    } else if (how == 1 || (op->unit == HD_UNIT_lx && hd_field_get(op->words, HD_F_lx_edge))) {
        enum hd_field c = f[op->unit].chip;
        gen_set(g, c, (INT64_C(1) << hd_isa_fields[c].width) - 1);
    } else {
        enum hd_field d = f[op->unit].dram;
        gen_set(g, d, hd_isa_fields[d].width == 32 ? 0xffff0000 : (INT64_C(1) << 24) - 1);
    }
}

static bool runs(const struct op *op) {
    return op->code && op->unit;
}

void program_random(struct program *p, const struct hd_machine *m, uint64_t seed, enum kind kind) {
    *p = (struct program){.m = m, .cut = {-1, -1, 0}};
    struct gen g = {p, m, NULL, {seed * UINT64_C(0x2545f4914f6cdd1d) + 1}};
    prologue(&g);
    int n = (int)gen_pick(&g, 1, MAX_OPS - 24), first = p->n;
    while (p->n < first + n) {
        if (gen_chance(&g, 4)) {
            gen_begin(&g, HD_UNIT_seq, 2);
        } else if (gen_chance(&g, 6)) {
            gen_begin(&g, (int)gen_pick(&g, 0, HD_UNITS - 1), 0);
            p->op[p->n - 1].after = (int)gen_pick(&g, 0, p->n - 2);
        } else {
            int unit = (int)gen_pick(&g, 1, HD_UNITS - 1);
            int repeat = gen_chance(&g, 20) ? (int)gen_pick(&g, 2, 12) : 1;
            while (repeat-- > 0 && p->n < first + n) gen_random_op(&g, unit);
        }
    }
    int victim = (int)gen_pick(&g, first, p->n - 1);
    while (victim > 0 && !runs(&p->op[victim])) victim--;
    if (kind == KIND_ILLEGAL) spoil(&g, &p->op[victim]);
    if (kind == KIND_DEADLOCK) p->op[victim].extra = UINT32_C(1) << 31;
    p->n_body = p->n;
    epilogue(&g);
    p->rounds = kind == KIND_LEGAL && gen_chance(&g, 25) ? (int)gen_pick(&g, 2, MAX_ROUNDS) : 1;
}

size_t program_arena_bytes(const struct hd_machine *m) {
    return (size_t)SHARED_BYTES + m->xm_bytes + (size_t)VIEWS * hd_am_words(m) * m->n;
}
