/* Intrinsics that multiply bytes and add, as LLVM IR: see llvm.h. Each has a few sums, a run of
 * neighbours that all of them read, and a run of weights for each. */
#include <string.h>

#include "compiler/loop/llvm_int.h"

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

/* The element that a factor is made of, and whether something is added to it on the way. */
static int access_in(const struct hd_ir *e, int node, bool *out_turned) {
    const struct hd_expr_node *k = &e->n->f->node[node];
    *out_turned = false;
    while (k->op == HD_EXPR_CAST || k->op == HD_EXPR_add) {
        if (k->op == HD_EXPR_add) *out_turned = true;
        node = k->arg[0], k = &e->n->f->node[node];
    }
    return node;
}

static struct hd_ir_value load(struct hd_ir *e, int sums, const char *type, struct hd_ir_value at) {
    struct hd_ir_value v = hd_ir_temp(e, HD_I32, sums);
    fprintf(e->out, "  %s = load %s, ptr %s, align 1\n", v.text, type, at.text);
    return v;
}

/* Four bytes of x, the same for each sum. */
static struct hd_ir_value in_each(struct hd_ir *e, int sums, struct hd_ir_value at) {
    struct hd_ir_value run = load(e, sums, "i32", at), in = hd_ir_temp(e, HD_I32, sums),
                       all = hd_ir_temp(e, HD_I32, sums);
    fprintf(e->out, "  %s = insertelement <%d x i32> poison, i32 %s, i64 0\n", in.text, sums,
            run.text);
    fprintf(e->out,
            "  %s = shufflevector <%d x i32> %s, <%d x i32> poison, <%d x i32> zeroinitializer\n",
            all.text, sums, in.text, sums, sums);
    return all;
}

/* Eight sums of pairs: two neighbours of x for all of them, two weights for each. */
static struct hd_ir_value madd(struct hd_ir *e, struct hd_ir_value sums, struct hd_ir_value all,
                               struct hd_ir_value at) {
    struct hd_ir_value bytes = load(e, 8, "<16 x i8>", at), a = hd_ir_temp(e, HD_I32, 8),
                       b = hd_ir_temp(e, HD_I32, 8), product = hd_ir_temp(e, HD_I32, 8),
                       y = hd_ir_temp(e, HD_I32, 8);
    fprintf(e->out, "  %s = bitcast <8 x i32> %s to <16 x i16>\n", a.text, all.text);
    fprintf(e->out, "  %s = sext <16 x i8> %s to <16 x i16>\n", b.text, bytes.text);
    hd_ir_declare(e, "declare <8 x i32> @llvm.x86.avx2.pmadd.wd(<16 x i16>, <16 x i16>)");
    fprintf(e->out, "  %s = call <8 x i32> @llvm.x86.avx2.pmadd.wd(<16 x i16> %s, <16 x i16> %s)\n",
            product.text, a.text, b.text);
    fprintf(e->out, "  %s = add <8 x i32> %s, %s\n", y.text, sums.text, product.text);
    return y;
}

/* Sums of fours: unsigned neighbours of x, whose top bit is turned where they are signed. */
static struct hd_ir_value vnni(struct hd_ir *e, int n, struct hd_ir_value sums,
                               struct hd_ir_value all, struct hd_ir_value at, bool turned) {
    const char *t = hd_ir_type(e, HD_I32, n);
    struct hd_ir_value w = load(e, n, t, at), y = hd_ir_temp(e, HD_I32, n);
    if (turned) {
        struct hd_ir_value u = hd_ir_temp(e, HD_I32, n);
        fprintf(e->out, "  %s = xor %s %s, <", u.text, t, all.text);
        for (int i = 0; i < n; i++)
            fprintf(e->out, "%si32 -2139062144", i ? ", " : ""); /* 0x80.. */
        fputs(">\n", e->out);
        all = u;
    }
    const char *f = hd_sprintf(e->a, "llvm.x86.avx512.vpdpbusd.%d", 32 * n);
    hd_ir_declare(e, hd_sprintf(e->a, "declare %s @%s(%s, %s, %s)", t, f, t, t, t));
    fprintf(e->out, "  %s = call %s @%s(%s %s, %s %s, %s %s)\n", y.text, t, f, t, sums.text, t,
            all.text, t, w.text);
    return y;
}

static const struct form {
    const char *name;
    int sums, run; /* results; neighbours that are multiplied for each */
} forms[] = {{"madd", 8, 2}, {"vnni_8", 8, 4}, {"vnni", 16, 4}};

static const struct form *form_of(const char *name) {
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (!strcmp(forms[i].name, name)) return &forms[i];
    return NULL;
}

void hd_ir_intrinsic(struct hd_ir *e, const struct hd_loop_stmt *s) {
    const struct hd_loop_stmt *leaf = s->body->body;
    const struct hd_expr_node *node = e->n->f->node;
    const struct form *f = form_of(e->n->loop[s->loop].intrinsic);
    if (!f || s->body->kind != HD_LOOP_FOR || !leaf || leaf->kind != HD_LOOP_UPDATE) {
        hd_ir_fail(e, e->n->loop[s->loop].intrinsic);
        return;
    }
    int sum = s->loop, part = s->body->loop;
    struct element of[2], acc;
    bool turned[2];
    const struct hd_expr_node *product = &node[leaf->value];
    for (int i = 0; i < 2; i++) {
        const struct hd_expr_node *k = &node[access_in(e, product->arg[i], &turned[i])];
        of[i] = element(e, (int)k->i, k->n, k->arg, sum, part);
    }
    acc = element(e, leaf->tensor, leaf->n_index, leaf->index, sum, part);
    int x = of[0].by_sum ? 1 : 0, w = !x;
    if (acc.by_sum != 1 || of[x].by_part != 1 || of[x].by_sum || of[w].by_part != 1 ||
        of[w].by_sum != f->run) {
        hd_ir_fail(e, "an intrinsic whose elements lie apart; pack them");
        return;
    }
    const char *t = hd_ir_type(e, HD_I32, f->sums);
    struct hd_ir_value sums = load(e, f->sums, t, acc.at), y;
    if (f->run == 2) /* two of int16 are as long as four bytes */
        y = madd(e, sums, in_each(e, f->sums, of[x].at), of[w].at);
    else
        y = vnni(e, f->sums, sums, in_each(e, f->sums, of[x].at), of[w].at, turned[x]);
    fprintf(e->out, "  store %s %s, ptr %s, align 4\n", t, y.text, acc.at.text);
}
