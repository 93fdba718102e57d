/* Bursts: what a load or store moves, for the estimate. */
#include "compiler/cost/bursts.h"

#include "runtime/base/num.h"

/* How many of at, at + step, .. (n of them) lie in [0, end). */
static int64_t inside(int64_t n, int64_t at, int64_t step, int64_t end) {
    if (step <= 0) return at >= 0 && at < end ? n : 0;
    int64_t first = at < 0 ? hd_ceil_div(-at, step) : 0, after = hd_ceil_div(end - at, step);
    return hd_max(0, hd_min(n, after) - first);
}

/* Bytes of data in runs of `run` bytes that begin at byte at, at + step, .. (*n of them) of a row,
 * their mean over those that have any. *n: of these, how many; *lo, *hi: where the data of the last
 * begin and end. */
static int64_t data_of(int64_t *n, int64_t at, int64_t step, int64_t run, int64_t row, int64_t *lo,
                       int64_t *hi) {
    int64_t sum = 0, runs = 0;
    for (int64_t i = 0; i < *n; i++, at += step) {
        int64_t from = hd_max(0, -at), to = hd_min(run, row - at);
        if (from >= to) continue;
        sum += to - from, runs++, *lo = from, *hi = to;
    }
    *n = runs;
    return runs ? hd_ceil_div(sum, runs) : 0;
}

/* Where runs begin in a beat (DRAM) or a chunk (chip) of `axi` bytes: `first`, and behind it every
 * `step` bytes, each place as often as the others. */
struct places {
    int64_t first, step, n;
};

/* Of runs that begin at `at` and at steps of which `steps` is the OR. */
static struct places places_of(int64_t axi, int64_t at, int64_t steps) {
    int64_t all = steps | axi, step = all & -all;
    return (struct places){at & (step - 1), step, axi / step};
}

/* Beats (chunks) of a run: the mean of ceil((place + run) / axi). */
static double beats_of(const struct places *p, int64_t run) {
    return (double)(hd_ceil_div(p->first + run, p->step) + p->n - 1) / (double)p->n;
}

/* Cycles for which LX (ST) holds the data channel, for each run: one for a chunk (beat) that it
 * fills, and one more where the run begins later in a beat than in a chunk (the other way round).
 */
static double cycles_of_run(const struct places *from, const struct places *to, int64_t run) {
    bool one = from->n == 1 && to->n == 1;
    double later = one ? from->first > to->first : (1 - 1 / (double)hd_max(from->n, to->n)) / 2;
    double read = beats_of(from, run), filled = beats_of(to, run) + later;
    return read > filled ? read : filled;
}

/* Bursts of runs, which end where a page does; of many short ones only what their length asks for.
 */
static int64_t bursts_of(const struct hd_machine *m, int64_t at, int64_t run, const int64_t n[3],
                         const int64_t step[3]) {
    enum { PAGE = 4096, RUNS = 16 };
    const int64_t axi = hd_axi_bytes(m), longest = hd_burst_beats(m) * axi;
    int64_t bursts = 0;
    if (n[0] * n[1] * n[2] > RUNS) return n[0] * n[1] * n[2] * hd_ceil_div(run, longest);
    for (int64_t i = 0; i < n[0] * n[1] * n[2]; i++) {
        int64_t from =
            at + i % n[0] * step[0] + i / n[0] % n[1] * step[1] + i / n[0] / n[1] * step[2];
        int64_t end = from + run;
        for (from = hd_floor_to(from, axi); from < end; bursts++)
            from = hd_min(from + longest, hd_floor_to(from, PAGE) + PAGE);
    }
    return bursts;
}

struct runs {
    int64_t run, at, chip_at;       /* bytes of each; where the first begins, in DRAM and on chip */
    int64_t n[3], step[3], chip[3]; /* how many, how far apart */
    int64_t whole;                  /* chunks of a run with those of padding; 0: it has none */
    bool apart;                     /* runs that go on are not joined */
};

static void runs_of_weights(const struct hd_machine *m, const struct hd_slot_op *op,
                            struct runs *r) {
    const int64_t axi = hd_axi_bytes(m), word = hd_lw_word_bytes(m, hd_op_field(op, HD_F_lw_mem));
    const int64_t count = hd_op_field(op, HD_F_lw_count);
    r->run = count * word - hd_op_field(op, HD_F_lw_cut) * axi;
    r->n[0] = hd_op_field(op, HD_F_lw_n1), r->at = hd_op_field(op, HD_F_lw_src);
    r->step[0] = hd_op_field(op, HD_F_lw_s1), r->chip[0] = hd_op_field(op, HD_F_lw_d1) * word;
    r->apart = hd_op_field(op, HD_F_lw_col);
    if (!r->apart) return;
    bool split = m->n < axi; /* K rows for each, of words or, where the port is wider, of a word */
    r->run = split ? m->n : count * m->n;
    r->n[1] = m->k, r->n[2] = split ? count : 1;
}

