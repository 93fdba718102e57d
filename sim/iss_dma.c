/* Effects of LX, LW and ST, and their walk over runs of contiguous bytes for the timing model. */
#include <string.h>

#include "sim/iss_int.h"

static int64_t window(const hd_iss *iss, int64_t seg) {
    return seg ? iss->reg.arena_bytes : iss->reg.image_bytes;
}
static uint64_t base(const hd_iss *iss, int64_t seg) {
    return seg ? iss->reg.arena_ptr : iss->reg.image_ptr;
}

static void walk_lx(const uint32_t *words, struct run_walk *w) {
#define GET(f) hd_field_get(words, HD_F_lx_##f)
    *w = (struct run_walk){.run = GET(run),
                           .n = {GET(n1), GET(n2), GET(n3)},
                           .dram = GET(src),
                           .dram_step = {GET(s1), GET(s2), GET(s3)},
                           .chip = GET(dst),
                           .chip_step = {GET(d1), GET(d2), GET(d3)},
                           .in_am = GET(mem) != 0,
                           .edge = GET(edge) != 0,
                           .x0 = GET(x0),
                           .y0 = GET(y0),
                           .row_bytes = GET(row_bytes),
                           .rows = GET(rows),
                           .y_step = GET(ys),
                           .x_step = GET(s1)};
#undef GET
}

static void walk_st(const uint32_t *words, struct run_walk *w) {
#define GET(f) hd_field_get(words, HD_F_st_##f)
    *w = (struct run_walk){.run = GET(run),
                           .n = {GET(n1), GET(n2), GET(n3)},
                           .dram = GET(dst),
                           .dram_step = {GET(d1), GET(d2), GET(d3)},
                           .chip = GET(src),
                           .chip_step = {GET(s1), GET(s2), GET(s3)},
                           .shrink = GET(sat) == HD_V_st_sat_none    ? 0
                                     : GET(sat) == HD_V_st_sat_int16 ? 1
                                                                     : 2,
                           .in_am = GET(mem) != 0};
#undef GET
}

static void walk_lw(const hd_iss *iss, const uint32_t *words, struct run_walk *w) {
#define GET(f) hd_field_get(words, HD_F_lw_##f)
    int64_t bytes = hd_lw_word_bytes(&iss->m, GET(mem));
    *w = (struct run_walk){.run = GET(count) * bytes - GET(cut) * (int64_t)hd_axi_bytes(&iss->m),
                           .n = {GET(n1), 1, 1},
                           .dram = GET(src),
                           .dram_step = {GET(s1), 0, 0},
                           .chip = GET(dst) * bytes,
                           .chip_step = {GET(d1) * bytes, 0, 0},
                           .apart = GET(cut) != 0};
    if (!GET(col)) return;
    /* a run is a row, or what one word takes of it when that is less than a beat; the chip counts
     * N bytes for a word, which are what a run writes of it */
    int64_t n = iss->m.n, count = GET(count), split = n < (int64_t)hd_axi_bytes(&iss->m);
    *w = (struct run_walk){.run = (split && count ? 1 : count) * n,
                           .n = {iss->m.k, split ? count : 1, GET(n1)},
                           .dram = GET(src),
                           .dram_step = {GET(s2), n, GET(s1)},
                           .chip = GET(dst) * n,
                           .chip_step = {0, n, GET(d1) * n},
                           .apart = true};
#undef GET
}

/* Joins runs that continue each other in DRAM and on chip, as hd_run_join does. */
static void join(struct run_walk *w) {
    for (int l = 0; l < 3 && !w->edge && !w->apart; l++) {
        if (w->n[l] == 1) continue;
        if (w->n[l] < 1 || w->dram_step[l] != w->run || w->chip_step[l] != w->run << w->shrink)
            break;
        w->run *= w->n[l];
        w->n[l] = 1;
        w->n_joined++;
    }
}

