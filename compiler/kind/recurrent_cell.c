/* Recurrent layers: products of x and h, and what the vector unit makes of them. */
#include "compiler/kind/recurrent.h"

#include <stdlib.h>

/* Runs of LX or ST: n2 times n1 of them. */
hd_status hd_cell_move(struct hd_cell *c, struct hd_cell_move m) {
    struct hd_lowerer *w = c->w;
    int64_t dram_end =
        m.dram + (m.n[0] - 1) * m.dram_step[0] + (m.n[1] - 1) * m.dram_step[1] + m.run;
    int64_t chip_end =
        m.chip + (m.n[0] - 1) * m.chip_step[0] + (m.n[1] - 1) * m.chip_step[1] + m.run;
    int64_t unit = m.mem == HD_V_chip_am ? 4 * (int64_t)w->m->n : 1;
    if (m.store) hd_lower_begin_store(w, m.dram, m.chip, m.run);
    if (!m.store) hd_lower_begin_load(w, m.seg, m.dram, m.chip, m.run);
    hd_lower_set(w, m.store ? HD_F_st_mem : HD_F_lx_mem, m.mem);
    for (int i = 0; i < 2; i++) hd_lower_runs(w, i + 1, m.n[i], m.dram_step[i], m.chip_step[i]);
    if (m.seg) hd_ops_touch(&w->s, HD_SPACE_ARENA, m.dram, dram_end, m.store);
    hd_ops_touch(&w->s, unit > 1 ? HD_SPACE_AM : HD_SPACE_XM, m.chip / unit, chip_end / unit,
                 !m.store);
    return hd_ops_end(&w->s);
}

/* ---- weights and products ---- */

static hd_status load_tiles(struct hd_cell *c, int part, int nt, int n, int64_t to) {
    const struct hd_recurrent_image *image = &c->r->image[c->d];
    int cw = part ? c->r->cwh : c->r->cwx;
    size_t src =
        (part ? image->r : image->w) + (size_t)nt * (size_t)cw * (size_t)hd_wm_word_bytes(c->w->m);
    hd_lower_load_words(c->w, HD_V_lw_mem_wm, src, to, (int64_t)n * cw, 1, 0, 0);
    return hd_ops_end(&c->w->s);
}

/* PM words of a gate: bias and scale of its products. */
hd_status hd_cell_params(struct hd_cell *c, int part, int gate, int64_t *out) {
    int nh = c->r->vectors, first = part * hd_cell_tiles(c) + gate * nh, n = nh;
    int64_t to = *out = c->rt->pm_stay ? c->pm + first : hd_ring_take(c->w, &c->w->pm, n);
    if (c->rt->pm_stay) {
        if (c->pm_loaded[part]) return HD_OK;
        c->pm_loaded[part] = true;
        first = part * hd_cell_tiles(c), n = hd_cell_tiles(c), to = c->pm + first;
    }
    hd_lower_load_words(c->w, HD_V_lw_mem_pm,
                        c->r->image[c->d].p + (size_t)first * hd_pm_word_bytes(c->w->m), to, n, 1,
                        0, 0);
    return hd_ops_end(&c->w->s);
}

/* AM[am + tile * rows + row + step * gates * q] = products of n output tiles from WM word wm: of
 * whole gates of all sides, or of one side, whose rows v are. */
