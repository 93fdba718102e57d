/* Step maker for nodes whose meaning is a tensor expression: expression, schedule, loops, kernels.
 */
#include <string.h>

#include "compiler/expr/rewrite.h"
#include "compiler/ir/expression.h"
#include "compiler/loop/loop.h"
#include "gpu_ref/gpu_choice.h"
#include "gpu_ref/gpu_express.h"
#include "gpu_ref/gpu_layout.h"

/* Sums of products are many: f32, as other devices do. Others are few, and keep what they have. */
static bool is_product(enum hd_ir_op op) {
    return op == HD_IR_conv || op == HD_IR_convtranspose || op == HD_IR_gemm ||
           op == HD_IR_matmul || op == HD_IR_einsum;
}

hd_status hd_gpu_expression(struct hd_gpu_plan *p, const struct hd_node *n, struct hd_expr **out) {
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
    TRY(hd_expression_bind(p->ctx, p->arena, n, text, n->n_in, in, out));
    hd_expr_simplify(*out);
    if (is_product(n->op) || !p->limits->f64) hd_expr_narrow(*out);
    return HD_OK;
}

/* HD_UNSUPPORTED when a launch is larger than the driver's limits. */
static hd_status fits(struct hd_gpu_plan *p, const struct hd_gpu_nest *k) {
    const struct hd_gpu_limits *l = p->limits;
    size_t most = l->max_blocks_yz;
    for (int c = 0; c < k->n_calls; c++) {
        const struct hd_kernel_call *x = &k->call[c];
        int64_t threads = (int64_t)x->block[0] * x->block[1] * x->block[2];
        if (x->n_tensors + 1 > HD_GPU_MAX_ARGS)
            return hd_fail(p->ctx, HD_UNSUPPORTED, "a kernel of %d tensors, at most %d",
                           x->n_tensors, HD_GPU_MAX_ARGS - 1);
        if (most && ((size_t)x->grid[1] > most || (size_t)x->grid[2] > most))
            return hd_fail(p->ctx, HD_UNSUPPORTED, "a grid of %lld x %lld blocks, at most %zu",
                           (long long)x->grid[1], (long long)x->grid[2], most);
        if (threads > l->max_threads)
            return hd_fail(p->ctx, HD_UNSUPPORTED, "blocks of %lld threads, at most %d",
                           (long long)threads, l->max_threads);
        if (x->local_bytes > l->local_bytes)
            return hd_fail(p->ctx, HD_UNSUPPORTED, "%zu bytes of local memory, at most %zu",
                           x->local_bytes, l->local_bytes);
    }
    return HD_OK;
}

static hd_status lower(struct hd_gpu_plan *p, const struct hd_expr *f,
                       const struct hd_gpu_choice *choice, struct hd_gpu_nest *out) {
    struct hd_schedule *s;
    int before = hd_kernels_count(p->kernels);
    const char *text = hd_gpu_schedule(p->arena, f, p->limits, choice);
    if (!text)
        return hd_fail(p->ctx, HD_UNSUPPORTED, "it has no product to tile, or no such instruction");
    TRY(hd_schedule_parse(p->ctx, p->arena, text, &s));
    TRY(hd_loop_lower(p->ctx, p->arena, f, s, &out->nest));
    hd_loop_tidy(p->arena, out->nest);
    TRY(hd_kernels_add(p->ctx, p->kernels, out->nest, &out->call, &out->n_calls));
    out->f = f;
    hd_status fit = fits(p, out);
    if (fit != HD_OK) hd_kernels_cut(p->kernels, before);
    return fit;
}

static void prepare(const struct hd_gpu_plan *p, struct hd_expr *f) {
    if (p->limits->mma || p->limits->dot8) hd_expr_split_offsets(f);
    hd_expr_split_sums(f);
}

/* Of a prepared expression. tiles_only: nothing is made when the tiles do not fit. */
static hd_status kernels(struct hd_gpu_plan *p, struct hd_expr *f, bool tiles_only,
                         struct hd_gpu_nest *out) {
    hd_status s = lower(p, f, NULL, out);
    if (s != HD_OK && !tiles_only) {
        hd_clear(p->ctx);
        s = lower(p, f, &hd_gpu_flat, out);
    }
    return s;
}

/* A constant whose elements lie in another order than the graph's. */
static int reordered(struct hd_gpu_plan *p, int tensor, int dimension) {
    const struct hd_tensor *t = &p->g->tensors[tensor];
    size_t bytes = hd_tensor_bytes(t);
    void *data = hd_alloc(p->arena, bytes + 1);
    hd_gpu_reorder(t, dimension, false, hd_gpu_const(p, tensor), data);
    int view = hd_gpu_make(p, -1, bytes);
    p->views[view].constant = data;
    return view;
}

