/* The loop IR as C11: one function of pointers, parameters first, then results. It computes what
 * the interpreters compute, to the bit, since the formulas are the text of expr.def. */
#include <stdlib.h>
#include <string.h>

#include "compiler/expr/expr_int.h"
#include "compiler/loop/loop_int.h"

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

static const char prologue[] =
    "#include <math.h>\n#include <stdint.h>\n"
    "#define WRAP(a, op, b) ((int64_t)((uint64_t)(a)op(uint64_t)(b)))\n"
    "#define SHIFT(a, op, b) ((uint64_t)(b) > 63 ? 0 : (uint64_t)(a)op(b))\n"
    "#define HD_PRAGMA(x) _Pragma(#x)\n"
    "#ifdef _OPENMP\n#define HD_PARALLEL HD_PRAGMA(omp parallel for)\n"
    "#else\n#define HD_PARALLEL\n#endif\n"
    "#ifdef __clang__\n#define HD_VECTOR HD_PRAGMA(clang loop vectorize(assume_safety))\n"
    "#define HD_UNROLL(n) HD_PRAGMA(clang loop unroll_count(n))\n"
    "#else\n#define HD_VECTOR HD_PRAGMA(GCC ivdep)\n"
    "#define HD_UNROLL(n) HD_PRAGMA(GCC unroll n)\n#endif\n"
    "static inline double hd_trunc(double v) { return trunc(v); }\n"
    "static inline double hd_even(double v) { return rint(v); }\n"
    "static inline double hd_away(double v) { return round(v); }\n"
    "static inline double hd_floor(double v) { return floor(v); }\n"
    "static inline double hd_ceil(double v) { return ceil(v); }\n"
    "static inline int64_t hd_int(double v, double lo, double hi, int64_t most) {\n"
    "    return v != v ? 0 : v <= lo ? (int64_t)lo : v >= hi ? most : (int64_t)v;\n}\n"
    "static inline int64_t hd_clamp(int64_t v, int64_t lo, int64_t hi) {\n"
    "    return v < lo ? lo : v > hi ? hi : v;\n}\n";

const char *hd_loop_c_prologue(void) {
    return prologue;
}

struct emitter {
    const struct hd_nest *n;
    FILE *out, *helpers;
    bool made[HD_EXPR_OPS][HD_DTYPES];
    const char *name;           /* of the function, in front of the helpers' names */
    bool threaded[HD_LOOP_MAX]; /* the loop is parallel, or inside one that is */
};

static const char *c_type(int t) {
    static const char *const names[HD_DTYPES] = {
        [HD_I8] = "int8_t",  [HD_I16] = "int16_t",  [HD_I32] = "int32_t",  [HD_I64] = "int64_t",
        [HD_U8] = "uint8_t", [HD_U16] = "uint16_t", [HD_U32] = "uint32_t", [HD_U64] = "uint64_t",
        [HD_F32] = "float",  [HD_F64] = "double",   [HD_BOOL] = "uint8_t"};
    return t < 0 ? NULL : names[t];
}

static void helper(struct emitter *e, enum hd_expr_op op, int type) {
    const struct hd_expr_info *info = &hd_expr_infos[op];
    if (e->made[op][type]) return;
    e->made[op][type] = true;
    bool is_float = hd_scalar_is_float(type), two = info->n_args == 2;
    const char *wide = is_float ? "double" : type == HD_U64 ? "uint64_t" : "int64_t";
    const char *y = is_float         ? formula[op].float_y
                    : type == HD_U64 ? formula[op].uint_y
                                     : formula[op].int_y;
    const char *result = info->truth ? "uint8_t" : c_type(type);
    fprintf(e->helpers, "static inline %s %s_%s_%s(%s %s%s%s) { return (%s)(%s); }\n", result,
            e->name, formula[op].name, hd_dtype_name((hd_dtype)type), wide, two ? "a, " : "x",
            two ? wide : "", two ? " b" : "", result, y);
}

static void call(struct emitter *e, enum hd_expr_op op, int type) {
    helper(e, op, type);
    fprintf(e->out, "%s_%s_%s(", e->name, formula[op].name, hd_dtype_name((hd_dtype)type));
}

static void value(struct emitter *e, int node);

static void element(struct emitter *e, int tensor, int n, const int *index) {
    const struct hd_expr_tensor *t = &e->n->f->tensor[tensor];
    fprintf(e->out, "t%d[", tensor);
    for (int d = 0; d < n; d++) {
        fputs("(", e->out);
        value(e, index[d]);
        fprintf(e->out, ")");
        int64_t step = 1;
        for (int k = d + 1; k < n; k++) step *= t->dim[k].value;
        fprintf(e->out, "*INT64_C(%lld) + ", (long long)step);
    }
    fputs("0]", e->out);
}

