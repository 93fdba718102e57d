/* Partition: which node runs on the machine, which on the host, and in which step.
 *
 * needs: a legalised, verified graph
 * gives: mtensors, layers in order, the model's values, steps, layer and host tables (offsets and
 *        programs are filled in later)
 * destroys: nothing
 *
 * A node goes to the machine when hd_machine_refuses() has no reason against it, and, where several
 * devices were named, when devices.c puts it there. Devices take turns: each takes all of its nodes
 * that are ready, the machine last, and so on until none is left.
 */
#include <math.h>
#include <string.h>

#include "compiler/ir/move.h"
#include "compiler/partition/layers_text.h"
#include "compiler/partition/partition.h"
#include "runtime/base/num.h"

enum place { ON_HOST, ON_MACHINE, FOLDED, CHAINED, JOINED };

/* A flatten of one image, [1,C,H,W] -> [1,C*H*W]: free for a dense layer, which becomes a window.
 */
static bool is_flatten(const struct hd_lowering *lo, const struct hd_node *n) {
    struct hd_mtensor a, b;
    return n->op == HD_IR_reshape && n->n_in == 1 && hd_machine_shape(lo, n->in[0], &a) &&
           hd_machine_shape(lo, n->out[0], &b) && !a.rows && a.n == 1 && b.h == 1 && b.w == 1 &&
           b.c == a.c * a.h * a.w;
}

struct partition {
    struct hd_lowering *lo;
    struct hd_layer *layers; /* lo->layers */
    enum place *place;
    int *order;
    size_t n_order;
    bool *done;               /* per node */
    int turns;                /* devices that take turns; the machine is the last of two or more */
    int *turn;                /* per node on the host: whose it is */
    struct hd_placing prices; /* of several devices; ns = NULL: there is one */
};

/* All readers run on the machine, and are such ones; the caller is none. */
static bool all_users_on_machine(const struct partition *p, int tensor,
                                 bool (*such)(const struct hd_lowering *, const struct hd_node *)) {
    const hd_graph *g = p->lo->g;
    size_t n = 0;
    const int *users = hd_graph_all_users(g, tensor, p->lo->arena, &n);
    for (size_t i = 0; i < n; i++)
        if (p->place[users[i]] != ON_MACHINE || (such && !such(p->lo, &g->nodes[users[i]])))
            return false;
    for (size_t i = 0; i < g->n_outputs; i++)
        if (g->outputs[i] == tensor) return false;
    return n > 0;
}

static enum hd_flat flat_of(const struct hd_lowering *lo, const struct hd_node *n) {
    const struct hd_kind *k = hd_kind_of(lo->g, n);
    return k && k->flat ? k->flat(lo, n) : HD_FLAT_NONE;
}

static bool takes_flat(const struct hd_lowering *lo, const struct hd_node *n) {
    return flat_of(lo, n) != HD_FLAT_NONE;
}

static bool packs_pixels(const struct hd_lowering *lo, const struct hd_node *n) {
    const struct hd_kind *k = hd_kind_of(lo->g, n);
    return k && k->packs_pixels && k->packs_pixels(n);
}

enum { MOVE_LATENCIES = 8 }; /* what an operation between two others waits for, about */

/* Cycles of the port for the weights that a window has beyond a row's, since its pixels are whole
 * words, against moving the image byte by byte; the host moves one that it has for nothing. */
static bool flatten_pays(const struct partition *p, const struct hd_node *n, bool from_machine) {
    const hd_graph *g = p->lo->g;
    struct hd_mtensor a;
    int users[HD_MAX_OPERANDS];
    HD_ASSERT(hd_machine_shape(p->lo, n->in[0], &a));
    int64_t pixels = a.h * a.w, spare = hd_round_up(a.c, p->lo->m->k) - a.c, rows = 0;
    size_t n_users = hd_graph_users(g, n->out[0], users, HD_MAX_OPERANDS);
    for (size_t i = 0; i < n_users && i < HD_MAX_OPERANDS; i++)
        rows += g->tensors[g->nodes[users[i]].in[1]].dim[0];
    int64_t moving = pixels * a.c + MOVE_LATENCIES * hd_compile_latency(p->lo->opt);
    return from_machine ? rows * pixels * spare <= moving * hd_axi_bytes(p->lo->m) : !spare;
}

