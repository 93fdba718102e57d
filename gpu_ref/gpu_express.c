/* Step maker for nodes whose meaning is a tensor expression: expression, schedule, loops, kernels.
 */
#include <string.h>

#include "compiler/expr/rewrite.h"
#include "compiler/ir/expression.h"
#include "compiler/loop/loop.h"
#include "gpu_ref/gpu_express.h"
#include "gpu_ref/gpu_schedule.h"

/* The node's expression, bound; NULL = it has none. */
static hd_status expression(struct hd_gpu_plan *p, const struct hd_node *n, struct hd_expr **out) {
    const struct hd_tensor *in[HD_MAX_OPERANDS];
    for (int i = 0; i < n->n_in; i++) {
        in[i] = NULL;
        if (n->in[i] < 0) continue;
        struct hd_tensor *t = hd_dup(p->arena, &p->g->tensors[n->in[i]], sizeof *t);
        t->data = hd_gpu_const(p, n->in[i]); /* axes and shapes are looked at */
        in[i] = t;
    }
    *out = NULL;
    if (n->out[0] < 0) return HD_OK;
    const char *text = hd_expression_of(p->arena, n, n->n_in, in, &p->g->tensors[n->out[0]]);
    if (!text) return HD_OK;
    return hd_expression_bind(p->ctx, p->arena, n, text, n->n_in, in, out);
}

/* HD_UNSUPPORTED when a launch is larger than the driver's limits. */
static hd_status fits(struct hd_gpu_plan *p, const struct hd_gpu_nest *k) {
    size_t most = p->limits->max_blocks_yz;
    for (int c = 0; c < k->n_calls; c++) {
        const struct hd_kernel_call *x = &k->call[c];
        if (x->n_tensors + 1 > HD_GPU_MAX_ARGS)
            return hd_fail(p->ctx, HD_UNSUPPORTED, "a kernel of %d tensors, at most %d",
                           x->n_tensors, HD_GPU_MAX_ARGS - 1);
        if (most && ((size_t)x->grid[1] > most || (size_t)x->grid[2] > most))
            return hd_fail(p->ctx, HD_UNSUPPORTED, "a grid of %lld x %lld blocks, at most %zu",
                           (long long)x->grid[1], (long long)x->grid[2], most);
    }
    return HD_OK;
}

static hd_status lower(struct hd_gpu_plan *p, const struct hd_expr *f, bool tiles,
                       struct hd_gpu_nest *out) {
    struct hd_schedule *s;
    const char *text = hd_gpu_schedule(p->arena, f, p->limits, tiles);
    TRY(hd_schedule_parse(p->ctx, p->arena, text, &s));
    TRY(hd_loop_lower(p->ctx, p->arena, f, s, &out->nest));
    hd_loop_tidy(p->arena, out->nest);
    TRY(hd_kernels_add(p->ctx, p->kernels, out->nest, &out->call, &out->n_calls));
    return fits(p, out);
}

/* Sums of products are many: f32, as other devices do. Others are few, and keep what they have. */
static bool is_product(enum hd_ir_op op) {
    return op == HD_IR_conv || op == HD_IR_convtranspose || op == HD_IR_gemm ||
           op == HD_IR_matmul || op == HD_IR_einsum;
}

static hd_status kernels(struct hd_gpu_plan *p, enum hd_ir_op op, struct hd_expr *f,
                         struct hd_gpu_nest *out) {
    hd_expr_simplify(f);
    if (is_product(op) || !p->limits->f64) hd_expr_narrow(f);
    if (p->limits->mma || p->limits->dot8) hd_expr_split_offsets(f);
    hd_expr_split_sums(f);
    hd_status s = lower(p, f, true, out);
    if (s != HD_OK) {
        hd_clear(p->ctx);
        s = lower(p, f, false, out);
    }
    return s;
}

