/* What the files of recurrent layers share: recurrent_cell.c has products and vectors,
 * recurrent_step.c one step of each kind of cell, recurrent.c states, rows of y and the loop.
 */
#ifndef HD_COMPILER_RECURRENT_H
#define HD_COMPILER_RECURRENT_H

#include "compiler/kind/kinds.h"
#include "runtime/base/fn.h"
#include "runtime/base/num.h"

enum { OF_X, OF_H, PARTS };    /* products */
enum { STEP_MAX = INT16_MAX }; /* field of mx */

/* hd_layer.own. Gates in the order in which the machine takes them. */
struct hd_recurrent {
    int gates, directions, steps, batch;
    bool reverse, linear_before_reset, no_tanh;
    bool together; /* products are so short that gates come together rather than one by one */
    float scale;   /* of a result before it is rounded: 1 / step */
    /* Initial integers (not of a gru) and binary32 state: indexes in hd_layer.in, -1 = none; or
     * constants, at these offsets of the image, -1 = none. */
    int in_h, in_state;
    int64_t h_offset, state_offset;
    int sides;                  /* directions that go step by step together */
    int vectors;                /* of the states of all sides: sides * nh */
    int cwx, cwh;               /* words of a row of x and of h */
    struct hd_recurrent_image { /* of a direction, or of both, in the image; v of `vectors` */
        size_t w, r, p;         /* WM words [gate][v][cw]; PM words: of w [gate][v], of r */
    } image[2];
};

struct hd_cell_rows { /* in XM, bytes: `rows` of each of n steps */
    int64_t at, pitch, step;
    int n;
};

struct hd_cell { /* a direction, or both, and part of the batch */
    struct hd_lowerer *w;
    const struct hd_recurrent *r;
    const struct hd_recurrent_tiling *rt;
    const struct hd_mtensor *x, *y;
    const struct hd_placement *xp, *yp;
    int d, b0, rows;
    int64_t q; /* AM words of a gate: vectors * rows */
    int64_t sums, state, tmp, wx;
    int64_t wm[PARTS], pm; /* what stays */
    struct hd_ring wm_ring;
    int loaded[PARTS]; /* output tiles that are there */
    bool pm_loaded[PARTS];
    struct hd_cell_rows now[2], before[2]; /* rows of y of each side */
};

struct hd_cell_map { /* scales of 0 count as 1 */
    int alu, fn, a_kind;
    int64_t a, b, d;
    int64_t pm; /* bias and scale of A, 0 = none: pm - 1 is the word */
    bool to_y;  /* the results go to c->now, as bytes */
    float a_scale, b_scale;
    int tiles, n; /* vectors of results, 0 = those of a gate; steps */
};

struct hd_cell_move { /* runs between DRAM and a memory on chip, their distances in bytes */
    bool store;
    int mem, seg;
    int64_t dram, chip, run, n[2], dram_step[2], chip_step[2];
};

static inline int hd_cell_tiles(const struct hd_cell *c) {
    return c->r->gates * c->r->vectors;
}

static inline bool hd_cell_backwards(const struct hd_cell *c, int side) {
    return c->r->reverse || c->d + side == 1;
}

static inline int hd_cell_step_of(const struct hd_cell *c, int side, int i) {
    return hd_cell_backwards(c, side) ? c->r->steps - 1 - i : i;
}

static inline int64_t hd_cell_slot(const struct hd_cell *c, int i) {
    return c->wx + i % c->rt->ahead * c->r->gates * c->q;
}

static inline void hd_cell_touch_xm(struct hd_cell *c, const struct hd_cell_rows *v, int64_t bytes,
                                    bool write) {
    int64_t far = (v->n - 1) * v->step, lo = v->at + (far < 0 ? far : 0);
    int64_t hi = v->at + (far > 0 ? far : 0) + (c->rows - 1) * v->pitch + bytes;
    hd_ops_touch(&c->w->s, HD_SPACE_XM, lo, hi, write);
}

/* ---- recurrent_cell.c ---- */

hd_status hd_cell_move(struct hd_cell *c, struct hd_cell_move m);
/* PM words of a gate: bias and scale of its products. */
hd_status hd_cell_params(struct hd_cell *c, int part, int gate, int64_t *out);
/* Sums of n gates from `gate` on: the products of h, of each side its rows. */
hd_status hd_cell_gate_products(struct hd_cell *c, int gate, int n, const struct hd_cell_rows *h);
hd_status hd_cell_gate_product(struct hd_cell *c, int gate, const struct hd_cell_rows *h);
hd_status hd_cell_map(struct hd_cell *c, struct hd_cell_map m);
/* d = fn(sums of h of n gates from g + products of x of step i), in binary32. */
hd_status hd_cell_gates(struct hd_cell *c, int i, int g, int n, int fn, int64_t d);
hd_status hd_cell_gate(struct hd_cell *c, int i, int g, int fn, int64_t d);
/* d = fn(a alu b), all in binary32; of a product fn(a) * b. */
hd_status hd_cell_combine(struct hd_cell *c, int alu, int fn, int64_t a, int64_t b, int64_t d);
/* y = a, and y = fn(a) * b, in bytes. */
hd_status hd_cell_to_y(struct hd_cell *c, int64_t a);
hd_status hd_cell_mul_to_y(struct hd_cell *c, int fn, int64_t a, int64_t b);
/* Products of x of n steps from i on, scaled. */
hd_status hd_cell_block_of_x(struct hd_cell *c, int i, int n);
/* Whether step i is followed by the products of x of a later one; those products, and their
 * scaling. */
bool hd_cell_fills(const struct hd_cell *c, int i);
hd_status hd_cell_filler(struct hd_cell *c, int i);
hd_status hd_cell_scale_of_filler(struct hd_cell *c, int i);

/* ---- recurrent_sequence.c: the whole layer ---- */

hd_status hd_recurrent_lower(struct hd_lowerer *w);

/* ---- recurrent_step.c ---- */

hd_status hd_cell_step(struct hd_cell *c, int i);
#endif
