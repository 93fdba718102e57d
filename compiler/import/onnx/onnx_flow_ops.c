/* ONNX control flow. A condition that is constant on import leaves no If behind: the branch is
 * imported in its place, and the other one is not looked at (exporters leave branches that do not
 * fit the shapes). */
#include <string.h>

#include "compiler/import/onnx/onnx_graph.h"
#include "compiler/import/onnx/onnx_ops.h"
#include "compiler/import/onnx/resolve.h"

static hd_status parse_body(struct hd_importer *m, const struct hd_onnx_node *n, const char *name,
                            struct hd_onnx_graph *out) {
    const struct hd_onnx_attr *a = hd_onnx_attr(n, name);
    if (!a || !a->has_g) return hd_onnx_bad(m, n, HD_INVALID, "attribute %s is no graph", name);
    return hd_note(m->ctx, hd_onnx_parse_graph(m, a->g, out), "in %s of node '%s' (%s)", name,
                   n->name, n->op);
}

/* ---- If ---- */

static hd_status in_place(struct hd_importer *m, const struct hd_onnx_node *n,
                          const struct hd_onnx_graph *branch) {
    struct hd_importer inner = *m;
    int *outputs;
    inner.depth++;
    inner.scope = hd_scope_create(m->arena, m->scope);
    if (inner.depth >= HD_MAX_NESTING)
        return hd_onnx_bad(m, n, HD_UNSUPPORTED, "graphs nested deeper than %d", HD_MAX_NESTING);
    TRY(hd_onnx_add_initializers(&inner, branch));
    TRY(hd_onnx_import_body(&inner, branch, &outputs));
    for (size_t i = 0; i < n->n_out; i++) {
        int to = hd_onnx_out(m, n, i);
        if (to < 0) continue;
        int id = hd_graph_node(m->g, HD_IR_identity, n->name, 1, &outputs[i], 1, &to);
        TRY(hd_onnx_done(m, id));
    }
    return HD_OK;
}

/* Inputs of a branch become the union of what both capture. */
static void spread_captures(struct hd_importer *sub, const int *all, size_t n) {
    int *inputs = hd_new_array(sub->arena, int, n + 1);
    hd_graph *g = sub->g;
    for (size_t i = 0; i < n; i++) {
        inputs[i] = -1;
        for (size_t k = 0; k < sub->captures->n; k++)
            if (sub->captures->outer[k] == all[i]) inputs[i] = g->inputs[k];
        if (inputs[i] >= 0) continue;
        static const int64_t none[1];
        const struct hd_tensor t = sub->outer->g->tensors[all[i]];
        inputs[i] =
            hd_graph_tensor(g, t.name, t.dtype, t.rank, t.known ? t.rank ? t.dim : none : NULL);
    }
    g->n_inputs = 0;
    for (size_t i = 0; i < n; i++) hd_graph_input(g, inputs[i]);
}

static const char *const branch_name[2] = {"then_branch", "else_branch"};

static bool one_bool(const struct hd_tensor *t) {
    return t->dtype == HD_BOOL && hd_tensor_elems(t) == 1;
}

/* Which branch the condition takes, when that follows from constants; -1 = not known. Messages of
 * the attempt are nobody's. */
static int live_branch(const struct hd_importer *m, int condition) {
    struct hd_importer trial = *m;
    const void *data = NULL;
    bool specialised = m->g->specialised;
    if (!one_bool(&m->g->tensors[condition])) return -1;
    trial.ctx = hd_ctx_create();
    trial.run = hd_run_create(m->arena); /* without values, so that it ends at the first input */
    if (hd_onnx_value(&trial, condition, &data) != HD_OK) data = NULL;
    hd_ctx_destroy(trial.ctx);
    m->g->specialised = specialised; /* constants: every run decides so */
    return data ? *(const uint8_t *)data == 0 : -1;
}

static hd_status only_branch(struct hd_importer *m, const struct hd_onnx_node *n, int i) {
    struct hd_onnx_graph part;
    TRY(parse_body(m, n, branch_name[i], &part));
    if (part.n_outputs < n->n_out)
        return hd_onnx_bad(m, n, HD_INVALID, "%s has %zu outputs, want %zu", branch_name[i],
                           part.n_outputs, n->n_out);
    return in_place(m, n, &part);
}

