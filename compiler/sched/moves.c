/* Movement of data: LX builds rows of the result from the operands in the arena, or bands of them
 * that VX turns (tile/move.c). */
#include "compiler/sched/lower.h"
#include "runtime/base/num.h"

/* How many rows from `row` on have the same transfers, each a constant distance further. */
static int alike(const struct hd_move_rows *m, int row, int most) {
    const struct hd_transfer *a = &m->list[m->first[row]];
    size_t n = m->first[row + 1] - m->first[row];
    int rows = 1;
    for (; rows < most; rows++) {
        const struct hd_transfer *b = &m->list[m->first[row + rows]], *c = b - n;
        if (m->first[row + rows + 1] - m->first[row + rows] != n) return rows;
        for (size_t i = 0; i < n; i++) {
            bool same = a[i].input == b[i].input && a[i].run == b[i].run && a[i].n1 == b[i].n1 &&
                        a[i].s1 == b[i].s1 && a[i].d1 == b[i].d1 && a[i].dst == b[i].dst;
            if (!same || b[i].src - c[i].src != m->list[m->first[row + 1] + i].src - a[i].src)
                return rows;
        }
    }
    return rows;
}

static hd_status transfer(struct hd_lowerer *w, const struct hd_transfer *t, int64_t row_step,
                          int rows, uint32_t to, const struct hd_view *out) {
    const struct hd_mtensor *x = hd_low_tensor(w, w->l->in[t->input]);
    const struct hd_placement *xp = hd_low_place(w, w->l->in[t->input]);
    hd_low_begin(w, HD_UNIT_lx, HD_OP_lx_load);
    hd_low_set(w, HD_F_lx_seg, x->constant ? HD_V_seg_image : HD_V_seg_arena);
    hd_low_set(w, HD_F_lx_src, (int64_t)xp->arena + t->src);
    hd_low_set(w, HD_F_lx_dst, to + (uint32_t)t->dst);
    hd_low_set(w, HD_F_lx_run, t->run);
    hd_low_set(w, HD_F_lx_n1, t->n1);
    hd_low_set(w, HD_F_lx_n2, rows);
    hd_low_set(w, HD_F_lx_n3, 1);
    hd_low_set(w, HD_F_lx_s1, t->s1);
    hd_low_set(w, HD_F_lx_d1, t->d1);
    hd_low_set(w, HD_F_lx_s2, row_step);
    hd_low_set(w, HD_F_lx_d2, out->pitch);
    int64_t a = t->src, b = t->src, ways[2] = {(t->n1 - 1) * t->s1, (rows - 1) * row_step};
    for (int i = 0; i < 2; i++) *(ways[i] < 0 ? &a : &b) += ways[i];
    if (!x->constant)
        hd_sched_touch(&w->s, HD_SPACE_ARENA, (int64_t)xp->arena + a,
                       (int64_t)xp->arena + b + t->run, false);
    hd_low_touch(w, out, true);
    return hd_sched_end(&w->s);
}

/* Loops 0 to 2 of a VX operation that copies bytes: iterations, steps of A and of the result. */
static hd_status copy(struct hd_lowerer *w, const struct hd_view *from, const struct hd_view *to,
                      int d_kind, const int loops[3][3]) {
    static const enum hd_field n[] = {HD_F_vx_n0, HD_F_vx_n1, HD_F_vx_n2},
                               as[] = {HD_F_vx_as0, HD_F_vx_as1, HD_F_vx_as2},
                               ds[] = {HD_F_vx_ds0, HD_F_vx_ds1, HD_F_vx_ds2};
    hd_low_begin(w, HD_UNIT_vx, HD_OP_vx_map);
    hd_low_operand_a(w);
    hd_low_set(w, HD_F_vx_d_kind, d_kind);
    hd_low_set(w, HD_F_vx_a, from->at / w->m->n);
    hd_low_set(w, HD_F_vx_d, to->at / w->m->n);
    for (int i = 0; i < 3; i++) {
        hd_low_set(w, n[i], loops[i][0]);
        hd_low_set(w, as[i], loops[i][1]);
        hd_low_set(w, ds[i], loops[i][2]);
    }
    hd_low_set(w, HD_F_vx_n3, 1);
    hd_low_touch(w, from, false);
    hd_low_touch(w, to, true);
    return hd_sched_end(&w->s);
}

/* VX turns blocks [first, first + blocks) of a slice of a band into pixels from `pixel` on, cp
 * bytes each. */
