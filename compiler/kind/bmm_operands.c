/* Products of two activations: which views of storage their operands and result are, and the layer.
 *
 * needs: a legalised graph, layouts
 * gives: for each product where its operands and result lie; transposes and reshapes that so become
 *        addressing
 * destroys: nothing
 *
 * One index expression, y[b, i, j] = sum over k of a[b, i, k] * w[b, k, j]. On the machine a lies
 * with k along channels and i along rows; w with k along channels and j along rows (it is stored in
 * the order of WM words), or k along rows and j along channels (LW turns columns into words); y
 * with j along channels. Whether a tensor, seen through the transposes and reshapes around the
 * product, is such a thing is decided by its distances, not by names.
 */
#include <string.h>

#include "compiler/kind/bmm.h"
#include "runtime/base/num.h"

enum role { OF_A, OF_W, OF_Y };
enum { CHAIN = 8 }; /* nodes between a product and storage */

/* Where each batch of a matrix begins: row and channel of the storage. */
struct matrix {
    int64_t rows, cols; /* of the matrix; 0 distances where they are 1 */
    int64_t row_step, col_step;
    int n;
    int *row, *channel;
};

/* The last two dimensions of v as matrices, for the batches of y. */
static void matrices(const struct hd_lowering *lo, const struct hd_strided *v,
                     const struct hd_tensor *y, struct matrix *out) {
    int batch = v->rank - 2;
    *out = (struct matrix){.rows = v->size[batch],
                           .cols = v->size[batch + 1],
                           .row_step = v->step[batch],
                           .col_step = v->step[batch + 1],
                           .n = 1};
    for (int i = 0; i < y->rank - 2; i++) out->n *= (int)y->dim[i];
    out->row = hd_new_array(lo->arena, int, (size_t)out->n);
    out->channel = hd_new_array(lo->arena, int, (size_t)out->n);
    for (int b = 0; b < out->n; b++) {
        int64_t at = 0, rest = b;
        for (int i = y->rank - 3; i >= 0; i--) { /* batches broadcast by numpy's rules */
            int d = i - (y->rank - 2) + batch;
            int64_t index = rest % y->dim[i];
            rest /= y->dim[i];
            if (d >= 0 && v->size[d] > 1) at += index * v->step[d];
        }
        out->row[b] = (int)(at / v->pixel);
        out->channel[b] = (int)(at % v->pixel);
    }
}

static bool aligned(const struct matrix *m, int64_t words) {
    for (int b = 0; b < m->n; b++)
        if (m->channel[b] % words) return false;
    return true;
}

/* Rows of the matrix are neighbouring rows of the storage, columns neighbouring channels. */
static bool by_rows(const struct matrix *m, int64_t pixel) {
    return (m->rows == 1 || m->row_step == pixel) && (m->cols == 1 || m->col_step == 1);
}

static bool by_columns(const struct matrix *m, int64_t pixel) {
    return (m->rows == 1 || m->row_step == 1) && (m->cols == 1 || m->col_step == pixel);
}

/* Columns end with a whole word, or with the pixel. */
static bool ends_well(const struct matrix *m, int64_t cols, int64_t words, int64_t channels) {
    for (int b = 0; cols % words && b < m->n; b++)
        if (m->channel[b] + cols != channels) return false;
    return true;
}

static bool fits_by_rows(const struct matrix *m, int64_t pixel, int64_t words, int64_t channels) {
    return by_rows(m, pixel) && aligned(m, words) && ends_well(m, m->cols, words, channels);
}

/* w is [k, j]. Stored as words: groups of j rows, each padded to whole words of N rows. */
static bool fits_w(const struct hd_lowering *lo, const struct matrix *m, const struct hd_strided *v,
                   int64_t channels, bool *out_columns) {
    *out_columns = by_rows(m, v->pixel);
    if (*out_columns) return fits_by_rows(m, v->pixel, lo->m->n, channels);
    if (!by_columns(m, v->pixel) || !aligned(m, lo->m->k)) return false;
    for (int b = 0; b < m->n; b++)
        if (m->row[b] % m->cols) return false;
    return ends_well(m, m->rows, lo->m->k, channels);
}

