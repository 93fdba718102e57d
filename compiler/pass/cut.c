/* Minimum cut: the largest flow, along shortest ways first.
 *
 * Source: Dinic, Soviet Math. Doklady 11 (1970): levels by breadth first search, then ways down
 * the levels until none is left. The way is kept in an array: graphs are thousands of nodes deep.
 */
#include "compiler/pass/cut.h"

#include <string.h>

#include "runtime/base/num.h"

int hd_cut_node(struct hd_cut *c) {
    *hd_push(c->arena, c->first, c->n_nodes, c->cap_nodes) = -1;
    return (int)c->n_nodes - 1;
}

struct hd_cut *hd_cut_create(hd_arena *a) {
    struct hd_cut *c = hd_new(a, struct hd_cut);
    c->arena = a;
    hd_cut_node(c);
    hd_cut_node(c);
    return c;
}

static void add(struct hd_cut *c, int from, int to, int64_t room) {
    struct hd_cut_edge *e = hd_push(c->arena, c->edges, c->n_edges, c->cap_edges);
    *e = (struct hd_cut_edge){to, c->first[from], room};
    c->first[from] = (int)c->n_edges - 1;
}

void hd_cut_edge(struct hd_cut *c, int from, int to, int64_t capacity) {
    add(c, from, to, capacity);
    add(c, to, from, 0);
}

/* Levels away from `end`, along edges with room (back: edges whose reverse has room); -1 = out of
 * reach. */
static void find_levels(struct hd_cut *c, int end, bool back) {
    size_t head = 0, tail = 0;
    memset(c->level, -1, c->n_nodes * sizeof *c->level);
    c->level[end] = 0;
    c->queue[tail++] = end;
    while (head < tail) {
        int v = c->queue[head++];
        for (int e = c->first[v]; e >= 0; e = c->edges[e].next) {
            int to = c->edges[e].to;
            if (c->level[to] >= 0 || c->edges[back ? e ^ 1 : e].room == 0) continue;
            c->level[to] = c->level[v] + 1;
            c->queue[tail++] = to;
        }
    }
}

/* Flow along ways that go down one level with each edge. at: per node, the edge to try next; way:
 * edges from the source to here. */
static int64_t fill(struct hd_cut *c, int *at, int *way) {
    int64_t total = 0;
    int v = HD_CUT_SOURCE, n = 0;
    memcpy(at, c->first, c->n_nodes * sizeof *at);
    for (;;) {
        if (v == HD_CUT_SINK) {
            int64_t flow = HD_CUT_NEVER;
            for (int i = 0; i < n; i++) flow = hd_min(flow, c->edges[way[i]].room);
            for (int i = 0; i < n; i++) {
                c->edges[way[i]].room -= flow;
                c->edges[way[i] ^ 1].room += flow;
            }
            total += flow;
            v = HD_CUT_SOURCE, n = 0;
        }
        while (at[v] >= 0 &&
               (c->edges[at[v]].room == 0 || c->level[c->edges[at[v]].to] != c->level[v] + 1))
            at[v] = c->edges[at[v]].next;
        if (at[v] >= 0) {
            way[n++] = at[v];
            v = c->edges[at[v]].to;
        } else if (n > 0) { /* a dead end: one step back, and on with the next edge */
            v = c->edges[way[--n] ^ 1].to;
            at[v] = c->edges[at[v]].next;
        } else {
            return total;
        }
    }
}

int64_t hd_cut_solve(struct hd_cut *c, bool *out_sink) {
    int64_t total = 0;
    int *at = hd_new_array(c->arena, int, c->n_nodes);
    int *way = hd_new_array(c->arena, int, c->n_nodes);
    c->level = hd_new_array(c->arena, int, c->n_nodes);
    c->queue = hd_new_array(c->arena, int, c->n_nodes);
    for (find_levels(c, HD_CUT_SOURCE, false); c->level[HD_CUT_SINK] >= 0;
         find_levels(c, HD_CUT_SOURCE, false))
        total += fill(c, at, way);
    find_levels(c, HD_CUT_SINK, true);
    for (size_t i = 0; i < c->n_nodes; i++) out_sink[i] = c->level[i] >= 0;
    return total;
}
