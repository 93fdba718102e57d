/* Several processes of one module, and what they exchange: all are written out side by side,
 * operation by operation. Without them a network is the only process. Also probes, which tests
 * compare with. */
#include <string.h>

#include "compiler/import/stablehlo/stablehlo.h"

enum { PROCESSES_MAX = 64 };

struct hd_shlo_parallel { /* process = replica * partitions + partition */
    int n, partitions;
    const struct hd_mlir_func *f[PROCESSES_MAX];
    struct hd_shlo_scope scope[PROCESSES_MAX];
    size_t at; /* operation in work, of each */
};

static const struct hd_shlo_parallel alone = {.n = 1, .partitions = 1};

/* ---- run_parallel ---- */

/* [[@a, @b], [@c, @d]]: a row for each replica. */
static hd_status get_programs(struct hd_shlo *m, struct hd_shlo_parallel *t) {
    const char *p = hd_mlir_attr(m->op, "programs");
    int rows = 0;
    if (p) p++;
    for (; p && *p; p++) {
        char name[200];
        rows += *p == '[';
        if (*p != '@') continue;
        size_t n = strcspn(p, ",] \n");
        if (t->n == PROCESSES_MAX || n >= sizeof name)
            return hd_shlo_bad(m, HD_UNSUPPORTED, "more than %d processes", PROCESSES_MAX);
        memcpy(name, p, n);
        name[n] = 0;
        t->f[t->n] = hd_shlo_function(m, name);
        if (!t->f[t->n++]) return hd_shlo_bad(m, HD_INVALID, "there is no function '%s'", name);
        p += n - 1;
    }
    if (!rows || !t->n || t->n % rows) return hd_shlo_bad(m, HD_INVALID, "its programs");
    t->partitions = t->n / rows;
    return HD_OK;
}

static hd_status bind_arguments(struct hd_shlo *m, struct hd_shlo_parallel *t) {
    struct hd_shlo_scope *scope = m->scope;
    size_t k = 0;
    for (int p = 0; p < t->n; p++)
        for (size_t i = 0; i < t->f[p]->body.n_args; i++) {
            struct hd_shlo_value v;
            TRY(hd_shlo_operand(m, k++, &v));
            m->scope = &t->scope[p];
            hd_shlo_bind(m, t->f[p]->body.args[i], &v);
            m->scope = scope;
        }
    return HD_OK;
}

static hd_status run_team(struct hd_shlo *m, struct hd_shlo_parallel *t) {
    struct hd_shlo_value *out[PROCESSES_MAX] = {NULL};
    size_t n[PROCESSES_MAX] = {0}, most = 0, all = 0;
    for (int p = 0; p < t->n; p++)
        if (t->f[p]->body.n_ops > most) most = t->f[p]->body.n_ops;
    for (t->at = 0; t->at < most; t->at++)
        for (int p = 0; p < t->n; p++) {
            if (t->at >= t->f[p]->body.n_ops) continue;
            m->scope = &t->scope[p], m->process = p;
            m->results = NULL, m->n_results = 0;
            TRY(hd_shlo_run_op(m, &t->f[p]->body.ops[t->at]));
            if (t->at + 1 == t->f[p]->body.n_ops) out[p] = m->results, n[p] = m->n_results;
        }
    for (int p = 0; p < t->n; p++) all += n[p];
    m->results = hd_new_array(m->arena, struct hd_shlo_value, all + 1);
    m->n_results = 0;
    for (int p = 0; p < t->n; p++)
        for (size_t i = 0; i < n[p]; i++) m->results[m->n_results++] = out[p][i];
    return HD_OK;
}

