/* ai.onnx.preview.training: one step of an optimiser, for any number of tensors. Inputs rate R,
 * step T, then the weights, their gradients and the states, each for all tensors; outputs the new
 * weights and states. And Gradient, the derivatives of a tensor of the graph by others.
 * Source: the ONNX pages Adagrad-1, Adam-1, Gradient-1, Momentum-1. */
#include <string.h>

#include "compiler/grad/grad.h"
#include "compiler/import/onnx/build.h"

struct step {
    struct hd_onnx_build b;
    int rate, t;   /* scalars; t as f32 or f64, like the weights */
    hd_dtype type; /* of the weights */
    size_t n;      /* tensors */
};

static int num(struct step *s, double v) {
    return hd_build_scalar(&s->b, "number", s->type, v);
}

static int two(struct step *s, enum hd_ir_op op, int x, int y) {
    return hd_build_two(&s->b, op, hd_ir_ops[op].name, x, y);
}

static int root(struct step *s, int x) {
    return hd_build(&s->b, HD_IR_sqrt, "sqrt", 1, &x);
}

static double number_of(const struct step *s, const char *name) {
    return (double)hd_onnx_float(s->b.n, name, 0);
}

/* Tensor i of group k: 0 the weights, 1 gradients, 2 and 3 states. */
static int tensor_of(const struct step *s, size_t k, size_t i) {
    return hd_onnx_in(s->b.m, s->b.n, 2 + k * s->n + i);
}

/* Group k of the results. */
static void give(struct step *s, size_t k, size_t i, int value) {
    size_t at = k * s->n + i;
    if (s->b.s == HD_OK && at < s->b.n->n_out) s->b.s = hd_build_end(&s->b, at, value);
}

/* Gradient, with norm_coefficient times the weights added. */
static int regularised(struct step *s, size_t i) {
    double norm = number_of(s, "norm_coefficient");
    int g = tensor_of(s, 1, i);
    return norm == 0 ? g
                     : two(s, HD_IR_add, two(s, HD_IR_mul, tensor_of(s, 0, i), num(s, norm)), g);
}

static hd_status begin(struct step *s, struct hd_importer *m, const struct hd_onnx_node *n,
                       size_t groups) {
    size_t left = n->n_in - 2;
    if (n->n_in < 2 + groups || left % groups)
        return hd_onnx_bad(m, n, HD_INVALID, "%zu inputs, want 2 and %zu for each tensor", n->n_in,
                           groups);
    for (size_t i = 0; i < n->n_in; i++)
        if (hd_onnx_in(m, n, i) < 0)
            return hd_onnx_bad(m, n, HD_INVALID, "input %zu is left out", i);
    *s = (struct step){.b = {m, n, HD_OK}, .n = left / groups};
    s->type = hd_onnx_tensor(m, n, 2)->dtype;
    s->rate = hd_build_cast(&s->b, "rate", hd_onnx_in(m, n, 0), s->type);
    s->t = hd_build_cast(&s->b, "step", hd_onnx_in(m, n, 1), s->type);
    return s->b.s;
}

/* a where t is not 0, else b. */
static int later(struct step *s, int a, int b) {
    int first = two(s, HD_IR_equal, s->t, num(s, 0));
    return hd_build(&s->b, HD_IR_where, "later", 3, (int[]){first, b, a});
}

hd_status import_training_Adagrad(struct hd_importer *m, const struct hd_onnx_node *n) {
    struct step s;
    TRY(begin(&s, m, n, 3));
    int slower = two(&s, HD_IR_mul, s.t, num(&s, number_of(&s, "decay_factor")));
    int rate = two(&s, HD_IR_div, s.rate, two(&s, HD_IR_add, slower, num(&s, 1)));
    double epsilon = (double)hd_onnx_float(n, "epsilon", 1e-6f);
    for (size_t i = 0; i < s.n; i++) {
        int g = regularised(&s, i);
        int h = two(&s, HD_IR_add, tensor_of(&s, 2, i), two(&s, HD_IR_mul, g, g));
        int by = two(&s, HD_IR_add, root(&s, h), num(&s, epsilon));
        int d = two(&s, HD_IR_div, two(&s, HD_IR_mul, rate, g), by);
        give(&s, 0, i, two(&s, HD_IR_sub, tensor_of(&s, 0, i), d));
        give(&s, 1, i, h);
    }
    return s.b.s;
}

/* d a + (1 - d) b */
static int mean(struct step *s, int a, int b, double d) {
    return two(s, HD_IR_add, two(s, HD_IR_mul, a, num(s, d)), two(s, HD_IR_mul, b, num(s, 1 - d)));
}

/* 1 - d^t */
static int seen(struct step *s, double d) {
    return two(s, HD_IR_sub, num(s, 1), two(s, HD_IR_pow, num(s, d), s->t));
}