static hd_status gemm(struct hd_cell *c, int part, const struct hd_cell_rows *v, int64_t wm, int n,
                      bool all_sides, int64_t am) {
    struct hd_lowerer *w = c->w;
    int k = (int)w->m->k, cw = part ? c->r->cwh : c->r->cwx, all = c->r->vectors;
    int gates = all_sides ? n / all : 1, sides = all_sides ? c->r->sides : 1,
        each = n / gates / sides;
    int64_t steps = c->r->gates * c->q;
    hd_lower_begin(w, HD_UNIT_mx, HD_OP_mx_gemm);
    hd_lower_set(w, HD_F_mx_nred, 1);
    hd_lower_set(w, HD_F_mx_x_unsigned, (part ? c->y : c->x)->is_unsigned);
    hd_lower_set(w, HD_F_mx_x, v->at / k);
    hd_lower_set(w, HD_F_mx_w, wm);
    hd_lower_set(w, HD_F_mx_a, am);
    hd_lower_loop(w, 0, cw, 1, 1, 0);
    hd_lower_loop(w, 1, c->rows, v->pitch / k, 0, 1);
    hd_lower_loop(w, 2, v->n, v->step / k, 0, steps);
    hd_lower_loop(w, 3, each, 0, cw, c->rows);
    hd_lower_loop(w, 4, sides, (v[sides - 1].at - v->at) / k, each * cw, each * c->rows);
    hd_lower_loop(w, 5, gates, 0, all * cw, all * c->rows);
    for (int i = 0; i < sides; i++) hd_cell_touch_xm(c, &v[i], (int64_t)cw * k, false);
    hd_ops_touch(&w->s, HD_SPACE_WM, wm, wm + (int64_t)n * cw, false);
    for (int s = 0; s < v->n; s++)
        hd_ops_touch(&w->s, HD_SPACE_AM, am + s * steps, am + s * steps + n * c->rows, true);
    return hd_ops_end(&w->s);
}

/* Products of output tiles [nt, nt + n), whose weights are there: of as many gates, sides and steps
 * at once as one operation has loops for. */
static hd_status gemms(struct hd_cell *c, int part, const struct hd_cell_rows *v, int64_t wm,
                       int nt, int n, int64_t am) {
    int all = c->r->vectors, nh = all / c->r->sides, cw = part ? c->r->cwh : c->r->cwx;
    int64_t k = c->w->m->k;
    bool both = v->n == 1 && llabs(v[c->r->sides - 1].at - v->at) / k <= STEP_MAX;
    for (int end = nt + n, m; nt < end;
         nt += m, wm += (int64_t)m * cw, am += (int64_t)m * c->rows) {
        struct hd_cell_rows one = v[nt / nh % c->r->sides];
        if (c->r->sides > 1 && both && nt % all == 0 && end - nt >= all) {
            m = (end - nt) / all * all;
            TRY(gemm(c, part, v, wm, m, true, am));
            continue;
        }
        m = c->r->sides == 1 ? end - nt : (int)hd_min(end - nt, nh - nt % nh);
        TRY(gemm(c, part, &one, wm, m, false, am));
    }
    return HD_OK;
}

/* Products of output tiles [nt, nt + n): weights that are there at once, others as they come. */
static hd_status product(struct hd_cell *c, int part, const struct hd_cell_rows *v, int nt, int n,
                         int64_t am) {
    int cw = part ? c->r->cwh : c->r->cwx;
    int stay = part ? c->rt->r_stay : c->rt->w_stay ? hd_cell_tiles(c) : 0;
    for (int end = nt + n, m; nt < end; nt += m, am += (int64_t)m * c->rows) {
        int64_t wm = c->wm[part] + (int64_t)nt * cw;
        if (nt < c->loaded[part]) {
            m = (int)hd_min(end, c->loaded[part]) - nt;
        } else if (nt < stay) {
            m = (int)hd_min(hd_min(end, stay) - nt, hd_max(1, nt)); /* work begins with the first */
            TRY(load_tiles(c, part, nt, m, wm));
            c->loaded[part] = nt + m;
        } else {
            m = (int)hd_min(end - nt,
                            hd_max(1, c->wm_ring.size / hd_knob(c->w->lo)->gate_load / cw));
            wm = hd_ring_take(c->w, &c->wm_ring, (int64_t)m * cw);
            TRY(load_tiles(c, part, nt, m, wm));
        }
        TRY(gemms(c, part, v, wm, nt, m, am));
    }
    return HD_OK;
}

