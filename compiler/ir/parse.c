/* Text -> graph; see text.c. One pass, line numbers in every message.
 *
 *   graph  = "graph" name "{" { input | const | node | output } "}"
 *   input  = "input" name type
 *   const  = ("const" | "variable") name type "=" "{" [ value { "," value } ] "}"
 *   node   = result { "," result } "=" op "(" [ arg { "," arg } ] ")" [ "@" name ] { name "="
 * attr } output = "output" name type   = dtype "[" [ int { "," int } ] "]" | "?"        arg = name
 * | "-" attr   = int | float | string | "[" ints "]" | "f[" floats "]" A name is bare or quoted, a
 * tensor called input, const or output is quoted; "#" starts a comment where a line may start.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/ir/text.h"
#include "runtime/base/num.h"

struct parser {
    hd_ctx *ctx;
    hd_graph *g;
    hd_arena *arena; /* scratch */
    const char *p, *file;
    int line, depth; /* of nested graphs */
    struct wait {
        const char *before;
        int node, line;
    } * waits; /* control dependencies of the graph in work, by name */
    size_t n_waits, cap_waits;
};

static hd_status bad(const struct parser *s, const char *want) {
    char got[24];
    size_t n = strcspn(s->p, "\n");
    snprintf(got, sizeof got, "%.*s", (int)(n < 20 ? n : 20), s->p);
    return hd_fail(s->ctx, HD_INVALID, "%s:%d: got '%s', want %s", s->file, s->line, got, want);
}

/* Spaces, line ends, comments. */
static void skip(struct parser *s) {
    for (;; s->p++) {
        if (*s->p == '\n')
            s->line++;
        else if (*s->p == '#') {
            s->p += strcspn(s->p, "\n");
            s->p--;
        } else if (*s->p != ' ' && *s->p != '\t' && *s->p != '\r')
            return;
    }
}

static bool accept(struct parser *s, const char *word) {
    skip(s);
    size_t n = strlen(word);
    if (strncmp(s->p, word, n)) return false;
    if (hd_text_part((unsigned char)word[n - 1]) && hd_text_part((unsigned char)s->p[n]))
        return false;
    s->p += n;
    return true;
}

static hd_status expect(struct parser *s, const char *word) {
    char want[32];
    if (accept(s, word)) return HD_OK;
    snprintf(want, sizeof want, "'%s'", word);
    return bad(s, want);
}

static hd_status quoted(struct parser *s, const char **out) {
    size_t n = 0;
    char *text = hd_alloc(s->arena, strlen(s->p) + 1);
    for (s->p++; *s->p != '"'; s->p++) {
        if (*s->p == 0 || *s->p == '\n') return bad(s, "'\"' at the end of the string");
        if (*s->p != '\\') {
            text[n++] = *s->p;
            continue;
        }
        s->p++;
        if (*s->p == 'x') {
            char hex[3] = {s->p[1], s->p[1] ? s->p[2] : (char)0, 0}, *end;
            long v = strtol(hex, &end, 16);
            if (*end || end != hex + 2 || v == 0)
                return bad(s, "two hexadecimal digits behind \\x");
            text[n++] = (char)v;
            s->p += 2;
        } else if (*s->p == '"' || *s->p == '\\') {
            text[n++] = *s->p;
        } else {
            return bad(s, "\\\", \\\\ or \\x");
        }
    }
    s->p++;
    *out = hd_strndup(s->arena, text, n);
    return HD_OK;
}

static hd_status name(struct parser *s, const char **out) {
    skip(s);
    if (*s->p == '"') return quoted(s, out);
    const char *from = s->p;
    if (hd_text_start((unsigned char)*s->p))
        while (hd_text_part((unsigned char)*s->p)) s->p++;
    if (s->p == from) return bad(s, "a name");
    *out = hd_strndup(s->arena, from, (size_t)(s->p - from));
    return HD_OK;
}

static hd_status integer(struct parser *s, int64_t *out) {
    char *end;
    skip(s);
    errno = 0;
    bool negative = *s->p == '-';
    unsigned long long u = 0;
    long long v = negative ? strtoll(s->p, &end, 10) : 0;
    if (!negative) u = strtoull(s->p, &end, 10);
    if (end == s->p || errno || *s->p == '+') return bad(s, "an integer of 64 bits");
    *out = negative ? v : (int64_t)u;
    s->p = end;
    return HD_OK;
}

/* The bits of a binary32 (bytes = 4) or binary64. */
static hd_status number_bits(struct parser *s, size_t bytes, uint64_t *out) {
    char *end;
    skip(s);
    if (!strncmp(s->p, "nan:", 4)) {
        *out = strtoull(s->p + 4, &end, 16);
        if (end == s->p + 4) return bad(s, "the bits of the NaN in hexadecimal");
    } else {
        double d = strtod(s->p, &end);
        float f = (float)d;
        uint32_t low;
        if (end == s->p) return bad(s, "a number");
        memcpy(&low, &f, sizeof low);
        if (bytes == 4)
            *out = low;
        else
            memcpy(out, &d, sizeof d);
    }
    s->p = end;
    return HD_OK;
}

