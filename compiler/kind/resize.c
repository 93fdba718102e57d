/* Linear resize of a tile: rows first, two of them weighted and added into binary32 in AM, then
 * columns of those. Results that lie in the same way between their neighbours, such as every second
 * one where an image becomes twice as large, are one operation. */
#include "compiler/kind/kinds.h"
#include "runtime/base/num.h"

/* hd_layer.own, of rows and of columns: results lie between place at[i] and the one behind it,
 * by[2i] and [2i + 1] of each. */
struct between {
    const int32_t *at;
    const float *by;
};

static const struct between *between(const struct hd_layer *l, int way) {
    return (const struct between *)l->own + way;
}

/* Rows (columns: way 1) that results [o, o + n) lie between, the first of them in *first. */
static int reads_of(const struct hd_layer *l, int way, int size, int o, int n, int *first) {
    const int32_t *at = between(l, way)->at;
    *first = at[o];
    return (int)hd_min(at[o + n - 1] + 2, size) - *first;
}

enum { BEGIN = 20 }; /* cycles of an operation of VX until its results are there */

struct group { /* results first, first + step, ..: n of them */
    int first, step, n;
    int from, behind; /* what the first one lies between, counted from what the tile reads */
    int from_step;    /* and how much further the next ones do */
    float weight[2];
};

/* Between which of `size` places result o lies. */
static void place(const struct hd_layer *l, int way, int size, int o, int *from, int *behind) {
    *from = between(l, way)->at[o];
    *behind = (int)hd_min(*from + 1, size - 1);
}

static bool same_weights(const struct hd_layer *l, int way, int a, int b) {
    const float *by = between(l, way)->by;
    return by[2 * a] == by[2 * b] && by[2 * a + 1] == by[2 * b + 1];
}

/* The longest group that begins with result o, of those up to `end` that are not done. */
static struct group longest(const struct hd_layer *l, int way, int size, int o, int end,
                            const bool *done) {
    const struct between *b = between(l, way);
    struct group g = {.first = o, .n = 1, .weight = {b->by[2 * o], b->by[2 * o + 1]}};
    place(l, way, size, o, &g.from, &g.behind);
    for (int next = o + 1; next < end && g.n == 1; next++) {
        int from, behind;
        if (done[next] || !same_weights(l, way, o, next)) continue;
        g.step = next - o, g.from_step = b->at[next] - g.from;
        for (int i = next; i < end && !done[i] && same_weights(l, way, o, i); i += g.step) {
            place(l, way, size, i, &from, &behind);
            if (from - g.from != g.n * g.from_step || behind - g.behind != g.n * g.from_step) break;
            g.n++;
        }
    }
    return g;
}

/* Rows [v] of AM: vectors of all columns that the tile reads. */
static hd_status rows(struct hd_lowerer *w, const struct hd_view *in, const struct group *g,
                      int64_t at, int64_t v, int vectors) {
    int n = (int)w->m->n, kind = hd_lower_byte_kind(w, 0);
    int64_t words = (int64_t)in->cols * vectors, a = in->at / (uint32_t)n, pitch = in->pitch / n;
    hd_lower_begin(w, HD_UNIT_vx, HD_OP_vx_map);
    hd_lower_set(w, HD_F_vx_alu, HD_V_vx_alu_add);
    hd_lower_set(w, HD_F_vx_a_kind, kind), hd_lower_set(w, HD_F_vx_b_kind, kind);
    hd_lower_set(w, HD_F_vx_a_imm, w->l->a_imm), hd_lower_set(w, HD_F_vx_b_imm, w->l->a_imm);
    hd_lower_set(w, HD_F_vx_a_scale, hd_lower_f32_bits(g->weight[0]));
    hd_lower_set(w, HD_F_vx_b_scale, hd_lower_f32_bits(g->weight[1]));
    hd_lower_set(w, HD_F_vx_a, a + (g->from - in->y) * pitch);
    hd_lower_set(w, HD_F_vx_b, a + (g->behind - in->y) * pitch);
    hd_lower_set(w, HD_F_vx_d_kind, HD_V_vx_dest_am_f32),
        hd_lower_set(w, HD_F_vx_d, v + (g->first - at) * words);
    hd_lower_map_loop(w, 0, vectors, 1, 1, 1);
    hd_lower_map_loop(w, 1, in->cols, in->cp / n, in->cp / n, vectors);
    hd_lower_map_loop(w, 2, g->n, g->from_step * pitch, g->from_step * pitch, g->step * words);
    hd_lower_map_loop(w, 3, 1, 0, 0, 0);
    hd_lower_touch(w, in, false);
    hd_ops_touch(&w->s, HD_SPACE_AM, v + (g->first - at) * words,
                 v + (g->first - at + (g->n - 1) * g->step + 1) * words, true);
    return hd_ops_end(&w->s);
}

