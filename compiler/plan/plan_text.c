/* Plan -> text -> plan. Members come from tiling.def and place.def. */
#include "compiler/plan/plan_text.h"

#include <string.h>

#include "compiler/layer/kind.h"
#include "runtime/base/fields.h"
#include "runtime/base/num.h"

static const struct hd_member tiling[] = {
#define TILING(type, name, ...) HD_MEMBER(struct hd_tiling, type, name),
#include "compiler/plan/tiling.def"
#define RECURRENT(type, name, ...) HD_MEMBER(struct hd_tiling, type, rnn.name),
#include "compiler/plan/tiling.def"
};
static const struct hd_member place[] = {
#define PLACE(type, name, ...) HD_MEMBER(struct hd_placement, type, name),
#include "compiler/plan/place.def"
};
struct whole { /* what is chosen once for a plan */
    uint32_t steps, layers, tensors, xm_ring_bytes;
    uint64_t arena_bytes;
};
static const struct hd_member whole[] = {
    HD_MEMBER(struct whole, uint32_t, steps),
    HD_MEMBER(struct whole, uint32_t, layers),
    HD_MEMBER(struct whole, uint32_t, tensors),
    HD_MEMBER(struct whole, uint32_t, xm_ring_bytes),
    HD_MEMBER(struct whole, uint64_t, arena_bytes),
};

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))

static struct whole whole_of(const struct hd_lowering *lo) {
    return (struct whole){.steps = (uint32_t)lo->model->n_steps,
                          .layers = (uint32_t)lo->n_layers,
                          .tensors = (uint32_t)lo->n_tensors,
                          .xm_ring_bytes = lo->plan->xm_ring_bytes,
                          .arena_bytes = lo->plan->arena_bytes};
}

bool hd_plans_equal(const struct hd_plan *a, const struct hd_plan *b) {
    bool same = a->n_tilings == b->n_tilings && a->n_places == b->n_places &&
                a->xm_ring_bytes == b->xm_ring_bytes && a->arena_bytes == b->arena_bytes;
    for (size_t i = 0; same && i < a->n_tilings; i++)
        same = hd_members_equal(tiling, COUNT(tiling), &a->tilings[i], &b->tilings[i]);
    for (size_t i = 0; same && i < a->n_places; i++)
        same = hd_members_equal(place, COUNT(place), &a->places[i], &b->places[i]);
    return same;
}

uint32_t hd_plan_hash(const struct hd_plan *p) {
    const uint64_t first[] = {p->xm_ring_bytes, p->arena_bytes};
    uint32_t h = hd_hash(HD_HASH_INIT, first, sizeof first);
    for (size_t i = 0; i < p->n_tilings; i++)
        h = hd_members_hash(h, tiling, COUNT(tiling), &p->tilings[i]);
    for (size_t i = 0; i < p->n_places; i++)
        h = hd_members_hash(h, place, COUNT(place), &p->places[i]);
    return h;
}

/* ---- printing ---- */

static const char *layer_name(const struct hd_lowering *lo, size_t i) {
    return lo->g->nodes[lo->layers[i].node].name;
}

static const char *tensor_name(const struct hd_lowering *lo, size_t i) {
    return lo->g->tensors[lo->tensors[i].tensor].name;
}

static bool shows(const struct hd_lowering *lo, size_t i) {
    const struct hd_name_list *only = &lo->opt->dump_only;
    return !only->n || hd_name_listed(only, layer_name(lo, i));
}

static void print_layer(const struct hd_lowering *lo, size_t i, FILE *f) {
    const struct hd_layer *l = &lo->layers[i];
    const struct hd_mtensor *x = &lo->tensors[l->in[0]], *y = &lo->tensors[l->out];
    fprintf(f, "# %s as %s: in [%d,%d,%d,%d] out [%d,%d,%d,%d] window %dx%d stride %d,%d\n",
            hd_ir_ops[lo->g->nodes[l->node].op].name, l->kind->operations, x->n, x->h, x->w, x->cp,
            y->n, l->oh, l->ow, y->cp, l->kh, l->kw, l->sy, l->sx);
    if (lo->model->layers[i].plan) fprintf(f, "# %s\n", lo->model->layers[i].plan);
    fprintf(f, "layer %zu ", i);
    hd_word_print(f, layer_name(lo, i));
    hd_members_print(f, tiling, COUNT(tiling), &lo->plan->tilings[i]);
    fputc('\n', f);
}

static void print_tensor(const struct hd_lowering *lo, size_t i, FILE *f) {
    const struct hd_mtensor *t = &lo->tensors[i];
    fprintf(f, "# [%d,%d,%d,%d]\ntensor %zu ", t->n, t->h, t->w, t->cp, i);
    hd_word_print(f, tensor_name(lo, i));
    hd_members_print(f, place, COUNT(place), &lo->plan->places[i]);
    fputc('\n', f);
}

/* Nodes that fit in no plan; the others on the host need no word here. */
static void print_host(const struct hd_lowering *lo, FILE *f) {
    hd_arena *a = hd_arena_create();
    bool *has_layer = hd_new_array(a, bool, lo->g->n_nodes + 1);
    for (size_t i = 0; i < lo->n_layers; i++) has_layer[lo->layers[i].node] = true;
    for (size_t i = 0; i < lo->g->n_nodes; i++) {
        if (has_layer[i] || lo->g->nodes[i].dead || !lo->too_big[i].why) continue;
        fputs("host ", f);
        hd_word_print(f, lo->g->nodes[i].name);
        fprintf(f, " %s\n", hd_refusal_text(&lo->too_big[i], a));
    }
    hd_arena_destroy(a);
}

