/* StableHLO text -> graph: functions and regions are written out where they are used, loops turn by
 * turn while their condition is known. The graph is that of function main, or, for tests, the
 * comparisons of one function that checks itself. */
#include <string.h>

#include "compiler/import/stablehlo/stablehlo.h"

enum { DEPTH_MAX = 64, STEPS_MAX = 1 << 15 };

enum kind { UNARY, BINARY, OTHER };

static const struct row {
    const char *name;
    enum kind kind;
    enum hd_ir_op op, truth; /* of numbers, of booleans */
    hd_status (*read)(struct hd_shlo *m);
} table[] = {
#define SHLO_UNARY(name, op)         {name, UNARY, HD_IR_##op, HD_IR_##op, NULL},
#define SHLO_BINARY(name, op, truth) {name, BINARY, HD_IR_##op, HD_IR_##truth, NULL},
#define SHLO_OP(name, function)      {name, OTHER, HD_IR_OPS, HD_IR_OPS, hd_shlo_op_##function},
#include "compiler/import/stablehlo/stablehlo_ops.def"
};

static const struct row *row_of(const char *name) {
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (!strcmp(table[i].name, name)) return &table[i];
    return NULL;
}

static hd_status unary(struct hd_shlo *m, enum hd_ir_op op) {
    int x;
    TRY(hd_shlo_in(m, 0, &x));
    TRY(hd_shlo_emit(m, op, 1, &x, &x));
    return hd_shlo_out(m, 0, x);
}

static hd_status binary(struct hd_shlo *m, const struct row *r) {
    int a, b;
    TRY(hd_shlo_in(m, 0, &a));
    TRY(hd_shlo_in(m, 1, &b));
    TRY(hd_shlo_binary(m, hd_shlo_shape(m, a).dtype == HD_BOOL ? r->truth : r->op, a, b, &a));
    return hd_shlo_out(m, 0, a);
}

hd_status hd_shlo_run_op(struct hd_shlo *m, const struct hd_mlir_op *op) {
    m->op = op;
    if (++m->steps > STEPS_MAX)
        return hd_shlo_bad(m, HD_UNSUPPORTED, "more than %d operations, loops written out",
                           STEPS_MAX);
    return hd_shlo_is_complex(m) ? hd_shlo_run_complex(m) : hd_shlo_run_plain(m);
}

hd_status hd_shlo_run_plain(struct hd_shlo *m) {
    const struct row *r = row_of(m->op->name);
    if (!r)
        return hd_shlo_bad(m, HD_UNSUPPORTED,
                           "the operation is not supported; docs/formats.md lists those that are");
    if (r->kind == UNARY) return unary(m, r->op);
    return r->kind == BINARY ? binary(m, r) : r->read(m);
}

hd_status hd_shlo_region(struct hd_shlo *m, const struct hd_mlir_region *r,
                         const struct hd_shlo_value *args, size_t n_args) {
    const struct hd_mlir_op *op = m->op;
    struct hd_shlo_scope *up = m->scope, scope = {.up = up};
    if (++m->depth > DEPTH_MAX)
        return hd_shlo_bad(m, HD_UNSUPPORTED, "calls and regions deeper than %d", DEPTH_MAX);
    if (r->n_args > n_args)
        return hd_shlo_bad(m, HD_INVALID, "%zu arguments given, want %zu", n_args, r->n_args);
    m->scope = &scope;
    m->results = NULL, m->n_results = 0;
    enum hd_shlo_part part[2] = {m->part[0], m->part[1]};
    int *capture = m->capture;
    m->part[0] = m->part[1] = HD_SHLO_WHOLE, m->capture = NULL;
    for (size_t i = 0; i < r->n_args; i++) hd_shlo_bind(m, r->args[i], &args[i]);
    hd_status s = HD_OK;
    for (size_t i = 0; s == HD_OK && i < r->n_ops; i++) s = hd_shlo_run_op(m, &r->ops[i]);
    m->scope = up;
    m->op = op;
    m->part[0] = part[0], m->part[1] = part[1], m->capture = capture;
    m->depth--;
    return s;
}