/* The same rows in the other half of AM: VX takes two cycles for two operands of one. */
static hd_status copy_rows(struct hd_lowerer *w, int64_t v, int64_t to, int64_t words) {
    hd_lower_begin(w, HD_UNIT_vx, HD_OP_vx_map);
    hd_lower_set(w, HD_F_vx_a_kind, HD_V_vx_kind_am_f32);
    hd_lower_set(w, HD_F_vx_b_kind, HD_V_vx_kind_zero);
    hd_lower_set(w, HD_F_vx_a_scale, hd_lower_f32_bits(1));
    hd_lower_set(w, HD_F_vx_d_kind, HD_V_vx_dest_am_f32);
    hd_lower_set(w, HD_F_vx_a, v), hd_lower_set(w, HD_F_vx_d, to);
    hd_lower_map_loop(w, 0, words, 1, 0, 1);
    for (int i = 1; i < 4; i++) hd_lower_map_loop(w, i, 1, 0, 0, 0);
    hd_ops_touch(&w->s, HD_SPACE_AM, v, v + words, false);
    hd_ops_touch(&w->s, HD_SPACE_AM, to, to + words, true);
    return hd_ops_end(&w->s);
}

/* Columns of rows that lie at v and at u of AM. */
static hd_status columns(struct hd_lowerer *w, const struct hd_view *in, const struct hd_view *out,
                         const struct group *g, int64_t v, int64_t u, int vectors) {
    int n = (int)w->m->n;
    int64_t words = (int64_t)in->cols * vectors;
    hd_lower_begin(w, HD_UNIT_vx, HD_OP_vx_map);
    hd_lower_set(w, HD_F_vx_alu, HD_V_vx_alu_add);
    hd_lower_set(w, HD_F_vx_a_kind, HD_V_vx_kind_am_f32);
    hd_lower_set(w, HD_F_vx_b_kind, HD_V_vx_kind_am_f32);
    hd_lower_set(w, HD_F_vx_a_scale, hd_lower_f32_bits(g->weight[0]));
    hd_lower_set(w, HD_F_vx_b_scale, hd_lower_f32_bits(g->weight[1]));
    hd_lower_set(w, HD_F_vx_a, v + (int64_t)(g->from - in->x) * vectors);
    hd_lower_set(w, HD_F_vx_b, u + (int64_t)(g->behind - in->x) * vectors);
    hd_lower_set(w, HD_F_vx_d, (out->at + (uint32_t)((g->first - out->x) * out->cp)) / (uint32_t)n);
    int from = g->from_step * vectors;
    hd_lower_map_loop(w, 0, vectors, 1, 1, 1);
    hd_lower_map_loop(w, 1, g->n, from, from, g->step * out->cp / n);
    hd_lower_map_loop(w, 2, out->rows, words, words, out->pitch / n);
    hd_lower_map_loop(w, 3, 1, 0, 0, 0);
    hd_lower_set_requant(w);
    hd_ops_touch(&w->s, HD_SPACE_AM, v, v + out->rows * words, false);
    hd_ops_touch(&w->s, HD_SPACE_AM, u, u + out->rows * words, false);
    hd_lower_touch(w, out, true);
    return hd_ops_end(&w->s);
}