hd_status hd_shlo_op_run_parallel(struct hd_shlo *m) {
    struct hd_shlo_parallel *t = hd_new_array(m->arena, struct hd_shlo_parallel, 1);
    struct hd_shlo_scope *scope = m->scope;
    const struct hd_mlir_op *op = m->op;
    if (m->team) return hd_shlo_bad(m, HD_UNSUPPORTED, "inside another");
    TRY(get_programs(m, t));
    TRY(bind_arguments(m, t));
    m->team = t;
    TRY(run_team(m, t));
    m->team = NULL, m->process = 0;
    m->scope = scope, m->op = op;
    return hd_shlo_take_results(m);
}

static const struct hd_shlo_parallel *team(const struct hd_shlo *m) {
    return m->team ? m->team : &alone;
}

hd_status hd_shlo_op_process_id(struct hd_shlo *m) {
    int n = team(m)->partitions;
    uint32_t id = (uint32_t)(strstr(m->op->name, "partition") ? m->process % n : m->process / n);
    return hd_shlo_out(m, 0, hd_graph_const(m->g, "id", HD_U32, 0, NULL, &id));
}

/* ---- groups ---- */

struct group {
    int n, me; /* me: place of this process; -1 = in no group */
    int process[PROCESSES_MAX];
};

/* The list of numbers in `text` that holds id, or, of pairs, that ends with it. */
static int list_with(const char *text, int64_t id, bool pairs, int64_t *out) {
    bool brackets = false;
    for (const char *p = text; p && (p = strchr(p, '[')); p++) {
        char list[400];
        size_t len = strcspn(p + 1, "[]");
        if (p[1 + len] != ']' || len >= sizeof list) continue;
        brackets = true;
        memcpy(list, p + 1, len);
        list[len] = 0;
        int n = hd_mlir_ints(list, out, PROCESSES_MAX);
        for (int i = pairs ? n - 1 : 0; n <= PROCESSES_MAX && i < n && i >= 0; i++)
            if (out[i] == id) return n;
    }
    int n = brackets ? 0 : hd_mlir_ints(text, out, PROCESSES_MAX);
    return n == 1 && out[0] == id ? n : 0; /* dense<0>: one group of one */
}

/* cross: groups are of replicas, or of partitions where a channel is named; else, with a channel,
 * of replicas with all their partitions, or of processes. */
static hd_status get_group(struct hd_shlo *m, const char *name, bool cross, struct group *out) {
    const struct hd_shlo_parallel *t = team(m);
    const char *text = hd_mlir_attr(m->op, name), *handle = hd_mlir_attr(m->op, "channel_handle"),
               *number = handle ? strstr(handle, "handle =") : NULL;
    bool global = hd_mlir_attr(m->op, "use_global_device_ids") ||
                  hd_mlir_has_word(m->op, "use_global_device_ids"),
         pairs = !strcmp(name, "source_target_pairs"), channel = false;
    if (handle && !number) number = strstr(handle, "handle=");
    for (const char *c = number; c && *c && *c != ','; c++)
        channel = channel || (*c > '0' && *c <= '9');
    int partition = m->process % t->partitions, replica = m->process / t->partitions;
    bool of_partitions = cross && channel, all = !cross && channel && !global;
    int64_t id = global && channel ? m->process
                 : of_partitions   ? partition
                                   : replica,
            v[PROCESSES_MAX];
    int n = list_with(text, id, pairs, v);
    *out = (struct group){.me = -1};
    for (int p = all ? 0 : partition; p < (all ? t->partitions : partition + 1); p++)
        for (int i = 0; i < n; i++) {
            int64_t q = global && channel ? v[i]
                        : of_partitions   ? replica * t->partitions + v[i]
                                          : v[i] * t->partitions + p;
            if (v[i] < 0 && !pairs) continue; /* fills up a short group */
            if (q < 0 || q >= t->n || out->n == PROCESSES_MAX)
                return hd_shlo_bad(m, HD_INVALID, "%s: there is no process %lld", name,
                                   (long long)q);
            if (q == m->process) out->me = out->n;
            out->process[out->n++] = (int)q;
        }
    return HD_OK;
}