/* Views of the nest's tensors: operands, results, and what lies between its kernels. */
static hd_status views(struct hd_gpu_plan *p, const struct hd_gpu_nest *k, int *view) {
    const struct hd_expr *f = k->nest->f;
    for (int i = 0; i < f->n_params; i++) {
        if (k->operand[i] < 0) continue;
        if (k->last && k->last[i] >= 0)
            view[i] = reordered(p, k->operand[i], k->last[i]);
        else
            TRY(hd_gpu_need(p, k->operand[i], &view[i]));
    }
    for (int c = 0; c < k->n_calls; c++)
        for (int i = 0; i < k->call[c].n_tensors; i++) {
            int t = k->call[c].tensor[i];
            const struct hd_expr_tensor *x = &f->tensor[t];
            size_t bytes = (size_t)hd_expr_elems(x) * hd_dtype_bytes((hd_dtype)x->type);
            if (view[t] < 0) view[t] = hd_gpu_make(p, -1, bytes ? bytes : 1);
        }
    return HD_OK;
}

hd_status hd_gpu_nest_call(struct hd_gpu_plan *p, const struct hd_gpu_nest *k, int n_results,
                           int *results) {
    const struct hd_expr *f = k->nest->f;
    int *view = hd_new_array(p->arena, int, f->n_tensors + 1);
    for (size_t t = 0; t < f->n_tensors; t++) view[t] = -1;
    for (int i = 0; i < n_results; i++) view[f->result[i]] = results[i];
    TRY(views(p, k, view));
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

/* Tensors of the graph for the parameters of f, which are the node's operands. */
static const int *operands(struct hd_gpu_plan *p, const struct hd_node *n, int n_params) {
    int *list = hd_new_array(p->arena, int, (size_t)n_params + 1);
    for (int i = 0; i < n_params; i++) list[i] = i < n->n_in ? n->in[i] : -1;
    return list;
}

/* The node, or several that became one, and what they compute. */
static hd_status step(struct hd_gpu_plan *p, const struct hd_gpu_group *u, int n_out,
                      const int *out, const struct hd_gpu_nest *k) {
    int *results = hd_new_array(p->arena, int, (size_t)n_out + 1);
    const char *how = p->how ? p->how : p->api->scheme;
    struct hd_gpu_work *w = hd_push(p->arena, p->works.work, p->works.n, p->works.cap);
    *w = (struct hd_gpu_work){.name = hd_gpu_work_name(p->arena, k->f),
                              .f = k->f,
                              .step = p->n_steps,
                              .n = u->n,
                              .n_results = n_out,
                              .result = hd_dup(p->arena, out, (size_t)n_out * sizeof *out)};
    memcpy(w->node, u->node, sizeof w->node);
    for (int i = 0; i < u->n; i++) p->done[u->node[i]] = true;
    hd_gpu_step(p, HD_GPU_KERNELS, u->node[0], how, 0, NULL, 0, NULL)->n_nodes = u->n;
    for (int i = 0; i < n_out; i++) results[i] = out[i] < 0 ? -1 : hd_gpu_make(p, out[i], 0);
    return hd_gpu_nest_call(p, k, n_out, results);
}

hd_status hd_gpu_nest_make(struct hd_gpu_plan *p, const struct hd_node *n, const char *text,
                           int n_in, struct hd_gpu_nest *out) {
    const struct hd_tensor *in[HD_MAX_OPERANDS];
    struct hd_expr *f;
    for (int i = 0; i < n_in; i++) in[i] = n->in[i] < 0 ? NULL : &p->g->tensors[n->in[i]];
    TRY(hd_expression_bind(p->ctx, p->arena, n, text, n_in, in, &f));
    hd_expr_simplify(f);
    hd_expr_narrow(f);
    *out = (struct hd_gpu_nest){.operand = operands(p, n, f->n_params)};
    prepare(p, f);
    return kernels(p, f, false, out);
}

/* ---- nodes ---------------------------------------------------------------------------------- */

struct unit { /* a node, or a group of them, to make kernels of */
    struct hd_gpu_group u;
    const int *operand;
    int n_out;
    const int *out;
};

/* The node with elementwise ones behind it, as one. *out_any false: there are none. */
static hd_status grouped(struct hd_gpu_plan *p, int node, struct hd_expr *f, struct unit *out,
                         bool *out_any) {
    TRY(hd_gpu_group(p, node, f, out_any, &out->u));
    if (!*out_any) return HD_OK;
    out->operand = hd_dup(p->arena, out->u.operand, sizeof out->u.operand);
    out->n_out = 1;
    out->out = hd_dup(p->arena, &out->u.made[out->u.n - 1], sizeof(int));
    return HD_OK;
}

static struct unit alone(struct hd_gpu_plan *p, int node, struct hd_expr *f) {
    const struct hd_node *n = &p->g->nodes[node];
    return (struct unit){.u = {.f = f, .n = 1, .node = {node}},
                         .operand = operands(p, n, f->n_params),
                         .n_out = n->n_out,
                         .out = n->out};
}

/* Its tensors are as they lie, and it is prepared. */
static void lay_out(struct hd_gpu_plan *p, const struct unit *x, struct hd_gpu_nest *k) {
    struct hd_expr *f = x->u.f;
    int *last = hd_new_array(p->arena, int, (size_t)f->n_params + 1);
    hd_gpu_lay_out(p, f, x->operand, x->out, x->n_out);
    prepare(p, f);
    hd_gpu_lay_out_weights(p, f, x->operand, last);
    k->operand = x->operand;
    k->last = last;
}

/* The node's expression. NULL: it has none that is whole, and p->why says so. */
static hd_status whole(struct hd_gpu_plan *p, int node, struct hd_expr **out) {
    const struct hd_node *n = &p->g->nodes[node];
    TRY(hd_gpu_expression(p, n, out));
    if (!*out)
        p->why = "it has no tensor expression";
    else if ((size_t)n->n_out > (*out)->n_results)
        p->why = "its expression has the first result alone", *out = NULL;
    return HD_OK;
}

/* The host runs it, and says why. */
static hd_status left(struct hd_gpu_plan *p) {
    p->why = hd_strdup(p->arena, hd_message(p->ctx));
    hd_clear(p->ctx);
    return HD_OK;
}

/* The choice that the expression is to have; false: there is none. */
static hd_status choice_of(struct hd_gpu_plan *p, const struct hd_expr *f,
                           struct hd_gpu_choice *out, bool *out_any) {
    struct hd_schedule_row row = {0};
    if ((*out_any = p->tuning.only != NULL)) {
        *out = *p->tuning.only;
        return HD_OK;
    }
    TRY(hd_schedules_best(p->ctx, p->arena, p->tuning.db,
                          hd_gpu_device_key(p->arena, p->api, p->limits),
                          hd_gpu_work_name(p->arena, f), &row));
    if (!row.schedule || !*row.schedule) return HD_OK;
    *out_any = hd_gpu_choice_read(row.schedule, out);
    if (!*out_any)
        hd_warn(p->ctx,
                "%s: the file of schedules has '%.60s' for %s, which is no schedule of this "
                "version; heddle tune --device %s measures again",
                p->api->scheme, row.schedule, row.work, p->api->scheme);
    return HD_OK;
}

hd_status hd_gpu_tuned(struct hd_gpu_plan *p, int node, bool *out_taken) {
    struct hd_expr *f = NULL;
    struct hd_gpu_nest k = {0};
    struct hd_gpu_choice choice;
    struct unit x;
    bool any;
    if (!p->tuning.db && !p->tuning.only) return HD_OK;
    if (whole(p, node, &f) != HD_OK) return left(p);
    if (!f) return HD_OK;
    TRY(grouped(p, node, f, &x, &any));
    if (!any) x = alone(p, node, f);
    lay_out(p, &x, &k);
    TRY(choice_of(p, x.u.f, &choice, &any));
    if (!any) return HD_OK;
    if (lower(p, x.u.f, &choice, &k) != HD_OK) {
        if (!p->tuning.only)
            hd_warn(p->ctx, "%s: the file of schedules has '%s' for %s, which does not fit: %s",
                    p->api->scheme, hd_gpu_choice_text(p->arena, &choice),
                    hd_gpu_work_name(p->arena, x.u.f), hd_message(p->ctx));
        return left(p);
    }
    p->how = hd_sprintf(p->arena, "%s, tuned", p->api->scheme);
    *out_taken = true;
    return step(p, &x.u, x.n_out, x.out, &k);
}

hd_status hd_gpu_express(struct hd_gpu_plan *p, int node, bool *out_taken) {
    struct hd_expr *f = NULL;
    struct hd_gpu_nest k = {0};
    struct unit x;
    if (p->tuning.only) return HD_OK;
    if (whole(p, node, &f) != HD_OK) return left(p);
    if (!f) return HD_OK;
    TRY(grouped(p, node, f, &x, out_taken));
    if (*out_taken) {
        lay_out(p, &x, &k);
        *out_taken = kernels(p, x.u.f, true, &k) == HD_OK;
        if (!*out_taken) hd_clear(p->ctx);
    }
    if (!*out_taken) {
        x = alone(p, node, f);
        lay_out(p, &x, &k);
        if (kernels(p, f, false, &k) != HD_OK) return left(p);
        *out_taken = true;
    }
    return step(p, &x.u, x.n_out, x.out, &k);
}