/* A size, with the name of its axis before it where it has one. */
static hd_status dimension(struct parser *s, struct hd_tensor *out) {
    const char *axis = NULL;
    int d = out->rank++;
    skip(s);
    if (*s->p == '"' || hd_text_start((unsigned char)*s->p)) {
        TRY(name(s, &axis));
        TRY(expect(s, "="));
    }
    TRY(integer(s, &out->dim[d]));
    if (!axis) return HD_OK;
    int id = hd_graph_axis(s->g, axis, out->dim[d]);
    if (id < 0)
        return hd_fail(s->ctx, HD_INVALID, "%s:%d: axis %s has another length here than before",
                       s->file, s->line, axis);
    out->axis[d] = id + 1;
    return HD_OK;
}

static hd_status type(struct parser *s, struct hd_tensor *out) {
    const char *text;
    skip(s);
    out->known = false;
    if (accept(s, "?")) return HD_OK;
    const char *at = s->p;
    TRY(name(s, &text));
    int t = hd_dtype_by_name(text);
    if (t < 0) {
        s->p = at;
        return bad(s, "the name of a type, such as f32 or i8");
    }
    out->dtype = (hd_dtype)t;
    out->rank = 0;
    out->known = true;
    TRY(expect(s, "["));
    while (!accept(s, "]")) {
        if (out->rank == HD_MAX_RANK) return bad(s, "at most 8 dimensions");
        if (out->rank) TRY(expect(s, ","));
        TRY(dimension(s, out));
    }
    return hd_note(s->ctx, hd_shape_check(s->ctx, "type", out->dtype, out->rank, out->dim), "%s:%d",
                   s->file, s->line);
}

static hd_status new_tensor(struct parser *s, const char *text, const struct hd_tensor *t,
                            int *out) {
    static const int64_t none[1];
    if (hd_tensor_by_name(s->g, text) >= 0)
        return hd_fail(s->ctx, HD_INVALID, "%s:%d: tensor '%s' exists already", s->file, s->line,
                       text);
    *out =
        hd_graph_tensor(s->g, text, t->dtype, t->rank, t->known ? t->rank ? t->dim : none : NULL);
    memcpy(s->g->tensors[*out].axis, t->axis, sizeof t->axis);
    return HD_OK;
}

/* A constant, or the initial value of a variable. */
static hd_status constant(struct parser *s, bool variable) {
    const char *text;
    struct hd_tensor t = {0};
    int id;
    TRY(name(s, &text));
    TRY(type(s, &t));
    if (!t.known) return bad(s, "a constant with a type");
    TRY(expect(s, "="));
    s->p += strspn(s->p, " ");
    if (*s->p == '#') return bad(s, "values: this text was printed with hashes, print it in full");
    TRY(expect(s, "{"));
    size_t elem = hd_dtype_bytes(t.dtype), n = (size_t)hd_tensor_elems(&t);
    if (n / 2 > strlen(s->p)) return bad(s, "one value per element of the type");
    id = variable ? hd_tensor_by_name(s->g, text) : -1;
    if (id < 0 || !hd_graph_is_input(s->g, id) || hd_tensor_bytes(&s->g->tensors[id]) != n * elem)
        TRY(new_tensor(s, text, &t, &id));
    char *data = hd_alloc(s->g->arena, n * elem + 1);
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = 0;
        int64_t v;
        if (i) TRY(expect(s, ","));
        if (t.dtype == HD_F32 || t.dtype == HD_F64) {
            TRY(number_bits(s, elem, &bits));
        } else {
            TRY(integer(s, &v));
            bits = (uint64_t)v;
        }
        memcpy(data + i * elem, &bits, elem); /* little endian */
    }
    if (variable)
        s->g->tensors[id].initial = data;
    else
        s->g->tensors[id].data = data;
    return expect(s, "}");
}

/* Values up to the next "]", at most. */
static size_t list_room(const struct parser *s) {
    size_t n = 1;
    for (const char *p = s->p; *p && *p != ']'; p++) n += *p == ',';
    return n;
}

static hd_status int_list(struct parser *s, int node, const char *key) {
    int64_t *v = hd_new_array(s->arena, int64_t, list_room(s));
    int n = 0;
    while (!accept(s, "]")) {
        if (n) TRY(expect(s, ","));
        TRY(integer(s, &v[n++]));
    }
    hd_attr_set_ints(s->g, node, key, n, v);
    return HD_OK;
}

