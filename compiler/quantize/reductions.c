/* Reductions that have no integer form by those that have one, the mean and the largest, and
 * functions of one tensor around them:
 *
 *   reducel1 = n mean |x|          reducesumsquare = n mean x^2     reducel2 = sqrt of that
 *   reducesum = n mean x           of all pixels of an image, else a product by ones
 * (pass/reduce.c) reducelogsum = log(n mean x)   reducemin = -reducemax(-x) reducelogsumexp = log(n
 * mean exp(x - m)) + m,  m = reducemax(x) logsoftmax = x - m - log(n mean exp(x - m))
 *
 * The factor n is part of the function behind it. */
#include <string.h>

#include "compiler/ir/move.h"
#include "compiler/pass/pass.h"
#include "compiler/quantize/quantize.h"

struct form {
    hd_graph *g;
    struct hd_node n;
    struct hd_tensor x, y;
    int axes;                 /* constant */
    int64_t dim[HD_MAX_RANK]; /* of x, those that are reduced as 1 */
    float count;              /* of elements that become one */
};

static int emit(struct form *f, enum hd_ir_op op, const char *suffix, const int64_t *dim, int a,
                int b) {
    const char *name = hd_sprintf(f->g->arena, "%s.%s", f->y.name, suffix);
    int y = hd_graph_tensor(f->g, name, HD_F32, f->x.rank, dim), in[2] = {a, b};
    hd_graph_node(f->g, op, f->g->tensors[y].name, b < 0 ? 1 : 2, in, 1, &y);
    return y;
}

static int map(struct form *f, enum hd_ir_op op, const char *suffix, int x) {
    return emit(f, op, suffix, f->g->tensors[x].dim, x, -1);
}

/* Over the dimensions of the form, which stay as 1. */
static int reduced(struct form *f, enum hd_ir_op op, const char *suffix, int x) {
    return emit(f, op, suffix, f->dim, x, f->axes);
}

/* Channels and pixels of an image. */
static bool over_all(const struct form *f) {
    const int64_t *x = f->x.dim, *y = f->dim;
    return f->x.rank == 4 && x[1] > y[1] && y[2] * y[3] == 1 && x[2] * x[3] > 1;
}

/* All pixels of an image, or all of [N,..,C] of rows, MANY at least, and no channels. */
static bool over_pixels(const struct form *f) {
    enum { MANY = 16 };
    int64_t left = 1;
    if (f->x.rank == 3 && f->dim[1] == 1 && hd_in_rows(f->g, f->n.in[0]))
        return f->dim[0] == f->x.dim[0] && f->dim[2] == f->x.dim[2] && f->count >= MANY;
    bool image = f->x.rank == 4 || (f->x.rank == 3 && hd_made_as_image(f->g, f->n.in[0]));
    for (int d = 2; d < f->x.rank; d++) left *= f->dim[d];
    return image && left == 1 && f->dim[0] == f->x.dim[0] && f->dim[1] == f->x.dim[1] &&
           f->count >= MANY;
}

/* Of an image channels and pixels one behind the other: a pool over both is none. */
static int largest(struct form *f, int x) {
    int64_t all[HD_MAX_RANK], pixels[2] = {2, 3}, channels = 1, one = 1, two = 2;
    memcpy(all, f->dim, sizeof all);
    if (!over_all(f)) return reduced(f, HD_IR_reducemax, "most", x);
    all[1] = f->x.dim[1];
    x = emit(f, HD_IR_reducemax, "pixels", all, x,
             hd_graph_const(f->g, "reduce.pixels", HD_I64, 1, &two, pixels));
    all[1] = 1;
    x = emit(f, HD_IR_reducemax, "channels", all, x,
             hd_graph_const(f->g, "reduce.channels", HD_I64, 1, &one, &channels));
    return f->dim[0] == f->x.dim[0] ? x : reduced(f, HD_IR_reducemax, "most", x);
}

static int total(struct form *f, int x) {
    int mean = reduced(f, HD_IR_reducemean, "mean", x);
    int n = hd_graph_const(f->g, "reduce.count", HD_F32, 0, NULL, &f->count);
    return emit(f, HD_IR_mul, "total", f->dim, mean, n);
}

/* The log of the sum of exp(x - most); *out_below = x - most. */
static int log_sum(struct form *f, int x, int most, int *out_below) {
    *out_below = emit(f, HD_IR_sub, "below", f->x.dim, x, most);
    return map(f, HD_IR_log, "log", total(f, map(f, HD_IR_exp, "exp", *out_below)));
}

