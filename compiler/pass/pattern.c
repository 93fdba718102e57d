/* Matching of patterns: see pattern.h. Goals (this text describes that tensor) in a list; where
 * there is a choice, each is tried with all goals that are left. */
#include "compiler/pass/pattern.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/pass/pass.h"
#include "compiler/pass/rewrite.h"
#include "runtime/base/element.h"
#include "runtime/base/memory.h"

static const struct hd_pattern patterns[] = {
#define PATTERN(pass, name, text, shared, rewrite) {#pass, #name, text, shared, hd_rw_##rewrite},
#include "compiler/pass/patterns.def"
};

struct goal {
    const char *text;
    int tensor;
    const struct goal *next;
};

enum { ARGS = 8 };

static const char *skip(const char *s) {
    while (*s == ' ') s++;
    return s;
}

/* Behind one pattern: the comma or bracket that ends it. */
static const char *end_of(const char *s) {
    for (int depth = 0; *s && (depth || (*s != ',' && *s != ')')); s++)
        depth += (*s == '(') - (*s == ')');
    return s;
}

static bool commutative(enum hd_ir_op op) {
    return op == HD_IR_add || op == HD_IR_mul || op == HD_IR_max || op == HD_IR_min ||
           op == HD_IR_and || op == HD_IR_or || op == HD_IR_equal;
}

int hd_match_get(const struct hd_match *m, const char *name) {
    for (int i = 0; i < m->n_names; i++)
        if (!strcmp(m->name[i], name)) return m->tensor[i];
    return -1;
}

/* False when the name means another tensor already. */
static bool bind(struct hd_match *m, const char *name, size_t n, int tensor) {
    char buf[sizeof m->name[0]];
    HD_ASSERT(n < sizeof buf && m->n_names < HD_MATCH_NAMES);
    memcpy(buf, name, n);
    buf[n] = 0;
    int known = hd_match_get(m, buf);
    if (known >= 0) return known == tensor;
    memcpy(m->name[m->n_names], buf, sizeof buf);
    m->tensor[m->n_names++] = tensor;
    return true;
}

bool hd_const_is(const hd_graph *g, int t, double v, bool near) {
    const struct hd_tensor *x = t < 0 ? NULL : &g->tensors[t];
    int64_t n = x && x->data ? hd_tensor_elems(x) : 0;
    for (int64_t i = 0; i < n; i++) {
        double e = hd_k_f64(x->data, x->dtype, i);
        if (near ? !(fabs(e - v) <= 1e-6 * fabs(v)) : e != v) return false;
    }
    return n > 0;
}

static bool solve(struct hd_match *m, const struct goal *goal);

/* The operands of `node` are what the arguments at s say, and then the other goals. */
static bool solve_node(struct hd_match *m, const char *s, int node, const struct goal *next) {
    const struct hd_node *n = &m->g->nodes[node];
    const char *arg[ARGS];
    int n_args = 0, n_in = n->n_in;
    struct goal goal[ARGS];
    bool rest = false;
    for (; *s != ')' && *s; s = *end_of(s) == ',' ? end_of(s) + 1 : end_of(s)) {
        HD_ASSERT(n_args < ARGS);
        rest = rest || !strncmp(skip(s), "..", 2);
        if (!rest) arg[n_args++] = s;
    }
    while (n_in > n_args && (rest || n->in[n_in - 1] < 0)) n_in--;
    if (n_in != n_args || n->n_after) return false;
    HD_ASSERT(m->n_nodes < HD_MATCH_NODES);
    m->node[m->n_nodes++] = node;
    for (int turn = 0; turn < (n_args == 2 && commutative(n->op) ? 2 : 1); turn++) {
        struct hd_match saved = *m;
        for (int i = n_args - 1; i >= 0; i--)
            goal[i] = (struct goal){arg[i], n->in[turn ? 1 - i : i],
                                    i == n_args - 1 ? next : &goal[i + 1]};
        if (solve(m, n_args ? goal : next)) return true;
        *m = saved;
    }
    m->n_nodes--;
    return false;
}

static bool is_op(const char *s, const char *end, enum hd_ir_op op) {
    for (const char *name = hd_ir_ops[op].name; s < end; s++) {
        size_t n = strcspn(s, "|?(");
        if (n == strlen(name) && !strncmp(s, name, n)) return true;
        s += n;
    }
    return false;
}

static bool solve(struct hd_match *m, const struct goal *goal) {
    if (!goal) return true;
    const char *s = skip(goal->text), *word = s;
    int t = goal->tensor;
    if (t < 0) return false;
    bool near = *s == '~';
    if (near || isdigit((unsigned char)*s))
        return hd_const_is(m->g, t, strtod(s + near, NULL), near) && solve(m, goal->next);
    if (*s == '$') {
        if (!m->g->tensors[t].data) return false;
        word = ++s;
    }
    while (isalnum((unsigned char)*s) || *s == '_') s++;
    struct hd_match saved = *m;
    if (*s == '=') {
        if (!bind(m, word, (size_t)(s - word), t)) return false;
        word = s = skip(s + 1);
    }
    const char *open = s + strcspn(s, "(,)");
    if (*open != '(') { /* a name, or nothing more than the name in front of "=" */
        bool ok = bind(m, word, (size_t)(s - word), t) && solve(m, goal->next);
        if (!ok) *m = saved;
        return ok;
    }
    bool optional = open > word && open[-1] == '?';
    int node = m->g->tensors[t].producer;
    if (node >= 0 && is_op(word, open, m->g->nodes[node].op) && m->g->nodes[node].out[0] == t &&
        solve_node(m, open + 1, node, goal->next))
        return true;
    *m = saved;
    if (optional && solve(m, &(struct goal){open + 1, t, goal->next})) return true;
    *m = saved;
    return false;
}