/* Of padding nothing comes from DRAM. */
static void cut_to_tensor(const struct hd_slot_op *op, int64_t axi, struct runs *r,
                          struct hd_bursts *out) {
    const int64_t all = r->n[0] * r->n[1] * r->n[2], x = hd_op_field(op, HD_F_lx_x0), run = r->run;
    const int64_t row = hd_op_field(op, HD_F_lx_row_bytes);
    int64_t lo = 0, hi = run, data = data_of(&r->n[0], x, r->step[0], run, row, &lo, &hi);
    r->n[1] = inside(r->n[1], hd_op_field(op, HD_F_lx_y0), hd_op_field(op, HD_F_lx_ys),
                     hd_op_field(op, HD_F_lx_rows));
    out->padding = all - r->n[0] * r->n[1] * r->n[2];
    out->padding_chunks = r->whole = hd_ceil_div(run, axi);
    out->tail = hd_ceil_div(run - hi, axi);
    r->run = data, r->apart = true;
    if (r->n[0] == 1) r->at += lo, r->chip_at += lo;
}

static void runs_of_data(const struct hd_slot_op *op, struct runs *r) {
    static const enum hd_field lx[] = {HD_F_lx_n1, HD_F_lx_n2, HD_F_lx_n3, HD_F_lx_s1, HD_F_lx_s2,
                                       HD_F_lx_s3, HD_F_lx_d1, HD_F_lx_d2, HD_F_lx_d3},
                               st[] = {HD_F_st_n1, HD_F_st_n2, HD_F_st_n3, HD_F_st_d1, HD_F_st_d2,
                                       HD_F_st_d3, HD_F_st_s1, HD_F_st_s2, HD_F_st_s3};
    const bool load = op->unit == HD_UNIT_lx;
    const enum hd_field *f = load ? lx : st;
    r->run = hd_op_field(op, load ? HD_F_lx_run : HD_F_st_run);
    r->at = hd_op_field(op, load ? HD_F_lx_src : HD_F_st_dst);
    r->chip_at = hd_op_field(op, load ? HD_F_lx_dst : HD_F_st_src);
    for (int i = 0; i < 3; i++) {
        r->n[i] = hd_op_field(op, f[i]);
        r->step[i] = hd_op_field(op, f[3 + i]), r->chip[i] = hd_op_field(op, f[6 + i]);
    }
}

struct hd_bursts hd_bursts_of(const struct hd_machine *m, const struct hd_slot_op *op) {
    struct hd_bursts out = {0};
    struct runs r = {.n = {1, 1, 1}};
    const int64_t axi = hd_axi_bytes(m);
    int64_t steps = 0, chip_steps = 0;
    if (op->unit == HD_UNIT_lw)
        runs_of_weights(m, op, &r);
    else
        runs_of_data(op, &r);
    if (op->unit == HD_UNIT_lx && hd_op_field(op, HD_F_lx_edge)) {
        cut_to_tensor(op, axi, &r, &out);
        if (!r.n[0] || !r.n[1]) return out;
    }
    for (int i = 0; i < 3 && !r.apart; i++) {
        if (r.n[i] > 1 && (r.step[i] != r.run || r.chip[i] != r.run)) break;
        r.run *= r.n[i], r.n[i] = 1;
    }
    for (int i = 0; i < 3; i++)
        if (r.n[i] > 1) steps |= r.step[i], chip_steps |= r.chip[i];
    const struct places dram = places_of(axi, r.at, steps),
                        on_chip = places_of(axi, r.chip_at, chip_steps);
    out.runs = r.n[0] * r.n[1] * r.n[2];
    out.beats = (int64_t)((double)out.runs * beats_of(&dram, r.run));
    out.bursts = bursts_of(m, r.at, r.run, r.n, r.step);
    out.held = (double)out.beats;
    if (op->unit == HD_UNIT_lx) {
        double each = cycles_of_run(&dram, &on_chip, r.run);
        int64_t more = hd_max(0, r.whole - (int64_t)each);
        out.held = (double)out.runs * each;
        out.gap = (double)(out.runs * more) / (double)out.bursts;
    }
    if (op->unit == HD_UNIT_st) out.held = (double)out.runs * cycles_of_run(&on_chip, &dram, r.run);
    return out;
}