/* Reshapes that cost nothing between machine layers disappear. */
static bool folds(const struct partition *p, int node) {
    const hd_graph *g = p->lo->g;
    const struct hd_node *n = &g->nodes[node];
    int maker = n->n_in && n->in[0] >= 0 ? g->tensors[n->in[0]].producer : -1;
    bool from_machine = maker >= 0 && p->place[maker] != ON_HOST;
    if (hd_renames(p->lo, n)) /* pixels that the host may pack come from a tensor of their own */
        return from_machine || (all_users_on_machine(p, n->out[0], NULL) &&
                                !all_users_on_machine(p, n->out[0], packs_pixels));
    return is_flatten(p->lo, n) && all_users_on_machine(p, n->out[0], takes_flat) &&
           flatten_pays(p, n, from_machine);
}

/* A node that needs a flatten that becomes addressing has one in front. */
static bool has_flatten(const struct partition *p, int node) {
    const struct hd_node *n = &p->lo->g->nodes[node];
    int maker = p->lo->g->tensors[n->in[0]].producer;
    return flat_of(p->lo, n) != HD_FLAT_MUST ||
           (maker >= 0 && is_flatten(p->lo, &p->lo->g->nodes[maker]));
}

/* A node that only moves data, at the border: the host has the data in its hands there anyway, and
 * packs them for the machine in the same pass. */
static bool moves_at_border(const struct partition *p, int node) {
    const hd_graph *g = p->lo->g;
    const struct hd_node *n = &g->nodes[node];
    bool from_machine = false, to_machine = false;
    if (!hd_is_move(g, n)) return false;
    for (int i = 0; i < n->n_in; i++) {
        int maker = n->in[i] < 0 ? -1 : g->tensors[n->in[i]].producer;
        from_machine = from_machine || (maker >= 0 && p->place[maker] != ON_HOST);
    }
    for (int o = 0; o < n->n_out; o++) {
        if (n->out[o] < 0) continue;
        size_t users = 0;
        const int *user = hd_graph_all_users(g, n->out[o], p->lo->arena, &users);
        for (size_t i = 0; i < users; i++) to_machine = to_machine || p->place[user[i]] != ON_HOST;
    }
    return !from_machine || !to_machine;
}

/* A transpose that brings dimension `from` to place `to` of the others, or a reshape, where that
 * dimension is 1. */
static bool brings(const hd_graph *g, const struct hd_node *n, int from, int to) {
    int64_t perm[HD_MAX_RANK];
    const struct hd_tensor *x = &g->tensors[n->in[0]];
    if (n->op == HD_IR_reshape) return hd_reshape_moves(x, &g->tensors[n->out[0]], from, to);
    bool same = hd_attr_ints(n, "perm", perm, HD_MAX_RANK, 0) == x->rank;
    for (int d = 0; same && d < x->rank; d++) same = perm[d] == hd_moved_dim(from, to, d);
    return same;
}

/* A transpose (reshape of one channel) at the border between channels first and last. The bytes of
 * rows [..,C] lie as those of the image [N,C,..], so the machine has one of its tensors, and the
 * value of the other one has another layout. */