hd_status hd_cell_gate_products(struct hd_cell *c, int gate, int n, const struct hd_cell_rows *h) {
    return product(c, OF_H, h, gate * c->r->vectors, n * c->r->vectors, c->sums + gate * c->q);
}

hd_status hd_cell_gate_product(struct hd_cell *c, int gate, const struct hd_cell_rows *h) {
    return hd_cell_gate_products(c, gate, 1, h);
}

/* ---- vectors ---- */

/* Results that go to c->now are of `sides` sides from `side` on. */
static hd_status map(struct hd_cell *c, struct hd_cell_map m, int side, int sides) {
    struct hd_lowerer *w = c->w;
    const struct hd_cell_rows *y = &c->now[side];
    int nh = m.tiles ? m.tiles : c->r->vectors, lanes = (int)w->m->n;
    if (m.to_y) nh /= c->r->sides;
    bool loops = m.pm || m.to_y; /* else vectors follow each other */
    int64_t inner = loops ? c->rows : c->rows * nh, outer = loops ? nh : 1;
    int64_t n = m.to_y ? sides : m.n > 1 ? m.n : 1, extent = (int64_t)c->rows * nh;
    int64_t steps = m.to_y ? extent : c->r->gates * c->q;
    float a_scale = m.a_scale != 0 ? m.a_scale : 1, b_scale = m.b_scale != 0 ? m.b_scale : 1;
    hd_lower_begin(w, HD_UNIT_vx, HD_OP_vx_map);
    hd_lower_set(w, HD_F_vx_a_kind, m.a_kind);
    hd_lower_set(w, HD_F_vx_b_kind, m.alu ? HD_V_vx_kind_am_f32 : HD_V_vx_kind_zero);
    hd_lower_set(w, HD_F_vx_use_bias, m.pm != 0), hd_lower_set(w, HD_F_vx_scale_pm, m.pm != 0);
    hd_lower_set(w, HD_F_vx_alu, m.alu), hd_lower_set(w, HD_F_vx_fn, m.fn);
    hd_lower_set(w, HD_F_vx_d_kind, m.to_y ? HD_V_vx_dest_xm : HD_V_vx_dest_am_f32);
    hd_lower_set(w, HD_F_vx_a, m.a), hd_lower_set(w, HD_F_vx_b, m.alu ? m.b : 0);
    hd_lower_set(w, HD_F_vx_d, m.to_y ? y->at / lanes : m.d);
    hd_lower_set(w, HD_F_vx_p, m.pm ? m.pm - 1 : 0);
    int64_t row = outer > 1 ? c->rows : 0, step = n > 1 ? steps : 0; /* of what lies in AM */
    hd_lower_map_loop(w, 0, inner, 1, m.alu != 0,
                      m.to_y ? (c->rows > 1 ? y->pitch / lanes : 0) : 1);
    hd_lower_map_loop(w, 1, outer, row, m.alu ? row : 0, m.to_y ? outer > 1 : row);
    hd_lower_map_loop(w, 2, n, step, m.alu ? step : 0,
                      m.to_y && n > 1 ? (y[1].at - y->at) / lanes : step);
    hd_lower_map_loop(w, 3, 1, 0, 0, 0);
    hd_lower_set(w, HD_F_vx_ps1, m.pm && outer > 1);
    hd_lower_set(w, HD_F_vx_a_scale, hd_lower_f32_bits(a_scale));
    hd_lower_set(w, HD_F_vx_b_scale, hd_lower_f32_bits(b_scale));
    if (m.to_y) hd_lower_set_requant(w);
    for (int64_t s = 0; s < n; s++) {
        int64_t at = s * steps;
        if (m.a_kind != HD_V_vx_kind_zero)
            hd_ops_touch(&w->s, HD_SPACE_AM, m.a + at, m.a + at + extent, false);
        if (m.alu) hd_ops_touch(&w->s, HD_SPACE_AM, m.b + at, m.b + at + extent, false);
        if (!m.to_y) hd_ops_touch(&w->s, HD_SPACE_AM, m.d + at, m.d + at + extent, true);
        if (m.to_y) hd_cell_touch_xm(c, &y[s], c->y->bytes, true);
    }
    if (m.pm) hd_ops_touch(&w->s, HD_SPACE_PM, m.pm - 1, m.pm - 1 + nh, false);
    return hd_ops_end(&w->s);
}