static void pad(struct emitter *e, const struct hd_expr_node *k) {
    const struct hd_expr_node *x = &e->n->f->node[k->arg[0]];
    fputs("(1", e->out);
    for (int d = 0; d < x->n; d++) {
        fputs(" && (uint64_t)(", e->out);
        value(e, x->arg[d]);
        fprintf(e->out, ") < %lld", (long long)e->n->f->tensor[x->i].dim[d].value);
    }
    fputs(" ? ", e->out);
    element(e, (int)x->i, x->n, x->arg);
    fputs(" : ", e->out);
    value(e, k->arg[1]);
    fputs(")", e->out);
}

static void cast(struct emitter *e, const struct hd_expr_node *k) {
    int from = e->n->f->node[k->arg[0]].type, to = k->type;
    bool from_float = hd_scalar_is_float(from), to_float = hd_scalar_is_float(to);
    int64_t lo = 0, hi = 0;
    fprintf(e->out, "(%s)", c_type(to));
    if (!to_float) hd_scalar_limits(to, &lo, &hi);
    if (to == HD_BOOL) {
        fputs("(0 != ", e->out);
        value(e, k->arg[0]);
    } else if (from_float && !to_float) {
        fprintf(e->out, "hd_int(hd_%s(", hd_round_text[k->round]);
        value(e, k->arg[0]);
        fprintf(e->out, "), %.17g, %.17g, INT64_C(%lld)", (double)lo, (double)hi, (long long)hi);
    } else if (!from_float && !to_float && k->saturate) {
        fputs("hd_clamp(", e->out);
        value(e, k->arg[0]);
        fprintf(e->out, ", INT64_C(%lld), INT64_C(%lld)", (long long)lo, (long long)hi);
    } else { /* the interpreter rounds integers to double first */
        fputs(to_float && !from_float ? "(double)(" : "(", e->out);
        value(e, k->arg[0]);
    }
    fputs(")", e->out);
}

static void number(struct emitter *e, const struct hd_expr_node *k) {
    if (!hd_scalar_is_float(k->type))
        fprintf(e->out, "INT64_C(%lld)", (long long)k->i);
    else if (k->f != k->f)
        fputs("NAN", e->out);
    else if (k->f - k->f != 0)
        fputs(k->f < 0 ? "-INFINITY" : "INFINITY", e->out);
    else
        fprintf(e->out, "(%s)%.17g", c_type(k->type), k->f);
}

static void value(struct emitter *e, int node) {
    const struct hd_expr_node *k = &e->n->f->node[node];
    switch (k->op) {
    case HD_EXPR_INT:
    case HD_EXPR_FLOAT:
        number(e, k);
        return;
    case HD_EXPR_VAR:
        fprintf(e->out, "i%lld", (long long)k->i);
        return;
    case HD_EXPR_ACCESS:
        element(e, (int)k->i, k->n, k->arg);
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
            value(e, k->arg[i]);
        }
        fputs(")", e->out);
        return;
    default: {
        int type = e->n->f->node[k->arg[0]].type;
        call(e, k->op, type);
        value(e, k->arg[0]);
        if (k->n > 1) fputs(", ", e->out);
        if (k->n > 1) value(e, k->arg[1]);
        fputs(")", e->out);
    }
    }
}

static void store(struct emitter *e, const struct hd_loop_stmt *s) {
    static const enum hd_expr_op op[HD_REDUCES] = {[HD_REDUCE_SUM] = HD_EXPR_add,
                                                   [HD_REDUCE_PRODUCT] = HD_EXPR_mul,
                                                   [HD_REDUCE_MAX] = HD_EXPR_max,
                                                   [HD_REDUCE_MIN] = HD_EXPR_min};
    int type = e->n->f->tensor[s->tensor].type;
    element(e, s->tensor, s->n_index, s->index);
    fputs(" = ", e->out);
    if (s->kind == HD_LOOP_UPDATE) {
        call(e, op[s->reduce], type);
        element(e, s->tensor, s->n_index, s->index);
        fputs(", ", e->out);
    }
    value(e, s->value);
    fputs(s->kind == HD_LOOP_UPDATE ? ");\n" : ";\n", e->out);
}

/* What the compiler is told of a loop; those bound to a GPU run one after the other. */
static void mark(struct emitter *e, const struct hd_loop *l, int depth) {
    if (l->mark == HD_LOOP_UNROLLED)
        fprintf(e->out, "HD_UNROLL(%lld)\n", (long long)(l->extent ? l->extent : 1));
    else if (l->mark == HD_LOOP_VECTOR || l->mark == HD_LOOP_PARALLEL)
        fprintf(e->out, "HD_%s\n", l->mark == HD_LOOP_VECTOR ? "VECTOR" : "PARALLEL");
    else
        return;
    fprintf(e->out, "%*s", 4 * depth, "");
}

