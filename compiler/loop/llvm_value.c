/* Values of the loop IR as LLVM IR: see llvm.h. Each is printed where it is used, once for each
 * use; LLVM's passes make one of equal ones. */
#include "compiler/loop/llvm_int.h"

#include <stdlib.h>
#include <string.h>

void hd_ir_declare(struct hd_ir *e, const char *line) {
    if (!strstr(e->declared, line)) e->declared = hd_sprintf(e->a, "%s%s\n", e->declared, line);
}

void hd_ir_fail(struct hd_ir *e, const char *what) {
    if (e->status == HD_OK)
        e->status = hd_fail(e->ctx, HD_UNSUPPORTED, "%s is not printed as LLVM IR", what);
}

/* ---- text ----------------------------------------------------------------------------------- */

static const char *scalar_type(int type) {
    static const char *const text[HD_DTYPES] = {
        [HD_I8] = "i8",     [HD_U8] = "i8",      [HD_I16] = "i16", [HD_U16] = "i16",
        [HD_I32] = "i32",   [HD_U32] = "i32",    [HD_I64] = "i64", [HD_U64] = "i64",
        [HD_F32] = "float", [HD_F64] = "double", [HD_BOOL] = "i1"};
    return text[type];
}

const char *hd_ir_type(struct hd_ir *e, int type, int lanes) {
    const char *one = scalar_type(type);
    if (!one) {
        hd_ir_fail(e, hd_dtype_name((hd_dtype)type));
        return "i8";
    }
    return lanes == 1 ? one : hd_sprintf(e->a, "<%d x %s>", lanes, one);
}

const char *hd_ir_lanes_text(struct hd_ir *e, int type, int lanes) {
    const char *one = hd_sprintf(e->a, "%c%d", hd_scalar_is_float(type) ? 'f' : 'i',
                                 8 * (int)hd_dtype_bytes((hd_dtype)type));
    return lanes > 1 ? hd_sprintf(e->a, "v%d%s", lanes, one) : one;
}

struct hd_ir_value hd_ir_temp(struct hd_ir *e, int type, int lanes) {
    struct hd_ir_value v = {.type = type, .lanes = lanes};
    snprintf(v.text, sizeof v.text, "%%t%d", e->temps++);
    return v;
}

struct hd_ir_value hd_ir_immediate(int64_t i) {
    struct hd_ir_value v = {.type = HD_I64, .lanes = 1};
    snprintf(v.text, sizeof v.text, "%lld", (long long)i);
    return v;
}

static bool as_number(const struct hd_ir_value *v, int64_t *out) {
    char *end;
    if (v->lanes != 1 || v->text[0] == '%' || v->type == HD_F32 || v->type == HD_F64) return false;
    *out = strtoll(v->text, &end, 10);
    return end != v->text && !*end;
}

static struct hd_ir_value wide(struct hd_ir *e, struct hd_ir_value v, int lanes) {
    if (v.lanes == lanes) return v;
    const char *t = hd_ir_type(e, v.type, lanes), *one = hd_ir_type(e, v.type, 1);
    struct hd_ir_value in = hd_ir_temp(e, v.type, lanes), y = hd_ir_temp(e, v.type, lanes);
    fprintf(e->out, "  %s = insertelement %s poison, %s %s, i64 0\n", in.text, t, one, v.text);
    fprintf(e->out, "  %s = shufflevector %s %s, %s poison, <%d x i32> zeroinitializer\n", y.text,
            t, in.text, t, lanes);
    return y;
}

/* ---- indexes -------------------------------------------------------------------------------- */