void hd_iss_walk(const hd_iss *iss, enum hd_unit u, const uint32_t *words, struct run_walk *w) {
    if (u == HD_UNIT_lx)
        walk_lx(words, w);
    else if (u == HD_UNIT_lw)
        walk_lw(iss, words, w);
    else
        walk_st(words, w);
    join(w);
    w->left = iss->budget;
    static const enum hd_field seg[HD_UNITS] = {
        [HD_UNIT_lx] = HD_F_lx_seg, [HD_UNIT_lw] = HD_F_lw_seg, [HD_UNIT_st] = HD_F_st_seg};
    w->seg = (uint8_t)hd_field_get(words, seg[u]);
    w->chip_bytes = w->in_am ? iss->m.am_bytes : iss->m.xm_bytes;
    if (u != HD_UNIT_lw) return;
    int64_t mem = hd_field_get(words, HD_F_lw_mem);
    bool col = hd_field_get(words, HD_F_lw_col) != 0;
    w->chip_bytes = mem > HD_V_lw_mem_tm ? 0
                    : col                ? (int64_t)hd_wm_words(&iss->m) * iss->m.n
                          : (int64_t)hd_lw_words(&iss->m, mem) * hd_lw_word_bytes(&iss->m, mem);
}

static int64_t dram_at(const struct run_walk *w) { /* offsets are modulo 2^32 */
    return (uint32_t)(w->dram + w->i[0] * w->dram_step[0] + w->i[1] * w->dram_step[1] +
                      w->i[2] * w->dram_step[2]);
}

static int64_t chip_at(const struct run_walk *w) {
    return w->chip + w->i[0] * w->chip_step[0] + w->i[1] * w->chip_step[1] +
           w->i[2] * w->chip_step[2];
}

void hd_iss_walk_valid(const struct run_walk *w, int64_t *lo, int64_t *hi) {
    *lo = 0;
    *hi = w->run;
    if (!w->edge) return;
    int64_t x = w->x0 + w->i[0] * w->x_step, y = w->y0 + w->i[1] * w->y_step;
    if (y < 0 || y >= w->rows) *hi = 0;
    if (x < 0) *lo = -x;
    if (*hi > w->row_bytes - x) *hi = w->row_bytes - x;
    if (*hi <= *lo) *lo = *hi = 0;
}

bool hd_iss_walk_next(struct run_walk *w) {
    if (!w->left--) return false;
    for (int l = 0; l < 3; l++) {
        if (++w->i[l] < w->n[l]) return true;
        w->i[l] = 0;
    }
    return false;
}

int64_t hd_iss_walk_dram(const struct run_walk *w) {
    return dram_at(w);
}
int64_t hd_iss_walk_chip(const struct run_walk *w) {
    return chip_at(w);
}

unsigned hd_iss_run_error(const hd_iss *iss, const struct run_walk *w) {
    int64_t chip = chip_at(w), from, to;
    if (chip < 0 || chip + (w->run << w->shrink) > w->chip_bytes) return HD_ERR_range;
    hd_iss_walk_valid(w, &from, &to);
    if (from == to) return HD_ERR_none;
    int64_t at = (uint32_t)(dram_at(w) + from);
    if (at + (to - from) > window(iss, w->seg)) return HD_ERR_window;
    bool there = hd_axi_mem_at(iss->mem, base(iss, w->seg) + (uint64_t)at, (size_t)(to - from));
    return there ? HD_ERR_none : HD_ERR_axi;
}

/* On-chip range and DRAM windows of a whole walk. */
static unsigned check(const hd_iss *iss, const struct run_walk *walk) {
    struct run_walk w = *walk;
    int64_t lo = w.chip, hi = w.chip + (w.run << w.shrink);
    for (int l = 0; l < 3; l++) {
        int64_t d = (w.n[l] - 1) * w.chip_step[l];
        if (d < 0)
            lo += d;
        else
            hi += d;
    }
    if (lo < 0 || hi > w.chip_bytes) return HD_ERR_range;
    do {
        unsigned err = hd_iss_run_error(iss, &w);
        if (err) return err;
    } while (hd_iss_walk_next(&w));
    return HD_ERR_none;
}

