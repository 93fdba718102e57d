/* Tolerance of an output: the rows of tolerance.def along the graph.
 *
 * A quantised tensor is in doubt by steps, a float one behind a dequantize by that many of its
 * scale; float operations pass the doubt on. Scales that are made in the run (dynamicquantize) give
 * none while their operands are equal to the bit, which they are behind exact operations.
 */
#include "compiler/compare/tolerance.h"

#include <math.h>

#include "compiler/session/session.h"
#include "compiler/tensors/tensors.h"
#include "cpu_ref/kernels.h"

static bool quantised(enum hd_ir_op op) {
    switch (op) {
    case HD_IR_quantize:
    case HD_IR_qconv:
    case HD_IR_qconvtranspose:
    case HD_IR_qgemm:
#define QPAIR(name, ...) case HD_IR_##name:
#include "compiler/ir/qpair.def"
    case HD_IR_qavgpool:
    case HD_IR_qmean:
    case HD_IR_qlstm:
    case HD_IR_qgru:
    case HD_IR_qrnn:
    case HD_IR_qrescale:
    case HD_IR_qresize:
    case HD_IR_qtable:
    case HD_IR_qmatmul:
    case HD_IR_qsoftmax:
    case HD_IR_qlayernorm:
        return true;
    default:
        return false;
    }
}

struct doubt {       /* of one tensor */
    int depth;       /* requantisations on the longest path to it */
    double absolute; /* of a float one */
    bool lost;       /* of a float one: behind an operation without a row */
    bool rounded;    /* not equal to the bit in every library */
    int flips;       /* dynamicquantize of such a one on the longest path to it */
    double terms;    /* of float sums on the longest path to it */
};

static double steps_of(int depth) {
#define STEPS(name, factor, reason) static const double name = factor;
#include "compiler/compare/tolerance.def"
    return fmax(1, floor(rounding * sqrt((double)depth)));
}

static double flips_of(int depth) {
#define FLIPS(factor, reason) static const double flip = factor;
#include "compiler/compare/tolerance.def"
    return flip * sqrt((double)depth);
}

static bool is_exact(enum hd_ir_op op) {
    switch (op) {
#define EXACT(name) case HD_IR_##name:
#include "compiler/compare/tolerance.def"
        return true;
    default:
        return quantised(op);
    }
}

static double element(const struct hd_tensor *t, int64_t i) {
    return fabs(hd_k_f64(t->data, t->dtype, i));
}

/* The largest magnitude of a constant, or its smallest. */
static double extreme(const struct hd_tensor *t, bool largest) {
    double v = 0;
    for (int64_t i = 0; t->data && i < hd_tensor_elems(t); i++) {
        double x = element(t, i);
        if (!i || (largest ? x > v : x < v)) v = x;
    }
    return v;
}

/* Root of the largest sum of squares of the weights that one result is made with. */
static double root_of_squares(const struct hd_node *n, const struct hd_tensor *w) {
    bool rows = n->op == HD_IR_conv || (n->op == HD_IR_gemm && hd_attr_int(n, "transB", 0));
    int64_t elems = hd_tensor_elems(w), last = w->rank ? w->dim[w->rank - 1] : 1, most = 1;
    int64_t outputs = rows ? w->dim[0] : last, each = outputs ? elems / outputs : 0;
    double worst = 0;
    if (!rows && w->rank > 2) each = w->dim[w->rank - 2], most = elems / (each * last);
    for (int64_t b = 0; b < most; b++)
        for (int64_t o = 0; o < outputs; o++) {
            double sum = 0;
            for (int64_t i = 0; i < each; i++) {
                double v = element(w, rows ? o * each + i : (b * each + i) * last + o);
                sum += v * v;
            }
            worst = fmax(worst, sum);
        }
    return sqrt(worst);
}