hd_status hd_shlo_combine(struct hd_shlo *m, const struct hd_mlir_region *r, const int *args,
                          size_t n_args, int *out, size_t n_out) {
    struct hd_shlo_value *v = hd_new_array(m->arena, struct hd_shlo_value, n_args + 1);
    for (size_t i = 0; i < n_args; i++) v[i].tensor = args[i];
    TRY(hd_shlo_region(m, r, v, n_args));
    if (m->n_results < n_out)
        return hd_shlo_bad(m, HD_INVALID, "its body gives %zu results, want %zu", m->n_results,
                           n_out);
    for (size_t i = 0; i < n_out; i++) out[i] = m->results[i].tensor;
    return HD_OK;
}

int hd_shlo_body_op(const struct hd_mlir_op *op) {
    const char *name = hd_mlir_attr(op, "applies");
    const struct hd_mlir_region *r = op->n_regions ? &op->regions[op->n_regions - 1] : NULL;
    if (!name && r && r->n_ops == 2 && r->ops[0].n_operands == 2 && r->n_args == 2 &&
        strcmp(r->ops[0].operands[0], r->ops[0].operands[1]))
        name = r->ops[0].name;
    const struct row *row = name ? row_of(name) : NULL;
    return row && row->kind == BINARY ? (int)row->op : -1;
}

hd_status hd_shlo_op_return(struct hd_shlo *m) {
    size_t n = m->op->n_operands;
    m->results = hd_new_array(m->arena, struct hd_shlo_value, n + 1);
    for (size_t i = 0; i < n; i++) TRY(hd_shlo_operand(m, i, &m->results[i]));
    m->n_results = n;
    return HD_OK;
}

/* Results of a region or call become those of the operation in work. */
hd_status hd_shlo_take_results(struct hd_shlo *m) {
    const struct hd_shlo_value *v = m->results;
    if (m->n_results < (size_t)m->op->n_results)
        return hd_shlo_bad(m, HD_INVALID, "%zu results, want %d", m->n_results, m->op->n_results);
    for (int i = 0; i < m->op->n_results; i++) TRY(hd_shlo_out_value(m, (size_t)i, &v[i]));
    return HD_OK;
}

static hd_status all_operands(struct hd_shlo *m, struct hd_shlo_value **out) {
    *out = hd_new_array(m->arena, struct hd_shlo_value, m->op->n_operands + 1);
    for (size_t i = 0; i < m->op->n_operands; i++) TRY(hd_shlo_operand(m, i, &(*out)[i]));
    return HD_OK;
}

hd_status hd_shlo_op_call(struct hd_shlo *m) {
    const char *name = hd_mlir_attr(m->op, "decomposition");
    struct hd_shlo_value *args;
    if (!name) name = hd_mlir_attr(m->op, "callee");
    if (!name) return hd_shlo_bad(m, HD_INVALID, "it names no function");
    const struct hd_mlir_func *f = hd_shlo_function(m, name);
    if (!f) return hd_shlo_bad(m, HD_INVALID, "there is no function '%s'", name);
    TRY(all_operands(m, &args));
    struct hd_shlo_scope *scope = m->scope, none = {0};
    m->scope = &none; /* a function sees nothing of its caller */
    hd_status s = hd_shlo_region(m, &f->body, args, m->op->n_operands);
    m->scope = scope;
    TRY(s);
    return hd_shlo_take_results(m);
}

const struct hd_mlir_func *hd_shlo_function(const struct hd_shlo *m, const char *name) {
    name += *name == '@';
    for (size_t i = 0; i < m->module.n_funcs; i++)
        if (!strcmp(m->module.funcs[i].name, name)) return &m->module.funcs[i];
    return NULL;
}

/* ---- control flow ---- */

/* The value of a condition or index; *out = -1: it depends on the run. */
static hd_status known(struct hd_shlo *m, int tensor, int64_t *out) {
    const struct hd_tensor *t = &m->g->tensors[tensor];
    *out = -1;
    if (!t->data) return HD_OK;
    if (hd_tensor_elems(t) != 1 || (t->dtype != HD_BOOL && t->dtype != HD_I32))
        return hd_shlo_bad(m, HD_INVALID, "a condition or index that is no scalar");
    *out = t->dtype == HD_BOOL ? *(const uint8_t *)t->data : *(const int32_t *)t->data;
    return HD_OK;
}

static hd_status branch(struct hd_shlo *m, int64_t which) {
    if (which < 0 || which >= (int64_t)m->op->n_regions) which = (int64_t)m->op->n_regions - 1;
    TRY(hd_shlo_region(m, &m->op->regions[which], NULL, 0));
    return hd_shlo_take_results(m);
}

