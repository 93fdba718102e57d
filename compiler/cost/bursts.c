/* Bursts: what a load or store moves, for the estimate. */
#include "compiler/cost/bursts.h"

#include "runtime/base/num.h"

static int64_t field(const struct hd_slot_op *op, enum hd_field f) {
    return hd_field_get(op->words, f);
}

/* How many of at, at + step, .. (n of them) lie in [0, end). */
static int64_t inside(int64_t n, int64_t at, int64_t step, int64_t end) {
    if (step <= 0) return at >= 0 && at < end ? n : 0;
    int64_t first = at < 0 ? hd_ceil_div(-at, step) : 0, after = hd_ceil_div(end - at, step);
    return hd_max(0, hd_min(n, after) - first);
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

/* Cycles for which LX holds the data channel, for each run: one for a chunk that it fills, and one
 * more where the run begins later in a beat than in a chunk. */
static double cycles_of_run(const struct places *dram, const struct places *chip, int64_t run) {
    bool one = dram->n == 1 && chip->n == 1;
    double later = one ? dram->first > chip->first : (1 - 1 / (double)hd_max(dram->n, chip->n)) / 2;
    double beats = beats_of(dram, run), chunks = beats_of(chip, run) + later;
    return beats > chunks ? beats : chunks;
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

struct hd_bursts hd_bursts_of(const struct hd_machine *m, const struct hd_slot_op *op) {
    struct hd_bursts r = {0};
    const int64_t axi = hd_axi_bytes(m);
    static const enum hd_field lx[] = {HD_F_lx_n1, HD_F_lx_n2, HD_F_lx_n3, HD_F_lx_s1, HD_F_lx_s2,
                                       HD_F_lx_s3, HD_F_lx_d1, HD_F_lx_d2, HD_F_lx_d3},
                               st[] = {HD_F_st_n1, HD_F_st_n2, HD_F_st_n3, HD_F_st_d1, HD_F_st_d2,
                                       HD_F_st_d3, HD_F_st_s1, HD_F_st_s2, HD_F_st_s3};
    int64_t run, at, steps = 0, n[3] = {1, 1, 1}, step[3] = {0}, chip[3] = {0};
    int64_t chip_at = 0, chip_steps = 0;
    bool apart = false;
    if (op->unit == HD_UNIT_lw) {
        int64_t word = hd_lw_word_bytes(m, field(op, HD_F_lw_mem)),
                count = field(op, HD_F_lw_count);
        run = count * word - field(op, HD_F_lw_cut) * axi;
        n[0] = field(op, HD_F_lw_n1), at = field(op, HD_F_lw_src);
        step[0] = field(op, HD_F_lw_s1), chip[0] = field(op, HD_F_lw_d1) * word;
        apart = field(op, HD_F_lw_col);
        if (apart) { /* K rows for each, of words or, where the port is wider, of a word */
            bool split = m->n < axi;
            run = split ? m->n : count * m->n;
            n[1] = m->k, n[2] = split ? count : 1;
        }
    } else {
        const enum hd_field *f = op->unit == HD_UNIT_lx ? lx : st;
        run = field(op, op->unit == HD_UNIT_lx ? HD_F_lx_run : HD_F_st_run);
        at = field(op, op->unit == HD_UNIT_lx ? HD_F_lx_src : HD_F_st_dst);
        chip_at = op->unit == HD_UNIT_lx ? field(op, HD_F_lx_dst) : 0;
        for (int i = 0; i < 3; i++)
            n[i] = field(op, f[i]), step[i] = field(op, f[3 + i]), chip[i] = field(op, f[6 + i]);
        apart = op->unit == HD_UNIT_lx && field(op, HD_F_lx_edge);
        if (apart) { /* of padding nothing comes from DRAM */
            int64_t all = n[0] * n[1] * n[2];
            n[0] = inside(n[0], field(op, HD_F_lx_x0) + run - 1, step[0],
                          field(op, HD_F_lx_row_bytes) + run - 1);
            n[1] =
                inside(n[1], field(op, HD_F_lx_y0), field(op, HD_F_lx_ys), field(op, HD_F_lx_rows));
            r.padding = all - n[0] * n[1] * n[2], r.padding_chunks = hd_ceil_div(run, axi);
            if (!n[0] || !n[1]) return r;
        }
    }
    for (int i = 0; i < 3 && !apart; i++) {
        if (n[i] > 1 && (step[i] != run || chip[i] != run)) break;
        run *= n[i], n[i] = 1;
    }
    for (int i = 0; i < 3; i++)
        if (n[i] > 1) steps |= step[i], chip_steps |= chip[i];
    const struct places dram = places_of(axi, at, steps),
                        on_chip = places_of(axi, chip_at, chip_steps);
    r.runs = n[0] * n[1] * n[2];
    r.beats = (int64_t)((double)r.runs * beats_of(&dram, run));
    r.bursts = bursts_of(m, at, run, n, step);
    r.held = (double)r.beats;
    if (op->unit == HD_UNIT_lx) r.held = (double)r.runs * cycles_of_run(&dram, &on_chip, run);
    return r;
}