/* w of the rows of `PASSES`; negative: there is none. */
static double weight(const hd_graph *g, const struct hd_node *n, bool first_doubtful) {
    const struct hd_tensor *other =
        n->n_in > 1 && n->in[first_doubtful] >= 0 ? &g->tensors[n->in[first_doubtful]] : NULL;
    switch (n->op) {
    case HD_IR_mul:
        return other && other->data ? extreme(other, true) : -1;
    case HD_IR_div: {
        double least = first_doubtful && other && other->data ? extreme(other, false) : 0;
        return least > 0 ? least : -1;
    }
    case HD_IR_conv:
    case HD_IR_gemm:
    case HD_IR_matmul:
        return first_doubtful && other && other->data ? root_of_squares(n, other) : -1;
    default:
        return 1;
    }
}

/* A row's bound; false: the operation has none. */
static bool passes(enum hd_ir_op op, double d, double w, double *out) {
    if (w < 0) return false;
    switch (op) {
#define PASSES(name, bound, reason)                                                                \
    case HD_IR_##name:                                                                             \
        *out = bound;                                                                              \
        return true;
#include "compiler/compare/tolerance.def"
    default:
        return false;
    }
}

/* Of the sum that one of a node's results is. */
static double terms_of(const hd_graph *g, const struct hd_node *n) {
    int x = n->n_in ? n->in[0] : -1, y = n->n_out ? n->out[0] : -1;
    if (is_exact(n->op) || x < 0 || y < 0 || !g->tensors[x].known || !g->tensors[y].known) return 0;
    double results = (double)hd_tensor_elems(&g->tensors[y]), macs = (double)hd_node_macs(g, n);
    if (results < 1) return 0;
    return fmax(1, (macs > 0 ? macs : (double)hd_tensor_elems(&g->tensors[x])) / results);
}

/* The doubt of a node's results. */
static struct doubt behind(const hd_graph *g, const struct hd_node *n, const struct doubt *of) {
    struct doubt y = {0};
    double d = 0;
    bool first = false;
    for (int k = 0; k < n->n_in; k++) {
        const struct doubt *x = n->in[k] < 0 ? NULL : &of[n->in[k]];
        if (!x) continue;
        if (x->depth > y.depth) y.depth = x->depth;
        d += n->op == HD_IR_concat ? fmax(d, x->absolute) - d : x->absolute;
        first = first || (k == 0 && x->absolute > 0);
        if (x->flips > y.flips) y.flips = x->flips;
        y.terms = fmax(y.terms, x->terms);
        y.lost = y.lost || x->lost;
        y.rounded = y.rounded || x->rounded;
    }
    if (n->op == HD_IR_dynamicquantize) y.flips += y.rounded;
    y.rounded = y.rounded || !is_exact(n->op);
    y.terms = quantised(n->op) ? 0 : y.terms + terms_of(g, n);
    if (n->op == HD_IR_dequantize)
        d = y.depth ? steps_of(y.depth) * extreme(&g->tensors[n->in[1]], true) : 0;
    else if (quantised(n->op))
        y.depth++, d = 0, y.lost = false;
    else if (d > 0 && !passes(n->op, d, weight(g, n, first), &d))
        d = 0, y.lost = true;
    y.absolute = d;
    return y;
}

static struct doubt doubt_of(hd_arena *a, const hd_graph *g, int tensor) {
    int *order = hd_new_array(a, int, g->n_nodes + 1);
    struct doubt *of = hd_new_array(a, struct doubt, g->n_tensors + 1);
    size_t n = hd_graph_order(g, order);
    for (size_t i = 0; i < n; i++) {
        const struct hd_node *nd = &g->nodes[order[i]];
        struct doubt y = behind(g, nd, of);
        for (int k = 0; k < nd->n_out; k++)
            if (nd->out[k] >= 0) of[nd->out[k]] = y;
    }
    return of[tensor];
}