/* Both branches as graphs; *out_failed = the one that cannot be, -1 = none. */
static hd_status import_branches(struct hd_importer *m, const struct hd_onnx_node *n,
                                 struct hd_importer sub[2], int *out_failed) {
    struct hd_onnx_graph part;
    hd_status s = HD_OK;
    *out_failed = -1;
    for (int i = 0; s == HD_OK && i < 2; i++) {
        s = parse_body(m, n, branch_name[i], &part);
        if (s == HD_OK) s = hd_onnx_import_subgraph(m, &part, NULL, 0, &sub[i]);
        if (s != HD_OK) *out_failed = i;
    }
    if (*out_failed == 1) hd_graph_destroy(sub[0].g);
    return s;
}

hd_status import_If(struct hd_importer *m, const struct hd_onnx_node *n) {
    const struct hd_tensor *cond = hd_onnx_tensor(m, n, 0);
    struct hd_importer sub[2];
    size_t n_in = 1, captures;
    int failed;
    if (cond->data && one_bool(cond)) return only_branch(m, n, *(const uint8_t *)cond->data == 0);
    hd_status s = import_branches(m, n, sub, &failed);
    if (s != HD_OK) {
        int live = live_branch(m, hd_onnx_in(m, n, 0));
        if (live == !failed) return hd_clear(m->ctx), only_branch(m, n, live);
        return hd_note(m->ctx, s,
                       "in the %s of node '%s' (%s), whose condition only a run knows; --value "
                       "NAME=NUMBER makes an input a constant that decides it",
                       branch_name[failed], n->name, n->op);
    }
    captures = sub[0].captures->n + sub[1].captures->n;
    int *in = hd_new_array(m->arena, int, captures + 2);
    in[0] = hd_onnx_in(m, n, 0);
    for (int i = 0; i < 2; i++)
        for (size_t k = 0; k < sub[i].captures->n; k++) {
            bool seen = false;
            for (size_t q = 1; q < n_in; q++) seen = seen || in[q] == sub[i].captures->outer[k];
            if (!seen) in[n_in++] = sub[i].captures->outer[k];
        }
    for (int i = 0; i < 2; i++) spread_captures(&sub[i], in + 1, n_in - 1);
    int id = hd_onnx_emit(m, n, HD_IR_if, (int)n_in, in);
    hd_attr_set_graph(m->g, id, "then", sub[0].g);
    hd_attr_set_graph(m->g, id, "else", sub[1].g);
    if (n_in > HD_MAX_OPERANDS)
        return hd_onnx_bad(m, n, HD_UNSUPPORTED, "its branches read %zu values, at most %d", n_in,
                           HD_MAX_OPERANDS);
    return hd_onnx_done(m, id);
}

/* ---- Loop ---- */

static bool same_shape(const struct hd_tensor *a, const struct hd_tensor *b) {
    return a->known && b->known && a->dtype == b->dtype && a->rank == b->rank &&
           !memcmp(a->dim, b->dim, (size_t)a->rank * sizeof *a->dim);
}

/* The body with values that are carried shaped as they enter; when one leaves it with another
 * shape, its shape is left open. */
static hd_status import_body(struct hd_importer *m, const struct hd_onnx_node *n,
                             const struct hd_onnx_graph *part, struct hd_tensor *in, size_t n_in,
                             size_t first, size_t n_carried, struct hd_importer *sub) {
    for (bool again = true; again;) {
        again = false;
        if (part->n_outputs < n_carried + (first == 2))
            return hd_onnx_bad(m, n, HD_INVALID, "its body has %zu outputs, want at least %zu",
                               part->n_outputs, n_carried + (first == 2));
        TRY(hd_onnx_import_subgraph(m, part, in, n_in, sub));
        for (size_t i = 0; i < n_carried; i++) {
            struct hd_tensor *t = &in[first + i];
            int out = sub->g->outputs[i + (first == 2)];
            if (!t->known || same_shape(t, &sub->g->tensors[out])) continue;
            t->known = false;
            again = true;
        }
        if (again) hd_graph_destroy(sub->g);
    }
    return HD_OK;
}

