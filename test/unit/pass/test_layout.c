/* Pass layout on random graphs: golden computes the same bytes before and after, and transposes
 * never move more. The minimum cut below it, against all ways to part small graphs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/pass/cut.h"
#include "compiler/pass/pass.h"
#include "cpu_ref/golden.h"

enum { GRAPHS = 1500, STEPS = 24, CUTS = 400 };

static uint32_t state;

static int pick(int n) {
    state = state * 1664525u + 1013904223u;
    return (int)((state >> 8) % (uint32_t)n);
}

/* ---- cut ------------------------------------------------------------------------------------ */

static void cheapest_cut(void **unused) {
    (void)unused;
    for (int seed = 0; seed < CUTS; seed++) {
        hd_arena *a = hd_arena_create();
        struct hd_cut *c = hd_cut_create(a);
        int n = 2, n_edges = 0, from[40], to[40];
        int64_t room[40], best = HD_CUT_NEVER;
        bool sink[16];
        state = (uint32_t)seed;
        for (int more = pick(7); more > 0; more--) n = hd_cut_node(c) + 1;
        for (n_edges = 0; n_edges < 3 * n; n_edges++) {
            from[n_edges] = pick(n), to[n_edges] = pick(n), room[n_edges] = pick(9);
            hd_cut_edge(c, from[n_edges], to[n_edges], room[n_edges]);
        }
        int64_t got = hd_cut_solve(c, sink), sum = 0;
        for (int set = 0; set < 1 << n; set++) { /* set: those on the side of the sink */
            int64_t cost = 0;
            if (set & 1 || !(set & 2)) continue;
            for (int e = 0; e < n_edges; e++)
                if (!(set >> from[e] & 1) && set >> to[e] & 1) cost += room[e];
            if (cost < best) best = cost;
        }
        for (int e = 0; e < n_edges; e++)
            if (!sink[from[e]] && sink[to[e]]) sum += room[e];
        assert_false(sink[HD_CUT_SOURCE]);
        assert_true(sink[HD_CUT_SINK]);
        assert_int_equal(got, best);
        assert_int_equal(sum, best);
        hd_arena_destroy(a);
    }
}

/* ---- random graphs -------------------------------------------------------------------------- */

struct random_graph {
    hd_ctx *ctx;
    hd_graph *g;
    int rank, pool[128], n;
    int64_t perm[2][4]; /* one, and its inverse */
};

static int ints(hd_graph *g, int n, const int64_t *v) {
    return hd_graph_const(g, "list", HD_I64, 1, (int64_t[]){n}, v);
}

static int constant(hd_graph *g, hd_dtype type, int rank, const int64_t *dim) {
    float f[64];
    int8_t b[64];
    for (int i = 0; i < 64; i++) f[i] = (float)(1 + pick(15)) / 8, b[i] = (int8_t)(pick(21) - 10);
    return hd_graph_const(g, "c", type, rank, dim, type == HD_F32 ? (void *)f : (void *)b);
}

/* The node's results join the pool when they are f32 of full rank; else they are outputs. */
static int emit(struct random_graph *r, enum hd_ir_op op, int n_in, const int *in, int n_out) {
    int out[2];
    for (int i = 0; i < n_out; i++) out[i] = hd_graph_tensor(r->g, "t", HD_F32, 0, NULL);
    int id = hd_graph_node(r->g, op, "", n_in, in, n_out, out);
    return id;
}

static void join(struct random_graph *r, int id) {
    assert_int_equal(hd_graph_infer_node(r->ctx, r->g, id), HD_OK);
    for (int i = 0; i < r->g->nodes[id].n_out; i++) {
        int t = r->g->nodes[id].out[i];
        const struct hd_tensor *y = &r->g->tensors[t];
        if (y->dtype == HD_F32 && y->rank == r->rank && hd_tensor_elems(y) <= 600)
            r->pool[r->n++] = t;
        else
            hd_graph_output(r->g, t);
    }
}