static hd_status turn(struct hd_lowerer *w, const struct hd_view *slice, int first, int blocks,
                      const struct hd_view *to, int pixel) {
    int n = (int)w->m->n, vectors = slice->rows / n;
    struct hd_view from = *slice, pixels = *to;
    from.at += (uint32_t)(first * n), from.cols = blocks * n;
    pixels.at += (uint32_t)(pixel * to->cp), pixels.rows = 1, pixels.cols = blocks * n;
    return copy(w, &from, &pixels, 3,
                (const int[3][3]){{n, slice->pitch / n, to->cp / n},
                                  {vectors, slice->pitch, 1},
                                  {blocks, 1, to->cp}});
}

/* Channels of slice s of rows [row, row + rows) of the result, to `out`. */
static hd_status turned_slice(struct hd_lowerer *w, int row, int rows, int s,
                              const struct hd_view *out) {
    const struct hd_move_rows *m = &w->l->turned;
    const struct hd_mtensor *y = hd_low_tensor(w, w->l->out);
    int n = (int)w->m->n, pixels = rows * y->w, columns = hd_turned_columns(w->m, pixels);
    int c = s * m->slice, high = (int)hd_min(m->slice, y->cp - c);
    int64_t size = (int64_t)m->slice * columns;
    struct hd_view slice = {.at = (uint32_t)hd_ring_take(&w->xm_in[HD_RING_MX], size),
                            .pitch = columns,
                            .cp = 1,
                            .rows = high,
                            .cols = columns};
    int from = m->holes ? 0 : (int)hd_max(0, y->c - c); /* channels that come from nowhere */
    if (from < high)
        TRY(hd_low_fill(w, w->l->pad_value, slice.at + (uint32_t)(from * columns), columns,
                        high - from, columns));
    const size_t *first = &m->first[row * m->slices + s];
    for (size_t i = first[0]; i < first[1]; i++)
        TRY(transfer(w, &m->list[i], 0, 1, slice.at, &slice));
    bool dense = pixels >= n && (rows == 1 || out->pitch == y->w * y->cp);
    struct hd_view to = *out, apart;
    to.at += (uint32_t)c, to.channels = high;
    apart = to;
    if (!dense) {
        apart.at = (uint32_t)hd_ring_take(&w->xm_in[HD_RING_MX], size);
        apart.pitch = y->w * high, apart.cp = high, apart.channels = 0;
    }
    int tail = pixels > n ? pixels % n : 0;
    TRY(turn(w, &slice, 0, (columns - (tail ? n : 0)) / n, &apart, 0));
    if (tail) TRY(turn(w, &slice, columns / n - 1, 1, &apart, pixels - n));
    if (dense) return HD_OK;
    int v = high / n;
    return copy(
        w, &apart, &to, 0,
        (const int[3][3]){{v, 1, 1}, {y->w, v, out->cp / n}, {rows, y->w * v, out->pitch / n}});
}

/* Rows [row, row + rows) of the result, to `out`. */
static hd_status turned(struct hd_lowerer *w, int row, int rows, const struct hd_view *out) {
    for (int s = 0; s < w->l->turned.slices; s++) TRY(turned_slice(w, row, rows, s, out));
    return HD_OK;
}

static hd_status turned_tile(struct hd_lowerer *w, const struct hd_tile *t,
                             const struct hd_view *out) {
    int high = hd_low_tensor(w, w->l->out)->h;
    for (int r = 0, n; r < t->th; r += n) {
        struct hd_view to = *out;
        n = (int)hd_min(w->l->turned.band, t->th - r);
        to.at += (uint32_t)(r * out->pitch), to.y += r, to.rows = n;
        TRY(turned(w, t->img * high + t->y + r, n, &to));
    }
    return hd_low_store(w, t->img, out, 0, hd_low_tensor(w, w->l->out)->cp);
}

hd_status hd_low_move(struct hd_lowerer *w, struct hd_tile *t) {
    const struct hd_layer *l = w->l;
    const struct hd_tiling *lt = w->lt;
    const struct hd_mtensor *y = hd_low_tensor(w, l->out);
    struct hd_view out = hd_low_output(w, t->img, t->y, 0, t->th, y->w, y->cp);
    if (lt->turns) return turned_tile(w, t, &out);
    if (l->move.fills)
        TRY(hd_low_fill(w, l->pad_value, out.at, (int64_t)y->w * y->cp, t->th, out.pitch));
    for (int r = 0, n; r < t->th; r += n) {
        int row = t->img * y->h + t->y + r;
        size_t first = l->move.first[row], count = l->move.first[row + 1] - first;
        n = alike(&l->move, row, t->th - r);
        for (size_t i = 0; i < count; i++) {
            const struct hd_transfer *one = &l->move.list[first + i];
            TRY(transfer(w, one, n > 1 ? one[count].src - one->src : 0, n,
                         out.at + (uint32_t)(r * out.pitch), &out));
        }
    }
    return hd_low_store(w, t->img, &out, 0, y->cp);
}