/* Nobody outside reads what nodes inside make, but for the root. */
static bool closed(const struct hd_match *m) {
    int reader[HD_MATCH_NODES];
    for (int i = 0; i < m->n_nodes; i++) {
        const struct hd_node *n = &m->g->nodes[m->node[i]];
        for (int k = 0; k < n->n_out && m->node[i] != m->root; k++) {
            if (n->out[k] < 0) continue;
            size_t users = hd_graph_users(m->g, n->out[k], reader, HD_MATCH_NODES);
            if (hd_graph_is_output(m->g, n->out[k]) || users > HD_MATCH_NODES) return false;
            for (size_t u = 0; u < users; u++) {
                bool inside = false;
                for (int j = 0; j < m->n_nodes; j++) inside = inside || m->node[j] == reader[u];
                if (!inside) return false;
            }
        }
    }
    return true;
}

bool hd_pattern_match(hd_graph *g, const struct hd_pattern *p, int node, struct hd_match *out) {
    const struct hd_node *n = &g->nodes[node];
    *out = (struct hd_match){.g = g, .root = node};
    const char *open = strchr(p->text, '(');
    if (n->dead || n->n_out != 1 || n->out[0] < 0 || !open || !is_op(p->text, open, n->op))
        return false;
    struct goal goal = {p->text, n->out[0], NULL};
    if (!solve(out, &goal) || (!p->shared && !closed(out))) return false;
    for (int i = 0; i < out->n_names; i++)
        if (g->tensors[out->tensor[i]].initial) return false; /* when it is read matters */
    return true;
}

int hd_match_emit(hd_ctx *ctx, struct hd_match *m, enum hd_ir_op op, int n_in, const int *in,
                  const char *ints, int n, const int64_t *v) {
    hd_graph *g = m->g;
    int y = hd_graph_tensor(g, g->tensors[g->nodes[m->root].out[0]].name, HD_F32, 0, NULL);
    int id = hd_graph_node(g, op, g->nodes[m->root].name, n_in, in, 1, &y);
    g->nodes[id].source = g->nodes[m->root].source;
    if (ints) hd_attr_set_ints(g, id, ints, n, v);
    if (op == g->nodes[m->root].op && !ints) hd_pass_copy_attrs(g, id, m->root);
    m->made = id;
    if (hd_graph_infer_node(ctx, g, id) == HD_OK) return y;
    hd_clear(ctx);
    hd_graph_kill(g, id);
    return -1;
}

/* Readers of the root's result read tensor y, of the same type and shape. */
static void take(hd_graph *g, int root, int y, bool made) {
    int old = g->nodes[root].out[0], maker = g->tensors[y].producer;
    hd_graph_kill(g, root);
    if (made) { /* its node writes the old tensor: names stay */
        g->nodes[maker].out[0] = old;
        g->tensors[old].producer = maker;
        g->tensors[y].producer = -1;
        hd_graph_swap_names(g, maker, root);
    } else if (hd_graph_is_output(g, old)) { /* keeps its name; fold may remove the identity */
        int id = hd_graph_node(g, HD_IR_identity, g->nodes[root].name, 1, &y, 1, &old);
        hd_graph_swap_names(g, id, root);
    } else {
        hd_graph_replace(g, old, y);
    }
}

/* y can stand for the root's result. */
static bool fits(const hd_graph *g, int root, int y) {
    const struct hd_tensor *a = &g->tensors[g->nodes[root].out[0]], *b = &g->tensors[y];
    return a->known && b->known && a->dtype == b->dtype && a->rank == b->rank &&
           !memcmp(a->dim, b->dim, (size_t)a->rank * sizeof *a->dim);
}

/* True when pattern p matched at this node and was rewritten. */
static bool apply(hd_ctx *ctx, hd_graph *g, const struct hd_pattern *p, int node) {
    struct hd_match m;
    if (!hd_pattern_match(g, p, node, &m)) return false;
    size_t n = g->n_nodes;
    int y = p->rewrite(ctx, &m);
    bool ok = y >= 0 && fits(g, node, y);
    bool pointless =
        ok && g->nodes[node].op == HD_IR_identity && hd_graph_is_output(g, g->nodes[node].out[0]);
    for (size_t i = n; i < g->n_nodes && !ok; i++) hd_graph_kill(g, (int)i);
    if (!ok || pointless) return false;
    take(g, node, y, g->tensors[y].producer >= (int)n);
    return true;
}

bool hd_pass_has_patterns(const char *pass) {
    for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++)
        if (!strcmp(patterns[p].pass, pass)) return true;
    return false;
}

hd_status hd_pass_patterns(hd_ctx *ctx, hd_graph *g, const char *pass) {
    for (bool changed = true; changed;) {
        changed = false;
        int *order = calloc(g->n_nodes + 1, sizeof *order);
        HD_MEMORY(order);
        size_t n = hd_graph_order(g, order);
        for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++)
            for (size_t i = 0; i < n && !strcmp(patterns[p].pass, pass); i++)
                changed = apply(ctx, g, &patterns[p], order[i]) || changed;
        free(order);
        hd_pass_dce(g);
    }
    return hd_graph_infer(ctx, g);
}