struct found {
    struct matrix m;
    int tensor; /* whose storage it is */
    int n_chain, chain[CHAIN];
    bool columns;
};

/* The view that `chain` makes of the storage of `tensor`, as the product wants it. */
static bool fits(const struct hd_lowering *lo, const struct hd_tensor *y, enum role role,
                 int tensor, int n, const int *chain, struct found *out) {
    const hd_graph *g = lo->g;
    struct hd_strided v;
    if (!hd_strided_of(lo, tensor, &v)) return false;
    for (int i = n - 1; i >= 0; i--)
        if (!hd_strided_through(g, &g->nodes[chain[i]], role == OF_Y, &v)) return false;
    int64_t channels = g->tensors[tensor].dim[g->tensors[tensor].rank - 1];
    *out = (struct found){.tensor = tensor, .n_chain = n};
    if (n) memcpy(out->chain, chain, (size_t)n * sizeof *chain);
    matrices(lo, &v, y, &out->m);
    if (role == OF_W) return fits_w(lo, &out->m, &v, channels, &out->columns);
    return fits_by_rows(&out->m, v.pixel, role == OF_A ? lo->m->k : lo->m->n, channels);
}

/* The farthest storage that fits, over nodes that may become addressing. */
static bool find(const struct hd_lowering *lo, const struct hd_node *n, enum role role,
                 const bool *strides, struct found *out) {
    const hd_graph *g = lo->g;
    const struct hd_tensor *y = &g->tensors[n->out[0]];
    int t = role == OF_Y ? n->out[0] : n->in[role == OF_W], chain[CHAIN] = {0}, len = 0;
    struct found f;
    bool any = fits(lo, y, role, t, 0, chain, out);
    while (len < CHAIN) {
        int next = g->tensors[t].producer;
        if (role == OF_Y) next = hd_graph_only_user(g, t);
        if (next < 0 || !strides[next]) break;
        chain[len++] = next;
        t = role == OF_Y ? g->nodes[next].out[0] : g->nodes[next].in[0];
        if (!fits(lo, y, role, t, len, chain, &f)) continue;
        *out = f;
        any = true;
    }
    return any;
}

static bool in_chain(const struct found *f, int node) {
    for (int i = 0; i < f->n_chain; i++)
        if (f->chain[i] == node) return true;
    return false;
}

/* ---- which nodes become addressing ---- */

struct views {
    struct hd_lowering *lo;
    const bool *machine;
    bool *strides;         /* per node: may become addressing */
    struct found (*at)[3]; /* per node: of products */
};

static bool is_product(const struct views *v, int node) {
    return v->machine[node] && v->lo->g->nodes[node].op == HD_IR_qmatmul;
}

/* Every reader of the result of `last` is a product that reads through `node`, or a node of which
 * that is true. */
static bool reads_through(const struct views *v, int node, int last) {
    const hd_graph *g = v->lo->g;
    int t = g->nodes[last].out[0];
    size_t n = 0;
    const int *user = hd_graph_all_users(g, t, v->lo->arena, &n);
    if (!n || hd_graph_is_output(g, t)) return false;
    for (size_t i = 0; i < n; i++) {
        const struct hd_node *u = &g->nodes[user[i]];
        bool ok = v->strides[user[i]] && reads_through(v, node, user[i]);
        if (is_product(v, user[i])) {
            ok = true;
            for (int o = 0; o < 2; o++)
                ok = ok && (u->in[o] != t || in_chain(&v->at[user[i]][o], node));
        }
        if (!ok) return false;
    }
    return true;
}

static bool writes_through(const struct views *v, int node) {
    int p = v->lo->g->nodes[node].in[0], len = 0;
    while (len++ < CHAIN) { /* up to the product */
        int maker = v->lo->g->tensors[p].producer;
        if (maker < 0) return false;
        if (is_product(v, maker)) return in_chain(&v->at[maker][OF_Y], node);
        p = v->lo->g->nodes[maker].in[0];
    }
    return false;
}

static void find_all(struct views *v) {
    const hd_graph *g = v->lo->g;
    for (size_t i = 0; i < g->n_nodes; i++)
        for (int r = 0; is_product(v, (int)i) && !g->nodes[i].dead && r < 3; r++)
            find(v->lo, &g->nodes[i], (enum role)r, v->strides, &v->at[i][r]);
}