void hd_plan_print(const struct hd_lowering *lo, FILE *out) {
    struct whole all = whole_of(lo);
    fprintf(out, "# %s on %s: of %u bytes of XM %u are a ring\n", lo->model->name, lo->m->name,
            lo->m->xm_bytes, lo->plan->xm_ring_bytes);
    fputs("plan", out);
    hd_members_print(out, whole, COUNT(whole), &all);
    fputc('\n', out);
    print_host(lo, out);
    bool *used = hd_new_array(lo->arena, bool, lo->n_tensors + 1);
    for (size_t i = 0; i < lo->n_layers; i++) {
        const struct hd_layer *l = &lo->layers[i];
        if (!shows(lo, i)) continue;
        print_layer(lo, i, out);
        used[l->out] = true;
        for (int k = 0; k < HD_LAYER_INPUTS && l->in[k] >= 0; k++) used[l->in[k]] = true;
    }
    for (size_t i = 0; i < lo->n_tensors; i++)
        if (used[i] || !lo->opt->dump_only.n) print_tensor(lo, i, out);
}

/* ---- reading ---- */

struct reader {
    struct hd_lines r;
    struct hd_lowering *lo;
    const char **layer, **tensor; /* names */
    bool *layers, *tensors;       /* that are there */
    bool whole;
};

static hd_status parse_whole(struct reader *s) {
    struct whole want = whole_of(s->lo), got = {0};
    TRY(hd_lines_members(&s->r, whole, COUNT(whole), &got));
    if (got.steps != want.steps || got.layers != want.layers || got.tensors != want.tensors)
        return hd_fail(s->r.ctx, HD_MISMATCH,
                       "%s:%d: plan of %u steps, %u layers, %u tensors; the network has %u, %u, %u "
                       "on machine %s: plan it again",
                       s->r.file, s->r.line, got.steps, got.layers, got.tensors, want.steps,
                       want.layers, want.tensors, s->lo->m->name);
    s->lo->plan->xm_ring_bytes = got.xm_ring_bytes;
    s->lo->plan->arena_bytes = got.arena_bytes;
    s->whole = true;
    return HD_OK;
}

static hd_status parse_line(struct reader *s) {
    struct hd_plan *p = s->lo->plan;
    size_t i = 0;
    if (hd_lines_accept(&s->r, "plan")) return parse_whole(s);
    if (!s->whole) return hd_lines_fail(&s->r, "'plan', on the first line");
    if (hd_lines_accept(&s->r, "host")) {
        s->r.p += strcspn(s->r.p, "\n"); /* hd_plan_parse_host */
        return HD_OK;
    }
    if (hd_lines_accept(&s->r, "layer")) {
        TRY(hd_lines_which(&s->r, "layer", s->layer, p->n_tilings, s->layers, &i));
        return hd_lines_members(&s->r, tiling, COUNT(tiling), &p->tilings[i]);
    }
    if (!hd_lines_accept(&s->r, "tensor"))
        return hd_lines_fail(&s->r, "plan, host, layer or tensor");
    TRY(hd_lines_which(&s->r, "tensor", s->tensor, p->n_places, s->tensors, &i));
    return hd_lines_members(&s->r, place, COUNT(place), &p->places[i]);
}

hd_status hd_plan_parse(struct hd_lowering *lo, const char *text, const char *file) {
    for (size_t i = 0; i < lo->n_tensors; i++) lo->plan->places[i].arena = 0;
    struct reader s = {.r = {lo->ctx, text, file, 0},
                       .lo = lo,
                       .layer = hd_layer_names(lo, lo->arena),
                       .tensor = hd_mtensor_names(lo, lo->arena),
                       .layers = hd_new_array(lo->arena, bool, lo->n_layers + 1),
                       .tensors = hd_new_array(lo->arena, bool, lo->n_tensors + 1)};
    while (hd_lines_next(&s.r)) TRY(parse_line(&s));
    if (!s.whole) return hd_lines_fail(&s.r, "'plan'");
    TRY(hd_lines_all(&s.r, "layer", s.layers, lo->n_layers));
    TRY(hd_lines_all(&s.r, "tensor", s.tensors, lo->n_tensors));
    return hd_note(lo->ctx, hd_plan_verify(lo), "in %s", file);
}

hd_status hd_plan_parse_host(struct hd_lowering *lo, const char *text, const char *file) {
    struct hd_lines r = {lo->ctx, text, file, 0};
    hd_arena *a = lo->model->arena;
    while (hd_lines_next(&r)) {
        const char *name;
        if (hd_lines_accept(&r, "host")) {
            TRY(hd_lines_name(&r, a, &name));
            int node = hd_node_by_name(lo->g, name);
            if (node < 0)
                return hd_fail(lo->ctx, HD_MISMATCH,
                               "%s:%d: no node '%s': the plan is of another network", file, r.line,
                               name);
            r.p += strspn(r.p, " ");
            lo->too_big[node] = (struct hd_refusal){.why = HD_REFUSAL_said,
                                                    .said = hd_strndup(a, r.p, strcspn(r.p, "\n"))};
        }
        r.p += strcspn(r.p, "\n");
    }
    return HD_OK;
}
