/* Graph -> text. Grammar and a worked example: docs/ir.md. parse.c reads it back, bit by bit the
 * same. */
#include "compiler/ir/text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "runtime/base/num.h"

static void put_string(FILE *f, const char *s) {
    fputc('"', f);
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            fprintf(f, "\\%c", c);
        else if (c < 0x20 || c >= 0x7f)
            fprintf(f, "\\x%02x", c);
        else
            fputc(c, f);
    }
    fputc('"', f);
}

static void put_name(FILE *f, const char *s) {
    bool bare = hd_text_start((unsigned char)*s) && strcmp(s, "input") && strcmp(s, "const") &&
                strcmp(s, "variable") && strcmp(s, "output");
    for (const char *p = s; bare && *p; p++) bare = hd_text_part((unsigned char)*p);
    if (bare)
        fputs(s, f);
    else
        put_string(f, s);
}

static void put_type(FILE *f, const hd_graph *g, const struct hd_tensor *t) {
    if (!t->known) {
        fputs("?", f);
        return;
    }
    fprintf(f, "%s[", hd_dtype_name(t->dtype));
    for (int i = 0; i < t->rank; i++) {
        if (i) fputc(',', f);
        if (t->axis[i]) {
            put_name(f, g->axes[t->axis[i] - 1].name);
            fputc('=', f);
        }
        fprintf(f, "%" PRId64, t->dim[i]);
    }
    fputc(']', f);
}

/* Exact: hexadecimal, and the bits of a NaN. */
static void put_f32(FILE *f, float v) {
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    if (isnan(v))
        fprintf(f, "nan:%08" PRIx32, bits);
    else if (isinf(v))
        fputs(v < 0 ? "-inf" : "inf", f);
    else
        fprintf(f, "%a", (double)v);
}

static void put_f64(FILE *f, double v) {
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    if (isnan(v))
        fprintf(f, "nan:%016" PRIx64, bits);
    else if (isinf(v))
        fputs(v < 0 ? "-inf" : "inf", f);
    else
        fprintf(f, "%a", v);
}

static void put_value(FILE *f, const struct hd_tensor *t, int64_t i) {
    const void *p = t->data;
    switch (t->dtype) {
    case HD_F32:
        put_f32(f, ((const float *)p)[i]);
        break;
    case HD_F64:
        put_f64(f, ((const double *)p)[i]);
        break;
    case HD_I8:
        fprintf(f, "%d", ((const int8_t *)p)[i]);
        break;
    case HD_U8:
    case HD_BOOL:
        fprintf(f, "%u", ((const uint8_t *)p)[i]);
        break;
    case HD_I16:
        fprintf(f, "%d", ((const int16_t *)p)[i]);
        break;
    case HD_F16: /* the bits */
    case HD_BF16:
    case HD_U16:
        fprintf(f, "%u", ((const uint16_t *)p)[i]);
        break;
    case HD_I32:
        fprintf(f, "%" PRId32, ((const int32_t *)p)[i]);
        break;
    case HD_U32:
        fprintf(f, "%" PRIu32, ((const uint32_t *)p)[i]);
        break;
    case HD_I64:
        fprintf(f, "%" PRId64, ((const int64_t *)p)[i]);
        break;
    case HD_U64:
        fprintf(f, "%" PRIu64, ((const uint64_t *)p)[i]);
        break;
    case HD_I4:
    case HD_I2:
        fprintf(f, "%d", ((const int8_t *)p)[i]);
        break;
    default: /* u4, u2, and the bits of floats of one byte */
        fprintf(f, "%u", ((const uint8_t *)p)[i]);
        break;
    }
}

static void put_indent(FILE *f, int depth) {
    for (int i = 0; i <= depth; i++) fputs("  ", f);
}

static void put_const(FILE *f, const hd_graph *g, const struct hd_tensor *tensor, bool full) {
    struct hd_tensor value = *tensor, *t = &value;
    int64_t n = hd_tensor_elems(t);
    fputs(t->initial ? "variable " : "const ", f);
    if (t->initial) t->data = t->initial;
    put_name(f, t->name);
    fputc(' ', f);
    put_type(f, g, t);
    if (n > HD_TEXT_VALUES && !full) {
        fprintf(f, " = #%08" PRIx32 "\n", hd_hash(HD_HASH_INIT, t->data, hd_tensor_bytes(t)));
        return;
    }
    fputs(" = {", f);
    for (int64_t i = 0; i < n; i++) {
        if (i) fputs(i % 16 ? ", " : ",\n    ", f);
        put_value(f, t, i);
    }
    fputs("}\n", f);
}

static void put_graph(FILE *f, const hd_graph *g, bool full, int depth);