/* How far the node moves with each iteration of the vector's loop; false = not evenly. */
bool hd_ir_step(const struct hd_ir *e, int node, int64_t *out) {
    const struct hd_expr_node *k = &e->n->f->node[node];
    int64_t a = 0, b = 0, c;
    *out = 0;
    if (k->op == HD_EXPR_VAR) {
        *out = k->i == e->vector;
        return true;
    }
    for (int i = 0; i < k->n; i++)
        if (!hd_ir_step(e, k->arg[i], i ? &b : &a)) return false;
    if (!a && !b) return k->op != HD_EXPR_ACCESS;
    if (k->op == HD_EXPR_add) *out = a + b;
    if (k->op == HD_EXPR_sub) *out = a - b;
    if (k->op == HD_EXPR_add || k->op == HD_EXPR_sub) return true;
    if (k->op != HD_EXPR_mul) return false;
    for (int i = 0; i < 2; i++)
        if (!(i ? b : a) && hd_expr_constant(e->n->f, k->arg[i], &c)) {
            *out = (i ? a : b) * c;
            return true;
        }
    return false;
}

/* In lane 0, the same for all lanes. */
static struct hd_ir_value scalar_of(struct hd_ir *e, int node) {
    int vector = e->vector, lanes = e->lanes;
    struct hd_ir_value v;
    if (vector >= 0) e->is_fixed[vector] = !e->strip;
    if (vector >= 0) e->fixed[vector] = 0;
    e->vector = -1, e->lanes = 1;
    v = hd_ir_value(e, node);
    e->vector = vector, e->lanes = lanes;
    if (vector >= 0) e->is_fixed[vector] = false;
    return v;
}

int64_t hd_ir_stride(const struct hd_expr_tensor *t, int d) {
    int64_t step = 1;
    for (int k = d + 1; k < t->rank; k++) step *= t->dim[k].value;
    return step;
}

static struct hd_ir_value arithmetic(struct hd_ir *e, enum hd_expr_op op, struct hd_ir_value a,
                                     struct hd_ir_value b);

struct hd_ir_value hd_ir_address(struct hd_ir *e, int tensor, int n, const int *index,
                                 int64_t *out_step) {
    const struct hd_expr_tensor *t = &e->n->f->tensor[tensor];
    struct hd_ir_value at = hd_ir_immediate(0), p = hd_ir_temp(e, HD_I64, 1);
    *out_step = 0;
    for (int d = 0; d < n; d++) {
        int64_t one = 0;
        if (e->vector >= 0 && !hd_ir_step(e, index[d], &one))
            hd_ir_fail(e, "an uneven index of a vector");
        *out_step += one * hd_ir_stride(t, d);
        struct hd_ir_value x =
            arithmetic(e, HD_EXPR_mul, scalar_of(e, index[d]), hd_ir_immediate(hd_ir_stride(t, d)));
        at = arithmetic(e, HD_EXPR_add, at, x);
    }
    fprintf(e->out, "  %s = getelementptr inbounds %s, ptr %%p%d, i64 %s\n", p.text,
            t->type == HD_BOOL ? "i8" : hd_ir_type(e, t->type, 1), tensor, at.text);
    return p;
}

/* ---- memory --------------------------------------------------------------------------------- */

static struct hd_ir_value load_even(struct hd_ir *e, int type, struct hd_ir_value p, int lanes,
                                    const char *mask) {
    struct hd_ir_value v = hd_ir_temp(e, type, lanes);
    const char *t = hd_ir_type(e, type, lanes);
    int align = (int)hd_dtype_bytes((hd_dtype)type);
    if (*mask && lanes > 1) {
        const char *of = hd_ir_lanes_text(e, type, lanes);
        hd_ir_declare(e, hd_sprintf(e->a,
                                    "declare %s @llvm.masked.load.%s.p0(ptr, i32, <%d x i1>, %s)",
                                    t, of, lanes, t));
        fprintf(e->out,
                "  %s = call %s @llvm.masked.load.%s.p0(ptr %s, i32 %d, <%d x i1> %s, %s "
                "zeroinitializer)\n",
                v.text, t, of, p.text, align, lanes, mask, t);
    } else {
        fprintf(e->out, "  %s = load %s, ptr %s, align %d\n", v.text, t, p.text, align);
    }
    return v;
}