hd_status import_training_Adam(struct hd_importer *m, const struct hd_onnx_node *n) {
    struct step s;
    TRY(begin(&s, m, n, 4));
    double alpha = (double)hd_onnx_float(n, "alpha", 0.9f);
    double beta = (double)hd_onnx_float(n, "beta", 0.999f);
    double epsilon = (double)hd_onnx_float(n, "epsilon", 1e-6f);
    double post = 1 - number_of(&s, "norm_coefficient_post");
    int factor = two(&s, HD_IR_div, root(&s, seen(&s, beta)), seen(&s, alpha));
    int rate = later(&s, two(&s, HD_IR_mul, s.rate, factor), s.rate);
    for (size_t i = 0; i < s.n; i++) {
        int g = regularised(&s, i);
        int v = mean(&s, tensor_of(&s, 2, i), g, alpha);
        int h = mean(&s, tensor_of(&s, 3, i), two(&s, HD_IR_mul, g, g), beta);
        int by = two(&s, HD_IR_add, root(&s, h), num(&s, epsilon));
        int d = two(&s, HD_IR_div, two(&s, HD_IR_mul, rate, v), by);
        int x = two(&s, HD_IR_sub, tensor_of(&s, 0, i), d);
        give(&s, 0, i, post == 1 ? x : two(&s, HD_IR_mul, x, num(&s, post)));
        give(&s, 1, i, v);
        give(&s, 2, i, h);
    }
    return s.b.s;
}

hd_status import_training_Momentum(struct hd_importer *m, const struct hd_onnx_node *n) {
    struct step s;
    const char *mode = hd_onnx_string(n, "mode", "");
    bool nesterov = !strcmp(mode, "nesterov");
    TRY(begin(&s, m, n, 3));
    if (!nesterov && strcmp(mode, "standard") != 0)
        return hd_onnx_bad(m, n, HD_INVALID, "mode '%s', allowed standard, nesterov", mode);
    int alpha = num(&s, number_of(&s, "alpha"));
    int beta = later(&s, num(&s, number_of(&s, "beta")), num(&s, 1));
    for (size_t i = 0; i < s.n; i++) {
        int g = regularised(&s, i), kept = two(&s, HD_IR_mul, tensor_of(&s, 2, i), alpha);
        int v = two(&s, HD_IR_add, kept, two(&s, HD_IR_mul, g, beta));
        int d = nesterov ? two(&s, HD_IR_add, g, two(&s, HD_IR_mul, v, alpha)) : v;
        give(&s, 0, i, two(&s, HD_IR_sub, tensor_of(&s, 0, i), two(&s, HD_IR_mul, d, s.rate)));
        give(&s, 1, i, v);
    }
    return s.b.s;
}

/* The tensors of a list of names, which have to be the inputs from `at` on: ONNX lets them be
 * others, and the part of the graph between them and y would have to be there again, for their
 * values. */
static hd_status same_tensors(struct hd_importer *m, const struct hd_onnx_node *n, const char *list,
                              size_t at, size_t *out_n) {
    const struct hd_onnx_attr *a = hd_onnx_attr(n, list);
    *out_n = a ? a->n_strings : 0;
    for (size_t i = 0; i < *out_n; i++)
        if (at + i >= n->n_in || hd_scope_find(m, a->strings[i]) < 0 ||
            hd_scope_find(m, a->strings[i]) != hd_onnx_in(m, n, at + i))
            return hd_onnx_bad(m, n, HD_UNSUPPORTED,
                               "input %zu is not '%s' of %s; want the tensors of xs, then of zs",
                               at + i, a->strings[i], list);
    return HD_OK;
}

hd_status import_training_Gradient(struct hd_importer *m, const struct hd_onnx_node *n) {
    size_t n_x, n_z;
    const char *name = hd_onnx_string(n, "y", "");
    int y = hd_scope_find(m, name);
    TRY(same_tensors(m, n, "xs", 0, &n_x));
    TRY(same_tensors(m, n, "zs", n_x, &n_z)); /* they stay as they are */
    if (!n_x || n_x + n_z != n->n_in)
        return hd_onnx_bad(m, n, HD_INVALID, "%zu inputs, xs has %zu names and zs %zu", n->n_in,
                           n_x, n_z);
    if (y < 0)
        return hd_onnx_bad(m, n, HD_INVALID, "y is '%s', which no node in front makes", name);
    int *x = hd_new_array(m->arena, int, n_x), *dx = hd_new_array(m->arena, int, n_x);
    for (size_t i = 0; i < n_x; i++) x[i] = hd_onnx_in(m, n, i);
    TRY(hd_note(m->ctx, hd_grad(m->ctx, m->g, y, x, (int)n_x, dx), "in node '%s' (Gradient)",
                n->name));
    struct hd_onnx_build b = {m, n, HD_OK};
    for (size_t i = 0; i < n_x && i < n->n_out && b.s == HD_OK; i++)
        b.s = hd_build_end(&b, i, dx[i]);
    return b.s;
}