/* Operand i of process q, at the same operation. */
static hd_status operand_of(struct hd_shlo *m, int q, size_t i, int *out) {
    const struct hd_shlo_parallel *t = m->team;
    if (q == m->process) return hd_shlo_in(m, i, out);
    const struct hd_mlir_region *mine = &t->f[m->process]->body, *theirs = &t->f[q]->body;
    if (m->op != &mine->ops[t->at])
        return hd_shlo_bad(m, HD_UNSUPPORTED, "inside a region or a call");
    if (t->at >= theirs->n_ops || strcmp(theirs->ops[t->at].name, m->op->name) ||
        i >= theirs->ops[t->at].n_operands)
        return hd_shlo_bad(m, HD_UNSUPPORTED, "processes that do different things");
    const struct hd_shlo_value *v = hd_shlo_find(&t->scope[q], theirs->ops[t->at].operands[i]);
    if (!v || v->type.quantised || v->type.complex)
        return hd_shlo_bad(m, HD_UNSUPPORTED, "an operand that is quantised or complex");
    *out = v->tensor;
    return HD_OK;
}

/* ---- collectives ---- */

static hd_status concat(struct hd_shlo *m, int n, const int *in, int64_t axis, int *out) {
    if (n > HD_MAX_OPERANDS) return hd_shlo_bad(m, HD_UNSUPPORTED, "groups of %d", n);
    int id = hd_shlo_node(m, HD_IR_concat, n, in, out);
    hd_attr_set_int(m->g, id, "axis", axis);
    return hd_shlo_done(m, id);
}

/* Part k of n along an axis. */
static hd_status part(struct hd_shlo *m, int x, int64_t axis, int64_t k, int64_t n, int *out) {
    const struct hd_tensor t = hd_shlo_shape(m, x);
    int64_t from[HD_MAX_RANK] = {0}, to[HD_MAX_RANK], step[HD_MAX_RANK];
    if (axis < 0 || axis >= t.rank || n < 1 || k < 0 || k >= n || t.dim[axis] % n)
        return hd_shlo_bad(m, HD_INVALID, "%lld parts along axis %lld", (long long)n,
                           (long long)axis);
    memcpy(to, t.dim, sizeof to);
    for (int i = 0; i < t.rank; i++) step[i] = 1;
    from[axis] = t.dim[axis] / n * k, to[axis] = t.dim[axis] / n * (k + 1);
    return hd_shlo_slice(m, x, t.rank, from, to, step, out);
}

static hd_status whole_group(struct hd_shlo *m, bool cross, struct group *g) {
    TRY(get_group(m, "replica_groups", cross, g));
    return g->me >= 0 ? HD_OK : hd_shlo_bad(m, HD_INVALID, "a process that is in no group");
}

hd_status hd_shlo_op_all_gather(struct hd_shlo *m) {
    struct group g;
    int in[PROCESSES_MAX], y;
    TRY(whole_group(m, false, &g));
    for (size_t i = 0; i < m->op->n_operands; i++) {
        for (int q = 0; q < g.n; q++) TRY(operand_of(m, g.process[q], i, &in[q]));
        TRY(concat(m, g.n, in, hd_shlo_int(m, "all_gather_dim", 0), &y));
        TRY(hd_shlo_out(m, i, y));
    }
    return HD_OK;
}

static hd_status reduced(struct hd_shlo *m, const struct group *g, size_t i, int *out) {
    int pair[2];
    if (m->op->n_regions != 1) return hd_shlo_bad(m, HD_INVALID, "no body");
    TRY(operand_of(m, g->process[0], i, &pair[0]));
    for (int q = 1; q < g->n; q++) {
        TRY(operand_of(m, g->process[q], i, &pair[1]));
        TRY(hd_shlo_combine(m, &m->op->regions[0], pair, 2, &pair[0], 1));
    }
    *out = pair[0];
    return HD_OK;
}