/* ---- operands ------------------------------------------------------------------------------- */

static unsigned lx_error(const hd_iss *iss, const uint32_t *words) {
#define GET(f) hd_field_get(words, HD_F_lx_##f)
    bool am = GET(mem) == HD_V_chip_am;
    if (am && hd_am_word_bytes(&iss->m) < hd_axi_bytes(&iss->m)) return HD_ERR_operand;
    if (am && (GET(run) | GET(dst) | GET(d1) | GET(d2) | GET(d3)) % 4) return HD_ERR_range;
    return HD_ERR_none;
#undef GET
}

static unsigned lw_error(const hd_iss *iss, const uint32_t *words) {
#define GET(f) hd_field_get(words, HD_F_lw_##f)
    int64_t mem = GET(mem), steps = GET(src) | GET(s1), axi = hd_axi_bytes(&iss->m);
    bool col = GET(col) != 0;
    if (mem > HD_V_lw_mem_tm || (col && !iss->m.functions) ||
        (col && (mem != HD_V_lw_mem_wm || GET(count) > UINT16_MAX)) ||
        (GET(cut) && (mem != HD_V_lw_mem_pm || GET(cut) * axi >= hd_pm_word_bytes(&iss->m))))
        return HD_ERR_operand;
    if (col) {
        steps |= GET(s2);
        if (axi > iss->m.n) axi = iss->m.n;
    }
    return steps % axi ? HD_ERR_range : HD_ERR_none;
#undef GET
}

static unsigned st_error(const hd_iss *iss, const uint32_t *words) {
#define GET(f) hd_field_get(words, HD_F_st_##f)
    bool am = GET(mem) == HD_V_chip_am;
    int64_t sat = GET(sat);
    if ((am && hd_am_word_bytes(&iss->m) < hd_axi_bytes(&iss->m)) || (sat && !am))
        return HD_ERR_operand;
    if (GET(seg) == HD_V_seg_image) return HD_ERR_window; /* read-only */
    if (sat && ((GET(src) | GET(s1) | GET(s2) | GET(s3)) % 4 ||
                (sat == HD_V_st_sat_int16 && GET(run) % 2)))
        return HD_ERR_range;
    return HD_ERR_none;
#undef GET
}

unsigned hd_iss_dma_error(const hd_iss *iss, enum hd_unit u, const uint32_t *words) {
    static const enum hd_field fields[HD_UNITS][4] = {
        [HD_UNIT_lx] = {HD_F_lx_run, HD_F_lx_n1, HD_F_lx_n2, HD_F_lx_n3},
        [HD_UNIT_lw] = {HD_F_lw_count, HD_F_lw_n1, HD_F_lw_n1, HD_F_lw_n1},
        [HD_UNIT_st] = {HD_F_st_run, HD_F_st_n1, HD_F_st_n2, HD_F_st_n3}};
    struct run_walk w;
    for (int i = 0; i < 4; i++)
        if (!hd_field_get(words, fields[u][i])) return HD_ERR_operand;
    hd_iss_walk(iss, u, words, &w);
    if (w.seg >= HD_SEGMENTS) return HD_ERR_operand;
    return u == HD_UNIT_lx   ? lx_error(iss, words)
           : u == HD_UNIT_lw ? lw_error(iss, words)
                             : st_error(iss, words);
}

/* All that is wrong with it: an operand, or a run of its walk. */
static unsigned error_of(const hd_iss *iss, enum hd_unit u, const uint32_t *words,
                         struct run_walk *w) {
    unsigned err = hd_iss_dma_error(iss, u, words);
    if (err) return err;
    hd_iss_walk(iss, u, words, w);
    return check(iss, w);
}

/* ---- effects -------------------------------------------------------------------------------- */