/* Operations that compute. */
static void compute(struct random_graph *r, int what, int x, int axis) {
    hd_graph *g = r->g;
    int y = r->pool[pick(r->n)], id = 0;
    int64_t dim[4], list[8] = {0};
    memcpy(dim, g->tensors[x].dim, sizeof dim);
    switch (what) {
    case 0:
        join(r, emit(r, HD_IR_relu, 1, &x, 1));
        return;
    case 1: /* equal shapes, when there are such */
        for (int i = 0; i < r->n; i++)
            if (!memcmp(g->tensors[r->pool[i]].dim, dim, (size_t)r->rank * sizeof *dim) && pick(2))
                y = r->pool[i];
        if (memcmp(g->tensors[y].dim, dim, (size_t)r->rank * sizeof *dim)) y = x;
        join(r, emit(r, HD_IR_add, 2, (int[]){x, y}, 1));
        return;
    case 2: /* a constant along some of the last dimensions */
        for (int d = 0; d < r->rank; d++)
            if (pick(2)) dim[d] = 1;
        id = pick(r->rank);
        for (int d = id; d < r->rank; d++)
            if (d > id && r->rank == 4 && dim[d] > 4) dim[d] = 1;
        for (int d = id, n = 1; d < r->rank; d++) n *= (int)dim[d], dim[d] = n > 64 ? 1 : dim[d];
        y = constant(g, HD_F32, r->rank - id, dim + id);
        join(r, emit(r, pick(2) ? HD_IR_mul : HD_IR_sub, 2, (int[]){x, y}, 1));
        return;
    case 7: {
        static const enum hd_ir_op ops[] = {HD_IR_reducemax, HD_IR_reducesum, HD_IR_reducemean};
        list[0] = axis, list[1] = (axis + 1) % r->rank;
        id = emit(r, ops[pick(3)], 2, (int[]){x, ints(g, 1 + pick(2), list)}, 1);
        hd_attr_set_int(g, id, "keepdims", pick(3) > 0);
        join(r, id);
        return;
    }
    case 8:
        id = emit(r, pick(2) ? HD_IR_softmax : HD_IR_argmax, 1, &x, 1);
        hd_attr_set_int(g, id, "axis", axis);
        join(r, id);
        return;
    case 11:
        join(r, emit(r, HD_IR_cumsum, 2, (int[]){x, ints(g, 1, (int64_t[]){axis})}, 1));
        return;
    case 12: { /* there and back in bytes, by one scale or one for each index */
        int64_t n = pick(3) && dim[axis] <= 64 ? dim[axis] : 1;
        int s = constant(g, HD_F32, 1, &n), z = constant(g, HD_I8, 1, &n);
        id = emit(r, HD_IR_quantize, 3, (int[]){x, s, z}, 1);
        hd_attr_set_int(g, id, "axis", axis);
        assert_int_equal(hd_graph_infer_node(r->ctx, g, id), HD_OK);
        id = emit(r, HD_IR_dequantize, 3, (int[]){g->nodes[id].out[0], s, z}, 1);
        hd_attr_set_int(g, id, "axis", axis);
        join(r, id);
        return;
    }
    case 13: /* cares for the order */
        join(r, emit(r, HD_IR_trilu, 1, &x, 1));
        return;
    default: /* of move */
        return;
    }
}

/* Operations that only move values. */
static void move(struct random_graph *r, int what, int x, int axis) {
    hd_graph *g = r->g;
    int id = 0;
    int64_t dim[4], list[8] = {0};
    memcpy(dim, g->tensors[x].dim, sizeof dim);
    switch (what) {
    case 3:
        id = emit(r, HD_IR_concat, 2, (int[]){x, x}, 1);
        hd_attr_set_int(g, id, "axis", axis - (pick(2) ? r->rank : 0));
        join(r, id);
        return;
    case 4:
        if (dim[axis] < 2) return;
        id = emit(r, HD_IR_split, 2, (int[]){x, ints(g, 2, (int64_t[]){1, dim[axis] - 1})}, 2);
        hd_attr_set_int(g, id, "axis", axis);
        join(r, id);
        return;
    case 5:
        if (dim[axis] < 2) return;
        list[0] = axis;
        join(r, pick(2) || axis
                    ? emit(r, HD_IR_slice, 4,
                           (int[]){x, ints(g, 1, (int64_t[]){1}), ints(g, 1, (int64_t[]){9}),
                                   ints(g, 1, list)},
                           1)
                    : emit(r, HD_IR_slice, 3,
                           (int[]){x, ints(g, 1, (int64_t[]){1}), ints(g, 1, (int64_t[]){9})}, 1));
        return;
    case 6:
        list[axis] = 1, list[r->rank + pick(r->rank)] = 1;
        id = emit(r, HD_IR_pad, 2, (int[]){x, ints(g, 2 * r->rank, list)}, 1);
        hd_attr_set_string(g, id, "mode", pick(2) ? "edge" : "constant");
        join(r, id);
        return;
    case 9:
        for (int d = 0; d < r->rank; d++) list[d] = 1 + (d == axis);
        join(r, emit(r, HD_IR_tile, 2, (int[]){x, ints(g, r->rank, list)}, 1));
        return;
    case 10:
        join(r, emit(r, HD_IR_expand, 2, (int[]){x, ints(g, r->rank, dim)}, 1));
        return;
    default:
        id = emit(r, HD_IR_transpose, 1, &x, 1);
        hd_attr_set_ints(g, id, "perm", r->rank, r->perm[pick(2)]);
        join(r, id);
    }
}

