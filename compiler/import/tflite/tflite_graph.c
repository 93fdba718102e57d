/* TFLite graph -> nodes, operation by operation in file order, which is a topological one. Images
 * are NHWC in the file and NCHW in the graph: windows stand between transposes, of which pass
 * layout leaves the fewest. */
#include <string.h>

#include "compiler/import/tflite/tflite_ops.h"

enum { CUSTOM = 32 }; /* BuiltinOperator of the schema */
enum kind { OP, UNARY, BINARY, REDUCE };

static const struct row {
    int code;
    const char *name;
    enum kind kind;
    uint32_t min_in, max_in;
    hd_status (*read)(struct hd_tfl *m);
    enum hd_ir_op op;
} table[] = {
#define TFL_OP(code, name, min_in, max_in, function)                                               \
    {code, #name, OP, min_in, max_in, hd_tfl_##function, HD_IR_OPS},
#define TFL_CUSTOM(name, min_in, max_in, function)                                                 \
    {CUSTOM, #name, OP, min_in, max_in, hd_tfl_##function, HD_IR_OPS},
#define TFL_UNARY(code, name, op)  {code, #name, UNARY, 1, 1, NULL, HD_IR_##op},
#define TFL_BINARY(code, name, op) {code, #name, BINARY, 2, 2, NULL, HD_IR_##op},
#define TFL_REDUCE(code, name, op) {code, #name, REDUCE, 2, 2, NULL, HD_IR_##op},
#include "compiler/import/tflite/tflite_ops.def"
};

static const struct row *row_of(const struct hd_tfl_op *op) {
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].code == op->code && (op->code != CUSTOM || !strcmp(table[i].name, op->name)))
            return &table[i];
    return NULL;
}

static hd_status read_op(struct hd_tfl *m, struct hd_tfl_op *op) {
    const struct row *r = row_of(op);
    m->op = op;
    op->node = op->n_out && op->out[0] >= 0 ? m->at->tensors[op->out[0]].name : "";
    if (!r)
        return hd_fail(m->ctx, HD_UNSUPPORTED,
                       "operation %s (code %d), at '%s', is not supported; docs/formats.md lists "
                       "those that are",
                       op->name[0] ? op->name : "of the schema", op->code, op->node);
    op->name = r->name;
    if (!op->node[0]) op->node = r->name;
    if (op->n_in < r->min_in || op->n_in > r->max_in)
        return hd_tfl_bad(m, HD_INVALID, "%u operands, allowed %u..%u", op->n_in, r->min_in,
                          r->max_in);
    if (r->kind == UNARY) return hd_tfl_unary(m, r->op);
    if (r->kind == BINARY) return hd_tfl_pair(m, r->op);
    if (r->kind == REDUCE) return hd_tfl_reduce(m, r->op);
    return r->read(m);
}

hd_status hd_tfl_body(struct hd_tfl *m) {
    for (uint32_t i = 0; i < m->at->n_ops; i++) TRY(read_op(m, &m->at->ops[i]));
    return HD_OK;
}

/* ---- inputs ---- */

static const struct hd_tensor *given(const struct hd_bind *b, const char *name, uint32_t position) {
    for (size_t i = 0; b && i < b->n_inputs; i++)
        if (b->inputs[i].name && !strcmp(b->inputs[i].name, name)) return &b->inputs[i];
    return b && position < b->n_inputs ? &b->inputs[position] : NULL;
}

/* Open dimensions take the sizes of --shape or of the tensor that is given, else those of the
 * file. */