static int rewritten(struct form *f) {
    int x = f->n.in[0], below = -1;
    if (f->n.op == HD_IR_reducemax) return largest(f, x);
    bool squares = f->n.op == HD_IR_reducel2 || f->n.op == HD_IR_reducesumsquare;
    if (squares) x = emit(f, HD_IR_mul, "square", f->x.dim, x, x);
    switch (f->n.op) {
    case HD_IR_reducesum:
        return total(f, x);
    case HD_IR_reducel1:
        return total(f, map(f, HD_IR_abs, "abs", x));
    case HD_IR_reducesumsquare:
        return total(f, x);
    case HD_IR_reducel2:
        return map(f, HD_IR_sqrt, "root", total(f, x));
    case HD_IR_reducelogsum:
        return map(f, HD_IR_log, "log", total(f, x));
    case HD_IR_reducemin:
        return map(f, HD_IR_neg, "least", largest(f, map(f, HD_IR_neg, "minus", x)));
    default:
        break;
    }
    int most = largest(f, x), sum = log_sum(f, x, most, &below);
    if (f->n.op == HD_IR_logsoftmax) return emit(f, HD_IR_sub, "all", f->x.dim, below, sum);
    return emit(f, HD_IR_add, "all", f->dim, sum, most);
}

static bool open_form(hd_graph *g, int node, struct form *f) {
    const struct hd_node n = g->nodes[node];
    switch (n.op) {
    case HD_IR_reducel1:
    case HD_IR_reducel2:
    case HD_IR_reducesumsquare:
    case HD_IR_reducelogsum:
    case HD_IR_reducelogsumexp:
    case HD_IR_reducemin:
    case HD_IR_logsoftmax:
    case HD_IR_reducemax:
    case HD_IR_reducesum:
        break;
    default:
        return false;
    }
    *f = (struct form){
        .g = g, .n = n, .x = g->tensors[n.in[0]], .y = g->tensors[n.out[0]], .count = 1};
    if (!f->x.known || !f->y.known || f->x.dtype != HD_F32 || f->x.data || f->x.rank < 1 ||
        hd_graph_is_output(g, n.out[0]))
        return false;
    unsigned set = (1u << f->x.rank) - 1;
    const struct hd_tensor *axes = n.n_in > 1 && n.in[1] >= 0 ? &g->tensors[n.in[1]] : NULL;
    if (axes && (!axes->data || axes->dtype != HD_I64)) return false;
    int n_axes = axes ? (int)hd_tensor_elems(axes) : 0;
    if (n.op == HD_IR_logsoftmax) {
        int64_t axis = hd_attr_int(&n, "axis", -1);
        set = 1u << (axis < 0 ? axis + f->x.rank : axis);
    } else if (n_axes) {
        set = hd_axes_set(f->x.rank, n_axes, axes->data);
    } else if (hd_attr_int(&n, "noop_with_empty_axes", 0)) {
        return false;
    }
    int64_t list[HD_MAX_RANK], k = 0;
    for (int d = 0; d < f->x.rank; d++) {
        f->dim[d] = set >> d & 1 ? 1 : f->x.dim[d];
        if (set >> d & 1) list[k++] = d, f->count *= (float)f->x.dim[d];
    }
    if (n.op == HD_IR_reducemax && !over_all(f)) return false;
    if (n.op == HD_IR_reducesum && !over_pixels(f)) return false;
    f->axes = hd_graph_const(g, "reduce.axes", HD_I64, 1, &k, list);
    return hd_tensor_elems(&f->x) > 0;
}

bool hd_quant_reduction(hd_graph *g, int node) {
    struct form f;
    if (!open_form(g, node, &f)) return false;
    int y = f.n.out[0], made = rewritten(&f), last = g->tensors[made].producer;
    hd_graph_kill(g, node);
    hd_graph_swap_names(g, last, node);
    if (f.y.rank == f.x.rank) {
        hd_graph_replace(g, y, made);
        hd_graph_swap_tensor_names(g, y, made);
        return true;
    }
    int id = hd_graph_node(g, HD_IR_reshape, f.y.name, 1, &made, 1, &y);
    hd_attr_set_ints(g, id, "shape", f.y.rank, f.y.dim);
    return true;
}