static void step(struct random_graph *r) {
    int x = r->pool[pick(r->n)], axis = pick(r->rank), what = pick(20);
    bool computes = what < 3 || what == 7 || what == 8 || (what > 10 && what < 14);
    (computes ? compute : move)(r, what, x, axis);
}

static hd_graph *random_graph(hd_ctx *ctx, int seed) {
    struct random_graph r = {.ctx = ctx, .g = hd_graph_create()};
    int64_t dim[4];
    state = (uint32_t)seed * 2654435761u;
    r.rank = 2 + pick(3);
    for (int d = 0; d < r.rank; d++) dim[d] = 1 + pick(4), r.perm[0][d] = d;
    for (int d = r.rank - 1; d > 0; d--) {
        int k = pick(d + 1);
        int64_t swap = r.perm[0][d];
        r.perm[0][d] = r.perm[0][k], r.perm[0][k] = swap;
    }
    for (int d = 0; d < r.rank; d++) r.perm[1][r.perm[0][d]] = d;
    for (int i = 0; i < 2; i++) {
        r.pool[r.n++] = hd_graph_tensor(r.g, "x", HD_F32, r.rank, dim);
        hd_graph_input(r.g, r.pool[i]);
    }
    for (int i = 0; i < STEPS; i++) step(&r);
    for (int i = 2; i < r.n; i++) { /* what nobody reads, and some that others read */
        int user[1];
        if (!hd_graph_users(r.g, r.pool[i], user, 1) || !pick(8)) hd_graph_output(r.g, r.pool[i]);
    }
    return r.g;
}

/* Bytes read and written by transposes that move more than 1s. */
static int64_t moved_bytes(const hd_graph *g) {
    int64_t sum = 0;
    for (size_t i = 0; i < g->n_nodes; i++) {
        const struct hd_node *n = &g->nodes[i];
        int64_t perm[HD_MAX_RANK], last = -1;
        if (n->dead || n->op != HD_IR_transpose) continue;
        const struct hd_tensor *x = &g->tensors[n->in[0]];
        bool moves = false;
        hd_attr_ints(n, "perm", perm, HD_MAX_RANK, 0);
        for (int d = 0; d < x->rank; d++) {
            if (x->dim[perm[d]] == 1) continue;
            moves = moves || perm[d] < last;
            last = perm[d];
        }
        sum += moves ? 2 * (int64_t)hd_tensor_bytes(x) : 0;
    }
    return sum;
}

static struct hd_tensor *run(hd_ctx *ctx, const hd_graph *g, hd_arena *a) {
    struct hd_tensor *t = hd_golden_tensors(g, a);
    for (size_t i = 0; i < g->n_inputs; i++) {
        struct hd_tensor *x = &t[g->inputs[i]];
        float *data = hd_alloc(a, hd_tensor_bytes(x));
        for (int64_t k = 0; k < hd_tensor_elems(x); k++)
            data[k] = (float)((k * 37 + (int64_t)i * 11) % 19 - 9) / 7;
        x->data = data;
    }
    assert_int_equal(hd_golden_eval(ctx, g, NULL, 0, t, a), HD_OK);
    return t;
}

static void random_graphs(void **unused) {
    int gained = 0;
    (void)unused;
    for (int seed = 0; seed < GRAPHS; seed++) {
        hd_ctx *ctx = hd_ctx_create();
        hd_arena *a = hd_arena_create();
        hd_graph *g = random_graph(ctx, seed), *h = random_graph(ctx, seed);
        hd_pass_dce(g);
        if (hd_pass_run(ctx, h, "layout") != HD_OK) fail_msg("seed %d: %s", seed, hd_message(ctx));
        struct hd_tensor *before = run(ctx, g, a), *after = run(ctx, h, a);
        for (size_t i = 0; i < g->n_outputs; i++) {
            const struct hd_tensor *x = &before[g->outputs[i]], *y = &after[h->outputs[i]];
            assert_string_equal(x->name, y->name);
            assert_int_equal(hd_tensor_bytes(x), hd_tensor_bytes(y));
            if (memcmp(x->data, y->data, hd_tensor_bytes(x)))
                fail_msg("seed %d: output '%s' has other values", seed, x->name);
        }
        int64_t b = moved_bytes(g), m = moved_bytes(h);
        if (m > b) fail_msg("seed %d: %lld bytes, then %lld", seed, (long long)b, (long long)m);
        gained += m < b;
        hd_graph_destroy(g);
        hd_graph_destroy(h);
        hd_arena_destroy(a);
        hd_ctx_destroy(ctx);
    }
    print_message("layout: %d of %d random graphs move less\n", gained, GRAPHS);
    assert_true(gained > GRAPHS / 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cheapest_cut),
        cmocka_unit_test(random_graphs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