void hd_bmm_views(struct hd_lowering *lo, const bool *machine, bool *strides) {
    const hd_graph *g = lo->g;
    struct views v = {lo, machine, strides, NULL};
    v.at = hd_alloc(lo->arena, (g->n_nodes + 1) * sizeof *v.at);
    for (size_t i = 0; i < g->n_nodes; i++)
        strides[i] = machine[i] && !g->nodes[i].dead && hd_strides_through(&g->nodes[i]);
    for (bool changed = true; changed;) { /* ends: there are fewer each time */
        changed = false;
        find_all(&v);
        for (size_t i = 0; i < g->n_nodes; i++) {
            if (!strides[i] || reads_through(&v, (int)i, (int)i) || writes_through(&v, (int)i))
                continue;
            strides[i] = false;
            changed = true;
        }
    }
}

const char *hd_bmm_refuses(const struct hd_lowering *lo, int node, const char **out_hint) {
    const struct hd_node *n = &lo->g->nodes[node];
    const struct hd_tensor *a = &lo->g->tensors[n->in[0]], *w = &lo->g->tensors[n->in[1]];
    if (hd_lacks_functions(lo, out_hint)) return hd_lacks_functions(lo, out_hint);
    if (a->rank < 2 || w->rank < 2) return "an operand has less than two dimensions";
    if (a->data || w->data) {
        *out_hint = "make it a matmul by weights of two dimensions";
        return "an operand is constant";
    }
    if (w->dtype != HD_I8) {
        *out_hint = "quantise the second operand to int8";
        return "the second operand is not int8";
    }
    const int t[] = {n->in[0], n->in[1], n->out[0]};
    for (int r = 0; r < 3; r++) {
        struct found f;
        if (fits(lo, &lo->g->tensors[n->out[0]], (enum role)r, t[r], 0, NULL, &f)) continue;
        *out_hint = "int8 or uint8 tensors of up to 65535 channels, in rows";
        return "operand or result do not lie in rows";
    }
    return NULL;
}

/* ---- the layer ---- */

/* What channels behind the last one hold in XM: y_zp behind a dense layer, whose weights there are
 * zero; but where K > N, zero behind its last vector. */
static bool padding_is(const struct hd_lowering *lo, int tensor, int32_t value) {
    int maker = lo->g->tensors[tensor].producer;
    const struct hd_node *n = maker < 0 ? NULL : &lo->g->nodes[maker];
    const struct hd_tensor *t = &lo->g->tensors[tensor];
    if (n && n->op == HD_IR_qgemm && value &&
        hd_round_up(t->dim[t->rank - 1], lo->m->n) % (int)lo->m->k)
        return false;
    return n && (n->op == HD_IR_qgemm || n->op == HD_IR_qlayernorm) &&
           hd_attr_int(n, "y_zp", 0) == value && hd_attr_int(n, "lo", -128) <= value &&
           hd_attr_int(n, "hi", 127) >= value;
}

/* Adds the place of a part of another tensor. */
static struct hd_mtensor *place(struct hd_lowering *lo, int mtensor, struct matrix *m) {
    struct hd_mtensor *t = &lo->tensors[mtensor], *r = hd_mtensor_root(lo, t);
    int row = (t->at_img * r->h + t->at_row) * r->w;
    for (int b = 0; t->base >= 0 && b < m->n; b++) m->row[b] += row, m->channel[b] += t->at_c;
    return r;
}

int hd_bmm_result(const struct hd_lowering *lo, int node) {
    struct found f;
    bool ok = find(lo, &lo->g->nodes[node], OF_Y, lo->strides, &f);
    HD_ASSERT(ok); /* as hd_bmm_views found it */
    return f.tensor;
}