/* Views of the nest's tensors: operands, results, and what lies between its kernels. */
static hd_status views(struct hd_gpu_plan *p, const struct hd_node *n, const struct hd_gpu_nest *k,
                       int *view) {
    const struct hd_expr *f = k->nest->f;
    for (int i = 0; i < n->n_in && i < f->n_params; i++)
        if (n->in[i] >= 0) TRY(hd_gpu_need(p, n->in[i], &view[i]));
    for (int c = 0; c < k->n_calls; c++)
        for (int i = 0; i < k->call[c].n_tensors; i++) {
            int t = k->call[c].tensor[i];
            const struct hd_expr_tensor *x = &f->tensor[t];
            size_t bytes = (size_t)hd_expr_elems(x) * hd_dtype_bytes((hd_dtype)x->type);
            if (view[t] < 0) view[t] = hd_gpu_make(p, -1, bytes ? bytes : 1);
        }
    return HD_OK;
}

hd_status hd_gpu_nest_call(struct hd_gpu_plan *p, const struct hd_node *n,
                           const struct hd_gpu_nest *k, int n_results, int *results) {
    const struct hd_expr *f = k->nest->f;
    int *view = hd_new_array(p->arena, int, f->n_tensors + 1);
    for (size_t t = 0; t < f->n_tensors; t++) view[t] = -1;
    for (int i = 0; i < n_results; i++) view[f->result[i]] = results[i];
    TRY(views(p, n, k, view));
    for (int i = 0; i < n_results; i++) results[i] = view[f->result[i]];
    int *made = hd_new_array(p->arena, int, (size_t)k->n_calls + 1), n_calls = 0;
    for (int c = 0; c < k->n_calls; c++) {
        const struct hd_kernel_call *from = &k->call[c];
        int *arg = hd_new_array(p->arena, int, (size_t)from->n_tensors + 1), n_args = 0;
        for (int i = 0; i < from->n_tensors; i++) arg[n_args++] = view[from->tensor[i]];
        if (from->gathers) arg[n_args++] = hd_gpu_fault(p);
        if (!from->grid[0] || !from->grid[1] || !from->grid[2]) continue;
        struct hd_gpu_call *call = hd_gpu_call(p, from->kernel, n_args, arg);
        for (int d = 0; d < 3; d++) {
            call->grid[d] = (size_t)from->grid[d];
            call->block[d] = from->block[d];
        }
        made[n_calls++] = from->made < 0 || from->gathers ? -1 : view[from->made];
    }
    hd_gpu_find_once(p, made);
    return HD_OK;
}

static hd_status step(struct hd_gpu_plan *p, int node, const struct hd_gpu_nest *k) {
    const struct hd_node *n = &p->g->nodes[node];
    int *results = hd_new_array(p->arena, int, (size_t)n->n_out + 1);
    hd_gpu_step(p, HD_GPU_KERNELS, node, p->api->scheme, 0, NULL, 0, NULL);
    for (int i = 0; i < n->n_out; i++)
        results[i] = n->out[i] < 0 ? -1 : hd_gpu_make(p, n->out[i], 0);
    return hd_gpu_nest_call(p, n, k, n->n_out, results);
}

hd_status hd_gpu_nest_make(struct hd_gpu_plan *p, const struct hd_node *n, const char *text,
                           int n_in, struct hd_gpu_nest *out) {
    const struct hd_tensor *in[HD_MAX_OPERANDS];
    struct hd_expr *f;
    for (int i = 0; i < n_in; i++) in[i] = n->in[i] < 0 ? NULL : &p->g->tensors[n->in[i]];
    TRY(hd_expression_bind(p->ctx, p->arena, n, text, n_in, in, &f));
    return kernels(p, HD_IR_matmul, f, out);
}

hd_status hd_gpu_express(struct hd_gpu_plan *p, int node, bool *out_taken) {
    const struct hd_node *n = &p->g->nodes[node];
    struct hd_expr *f = NULL;
    struct hd_gpu_nest k = {0};
    hd_status s = expression(p, n, &f);
    if (s == HD_OK && !f) {
        p->why = "it has no tensor expression";
        return HD_OK;
    }
    if (s == HD_OK && (size_t)n->n_out > f->n_results) {
        p->why = "its expression has the first result alone";
        return HD_OK;
    }
    if (s == HD_OK) s = kernels(p, n->op, f, &k);
    if (s != HD_OK) { /* the host runs it, and says why */
        p->why = hd_strdup(p->arena, hd_message(p->ctx));
        hd_clear(p->ctx);
        return HD_OK;
    }
    *out_taken = true;
    return step(p, node, &k);
}