static void fold_turn(struct partition *p, int node) {
    struct hd_lowering *lo = p->lo;
    const struct hd_node *n = &lo->g->nodes[node];
    int x = n->in[0], maker = lo->g->tensors[x].producer, last = lo->g->tensors[x].rank - 1;
    bool in = all_users_on_machine(p, n->out[0], NULL) && hd_graph_only_user(lo->g, x) == node;
    bool out = maker >= 0 && (p->place[maker] == ON_MACHINE || folds(p, maker));
    int inside = in ? n->out[0] : x, outside = in ? x : n->out[0];
    struct hd_mtensor t;
    if (in == out || last < 2 || !hd_machine_shape(lo, inside, &t)) return;
    bool to_last = in == lo->rows[inside];
    if (!brings(lo->g, n, to_last ? 1 : last, to_last ? last : 1)) return;
    lo->rows[outside] = !lo->rows[inside];
    p->place[node] = FOLDED;
    lo->turns[node] = true;
}

/* The step of each node, as take_step() will find it; of two, even ones are the host's. */
static int *count_steps(const struct partition *p) {
    const hd_graph *g = p->lo->g;
    int *step = hd_new_array(p->lo->arena, int, g->n_nodes + 1);
    for (size_t i = 0; i < p->n_order; i++) {
        const struct hd_node *n = &g->nodes[p->order[i]];
        int s = 0;
        for (int k = 0; k < n->n_in; k++)
            if (n->in[k] >= 0 && g->tensors[n->in[k]].producer >= 0)
                s = (int)hd_max(s, step[g->tensors[n->in[k]].producer]);
        int turn =
            p->place[p->order[i]] == ON_HOST ? (int)hd_max(0, p->turn[p->order[i]]) : p->turns - 1;
        step[p->order[i]] = s + (turn - s % p->turns + p->turns) % p->turns;
    }
    return step;
}

/* Parts of the network whose way to the machine costs more than it saves stay on the host; never
 * all of it. */
static void leave_segments(struct partition *p) {
    const hd_graph *g = p->lo->g;
    for (bool any = true; any;) {
        int *steps = count_steps(p), last = 0, n_steps = 0;
        any = false;
        for (size_t i = 0; i < p->n_order; i++) last = (int)hd_max(last, steps[p->order[i]]);
        bool *used = hd_new_array(p->lo->arena, bool, (size_t)last + 2);
        for (size_t i = 0; i < p->n_order; i++) used[steps[p->order[i]]] = true;
        for (int s = 1; s <= last; s += 2) n_steps += used[s];
        for (int s = 1; s <= last && n_steps > 1 && !any; s += 2) {
            struct hd_segment_cost c = hd_segment_cost(p->lo, steps, s);
            if (!used[s] || c.machine_ns <= c.host_ns) continue;
            any = true; /* steps are counted anew */
            for (size_t i = 0; i < p->n_order; i++) {
                int id = p->order[i];
                if (steps[id] != s || g->nodes[id].dead) continue;
                p->place[id] = ON_HOST;
                p->lo->left[id] = hd_sprintf(
                    p->lo->model->arena,
                    "%.0f us on the machine with the transfers of its part of the network, "
                    "%.0f us here",
                    c.machine_ns / 1000, c.host_ns / 1000);
            }
        }
    }
}

/* ---- several devices ------------------------------------------------------------------------ */

/* Index of a turn's device in the options: the machine has the last turn. */
static int device_of(const struct partition *p, int turn) {
    int machine = p->lo->opt->devices.machine;
    return machine < 0 || turn < machine ? turn : turn < p->turns - 1 ? turn + 1 : machine;
}

static void describe(struct partition *p, struct hd_step *s, int turn, const int *nodes, size_t n) {
    hd_arena *a = p->lo->model->arena;
    s->device = hd_strdup(a, p->lo->opt->devices.name[device_of(p, turn)]);
    s->why = hd_place_why(&p->prices, nodes, n, a);
}