/* What the type itself allows, behind sums of so many terms. */
static struct hd_tolerance of_type(hd_arena *a, hd_dtype t, double terms) {
    static const struct {
        hd_dtype type;
        int bits; /* of the fraction: a unit of the last place is 2^-bits of the value */
        double relative, of_largest;
    } rows[] = {
#define BITS_F32                                  23
#define BITS_F64                                  23
#define BITS_F16                                  10
#define BITS_BF16                                 7
#define FLOAT(type, relative, of_largest, reason) {HD_##type, BITS_##type, relative, of_largest},
#include "compiler/compare/tolerance.def"
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].type != t) continue;
        double ulp = ldexp(1, -rows[i].bits), largest = rows[i].of_largest;
#define SUMS(factor, reason)                                                                       \
    if (t == HD_F32 || t == HD_F64) largest = fmax(largest, ceil(factor * sqrt(terms)));
#include "compiler/compare/tolerance.def"
        return (struct hd_tolerance){
            .absolute = t == HD_F16 ? 0x1p-24 : 1e-7,
            .relative = rows[i].relative * ulp,
            .of_largest = largest * ulp,
            .text = hd_sprintf(a, "%g ulp, and %g of the largest", rows[i].relative, largest)};
    }
    return (struct hd_tolerance){.text = "exact"};
}

/* What a step in front of the integer operation that makes `tensor` moves its result by, in steps:
 * a softmax moves a probability by at most tanh(s) / 2, a table by its steepest difference. */
static double steepest(const hd_graph *g, int tensor, double steps) {
    const struct hd_node *n = NULL;
    double most = 1;
    for (int i = 0; i < 64 && g->tensors[tensor].producer >= 0; i++, tensor = n->in[0]) {
        n = &g->nodes[g->tensors[tensor].producer];
        if (n->op != HD_IR_reshape && n->op != HD_IR_transpose && n->op != HD_IR_identity) break;
    }
    if (n && n->op == HD_IR_qsoftmax)
        most = tanh((double)hd_attr_float(n, "x_scale", 0) * steps) / 2 *
               (double)hd_attr_float(n, "scale", 1) / steps;
    const struct hd_tensor *t = n && n->op == HD_IR_qtable ? &g->tensors[n->in[1]] : NULL;
    bool is_signed = t && g->tensors[n->in[0]].dtype == HD_I8;
    for (int x = 0; t && t->data && x < 255; x++) { /* neighbours in value, not in their bytes */
        int at = is_signed ? (x + 128) & 255 : x;
        most = fmax(most, fabs(hd_k_f64(t->data, t->dtype, at) -
                               hd_k_f64(t->data, t->dtype, (at + 1) & 255)));
    }
    return fmax(most, 1);
}

void hd_output_tolerance(hd_arena *a, const hd_graph *g, int tensor, struct hd_tolerance *out) {
    hd_dtype type = g->tensors[tensor].dtype;
    struct doubt d = doubt_of(a, g, tensor);
    double steps = steps_of(d.depth), flips = flips_of(d.flips);
    const char *s = steps > 1 ? "s" : "";
    *out = of_type(a, type, d.terms);
    if (!hd_k_is_float(type)) {
        if (!d.depth || (type != HD_I8 && type != HD_U8 && type != HD_I16 && type != HD_U16))
            return;
        out->absolute = steps * steepest(g, tensor, steps);
        out->text = hd_sprintf(a, "%.4g (%g step%s)", out->absolute, steps, s);
    } else if (flips > 0) {
        out->of_largest += flips / 255;
        out->text = hd_sprintf(a, "%s, and %.3g/255 of it (%d roundings of what is not exact)",
                               out->text, flips, d.flips);
    } else if (d.lost) {
        out->of_largest += steps / 255;
        out->text = hd_sprintf(a, "%s, and %g/255 of it (%g step%s)", out->text, steps, steps, s);
    } else if (d.absolute > 0) {
        out->absolute += d.absolute * (1 + 1e-6);
        out->text = hd_sprintf(a, "%.4g (%g step%s), %s", d.absolute, steps, s, out->text);
    }
}