/* Elements that do not lie side by side, one after the other; masked ones are element 0. */
static struct hd_ir_value load_uneven(struct hd_ir *e, int type, struct hd_ir_value p,
                                      int64_t step) {
    struct hd_ir_value v = {.type = type, .lanes = e->lanes};
    const char *t = hd_ir_type(e, type, e->lanes), *one = hd_ir_type(e, type, 1);
    snprintf(v.text, sizeof v.text, "poison");
    if (*e->mask) hd_ir_fail(e, "a masked vector of elements that lie apart");
    for (int i = 0; i < e->lanes; i++) {
        struct hd_ir_value q = hd_ir_temp(e, HD_I64, 1), x = hd_ir_temp(e, type, 1),
                           y = hd_ir_temp(e, type, e->lanes);
        fprintf(e->out, "  %s = getelementptr inbounds %s, ptr %s, i64 %lld\n", q.text, one, p.text,
                (long long)(step * i));
        fprintf(e->out, "  %s = load %s, ptr %s, align %d\n", x.text, one, q.text,
                (int)hd_dtype_bytes((hd_dtype)type));
        fprintf(e->out, "  %s = insertelement %s %s, %s %s, i64 %d\n", y.text, t, v.text, one,
                x.text, i);
        v = y;
    }
    return v;
}

static struct hd_ir_value load(struct hd_ir *e, int tensor, int n, const int *index,
                               const char *mask) {
    int type = e->n->f->tensor[tensor].type;
    int64_t step = 0;
    struct hd_ir_value p = hd_ir_address(e, tensor, n, index, &step);
    if (type == HD_BOOL) hd_ir_fail(e, "a tensor of truth values");
    if (e->vector < 0 || !step) return load_even(e, type, p, 1, "");
    return step == 1 ? load_even(e, type, p, e->lanes, mask) : load_uneven(e, type, p, step);
}

static void store_uneven(struct hd_ir *e, struct hd_ir_value v, struct hd_ir_value p,
                         int64_t step) {
    const char *t = hd_ir_type(e, v.type, v.lanes), *one = hd_ir_type(e, v.type, 1);
    if (*e->mask) hd_ir_fail(e, "a masked vector of elements that lie apart");
    for (int i = 0; i < v.lanes; i++) {
        struct hd_ir_value q = hd_ir_temp(e, HD_I64, 1), x = hd_ir_temp(e, v.type, 1);
        fprintf(e->out, "  %s = extractelement %s %s, i64 %d\n", x.text, t, v.text, i);
        fprintf(e->out, "  %s = getelementptr inbounds %s, ptr %s, i64 %lld\n", q.text, one, p.text,
                (long long)(step * i));
        fprintf(e->out, "  store %s %s, ptr %s, align %d\n", one, x.text, q.text,
                (int)hd_dtype_bytes((hd_dtype)v.type));
    }
}

static void masked_store(struct hd_ir *e, struct hd_ir_value v, struct hd_ir_value p, int align) {
    const char *t = hd_ir_type(e, v.type, v.lanes), *of = hd_ir_lanes_text(e, v.type, v.lanes);
    hd_ir_declare(e,
                  hd_sprintf(e->a, "declare void @llvm.masked.store.%s.p0(%s, ptr, i32, <%d x i1>)",
                             of, t, v.lanes));
    fprintf(e->out, "  call void @llvm.masked.store.%s.p0(%s %s, ptr %s, i32 %d, <%d x i1> %s)\n",
            of, t, v.text, p.text, align, v.lanes, e->mask);
}

static void store(struct hd_ir *e, const struct hd_loop_stmt *s, struct hd_ir_value v) {
    int64_t step = 0;
    struct hd_ir_value p = hd_ir_address(e, s->tensor, s->n_index, s->index, &step);
    int align = (int)hd_dtype_bytes((hd_dtype)v.type);
    if (v.type == HD_BOOL) hd_ir_fail(e, "a tensor of truth values");
    if (e->vector >= 0 && !step) hd_ir_fail(e, "a vector that is one element");
    v = wide(e, v, e->vector >= 0 ? e->lanes : 1);
    const char *t = hd_ir_type(e, v.type, v.lanes);
    if (v.lanes > 1 && step != 1)
        store_uneven(e, v, p, step);
    else if (v.lanes > 1 && *e->mask)
        masked_store(e, v, p, align);
    else
        fprintf(e->out, "  store %s %s, ptr %s, align %d\n", t, v.text, p.text, align);
}

