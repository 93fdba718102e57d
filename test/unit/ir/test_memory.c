/* The memory planner: blocks never overlap while both live; a graph that is computed in its planned
 * memory gives what it gives without. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/ir/memory.h"
#include "cpu_ref/golden.h"

static uint32_t seed;

static int pick(int n) {
    seed = seed * 1664525u + 1013904223u;
    return (int)((seed >> 8) % (uint32_t)n);
}

static bool overlap(const struct hd_mem_block *a, const struct hd_mem_block *b) {
    return a->first <= b->last && b->first <= a->last && a->offset < b->offset + b->bytes &&
           b->offset < a->offset + a->bytes;
}

static void blocks_do_not_overlap(void **state) {
    (void)state;
    for (int round = 0; round < 200; round++) {
        struct hd_mem_block b[60];
        size_t n = (size_t)pick(60) + 1, naive = 0;
        for (size_t i = 0; i < n; i++) {
            int first = pick(40), life = pick(6);
            b[i] = (struct hd_mem_block){(size_t)pick(2000), first, first + life, 0};
            naive += b[i].bytes + 64;
        }
        size_t top = hd_mem_pack(b, n), reached = 0;
        for (size_t i = 0; i < n; i++) {
            if (b[i].bytes >= 64) assert_int_equal(b[i].offset % 64, 0);
            if (b[i].offset + b[i].bytes > reached) reached = b[i].offset + b[i].bytes;
            for (size_t k = 0; k < i; k++) assert_false(overlap(&b[i], &b[k]));
        }
        assert_int_equal(top, reached);
        assert_true(top >= hd_mem_bound(b, n) && top <= naive);
    }
}

static void packing_reaches_the_bound(void **state) {
    (void)state;
    struct hd_mem_block chain[64];
    for (int i = 0; i < 64; i++)
        chain[i] = (struct hd_mem_block){64 * (size_t)(1 + i % 7), i, i + 1, 0};
    assert_int_equal(hd_mem_pack(chain, 64), hd_mem_bound(chain, 64));
    assert_int_equal(hd_mem_bound(chain, 64), 64 * 13);
    assert_int_equal(hd_mem_pack(NULL, 0), 0);
}

static int recent(int n) {
    return n < 6 ? pick(n) : n - 1 - pick(6);
}

enum { NODES = 40, ELEMS = 24 };

static int unary(hd_graph *g, enum hd_ir_op op, int x, int rank, const int64_t *d) {
    int y = hd_graph_tensor(g, "t", HD_F32, rank, d);
    hd_graph_node(g, op, NULL, 1, &x, 1, &y);
    return y;
}

/* Elementwise, joining, reshaping and reducing nodes on earlier results, some of them outputs. */
static hd_graph *random_graph(void) {
    hd_graph *g = hd_graph_create();
    int64_t d[2] = {4, 6}, e[2] = {6, 4}, v[1] = {6};
    int pool[NODES + 1], n = 0;
    float data[6] = {1, 2, 3, 4, 5, 6};
    int row = hd_graph_const(g, "row", HD_F32, 1, v, data);
    int64_t rows[3] = {0, 2, 4}, one[1] = {1};
    int axis = hd_graph_const(g, "axis", HD_I64, 1, one, rows), from[2], to[2];
    for (int i = 0; i < 2; i++) {
        from[i] = hd_graph_const(g, "from", HD_I64, 1, one, &rows[i]);
        to[i] = hd_graph_const(g, "to", HD_I64, 1, one, &rows[i + 1]);
    }
    pool[n++] = hd_graph_tensor(g, "x", HD_F32, 2, d);
    hd_graph_input(g, pool[0]);
    while (n <= NODES) {
        int in[2] = {pool[recent(n)], pool[recent(n)]}, y = hd_graph_tensor(g, "t", HD_F32, 2, d);
        int what = pick(7);
        if (what == 0) {
            hd_graph_node(g, HD_IR_relu, NULL, 1, in, 1, &y);
        } else if (what == 1) {
            in[1] = row;
            hd_graph_node(g, HD_IR_sub, NULL, 2, in, 1, &y);
        } else if (what < 4) {
            hd_graph_node(g, what == 2 ? HD_IR_add : HD_IR_max, NULL, 2, in, 1, &y);
        } else if (what == 6) { /* two halves, each made of its own, joined */
            int64_t half[2] = {2, 6};
            int part[2];
            for (int i = 0; i < 2; i++) {
                int s = hd_graph_tensor(g, "s", HD_F32, 2, half);
                int sliced[4] = {in[i], from[i], to[i], axis};
                hd_graph_node(g, HD_IR_slice, NULL, 4, sliced, 1, &s);
                part[i] = pick(2) ? unary(g, HD_IR_tanh, s, 2, half) : s;
            }
            if (!pick(4)) part[1] = part[0];
            hd_attr_set_int(g, hd_graph_node(g, HD_IR_concat, NULL, 2, part, 1, &y), "axis", 0);
        } else if (what == 4) {
            int id = hd_graph_node(g, HD_IR_softmax, NULL, 1, in, 1, &y);
            hd_attr_set_int(g, id, "axis", 1);
        } else {
            int m = hd_graph_tensor(g, "m", HD_F32, 2, e);
            int id = hd_graph_node(g, HD_IR_reshape, NULL, 1, in, 1, &m);
            hd_attr_set_ints(g, id, "shape", 2, e);
            id = hd_graph_node(g, pick(2) ? HD_IR_reshape : HD_IR_transpose, NULL, 1, &m, 1, &y);
            if (g->nodes[id].op == HD_IR_reshape) hd_attr_set_ints(g, id, "shape", 2, d);
        }
        pool[n++] = y;
    }
    hd_graph_output(g, pool[NODES]);
    hd_graph_output(g, pool[NODES / 2]);
    return g;
}