hd_status hd_shlo_op_all_reduce(struct hd_shlo *m) {
    struct group g;
    int y;
    TRY(whole_group(m, false, &g));
    for (size_t i = 0; i < m->op->n_operands; i++) {
        TRY(reduced(m, &g, i, &y));
        TRY(hd_shlo_out(m, i, y));
    }
    return HD_OK;
}

hd_status hd_shlo_op_reduce_scatter(struct hd_shlo *m) {
    struct group g;
    int y;
    TRY(whole_group(m, false, &g));
    TRY(reduced(m, &g, 0, &y));
    TRY(part(m, y, hd_shlo_int(m, "scatter_dimension", 0), g.me, g.n, &y));
    return hd_shlo_out(m, 0, y);
}

hd_status hd_shlo_op_all_to_all(struct hd_shlo *m) {
    struct group g;
    int in[PROCESSES_MAX], y;
    int64_t split = hd_shlo_int(m, "split_dimension", 0);
    TRY(whole_group(m, true, &g));
    for (size_t i = 0; i < m->op->n_operands; i++) {
        for (int q = 0; q < g.n; q++) {
            TRY(operand_of(m, g.process[q], i, &in[q]));
            TRY(part(m, in[q], split, g.me, g.n, &in[q]));
        }
        TRY(concat(m, g.n, in, hd_shlo_int(m, "concat_dimension", 0), &y));
        TRY(hd_shlo_out(m, i, y));
    }
    return HD_OK;
}

/* From the first process of the list; who gets nothing has zeros. */
static hd_status from_first(struct hd_shlo *m, const char *list) {
    struct group g;
    int y;
    TRY(get_group(m, list, true, &g));
    TRY(hd_shlo_in(m, 0, &y));
    if (g.me >= 0) {
        TRY(operand_of(m, g.process[0], 0, &y));
    } else {
        const struct hd_tensor t = hd_shlo_shape(m, y);
        TRY(hd_shlo_scalar(m, 0, y, &y));
        if (t.rank)
            TRY(hd_shlo_emit(m, HD_IR_expand, 2, (int[]){y, hd_shlo_ints(m, t.rank, t.dim)}, &y));
    }
    return hd_shlo_out(m, 0, y);
}

hd_status hd_shlo_op_collective_broadcast(struct hd_shlo *m) {
    return from_first(m, "replica_groups");
}

hd_status hd_shlo_op_collective_permute(struct hd_shlo *m) {
    return from_first(m, "source_target_pairs");
}

/* ---- probes: values by name, and by turn in a loop ---- */

struct hd_shlo_probe {
    const struct hd_shlo_probe *next;
    const char *id;
    int64_t turn;
    struct hd_shlo_value value;
};

hd_status hd_shlo_op_probe(struct hd_shlo *m) {
    struct hd_shlo_probe *p = hd_new_array(m->arena, struct hd_shlo_probe, 1);
    p->id = hd_mlir_attr(m->op, "probe_id");
    if (!p->id) return hd_shlo_bad(m, HD_INVALID, "it has no probe_id");
    for (const struct hd_shlo_probe *q = m->probes; q; q = q->next)
        p->turn += !strcmp(q->id, p->id);
    TRY(hd_shlo_operand(m, 0, &p->value));
    p->next = m->probes;
    m->probes = p;
    return hd_shlo_out_value(m, 0, &p->value);
}

hd_status hd_shlo_probed(struct hd_shlo *m, int *out) {
    const char *id = hd_mlir_attr(m->op, "probe_id");
    int64_t turn = hd_shlo_int(m, "iter", 0);
    for (const struct hd_shlo_probe *p = m->probes; p && id; p = p->next) {
        if (strcmp(p->id, id) || p->turn != turn) continue;
        bool imag = p->value.type.complex && m->part[0] == HD_SHLO_IMAG;
        *out = imag ? p->value.imag : p->value.tensor;
        return HD_OK;
    }
    return hd_shlo_bad(m, HD_INVALID, "no probe %s saw turn %lld", id ? id : "", (long long)turn);
}
