/* What operations compute: rows of meaning.def with the words in braces filled in. */
#include "compiler/ir/expression.h"

#include <math.h>
#include <stdlib.h>

#include "compiler/ir/infer_int.h"
#include "compiler/ir/meaning_int.h"
#include "compiler/ir/window.h"
#include "runtime/base/num.h"

/* ---- conditions ----------------------------------------------------------------------------- */

static bool has(const struct hd_maker *m, int i) {
    return hd_mean_operand(m, i) != NULL;
}
static int type(const struct hd_maker *m, int i) {
    return has(m, i) ? (int)m->in[i]->dtype : -1;
}
static int rank(const struct hd_maker *m, int i) {
    return has(m, i) ? m->in[i]->rank : -1;
}
static bool floats(const struct hd_maker *m) {
    return has(m, 0) && (HD_T_FLOAT >> type(m, 0) & 1);
}
static bool is_unsigned(const struct hd_maker *m) {
    return has(m, 0) && (HD_T_UNSIGNED >> type(m, 0) & 1);
}
static bool numbers(const struct hd_maker *m) {
    return has(m, 0) && (HD_T_NUMBER >> type(m, 0) & 1);
}
static bool known(const struct hd_maker *m) {
    return has(m, 0) && (HD_T_ANY >> type(m, 0) & 1);
}
static bool result_type_known(const struct hd_maker *m) {
    return HD_T_ANY >> m->out->dtype & 1;
}
static bool result_known(const struct hd_maker *m) {
    return m->out->known;
}
static bool result_type_is(const struct hd_maker *m, int t) {
    return (int)m->out->dtype == t;
}
static int result_rank(const struct hd_maker *m) {
    return m->out->rank;
}
static int64_t dim(const struct hd_maker *m, int i, int d) {
    return d < rank(m, i) ? m->in[i]->dim[d] : -1;
}
static int results(const struct hd_maker *m) {
    return m->n->n_out;
}
static int64_t number(const struct hd_maker *m, const char *name, int64_t def) {
    return hd_attr_int(m->n, name, def);
}
static bool says(const struct hd_maker *m, const char *name, const char *def, const char *want) {
    return !strcmp(hd_attr_string(m->n, name, def), want);
}
static bool get_window(const struct hd_maker *m, struct hd_window_nd *v) {
    bool conv = has(m, 1),
         back = m->n->op == HD_IR_convtranspose || m->n->op == HD_IR_qconvtranspose;
    const struct hd_tensor *x = hd_mean_operand(m, 0);
    if (!x || x->rank < 3) return false;
    hd_status s = (back ? hd_window_transposed_get
                        : hd_window_nd_get)(m->ctx, m->n, x, conv ? m->in[1]->dim + 2 : NULL, v);
    if (s != HD_OK) hd_clear(m->ctx);
    return s == HD_OK;
}
static bool window(const struct hd_maker *m) {
    struct hd_window_nd v;
    return get_window(m, &v);
}
int hd_mean_ints(const struct hd_maker *m, int i, int64_t *out, int max) {
    const struct hd_tensor *t = hd_mean_operand(m, i);
    int64_t n = t ? hd_tensor_elems(t) : 0;
    if (n == 0) return 0;
    if (!t->data || n > max || (t->dtype != HD_I64 && t->dtype != HD_I32)) return -1;
    for (int64_t k = 0; k < n; k++)
        out[k] = t->dtype == HD_I64 ? ((const int64_t *)t->data)[k] : ((const int32_t *)t->data)[k];
    return (int)n;
}
int64_t hd_mean_axis(const struct hd_maker *m, int64_t def, int rank) {
    int64_t axis = number(m, "axis", def);
    return axis < 0 ? axis + rank : axis;
}
/* Of the operations that normalise along attribute axis, from it on, or along attribute axes. */
static bool axes_of_norm(const struct hd_maker *m, unsigned *out) {
    int r = rank(m, 0);
    bool first = m->n->op == HD_IR_argmax || m->n->op == HD_IR_argmin;
    int64_t list[HD_MAX_RANK], axis = hd_mean_axis(m, first ? 0 : -1, r);
    *out = 1u << axis;
    if (m->n->op == HD_IR_layernorm) *out = ~0u << axis;
    if (m->n->op != HD_IR_mvn) return r > 0 && axis >= 0 && axis < r;
    int n = hd_attr_ints(m->n, "axes", list, HD_MAX_RANK, 0);
    *out = 0;
    for (int i = 0; i < n; i++) *out |= 1u << (list[i] < 0 ? list[i] + r : list[i]);
    return true;
}
bool hd_mean_axes(const struct hd_maker *m, unsigned *out) {
    static const enum hd_ir_op norms[] = {
        HD_IR_softmax, HD_IR_logsoftmax, HD_IR_hardmax, HD_IR_argmax,   HD_IR_argmin,
        HD_IR_lpnorm,  HD_IR_layernorm,  HD_IR_mvn,     HD_IR_qsoftmax, HD_IR_qlayernorm};
    int64_t axes[HD_MAX_RANK];
    for (size_t i = 0; i < sizeof norms / sizeof norms[0]; i++)
        if (m->n->op == norms[i]) return axes_of_norm(m, out);
    int n = hd_mean_ints(m, 1, axes, HD_MAX_RANK), r = rank(m, 0);
    *out = number(m, "noop_with_empty_axes", 0) ? 0 : ~0u;
    if (n > 0) *out = 0;
    for (int i = 0; i < n; i++) *out |= 1u << (axes[i] < 0 ? axes[i] + r : axes[i]);
    return n >= 0;
}
static bool axes_known(const struct hd_maker *m) {
    unsigned set;
    return hd_mean_axes(m, &set);
}
static bool axis_known(const struct hd_maker *m) {
    int64_t axis = number(m, "axis", 1), r = rank(m, 0);
    bool one = has(m, 1) && hd_tensor_elems(m->in[1]) == 1;
    return has(m, 2) && (one || (axis >= -r && axis < r && rank(m, 1) == 1));
}
static bool axis_of_1(const struct hd_maker *m) {
    int64_t axis;
    return hd_mean_ints(m, 1, &axis, 1) == 1 && axis >= -rank(m, 0) && axis < rank(m, 0);
}
/* The dimensions that the result has are there. */
static bool shape_inside(const struct hd_maker *m) {
    int64_t from = number(m, "start", 0), r = rank(m, 0);
    from = from < 0 ? from + r : from;
    return m->out->dim[0] <= r - (from < 0 ? 0 : from);
}
static int64_t the_axis(const struct hd_maker *m) {
    const struct hd_tensor *a = hd_mean_operand(m, 1);
    int64_t axis = number(m, "axis", m->n->op == HD_IR_hardmax ? -1 : 1);
    if (m->n->op == HD_IR_cumsum || m->n->op == HD_IR_cumprod)
        axis = a->dtype == HD_I64 ? *(const int64_t *)a->data : *(const int32_t *)a->data;
    return axis < 0 ? axis + rank(m, 0) : axis;
}

