/* Which device runs which node, when there are several: by cost of work and of moving data.
 *
 * needs: a graph with shapes; the devices of the options
 * gives: a device for each node
 * destroys: nothing
 *
 * The cost of a placement is the work of each node on its device, each tensor's way through host
 * memory to every other device that reads it, and a start for each step. The search begins with
 * each node where it is cheapest, and with everything on one device. It moves connected parts, then
 * nodes at borders, as long as that is cheaper, and keeps the best end.
 *
 * In a pipeline runs follow each other, and all devices work at once: the cost is that of the
 * device with most to do. The search begins with the graph cut into parts of equal work, too: one
 * behind the other, and folded, since the backward pass of a layer reads what its forward pass has
 * made.
 */
#include "compiler/place/place.h"

#include <math.h>
#include <string.h>

#include "runtime/base/num.h"

static const struct rates {
    const char *scheme;
    double flt, bytes, element, link, node, step; /* ns, see rates.def */
} rates[] = {
#define RATES(name, ...) {#name, __VA_ARGS__},
#include "compiler/place/rates.def"
};

static const double MACHINE_LINK = 1000, MACHINE_STEP = 10000; /* as in partition/segment.c */

/* Of HOST/NAME, more than of NAME: ps a byte, ns a start. A Unix socket on one computer takes that;
 * networks are slower. */
static const double REMOTE_LINK = 3700, REMOTE_STEP = 100000;

/* Of the work of a run, what a pipeline waits for while it fills: of two plans alike the shorter.
 */
static const double FILL = 0.01;

struct search {
    const hd_graph *g;
    hd_arena *a;
    int n;            /* devices */
    const double *ns; /* [node][device]: its work there; infinite = it cannot */
    double link[HD_DEVICES_TOGETHER], start[HD_DEVICES_TOGETHER];
    const int *order;
    size_t n_order;
    bool pipeline;
    int *step; /* scratch of total() */
    bool *used;
};

static struct rates rates_of(const char *device) {
    const char *slash = strrchr(device, '/');
    struct rates r = rates[0];
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        if (!strcmp(rates[i].scheme, slash ? slash + 1 : device)) r = rates[i];
    if (slash) r.link += REMOTE_LINK, r.step += REMOTE_STEP;
    return r;
}

static double node_ns(const hd_graph *g, struct rates r, int node) {
    const struct hd_node *n = &g->nodes[node];
    int x = n->n_in ? n->in[0] : -1;
    bool is_float = x >= 0 && hd_dtype_bytes(g->tensors[x].dtype) > 1;
    return r.node + 1e-3 * ((double)hd_node_macs(g, n) * (is_float ? r.flt : r.bytes) +
                            hd_node_elements(g, n) * r.element);
}

/* ---- cost ----------------------------------------------------------------------------------- */

/* The step of each node: devices take turns, each takes what is ready (partition/partition.c).
 * Returns how many there may be. */
static int count_steps(struct search *s, const int *on) {
    int last = 0;
    for (size_t i = 0; i < s->n_order; i++) {
        const struct hd_node *n = &s->g->nodes[s->order[i]];
        int at = 0;
        for (int k = 0; k < n->n_in; k++)
            if (n->in[k] >= 0 && s->g->tensors[n->in[k]].producer >= 0)
                at = (int)hd_max(at, s->step[s->g->tensors[n->in[k]].producer]);
        at += (on[s->order[i]] - at % s->n + s->n) % s->n;
        s->step[s->order[i]] = at;
        last = (int)hd_max(last, at);
    }
    return last + 1;
}

/* A tensor's way to each step that reads it and is not the one that makes it. */
static double moves(const struct search *s, const int *on, int node) {
    const struct hd_node *n = &s->g->nodes[node];
    double ns = 0;
    for (int k = 0; k < n->n_in; k++) {
        int t = n->in[k], maker = t < 0 ? -1 : s->g->tensors[t].producer;
        bool again = false;
        if (t < 0 || s->g->tensors[t].data) continue;
        for (int j = 0; j < k; j++) again = again || n->in[j] == t;
        if (again || (maker >= 0 && s->step[maker] == s->step[node])) continue;
        double out = maker < 0 ? 0 : s->link[on[maker]];
        ns += 1e-3 * (double)hd_tensor_bytes(&s->g->tensors[t]) * (out + s->link[on[node]]);
    }
    for (int k = 0; k < n->n_out; k++)
        if (n->out[k] >= 0 && hd_graph_is_output(s->g, n->out[k]))
            ns += 1e-3 * (double)hd_tensor_bytes(&s->g->tensors[n->out[k]]) * s->link[on[node]];
    return ns;
}