/* ---- values --------------------------------------------------------------------------------- */

static bool fold(enum hd_expr_op op, int64_t a, int64_t b, int64_t *out) {
    if ((op == HD_EXPR_div || op == HD_EXPR_mod) && b == 0) return false;
    *out = op == HD_EXPR_add   ? a + b
           : op == HD_EXPR_sub ? a - b
           : op == HD_EXPR_mul ? a * b
           : op == HD_EXPR_div ? a / b
                               : a % b;
    return op == HD_EXPR_add || op == HD_EXPR_sub || op == HD_EXPR_mul || op == HD_EXPR_div ||
           op == HD_EXPR_mod;
}

static struct hd_ir_value arithmetic(struct hd_ir *e, enum hd_expr_op op, struct hd_ir_value a,
                                     struct hd_ir_value b) {
    bool is_float = hd_scalar_is_float(a.type), is_unsigned;
    int64_t x, y, z;
    if (a.type == HD_I64 && as_number(&a, &x) && as_number(&b, &y) && fold(op, x, y, &z))
        return hd_ir_immediate(z);
    if (op == HD_EXPR_mul && a.type == HD_I64 && as_number(&b, &y) && y == 1) return a;
    if (op == HD_EXPR_add && a.type == HD_I64 && as_number(&b, &y) && y == 0) return a;
    if (op == HD_EXPR_add && a.type == HD_I64 && as_number(&a, &x) && x == 0) return b;
    is_unsigned = a.type == HD_U8 || a.type == HD_U16 || a.type == HD_U32 || a.type == HD_U64;
    const char *text = NULL;
    if (op == HD_EXPR_add) text = is_float ? "fadd contract" : "add";
    if (op == HD_EXPR_sub) text = is_float ? "fsub contract" : "sub";
    if (op == HD_EXPR_mul) text = is_float ? "fmul contract" : "mul";
    if (op == HD_EXPR_div) text = is_float ? "fdiv" : is_unsigned ? "udiv" : "sdiv";
    if (op == HD_EXPR_mod && !is_float) text = is_unsigned ? "urem" : "srem";
    if (op == HD_EXPR_and) text = "and";
    if (op == HD_EXPR_or) text = "or";
    if ((op == HD_EXPR_div || op == HD_EXPR_mod) && !is_float && !as_number(&b, &y)) text = NULL;
    if (!text) {
        hd_ir_fail(e, hd_expr_infos[op].text ? hd_expr_infos[op].text : "an operator");
        return a;
    }
    int lanes = a.lanes > b.lanes ? a.lanes : b.lanes;
    a = wide(e, a, lanes), b = wide(e, b, lanes);
    struct hd_ir_value v = hd_ir_temp(e, a.type, lanes);
    fprintf(e->out, "  %s = %s %s %s, %s\n", v.text, text, hd_ir_type(e, a.type, lanes), a.text,
            b.text);
    return v;
}

static struct hd_ir_value compare(struct hd_ir *e, const char *how, struct hd_ir_value a,
                                  struct hd_ir_value b) {
    int lanes = a.lanes > b.lanes ? a.lanes : b.lanes;
    a = wide(e, a, lanes), b = wide(e, b, lanes);
    struct hd_ir_value v = hd_ir_temp(e, HD_BOOL, lanes);
    fprintf(e->out, "  %s = %s %s %s %s, %s\n", v.text,
            hd_scalar_is_float(a.type) ? "fcmp" : "icmp", how, hd_ir_type(e, a.type, lanes), a.text,
            b.text);
    return v;
}