/* n bytes of saturated int32: `sat` as in the instruction. */
static void saturate(uint8_t *to, const uint8_t *from, int64_t n, int64_t sat) {
    static const int32_t lo[] = {0, -128, 0, INT16_MIN}, hi[] = {0, 127, 255, INT16_MAX};
    int64_t bytes = sat == HD_V_st_sat_int16 ? 2 : 1;
    for (int64_t i = 0; i < n / bytes; i++) {
        int32_t v;
        memcpy(&v, from + 4 * i, 4);
        v = v < lo[sat] ? lo[sat] : v > hi[sat] ? hi[sat] : v;
        to[bytes * i] = (uint8_t)v;
        if (bytes == 2) to[2 * i + 1] = (uint8_t)((uint32_t)v >> 8);
    }
}

/* Stores all runs, saturated. */
static void store_saturated(const hd_iss *iss, struct run_walk w, int64_t seg, int64_t sat) {
    const uint8_t *am = (const uint8_t *)iss->am;
    do {
        uint64_t at = base(iss, seg) + (uint32_t)dram_at(&w);
        saturate(hd_axi_mem_at(iss->mem, at, (size_t)w.run), am + chip_at(&w), w.run, sat);
    } while (hd_iss_walk_next(&w));
}

/* Copies all runs; chip is the on-chip memory. Padding takes `pad`. */
static void transfer(const hd_iss *iss, struct run_walk w, int64_t seg, uint8_t *chip, bool store,
                     int pad) {
    do {
        int64_t from, to;
        hd_iss_walk_valid(&w, &from, &to);
        uint8_t *c = chip + chip_at(&w);
        memset(c, pad, store ? 0 : (size_t)from);
        if (!store) memset(c + to, pad, (size_t)(w.run - to));
        if (from == to) continue;
        uint64_t at = base(iss, seg) + (uint32_t)(dram_at(&w) + from);
        void *d = hd_axi_mem_at(iss->mem, at, (size_t)(to - from));
        if (store)
            memcpy(d, c + from, (size_t)(to - from));
        else
            memcpy(c + from, d, (size_t)(to - from));
    } while (hd_iss_walk_next(&w));
}

/* Column-wise load of WM: run k of each K is column k of the words that it covers. */
static void turn(const hd_iss *iss, struct run_walk w, int64_t seg) {
    int64_t n = iss->m.n, k = iss->m.k;
    do {
        uint64_t at = base(iss, seg) + (uint32_t)dram_at(&w);
        const int8_t *row = hd_axi_mem_at(iss->mem, at, (size_t)w.run);
        for (int64_t j = 0; j < w.run; j++)
            iss->wm[(chip_at(&w) / n + j / n) * n * k + j % n * k + w.i[0]] = row[j];
    } while (hd_iss_walk_next(&w));
}

unsigned hd_iss_lx(hd_iss *iss, const uint32_t *words) {
    struct run_walk w;
    unsigned err = error_of(iss, HD_UNIT_lx, words, &w);
    if (!err)
        transfer(iss, w, w.seg, w.in_am ? (uint8_t *)iss->am : iss->xm, false,
                 (int)hd_field_get(words, HD_F_lx_pad));
    return err;
}

unsigned hd_iss_lw(hd_iss *iss, const uint32_t *words) {
    struct run_walk w;
    uint8_t *const to[] = {(uint8_t *)iss->wm, iss->pm, iss->tm};
    unsigned err = error_of(iss, HD_UNIT_lw, words, &w);
    if (err) return err;
    if (hd_field_get(words, HD_F_lw_col))
        turn(iss, w, w.seg);
    else
        transfer(iss, w, w.seg, to[hd_field_get(words, HD_F_lw_mem)], false, 0);
    return HD_ERR_none;
}

unsigned hd_iss_st(hd_iss *iss, const uint32_t *words) {
    struct run_walk w;
    int64_t sat = hd_field_get(words, HD_F_st_sat);
    unsigned err = error_of(iss, HD_UNIT_st, words, &w);
    if (!err && sat)
        store_saturated(iss, w, w.seg, sat);
    else if (!err)
        transfer(iss, w, w.seg, w.in_am ? (uint8_t *)iss->am : iss->xm, true, 0);
    return err;
}