/* A condition of the run: both branches are computed, and one result is taken. */
hd_status hd_shlo_op_if(struct hd_shlo *m) {
    int64_t value;
    int c, y;
    TRY(hd_shlo_in(m, 0, &c));
    TRY(known(m, c, &value));
    if (m->op->n_regions != 2) return hd_shlo_bad(m, HD_INVALID, "%zu regions", m->op->n_regions);
    if (value >= 0) return branch(m, value ? 0 : 1);
    TRY(hd_shlo_region(m, &m->op->regions[0], NULL, 0));
    const struct hd_shlo_value *yes = m->results;
    size_t n = m->n_results;
    TRY(hd_shlo_region(m, &m->op->regions[1], NULL, 0));
    const struct hd_shlo_value *no = m->results;
    if (m->n_results != n || n < (size_t)m->op->n_results)
        return hd_shlo_bad(m, HD_INVALID, "its branches give %zu and %zu results", n, m->n_results);
    for (int i = 0; i < m->op->n_results; i++) {
        if (yes[i].type.complex)
            return hd_shlo_bad(m, HD_UNSUPPORTED, "complex results of a condition of the run");
        TRY(hd_shlo_emit(m, HD_IR_where, 3, (int[]){c, yes[i].tensor, no[i].tensor}, &y));
        TRY(hd_shlo_out_stored(m, (size_t)i, y, &yes[i].type));
    }
    return HD_OK;
}

hd_status hd_shlo_op_case(struct hd_shlo *m) {
    int64_t value;
    int c;
    TRY(hd_shlo_in(m, 0, &c));
    if (!m->g->tensors[c].data || !m->op->n_regions)
        return hd_shlo_bad(m, HD_UNSUPPORTED, "an index that depends on the run");
    TRY(known(m, c, &value));
    return branch(m, value);
}

hd_status hd_shlo_op_while(struct hd_shlo *m) {
    struct hd_shlo_value *v;
    size_t n = m->op->n_operands;
    TRY(all_operands(m, &v));
    if (m->op->n_regions != 2) return hd_shlo_bad(m, HD_INVALID, "%zu regions", m->op->n_regions);
    for (;;) {
        int64_t value;
        TRY(hd_shlo_region(m, &m->op->regions[0], v, n));
        if (m->n_results != 1) return hd_shlo_bad(m, HD_INVALID, "no single condition");
        TRY(known(m, m->results[0].tensor, &value));
        if (value < 0) return hd_shlo_bad(m, HD_UNSUPPORTED, "a condition that depends on the run");
        if (!value) break;
        TRY(hd_shlo_region(m, &m->op->regions[1], v, n));
        if (m->n_results != n) return hd_shlo_bad(m, HD_INVALID, "%zu results", m->n_results);
        v = m->results;
    }
    m->results = v, m->n_results = n;
    return hd_shlo_take_results(m);
}

hd_status hd_shlo_op_map(struct hd_shlo *m) {
    int *in = hd_new_array(m->arena, int, m->op->n_operands + 1), y;
    if (m->op->n_regions != 1) return hd_shlo_bad(m, HD_INVALID, "no body");
    for (size_t i = 0; i < m->op->n_operands; i++) TRY(hd_shlo_in(m, i, &in[i]));
    TRY(hd_shlo_combine(m, &m->op->regions[0], in, m->op->n_operands, &y, 1));
    return hd_shlo_out(m, 0, y);
}

hd_status hd_shlo_op_same(struct hd_shlo *m) {
    struct hd_shlo_value v;
    for (size_t i = 0; i < m->op->n_operands; i++) {
        TRY(hd_shlo_operand(m, i, &v));
        TRY(hd_shlo_out_value(m, i, &v));
    }
    return HD_OK;
}