static struct hd_ir_value choose(struct hd_ir *e, struct hd_ir_value c, struct hd_ir_value a,
                                 struct hd_ir_value b) {
    int lanes = a.lanes > b.lanes ? a.lanes : b.lanes;
    lanes = c.lanes > lanes ? c.lanes : lanes;
    a = wide(e, a, lanes), b = wide(e, b, lanes), c = wide(e, c, lanes);
    struct hd_ir_value v = hd_ir_temp(e, a.type, lanes);
    const char *t = hd_ir_type(e, a.type, lanes);
    fprintf(e->out, "  %s = select %s %s, %s %s, %s %s\n", v.text, hd_ir_type(e, HD_BOOL, lanes),
            c.text, t, a.text, t, b.text);
    return v;
}

static struct hd_ir_value compared(struct hd_ir *e, enum hd_expr_op op, struct hd_ir_value a,
                                   struct hd_ir_value b) {
    static const struct {
        enum hd_expr_op op;
        const char *flt, *sgn, *uns;
    } rows[] = {{HD_EXPR_eq, "oeq", "eq", "eq"},   {HD_EXPR_ne, "une", "ne", "ne"},
                {HD_EXPR_lt, "olt", "slt", "ult"}, {HD_EXPR_le, "ole", "sle", "ule"},
                {HD_EXPR_gt, "ogt", "sgt", "ugt"}, {HD_EXPR_ge, "oge", "sge", "uge"}};
    bool is_unsigned = a.type == HD_U8 || a.type == HD_U16 || a.type == HD_U32 || a.type == HD_U64;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].op == op)
            return compare(e,
                           hd_scalar_is_float(a.type) ? rows[i].flt
                           : is_unsigned              ? rows[i].uns
                                                      : rows[i].sgn,
                           a, b);
    return a;
}

/* max and min: NaN wins, as in expr.def. */
static struct hd_ir_value extreme(struct hd_ir *e, bool max, struct hd_ir_value a,
                                  struct hd_ir_value b) {
    if (!hd_scalar_is_float(a.type))
        return choose(e, compared(e, max ? HD_EXPR_gt : HD_EXPR_lt, a, b), a, b);
    struct hd_ir_value c = compare(e, max ? "ugt" : "ult", a, b);
    struct hd_ir_value v = choose(e, c, a, b);
    bool nan = !strncmp(b.text, "0x7ff", 5) || !strncmp(b.text, "0xfff", 5); /* or infinite */
    if (b.text[0] == '0' && !nan) return v; /* a constant, of number() */
    return choose(e, compare(e, "uno", b, b), b, v);
}

static struct hd_ir_value number(struct hd_ir *e, const struct hd_expr_node *k) {
    struct hd_ir_value v = {.type = k->type, .lanes = 1};
    if (hd_scalar_is_float(k->type)) {
        double d = k->type == HD_F32 ? (double)(float)k->f : k->f;
        uint64_t bits;
        memcpy(&bits, &d, sizeof bits);
        snprintf(v.text, sizeof v.text, "0x%016llx", (unsigned long long)bits);
    } else {
        snprintf(v.text, sizeof v.text, "%lld", (long long)k->i);
    }
    (void)e;
    return v;
}

static struct hd_ir_value variable(struct hd_ir *e, int loop) {
    if (e->is_fixed[loop]) return hd_ir_immediate(e->fixed[loop]);
    struct hd_ir_value v = hd_ir_temp(e, HD_I64, 1);
    if (loop == e->vector && !e->strip)
        v = hd_ir_immediate(0);
    else
        fprintf(e->out, "  %s = load i64, ptr %%i%d, align 8\n", v.text, loop);
    if (loop != e->vector) return v;
    struct hd_ir_value all = wide(e, v, e->lanes), y = hd_ir_temp(e, HD_I64, e->lanes);
    fprintf(e->out, "  %s = add <%d x i64> %s, <", y.text, e->lanes, all.text);
    for (int i = 0; i < e->lanes; i++) fprintf(e->out, "%si64 %d", i ? ", " : "", i);
    fputs(">\n", e->out);
    return y;
}

