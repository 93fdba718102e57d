/* Conversions of values of the loop IR, and intrinsics, as LLVM IR: see llvm.h. */
#include <string.h>

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

/* ---- intrinsics ----------------------------------------------------------------------------- */

enum { SUMS = 8 };

struct element { /* the first one of an access, and how far it moves with each loop */
    struct hd_ir_value at;
    int64_t by_sum, by_part;
};

/* Elements from an iteration of the loop to the next; INT64_MIN = unevenly. */
static int64_t moves(struct hd_ir *e, int tensor, int n, const int *index, int loop) {
    int64_t all = 0, one = 0;
    e->vector = loop;
    for (int d = 0; d < n && all != INT64_MIN; d++)
        all = hd_ir_step(e, index[d], &one) ? all + one * hd_ir_stride(&e->n->f->tensor[tensor], d)
                                            : INT64_MIN;
    e->vector = -1;
    return all;
}

static struct element element(struct hd_ir *e, int tensor, int n, const int *index, int sum,
                              int part) {
    int64_t none;
    struct element x = {.by_sum = moves(e, tensor, n, index, sum),
                        .by_part = moves(e, tensor, n, index, part)};
    e->is_fixed[sum] = e->is_fixed[part] = true;
    e->fixed[sum] = e->fixed[part] = 0;
    x.at = hd_ir_address(e, tensor, n, index, &none);
    e->is_fixed[sum] = e->is_fixed[part] = false;
    return x;
}

static int access_in(const struct hd_ir *e, int node) {
    const struct hd_expr_node *k = &e->n->f->node[node];
    return k->op == HD_EXPR_CAST ? k->arg[0] : node;
}

static struct hd_ir_value load(struct hd_ir *e, const char *type, struct hd_ir_value at) {
    struct hd_ir_value v = hd_ir_temp(e, HD_I32, SUMS);
    fprintf(e->out, "  %s = load %s, ptr %s, align 1\n", v.text, type, at.text);
    return v;
}

/* Eight sums of pairs: two neighbours of x for all of them, two weights for each. */
static void madd(struct hd_ir *e, const struct element *acc, const struct element *x,
                 const struct element *w) {
    struct hd_ir_value pair = load(e, "i32", x->at), bytes = load(e, "<16 x i8>", w->at);
    struct hd_ir_value sums = load(e, "<8 x i32>", acc->at), in = hd_ir_temp(e, HD_I32, SUMS),
                       all = hd_ir_temp(e, HD_I32, SUMS), a = hd_ir_temp(e, HD_I32, SUMS),
                       b = hd_ir_temp(e, HD_I32, SUMS), product = hd_ir_temp(e, HD_I32, SUMS),
                       y = hd_ir_temp(e, HD_I32, SUMS);
    fprintf(e->out, "  %s = insertelement <8 x i32> poison, i32 %s, i64 0\n", in.text, pair.text);
    fprintf(e->out,
            "  %s = shufflevector <8 x i32> %s, <8 x i32> poison, <8 x i32> zeroinitializer\n",
            all.text, in.text);
    fprintf(e->out, "  %s = bitcast <8 x i32> %s to <16 x i16>\n", a.text, all.text);
    fprintf(e->out, "  %s = sext <16 x i8> %s to <16 x i16>\n", b.text, bytes.text);
    hd_ir_declare(e, "declare <8 x i32> @llvm.x86.avx2.pmadd.wd(<16 x i16>, <16 x i16>)");
    fprintf(e->out, "  %s = call <8 x i32> @llvm.x86.avx2.pmadd.wd(<16 x i16> %s, <16 x i16> %s)\n",
            product.text, a.text, b.text);
    fprintf(e->out, "  %s = add <8 x i32> %s, %s\n", y.text, sums.text, product.text);
    fprintf(e->out, "  store <8 x i32> %s, ptr %s, align 4\n", y.text, acc->at.text);
}

void hd_ir_intrinsic(struct hd_ir *e, const struct hd_loop_stmt *s) {
    const struct hd_loop_stmt *leaf = s->body->body;
    const struct hd_expr_node *node = e->n->f->node;
    const char *name = e->n->loop[s->loop].intrinsic;
    bool plain = s->body->kind == HD_LOOP_FOR && leaf && leaf->kind == HD_LOOP_UPDATE;
    if (!plain || strcmp(name, "madd")) {
        hd_ir_fail(e, name);
        return;
    }
    int sum = s->loop, part = s->body->loop;
    struct element of[2], acc;
    const struct hd_expr_node *product = &node[leaf->value];
    for (int i = 0; i < 2; i++) {
        const struct hd_expr_node *k = &node[access_in(e, product->arg[i])];
        of[i] = element(e, (int)k->i, k->n, k->arg, sum, part);
    }
    acc = element(e, leaf->tensor, leaf->n_index, leaf->index, sum, part);
    const struct element *x = of[0].by_sum ? &of[1] : &of[0], *w = of[0].by_sum ? &of[0] : &of[1];
    if (acc.by_sum != 1 || x->by_part != 1 || x->by_sum || w->by_part != 1 || w->by_sum != 2)
        hd_ir_fail(e, "an intrinsic whose elements lie apart; pack them");
    else
        madd(e, &acc, x, w);
}