static void place_devices(struct partition *p) {
    struct hd_lowering *lo = p->lo;
    const struct hd_device_list *list = &lo->opt->devices;
    p->turns = list->n;
    double *ns = hd_new_array(lo->arena, double, lo->g->n_nodes + 1);
    const char *hint;
    for (size_t i = 0; i < p->n_order && list->machine >= 0; i++) {
        int id = p->order[i];
        ns[id] = hd_machine_refuses(lo, id, &hint) ? INFINITY : hd_machine_ns(lo, id);
    }
    p->prices = (struct hd_placing){lo->arena, lo->g, list, p->order, p->n_order, ns, NULL};
    hd_place_prices(&p->prices);
    const int *on = hd_place_devices(&p->prices);
    for (size_t i = 0; i < p->n_order; i++) {
        int id = p->order[i];
        p->turn[id] = -1;
        if (on[id] == list->machine) continue;
        p->turn[id] = on[id] - (list->machine >= 0 && on[id] > list->machine);
        if (list->machine >= 0)
            lo->left[id] = hd_sprintf(lo->model->arena, "device %s: %s", list->name[on[id]],
                                      hd_place_why(&p->prices, &id, 1, lo->model->arena));
    }
}

/* Nodes that the machine leaves after all: to the device of a neighbour, else to the first. */
static void place_left(struct partition *p) {
    const hd_graph *g = p->lo->g;
    for (size_t i = 0; i < p->n_order; i++) {
        const struct hd_node *n = &g->nodes[p->order[i]];
        int *turn = &p->turn[p->order[i]], user[64];
        if (*turn >= 0 || p->place[p->order[i]] != ON_HOST) continue;
        for (int k = 0; k < n->n_in && *turn < 0; k++) {
            int maker = n->in[k] < 0 ? -1 : g->tensors[n->in[k]].producer;
            if (maker >= 0 && p->place[maker] == ON_HOST) *turn = p->turn[maker];
        }
        for (int k = 0; k < n->n_out && *turn < 0; k++) {
            size_t users = n->out[k] < 0 ? 0 : hd_graph_users(g, n->out[k], user, 64);
            for (size_t u = 0; u < users && u < 64 && *turn < 0; u++)
                if (p->place[user[u]] == ON_HOST) *turn = p->turn[user[u]];
        }
        if (*turn < 0) *turn = 0;
    }
}

/* ---- the machine ------------------------------------------------------------------------- */

static void choose_places(struct partition *p) {
    const hd_graph *g = p->lo->g;
    const char *hint;
    for (size_t i = 0; i < p->n_order; i++) {
        int id = p->order[i];
        bool ok = !hd_machine_refuses(p->lo, id, &hint) && has_flatten(p, id) && !p->lo->left[id];
        p->place[id] = ok ? ON_MACHINE : ON_HOST;
    }
    if (!p->lo->opt->place_all && !p->lo->opt->layers.text && !p->prices.ns) leave_segments(p);
    if (p->prices.ns) place_left(p);
    int *steps = count_steps(p); /* what follows changes them for no layer */
    for (size_t i = 0; i < p->n_order; i++) {
        int id = p->order[i];
        if (p->place[id] == ON_MACHINE && hd_share_node(p->lo, id, steps)) p->place[id] = FOLDED;
    }
    for (bool any = true; any;) {
        any = false;
        for (size_t i = 0; i < p->n_order; i++) {
            int id = p->order[i];
            if (p->place[id] != ON_MACHINE || !moves_at_border(p, id)) continue;
            p->place[id] = ON_HOST;
            any = true;
        }
    }
    for (size_t i = 0; i < p->n_order; i++)
        if (p->place[p->order[i]] == ON_HOST && (g->nodes[p->order[i]].op == HD_IR_transpose ||
                                                 g->nodes[p->order[i]].op == HD_IR_reshape))
            fold_turn(p, p->order[i]);
    bool *machine = hd_new_array(p->lo->arena, bool, g->n_nodes + 1);
    for (size_t i = 0; i < p->n_order; i++)
        machine[p->order[i]] = p->place[p->order[i]] == ON_MACHINE;
    hd_bmm_views(p->lo, machine, p->lo->strides);
    for (size_t i = 0; i < p->n_order; i++)
        if (p->lo->strides[p->order[i]]) p->place[p->order[i]] = FOLDED;
    for (size_t i = 0; i < p->n_order; i++) { /* a flatten before dense layers is addressing */
        int id = p->order[i];
        machine[id] =
            p->place[id] == ON_MACHINE && !(is_flatten(p->lo, &g->nodes[id]) && folds(p, id));
    }
    hd_chain_moves(p->lo, machine);
    hd_choose_joined(p->lo, machine);
    for (size_t i = 0; i < p->n_order; i++) {
        int id = p->order[i], x = g->nodes[id].n_in ? g->nodes[id].in[0] : -1;
        int maker = x < 0 ? -1 : g->tensors[x].producer;
        if (p->lo->joined[id])
            p->place[id] = JOINED;
        else if (p->lo->chained[id])
            p->place[id] = CHAINED;
        else if ((maker < 0 || !p->lo->chained[maker]) && folds(p, id))
            p->place[id] = FOLDED;
    }
}