static hd_status lower(struct hd_lowerer *w, struct hd_tile *t) {
    const struct hd_layer *l = w->l;
    const struct hd_mtensor *x = hd_lower_tensor(w, l->in[0]);
    int bytes = hd_lower_tensor(w, l->out)->bytes, vectors = bytes / (int)w->m->n, y0, x0;
    int n_rows = reads_of(l, 0, x->h, t->y, t->th, &y0);
    int n_cols = reads_of(l, 1, x->w, t->x, t->tw, &x0);
    TRY(hd_lower_input(w, 0, t->img, y0, x0, n_rows, n_cols, &t->in[0]));
    struct hd_view out = hd_lower_output(w, t->img, t->y, t->x, t->th, t->tw, bytes);
    int64_t words = (int64_t)t->th * n_cols * vectors, v = hd_lower_accumulators(w, words), u = v;
    for (int way = 0; way < 2; way++) {
        if (way && (int64_t)t->th * t->tw * vectors > words + BEGIN) {
            u = hd_lower_accumulators(w, words);
            TRY(copy_rows(w, v, u, words));
        }
        int o = way ? t->x : t->y, end = o + (way ? t->tw : t->th);
        bool *done = hd_new_array(w->s.arena, bool, (size_t)end + 1);
        for (; o < end; o++) {
            if (done[o]) continue;
            struct group g = longest(l, way, way ? x->w : x->h, o, end, done);
            for (int i = 0; i < g.n; i++) done[g.first + i * g.step] = true;
            TRY(way ? columns(w, &t->in[0], &out, &g, v, u, vectors)
                    : rows(w, &t->in[0], &g, t->y, v, vectors));
        }
    }
    return hd_lower_store(w, t->img, &out, 0, bytes);
}

/* The most that any n results in this way read. */
static int span(const struct hd_layer *l, int way, int size, int n) {
    int most = 1, first, all = way ? l->ow : l->oh;
    for (int o = 0; o + n <= all; o++)
        most = (int)hd_max(most, reads_of(l, way, size, o, n, &first));
    return most;
}

static bool overlaps(const struct hd_layer *l) {
    (void)l;
    return true;
}

static int64_t am_words(const struct hd_lowering *lo, const struct hd_layer *l, int th, int tw) {
    int vectors = lo->tensors[l->out].bytes / (int)lo->m->n;
    return (int64_t)th * span(l, 1, lo->tensors[l->in[0]].w, tw) * vectors;
}

static void reads(const struct hd_lowering *lo, const struct hd_tiling *lt, int *rows, int *cols) {
    const struct hd_mtensor *x = &lo->tensors[lt->l->in[0]];
    *rows = span(lt->l, 0, x->h, lt->th), *cols = span(lt->l, 1, x->w, lt->tw);
}

static const char *refuses(const struct hd_lowering *lo, int node, const char **out_hint) {
    (void)out_hint;
    for (int i = 1; i < 5; i++)
        if (!lo->g->tensors[lo->g->nodes[node].in[i]].data)
            return "where it reads is known in the run only";
    return NULL;
}

static hd_status make(struct hd_lowering *lo, const struct hd_node *n, struct hd_layer *l) {
    l->a_imm = -(int32_t)hd_attr_int(n, "x_zp", 0);
    struct between *b = hd_new_array(lo->arena, struct between, 2);
    for (int way = 0; way < 2; way++)
        b[way] = (struct between){lo->g->tensors[n->in[1 + 2 * way]].data,
                                  lo->g->tensors[n->in[2 + 2 * way]].data};
    l->own = b;
    return HD_OK;
}

static int64_t pixel_cycles(const struct hd_layer *l) {
    return (int64_t)l->nts * 4;
}

static int64_t vector_ops(const struct hd_lowering *lo, const struct hd_layer *l) {
    return 2 * hd_vectors_once(lo, l);
}

const struct hd_kind hd_kind_resize = {
    .name = "resize",
    .operations = "vx.map",
    .expression = "sum over p, q < 2 of x[m, row[i] + p, column[j] + q] * rows[i,p] * columns[j,q]",
    .memories = "XM -> AM, AM -> XM",
    .takes_parts = true,
    .refuses = refuses,
    .wish = HD_WISH_IMAGE,
    .make = make,
    .pixel_cycles = pixel_cycles,
    .vector_ops = vector_ops,
    .reads = reads,
    .overlaps = overlaps,
    .am_words = am_words,
    .lower = lower,
};