static void put_attr(FILE *f, const struct hd_attr *a, bool full, int depth) {
    fputc(' ', f);
    put_name(f, a->name);
    fputc('=', f);
    switch (a->kind) {
    case HD_ATTR_INT:
        fprintf(f, "%" PRId64, a->i);
        break;
    case HD_ATTR_FLOAT:
        put_f32(f, a->f);
        break;
    case HD_ATTR_STRING:
        put_string(f, a->s);
        break;
    case HD_ATTR_INTS:
        fputc('[', f);
        for (int i = 0; i < a->n; i++) fprintf(f, "%s%" PRId64, i ? "," : "", a->ints[i]);
        fputc(']', f);
        break;
    case HD_ATTR_FLOATS:
        fputs("f[", f);
        for (int i = 0; i < a->n; i++) {
            if (i) fputc(',', f);
            put_f32(f, a->floats[i]);
        }
        fputc(']', f);
        break;
    case HD_ATTR_GRAPH:
        put_graph(f, a->graph, full, depth + 1);
        break;
    }
}

static void put_node(FILE *f, const hd_graph *g, const struct hd_node *n, bool full, int depth) {
    for (int i = 0; i < n->n_out; i++) {
        if (i) fputs(", ", f);
        if (n->out[i] < 0) {
            fputc('-', f);
            continue;
        }
        put_name(f, g->tensors[n->out[i]].name);
        fputc(' ', f);
        put_type(f, g, &g->tensors[n->out[i]]);
    }
    fprintf(f, " = %s(", hd_ir_ops[n->op].name);
    for (int i = 0; i < n->n_in; i++) {
        if (i) fputs(", ", f);
        if (n->in[i] < 0)
            fputc('-', f);
        else
            put_name(f, g->tensors[n->in[i]].name);
    }
    fputc(')', f);
    if (n->out[0] < 0 || strcmp(n->name, g->tensors[n->out[0]].name)) {
        fputs(" @", f);
        put_name(f, n->name);
    }
    bool any = false;
    for (int i = 0; i < n->n_after; i++) {
        if (g->nodes[n->after[i]].dead) continue;
        fputs(any ? ", " : " after(", f);
        put_name(f, g->nodes[n->after[i]].name);
        any = true;
    }
    if (any) fputc(')', f);
    for (int i = 0; i < n->n_attrs; i++) put_attr(f, &n->attrs[i], full, depth);
    fputc('\n', f);
}

void hd_node_print(const hd_graph *g, int node, FILE *out) {
    put_node(out, g, &g->nodes[node], false, 0);
}

/* Marks the tensors that a live node or an output reads. */
static bool *used_tensors(const hd_graph *g, hd_arena *a) {
    bool *used = hd_new_array(a, bool, g->n_tensors + 1);
    for (size_t i = 0; i < g->n_nodes; i++)
        for (int k = 0; !g->nodes[i].dead && k < g->nodes[i].n_in; k++)
            if (g->nodes[i].in[k] >= 0) used[g->nodes[i].in[k]] = true;
    for (size_t i = 0; i < g->n_outputs; i++) used[g->outputs[i]] = true;
    return used;
}

/* "graph name {" to "}", its lines two spaces in from where it begins. */
static void put_graph(FILE *f, const hd_graph *g, bool full, int depth) {
    hd_arena *a = hd_arena_create();
    int *order = hd_new_array(a, int, g->n_nodes + 1);
    size_t n = hd_graph_order(g, order);
    bool *used = used_tensors(g, a);
    fputs("graph ", f);
    put_name(f, g->name);
    fputs(g->specialised ? " specialised {\n" : " {\n", f);
    for (size_t i = 0; i < g->n_inputs; i++) {
        put_indent(f, depth);
        fputs("input ", f);
        put_name(f, g->tensors[g->inputs[i]].name);
        fputc(' ', f);
        put_type(f, g, &g->tensors[g->inputs[i]]);
        fputc('\n', f);
    }
    for (size_t i = 0; i < g->n_tensors; i++) {
        if ((!g->tensors[i].data || !used[i]) && !g->tensors[i].initial) continue;
        put_indent(f, depth);
        put_const(f, g, &g->tensors[i], full);
    }
    for (size_t i = 0; i < n; i++) {
        put_indent(f, depth);
        put_node(f, g, &g->nodes[order[i]], full, depth);
    }
    for (size_t i = 0; i < g->n_outputs; i++) {
        put_indent(f, depth);
        fputs("output ", f);
        put_name(f, g->tensors[g->outputs[i]].name);
        fputc('\n', f);
    }
    if (depth) put_indent(f, depth - 1);
    fputc('}', f);
    hd_arena_destroy(a);
}

hd_status hd_graph_print(hd_ctx *ctx, const hd_graph *g, bool full, FILE *out) {
    put_graph(out, g, full, 0);
    fputc('\n', out);
    return ferror(out) ? hd_fail(ctx, HD_IO, "graph '%s': the text cannot be written", g->name)
                       : HD_OK;
}
