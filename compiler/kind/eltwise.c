/* Elementwise layers: two tensors that broadcast (qpair.def), rescaling, byte tables. */
#include <string.h>

#include "compiler/kind/kinds.h"
#include "runtime/base/num.h"

/* An operation on two tensors: a row of qpair.def. */
struct pair {
    const char *scale[2]; /* attributes of a and b, "" = 1 */
    int a;                /* operand that is stream A of vx.map */
    int alu, fn;
};

static const struct pair *pair_of(enum hd_ir_op op) {
    switch (op) {
#define QPAIR(name, attributes, a_scale, b_scale, y, stream, alu, fn)                              \
    case HD_IR_##name: {                                                                           \
        static const struct pair p = {                                                             \
            {a_scale, b_scale}, stream, HD_V_vx_alu_##alu, HD_V_vx_fn_##fn};                       \
        return &p;                                                                                 \
    }
#include "compiler/ir/qpair.def"
    default:
        return NULL;
    }
}

/* hd_layer.own of both kinds. */
struct elementwise {
    const struct pair *pair; /* with a second operand; else NULL */
    int32_t b_imm;
    float b_scale;
    int *row_of[2]; /* per row of an image of the result that of operand i, when it broadcasts along
                       some of the dimensions that are rows; NULL: the same, or its only one */
};

static const struct elementwise *own_of(const struct hd_layer *l) {
    return l->own;
}

/* Vectors between pixels (rows) of operand i; 0 when it has one for all of the tile's. */
static int column_step(const struct hd_tile *t, int i, int n) {
    return t->in[i].cols == t->tw ? t->in[i].cp / n : 0;
}

static int row_step(const struct hd_tile *t, int i, int n) {
    return t->in[i].rows == t->th ? t->in[i].pitch / n : 0;
}

/* The rows from y on, at most `rows`, for which each operand has either a row of its own, one
 * behind the other, or the same. */
static int alike(const struct hd_layer *l, int y, int rows) {
    for (int i = 0; i < 2; i++) {
        const int *of = own_of(l)->row_of[i];
        int n = 1;
        if (!of || rows < 2) continue;
        int step = of[y + 1] - of[y];
        if (step == 0 || step == 1)
            while (n < rows && of[y + n] == of[y] + n * step) n++;
        rows = n;
    }
    return rows;
}

/* Operands of rows that are alike: what has one image, row or column is read again for all. */
static hd_status operands(struct hd_lowerer *w, struct hd_tile *t) {
    const struct hd_layer *l = w->l;
    for (int i = 0; i < 2 && l->in[i] >= 0; i++) {
        const struct hd_mtensor *x = hd_lower_tensor(w, l->in[i]);
        const int *of = own_of(l)->row_of[i];
        bool wide = x->n == hd_lower_tensor(w, l->out)->n, high = x->h > 1;
        int y = of ? of[t->y] : high ? t->y : 0, rows = high ? t->th : 1;
        if (of && t->th > 1 && of[t->y + 1] == y) rows = 1;
        TRY(hd_lower_input(w, i, wide ? t->img : 0, y, x->w == 1 ? 0 : t->x, rows,
                           x->w == 1 ? 1 : t->tw, &t->in[i]));
    }
    return HD_OK;
}

/* Rows of channels whose operands are in XM; out: where they go. Loops as those of requantisation
 * (matmul.c), so that fewer words change between them. */