/* The node: operands `in`, then what the body captures. */
static hd_status emit_flow(struct hd_importer *m, const struct hd_onnx_node *n, enum hd_ir_op op,
                           const int *in, size_t n_in, struct hd_importer *sub, int *out_id) {
    size_t captures = sub->captures->n;
    int *all = hd_new_array(m->arena, int, n_in + captures + 1);
    if (n_in) memcpy(all, in, n_in * sizeof *all);
    if (captures) memcpy(all + n_in, sub->captures->outer, captures * sizeof *all);
    int id = *out_id = hd_onnx_emit(m, n, op, (int)(n_in + captures), all);
    hd_attr_set_graph(m->g, id, "body", sub->g);
    if (n_in + captures > HD_MAX_OPERANDS)
        return hd_onnx_bad(m, n, HD_UNSUPPORTED, "its body reads %zu values, at most %d",
                           n_in + captures, HD_MAX_OPERANDS);
    return HD_OK;
}

hd_status import_Loop(struct hd_importer *m, const struct hd_onnx_node *n) {
    struct hd_onnx_graph part;
    struct hd_importer sub;
    size_t n_in = n->n_in < 2 ? 2 : n->n_in;
    struct hd_tensor *t = hd_new_array(m->arena, struct hd_tensor, n_in);
    int *in = hd_new_array(m->arena, int, n_in), id;
    TRY(parse_body(m, n, "body", &part));
    t[0] = (struct hd_tensor){.dtype = HD_I64, .known = true};
    t[1] = (struct hd_tensor){.dtype = HD_BOOL, .known = true};
    for (size_t i = 0; i < n_in; i++) {
        in[i] = hd_onnx_in(m, n, i);
        if (i < 2) continue;
        if (in[i] < 0) return hd_onnx_bad(m, n, HD_INVALID, "input %zu is left out", i);
        t[i] = m->g->tensors[in[i]];
    }
    TRY(import_body(m, n, &part, t, n_in, 2, n_in - 2, &sub));
    TRY(emit_flow(m, n, HD_IR_loop, in, n_in, &sub, &id));
    hd_attr_set_int(m->g, id, "n_carried", (int64_t)n_in - 2);
    return hd_onnx_done(m, id);
}

/* ---- Scan ---- */

static struct hd_tensor without_axis(const struct hd_tensor *t, int64_t axis) {
    struct hd_tensor y = *t;
    for (int64_t i = axis; i + 1 < t->rank; i++) y.dim[i] = t->dim[i + 1];
    y.rank--;
    y.data = NULL;
    return y;
}

/* An attribute list that Scan-9 may leave out; zeros then. */
static hd_status scan_list(struct hd_importer *m, const struct hd_onnx_node *n, const char *name,
                           size_t count, int64_t *out) {
    int got;
    memset(out, 0, HD_MAX_SCANS * sizeof *out);
    TRY(hd_onnx_int_list(m, n, name, -1, out, HD_MAX_SCANS, &got));
    if (got >= 0 && (size_t)got != count)
        return hd_onnx_bad(m, n, HD_INVALID, "%s has %d values, want %zu", name, got, count);
    return HD_OK;
}

struct scan_lists {
    int64_t in_axes[HD_MAX_SCANS], in_reverse[HD_MAX_SCANS], out_axes[HD_MAX_SCANS],
        out_reverse[HD_MAX_SCANS];
};

static void set_scan(hd_graph *g, int id, size_t states, size_t slices, size_t scans,
                     const struct scan_lists *l) {
    hd_attr_set_int(g, id, "n_states", (int64_t)states);
    hd_attr_set_int(g, id, "n_scanned", (int64_t)slices);
    hd_attr_set_ints(g, id, "in_axes", (int)slices, l->in_axes);
    hd_attr_set_ints(g, id, "in_reverse", (int)slices, l->in_reverse);
    hd_attr_set_ints(g, id, "out_axes", (int)scans, l->out_axes);
    hd_attr_set_ints(g, id, "out_reverse", (int)scans, l->out_reverse);
}

/* Scan-8 has a batch in front of everything: a scan over the batch whose body is the scan proper.
 * `sub` is the body of the latter. */