static double total(struct search *s, const int *on) {
    int n_steps = count_steps(s, on);
    double ns = 0, busy[HD_DEVICES_TOGETHER] = {0}, most = 0;
    memset(s->used, 0, (size_t)n_steps * sizeof *s->used);
    for (size_t i = 0; i < s->n_order; i++) {
        int id = s->order[i];
        double cost = s->ns[id * s->n + on[id]] + moves(s, on, id);
        ns += cost;
        busy[on[id]] += cost;
        s->used[s->step[id]] = true;
    }
    for (int k = 0; k < n_steps; k++) {
        double cost = s->used[k] ? s->start[k % s->n] : 0;
        ns += cost;
        busy[k % s->n] += cost;
    }
    for (int d = 0; d < s->n; d++) most = busy[d] > most ? busy[d] : most;
    return s->pipeline ? most + FILL * ns : ns;
}

/* ---- search --------------------------------------------------------------------------------- */

static int cheapest(const struct search *s, int node) {
    int best = 0;
    for (int d = 1; d < s->n; d++)
        if (s->ns[node * s->n + d] < s->ns[node * s->n + best]) best = d;
    return best;
}

/* Parts: nodes of one device that edges connect; part[node] is its first node. */
static void find_parts(const struct search *s, const int *on, int *part) {
    for (size_t i = 0; i < s->g->n_nodes; i++) part[i] = (int)i;
    for (bool any = true; any;) {
        any = false;
        for (size_t i = 0; i < s->n_order; i++) {
            int id = s->order[i];
            for (int k = 0; k < s->g->nodes[id].n_in; k++) {
                int t = s->g->nodes[id].in[k], maker = t < 0 ? -1 : s->g->tensors[t].producer;
                if (maker < 0 || on[maker] != on[id] || part[maker] == part[id]) continue;
                part[maker] = part[id] = (int)hd_min(part[maker], part[id]);
                any = true;
            }
        }
    }
}

/* Nodes of a part, or one node where part is NULL, to device d; what cannot go there stays. */
static bool try_move(struct search *s, int *on, int *kept, const int *part, int id, int d,
                     double *best) {
    memcpy(kept, on, s->g->n_nodes * sizeof *on);
    for (size_t i = 0; i < s->n_order; i++) {
        int node = s->order[i];
        if ((part ? part[node] == part[id] : node == id) && isfinite(s->ns[node * s->n + d]))
            on[node] = d;
    }
    double ns = total(s, on);
    if (ns < *best * (1 - 1e-9)) {
        *best = ns;
        return true;
    }
    memcpy(on, kept, s->g->n_nodes * sizeof *on);
    return false;
}

static bool at_border(const struct search *s, const int *on, int node, int d) {
    const struct hd_node *n = &s->g->nodes[node];
    for (int k = 0; k < n->n_in; k++) {
        int maker = n->in[k] < 0 ? -1 : s->g->tensors[n->in[k]].producer;
        if (maker >= 0 && on[maker] == d) return true;
    }
    for (int k = 0; k < n->n_out; k++) {
        int user[64];
        size_t users = n->out[k] < 0 ? 0 : hd_graph_users(s->g, n->out[k], user, 64);
        for (size_t u = 0; u < users && u < 64; u++)
            if (on[user[u]] == d) return true;
    }
    return false;
}

static double improve(struct search *s, int *on) {
    size_t n = s->g->n_nodes + 1;
    int *part = hd_new_array(s->a, int, n), *kept = hd_new_array(s->a, int, n);
    double best = total(s, on);
    for (bool any = true; any;) {
        any = false;
        find_parts(s, on, part);
        for (size_t i = 0; i < s->n_order; i++)
            for (int d = 0; d < s->n; d++)
                if (part[s->order[i]] == s->order[i] && d != on[s->order[i]] &&
                    try_move(s, on, kept, part, s->order[i], d, &best)) {
                    find_parts(s, on, part);
                    any = true;
                }
        for (size_t i = 0; i < s->n_order; i++)
            for (int d = 0; d < s->n; d++)
                if (d != on[s->order[i]] && at_border(s, on, s->order[i], d))
                    any = try_move(s, on, kept, NULL, s->order[i], d, &best) || any;
    }
    return best;
}

/* ---- all of it ------------------------------------------------------------------------------ */