/* A tuple has its elements as results. */
hd_status hd_shlo_op_tuple_element(struct hd_shlo *m) {
    int64_t index = hd_shlo_int(m, "index", -1), last = index;
    if (index < 0) hd_mlir_ints(hd_mlir_attr(m->op, "[]"), &last, 1);
    if (last < 0 || last > 1024 || !m->op->n_operands)
        return hd_shlo_bad(m, HD_INVALID, "index %lld", (long long)last);
    struct hd_mlir_op copy = *m->op;
    const char *name =
        last ? hd_sprintf(m->arena, "%s#%d", copy.operands[0], (int)last) : copy.operands[0];
    struct hd_shlo_value v;
    copy.operands = &name;
    const struct hd_mlir_op *op = m->op;
    m->op = &copy;
    hd_status s = hd_shlo_operand(m, 0, &v);
    m->op = op;
    TRY(s);
    return hd_shlo_out_value(m, 0, &v);
}

/* ---- checks: pairs of outputs, what there is and what is wanted ---- */

static hd_status output(struct hd_shlo *m, const char *name, int x) {
    int y = hd_graph_tensor(m->g, name, HD_F32, 0, NULL);
    int id = hd_graph_node(m->g, HD_IR_identity, name, 1, &x, 1, &y);
    TRY(hd_graph_infer_node(m->ctx, m->g, id));
    hd_graph_output(m->g, y);
    return HD_OK;
}

static hd_status check_output(struct hd_shlo *m, const char *kind, const char *which, int x) {
    return output(m, hd_sprintf(m->arena, "check%d.%s.%s", m->checks, kind, which), x);
}

/* As it is stored. */
static hd_status checked(struct hd_shlo *m, size_t i, int *out) {
    struct hd_shlo_value v;
    TRY(hd_shlo_operand(m, i, &v));
    *out = v.tensor;
    return HD_OK;
}

static hd_status check(struct hd_shlo *m, const char *name) {
    int got, want;
    const char *kind = strstr(name, "almost") ? "almost" : strstr(name, "close") ? "close" : "eq";
    if (!m->from->bind || !m->from->bind->check) return HD_OK;
    TRY(checked(m, 0, &got));
    if (strstr(name, "serialized")) {
        TRY(hd_shlo_probed(m, &want));
    } else if (strstr(name, "const")) {
        struct hd_shlo_type t;
        const char *text = hd_mlir_attr(m->op, "value");
        void *data;
        if (!text) return hd_shlo_bad(m, HD_INVALID, "no value");
        TRY(hd_shlo_type(m, m->op->n_types ? m->op->types[0] : "", &t));
        TRY(hd_shlo_dense(m, text, &t, &data));
        want = hd_graph_tensor(m->g, "want", t.dtype, t.rank, t.rank ? t.dim : (int64_t[]){0});
        m->g->tensors[want].data = data;
    } else {
        TRY(checked(m, 1, &want));
    }
    TRY(check_output(m, kind, "got", got));
    TRY(check_output(m, kind, "want", want));
    m->checks++;
    return HD_OK;
}

hd_status hd_shlo_op_check(struct hd_shlo *m) {
    return check(m, m->op->name);
}

hd_status hd_shlo_op_custom_call(struct hd_shlo *m) {
    const char *name = hd_mlir_attr(m->op, "callee");
    uint8_t yes = 1;
    if (!name) name = hd_mlir_attr(m->op, "call_target_name");
    if (!name) return hd_shlo_bad(m, HD_INVALID, "it names no function");
    if (strstr(name, "Sharding")) return hd_shlo_op_same(m);
    if (!strstr(name, "check."))
        return hd_shlo_bad(m, HD_UNSUPPORTED, "of '%s': code outside the module", name);
    TRY(check(m, name));
    return hd_shlo_out(m, 0, hd_graph_const(m->g, "checked", HD_BOOL, 0, NULL, &yes));
}

/* ---- modules ---- */

static bool has_check(const struct hd_mlir_func *f) {
    for (size_t i = 0; i < f->body.n_ops; i++) {
        const struct hd_mlir_op *op = &f->body.ops[i];
        const char *callee = hd_mlir_attr(op, "callee");
        if (!strncmp(op->name, "check.", 6) || (callee && !strncmp(callee, "check.", 6)))
            return true;
    }
    return false;
}