static hd_status over_batch(struct hd_importer *m, const struct hd_onnx_node *n, const int *in,
                            const struct hd_tensor *elem, size_t states, size_t slices,
                            struct hd_importer *sub, const struct scan_lists *l) {
    static const struct scan_lists zero;
    hd_graph *outer = hd_graph_create();
    size_t n_in = states + slices, captures = sub->captures->n, n_out = sub->g->n_outputs;
    int *ids = hd_new_array(m->arena, int, n_in + captures + 1),
        *outs = hd_new_array(m->arena, int, n_out + 1), id;
    static const int64_t none[1];
    for (size_t i = 0; i < n_in + captures; i++) {
        struct hd_tensor t = i < n_in ? elem[i] : m->g->tensors[sub->captures->outer[i - n_in]];
        ids[i] =
            hd_graph_tensor(outer, "x", t.dtype, t.rank, t.known ? t.rank ? t.dim : none : NULL);
        hd_graph_input(outer, ids[i]);
    }
    for (size_t i = 0; i < n_out; i++) {
        outs[i] = hd_graph_tensor(outer, "y", HD_F32, 0, NULL);
        hd_graph_output(outer, outs[i]);
    }
    int inner =
        hd_graph_node(outer, HD_IR_scan, n->name, (int)(n_in + captures), ids, (int)n_out, outs);
    hd_attr_set_graph(outer, inner, "body", sub->g);
    set_scan(outer, inner, states, slices, n_out - states, l);
    hd_status s = hd_graph_infer(m->ctx, outer);
    if (s != HD_OK) {
        hd_graph_destroy(outer);
        return s;
    }
    sub->g = outer;
    TRY(emit_flow(m, n, HD_IR_scan, in, n_in, sub, &id));
    set_scan(m->g, id, 0, n_in, n_out, &zero);
    return hd_onnx_done(m, id);
}

hd_status import_Scan(struct hd_importer *m, const struct hd_onnx_node *n) {
    bool batched = m->opset < 9;
    size_t first = batched ? 1 : 0, n_in = n->n_in > first ? n->n_in - first : 0;
    int64_t slices = hd_onnx_int(n, "num_scan_inputs", 0), axis;
    struct scan_lists l;
    struct hd_onnx_graph part;
    struct hd_importer sub;
    if (slices < 1 || slices > HD_MAX_SCANS || (size_t)slices > n_in)
        return hd_onnx_bad(m, n, HD_INVALID, "num_scan_inputs is %lld, allowed 1..%d",
                           (long long)slices, HD_MAX_SCANS);
    if (batched && hd_onnx_in(m, n, 0) >= 0)
        return hd_onnx_bad(m, n, HD_UNSUPPORTED,
                           "sequence_lens of opset 8; export with opset 9 or later");
    TRY(parse_body(m, n, "body", &part));
    size_t states = n_in - (size_t)slices;
    size_t scans = part.n_outputs < states ? 0 : part.n_outputs - states;
    if (scans > HD_MAX_SCANS)
        return hd_onnx_bad(m, n, HD_UNSUPPORTED, "%zu scanned outputs, at most %d", scans,
                           HD_MAX_SCANS);
    TRY(scan_list(m, n, "scan_input_axes", (size_t)slices, l.in_axes));
    TRY(scan_list(m, n, batched ? "directions" : "scan_input_directions", (size_t)slices,
                  l.in_reverse));
    TRY(scan_list(m, n, "scan_output_axes", scans, l.out_axes));
    TRY(scan_list(m, n, "scan_output_directions", scans, l.out_reverse));
    struct hd_tensor *t = hd_new_array(m->arena, struct hd_tensor, n_in);
    struct hd_tensor *elem = hd_new_array(m->arena, struct hd_tensor, n_in);
    int *in = hd_new_array(m->arena, int, n_in), id;
    for (size_t i = 0; i < n_in; i++) {
        in[i] = hd_onnx_in(m, n, i + first);
        if (in[i] < 0) return hd_onnx_bad(m, n, HD_INVALID, "input %zu is left out", i + first);
        elem[i] = m->g->tensors[in[i]];
        if (elem[i].rank < (batched ? 1 : 0) + (i >= states))
            return hd_onnx_bad(m, n, HD_INVALID, "input %zu ('%s') has rank %d", i + first,
                               elem[i].name, elem[i].rank);
        if (batched) elem[i] = without_axis(&elem[i], 0);
        t[i] = elem[i];
        if (i < states) continue;
        TRY(hd_onnx_axis(m, n, l.in_axes[i - states], t[i].rank, &axis));
        t[i] = without_axis(&t[i], axis);
    }
    TRY(import_body(m, n, &part, t, n_in, 0, states, &sub));
    if (batched) return over_batch(m, n, in, elem, states, (size_t)slices, &sub, &l);
    TRY(emit_flow(m, n, HD_IR_scan, in, n_in, &sub, &id));
    set_scan(m->g, id, states, (size_t)slices, scans, &l);
    return hd_onnx_done(m, id);
}