static hd_status float_list(struct parser *s, int node, const char *key) {
    float *v = hd_new_array(s->arena, float, list_room(s));
    int n = 0;
    while (!accept(s, "]")) {
        uint64_t bits;
        if (n) TRY(expect(s, ","));
        TRY(number_bits(s, 4, &bits));
        memcpy(&v[n++], &bits, 4);
    }
    hd_attr_set_floats(s->g, node, key, n, v);
    return HD_OK;
}

static hd_status graph(struct parser *s);

/* A branch or a loop body: a graph of its own. */
static hd_status subgraph(struct parser *s, int node, const char *key) {
    hd_graph *outer = s->g;
    if (s->depth == HD_MAX_NESTING)
        return hd_fail(s->ctx, HD_UNSUPPORTED, "%s:%d: graphs are nested deeper than %d", s->file,
                       s->line, HD_MAX_NESTING);
    s->g = hd_graph_create();
    hd_attr_set_graph(outer, node, key, s->g);
    s->depth++;
    hd_status st = graph(s);
    s->depth--;
    s->g = outer;
    return st;
}

static hd_status attribute(struct parser *s, int node, const char *key) {
    const char *text;
    skip(s);
    if (accept(s, "graph")) return subgraph(s, node, key);
    if (*s->p == '"') {
        TRY(quoted(s, &text));
        hd_attr_set_string(s->g, node, key, text);
        return HD_OK;
    }
    if (!strncmp(s->p, "f[", 2)) {
        s->p += 2;
        return float_list(s, node, key);
    }
    if (accept(s, "[")) return int_list(s, node, key);
    size_t n = strspn(s->p, "+-0123456789");
    if (n && !strchr("xX.eEinp", s->p[n] ? s->p[n] : ' ')) { /* no sign of a float */
        int64_t v;
        TRY(integer(s, &v));
        hd_attr_set_int(s->g, node, key, v);
        return HD_OK;
    }
    uint64_t bits;
    float f;
    TRY(number_bits(s, 4, &bits));
    memcpy(&f, &bits, sizeof f);
    hd_attr_set_float(s->g, node, key, f);
    return HD_OK;
}

/* Operands may be defined further down: they are created without a shape, and verify finds those
 * that never are. */
static hd_status operands(struct parser *s, int *in, int *n) {
    const struct hd_tensor unknown = {0};
    for (*n = 0; !accept(s, ")"); ++*n) {
        const char *text;
        if (*n == HD_MAX_OPERANDS) return bad(s, "at most 1024 operands");
        if (*n) TRY(expect(s, ","));
        in[*n] = -1;
        if (accept(s, "-")) continue;
        TRY(name(s, &text));
        in[*n] = hd_tensor_by_name(s->g, text);
        if (in[*n] < 0) TRY(new_tensor(s, text, &unknown, &in[*n]));
    }
    return HD_OK;
}

/* The tensor a node defines: new, or one that an operand has named before. */
static hd_status result(struct parser *s, const char *text, int *out) {
    struct hd_tensor t = {0};
    TRY(type(s, &t));
    *out = hd_tensor_by_name(s->g, text);
    if (*out < 0) return new_tensor(s, text, &t, out);
    struct hd_tensor *old = &s->g->tensors[*out];
    if (old->known || old->producer >= 0)
        return hd_fail(s->ctx, HD_INVALID, "%s:%d: tensor '%s' exists already", s->file, s->line,
                       text);
    old->dtype = t.dtype, old->rank = t.rank, old->known = t.known;
    memcpy(old->dim, t.dim, sizeof t.dim);
    memcpy(old->axis, t.axis, sizeof t.axis);
    return HD_OK;
}

/* Names of nodes, which may follow further down: resolved at the end of the graph. */
static hd_status note_after(struct parser *s, int node) {
    int n = 0;
    while (!accept(s, ")")) {
        if (n++) TRY(expect(s, ","));
        struct wait *w = hd_push(s->arena, s->waits, s->n_waits, s->cap_waits);
        *w = (struct wait){.node = node, .line = s->line};
        TRY(name(s, &w->before));
    }
    return HD_OK;
}

static hd_status resolve_after(struct parser *s, size_t first) {
    for (size_t i = first; i < s->n_waits; i++) {
        int before = hd_node_by_name(s->g, s->waits[i].before);
        if (before < 0)
            return hd_fail(s->ctx, HD_INVALID, "%s:%d: no node '%s'", s->file, s->waits[i].line,
                           s->waits[i].before);
        hd_graph_after(s->g, s->waits[i].node, before);
    }
    s->n_waits = first;
    return HD_OK;
}

/* name type, or "-" for an output that nobody wants. */
static hd_status one_result(struct parser *s, const char **out_name, int *out) {
    *out = -1;
    if (accept(s, "-")) return HD_OK;
    TRY(name(s, out_name));
    return result(s, *out_name, out);
}

