/* Recurrent layers: products of x and h, and what the vector unit makes of them. */
#include "compiler/kind/recurrent.h"

#include <stdlib.h>

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
    if (c->rt->pm_stay) {
        *out = c->pm + first;
        if (c->pm_loaded[part]) return HD_OK;
        c->pm_loaded[part] = true;
        first = part * hd_cell_tiles(c), n = hd_cell_tiles(c);
        hd_lower_load_words(c->w, HD_V_lw_mem_pm,
                            c->r->image[c->d].p + (size_t)first * hd_pm_word_bytes(c->w->m),
                            c->pm + first, n, 1, 0, 0);
        return hd_ops_end(&c->w->s);
    }
    *out = hd_ring_take(c->w, &c->w->pm, n);
    hd_lower_load_words(c->w, HD_V_lw_mem_pm,
                        c->r->image[c->d].p + (size_t)first * hd_pm_word_bytes(c->w->m), *out, n, 1,
                        0, 0);
    return hd_ops_end(&c->w->s);
}

static void set_loop(struct hd_lowerer *w, int i, int64_t n, int64_t xs, int64_t ws, int64_t as) {
    static const enum hd_field first[] = {HD_F_mx_n0, HD_F_mx_n1, HD_F_mx_n2,
                                          HD_F_mx_n3, HD_F_mx_n4, HD_F_mx_n5};
    hd_lower_set(w, first[i], n); /* the four fields of a loop follow each other in isa.def */
    hd_lower_set(w, (enum hd_field)(first[i] + 1), n > 1 ? xs : 0);
    hd_lower_set(w, (enum hd_field)(first[i] + 2), n > 1 ? ws : 0);
    hd_lower_set(w, (enum hd_field)(first[i] + 3), n > 1 ? as : 0);
}

/* AM[am + tile * rows + row + step * gates * q] = products of n output tiles from WM word wm. */
static hd_status gemm(struct hd_cell *c, int part, const struct hd_cell_rows *v, int64_t wm, int n,
                      int64_t am) {
    struct hd_lowerer *w = c->w;
    int k = (int)w->m->k, cw = part ? c->r->cwh : c->r->cwx;
    int64_t steps = c->r->gates * c->q;
    hd_lower_begin(w, HD_UNIT_mx, HD_OP_mx_gemm);
    hd_lower_set(w, HD_F_mx_nred, 1);
    hd_lower_set(w, HD_F_mx_x_unsigned, (part ? c->y : c->x)->is_unsigned);
    hd_lower_set(w, HD_F_mx_x, v->at / k);
    hd_lower_set(w, HD_F_mx_w, wm);
    hd_lower_set(w, HD_F_mx_a, am);
    set_loop(w, 0, cw, 1, 1, 0);
    set_loop(w, 1, c->rows, v->pitch / k, 0, 1);
    set_loop(w, 2, v->n, v->step / k, 0, steps);
    set_loop(w, 3, n, 0, cw, c->rows);
    set_loop(w, 4, 1, 0, 0, 0), set_loop(w, 5, 1, 0, 0, 0);
    hd_cell_touch_xm(c, v, (int64_t)cw * k, false);
    hd_ops_touch(&w->s, HD_SPACE_WM, wm, wm + (int64_t)n * cw, false);
    for (int s = 0; s < v->n; s++)
        hd_ops_touch(&w->s, HD_SPACE_AM, am + s * steps, am + s * steps + n * c->rows, true);
    return hd_ops_end(&w->s);
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
            m = (int)hd_min(hd_min(end, stay) - nt,
                            hd_ceil_div(hd_cell_tiles(c), hd_knob(c->w->lo)->first_loads));
            m = (int)hd_min(m, hd_max(1, nt)); /* work begins with the first tile */
            TRY(load_tiles(c, part, nt, m, wm));
            c->loaded[part] = nt + m;
        } else {
            m = (int)hd_min(end - nt,
                            hd_max(1, c->wm_ring.size / hd_knob(c->w->lo)->gate_load / cw));
            wm = hd_ring_take(c->w, &c->wm_ring, (int64_t)m * cw);
            TRY(load_tiles(c, part, nt, m, wm));
        }
        bool at_once = v->n == 1 ||
                       (llabs(v->step) / c->w->m->k <= STEP_MAX && c->r->gates * c->q <= STEP_MAX);
        struct hd_cell_rows one = *v;
        if (at_once) {
            TRY(gemm(c, part, v, wm, m, am));
            continue;
        }
        one.n = 1;
        for (int s = 0; s < v->n; s++, one.at += one.step)
            TRY(gemm(c, part, &one, wm, m, am + s * c->r->gates * c->q));
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

