/* What operations compute: rows of meaning.def with the words in braces filled in. */
#include "compiler/ir/expression.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/ir/infer_int.h"
#include "compiler/ir/window.h"

struct maker {
    const struct hd_node *n;
    int n_in;
    const struct hd_tensor *const *in;
    const struct hd_tensor *out;
    hd_ctx *ctx; /* for what is asked of windows; messages are dropped */
};

/* ---- conditions ----------------------------------------------------------------------------- */

static const struct hd_tensor *operand(const struct maker *m, int i) {
    return i < m->n_in ? m->in[i] : NULL;
}
static bool has(const struct maker *m, int i) {
    return operand(m, i) != NULL;
}
static int type(const struct maker *m, int i) {
    return has(m, i) ? (int)m->in[i]->dtype : -1;
}
static int rank(const struct maker *m, int i) {
    return has(m, i) ? m->in[i]->rank : -1;
}
static bool floats(const struct maker *m) {
    return has(m, 0) && (HD_T_FLOAT >> type(m, 0) & 1);
}
static bool is_unsigned(const struct maker *m) {
    return has(m, 0) && (HD_T_UNSIGNED >> type(m, 0) & 1);
}
static bool numbers(const struct maker *m) {
    return has(m, 0) && (HD_T_NUMBER >> type(m, 0) & 1);
}
static bool known(const struct maker *m) {
    return has(m, 0) && (HD_T_ANY >> type(m, 0) & 1);
}
static bool result_type_known(const struct maker *m) {
    return HD_T_ANY >> m->out->dtype & 1;
}
static bool result_known(const struct maker *m) {
    return m->out->known;
}
static bool one_result(const struct maker *m) {
    return m->n->n_out == 1;
}
static int64_t number(const struct maker *m, const char *name, int64_t def) {
    return hd_attr_int(m->n, name, def);
}
static bool says(const struct maker *m, const char *name, const char *def, const char *want) {
    return !strcmp(hd_attr_string(m->n, name, def), want);
}
static bool get_window(const struct maker *m, struct hd_window_nd *v) {
    bool conv = has(m, 1);
    const struct hd_tensor *x = operand(m, 0);
    if (!x || x->rank < 3) return false;
    hd_status s = hd_window_nd_get(m->ctx, m->n, x, conv ? m->in[1]->dim + 2 : NULL, v);
    if (s != HD_OK) hd_clear(m->ctx);
    return s == HD_OK;
}
static bool window(const struct maker *m) {
    struct hd_window_nd v;
    return get_window(m, &v);
}
/* Axes of a reduction as a set; false = they are not known. */
static bool get_axes(const struct maker *m, unsigned *out) {
    int r = rank(m, 0);
    const struct hd_attr *one = hd_attr_get(m->n, "axis");
    bool single = m->n->op == HD_IR_softmax || m->n->op == HD_IR_logsoftmax ||
                  m->n->op == HD_IR_argmax || m->n->op == HD_IR_argmin;
    if (single) {
        bool soft = m->n->op == HD_IR_softmax || m->n->op == HD_IR_logsoftmax;
        int64_t axis = one ? one->i : soft ? -1 : 0;
        *out = 1u << (axis < 0 ? axis + r : axis);
        return r > 0;
    }
    *out = number(m, "noop_with_empty_axes", 0) ? 0 : ~0u;
    const struct hd_tensor *a = operand(m, 1);
    if (!a || hd_tensor_elems(a) == 0) return true;
    if (!a->data) return false;
    *out = 0;
    for (int64_t i = 0; i < hd_tensor_elems(a); i++) {
        int64_t v =
            a->dtype == HD_I64 ? ((const int64_t *)a->data)[i] : ((const int32_t *)a->data)[i];
        *out |= 1u << (v < 0 ? v + r : v);
    }
    return true;
}
static bool axes_known(const struct maker *m) {
    unsigned set;
    return get_axes(m, &set);
}
static bool axis_known(const struct maker *m) {
    int64_t axis = number(m, "axis", 1), r = rank(m, 0);
    bool one = has(m, 1) && hd_tensor_elems(m->in[1]) == 1;
    return has(m, 2) && (one || (axis >= -r && axis < r && rank(m, 1) == 1));
}
static bool axis_of_1(const struct maker *m) {
    return has(m, 1) && m->in[1]->data && hd_tensor_elems(m->in[1]) == 1 && rank(m, 0) > 0;
}
static int64_t the_axis(const struct maker *m) {
    const struct hd_tensor *a = operand(m, 1);
    int64_t axis = number(m, "axis", m->n->op == HD_IR_gather ? 0 : 1);
    if (m->n->op == HD_IR_cumsum)
        axis = a->dtype == HD_I64 ? *(const int64_t *)a->data : *(const int32_t *)a->data;
    return axis < 0 ? axis + rank(m, 0) : axis;
}

/* ---- rows ----------------------------------------------------------------------------------- */

