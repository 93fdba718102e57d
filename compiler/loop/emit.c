/* Values of the loop IR as text: what C11 and the languages of GPUs share. The formulas are the
 * text of expr.def. */
#include "compiler/loop/emit.h"

#include "compiler/expr/expr_int.h"

static const struct {
    const char *name, *float_y, *int_y, *uint_y;
} formula[HD_EXPR_OPS] = {
#define PREFIX(name, text, types, float_y, int_y)                                                  \
    [HD_EXPR_##name] = {#name, #float_y, #int_y, #int_y},
#define FUNCTION(name, types, float_y, int_y)            [HD_EXPR_##name] = {#name, #float_y, #int_y, #int_y},
#define INFIX(name, text, level, types, result, f, i, u) [HD_EXPR_##name] = {#name, #f, #i, #u},
#define FUNCTION2(name, types, f, i, u)                  [HD_EXPR_##name] = {#name, #f, #i, #u},
#include "compiler/expr/expr.def"
};

static const char *type_name(const struct hd_emitter *e, int type) {
    return e->d->type[type];
}

static void helper(struct hd_emitter *e, enum hd_expr_op op, int type) {
    const struct hd_expr_info *info = &hd_expr_infos[op];
    if (e->made[op][type]) return;
    e->made[op][type] = true;
    bool fn = op == HD_EXPR_fn_exp || op == HD_EXPR_fn_rcp || op == HD_EXPR_fn_rsqrt;
    if (fn && !e->has_fn) {
        hd_dialect_print_fn(e->d, e->helpers);
        e->has_fn = true;
    }
    bool is_float = hd_scalar_is_float(type), two = info->n_args == 2;
    int wide_type = is_float ? (e->d->overloads ? type : HD_F64) : type == HD_U64 ? HD_U64 : HD_I64;
    const char *wide = type_name(e, wide_type);
    const char *y = is_float         ? formula[op].float_y
                    : type == HD_U64 ? formula[op].uint_y
                                     : formula[op].int_y;
    const char *result = type_name(e, info->truth ? HD_BOOL : type);
    fprintf(e->helpers, "%s %s %s_%s_%s(%s %s%s%s) { return (%s)(%s); }\n", e->d->helper, result,
            e->name, formula[op].name, hd_dtype_name((hd_dtype)type), wide, two ? "a, " : "x",
            two ? wide : "", two ? " b" : "", result, y);
}

void hd_emit_call(struct hd_emitter *e, enum hd_expr_op op, int type) {
    helper(e, op, type);
    fprintf(e->out, "%s_%s_%s(", e->name, formula[op].name, hd_dtype_name((hd_dtype)type));
}

static void literal(struct hd_emitter *e, int64_t v) {
    if (!e->d->int_indexes)
        fprintf(e->out, "INT64_C(%lld)", (long long)v);
    else if (v == INT64_MIN)
        fprintf(e->out, "(-%lldL - 1)", (long long)INT64_MAX);
    else
        fprintf(e->out, "%lldL", (long long)v);
}

/* ---- indexes -------------------------------------------------------------------------------- */

/* A sum, product or part of loops and constants: it fits an int, as the elements of a tensor do. */
static bool is_index(const struct hd_emitter *e, int node) {
    const struct hd_expr_node *k = &e->n->f->node[node];
    if (!e->d->int_indexes || k->type != HD_I64) return false;
    if (k->op == HD_EXPR_VAR) return true;
    if (k->op == HD_EXPR_INT) return k->i > -(1 << 30) && k->i < 1 << 30;
    if (k->op != HD_EXPR_add && k->op != HD_EXPR_sub && k->op != HD_EXPR_mul &&
        k->op != HD_EXPR_div && k->op != HD_EXPR_mod)
        return false;
    if ((k->op == HD_EXPR_div || k->op == HD_EXPR_mod) &&
        (e->n->f->node[k->arg[1]].op != HD_EXPR_INT || e->n->f->node[k->arg[1]].i == 0))
        return false;
    return is_index(e, k->arg[0]) && is_index(e, k->arg[1]);
}

static bool is_comparison(const struct hd_emitter *e, int node) {
    const struct hd_expr_node *k = &e->n->f->node[node];
    if (k->op == HD_EXPR_and && k->type == HD_BOOL)
        return is_comparison(e, k->arg[0]) && is_comparison(e, k->arg[1]);
    return k->n == 2 && hd_expr_infos[k->op].truth && is_index(e, k->arg[0]) &&
           is_index(e, k->arg[1]);
}

static void plain(struct hd_emitter *e, int node) {
    const struct hd_expr_node *k = &e->n->f->node[node];
    if (k->op == HD_EXPR_VAR) {
        fprintf(e->out, "i%lld", (long long)k->i);
        return;
    }
    if (k->op == HD_EXPR_INT) {
        fprintf(e->out, k->i < 0 ? "(%lld)" : "%lld", (long long)k->i);
        return;
    }
    fputc('(', e->out);
    plain(e, k->arg[0]);
    fprintf(e->out, " %s ", k->op == HD_EXPR_and ? "&&" : hd_expr_infos[k->op].text);
    plain(e, k->arg[1]);
    fputc(')', e->out);
}

/* Of dimension d of a tensor. What is read from tensors is looked at: outside it is element 0, and
 * the run is told. */
static void index_value(struct hd_emitter *e, int node, bool checked, int64_t size) {
    if (is_index(e, node)) {
        plain(e, node);
    } else if (checked && e->d->int_indexes) {
        e->gathers = true;
        fputs("hd_gather(", e->out);
        hd_emit_value(e, node);
        fprintf(e->out, ", %lldL, fault)", (long long)size);
    } else {
        hd_emit_value(e, node);
    }
}

static void element(struct hd_emitter *e, int tensor, int n, const int *index, bool checked) {
    const struct hd_expr_tensor *t = &e->n->f->tensor[tensor];
    bool any = false;
    fprintf(e->out, "t%d[", tensor);
    for (int d = 0; d < n; d++) {
        const struct hd_expr_node *x = &e->n->f->node[index[d]];
        if (x->op == HD_EXPR_INT && x->i == 0) continue;
        if (any) fputs(" + ", e->out);
        any = true;
        index_value(e, index[d], checked, t->dim[d].value);
        int64_t step = 1;
        for (int k = d + 1; k < n; k++) step *= t->dim[k].value;
        if (step != 1)
            fprintf(e->out, e->d->int_indexes ? "*%lld" : "*INT64_C(%lld)", (long long)step);
    }
    fputs(any ? "]" : "0]", e->out);
}

void hd_emit_index(struct hd_emitter *e, int node) {
    index_value(e, node, false, 0);
}

void hd_emit_element(struct hd_emitter *e, int tensor, int n, const int *index) {
    element(e, tensor, n, index, false);
}

/* ---- values --------------------------------------------------------------------------------- */

static void pad(struct hd_emitter *e, const struct hd_expr_node *k) {
    const struct hd_expr_node *x = &e->n->f->node[k->arg[0]];
    bool any = false;
    fputc('(', e->out);
    for (int d = 0; d < x->n; d++) {
        const struct hd_expr_node *i = &e->n->f->node[x->arg[d]];
        bool small = is_index(e, x->arg[d]);
        int64_t size = e->n->f->tensor[x->i].dim[d].value;
        if (i->op == HD_EXPR_INT && i->i >= 0 && i->i < size) continue;
        fprintf(e->out, "%s(%s)(", any ? " && " : "", small ? "uint" : type_name(e, HD_U64));
        any = true;
        index_value(e, x->arg[d], false, 0);
        fprintf(e->out, ") < %lld", (long long)size);
    }
    if (!any) fputc('1', e->out);
    fputs(" ? ", e->out);
    hd_emit_element(e, (int)x->i, x->n, x->arg);
    fputs(" : ", e->out);
    hd_emit_value(e, k->arg[1]);
    fputs(")", e->out);
}

static void to_integer(struct hd_emitter *e, const struct hd_expr_node *k) {
    int64_t lo = 0, hi = 0;
    bool f32 = e->d->overloads && e->n->f->node[k->arg[0]].type == HD_F32;
    hd_scalar_limits(k->type, &lo, &hi);
    bool narrow = f32 && hi <= INT32_MAX; /* 64 bits are two instructions on a GPU */
    if (f32 && k->type == HD_I32 && k->round == HD_ROUND_EVEN) {
        fputs("hd_i32_even(", e->out);
        hd_emit_value(e, k->arg[0]);
        return;
    }
    fprintf(e->out, "hd_int%s_%s(hd_%s(", narrow ? "32" : "", f32 ? "float" : "double",
            hd_round_text[k->round]);
    hd_emit_value(e, k->arg[0]);
    fprintf(e->out, f32 ? "), %.9ef, %.9ef, " : "), %.17g, %.17g, ", (double)lo, (double)hi);
    literal(e, hi);
}

static void cast(struct hd_emitter *e, const struct hd_expr_node *k) {
    int from = e->n->f->node[k->arg[0]].type, to = k->type;
    bool from_float = hd_scalar_is_float(from), to_float = hd_scalar_is_float(to);
    int64_t lo = 0, hi = 0;
    if (!to_float) hd_scalar_limits(to, &lo, &hi);
    fprintf(e->out, "((%s)", type_name(e, to));
    if (to == HD_BOOL) {
        fputs("(0 != ", e->out);
        hd_emit_value(e, k->arg[0]);
    } else if (from_float && !to_float) {
        to_integer(e, k);
    } else if (!from_float && !to_float && k->saturate) {
        fputs("hd_clamp(", e->out);
        hd_emit_value(e, k->arg[0]);
        fputs(", ", e->out);
        literal(e, lo);
        fputs(", ", e->out);
        literal(e, hi);
    } else { /* the interpreter rounds integers to double first; up to 32 bits that changes nothing
              */
        bool wide = hd_dtype_bits((hd_dtype)from) > 32;
        fputs(to_float && !from_float && (wide || !e->d->overloads) ? "(double)(" : "(", e->out);
        hd_emit_value(e, k->arg[0]);
    }
    fputs("))", e->out);
}

static void number(struct hd_emitter *e, const struct hd_expr_node *k) {
    if (!hd_scalar_is_float(k->type))
        literal(e, k->i);
    else if (k->f != k->f)
        fputs("NAN", e->out);
    else if (k->f - k->f != 0)
        fputs(k->f < 0 ? "-INFINITY" : "INFINITY", e->out);
    else if (e->d->overloads && k->type == HD_F32)
        fprintf(e->out, "%.9ef", (double)(float)k->f);
    else
        fprintf(e->out, "(%s)%.17g", type_name(e, k->type), k->f);
}

static void operator(struct hd_emitter *e, const struct hd_expr_node *k) {
    int type = e->n->f->node[k->arg[0]].type;
    hd_emit_call(e, k->op, type);
    hd_emit_value(e, k->arg[0]);
    if (k->n > 1) fputs(", ", e->out);
    if (k->n > 1) hd_emit_value(e, k->arg[1]);
    fputs(")", e->out);
}

void hd_emit_value(struct hd_emitter *e, int node) {
    const struct hd_expr_node *k = &e->n->f->node[node];
    if (k->op != HD_EXPR_INT && k->op != HD_EXPR_VAR && is_index(e, node)) {
        fputs("(long)", e->out);
        plain(e, node);
        return;
    }
    if (is_comparison(e, node)) {
        plain(e, node);
        return;
    }
    switch (k->op) {
    case HD_EXPR_INT:
    case HD_EXPR_FLOAT:
        number(e, k);
        return;
    case HD_EXPR_VAR:
        fprintf(e->out, "i%lld", (long long)k->i);
        return;
    case HD_EXPR_ACCESS:
        if (hd_emit_lane(e, node)) return;
        element(e, (int)k->i, k->n, k->arg, k->checked);
        return;
    case HD_EXPR_PAD:
        pad(e, k);
        return;
    case HD_EXPR_CAST:
        cast(e, k);
        return;
    case HD_EXPR_SELECT:
        for (int i = 0; i < 3; i++) {
            fputs(i == 0 ? "(" : i == 1 ? " ? " : " : ", e->out);
            hd_emit_value(e, k->arg[i]);
        }
        fputs(")", e->out);
        return;
    default:
        operator(e, k);
    }
}

enum hd_expr_op hd_emit_reduce_op(enum hd_expr_reduce r) {
    static const enum hd_expr_op op[HD_REDUCES] = {[HD_REDUCE_SUM] = HD_EXPR_add,
                                                   [HD_REDUCE_PRODUCT] = HD_EXPR_mul,
                                                   [HD_REDUCE_MAX] = HD_EXPR_max,
                                                   [HD_REDUCE_MIN] = HD_EXPR_min};
    return op[r];
}

hd_status hd_emit_can(hd_ctx *ctx, const struct hd_dialect *d, const struct hd_nest *n) {
    for (size_t i = 0; i < n->f->n_tensors; i++)
        if (!d->type[n->f->tensor[i].type])
            return hd_fail(ctx, HD_UNSUPPORTED, "'%s' is %s, which %s has no type for",
                           n->f->tensor[i].name, hd_dtype_name((hd_dtype)n->f->tensor[i].type),
                           d == &hd_dialect_c ? "C" : d->name);
    for (size_t i = 0; i < n->f->n_nodes; i++) {
        const struct hd_expr_node *k = &n->f->node[i];
        if (k->type >= 0 && !d->type[k->type])
            return hd_fail(ctx, HD_UNSUPPORTED, "%s, which %s has no type for",
                           hd_dtype_name((hd_dtype)k->type), d == &hd_dialect_c ? "C" : d->name);
        if (k->op == HD_EXPR_CAST && (k->type == HD_U64 || n->f->node[k->arg[0]].type == HD_U64))
            return hd_fail(ctx, HD_UNSUPPORTED, "a conversion of u64");
    }
    return HD_OK;
}
