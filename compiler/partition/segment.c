/* What a node costs on the host, and whether a part of a network pays on the machine.
 *
 * needs: a graph with shapes; which nodes a program would run
 * gives: nanoseconds
 * destroys: nothing
 *
 * Only ratios matter, and they are far from 1 where it matters: a lone table between two float
 * operations takes the way to the machine and back for a few hundred bytes. The host's numbers are
 * those of golden, which runs host nodes, on the computer of docs/status.md.
 */
#include "compiler/partition/partition.h"
#include "runtime/base/num.h"

static const double HOST_MAC_NS = 1, HOST_ELEMENT_NS = 5, /* golden */
    PACK_BYTE_NS = 1,                                     /* hd_value_pack, unpack */
    LAUNCH_NS = 10000; /* registers, doorbell, interrupt: once for each program */

double hd_host_ns(const hd_graph *g, int node) {
    const struct hd_node *n = &g->nodes[node];
    return hd_node_elements(g, n) * HOST_ELEMENT_NS + (double)hd_node_macs(g, n) * HOST_MAC_NS;
}

/* At best: its units at full rate, its constants from DRAM. */
double hd_machine_ns(const struct hd_lowering *lo, int node) {
    const hd_graph *g = lo->g;
    const struct hd_node *n = &g->nodes[node];
    double constants = 0;
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] >= 0 && g->tensors[n->in[i]].data)
            constants += (double)hd_tensor_bytes(&g->tensors[n->in[i]]);
    double cycles = (double)hd_node_macs(g, n) / (double)(lo->m->k * lo->m->n);
    cycles = hd_max(cycles, constants / (double)hd_axi_bytes(lo->m));
    cycles += hd_node_elements(g, n) / (double)lo->m->n;
    return cycles * 1000.0 / (double)lo->m->clock_mhz;
}

/* Bytes of a node's operands and results that cross the border of its step. */
static double crossing(const hd_graph *g, const int *steps, int node) {
    const struct hd_node *n = &g->nodes[node];
    double bytes = 0;
    for (int i = 0; i < n->n_in; i++) {
        int t = n->in[i], maker = t < 0 ? -1 : g->tensors[t].producer;
        bool out = t >= 0 && !g->tensors[t].data && (maker < 0 || steps[maker] != steps[node]);
        if (out) bytes += (double)hd_tensor_bytes(&g->tensors[t]);
    }
    for (int o = 0; o < n->n_out; o++) {
        int user[64];
        size_t users = n->out[o] < 0 ? 0 : hd_graph_users(g, n->out[o], user, 64);
        bool out = n->out[o] >= 0 && (hd_graph_is_output(g, n->out[o]) || users > 64);
        for (size_t k = 0; k < users && k < 64; k++) out = out || steps[user[k]] != steps[node];
        if (out) bytes += (double)hd_tensor_bytes(&g->tensors[n->out[o]]);
    }
    return bytes;
}

struct hd_segment_cost hd_segment_cost(const struct hd_lowering *lo, const int *steps, int step) {
    const hd_graph *g = lo->g;
    struct hd_segment_cost c = {.machine_ns = LAUNCH_NS};
    for (size_t i = 0; i < g->n_nodes; i++) {
        if (g->nodes[i].dead || steps[i] != step) continue;
        c.host_ns += hd_host_ns(g, (int)i);
        c.machine_ns += hd_machine_ns(lo, (int)i) + crossing(g, steps, (int)i) * PACK_BYTE_NS;
    }
    return c;
}