hd_status hd_cell_map(struct hd_cell *c, struct hd_cell_map m) {
    int sides = c->r->sides;
    int64_t apart = llabs(c->now[sides - 1].at - c->now[0].at) / (int64_t)c->w->m->n;
    if (!m.to_y || apart <= STEP_MAX) return map(c, m, 0, sides);
    for (int side = 0; side < sides; side++, m.a += c->q / sides, m.b += c->q / sides)
        TRY(map(c, m, side, 1));
    return HD_OK;
}

/* d = fn(sums of h of n gates from g + products of x of step i), in binary32. */
hd_status hd_cell_gates(struct hd_cell *c, int i, int g, int n, int fn, int64_t d) {
    int at_once = c->rt->pm_stay ? n : 1;
    for (int k = 0; k < n; k += at_once) {
        int64_t pm, at = (g + k) * c->q;
        TRY(hd_cell_params(c, OF_H, g + k, &pm));
        TRY(hd_cell_map(c, (struct hd_cell_map){.alu = HD_V_vx_alu_add,
                                                .fn = fn,
                                                .a_kind = HD_V_vx_kind_am_int32,
                                                .a = c->sums + at,
                                                .pm = pm + 1,
                                                .b = hd_cell_slot(c, i) + at,
                                                .d = d + k * c->q,
                                                .tiles = at_once * c->r->vectors}));
    }
    return HD_OK;
}

hd_status hd_cell_gate(struct hd_cell *c, int i, int g, int fn, int64_t d) {
    return hd_cell_gates(c, i, g, 1, fn, d);
}

hd_status hd_cell_combine(struct hd_cell *c, int alu, int fn, int64_t a, int64_t b, int64_t d) {
    struct hd_cell_map m = {.alu = alu, .fn = fn, .a_kind = HD_V_vx_kind_am_f32, .b = b, .d = d};
    m.a = a;
    return hd_cell_map(c, m);
}

hd_status hd_cell_to_y(struct hd_cell *c, int64_t a) {
    struct hd_cell_map m = {.a_kind = HD_V_vx_kind_am_f32, .a = a, .to_y = true};
    m.a_scale = c->r->scale;
    return hd_cell_map(c, m);
}

hd_status hd_cell_mul_to_y(struct hd_cell *c, int fn, int64_t a, int64_t b) {
    struct hd_cell_map m = {.alu = HD_V_vx_alu_mul, .fn = fn, .a_kind = HD_V_vx_kind_am_f32};
    m.a = a, m.b = b, m.b_scale = c->r->scale, m.to_y = true;
    return hd_cell_map(c, m);
}

/* ---- products of x ---- */

/* Rows of x of steps i .. i + n - 1 of a side, in XM. */
static hd_status rows_of_side(struct hd_cell *c, int side, int i, int n, struct hd_cell_rows *out) {
    struct hd_lowerer *w = c->w;
    const struct hd_mtensor *x = c->x;
    const struct hd_placement *xp = c->xp;
    bool backwards = hd_cell_backwards(c, side);
    int batch = c->r->batch, low = backwards ? hd_cell_step_of(c, side, i + n - 1) : i;
    int64_t row = (int64_t)low * batch + c->b0;
    struct hd_cell_rows v = {.n = n, .pitch = x->bytes, .step = (int64_t)c->rows * x->bytes};
    if (xp->resident) {
        struct hd_view in;
        TRY(hd_lower_input(w, 0, 0, (int)row, 0, (n - 1) * batch + c->rows, 1, &in));
        v.at = in.at, v.pitch = in.pitch, v.step = (int64_t)batch * in.pitch;
    } else {
        v.at = hd_ring_take(w, &w->xm_in[HD_RING_MX], n * v.step);
        TRY(hd_cell_move(c, (struct hd_cell_move){.seg = HD_V_seg_arena,
                                                  .dram = (int64_t)xp->arena + row * x->cp,
                                                  .chip = v.at,
                                                  .run = x->bytes,
                                                  .n = {c->rows, n},
                                                  .dram_step = {x->cp, (int64_t)batch * x->cp},
                                                  .chip_step = {v.pitch, v.step}}));
    }
    if (backwards) v.at += (n - 1) * v.step, v.step = -v.step;
    *out = v;
    return HD_OK;
}