static void find_threaded(struct emitter *e, const struct hd_loop_stmt *s, bool inside) {
    for (; s; s = s->next) {
        bool here =
            inside || (s->kind == HD_LOOP_FOR && e->n->loop[s->loop].mark == HD_LOOP_PARALLEL);
        if (s->kind == HD_LOOP_FOR) e->threaded[s->loop] = here;
        if (s->kind == HD_LOOP_FOR || s->kind == HD_LOOP_IF) find_threaded(e, s->body, here);
    }
}

static void list(struct emitter *e, const struct hd_loop_stmt *s, int depth) {
    for (; s; s = s->next) {
        fprintf(e->out, "%*s", 4 * depth, "");
        if (s->kind == HD_LOOP_SET || s->kind == HD_LOOP_UPDATE) {
            store(e, s);
            continue;
        }
        if (s->kind == HD_LOOP_IF) {
            fputs("if (", e->out);
            value(e, s->value);
            fputs(") {\n", e->out);
        } else {
            mark(e, &e->n->loop[s->loop], depth);
            fprintf(e->out, "for (int64_t i%d = 0; i%d < %lld; i%d++) {\n", s->loop, s->loop,
                    (long long)e->n->loop[s->loop].extent, s->loop);
        }
        list(e, s->body, depth + 1);
        fprintf(e->out, "%*s}\n", 4 * depth, "");
    }
}

/* Buffers are the function's own, and each thread's where a loop on threads fills them. */
static void head(struct emitter *e) {
    const struct hd_expr *f = e->n->f;
    fprintf(e->out, "void %s(const void *const *in, void *const *out) {\n", e->name);
    for (int i = 0; i < (int)f->n_tensors; i++) {
        const struct hd_expr_tensor *t = &f->tensor[i];
        const char *type = c_type(t->type);
        int result = -1;
        for (size_t k = 0; k < f->n_results; k++)
            if (f->result[k] == i) result = (int)k;
        if (i < f->n_params)
            fprintf(e->out, "    const %s *t%d = in[%d];\n", type, i, i);
        else if (result >= 0)
            fprintf(e->out, "    %s *t%d = out[%d];\n", type, i, result);
        else
            fprintf(e->out, "    static %s%s t%d[%lld];\n",
                    e->n->scope[i] >= 0 && e->threaded[e->n->scope[i]] ? "_Thread_local " : "",
                    type, i, (long long)hd_expr_elems(t) + 1);
    }
    for (int i = 0; i < f->n_params; i++) fprintf(e->out, "    (void)t%d;\n", i);
}

static hd_status can(hd_ctx *ctx, const struct hd_nest *n) {
    for (size_t i = 0; i < n->f->n_tensors; i++)
        if (!c_type(n->f->tensor[i].type))
            return hd_fail(ctx, HD_UNSUPPORTED, "'%s' is %s, which C has no type for",
                           n->f->tensor[i].name, hd_dtype_name((hd_dtype)n->f->tensor[i].type));
    for (size_t i = 0; i < n->f->n_nodes; i++) {
        const struct hd_expr_node *k = &n->f->node[i];
        if (k->op == HD_EXPR_ACCESS && k->checked)
            return hd_fail(ctx, HD_UNSUPPORTED, "a gather, whose indexes C would not check");
        if (k->type >= 0 && !c_type(k->type))
            return hd_fail(ctx, HD_UNSUPPORTED, "%s, which C has no type for",
                           hd_dtype_name((hd_dtype)k->type));
        if (k->op == HD_EXPR_CAST && (k->type == HD_U64 || n->f->node[k->arg[0]].type == HD_U64))
            return hd_fail(ctx, HD_UNSUPPORTED, "a conversion of u64");
    }
    for (size_t i = 0; i < n->f->n_stmts; i++)
        if (n->f->stmt[i].reduce >= HD_REDUCE_ARGMAX)
            return hd_fail(ctx, HD_UNSUPPORTED, "%s", hd_reduce_text[n->f->stmt[i].reduce]);
    return HD_OK;
}

hd_status hd_loop_c(hd_ctx *ctx, hd_arena *a, const struct hd_nest *n, const char *name,
                    const char **out) {
    TRY(hd_note(ctx, can(ctx, n), "while printing '%s' as C", name));
    char *body = NULL, *helpers = NULL;
    size_t bytes[2];
    struct emitter *e = hd_new(a, struct emitter);
    e->n = n;
    e->name = name;
    e->out = open_memstream(&body, &bytes[0]);
    e->helpers = open_memstream(&helpers, &bytes[1]);
    HD_ASSERT(e->out && e->helpers);
    find_threaded(e, n->body, false);
    head(e);
    list(e, n->body, 1);
    fputs("}\n", e->out);
    fclose(e->out);
    fclose(e->helpers);
    *out = hd_sprintf(a, "%s%s", helpers, body);
    free(body);
    free(helpers);
    return HD_OK;
}
