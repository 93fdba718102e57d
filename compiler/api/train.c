/* Layers and training of the library. */
#include <stdlib.h>
#include <string.h>

#include "compiler/api/net.h"
#include "runtime/train/by_name.h"
#include "runtime/train/fit.h"
#include "runtime/train/train.h"

/* ---- layers --------------------------------------------------------------------------------- */

const char *hd_layer(int i, int *out_operands, const char **out_numbers) {
    return hd_layer_kind(i, out_operands, out_numbers);
}

void hd_net_layers(hd_net *net, uint32_t seed, bool training) {
    net->seed = seed, net->training = training;
}

hd_status hd_net_add_layer(hd_ctx *ctx, hd_net *net, const char *kind, const int *in, int n_in,
                           const char *const *names, const double *values, int n, int *out) {
    hd_arena *a = hd_arena_create();
    struct hd_layers l = {.b = {.ctx = ctx, .g = net->g, .arena = a, .prefix = kind},
                          .seed = net->seed,
                          .n = net->n_layers,
                          .training = net->training,
                          .step = net->step};
    struct hd_layer_number *numbers = hd_new_array(a, struct hd_layer_number, (size_t)n + 1);
    for (int i = 0; i < n; i++) numbers[i] = (struct hd_layer_number){names[i], values[i]};
    hd_status s = hd_layer_add_by_name(&l, kind, in, n_in, numbers, n, out);
    net->n_layers = l.n, net->step = l.step;
    hd_arena_destroy(a);
    return s;
}

/* ---- training ------------------------------------------------------------------------------- */

enum { EVENTS_WRITTEN = 100 }; /* steps after which the file is written anew */

struct hd_training {
    hd_trainer *t;
    hd_events *events; /* NULL = nobody wants some */
};

static hd_trainer *inside(const hd_training *t) {
    return t->t;
}

static hd_status find_name(hd_ctx *ctx, const char *what, const char *name, int found) {
    if (found >= 0) return HD_OK;
    return hd_fail(ctx, HD_INVALID, "%s '%s': there is none such; docs/training.md lists them",
                   what, name);
}

static int schedule_by_name(const char *name) {
    for (int i = 0; i < HD_SCHEDULES; i++)
        if (!strcmp(hd_schedules[i], name)) return i;
    return -1;
}

hd_status hd_training_open(hd_ctx *ctx, const hd_net *net, const struct hd_training_options *given,
                           hd_training **out) {
    struct hd_train_options o = {.device = given->device ? given->device : "cpu",
                                 .threads = given->threads,
                                 .shards = given->shards,
                                 .loss_scale = given->loss_scale,
                                 .scale_steps = given->scale_steps};
    const char *optimizer = given->optimizer ? given->optimizer : "adam";
    const char *schedule = given->schedule ? given->schedule : "constant";
    int kind = hd_optimizer_by_name(optimizer), rates = schedule_by_name(schedule);
    TRY(find_name(ctx, "optimizer", optimizer, kind));
    TRY(find_name(ctx, "schedule", schedule, rates));
    o.optimizer = hd_optimizer_default((enum hd_optimizer)kind);
    if (given->rate > 0) o.optimizer.rate = given->rate;
    o.optimizer.schedule = (enum hd_schedule_kind)rates;
    o.optimizer.steps = given->steps > 0 ? given->steps : 1;
    o.optimizer.weight_decay = given->weight_decay, o.optimizer.clip_norm = given->clip_norm;
    o.optimizer.warm_up = given->warm_up, o.optimizer.clip_value = given->clip_value;
    if (given->momentum > 0) o.optimizer.momentum = given->momentum;
    if (given->precision && strcmp(given->precision, "f32") != 0) o.precision = given->precision;
    if (given->memory) TRY(hd_memory_limit_parse(ctx, given->memory, &o.memory));
    hd_training *t = calloc(1, sizeof *t);
    if (!t) return hd_fail(ctx, HD_NOMEM, "no memory for a training");
    hd_status s = hd_trainer_open(ctx, net->g, &o, &t->t);
    if (s == HD_OK)
        *out = t;
    else
        free(t);
    return s;
}

hd_status hd_training_events(hd_ctx *ctx, hd_training *t, const char *folder) {
    hd_events *before = t->events;
    t->events = NULL;
    TRY(hd_events_close(ctx, before));
    return folder ? hd_events_open(ctx, folder, &t->events) : HD_OK;
}

int hd_training_n_results(const hd_training *t) {
    return hd_trainer_n_results(inside(t));
}

const char *hd_training_result(const hd_training *t, int i) {
    return i < 0 || i >= hd_trainer_n_results(inside(t)) ? NULL : hd_trainer_result(inside(t), i);
}

size_t hd_training_input_bytes(const hd_training *t, int i) {
    return i < 0 || i >= hd_trainer_n_inputs(inside(t)) ? 0 : hd_trainer_input_bytes(inside(t), i);
}

int64_t hd_training_steps(const hd_training *t) {
    return hd_trainer_steps(inside(t));
}

double hd_training_loss_scale(const hd_training *t) {
    return hd_trainer_loss_scale(inside(t));
}

int64_t hd_training_skipped(const hd_training *t) {
    return hd_trainer_skipped(inside(t));
}

hd_status hd_training_step(hd_ctx *ctx, hd_training *t, const void *const *in, float *out) {
    TRY(hd_trainer_run(ctx, inside(t), in, out));
    int64_t step = hd_trainer_steps(inside(t));
    struct hd_fit_event e = {.t = inside(t),
                             .step = step,
                             .step_results = out,
                             .n = hd_trainer_n_results(inside(t)),
                             .epoch_ends = step % EVENTS_WRITTEN == 0};
    return t->events ? hd_events_add(ctx, t->events, &e) : HD_OK;
}

hd_status hd_training_weights(hd_ctx *ctx, const hd_training *t, hd_net *net) {
    return hd_trainer_weights(ctx, inside(t), net->g);
}

hd_status hd_training_save(hd_ctx *ctx, const hd_training *t, const char *path) {
    return hd_trainer_save(ctx, inside(t), path);
}

hd_status hd_training_load(hd_ctx *ctx, hd_training *t, const char *path) {
    return hd_trainer_load(ctx, inside(t), path);
}

void hd_training_close(hd_training *t) {
    if (!t) return;
    hd_ctx *ctx = hd_ctx_create();
    hd_training_events(ctx, t, NULL);
    hd_ctx_destroy(ctx);
    hd_trainer_close(inside(t));
    free(t);
}