static hd_status rows_of_x(struct hd_cell *c, int i, int n, struct hd_cell_rows *out) {
    for (int side = 0; side < c->r->sides; side++) TRY(rows_of_side(c, side, i, n, &out[side]));
    return HD_OK;
}

/* Bias and scale of output tiles [nt, nt + count), of one gate where parameters do not stay:
 * binary32 from here on. */
static hd_status scale_of_x(struct hd_cell *c, int i, int n, int nt, int count) {
    int64_t pm, at = hd_cell_slot(c, i) + (int64_t)nt * c->rows;
    TRY(hd_cell_params(c, OF_X, nt / c->r->vectors, &pm));
    return hd_cell_map(c, (struct hd_cell_map){.a_kind = HD_V_vx_kind_am_int32,
                                               .a = at,
                                               .d = at,
                                               .pm = pm + nt % c->r->vectors + 1,
                                               .tiles = count,
                                               .n = n});
}

/* Products of x of n steps, scaled: in pieces, so that the vector unit is not far behind. Steps too
 * far apart for one operation come one by one. */
hd_status hd_cell_block_of_x(struct hd_cell *c, int i, int n) {
    int piece = (int)hd_max(1, c->rt->pm_stay ? c->r->vectors / 2 : c->r->vectors),
        nts = hd_cell_tiles(c);
    struct hd_cell_rows v[2];
    TRY(rows_of_x(c, i, n, v));
    bool far = llabs(v->step) / c->w->m->k > STEP_MAX || c->r->gates * c->q > STEP_MAX;
    if (n > 1 && far) {
        for (int s = 0; s < n; s++) TRY(hd_cell_block_of_x(c, i + s, 1));
        return HD_OK;
    }
    for (int nt = 0, m; nt < nts; nt += m) { /* a piece does not reach into the next gate */
        m = (int)hd_min(piece, c->r->vectors - nt % c->r->vectors);
        TRY(product(c, OF_X, v, nt, m, hd_cell_slot(c, i) + (int64_t)nt * c->rows));
        TRY(scale_of_x(c, i, n, nt, m));
    }
    return HD_OK;
}

hd_status hd_cell_scale_of_filler(struct hd_cell *c, int i) {
    int count = c->rt->pm_stay ? hd_cell_tiles(c) : c->r->vectors;
    for (int nt = 0; nt < hd_cell_tiles(c); nt += count) TRY(scale_of_x(c, i, 1, nt, count));
    return HD_OK;
}

/* Whether step i is followed by the products of x of a later one. */
bool hd_cell_fills(const struct hd_cell *c, int i) {
    return c->rt->w_stay && c->rt->ahead > 1 && i > 0 && i + c->rt->ahead - 1 < c->r->steps;
}

/* Behind the last product of step i: work for the matrix unit while it would wait for the gates. */
hd_status hd_cell_filler(struct hd_cell *c, int i) {
    struct hd_cell_rows v[2];
    int later = i + c->rt->ahead - 1;
    if (!hd_cell_fills(c, i)) return HD_OK;
    TRY(rows_of_x(c, later, 1, v));
    return product(c, OF_X, v, 0, hd_cell_tiles(c), hd_cell_slot(c, later));
}