/* The second operand is stored as words, in groups of rows that begin where batches do. */
static hd_status want_words(struct hd_lowering *lo, const struct hd_layer *l, struct hd_mtensor *w,
                            const struct matrix *m) {
    bool one = true;
    for (int b = 0; b < m->n; b++) one = one && m->row[b] == 0;
    for (size_t i = 0; i < lo->n_layers; i++) /* those have stores of their own */
        if (lo->layers[i].kind->own_stores &&
            hd_mtensor_root(lo, &lo->tensors[lo->layers[i].out]) == w)
            w->words_by_reader = w->read_from_dram = true;
    if (w->n > 1 || w->w > 1) w->words_by_reader = w->read_from_dram = true; /* rows of pixels */
    int rows = one ? hd_mtensor_pixels(w) : (int)m->cols;
    if (!w->word_rows) w->word_rows = rows;
    if (w->word_rows == rows || (one && m->cols <= w->word_rows)) return HD_OK;
    lo->too_big[l->node] = HD_REFUSE(word_groups);
    return HD_UNSUPPORTED;
}

hd_status hd_bmm_make(struct hd_lowering *lo, const struct hd_node *n, struct hd_layer *l) {
    struct found f[3];
    for (int r = 0; r < 3; r++) {
        bool ok = find(lo, n, (enum role)r, lo->strides, &f[r]);
        HD_ASSERT(ok);
    }
    int k = (int)lo->m->k;
    struct hd_bmm *p = hd_new(lo->arena, struct hd_bmm);
    l->own = p;
    l->kind = &hd_kind_bmm;
    l->in[0] = lo->tensor_of[f[0].tensor], l->in[1] = lo->tensor_of[f[1].tensor];
    l->result = f[2].tensor;
    l->out = lo->tensor_of[f[2].tensor];
    p->batches = f[2].m.n;
    p->columns = f[1].columns;
    p->depth = (int)f[0].m.cols;
    p->a_zp = (int32_t)hd_attr_int(n, "a_zp", 0), p->w_zp = (int32_t)hd_attr_int(n, "b_zp", 0);
    l->oh = (int)f[2].m.rows, l->ow = 1, l->oc = (int)f[2].m.cols;
    l->cw = l->red = (int)hd_ceil_div(f[0].m.cols, k);
    l->nts = (int)hd_ceil_div(l->oc, lo->m->n);
    l->a_scale = hd_attr_float(n, "scale", 1);
    l->a_imm = (int32_t)((uint32_t)p->a_zp * (uint32_t)p->w_zp * (uint32_t)(l->cw * k));
    /* products with lanes behind the last k vanish where a holds its zero point */
    struct hd_mtensor *a = &lo->tensors[l->in[0]];
    if (f[0].m.cols % k && !padding_is(lo, f[0].tensor, p->a_zp)) {
        p->pads = true;
        hd_mtensor_root(lo, a)->never_resident = true;
    }
    p->a_row = f[0].m.row, p->a_channel = f[0].m.channel;
    p->y_row = f[2].m.row, p->y_channel = f[2].m.channel;
    struct hd_mtensor *w = place(lo, l->in[1], &f[1].m);
    p->w_row = f[1].m.row, p->w_channel = f[1].m.channel;
    if (p->columns) {
        w->read_from_dram = true;
        for (int b = 0; b < p->batches; b++) /* whole words of k rows */
            w->overrun = (int)hd_max(w->overrun, p->w_row[b] + l->cw * k - hd_mtensor_pixels(w));
    } else {
        TRY(want_words(lo, l, w, &f[1].m));
    }
    for (int i = 0; i < 2; i++) { /* constant words that take the zero points off */
        int32_t zp = i ? p->w_zp : p->a_zp;
        p->part[i][0] = -(zp / 2), p->part[i][1] = -zp + zp / 2;
        p->zp_words[i] = zp == 0 ? 0 : zp > -128 && zp <= 128 ? 1 : 2;
        if (p->zp_words[i] == 1) p->part[i][0] = -zp;
    }
    p->w_offset = hd_image_reserve(lo, 2 * hd_wm_word_bytes(lo->m));
    for (int i = 0; i < 2; i++)
        memset(lo->image + p->w_offset + (size_t)i * hd_wm_word_bytes(lo->m), p->part[1][i],
               hd_wm_word_bytes(lo->m));
    return HD_OK;
}

bool hd_bmm_stages(const struct hd_lowering *lo, const struct hd_layer *l) {
    const struct hd_mtensor *w = &lo->tensors[l->in[1]];
    if (w->base >= 0) w = &lo->tensors[w->base];
    return !((const struct hd_bmm *)l->own)->columns && (w->comes_in || w->words_by_reader);
}