static hd_status map_rows(struct hd_lowerer *w, const struct hd_tile *t,
                          const struct hd_view *out) {
    const struct hd_layer *l = w->l;
    const struct elementwise *own = l->own;
    int n = (int)w->m->n, cp = hd_lower_tensor(w, l->out)->bytes;
    hd_lower_begin(w, HD_UNIT_vx, HD_OP_vx_map);
    hd_lower_operand_a(w);
    hd_lower_set(w, HD_F_vx_a, t->in[0].at / (uint32_t)n);
    hd_lower_set(w, HD_F_vx_d, out->at / (uint32_t)n);
    hd_lower_map_loop(w, 0, t->tw, column_step(t, 0, n), own->pair ? column_step(t, 1, n) : 0,
                      out->cp / n);
    hd_lower_map_loop(w, 1, t->th, row_step(t, 0, n), own->pair ? row_step(t, 1, n) : 0,
                      out->pitch / n);
    hd_lower_map_loop(w, 2, cp / n, 1, own->pair != NULL, 1);
    hd_lower_map_loop(w, 3, 1, 0, 0, 0);
    hd_lower_touch(w, &t->in[0], false);
    if (own->pair) {
        hd_lower_set(w, HD_F_vx_alu, own->pair->alu), hd_lower_set(w, HD_F_vx_fn, own->pair->fn);
        hd_lower_set(w, HD_F_vx_b_kind, hd_lower_byte_kind(w, 1));
        hd_lower_set(w, HD_F_vx_b, t->in[1].at / (uint32_t)n);
        hd_lower_set(w, HD_F_vx_b_imm, own->b_imm);
        hd_lower_set(w, HD_F_vx_b_scale, hd_lower_f32_bits(own->b_scale));
        hd_lower_touch(w, &t->in[1], false);
    }
    hd_lower_touch(w, out, true);
    return hd_ops_end(&w->s);
}

/* Add, multiply, rescale, table: whole rows of channels at once. */
static hd_status lower(struct hd_lowerer *w, struct hd_tile *t) {
    const struct hd_layer *l = w->l;
    int cp = hd_lower_tensor(w, l->out)->bytes;
    struct hd_view out = {0};
    for (int y = 0, rows; y < t->th; y += rows) {
        struct hd_tile part = *t;
        part.y += y;
        part.th = rows = alike(l, part.y, t->th - y);
        TRY(operands(w, &part));
        if (!y) out = hd_lower_output(w, t->img, t->y, t->x, t->th, t->tw, cp);
        struct hd_view to = out;
        to.at += (uint32_t)(y * out.pitch), to.y += y, to.rows = rows;
        TRY(map_rows(w, &part, &to));
    }
    return hd_lower_store(w, t->img, &out, 0, cp);
}

/* ---- the layer ---- */

/* Rows of operand i of a sum or product for each row of an image of the result. Dimensions that are
 * rows: all but channels, images and columns. */
static int *rows_of(const struct hd_lowering *lo, const struct hd_node *n, int i) {
    const struct hd_tensor *x = &lo->g->tensors[n->in[i]], *y = &lo->g->tensors[n->out[0]];
    bool rows = lo->rows[n->out[0]], plain = true;
    int first = rows ? 0 : 2, end = y->rank - 1;
    bool only = true;
    int h = lo->tensors[lo->tensor_of[n->out[0]]].h;
    if (x->rank != y->rank) return NULL;
    int *of = hd_new_array(lo->arena, int, (size_t)h);
    for (int r = 0; r < h; r++) {
        int64_t at = r, step = 1;
        for (int d = end - 1; d >= first; d--) {
            of[r] += (int)(x->dim[d] == 1 ? 0 : at % y->dim[d] * step);
            at /= y->dim[d], step *= x->dim[d];
        }
        plain = plain && of[r] == r;
        only = only && of[r] == 0;
    }
    return plain || only ? NULL : of;
}

static hd_status make_add(struct hd_lowering *lo, const struct hd_node *n, struct hd_layer *l) {
    static const char *const zero_point[2] = {"a_zp", "b_zp"};
    const struct pair *p = pair_of(n->op);
    struct elementwise *own = hd_new(lo->arena, struct elementwise);
    int32_t imm[2];
    float scale[2];
    for (int s = 0; s < 2; s++) { /* streams A and B */
        int i = s ^ p->a;
        l->in[s] = lo->tensor_of[n->in[i]];
        own->row_of[s] = rows_of(lo, n, i);
        imm[s] = -(int32_t)hd_attr_int(n, zero_point[i], 0);
        scale[s] = *p->scale[i] ? hd_attr_float(n, p->scale[i], 1) : 1;
    }
    own->pair = p;
    l->own = own;
    l->a_imm = imm[0], l->a_scale = scale[0];
    own->b_imm = imm[1], own->b_scale = scale[1];
    return HD_OK;
}