static const char *row_of(const struct maker *m) {
#define MEANS(name, when, text)                                                                    \
    if (m->n->op == HD_IR_##name && (when)) return text;
#include "compiler/ir/meaning.def"
    return NULL;
}

/* ---- words in braces ------------------------------------------------------------------------ */

static void list(FILE *f, int n, const char *prefix) {
    for (int d = 0; d < n; d++) fprintf(f, "%s%s%d", d ? "," : "", prefix, d);
}

static void limit(FILE *f, bool *any, const char *prefix, int d, int64_t size) {
    fprintf(f, "%s%s%d < %lld", *any ? ", " : " where ", prefix, d, (long long)size);
    *any = true;
}

static void type_limit(FILE *f, int t, bool least) {
    bool no_sign = HD_T_UNSIGNED >> t & 1;
    int bits = hd_dtype_bits((hd_dtype)t);
    long long top = bits == 64 ? INT64_MAX : (INT64_C(1) << (bits - !no_sign)) - 1;
    if (HD_T_FLOAT >> t & 1)
        fputs(least ? "-inf" : "inf", f);
    else if (least)
        fprintf(f, "%lld", no_sign ? 0 : -top - 1);
    else
        fprintf(f, "%lld", top);
}

/* Indexes of a result of a reduction: i, or k where the axis is 1; its limits. */
static void kept(FILE *f, const struct maker *m, bool all_kept, bool limits) {
    unsigned set;
    bool any = false, keep = number(m, "keepdims", 1) && !all_kept;
    if (!get_axes(m, &set)) return;
    for (int d = 0; d < rank(m, 0); d++) {
        bool reduced = set >> d & 1;
        if (limits && reduced && keep) limit(f, &any, "k", d, 1);
        if (limits || (reduced && !keep)) continue;
        fprintf(f, "%s%s%d", any ? "," : "", reduced ? "k" : "i", d);
        any = true;
    }
}

static void count(FILE *f, const struct maker *m) {
    unsigned set = 0;
    int64_t n = 1;
    get_axes(m, &set);
    for (int d = 0; d < rank(m, 0); d++)
        if (set >> d & 1) n *= m->in[0]->dim[d];
    fprintf(f, "%lld", (long long)n);
}

static void at(FILE *f, const struct maker *m) {
    int64_t axis = the_axis(m);
    const struct hd_tensor *x = m->in[0];
    for (int d = 0; d < x->rank; d++) {
        if (d) fputc(',', f);
        if (d != axis)
            fprintf(f, "i%d", d);
        else if (m->n->op == HD_IR_gather)
            fprintf(f, "select(t[i%d] < 0, t[i%d] + %lld, t[i%d])", d, d, (long long)x->dim[d], d);
        else
            fputs("at", f);
    }
}

static void perm(FILE *f, const struct maker *m) {
    int64_t p[HD_MAX_RANK];
    int r = rank(m, 0), n = hd_attr_ints(m->n, "perm", p, HD_MAX_RANK, 0);
    for (int d = 0; d < r; d++) {
        int from = r - 1 - d;
        for (int k = 0; k < n; k++)
            if (p[k] == d) from = k;
        fprintf(f, "%sj%d", d ? "," : "", from);
    }
}

/* The place of {j} in the result, taken apart by operand 0's dimensions. */
static void flat(FILE *f, const struct maker *m) {
    const struct hd_tensor *x = m->in[0], *y = m->out;
    int64_t step = 1, steps[HD_MAX_RANK] = {0};
    for (int d = x->rank - 1; d >= 0; step *= x->dim[d--]) steps[d] = step;
    for (int d = 0; d < x->rank; d++) {
        if (d) fputc(',', f);
        fputc('(', f);
        int64_t mine = 1;
        for (int k = y->rank - 1; k >= 0; mine *= y->dim[k--])
            fprintf(f, "j%d*%lld + ", k, (long long)mine);
        fprintf(f, "0)/%lld%%%lld", (long long)(steps[d] ? steps[d] : 1),
                (long long)(x->dim[d] ? x->dim[d] : 1));
    }
}

static void wrap(FILE *f, const struct maker *m) {
    const struct hd_tensor *x = m->in[0];
    for (int d = 0; d < x->rank; d++)
        fprintf(f, "%sj%d%%%lld", d ? "," : "", m->out->rank - x->rank + d, (long long)x->dim[d]);
}

/* Indexes of operand i, a vector along the axis or channels, or one element. */
static void along(FILE *f, const struct maker *m, int i) {
    const struct hd_tensor *t = operand(m, i);
    bool one = t && hd_tensor_elems(t) == 1;
    const char *letter = m->n->op == HD_IR_qgemm           ? "n"
                         : m->n->op == HD_IR_gemm          ? "j"
                         : m->n->op != HD_IR_matmulinteger ? "m"
                         : i == 2                          ? "i"
                                                           : "j";
    for (int d = 0; t && d < t->rank; d++) {
        if (d) fputc(',', f);
        if (one)
            fputc('0', f);
        else if (m->n->op == HD_IR_quantize || m->n->op == HD_IR_dequantize)
            fprintf(f, "i%lld", (long long)the_axis(m));
        else
            fputs(letter, f);
    }
}

/* One word of a window in dimension d. */
static void window_word(FILE *f, const struct hd_window_nd *v, const char *word, int d) {
    long long s = v->stride[d], dil = v->dilation[d], b = v->before[d], in = v->in[d];
    if (!strcmp(word, "win")) {
        fprintf(f, "o%d*%lld + k%d*%lld - %lld", d, s, d, dil, b);
    } else if (!strcmp(word, "wl")) {
        fprintf(f, "o%d < %lld, k%d < %lld", d, (long long)v->out[d], d, (long long)v->kernel[d]);
    } else {
        bool pad = !strcmp(word, "padded");
        fprintf(f, "o%d*%lld + k%d*%lld >= %lld & o%d*%lld + k%d*%lld < %lld", d, s, d, dil,
                pad ? 0 : b, d, s, d, dil, b + in + (pad ? (long long)v->after[d] : 0));
    }
}

static bool windows(FILE *f, const struct maker *m, const char *word) {
    static const char *const words[] = {"o",      "k",    "win", "wl", "inside",
                                        "padded", "taps", "mg",  "cg"};
    struct hd_window_nd v;
    int64_t taps = 1, group = number(m, "group", 1);
    bool found = false;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        found = found || !strcmp(words[i], word);
    if (!found || !get_window(m, &v)) return false;
    for (int d = 0; d < v.sp; d++) taps *= v.kernel[d];
    if (!strcmp(word, "o") || !strcmp(word, "k"))
        list(f, v.sp, word);
    else if (!strcmp(word, "taps"))
        fprintf(f, "%lld", (long long)taps);
    else if (!strcmp(word, "mg"))
        fprintf(f, "%lld", (long long)(m->in[1]->dim[0] / group));
    else if (!strcmp(word, "cg"))
        fprintf(f, "%lld", (long long)(v.c / group));
    else
        for (int d = 0; d < v.sp; d++) {
            bool truth = !strcmp(word, "inside") || !strcmp(word, "padded");
            if (d) fputs(truth ? " & " : ", ", f);
            window_word(f, &v, word, d);
        }
    return true;
}

static bool reductions(FILE *f, const struct maker *m, const char *word) {
    if (!strcmp(word, "kept"))
        kept(f, m, false, false);
    else if (!strcmp(word, "kl"))
        kept(f, m, false, true);
    else if (!strcmp(word, "rest"))
        kept(f, m, true, false);
    else if (!strcmp(word, "count"))
        count(f, m);
    else if (!strcmp(word, "at"))
        at(f, m);
    else if (!strcmp(word, "axis"))
        fprintf(f, "i%lld", (long long)the_axis(m));
    else if (!strcmp(word, "size"))
        fprintf(f, "%lld", (long long)m->in[0]->dim[the_axis(m)]);
    else
        return false;
    return true;
}

static void fill_in(FILE *f, const struct maker *m, const char *word) {
    bool any = false;
    if (!strcmp(word, "t"))
        fputs(hd_dtype_name(m->in[0]->dtype), f);
    else if (!strcmp(word, "y"))
        fputs(hd_dtype_name(m->out->dtype), f);
    else if (!strcmp(word, "lowest"))
        type_limit(f, (int)m->in[0]->dtype, true);
    else if (!strcmp(word, "lo") || !strcmp(word, "hi"))
        type_limit(f, (int)m->out->dtype, word[0] == 'l');
    else if (!strcmp(word, "i"))
        list(f, rank(m, 0), "i");
    else if (!strcmp(word, "j"))
        list(f, m->out->rank, "j");
    else if (!strcmp(word, "jl"))
        for (int d = 0; d < m->out->rank; d++) limit(f, &any, "j", d, m->out->dim[d]);
    else if (!strcmp(word, "perm"))
        perm(f, m);
    else if (!strcmp(word, "flat"))
        flat(f, m);
    else if (!strcmp(word, "wrap"))
        wrap(f, m);
    else if (word[0] == 's' && word[1] >= '1' && word[1] <= '3')
        along(f, m, word[1] - '0');
    else
        HD_ASSERT(windows(f, m, word) || reductions(f, m, word));
}

static const char *filled(hd_arena *a, const struct maker *m, const char *row) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *f = open_memstream(&text, &bytes);
    HD_ASSERT(f);
    for (; *row; row++) {
        const char *end = *row == '{' ? strchr(row, '}') : NULL;
        if (!end) {
            fputc(*row, f);
            continue;
        }
        fill_in(f, m, hd_strndup(a, row + 1, (size_t)(end - row - 1)));
        row = end;
    }
    fclose(f);
    const char *kept_text = hd_strdup(a, text);
    free(text);
    return kept_text;
}

const char *hd_expression_of(hd_arena *a, const struct hd_node *n, int n_in,
                             const struct hd_tensor *const *in, const struct hd_tensor *out) {
    struct maker m = {.n = n, .n_in = n_in, .in = in, .out = out, .ctx = hd_ctx_create()};
    const char *row = n->op == HD_IR_expression ? NULL : row_of(&m), *text = NULL;
    if (n->op == HD_IR_expression) text = hd_attr_string(n, "expression", NULL);
    if (row) text = filled(a, &m, row);
    hd_ctx_destroy(m.ctx);
    return text;
}
