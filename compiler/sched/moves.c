/* Movement of data: LX builds rows of the result from the operands in the arena (tile/move.c). */
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
    hd_low_begin(w, HD_UNIT_lx, HD_OP_lx_load);
    hd_low_set(w, HD_F_lx_seg, !x->constant);
    hd_low_set(w, HD_F_lx_src, (int64_t)x->arena + t->src);
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
        hd_sched_touch(&w->s, HD_SPACE_ARENA, (int64_t)x->arena + a, (int64_t)x->arena + b + t->run,
                       false);
    hd_low_touch(w, out, true);
    return hd_sched_end(&w->s);
}

hd_status hd_low_move(struct hd_lowerer *w, struct hd_tile *t) {
    const struct hd_layer *l = w->l;
    const struct hd_mtensor *y = hd_low_tensor(w, l->out);
    struct hd_view out = hd_low_output(w, t->img, t->y, 0, t->th, y->w, y->cp);
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