/* Pixels of whole words and vectors, or packed when only convolutions of this program read it. */
static struct hd_pixels pixel_form(const struct partition *p, int tensor, int channels) {
    struct hd_lowering *lo = p->lo;
    int whole = (int)hd_round_up(channels, hd_max(lo->m->k, lo->m->n)),
        maker = lo->g->tensors[tensor].producer;
    if (lo->g->tensors[tensor].dtype == HD_I16) return (struct hd_pixels){2 * whole, false};
    size_t n = 0;
    const int *users = hd_graph_all_users(lo->g, tensor, lo->arena, &n);
    if ((maker >= 0 && p->place[maker] != ON_HOST && !lo->turns[maker]) ||
        !all_users_on_machine(p, tensor, packs_pixels))
        return (struct hd_pixels){whole, false};
    return hd_pixel_form(lo, tensor, users, n, whole, lo->pixels[tensor]);
}

/* A constant in the form that a tensor has in the arena, in the image. */
static void pack_constant(struct hd_lowering *lo, struct hd_mtensor *t) {
    const struct hd_tensor *c = &lo->g->tensors[t->tensor];
    struct hd_value_info v = {.elem_bytes = 1,
                              .rank = c->rank,
                              .c_pad = t->cp,
                              .layout = t->rows ? HD_LAYOUT_ROWS : HD_LAYOUT_NHWC};
    for (int i = 0; i < c->rank; i++) v.dim[i] = c->dim[i];
    t->constant = true;
    t->image_at = hd_image_reserve(lo, hd_value_arena_bytes(&v));
    hd_value_pack(&v, c->data, lo->image + t->image_at);
}

static int add_mtensor(struct partition *p, int tensor) {
    struct hd_lowering *lo = p->lo;
    if (lo->tensor_of[tensor] >= 0) return lo->tensor_of[tensor];
    struct hd_share s = lo->share[tensor];
    int whole = s.base < 0 ? -1 : add_mtensor(p, s.base);
    struct hd_mtensor *t = hd_push(lo->arena, lo->tensors, lo->n_tensors, lo->cap_tensors);
    bool state = lo->g->tensors[tensor].dtype == HD_F32;
    HD_ASSERT(state ? hd_state_shape(lo, tensor, t) : hd_stored_shape(lo, tensor, t));
    t->tensor = tensor;
    t->lane = lo->lanes[tensor];
    struct hd_pixels form = {t->cp, false};
    if (!state) form = pixel_form(p, tensor, hd_lane(t, t->c));
    t->cp = form.cp, t->gathered = form.gathered;
    t->bytes = t->cp;
    if (lo->g->tensors[tensor].data) pack_constant(lo, t);
    t->def = -1, t->last = -1;
    t->base = -1;
    t->pads_agree = true;
    if (whole >= 0) {
        const struct hd_mtensor *w = &lo->tensors[whole];
        t->base = w->base < 0 ? whole : w->base;
        t->at_c = w->at_c + s.c, t->at_row = w->at_row + s.row, t->at_img = w->at_img + s.img;
        t->def = w->def;
        lo->tensors[t->base].has_parts = true;
        t->cp = lo->tensors[t->base].cp; /* `bytes` stays what its own channels need */
    }
    return lo->tensor_of[tensor] = (int)(lo->n_tensors - 1);
}