static hd_status close_dims(struct hd_tfl *m, struct hd_tfl_tensor *t, uint32_t position) {
    const struct hd_bind *b = m->from->bind;
    const struct hd_tensor *x = given(b, t->name, position);
    const int64_t *dim = x && x->rank == t->rank ? x->dim : NULL;
    for (size_t i = 0; b && i < b->n_shapes; i++) {
        const struct hd_shape_bind *s = &b->shapes[i];
        if (strcmp(s->name, t->name)) continue;
        if (s->rank != t->rank)
            return hd_fail(m->ctx, HD_INVALID, "--shape %s has %d dimensions, the input has %d",
                           s->name, s->rank, t->rank);
        for (int d = 0; d < t->rank; d++)
            if (!t->open[d] && s->dim[d] != t->dim[d])
                return hd_fail(m->ctx, HD_INVALID,
                               "--shape %s: dimension %d is %lld, in the file it is fixed to %lld",
                               s->name, d, (long long)s->dim[d], (long long)t->dim[d]);
        dim = s->dim;
    }
    for (int d = 0; dim && d < t->rank; d++)
        if (t->open[d]) t->dim[d] = dim[d];
    return hd_shape_check(m->ctx, t->name, (hd_dtype)t->ir, t->rank, t->dim);
}

static hd_status add_inputs(struct hd_tfl *m) {
    for (uint32_t i = 0; i < m->at->n_inputs; i++) {
        if (m->at->inputs[i] < 0)
            return hd_fail(m->ctx, HD_INVALID, "graph input %u is no tensor", i);
        struct hd_tfl_tensor *t = &m->at->tensors[m->at->inputs[i]];
        if (t->ir < 0)
            return hd_fail(m->ctx, HD_UNSUPPORTED, "graph input '%s' has type %d of the schema",
                           t->name, t->type);
        if (t->raw >= 0)
            return hd_fail(m->ctx, HD_INVALID, "graph input '%s' appears twice", t->name);
        TRY(close_dims(m, t, i));
        t->raw = hd_graph_tensor(m->g, t->name, (hd_dtype)t->ir, t->rank, t->dim);
        hd_graph_input(m->g, t->raw);
    }
    return HD_OK;
}

/* ---- outputs: their names are taken before the nodes' ---- */

static hd_status add_outputs(struct hd_tfl *m, const int *named) {
    struct hd_tfl_op *end = hd_new(m->arena, struct hd_tfl_op);
    end->name = "graph output";
    m->op = end;
    for (uint32_t i = 0; i < m->at->n_outputs; i++) {
        struct hd_tfl_tensor *t = &m->at->tensors[m->at->outputs[i]];
        int x;
        end->node = t->name;
        TRY(hd_tfl_raw(m, t, &x));
        int id = hd_graph_node(m->g, HD_IR_identity, t->name, 1, &x, 1, &named[i]);
        TRY(hd_graph_infer_node(m->ctx, m->g, id));
        hd_graph_output(m->g, named[i]);
    }
    return HD_OK;
}

static hd_status import(struct hd_tfl *m) {
    TRY(hd_tfl_parse(m));
    m->at = &m->graphs[0];
    m->g->name = hd_strdup(m->g->arena, m->at->name);
    if (!m->at->n_outputs) return hd_fail(m->ctx, HD_INVALID, "the graph has no outputs");
    TRY(add_inputs(m));
    int *named = hd_new_array(m->arena, int, (size_t)m->at->n_outputs + 1);
    for (uint32_t i = 0; i < m->at->n_outputs; i++) {
        if (m->at->outputs[i] < 0)
            return hd_fail(m->ctx, HD_INVALID, "graph output %u is no tensor", i);
        named[i] = hd_graph_tensor(m->g, m->at->tensors[m->at->outputs[i]].name, HD_F32, 0, NULL);
    }
    TRY(hd_tfl_body(m));
    TRY(add_outputs(m, named));
    TRY(hd_tfl_state_finish(m));
    if (m->fb.bad) return hd_fail(m->ctx, HD_INVALID, "damaged: %s", m->fb.bad);
    return hd_graph_verify(m->ctx, m->g);
}

hd_status hd_read_tflite(hd_ctx *ctx, hd_graph *g, const struct hd_source *from) {
    hd_arena *a = hd_arena_create();
    struct hd_tfl m = {.ctx = ctx,
                       .g = g,
                       .network = g,
                       .arena = a,
                       .fb = hd_fb_open(from->data, from->bytes),
                       .from = from};
    hd_status s = import(&m);
    hd_arena_destroy(a);
    return s;
}
