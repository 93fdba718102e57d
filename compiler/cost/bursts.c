/* Bursts: what a load or store moves, for the estimate. */
#include "compiler/cost/bursts.h"

#include "runtime/base/num.h"

static void of_weights(const struct hd_machine *m, const struct hd_slot_op *op, struct hd_walk *r) {
    const int64_t word = hd_lw_word_bytes(m, hd_op_field(op, HD_F_lw_mem)), axi = hd_axi_bytes(m);
    const int64_t count = hd_op_field(op, HD_F_lw_count), n1 = hd_op_field(op, HD_F_lw_n1);
    const bool split = m->n < axi; /* a run of column-wise loads is of one word */
    r->at = hd_op_field(op, HD_F_lw_src);
    r->apart = hd_op_field(op, HD_F_lw_cut) || hd_op_field(op, HD_F_lw_col);
    if (!hd_op_field(op, HD_F_lw_col)) {
        r->run = count * word - hd_op_field(op, HD_F_lw_cut) * axi;
        r->n[0] = n1, r->step[0] = hd_op_field(op, HD_F_lw_s1);
        r->chip[0] = hd_op_field(op, HD_F_lw_d1) * word;
        return;
    }
    r->run = split ? m->n : count * m->n;
    r->n[0] = m->k, r->step[0] = hd_op_field(op, HD_F_lw_s2);
    r->n[1] = split ? count : 1, r->step[1] = m->n;
    r->n[2] = n1, r->step[2] = hd_op_field(op, HD_F_lw_s1);
}

static void of_data(const struct hd_slot_op *op, struct hd_walk *r) {
    static const enum hd_field lx[] = {HD_F_lx_n1, HD_F_lx_n2, HD_F_lx_n3, HD_F_lx_s1, HD_F_lx_s2,
                                       HD_F_lx_s3, HD_F_lx_d1, HD_F_lx_d2, HD_F_lx_d3},
                               st[] = {HD_F_st_n1, HD_F_st_n2, HD_F_st_n3, HD_F_st_d1, HD_F_st_d2,
                                       HD_F_st_d3, HD_F_st_s1, HD_F_st_s2, HD_F_st_s3};
    const bool load = op->unit == HD_UNIT_lx;
    const enum hd_field *f = load ? lx : st;
    r->run = hd_op_field(op, load ? HD_F_lx_run : HD_F_st_run);
    r->at = hd_op_field(op, load ? HD_F_lx_src : HD_F_st_dst);
    r->chip_at = hd_op_field(op, load ? HD_F_lx_dst : HD_F_st_src);
    r->edge = r->apart = load && hd_op_field(op, HD_F_lx_edge);
    for (int i = 0; i < 3; i++) {
        r->n[i] = hd_op_field(op, f[i]);
        r->step[i] = hd_op_field(op, f[3 + i]), r->chip[i] = hd_op_field(op, f[6 + i]);
    }
}

/* Bytes of the run at hand that lie in the tensor: [*lo, *hi). */
static void cut(const struct hd_walk *r, int64_t *lo, int64_t *hi) {
    const struct hd_slot_op *op = r->op;
    int64_t x = hd_op_field(op, HD_F_lx_x0) + r->i[0] * r->step[0];
    int64_t y = hd_op_field(op, HD_F_lx_y0) + r->i[1] * hd_op_field(op, HD_F_lx_ys);
    *lo = hd_max(0, -x), *hi = hd_min(r->run, hd_op_field(op, HD_F_lx_row_bytes) - x);
    if (y < 0 || y >= hd_op_field(op, HD_F_lx_rows) || *hi < *lo) *lo = *hi = 0;
}

/* LX writes a chunk, ST sends a beat in each cycle; one more goes by where the bytes begin later
 * in what is read than in what is written. */
static void run_at_hand(struct hd_walk *r) {
    int64_t lo = 0, hi = r->run, at = r->at, chip = r->chip_at;
    if (r->edge) cut(r, &lo, &hi);
    const int64_t last = (INT64_C(1) << r->axi) - 1, from = (at + lo) & last;
    const int64_t to = (chip + lo) & last, n = hi - lo;
    r->beat = (at + lo) >> r->axi, r->more = r->pads = 0;
    r->beats = n ? (from + n + last) >> r->axi : 0;
    if (r->op->unit == HD_UNIT_st) r->more = from < to;
    if (r->op->unit != HD_UNIT_lx) return;
    int64_t chunks = n ? (to + n + last) >> r->axi : 0;
    r->more = chunks - r->beats + (to < from);
    r->pads = (((chip & last) + r->run + last) >> r->axi) - chunks;
}

void hd_walk_begin(const struct hd_machine *m, const struct hd_slot_op *op, struct hd_walk *r) {
    *r = (struct hd_walk){

        .op = op,
        .axi = __builtin_ctz(hd_axi_bytes(m)),
        .longest = hd_burst_beats(m),
        .n = {1, 1, 1}};
    if (op->unit == HD_UNIT_lw)
        of_weights(m, op, r);
    else
        of_data(op, r);
    for (int l = 0; l < 3 && !r->apart; l++) {
        if (r->n[l] > 1 && (r->step[l] != r->run || r->chip[l] != r->run)) break;
        r->run *= r->n[l], r->n[l] = 1;
    }
    r->left = r->n[0] * r->n[1] * r->n[2];
    run_at_hand(r);
}

void hd_walk_next(struct hd_walk *r) {
    r->left--;
    for (int l = 0; l < 3; l++) {
        r->at += r->step[l], r->chip_at += r->chip[l];
        if (++r->i[l] < r->n[l]) break;
        r->at -= r->n[l] * r->step[l], r->chip_at -= r->n[l] * r->chip[l], r->i[l] = 0;
    }
    run_at_hand(r);
}

int64_t hd_walk_burst(const struct hd_walk *r) {
    enum { PAGE = 4096 };
    const int64_t page = PAGE >> r->axi;
    return hd_min(hd_min(r->beats, r->longest), page - (r->beat & (page - 1)));
}

struct hd_bursts hd_bursts_of(const struct hd_machine *m, const struct hd_slot_op *op) {
    struct hd_walk r;
    hd_walk_begin(m, op, &r);
    struct hd_bursts out = {.runs = r.left};
    for (; r.left; hd_walk_next(&r)) {
        out.held += r.beats + r.more;
        for (int64_t n; r.beats; out.bursts++) n = hd_walk_burst(&r), r.beat += n, r.beats -= n;
    }
    return out;
}

int64_t hd_dram_bytes(const struct hd_machine *m, const struct hd_slot_op *op) {
    struct hd_walk r;
    if (!op->code || op->unit == HD_UNIT_mx || op->unit == HD_UNIT_vx) return 0;
    hd_walk_begin(m, op, &r);
    return r.edge && !hd_op_field(op, HD_F_lx_rows) ? 0 : r.run * r.left;
}