/* ---- rows ----------------------------------------------------------------------------------- */

static const char *row_of(const struct hd_maker *m) {
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
static void kept(FILE *f, const struct hd_maker *m, bool all_kept, bool limits) {
    unsigned set;
    bool any = false, keep = number(m, "keepdims", 1) && !all_kept;
    if (!hd_mean_axes(m, &set)) return;
    for (int d = 0; d < rank(m, 0); d++) {
        bool reduced = set >> d & 1;
        if (limits && reduced && keep) limit(f, &any, "k", d, 1);
        if (limits || (reduced && !keep)) continue;
        fprintf(f, "%s%s%d", any ? "," : "", reduced ? "k" : "i", d);
        any = true;
    }
}

static void count(FILE *f, const struct hd_maker *m) {
    unsigned set = 0;
    int64_t n = 1;
    hd_mean_axes(m, &set);
    for (int d = 0; d < rank(m, 0); d++)
        if (set >> d & 1) n *= m->in[0]->dim[d];
    fprintf(f, "%lld", (long long)n);
}

static void at(FILE *f, const struct hd_maker *m) {
    int64_t axis = the_axis(m);
    const struct hd_tensor *x = m->in[0];
    for (int d = 0; d < x->rank; d++) {
        if (d) fputc(',', f);
        if (d != axis)
            fprintf(f, "i%d", d);
        else
            fputs("at", f);
    }
}

static void perm(FILE *f, const struct hd_maker *m) {
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
static void flat(FILE *f, const struct hd_maker *m) {
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

static void wrap(FILE *f, const struct hd_maker *m) {
    const struct hd_tensor *x = m->in[0];
    for (int d = 0; d < x->rank; d++)
        fprintf(f, "%sj%d%%%lld", d ? "," : "", m->out->rank - x->rank + d, (long long)x->dim[d]);
}

/* Indexes of operand i, a vector along the axis or channels, or one element. */
static void along(FILE *f, const struct hd_maker *m, int i) {
    const struct hd_tensor *t = hd_mean_operand(m, i);
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
    } else if (!strcmp(word, "ol")) {
        fprintf(f, "o%d < %lld", d, (long long)v->out[d]);
    } else if (!strcmp(word, "back") || !strcmp(word, "lands")) {
        fprintf(f, "(o%d + %lld - k%d*%lld)%c%lld%s", d, b, d, dil, word[0] == 'b' ? '/' : '%', s,
                word[0] == 'b' ? "" : " == 0");
    } else {
        bool pad = !strcmp(word, "padded");
        fprintf(f, "o%d*%lld + k%d*%lld >= %lld & o%d*%lld + k%d*%lld < %lld", d, s, d, dil,
                pad ? 0 : b, d, s, d, dil, b + in + (pad ? (long long)v->after[d] : 0));
    }
}

static int64_t out_channels(const struct hd_maker *m) {
    bool back = m->n->op == HD_IR_convtranspose;
    return back ? m->in[1]->dim[1] * number(m, "group", 1) : m->in[1]->dim[0];
}

/* Index of the image by a window's place and `tap`, which counts all taps; place: as one number,
 * behind those of the channel, by tensor a. */
static void tapped(FILE *f, const struct hd_window_nd *v, bool place) {
    int64_t step = 1, steps[HD_MAX_SPATIAL] = {0};
    for (int d = v->sp - 1; d >= 0; step *= v->kernel[d--]) steps[d] = step;
    for (int d = 0; d < v->sp && place; d++) fputc('(', f);
    if (place) fprintf(f, "n*%lld + c", (long long)v->c);
    for (int d = 0; d < v->sp; d++) {
        if (place)
            fprintf(f, ")*%lld + ", (long long)v->in[d]);
        else if (d)
            fputc(',', f);
        fprintf(f, "o%d*%lld + ", d, (long long)v->stride[d]);
        fputs(place ? "a[n,c," : "tap", f);
        if (place) list(f, v->sp, "o");
        fprintf(f, "%s/%lld%%%lld*%lld - %lld", place ? "]" : "", (long long)steps[d],
                (long long)v->kernel[d], (long long)v->dilation[d], (long long)v->before[d]);
    }
}

static bool windows(FILE *f, const struct hd_maker *m, const char *word) {
    static const char *const words[] = {"o",      "k",     "win",    "wl",      "ol",
                                        "inside", "back",  "padded", "taps",    "mg",
                                        "cg",     "lands", "tapped", "flatwin", "channels"};
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
    else if (!strcmp(word, "mg") || !strcmp(word, "channels"))
        fprintf(f, "%lld", (long long)(out_channels(m) / (word[0] == 'm' ? group : 1)));
    else if (!strcmp(word, "tapped") || !strcmp(word, "flatwin"))
        tapped(f, &v, word[0] == 'f');
    else if (!strcmp(word, "cg"))
        fprintf(f, "%lld", (long long)(v.c / group));
    else
        for (int d = 0; d < v.sp; d++) {
            bool truth = !strcmp(word, "inside") || !strcmp(word, "padded") || word[0] == 'l';
            if (d) fputs(truth ? " & " : ", ", f);
            window_word(f, &v, word, d);
        }
    return true;
}

static bool reductions(FILE *f, const struct hd_maker *m, const char *word) {
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

/* Indexes of operand i, which broadcasts to operand 0. */
static void broadcast(FILE *f, const struct hd_maker *m, int i) {
    const struct hd_tensor *t = hd_mean_operand(m, i);
    for (int d = 0; t && d < t->rank; d++)
        if (t->dim[d] == 1)
            fprintf(f, "%s0", d ? "," : "");
        else
            fprintf(f, "%si%d", d ? "," : "", rank(m, 0) - t->rank + d);
}

/* The mean of bytes in four sums, as the machine forms it: what is left over by four. */
static void tail(FILE *f, const struct hd_maker *m) {
    const struct hd_tensor *x = m->in[0];
    int64_t n = x->dim[2] * x->dim[3], w = x->dim[3];
    for (int64_t i = n / 4 * 4; i < n; i++)
        fprintf(f, " + f32(i32(x[n,c,%lld,%lld]) - x_zp)*x_scale", (long long)(i / w),
                (long long)(i % w));
}

/* Of nllloss, by the indexes of its targets: these, the loss, which is left out. */
static bool targets(FILE *f, const struct hd_maker *m, const char *word) {
    const struct hd_attr *ignore = hd_attr_get(m->n, "ignore_index");
    bool ignored = !strcmp(word, "ignored"), chosen = !strcmp(word, "chosen");
    if (!ignored && !chosen && strcmp(word, "ti") && strcmp(word, "place")) return false;
    if (ignored && !ignore) {
        fputs("0 == 1", f);
        return true;
    }
    if (!strcmp(word, "place")) fputs("t0,", f);
    if (strcmp(word, "ti")) fputs("i64(t[", f);
    list(f, rank(m, 1), "t");
    if (strcmp(word, "ti")) fputs("])", f);
    if (ignored) fprintf(f, " == %lld", (long long)ignore->i);
    for (int d = 1; d < rank(m, 1) && !strcmp(word, "place"); d++) fprintf(f, ",t%d", d);
    return true;
}

/* Operand c of gemm, which broadcasts to i, j. */
static void gemm_c(FILE *f, const struct hd_maker *m) {
    const struct hd_tensor *c = m->in[2];
    for (int d = 0; d < c->rank; d++)
        fprintf(f, "%s%s", d ? "," : "", c->dim[d] == 1 ? "0" : c->rank - d == 2 ? "i" : "j");
}

/* Sums of a row in int32: a power of two, exact in binary32. */
static void steps(FILE *f, const struct hd_maker *m) {
    const struct hd_tensor *x = m->in[0];
    int64_t n = x->dim[hd_mean_axis(m, -1, x->rank)];
    bool softmax = m->n->op == HD_IR_qsoftmax;
    fprintf(f, "%.9f", ldexp(1, softmax ? hd_softmax_bits(n) : hd_norm_bits(n)));
}

/* Numbers that follow from shapes. */
static bool counts(FILE *f, const struct hd_maker *m, const char *word) {
    const struct hd_tensor *x = hd_mean_operand(m, 0);
    int64_t v = 1, from = number(m, "start", 0);
    if (!strcmp(word, "plane")) { /* elements behind the channels */
        for (int d = 2; d < x->rank; d++) v *= x->dim[d];
    } else if (!strcmp(word, "elems")) {
        v = hd_tensor_elems(x);
    } else if (!strcmp(word, "groups")) {
        v = number(m, "num_groups", 1);
    } else if (!strcmp(word, "cs")) { /* channels of a group */
        v = x->dim[1] / number(m, "num_groups", 1);
    } else if (!strcmp(word, "period")) {
        v = m->out->dim[0] - !number(m, "periodic", 1);
        v = v < 1 ? 1 : v;
    } else if (!strcmp(word, "quads")) {
        v = x->dim[2] * x->dim[3] / 4;
    } else if (!strcmp(word, "lanes")) {
        v = x->dim[1];
    } else if (!strcmp(word, "steps")) {
        steps(f, m);
        return true;
    } else if (!strcmp(word, "onaxis") || !strcmp(word, "depth")) {
        v = hd_mean_axis(m, -1, m->out->rank);
        v = word[0] == 'd' ? m->out->dim[v] : v;
    } else if (!strcmp(word, "tail") || !strcmp(word, "gc")) {
        (word[0] == 't' ? tail : gemm_c)(f, m);
        return true;
    } else if (!strcmp(word, "shape")) { /* by j0 */
        from = from < 0 ? from + x->rank : from;
        from = from < 0 ? 0 : from;
        for (int64_t d = 0; d + 1 < m->out->dim[0]; d++)
            fprintf(f, "select(j0 == %lld, i64(%lld), ", (long long)d, (long long)x->dim[from + d]);
        v = m->out->dim[0] ? x->dim[from + m->out->dim[0] - 1] : 0;
        fprintf(f, "i64(%lld)", (long long)v);
        for (int64_t d = 0; d + 1 < m->out->dim[0]; d++) fputc(')', f);
        return true;
    } else {
        return false;
    }
    fprintf(f, "%lld", (long long)v);
    return true;
}

static void fill_in(FILE *f, const struct hd_maker *m, const char *word) {
    bool any = false;
    if (m->n->op == HD_IR_nllloss && targets(f, m, word)) return;
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
    else if (!strcmp(word, "il"))
        for (int d = 0; d < rank(m, 0); d++) limit(f, &any, "i", d, m->in[0]->dim[d]);
    else if (!strcmp(word, "tl"))
        for (int d = 0; d < rank(m, 1); d++) limit(f, &any, "t", d, m->in[1]->dim[d]);
    else if (!strcmp(word, "perm"))
        perm(f, m);
    else if (!strcmp(word, "flat"))
        flat(f, m);
    else if (!strcmp(word, "wrap"))
        wrap(f, m);
    else if ((word[0] == 's' || word[0] == 'b') && word[1] >= '0' && word[1] <= '3' && !word[2])
        (word[0] == 's' ? along : broadcast)(f, m, word[1] - '0');
    else
        HD_ASSERT(windows(f, m, word) || reductions(f, m, word) || counts(f, m, word) ||
                  hd_mean_move_word(f, m, word) || hd_mean_sample_word(f, m, word));
}

static const char *filled(hd_arena *a, const struct hd_maker *m, const char *row) {
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
    struct hd_maker m = {.n = n, .n_in = n_in, .in = in, .out = out, .ctx = hd_ctx_create()};
    const char *row = n->op == HD_IR_expression ? NULL : row_of(&m), *text = NULL;
    if (n->op == HD_IR_expression) text = hd_attr_string(n, "expression", NULL);
    if (row) text = filled(a, &m, row);
    hd_ctx_destroy(m.ctx);
    return text;
}