static bool ready(const struct partition *p, int node) {
    const hd_graph *g = p->lo->g;
    for (int i = 0; i < g->nodes[node].n_in; i++) {
        int t = g->nodes[node].in[i], maker = t < 0 ? -1 : g->tensors[t].producer;
        if (maker >= 0 && !p->done[maker]) return false;
    }
    return true;
}

/* mtensors of a node's operands, of result `out` and of a last state. */
static void add_mtensors(struct partition *p, int node, int out) {
    struct hd_lowering *lo = p->lo;
    const struct hd_node *n = &lo->g->nodes[node];
    const struct hd_kind *k = hd_kind_of(lo->g, n);
    int operand[HD_LAYER_INPUTS], operands = k->operands ? k->operands(lo, node, operand) : 0;
    for (int i = 0; i < operands; i++) add_mtensor(p, operand[i]);
    for (int i = 0; !k->operands && i < n->n_in; i++)
        if (n->in[i] >= 0 && (!lo->g->tensors[n->in[i]].data || hd_takes_constants(lo->g, n)))
            add_mtensor(p, n->in[i]);
    int y = k->result ? k->result(lo, node) : hd_joined_result(lo, n->out[out]);
    lo->tensor_of[n->out[out]] = add_mtensor(p, y);
    if (k->all_results && n->n_out > 1 && n->out[1] >= 0) add_mtensor(p, n->out[1]);
}

/* What a layer's operands are for those that come after it. */
static void note_reader(struct hd_lowering *lo, const struct hd_layer *l) {
    for (int i = 0; i < HD_LAYER_INPUTS && l->in[i] >= 0; i++) {
        struct hd_mtensor *x = &lo->tensors[l->in[i]];
        x->last = l->tag;
        if (x->def < 0 || lo->layers[x->def].step != l->step) x->comes_in = true;
        if (x->def >= 0 && lo->layers[x->def].step != l->step) x->goes_out = true;
    }
}

/* What the padding of a layer's operand must hold. */
static void note_padding(struct hd_lowering *lo, const struct hd_layer *l) {
    struct hd_mtensor *part = &lo->tensors[l->in[0]], *x = hd_mtensor_root(lo, part);
    int bottom = hd_layer_row(l, 0) + hd_layer_rows(l, l->oh) - part->h;
    int right = hd_layer_col(l, 0) + hd_layer_cols(l, l->ow) - part->w;
    if (part->h < x->h && (l->pt > 0 || bottom > 0)) x->pads_agree = false; /* its neighbours */
    if (l->pt > 0 || l->pl > 0 || bottom > 0 || right > 0) {
        if ((x->pt || x->pb || x->pl || x->pr) && x->pad_value != l->pad_value)
            x->pads_agree = false;
        x->pad_value = l->pad_value;
        x->pt = (int)hd_max(x->pt, l->pt), x->pl = (int)hd_max(x->pl, l->pl);
        x->pb = (int)hd_max(x->pb, bottom), x->pr = (int)hd_max(x->pr, right);
    }
    if (l->ppw > 1) { /* rows begin and end with a word */
        x->pl = (int)hd_round_up(x->pl, l->ppw);
        x->pr = (int)hd_round_up(x->w + x->pr, l->ppw) - x->w;
    }
}