/* Each node by golden, its results copied to where the plan wants them. */
static void run_in_place(hd_ctx *ctx, const hd_graph *g, const struct hd_mem_plan *p,
                         struct hd_tensor *t) {
    hd_arena *a = hd_arena_create();
    char *memory = hd_alloc(a, p->planned_bytes + 1);
    for (size_t i = 0; i < p->n_order; i++) {
        const struct hd_node *nd = &g->nodes[p->order[i]];
        assert_int_equal(hd_golden_eval(ctx, g, &p->order[i], 1, t, a), HD_OK);
        int y = nd->out[0], b = p->block_of[y];
        if (b < 0) continue;
        const struct hd_mem_block *at = &p->blocks[b];
        assert_true(at->first <= (int)i && (int)i <= at->last);
        char *to = memory + at->offset + p->at[y];
        assert_true(p->at[y] + hd_tensor_bytes(&t[y]) <= at->bytes);
        memcpy(to, t[y].data, hd_tensor_bytes(&t[y]));
        t[y].data = to;
    }
    for (size_t i = 0; i < g->n_outputs; i++) { /* they are the arena's */
        void *copy = malloc(hd_tensor_bytes(&g->tensors[g->outputs[i]]));
        memcpy(copy, t[g->outputs[i]].data, hd_tensor_bytes(&g->tensors[g->outputs[i]]));
        t[g->outputs[i]].data = copy;
    }
    hd_arena_destroy(a);
}

static void graphs_run_in_planned_memory(void **state) {
    (void)state;
    hd_ctx *ctx = hd_ctx_create();
    size_t saved = 0, parts = 0;
    for (int round = 0; round < 60; round++) {
        hd_graph *g = random_graph();
        hd_arena *a = hd_arena_create();
        float x[ELEMS];
        for (int i = 0; i < ELEMS; i++) x[i] = (float)(pick(64) - 32) / 8;
        assert_int_equal(hd_graph_infer(ctx, g), HD_OK);
        assert_int_equal(hd_graph_verify(ctx, g), HD_OK);
        struct hd_mem_plan p;
        hd_mem_plan_graph(g, a, &p);
        assert_true(p.planned_bytes >= p.bound_bytes && p.planned_bytes <= p.naive_bytes + 64);
        saved += p.naive_bytes - p.planned_bytes;
        for (size_t t = 0; t < g->n_tensors; t++) parts += p.at[t] > 0;
        struct hd_tensor *want = hd_golden_tensors(g, a), *got = hd_golden_tensors(g, a);
        want[g->inputs[0]].data = got[g->inputs[0]].data = x;
        assert_int_equal(hd_golden_eval(ctx, g, NULL, 0, want, a), HD_OK);
        run_in_place(ctx, g, &p, got);
        for (size_t i = 0; i < g->n_outputs; i++) {
            int t = g->outputs[i];
            assert_memory_equal(want[t].data, got[t].data, hd_tensor_bytes(&g->tensors[t]));
            free((void *)(uintptr_t)got[t].data);
        }
        hd_arena_destroy(a);
        hd_graph_destroy(g);
    }
    assert_true(saved > 0 && parts > 0);
    hd_ctx_destroy(ctx);
}

/* Two wide branches, each summed up: one after the other takes half of what both at once take. */
static void order_keeps_the_peak_low(void **state) {
    (void)state;
    hd_graph *g = hd_graph_create();
    int64_t small[1] = {8}, wide[1] = {8000};
    int x = hd_graph_tensor(g, "x", HD_F32, 1, small),
        y = hd_graph_tensor(g, "y", HD_F32, 1, small);
    int in[8], sum[8];
    hd_graph_input(g, x);
    for (int i = 0; i < 8; i++) in[i] = unary(g, HD_IR_tanh, x, 1, wide); /* all of them first */
    for (int i = 0; i < 8; i++) sum[i] = unary(g, HD_IR_softmax, in[i], 1, small);
    hd_graph_node(g, HD_IR_concat, "all", 8, sum, 1, &y);
    hd_graph_output(g, y);
    hd_arena *a = hd_arena_create();
    struct hd_mem_plan p;
    hd_mem_plan_graph(g, a, &p);
    assert_int_equal(p.n_order, 17);
    assert_true(p.bound_bytes < 2 * 32000);
    hd_arena_destroy(a);
    hd_graph_destroy(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_do_not_overlap),
        cmocka_unit_test(packing_reaches_the_bound),
        cmocka_unit_test(graphs_run_in_planned_memory),
        cmocka_unit_test(order_keeps_the_peak_low),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