static hd_status add_argument(struct hd_shlo *m, const struct hd_mlir_func *f, size_t i,
                              struct hd_shlo_value *out) {
    const struct hd_bind *b = m->from->bind;
    const char *name = f->body.args[i] + 1;
    const struct hd_tensor *given = b && i < b->n_inputs ? &b->inputs[i] : NULL;
    struct hd_shlo_type *t = &out->type;
    TRY(hd_shlo_type(m, f->arg_types[i], t));
    for (size_t k = 0; b && k < b->n_inputs; k++)
        if (b->inputs[k].name && !strcmp(b->inputs[k].name, name)) given = &b->inputs[k];
    const int64_t *dim = given && given->rank == t->rank ? given->dim : NULL;
    for (size_t k = 0; b && k < b->n_shapes; k++)
        if (!strcmp(b->shapes[k].name, name) && b->shapes[k].rank == t->rank)
            dim = b->shapes[k].dim;
    for (int d = 0; d < t->rank; d++)
        if (t->dim[d] < 0) t->dim[d] = dim ? dim[d] : 1;
    if (t->complex)
        return hd_shlo_bad(m, HD_UNSUPPORTED, "%s is complex; give its parts as two inputs", name);
    TRY(hd_shape_check(m->ctx, name, t->dtype, t->rank, t->dim));
    out->tensor = hd_graph_tensor(m->g, name, t->dtype, t->rank, t->dim);
    hd_graph_input(m->g, out->tensor);
    return HD_OK;
}

static hd_status read_main(struct hd_shlo *m, const struct hd_mlir_func *f) {
    struct hd_shlo_value *args = hd_new_array(m->arena, struct hd_shlo_value, f->body.n_args + 1);
    for (size_t i = 0; i < f->body.n_args; i++) TRY(add_argument(m, f, i, &args[i]));
    TRY(hd_shlo_region(m, &f->body, args, f->body.n_args));
    if (m->from->bind && m->from->bind->check) return HD_OK;
    for (size_t i = 0; i < m->n_results; i++) {
        const struct hd_shlo_value *v = &m->results[i];
        const char *name = hd_sprintf(m->arena, "result%zu", i);
        if (!v->type.complex) {
            TRY(output(m, name, v->tensor));
            continue;
        }
        TRY(output(m, hd_sprintf(m->arena, "%s.real", name), v->tensor));
        TRY(output(m, hd_sprintf(m->arena, "%s.imag", name), v->imag));
    }
    return HD_OK;
}

static const struct hd_mlir_func *main_of(const struct hd_mlir_module *module) {
    for (size_t i = 0; i < module->n_funcs; i++)
        if (!strcmp(module->funcs[i].name, "main")) return &module->funcs[i];
    return module->n_funcs ? &module->funcs[0] : NULL;
}

static hd_status import(struct hd_shlo *m) {
    static const char split[] = "\n// -----";
    char *text = hd_strndup(m->arena, m->from->data, m->from->bytes);
    int want = m->from->bind ? m->from->bind->check : 0, at = 0;
    const struct hd_mlir_func *f = NULL;
    for (char *next = text; text && !f; text = next) {
        next = strstr(text, split);
        if (next) *next = 0, next += sizeof split - 1;
        if (next) next += strcspn(next, "\n");
        hd_status s = hd_mlir_parse(m->ctx, m->arena, text, &m->module);
        if (s != HD_OK && (!want || s == HD_UNSUPPORTED)) return s;
        if (s != HD_OK) hd_clear(m->ctx); /* a part that is no case */
        if (!want) f = main_of(&m->module);
        for (size_t i = 0; want && i < m->module.n_funcs && !f; i++)
            if (has_check(&m->module.funcs[i]) && ++at == want) f = &m->module.funcs[i];
        if (!want) break;
    }
    if (!f && want)
        return hd_fail(m->ctx, HD_MISMATCH, "%d functions check themselves, not %d", at, want);
    if (!f) return hd_fail(m->ctx, HD_INVALID, "the module has no function");
    m->g->name = hd_strdup(m->g->arena, f->name);
    TRY(hd_note(m->ctx, read_main(m, f), "in function '%s'", f->name));
    if (!m->g->n_outputs)
        return hd_fail(m->ctx, HD_INVALID, "function '%s' gives nothing", f->name);
    return hd_graph_verify(m->ctx, m->g);
}

hd_status hd_read_stablehlo(hd_ctx *ctx, hd_graph *g, const struct hd_source *from) {
    hd_arena *a = hd_arena_create();
    struct hd_shlo_scope scope = {0};
    struct hd_shlo m = {.ctx = ctx, .g = g, .arena = a, .from = from, .scope = &scope};
    hd_status s = import(&m);
    hd_arena_destroy(a);
    return s;
}