/* A layer for output `out`. */
static hd_status add_layer(struct partition *p, int node, int out, int step) {
    struct hd_lowering *lo = p->lo;
    struct hd_layer l;
    add_mtensors(p, node, out);
    TRY(hd_tensorize(lo, node, out, step, &l));
    p->layers[lo->n_layers++] = l;
    struct hd_mtensor *y = &lo->tensors[l.out], *whole = hd_mtensor_root(lo, y);
    y->def = l.tag;
    if (whole->def < 0) whole->def = l.tag; /* the first of its parts */
    if (l.state >= 0) lo->tensors[l.state].def = l.tag;
    note_reader(lo, &l);
    if (l.kind->weights) note_padding(lo, &l);
    return HD_OK;
}

static hd_status add_folded(struct partition *p, int node) {
    const struct hd_node *n = &p->lo->g->nodes[node];
    if (p->lo->shares[node]) {
        for (int o = 0; o < n->n_out; o++) add_mtensor(p, n->out[o]);
        return HD_OK;
    }
    bool in = p->lo->turns[node] && p->lo->tensor_of[n->in[0]] < 0;
    int inside = in ? n->out[0] : n->in[0], outside = in ? n->in[0] : n->out[0];
    p->lo->tensor_of[outside] = add_mtensor(p, inside);
    return HD_OK;
}

static void add_host(struct partition *p, struct hd_step *s, int node) {
    struct hd_lowering *lo = p->lo;
    const struct hd_node *n = &lo->g->nodes[node];
    hd_model *m = lo->model;
    s->nodes[s->n_nodes++] = node;
    struct hd_host_op *h = &m->host_ops[m->n_host_ops++];
    const char *hint, *why = hd_machine_refuses(lo, node, &hint);
    if (!why && lo->left[node])
        why = lo->left[node],
        hint = p->prices.ns ? "" : "quantise the nodes around it, so that it joins a larger part";
    if (!why && hd_is_move(lo->g, n))
        why = "moves data at the border of the machine's part, where the host packs them anyway",
        hint = "";
    if (!why)
        why = "a dense layer behind a reshape that is not addressing", hint = "flatten one image";
    *h = (struct hd_host_op){hd_strdup(m->arena, n->name), hd_ir_ops[n->op].name, why, hint,
                             (int64_t)hd_host_ns(lo->g, node)};
}

static int layers_of(const hd_graph *g, const struct hd_node *n) {
    return hd_kind_of(g, n)->all_results ? 1 : n->n_out;
}

/* Takes every ready node of one device, and what becomes ready by that; false when there was none.
 */
static hd_status take_step(struct partition *p, enum hd_step_kind kind, int turn, bool *out_any) {
    struct hd_lowering *lo = p->lo;
    struct hd_step s = {.kind = kind};
    int step = lo->model->n_steps, *taken = hd_new_array(lo->arena, int, p->n_order + 1);
    size_t n_taken = 0, layers = lo->n_layers;
    s.nodes = hd_new_array(lo->model->arena, int, p->n_order ? p->n_order : 1);
    *out_any = false;
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < p->n_order; i++) {
            int id = p->order[i];
            bool host = p->place[id] == ON_HOST;
            if (p->done[id] || host != (kind == HD_STEP_HOST) || !ready(p, id)) continue;
            if (host && p->turn[id] != turn) continue;
            if (kind == HD_STEP_HOST)
                add_host(p, &s, id);
            else if (p->place[id] == FOLDED)
                TRY(add_folded(p, id));
            else if (p->place[id] == ON_MACHINE)
                for (int o = 0; o < layers_of(lo->g, &lo->g->nodes[id]); o++)
                    if (lo->g->nodes[id].out[o] >= 0) TRY(add_layer(p, id, o, step));
            taken[n_taken++] = id;
            p->done[id] = more = *out_any = true;
        }
    }
    if (kind == HD_STEP_PROG && lo->n_layers == layers) return HD_OK; /* all of it is addressing */
    if (*out_any && p->prices.ns) describe(p, &s, turn, taken, n_taken);
    if (*out_any) lo->model->steps[lo->model->n_steps++] = s;
    return HD_OK;
}