/* A table: the byte as it is, then the table. */
static hd_status make_rescale(struct hd_lowering *lo, const struct hd_node *n, struct hd_layer *l) {
    bool u8 = lo->tensors[l->in[0]].is_unsigned;
    l->own = hd_new(lo->arena, struct elementwise);
    if (n->op == HD_IR_qrescale) {
        l->a_imm = -(int32_t)hd_attr_int(n, "x_zp", 0);
        l->a_scale = hd_attr_float(n, "scale", 1);
        return HD_OK;
    }
    l->a_scale = 1;
    l->y.zp = 0, l->y.lo = u8 ? 0 : -128, l->y.hi = u8 ? 255 : 127;
    hd_set_table(lo, l, lo->g->tensors[n->in[1]].data);
    return HD_OK;
}

/* An operand of a sum or product is read again for each image, row or column that it lacks. */
static const char *refuses_broadcast(const struct hd_lowering *lo, int in, int out,
                                     const struct hd_mtensor *x) {
    struct hd_mtensor y;
    if (!hd_machine_shape(lo, out, &y)) return NULL; /* has its own message */
    if (x->c != y.c) return "an operand broadcasts along channels";
    bool same = lo->g->tensors[in].rank == lo->g->tensors[out].rank;
    return same || (x->n == y.n && x->h == y.h && x->w == y.w) ? NULL : "operands differ in rank";
}

static const char *refuses_add(const struct hd_lowering *lo, int node, const char **out_hint) {
    const struct hd_node *n = &lo->g->nodes[node];
    struct hd_mtensor first, x;
    if (pair_of(n->op)->alu > HD_V_vx_alu_sub && hd_lacks_functions(lo, out_hint))
        return hd_lacks_functions(lo, out_hint);
    for (int i = 0; i < 2; i++) {
        if (!hd_operand_shape(lo, n, i, i ? &x : &first)) return NULL; /* has its own message */
        if (i && x.rows != first.rows) return "operands have different layouts";
        const char *why = refuses_broadcast(lo, n->in[i], n->out[0], i ? &x : &first);
        if (why) return why;
    }
    return NULL;
}

static const char *refuses_rescale(const struct hd_lowering *lo, int node, const char **out_hint) {
    const struct hd_node *n = &lo->g->nodes[node];
    (void)out_hint;
    return n->op == HD_IR_qtable && !lo->g->tensors[n->in[1]].data ? "the table is not constant"
                                                                   : NULL;
}

static int64_t pixel_cycles(const struct hd_layer *l) {
    return l->nts;
}

static bool takes_constants(const struct hd_node *n) {
    (void)n;
    return true;
}

static bool overlaps(const struct hd_layer *l) {
    return own_of(l)->row_of[0] || own_of(l)->row_of[1];
}

const struct hd_kind hd_kind_add = {
    .name = "add",
    .operations = "vx.map",
    .expression = "a[m,i,j] + b[m,i,j], or another pair operation",
    .memories = "XM XM -> XM",
    .chains = true,
    .joins = true,
    .takes_parts = true,
    .refuses = refuses_add,
    .wish = HD_WISH_AS_RESULT,
    .takes_constants = takes_constants,
    .make = make_add,
    .overlaps = overlaps,
    .pixel_cycles = pixel_cycles,
    .vector_ops = hd_vectors_once,
    .lower = lower,
};

const struct hd_kind hd_kind_rescale = {
    .name = "rescale",
    .operations = "vx.map",
    .expression = "f(x[m,i,j]), f a scale or a table",
    .memories = "XM TM -> XM",
    .chains = true,
    .joins = true,
    .takes_parts = true,
    .refuses = refuses_rescale,
    .wish = HD_WISH_AS_RESULT,
    .make = make_rescale,
    .pixel_cycles = pixel_cycles,
    .vector_ops = hd_vectors_once,
    .lower = lower,
};