static hd_status node(struct parser *s) {
    const char *text = NULL, *first = NULL, *op_name;
    int n_out = 0, n_in, id;
    int *in = hd_new_array(s->arena, int, HD_MAX_OPERANDS),
        *out = hd_new_array(s->arena, int, HD_MAX_OPERANDS);
    do {
        if (n_out == HD_MAX_OPERANDS) return bad(s, "at most 1024 results");
        TRY(one_result(s, n_out ? &text : &first, &out[n_out]));
    } while (n_out++, accept(s, ","));
    TRY(expect(s, "="));
    TRY(name(s, &op_name));
    int op = hd_ir_op_by_name(op_name);
    if (op < 0)
        return hd_fail(s->ctx, HD_INVALID, "%s:%d: unknown operation '%s'; 'heddle ops' lists them",
                       s->file, s->line, op_name);
    TRY(expect(s, "("));
    TRY(operands(s, in, &n_in));
    if (*s->p == ' ' && s->p[1] == '@') {
        s->p += 2;
        TRY(name(s, &first));
    }
    if (!first) return bad(s, "'@' and a name: the first result is left out");
    id = hd_graph_node(s->g, (enum hd_ir_op)op, first, n_in, in, n_out, out);
    if (strcmp(s->g->nodes[id].name, first))
        return hd_fail(s->ctx, HD_INVALID, "%s:%d: node '%s' exists already", s->file, s->line,
                       first);
    for (;;) { /* attributes, on the same line */
        while (*s->p == ' ' || *s->p == '\t' || *s->p == '\r') s->p++;
        if (*s->p == '\n' || *s->p == 0 || *s->p == '#' || *s->p == '}') return HD_OK;
        TRY(name(s, &text));
        if (!strcmp(text, "after") && accept(s, "(")) {
            TRY(note_after(s, id));
            continue;
        }
        TRY(expect(s, "="));
        TRY(attribute(s, id, text));
    }
}

static hd_status output(struct parser *s) {
    const char *text;
    TRY(name(s, &text));
    int t = hd_tensor_by_name(s->g, text);
    if (t < 0) return hd_fail(s->ctx, HD_INVALID, "%s:%d: no tensor '%s'", s->file, s->line, text);
    hd_graph_output(s->g, t);
    return HD_OK;
}

static hd_status input(struct parser *s) {
    const char *text;
    struct hd_tensor t = {0};
    int id;
    TRY(name(s, &text));
    TRY(type(s, &t));
    TRY(new_tensor(s, text, &t, &id));
    hd_graph_input(s->g, id);
    return HD_OK;
}

static hd_status graph(struct parser *s) {
    const char *text;
    size_t first_wait = s->n_waits;
    TRY(name(s, &text));
    s->g->name = hd_strdup(s->g->arena, text);
    s->g->specialised = accept(s, "specialised");
    TRY(expect(s, "{"));
    while (!accept(s, "}")) {
        if (accept(s, "input"))
            TRY(input(s));
        else if (accept(s, "const"))
            TRY(constant(s, false));
        else if (accept(s, "variable"))
            TRY(constant(s, true));
        else if (accept(s, "output"))
            TRY(output(s));
        else
            TRY(node(s));
    }
    return resolve_after(s, first_wait);
}

static hd_status whole_text(struct parser *s) {
    TRY(expect(s, "graph"));
    TRY(graph(s));
    skip(s);
    return *s->p ? bad(s, "the end of the text") : HD_OK;
}

/* Every result that is written as "?" is inferred. */
static hd_status complete(hd_ctx *ctx, hd_graph *g) {
    bool known = true;
    for (size_t i = 0; i < g->n_nodes; i++)
        for (int k = 0; k < g->nodes[i].n_out; k++)
            known = known && (g->nodes[i].out[k] < 0 || g->tensors[g->nodes[i].out[k]].known);
    for (size_t i = 0; i < g->n_subgraphs; i++) TRY(complete(ctx, g->subgraphs[i]));
    return known ? HD_OK : hd_graph_infer(ctx, g);
}

hd_status hd_graph_parse(hd_ctx *ctx, const char *text, const char *file, hd_graph **out) {
    struct parser s = {.ctx = ctx,
                       .g = hd_graph_create(),
                       .arena = hd_arena_create(),
                       .p = text,
                       .file = file,
                       .line = 1};
    hd_status st = whole_text(&s);
    if (st == HD_OK) st = complete(ctx, s.g);
    if (st == HD_OK) st = hd_note(ctx, hd_graph_verify(ctx, s.g), "in %s", file);
    hd_arena_destroy(s.arena);
    if (st == HD_OK)
        *out = s.g;
    else
        hd_graph_destroy(s.g);
    return st;
}