/* Inside of its tensor: one comparison for each dimension, none where it is plain. */
static struct hd_ir_value inside(struct hd_ir *e, const struct hd_expr_node *x) {
    struct hd_ir_value all = {.text = "true", .type = HD_BOOL, .lanes = 1};
    bool any = false;
    for (int d = 0; d < x->n; d++) {
        int64_t size = e->n->f->tensor[x->i].dim[d].value, known;
        struct hd_ir_value i = hd_ir_value(e, x->arg[d]);
        if (as_number(&i, &known) && known >= 0 && known < size) continue;
        struct hd_ir_value c = compare(e, "ult", i, hd_ir_immediate(size));
        if (any) {
            int lanes = c.lanes > all.lanes ? c.lanes : all.lanes;
            struct hd_ir_value y = hd_ir_temp(e, HD_BOOL, lanes);
            all = wide(e, all, lanes), c = wide(e, c, lanes);
            fprintf(e->out, "  %s = and %s %s, %s\n", y.text, hd_ir_type(e, HD_BOOL, lanes),
                    all.text, c.text);
            c = y;
        }
        all = c;
        any = true;
    }
    return all;
}

/* Small elements under a mask are read one by one, so whole vectors have a way of their own. */
static struct hd_ir_value load_inside(struct hd_ir *e, const struct hd_expr_node *x,
                                      struct hd_ir_value mask) {
    int type = e->n->f->tensor[x->i].type, n = mask.lanes;
    if (hd_dtype_bytes((hd_dtype)type) >= 4) return load(e, (int)x->i, x->n, x->arg, mask.text);
    struct hd_ir_value all = hd_ir_temp(e, HD_BOOL, 1), y = hd_ir_temp(e, type, n);
    const char *f = hd_sprintf(e->a, "llvm.vector.reduce.and.v%di1", n);
    int l = e->labels++;
    hd_ir_declare(e, hd_sprintf(e->a, "declare i1 @%s(<%d x i1>)", f, n));
    fprintf(e->out, "  %s = call i1 @%s(<%d x i1> %s)\n", all.text, f, n, mask.text);
    fprintf(e->out, "  br i1 %s, label %%whole%d, label %%part%d\nwhole%d:\n", all.text, l, l, l);
    struct hd_ir_value a = load(e, (int)x->i, x->n, x->arg, "");
    fprintf(e->out, "  br label %%all%d\npart%d:\n", l, l);
    struct hd_ir_value b = load(e, (int)x->i, x->n, x->arg, mask.text);
    fprintf(e->out, "  br label %%all%d\nall%d:\n", l, l);
    fprintf(e->out, "  %s = phi %s [ %s, %%whole%d ], [ %s, %%part%d ]\n", y.text,
            hd_ir_type(e, type, n), a.text, l, b.text, l);
    return y;
}

static struct hd_ir_value pad(struct hd_ir *e, const struct hd_expr_node *k) {
    const struct hd_expr_node *x = &e->n->f->node[k->arg[0]];
    struct hd_ir_value ok = inside(e, x), other = hd_ir_value(e, k->arg[1]);
    if (!strcmp(ok.text, "true")) return load(e, (int)x->i, x->n, x->arg, e->mask);
    if (ok.lanes > 1) {
        struct hd_ir_value mask = ok;
        if (*e->mask) {
            mask = hd_ir_temp(e, HD_BOOL, ok.lanes);
            fprintf(e->out, "  %s = and %s %s, %s\n", mask.text, hd_ir_type(e, HD_BOOL, ok.lanes),
                    ok.text, e->mask);
        }
        return choose(e, ok, load_inside(e, x, mask), other);
    }
    int l = e->labels++;
    struct hd_ir_value v = hd_ir_temp(e, e->n->f->tensor[x->i].type, e->vector >= 0 ? e->lanes : 1);
    other = wide(e, other, v.lanes);
    fprintf(e->out,
            "  br label %%from%d\nfrom%d:\n  br i1 %s, label %%in%d, label %%out%d\nin%d:\n", l, l,
            ok.text, l, l, l);
    struct hd_ir_value y = wide(e, load(e, (int)x->i, x->n, x->arg, e->mask), v.lanes);
    fprintf(e->out, "  br label %%end%d\nend%d:\n  br label %%out%d\nout%d:\n", l, l, l, l);
    fprintf(e->out, "  %s = phi %s [ %s, %%end%d ], [ %s, %%from%d ]\n", v.text,
            hd_ir_type(e, v.type, v.lanes), y.text, l, other.text, l);
    return v;
}