hd_status hd_cell_map(struct hd_cell *c, struct hd_cell_map m) {
    struct hd_lowerer *w = c->w;
    int nh = m.tiles ? m.tiles : c->r->vectors, lanes = (int)w->m->n;
    bool loops = m.pm || m.to_y; /* else vectors follow each other */
    int64_t inner = loops ? c->rows : c->rows * nh, outer = loops ? nh : 1;
    int64_t n = m.n > 1 ? m.n : 1, steps = c->r->gates * c->q, extent = (int64_t)c->rows * nh;
    float a_scale = m.a_scale != 0 ? m.a_scale : 1, b_scale = m.b_scale != 0 ? m.b_scale : 1;
    hd_lower_begin(w, HD_UNIT_vx, HD_OP_vx_map);
    hd_lower_set(w, HD_F_vx_a_kind, m.a_kind);
    hd_lower_set(w, HD_F_vx_b_kind, m.alu ? HD_V_vx_kind_am_f32 : HD_V_vx_kind_zero);
    hd_lower_set(w, HD_F_vx_use_bias, m.pm != 0), hd_lower_set(w, HD_F_vx_scale_pm, m.pm != 0);
    hd_lower_set(w, HD_F_vx_alu, m.alu), hd_lower_set(w, HD_F_vx_fn, m.fn);
    hd_lower_set(w, HD_F_vx_d_kind, m.to_y ? HD_V_vx_dest_xm : HD_V_vx_dest_am_f32);
    hd_lower_set(w, HD_F_vx_a, m.a), hd_lower_set(w, HD_F_vx_b, m.alu ? m.b : 0);
    hd_lower_set(w, HD_F_vx_d, m.to_y ? c->now.at / lanes : m.d);
    hd_lower_set(w, HD_F_vx_p, m.pm ? m.pm - 1 : 0);
    hd_lower_set(w, HD_F_vx_n0, inner), hd_lower_set(w, HD_F_vx_as0, 1);
    hd_lower_set(w, HD_F_vx_bs0, m.alu != 0);
    hd_lower_set(w, HD_F_vx_ds0, m.to_y ? (c->rows > 1 ? c->now.pitch / lanes : 0) : 1);
    hd_lower_set(w, HD_F_vx_n1, outer), hd_lower_set(w, HD_F_vx_as1, outer > 1 ? c->rows : 0);
    hd_lower_set(w, HD_F_vx_bs1, outer > 1 && m.alu ? c->rows : 0);
    hd_lower_set(w, HD_F_vx_ds1, outer == 1 ? 0 : m.to_y ? 1 : c->rows);
    hd_lower_set(w, HD_F_vx_ps1, m.pm && outer > 1);
    hd_lower_set(w, HD_F_vx_n2, n);
    hd_lower_set(w, HD_F_vx_as2, n > 1 ? steps : 0),
        hd_lower_set(w, HD_F_vx_ds2, n > 1 ? steps : 0);
    hd_lower_set(w, HD_F_vx_n3, 1);
    hd_lower_set(w, HD_F_vx_a_scale, hd_lower_f32_bits(a_scale));
    hd_lower_set(w, HD_F_vx_b_scale, hd_lower_f32_bits(b_scale));
    if (m.to_y) hd_lower_set_requant(w);
    for (int64_t s = 0; s < n; s++) {
        int64_t at = s * steps;
        if (m.a_kind != HD_V_vx_kind_zero)
            hd_ops_touch(&w->s, HD_SPACE_AM, m.a + at, m.a + at + extent, false);
        if (!m.to_y) hd_ops_touch(&w->s, HD_SPACE_AM, m.d + at, m.d + at + extent, true);
    }
    if (m.alu) hd_ops_touch(&w->s, HD_SPACE_AM, m.b, m.b + extent, false);
    if (m.pm) hd_ops_touch(&w->s, HD_SPACE_PM, m.pm - 1, m.pm - 1 + nh, false);
    if (m.to_y) hd_cell_touch_xm(c, &c->now, c->y->bytes, true);
    return hd_ops_end(&w->s);
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

hd_status hd_cell_combine(struct hd_cell *c, int alu, int64_t a, int64_t b, int64_t d) {
    return hd_cell_map(
        c, (struct hd_cell_map){.alu = alu, .a_kind = HD_V_vx_kind_am_f32, .a = a, .b = b, .d = d});
}

/* ---- products of x ---- */

/* Rows of x of steps i .. i + n - 1, in XM. */
static hd_status rows_of_x(struct hd_cell *c, int i, int n, struct hd_cell_rows *out) {
    struct hd_lowerer *w = c->w;
    const struct hd_mtensor *x = c->x;
    const struct hd_placement *xp = c->xp;
    int batch = c->r->batch, low = c->backwards ? hd_cell_step_of(c, i + n - 1) : i;
    int row = low * batch + c->b0;
    struct hd_cell_rows v = {.n = n, .pitch = x->bytes, .step = (int64_t)c->rows * x->bytes};
    if (xp->resident) {
        struct hd_view in;
        TRY(hd_lower_input(w, 0, 0, row, 0, (n - 1) * batch + c->rows, 1, &in));
        v.at = in.at, v.pitch = in.pitch, v.step = (int64_t)batch * in.pitch;
    } else {
        int64_t src = (int64_t)xp->arena + (int64_t)row * x->cp;
        v.at = hd_ring_take(w, &w->xm_in[HD_RING_MX], n * v.step);
        hd_lower_begin(w, HD_UNIT_lx, HD_OP_lx_load);
        hd_lower_set(w, HD_F_lx_seg, HD_V_seg_arena);
        hd_lower_set(w, HD_F_lx_src, src), hd_lower_set(w, HD_F_lx_dst, v.at);
        hd_lower_set(w, HD_F_lx_run, x->bytes), hd_lower_set(w, HD_F_lx_n1, c->rows);
        hd_lower_set(w, HD_F_lx_n2, n), hd_lower_set(w, HD_F_lx_n3, 1),
            hd_lower_set(w, HD_F_lx_ys, 1);
        hd_lower_set(w, HD_F_lx_s1, x->cp), hd_lower_set(w, HD_F_lx_d1, v.pitch);
        hd_lower_set(w, HD_F_lx_s2, (int64_t)batch * x->cp), hd_lower_set(w, HD_F_lx_d2, v.step);
        hd_ops_touch(&w->s, HD_SPACE_ARENA, src,
                     src + ((int64_t)(n - 1) * batch + c->rows - 1) * x->cp + x->bytes, false);
        hd_cell_touch_xm(c, &v, x->bytes, true);
        TRY(hd_ops_end(&w->s));
    }
    if (c->backwards) v.at += (n - 1) * v.step, v.step = -v.step;
    *out = v;
    return HD_OK;
}

/* Bias and scale of output tiles [nt, nt + count), of one gate where parameters do not stay:
 * binary32 from here on. */
static hd_status scale_of_x(struct hd_cell *c, int i, int n, int nt, int count) {
    bool at_once = n == 1 || c->r->gates * c->q <= STEP_MAX;
    int64_t pm;
    TRY(hd_cell_params(c, OF_X, nt / c->r->vectors, &pm));
    for (int s = 0; s < n; s += at_once ? n : 1) {
        int64_t at = hd_cell_slot(c, i + s) + (int64_t)nt * c->rows;
        TRY(hd_cell_map(c, (struct hd_cell_map){.a_kind = HD_V_vx_kind_am_int32,
                                                .a = at,
                                                .d = at,
                                                .pm = pm + nt % c->r->vectors + 1,
                                                .tiles = count,
                                                .n = at_once ? n : 1}));
    }
    return HD_OK;
}

/* Products of x of n steps, scaled: in pieces, so that the vector unit is not far behind. */
hd_status hd_cell_block_of_x(struct hd_cell *c, int i, int n) {
    int piece = (int)hd_max(1, c->rt->pm_stay ? c->r->vectors / 2 : c->r->vectors),
        nts = hd_cell_tiles(c);
    struct hd_cell_rows v = {0};
    TRY(rows_of_x(c, i, n, &v));
    for (int nt = 0, m; nt < nts; nt += m) { /* a piece does not reach into the next gate */
        m = (int)hd_min(piece, c->r->vectors - nt % c->r->vectors);
        TRY(product(c, OF_X, &v, nt, m, hd_cell_slot(c, i) + (int64_t)nt * c->rows));
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
    struct hd_cell_rows v = {0};
    int later = i + c->rt->ahead - 1;
    if (!hd_cell_fills(c, i)) return HD_OK;
    TRY(rows_of_x(c, later, 1, &v));
    return product(c, OF_X, &v, 0, hd_cell_tiles(c), hd_cell_slot(c, later));
}
