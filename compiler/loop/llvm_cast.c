/* Conversions of values of the loop IR as LLVM IR: see llvm.h. */
#include "compiler/loop/llvm_int.h"

static bool is_unsigned(int type) {
    return type == HD_U8 || type == HD_U16 || type == HD_U32 || type == HD_U64;
}

/* A call of a function of one operand, overloaded by it. */
static struct hd_ir_value call(struct hd_ir *e, const char *function, int to,
                               struct hd_ir_value v) {
    struct hd_ir_value y = hd_ir_temp(e, to, v.lanes);
    const char *t = hd_ir_type(e, to, v.lanes), *from = hd_ir_type(e, v.type, v.lanes);
    hd_ir_declare(e, hd_sprintf(e->a, "declare %s @%s(%s)", t, function, from));
    fprintf(e->out, "  %s = call %s @%s(%s %s)\n", y.text, t, function, from, v.text);
    return y;
}

/* min(max(x, a), b), where a and b and what lies between them is in the range of 32 bits. */
static bool is_clamped(const struct hd_ir *e, int node) {
    const struct hd_expr_node *n = e->n->f->node, *k = &n[node];
    if (k->op != HD_EXPR_min || n[k->arg[0]].op != HD_EXPR_max) return false;
    const struct hd_expr_node *a = &n[n[k->arg[0]].arg[1]], *b = &n[k->arg[1]];
    return a->op == HD_EXPR_FLOAT && b->op == HD_EXPR_FLOAT && a->f >= -1e9 && b->f <= 1e9;
}

/* In range, or NaN, which becomes 0. */
static struct hd_ir_value plain(struct hd_ir *e, int to, struct hd_ir_value v) {
    struct hd_ir_value y = hd_ir_temp(e, to, v.lanes), c = hd_ir_temp(e, HD_BOOL, v.lanes),
                       z = hd_ir_temp(e, to, v.lanes);
    const char *t = hd_ir_type(e, to, v.lanes), *from = hd_ir_type(e, v.type, v.lanes);
    fprintf(e->out, "  %s = fptosi %s %s to %s\n", y.text, from, v.text, t);
    fprintf(e->out, "  %s = fcmp ord %s %s, %s\n", c.text, from, v.text, v.text);
    fprintf(e->out, "  %s = select %s %s, %s %s, %s zeroinitializer\n", z.text,
            hd_ir_type(e, HD_BOOL, v.lanes), c.text, t, y.text, t);
    return z;
}

/* Rounded; out of range becomes the nearest number, NaN becomes 0. */
static struct hd_ir_value to_integer(struct hd_ir *e, const struct hd_expr_node *k,
                                     struct hd_ir_value v) {
    static const char *const how[] = {
        [HD_ROUND_EVEN] = "roundeven", [HD_ROUND_FLOOR] = "floor", [HD_ROUND_CEIL] = "ceil"};
    const char *from = hd_ir_lanes_text(e, v.type, v.lanes);
    if (k->round == HD_ROUND_AWAY || k->type == HD_BOOL) hd_ir_fail(e, "this conversion");
    if (k->round != HD_ROUND_TRUNC && k->round != HD_ROUND_AWAY)
        v = call(e, hd_sprintf(e->a, "llvm.%s.%s", how[k->round], from), v.type, v);
    if (v.lanes > 1 && k->type == HD_I32 && is_clamped(e, k->arg[0])) return plain(e, k->type, v);
    const char *to = hd_ir_lanes_text(e, k->type, v.lanes);
    const char *sat = is_unsigned(k->type) ? "fptoui" : "fptosi";
    return call(e, hd_sprintf(e->a, "llvm.%s.sat.%s.%s", sat, to, from), k->type, v);
}

struct hd_ir_value hd_ir_cast(struct hd_ir *e, const struct hd_expr_node *k) {
    struct hd_ir_value v = hd_ir_value(e, k->arg[0]);
    int to = k->type, from = v.type;
    int bits = hd_dtype_bits((hd_dtype)from), want = hd_dtype_bits((hd_dtype)to);
    const char *how = NULL;
    if (from == to) return v;
    if (hd_scalar_is_float(from) && !hd_scalar_is_float(to)) return to_integer(e, k, v);
    if (hd_scalar_is_float(from))
        how = bits < want ? "fpext" : "fptrunc";
    else if (hd_scalar_is_float(to))
        how = is_unsigned(from) ? "uitofp" : "sitofp";
    else if (!k->saturate && to != HD_BOOL && from != HD_BOOL)
        how = bits == want        ? "bitcast"
              : bits > want       ? "trunc"
              : is_unsigned(from) ? "zext"
                                  : "sext";
    if (!how) {
        hd_ir_fail(e, "this conversion");
        return v;
    }
    struct hd_ir_value y = hd_ir_temp(e, to, v.lanes);
    fprintf(e->out, "  %s = %s %s %s to %s\n", y.text, how, hd_ir_type(e, from, v.lanes), v.text,
            hd_ir_type(e, to, v.lanes));
    return y;
}