static void goes_out(struct hd_lowering *lo, int tensor) {
    if (tensor < 0 || lo->tensor_of[tensor] < 0) return;
    struct hd_mtensor *t = &lo->tensors[lo->tensor_of[tensor]];
    if (t->def >= 0) t->goes_out = true;
}

/* What host nodes and the caller read must leave the machine. */
static void mark_borders(struct partition *p) {
    const hd_graph *g = p->lo->g;
    for (size_t i = 0; i < p->n_order; i++) {
        const struct hd_node *n = &g->nodes[p->order[i]];
        for (int k = 0; p->place[p->order[i]] == ON_HOST && k < n->n_in; k++)
            goes_out(p->lo, n->in[k]);
    }
    for (size_t i = 0; i < g->n_outputs; i++) goes_out(p->lo, g->outputs[i]);
}

/* needs / gives / destroys: see the head of this file. */
hd_status hd_partition(struct hd_lowering *lo) {
    size_t n = lo->g->n_nodes;
    struct partition p = {.lo = lo};
    p.place = hd_new_array(lo->arena, enum place, n ? n : 1);
    p.order = hd_new_array(lo->arena, int, n ? n : 1);
    p.done = hd_new_array(lo->arena, bool, n ? n : 1);
    lo->left = hd_new_array(lo->arena, const char *, n + 1);
    lo->pixels = hd_new_array(lo->arena, struct hd_pixels, lo->g->n_tensors + 1);
    const struct hd_stage_text *text = &lo->opt->layers;
    if (text->text) TRY(hd_layers_parse_choices(lo, text->text, text->file));
    p.n_order = hd_graph_order(lo->g, p.order);
    hd_values_first(lo, p.order, p.n_order);
    size_t most = 1;
    for (size_t i = 0; i < n; i++) most += (size_t)lo->g->nodes[i].n_out;
    lo->layers = p.layers = hd_new_array(lo->arena, struct hd_layer, most);
    lo->tensor_of = hd_new_array(lo->arena, int, lo->g->n_tensors ? lo->g->n_tensors : 1);
    lo->share = hd_new_array(lo->arena, struct hd_share, lo->g->n_tensors + 1);
    lo->lanes = hd_new_array(lo->arena, const int *, lo->g->n_tensors + 1);
    lo->shares = hd_new_array(lo->arena, bool, n + 1);
    lo->strides = hd_new_array(lo->arena, bool, n + 1);
    lo->turns = hd_new_array(lo->arena, bool, n + 1);
    lo->chained = hd_new_array(lo->arena, bool, n + 1);
    lo->joined = hd_new_array(lo->arena, bool, n + 1);
    for (size_t i = 0; i < lo->g->n_tensors; i++) lo->tensor_of[i] = lo->share[i].base = -1;
    hd_model *m = lo->model;
    m->steps = hd_new_array(m->arena, struct hd_step, n + 1);
    m->host_ops = hd_new_array(m->arena, struct hd_host_op, n + 1);
    TRY(hd_choose_layouts(lo));
    p.turns = lo->opt->host_only ? 1 : 2;
    p.turn = hd_new_array(lo->arena, int, n + 1);
    if (lo->opt->devices.n) place_devices(&p);
    if (!lo->opt->host_only) choose_places(&p);
    if (lo->opt->devices.n) place_left(&p);
    for (bool any = true; any;) {
        any = false;
        for (int turn = 0; turn < p.turns; turn++) {
            bool now, machine = !lo->opt->host_only && turn == p.turns - 1;
            TRY(take_step(&p, machine ? HD_STEP_PROG : HD_STEP_HOST, turn, &now));
            any = any || now;
        }
    }
    mark_borders(&p);
    hd_share_uses(lo);
    return text->text ? hd_layers_check(lo, text->text, text->file) : HD_OK;
}