static struct hd_ir_value function(struct hd_ir *e, const struct hd_expr_node *k) {
    static const struct {
        enum hd_expr_op op;
        const char *name;
    } one[] = {{HD_EXPR_sqrt, "sqrt"},
               {HD_EXPR_abs, "fabs"},
               {HD_EXPR_floor, "floor"},
               {HD_EXPR_ceil, "ceil"}};
    struct hd_ir_value v = hd_ir_value(e, k->arg[0]);
    for (size_t i = 0; i < sizeof one / sizeof *one; i++) {
        if (one[i].op != k->op || v.type != HD_F32) continue;
        struct hd_ir_value y = hd_ir_temp(e, HD_F32, v.lanes);
        const char *t = hd_ir_type(e, HD_F32, v.lanes);
        const char *of = hd_ir_lanes_text(e, HD_F32, v.lanes);
        hd_ir_declare(e, hd_sprintf(e->a, "declare %s @llvm.%s.%s(%s)", t, one[i].name, of, t));
        fprintf(e->out, "  %s = call %s @llvm.%s.%s(%s %s)\n", y.text, t, one[i].name, of, t,
                v.text);
        return y;
    }
    hd_ir_fail(e, hd_expr_infos[k->op].text ? hd_expr_infos[k->op].text : "a function");
    return v;
}

struct hd_ir_value hd_ir_value(struct hd_ir *e, int node) {
    const struct hd_expr_node *k = &e->n->f->node[node];
    struct hd_ir_value a;
    switch (k->op) {
    case HD_EXPR_INT:
    case HD_EXPR_FLOAT:
        return number(e, k);
    case HD_EXPR_VAR:
        return variable(e, (int)k->i);
    case HD_EXPR_ACCESS:
        if (k->checked) hd_ir_fail(e, "a gather");
        return load(e, (int)k->i, k->n, k->arg, e->mask);
    case HD_EXPR_PAD:
        return pad(e, k);
    case HD_EXPR_CAST:
        return hd_ir_cast(e, k);
    case HD_EXPR_SELECT:
        a = hd_ir_value(e, k->arg[0]);
        struct hd_ir_value yes = hd_ir_value(e, k->arg[1]);
        return choose(e, a, yes, hd_ir_value(e, k->arg[2]));
    case HD_EXPR_max:
    case HD_EXPR_min:
        a = hd_ir_value(e, k->arg[0]);
        return extreme(e, k->op == HD_EXPR_max, a, hd_ir_value(e, k->arg[1]));
    default:
        if (k->n != 2) return function(e, k);
        a = hd_ir_value(e, k->arg[0]);
        if (hd_expr_infos[k->op].truth) return compared(e, k->op, a, hd_ir_value(e, k->arg[1]));
        return arithmetic(e, k->op, a, hd_ir_value(e, k->arg[1]));
    }
}

/* ---- leaves --------------------------------------------------------------------------------- */

void hd_ir_leaf(struct hd_ir *e, const struct hd_loop_stmt *s) {
    struct hd_ir_value v = hd_ir_value(e, s->value);
    if (s->best >= 0) hd_ir_fail(e, "an arg reduction");
    if (s->kind == HD_LOOP_UPDATE) {
        struct hd_ir_value before = load(e, s->tensor, s->n_index, s->index, e->mask);
        v = s->reduce == HD_REDUCE_SUM       ? arithmetic(e, HD_EXPR_add, before, v)
            : s->reduce == HD_REDUCE_PRODUCT ? arithmetic(e, HD_EXPR_mul, before, v)
                                             : extreme(e, s->reduce == HD_REDUCE_MAX, before, v);
    }
    store(e, s, v);
}
