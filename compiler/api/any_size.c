/* A network with open dimensions, for inputs of any size: a model and a session for each, of which
 * those that were used last are kept. */
#include <stdlib.h>
#include <string.h>

#include "compiler/api/net.h"
#include "compiler/session/session.h"

struct form { /* of the inputs, and what was made for it */
    struct hd_io_info *inputs;
    int n_inputs;
    hd_model *model;
    hd_session *session;
    int64_t used; /* by the how manieth call */
};

struct hd_any {
    hd_arena *arena;
    const char *path, *device;
    struct hd_build build;
    struct hd_run_options run;
    struct hd_load_options load;
    struct form *form;
    int n, most;
    int64_t calls, compiled;
};

hd_status hd_any_open(hd_ctx *ctx, const char *path, const struct hd_any_options *options,
                      hd_any **out) {
    static const struct hd_any_options plain = {0};
    const struct hd_any_options *o = options ? options : &plain;
    if (o->most < 0)
        return hd_fail(ctx, HD_INVALID, "%s: %d sizes at most, want 1 or more, or 0 for %d", path,
                       o->most, HD_ANY_SIZES);
    hd_arena *a = hd_arena_create();
    hd_any *s = hd_new(a, hd_any);
    s->arena = a;
    s->path = hd_strdup(a, path);
    s->device = hd_strdup(a, o->device ? o->device : "iss");
    s->most = o->most ? o->most : HD_ANY_SIZES;
    s->form = hd_new_array(a, struct form, (size_t)s->most);
    if (o->run) s->run = *o->run;
    if (o->rounding) s->load.rounding = hd_strdup(a, o->rounding);
    if (o->build) {
        const char **set = hd_new_array(a, const char *, (size_t)o->build->n_set + 1);
        for (int i = 0; i < o->build->n_set; i++) set[i] = hd_strdup(a, o->build->set[i]);
        s->build = *o->build;
        s->build.set = set;
        if (s->build.machine) s->build.machine = hd_strdup(a, s->build.machine);
        if (s->build.devices) s->build.devices = hd_strdup(a, s->build.devices);
    }
    *out = s;
    return HD_OK;
}

static void forget(struct form *f) {
    hd_session_close(f->session);
    hd_model_destroy(f->model);
    for (int i = 0; i < f->n_inputs; i++) free((char *)(uintptr_t)f->inputs[i].name);
    free(f->inputs);
    *f = (struct form){0};
}

void hd_any_close(hd_any *s) {
    if (!s) return;
    for (int i = 0; i < s->n; i++) forget(&s->form[i]);
    hd_arena_destroy(s->arena);
}

int64_t hd_any_compiled(const hd_any *s) {
    return s->compiled;
}

static bool same_form(const struct form *f, const struct hd_io_info *in, int n) {
    if (f->n_inputs != n) return false;
    for (int i = 0; i < n; i++)
        if (strcmp(f->inputs[i].name, in[i].name) || f->inputs[i].rank != in[i].rank ||
            memcmp(f->inputs[i].dim, in[i].dim, (size_t)in[i].rank * sizeof *in[i].dim))
            return false;
    return true;
}

static hd_status check_inputs(hd_ctx *ctx, const hd_any *s, const struct hd_io_info *in, int n) {
    for (int i = 0; i < n; i++)
        if (!in[i].name || in[i].rank < 0 || in[i].rank > HD_MAX_RANK)
            return hd_fail(ctx, HD_INVALID, "%s: input %d: want a name, and 0 to %d dimensions",
                           s->path, i, HD_MAX_RANK);
    return HD_OK;
}

/* To an empty form; what of it is made stays there for forget(). */
static hd_status make(hd_ctx *ctx, hd_any *s, const struct hd_io_info *in, int n, struct form *f) {
    hd_net *net = NULL;
    struct hd_load_options o = s->load;
    o.sizes = in, o.n_sizes = n;
    f->inputs = calloc((size_t)n + 1, sizeof *f->inputs);
    if (!f->inputs) return hd_fail(ctx, HD_NOMEM, "%s: no memory for a session", s->path);
    for (; f->n_inputs < n; f->n_inputs++) {
        f->inputs[f->n_inputs] = in[f->n_inputs];
        f->inputs[f->n_inputs].name = strdup(in[f->n_inputs].name);
        if (!f->inputs[f->n_inputs].name)
            return hd_fail(ctx, HD_NOMEM, "%s: no memory for a session", s->path);
    }
    TRY(hd_net_load_with(ctx, s->path, &o, &net));
    hd_status r = hd_net_compile(ctx, net, &s->build, &f->model);
    hd_net_destroy(net);
    TRY(r);
    s->compiled++;
    return hd_session_open_with(ctx, f->model, s->device, &s->run, &f->session);
}

/* Nothing is forgotten for a form that cannot be made. */
hd_status hd_any_session(hd_ctx *ctx, hd_any *s, const struct hd_io_info *inputs, int n,
                         const hd_model **out_model, hd_session **out) {
    struct form made = {0}, *to = NULL;
    TRY(check_inputs(ctx, s, inputs, n));
    for (int i = 0; i < s->n && !to; i++)
        if (same_form(&s->form[i], inputs, n)) to = &s->form[i];
    if (!to) {
        hd_status r = make(ctx, s, inputs, n, &made);
        if (r != HD_OK) {
            forget(&made);
            return r;
        }
        to = &s->form[0];
        for (int i = 1; i < s->n; i++)
            if (s->form[i].used < to->used) to = &s->form[i];
        if (s->n < s->most) to = &s->form[s->n++];
        forget(to);
        *to = made;
    }
    to->used = ++s->calls;
    if (out_model) *out_model = to->model;
    *out = to->session;
    return HD_OK;
}