double hd_node_elements(const hd_graph *g, const struct hd_node *n) {
    double sum = 0;
    for (int o = 0; o < n->n_out; o++)
        if (n->out[o] >= 0) sum += (double)hd_tensor_elems(&g->tensors[n->out[o]]);
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] >= 0 && !g->tensors[n->in[i]].data)
            sum += (double)hd_tensor_elems(&g->tensors[n->in[i]]);
    return sum;
}

void hd_place_prices(struct hd_placing *p) {
    int n = p->list->n;
    p->ns = hd_new_array(p->a, double, (p->g->n_nodes + 1) * (size_t)n);
    for (int d = 0; d < n; d++)
        for (size_t i = 0; i < p->n_order; i++) {
            int id = p->order[i];
            p->ns[id * n + d] = d == p->list->machine
                                    ? p->machine_ns[id]
                                    : node_ns(p->g, rates_of(p->list->name[d]), id);
        }
}

static struct search begin(const struct hd_placing *p) {
    size_t n = p->g->n_nodes + 1;
    struct search s = {.g = p->g,
                       .a = p->a,
                       .n = p->list->n,
                       .ns = p->ns,
                       .order = p->order,
                       .n_order = p->n_order,
                       .pipeline = p->list->pipeline};
    for (int d = 0; d < s.n; d++) {
        bool machine = d == p->list->machine;
        s.link[d] = machine ? MACHINE_LINK : rates_of(p->list->name[d]).link;
        s.start[d] = machine ? MACHINE_STEP : rates_of(p->list->name[d]).step;
    }
    s.step = hd_new_array(s.a, int, n);
    s.used = hd_new_array(s.a, bool, n *(size_t)s.n + (size_t)s.n);
    return s;
}

double hd_place_cost(const struct hd_placing *p, const int *on) {
    struct search s = begin(p);
    return total(&s, on);
}

/* Parts of equal work, by what is cheapest: one for each device, or one in front and one behind. */
static void cut(const struct search *s, bool folded, int *on) {
    double all = 0, at = 0;
    for (size_t i = 0; i < s->n_order; i++)
        all += s->ns[s->order[i] * s->n + cheapest(s, s->order[i])];
    for (size_t i = 0; i < s->n_order; i++) {
        int id = s->order[i], n = folded ? 2 * s->n : s->n;
        int part = all > 0 ? (int)hd_min((int64_t)(at / all * n), n - 1) : 0;
        int d = part < s->n ? part : 2 * s->n - 1 - part;
        on[id] = isfinite(s->ns[id * s->n + d]) ? d : cheapest(s, id);
        at += s->ns[id * s->n + cheapest(s, id)];
    }
}

/* A beginning of the search: from -1, each node where it is cheapest; all on one device; parts. */
static void begin_at(const struct search *s, int from, int *on) {
    if (from >= s->n) {
        cut(s, from > s->n, on);
        return;
    }
    for (size_t i = 0; i < s->n_order; i++) {
        int id = s->order[i];
        on[id] = from >= 0 && isfinite(s->ns[id * s->n + from]) ? from : cheapest(s, id);
    }
}

const int *hd_place_devices(const struct hd_placing *p) {
    size_t n = p->g->n_nodes + 1;
    struct search s = begin(p);
    double least = INFINITY;
    int *on = hd_new_array(s.a, int, n), *best = hd_new_array(s.a, int, n);
    const int *asked = p->list->on;
    for (size_t i = 0; i < s.n_order && asked; i++) {
        int id = s.order[i];
        best[id] = isfinite(s.ns[id * s.n + asked[id]]) ? asked[id] : cheapest(&s, id);
    }
    int last = s.n + (s.pipeline ? 2 : 0);
    for (int from = -1; from < last && !asked; from++) {
        begin_at(&s, from, on);
        double cost = improve(&s, on);
        if (cost >= least) continue;
        least = cost;
        memcpy(best, on, n * sizeof *on);
    }
    return best;
}

const char *hd_place_why(const struct hd_placing *p, const int *nodes, size_t n, hd_arena *a) {
    const struct hd_device_list *list = p->list;
    const char *text = "";
    for (int d = 0; d < list->n; d++) {
        double sum = 0;
        size_t cannot = 0;
        for (size_t i = 0; i < n; i++)
            if (isfinite(p->ns[nodes[i] * list->n + d]))
                sum += p->ns[nodes[i] * list->n + d];
            else
                cannot++;
        const char *name = list->name[d], *sep = *text ? ", " : "";
        text = cannot ? hd_sprintf(a, "%s%s%s cannot run %zu of %zu", text, sep, name, cannot, n)
                      : hd_sprintf(a, "%s%s%s %.1f us", text, sep, name, sum / 1000);
    }
    return text;
}
