/* heddle train: a network on samples with classes, from scratch or from the weights of a file.
 * heddle finetune: a quantised file, through its integers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/cli/cli.h"
#include "compiler/command/table.h"
#include "compiler/export/export.h"
#include "compiler/session/session.h"
#include "compiler/tensors/tensors.h"
#include "runtime/base/io.h"
#include "runtime/train/data.h"
#include "runtime/train/fit.h"
#include "runtime/train/layers.h"
#include "runtime/train/prune.h"
#include "runtime/train/task.h"
#include "runtime/train/train.h"

struct settings {
#define SETTING(name, ...) double name;
#include "compiler/cli/train.def"
    const char *optimizer, *schedule, *checkpoint, *events, *precision;
};

struct train {
    struct hd_cmd *c;
    hd_arena *a;
    struct settings o;
    struct hd_train_options options;
    struct hd_device_list devices;
    const char *path;  /* of a file; NULL = one of the zoo */
    hd_graph *g, *one; /* with the batch; as it is written, for one sample */
    hd_graph *runs;    /* with the batch, without what only training does; NULL = g is that, too */
    int rank;          /* of a sample of the data, and its sizes */
    const int64_t *dim;
    struct hd_samples all, train, test;
    hd_trainer *t;
    double start;
    bool first; /* rank 0: it prints and writes */
};

/* ---- settings ------------------------------------------------------------------------------- */

static const struct {
    const char *name, *doc;
    size_t offset;
    double value[2], least, most; /* of train, of finetune */
} numbers[] = {
#define SETTING(name, value, fine, least, most, doc)                                               \
    {#name, doc, offsetof(struct settings, name), {value, fine}, least, most},
#include "compiler/cli/train.def"
};
enum { N_NUMBERS = sizeof numbers / sizeof *numbers };

static hd_status unknown(struct train *t, const char *text) {
    char *list = hd_strdup(t->a, "optimizer, schedule, checkpoint, events, precision");
    for (int i = 0; i < N_NUMBERS; i++) list = hd_sprintf(t->a, "%s, %s", list, numbers[i].name);
    return hd_fail(t->c->ctx, HD_INVALID, "--set %s: want NAME=VALUE with one of %s", text, list);
}

static hd_status set_one(struct train *t, const char *text) {
    const char *eq = strchr(text, '=');
    size_t n = eq ? (size_t)(eq - text) : 0;
    if (!eq) return unknown(t, text);
    const char **word = !strncmp(text, "optimizer=", 10)    ? &t->o.optimizer
                        : !strncmp(text, "schedule=", 9)    ? &t->o.schedule
                        : !strncmp(text, "checkpoint=", 11) ? &t->o.checkpoint
                        : !strncmp(text, "events=", 7)      ? &t->o.events
                        : !strncmp(text, "precision=", 10)  ? &t->o.precision
                                                            : NULL;
    if (word) return *word = eq + 1, HD_OK;
    for (int i = 0; i < N_NUMBERS; i++) {
        if (strlen(numbers[i].name) != n || strncmp(numbers[i].name, text, n) != 0) continue;
        char *end = NULL;
        double v = strtod(eq + 1, &end);
        if (end == eq + 1 || *end || !(v >= numbers[i].least && v <= numbers[i].most))
            return hd_fail(t->c->ctx, HD_INVALID, "--set %s: want %g to %g: %s", text,
                           numbers[i].least, numbers[i].most, numbers[i].doc);
        *(double *)((char *)&t->o + numbers[i].offset) = v;
        return HD_OK;
    }
    return unknown(t, text);
}

static hd_status read_settings(struct train *t) {
    for (int i = 0; i < N_NUMBERS; i++)
        *(double *)((char *)&t->o + numbers[i].offset) = numbers[i].value[t->options.integers];
    t->o.optimizer = "adamw", t->o.schedule = "cosine";
    for (int i = 0; i < t->c->opt.sets.n; i++) TRY(set_one(t, t->c->opt.sets.text[i]));
    if (t->c->opt.train.shards) t->o.shards = t->c->opt.train.shards;
    if (t->c->opt.train.resume) t->o.checkpoint = t->c->opt.train.resume;
    struct hd_optimizer_options *o = &t->options.optimizer;
    int kind = hd_optimizer_by_name(t->o.optimizer), s = 0;
    while (s < HD_SCHEDULES && strcmp(hd_schedules[s], t->o.schedule) != 0) s++;
    if (kind < 0)
        return hd_fail(t->c->ctx, HD_INVALID,
                       "optimizer '%s': want sgd, momentum, nesterov, rmsprop, adagrad, adadelta, "
                       "adam, adamw or lamb",
                       t->o.optimizer);
    if (s == HD_SCHEDULES)
        return hd_fail(t->c->ctx, HD_INVALID,
                       "schedule '%s': want constant, step, exponential, power, polynomial or "
                       "cosine",
                       t->o.schedule);
    *o = hd_optimizer_default((enum hd_optimizer)kind);
    o->rate = t->o.rate, o->momentum = t->o.momentum, o->decay2 = t->o.decay2;
    o->weight_decay = t->o.weight_decay;
    o->clip_norm = t->o.clip_norm, o->clip_value = t->o.clip_value;
    o->schedule = (enum hd_schedule_kind)s;
    o->factor = t->o.factor, o->every = t->o.every, o->warm_up = t->o.warm_up;
    t->options.device = t->c->opt.device, t->options.threads = t->c->opt.threads;
    t->options.shards = (int)t->o.shards, t->options.ranges = t->o.ranges;
    t->options.loss_scale = t->o.loss_scale, t->options.scale_steps = t->o.scale_steps;
    if (t->o.precision && strcmp(t->o.precision, "f32") != 0) t->options.precision = t->o.precision;
    if (t->c->opt.train.memory)
        TRY(hd_memory_limit_parse(t->c->ctx, t->c->opt.train.memory, &t->options.memory));
    if (fmod(t->o.batch, t->o.shards) != 0)
        return hd_fail(t->c->ctx, HD_INVALID,
                       "batch=%g is no multiple of shards=%g: change one of them by --set",
                       t->o.batch, t->o.shards);
    return HD_OK;
}

/* ---- network and data ----------------------------------------------------------------------- */

static int64_t of_shard(const struct train *t) {
    return (int64_t)t->o.batch / (int64_t)t->o.shards;
}

/* The network of a file for the batch of a shard: its first dimension. */
static hd_status import_batch(struct train *t) {
    const struct hd_tensor *x = &t->one->tensors[t->one->inputs[0]];
    struct hd_shape_bind shape = {.name = hd_strdup(t->a, x->name), .rank = x->rank};
    memcpy(shape.dim, x->dim, sizeof x->dim);
    if (x->rank < 1 || !x->known)
        return hd_fail(t->c->ctx, HD_UNSUPPORTED, "%s: input '%s' has no batch dimension", t->path,
                       x->name);
    struct hd_bind bind = {.shapes = &shape, .n_shapes = 1};
    bool open = false;
    for (int i = 0; i < t->one->n_open; i++) open = open || t->one->open[i] == 0;
    if (open) shape.dim[0] = of_shard(t);
    TRY(hd_import(t->c->ctx, t->path, open ? &bind : NULL, &t->g));
    return open ? HD_OK : hd_graph_batch(t->c->ctx, t->g, of_shard(t));
}

static hd_status open_network(struct train *t) {
    hd_ctx *ctx = t->c->ctx;
    const char *arg = t->c->args[0];
    uint32_t seed = (uint32_t)t->o.seed;
    struct cli_script script = {seed, of_shard(t), t->rank, t->dim};
    if (cli_is_script(arg) && !t->options.integers)
        return cli_script_networks(t->c, arg, &script, &t->g, &t->runs, &t->one);
    if (hd_zoo_find(arg) >= 0 && !t->options.integers) {
        TRY(hd_zoo_build(ctx, arg, of_shard(t), seed, &t->g));
        return hd_zoo_build(ctx, arg, 1, seed, &t->one);
    }
    TRY(hd_model_path(t->c, t->a, arg, &t->path));
    TRY(hd_cmd_import(t->c, t->path, &t->one));
    return t->one->n_inputs ? import_batch(t) : HD_OK;
}

/* An array of samples, and one of as many classes: integers of one dimension. */
static hd_status open_data(struct train *t) {
    struct hd_file_tensor *f = NULL;
    const struct hd_file_tensor *x = NULL, *y = NULL;
    int n = 0;
    TRY(hd_load_npz(t->c->ctx, t->a, t->c->opt.calibrate.path, &f, &n));
    for (int i = 0; i < n; i++)
        if (f[i].rank > 1)
            x = &f[i];
        else if (f[i].rank == 1)
            y = &f[i];
    if (n != 2 || !x || !y || x->dim[0] != y->dim[0] || x->dim[0] < 2)
        return hd_fail(t->c->ctx, HD_INVALID, "%s: want two arrays, samples [N,..] and classes [N]",
                       t->c->opt.calibrate.path);
    struct hd_samples *s = &t->all;
    t->rank = x->rank - 1, t->dim = x->dim + 1;
    s->n = x->dim[0], s->size = 1;
    for (int d = 1; d < x->rank; d++) s->size *= x->dim[d];
    if (x->rank >= 3) s->height = x->dim[x->rank - 2], s->width = x->dim[x->rank - 1];
    float *v = hd_new_array(t->a, float, (size_t)(s->n * s->size) + 1);
    int64_t *k = hd_new_array(t->a, int64_t, (size_t)s->n + 1);
    for (int64_t i = 0; i < s->n * s->size; i++)
        v[i] = (float)hd_element(x->data, x->dtype, (size_t)i);
    for (int64_t i = 0; i < s->n; i++) k[i] = (int64_t)hd_element(y->data, y->dtype, (size_t)i);
    s->x = v, s->classes = k;
    return HD_OK;
}

/* Samples and classes fit the network. */
static hd_status check_data(struct train *t) {
    const struct hd_tensor *x = &t->g->tensors[t->g->inputs[0]],
                           *y = &t->g->tensors[t->g->outputs[0]];
    int64_t each = hd_tensor_elems(x) / of_shard(t);
    if (each != t->all.size)
        return hd_fail(t->c->ctx, HD_INVALID, "%s: samples of %lld values, input '%s' wants %lld",
                       t->c->opt.calibrate.path, (long long)t->all.size, x->name, (long long)each);
    for (int64_t i = 0; i < t->all.n; i++)
        if (t->all.classes[i] < 0 || t->all.classes[i] >= y->dim[1])
            return hd_fail(t->c->ctx, HD_INVALID, "%s: sample %lld has class %lld, want 0 to %lld",
                           t->c->opt.calibrate.path, (long long)i, (long long)t->all.classes[i],
                           (long long)y->dim[1] - 1);
    int64_t held_out = (int64_t)(t->o.held_out * (double)t->all.n + 0.5);
    if (t->all.n - held_out < (int64_t)t->o.batch)
        return hd_fail(t->c->ctx, HD_INVALID, "%s: %lld samples to train on, a batch has %g",
                       t->c->opt.calibrate.path, (long long)(t->all.n - held_out), t->o.batch);
    hd_samples_split(t->a, &t->all, held_out, (uint32_t)t->o.seed, &t->train, &t->test);
    return HD_OK;
}

/* ---- the loop ------------------------------------------------------------------------------- */

static hd_status show(hd_ctx *ctx, void *user, const struct hd_fit_event *e) {
    struct train *t = user;
    hd_cmd_progress(t->c, "epoch %lld of %lld: loss %.4f, %.0f s left", (long long)e->epoch,
                    (long long)t->o.epochs, (double)e->step_results[0], e->left);
    if (!e->epoch_ends) return HD_OK;
    hd_cmd_progress_end(t->c);
    if (t->first)
        printf("epoch %3lld  loss %.4f  right %6.2f %%\n", (long long)e->epoch, e->results[0],
               100 * e->results[1] / t->o.batch);
    TRY(hd_trainer_ranges(ctx, t->t));
    return t->o.checkpoint && t->first ? hd_trainer_save(t->c->ctx, t->t, t->o.checkpoint) : HD_OK;
}

static hd_status fit(struct train *t, struct hd_batches *b) {
    size_t bytes[2] = {(size_t)(b->batch * t->train.size) * sizeof(float),
                       (size_t)b->batch * sizeof(int64_t)};
    struct hd_fit f = {.source = {hd_batches_step, b, 2, bytes},
                       .steps = (int64_t)t->o.epochs * hd_batches_n(b),
                       .epoch = hd_batches_n(b)};
    hd_events *events = NULL;
    f.call[f.n_calls++] = (struct hd_fit_call){show, t};
    if (t->o.events && t->first) {
        TRY(hd_events_open(t->c->ctx, t->o.events, &events));
        f.call[f.n_calls++] = (struct hd_fit_call){hd_events_add, events};
    }
    hd_status s = hd_fit(t->c->ctx, t->t, &f);
    hd_status written = hd_events_close(t->c->ctx, events);
    return s == HD_OK ? written : s;
}

static void show_memory(const struct hd_recomputed *r) {
    struct hd_table t;
    hd_table_init(&t, "lrrr");
    hd_table_cells(&t, (const char *[]){"computed again", "nodes", "bytes", "of a step"}, 4);
    for (int i = 0; i < HD_IR_OPS; i++) {
        if (!r->op[i].nodes) continue;
        hd_table_cell(&t, "%s", hd_ir_ops[i].name);
        hd_table_cell(&t, "%d", r->op[i].nodes);
        hd_table_cell(&t, "%zu", r->op[i].bytes);
        hd_table_cell(&t, "%.1f %%", 100 * r->op[i].cost / r->cost);
    }
    r->again > 0 ? hd_table_print(&t, stdout) : hd_table_free(&t);
    printf("memory     %zu bytes of temporaries, %zu without a limit; %.1f %% more work\n",
           r->bytes, r->alone_bytes, 100 * r->again / r->cost);
}

/* Of several ranks on GPUs. */
static void show_exchange(const struct train *t) {
    const char *why = hd_trainer_no_peers(t->t);
    if (hd_ranks_n(t->options.ranks) < 2 || strcmp(t->options.device, "cuda") != 0) return;
    if (why)
        printf("gradients  by MPI: %s\n", why);
    else
        printf("gradients  from GPU to GPU, by NCCL\n");
}

static void show_devices(const struct train *t) {
    const hd_model *m = hd_trainer_model(t->t);
    for (int d = 0; d < t->devices.n; d++) {
        int nodes = 0, steps = 0;
        for (int i = 0; i < m->n_steps; i++) {
            const struct hd_step *s = &m->steps[i];
            if (!s->device || strcmp(s->device, t->devices.name[d]) != 0) continue;
            nodes += s->n_nodes, steps++;
        }
        printf("%-10s %d nodes of a step, in %d parts\n", t->devices.name[d], nodes, steps);
    }
    if (hd_trainer_shared(t->t))
        printf("%-10s %d of the products, cut by columns\n", "shared", hd_trainer_shared(t->t));
}

/* From a checkpoint, where one is there, and --resume says that one has to be. */
static hd_status go_on(struct train *t) {
    if (!t->o.checkpoint) return HD_OK;
    if (!t->c->opt.train.resume && access(t->o.checkpoint, F_OK) != 0) return HD_OK;
    TRY(hd_trainer_load(t->c->ctx, t->t, t->o.checkpoint));
    if (t->first)
        printf("checkpoint %s: goes on behind step %lld\n", t->o.checkpoint,
               (long long)hd_trainer_steps(t->t));
    return HD_OK;
}

static hd_status loop(struct train *t) {
    struct hd_batches b = {.s = &t->train,
                           .batch = (int64_t)t->o.batch,
                           .shift = (int64_t)t->o.shift,
                           .seed = (uint32_t)t->o.seed,
                           .order = hd_new_array(t->a, int64_t, (size_t)t->train.n + 1)};
    t->options.optimizer.steps = t->o.epochs * (double)hd_batches_n(&b);
    TRY(hd_trainer_open(t->c->ctx, t->g, &t->options, &t->t));
    TRY(go_on(t));
    TRY(hd_trainer_ranges(t->c->ctx, t->t));
    if (hd_trainer_frozen(t->t) && t->first)
        printf("%d weights or biases stay as they are: no int8 around 0 that one layer reads\n",
               hd_trainer_frozen(t->t));
    if (hd_trainer_recomputed(t->t) && t->first) show_memory(hd_trainer_recomputed(t->t));
    if (t->first) show_devices(t);
    if (t->first) show_exchange(t);
    t->start = hd_seconds();
    TRY(fit(t, &b));
    int ranks = hd_ranks_n(t->options.ranks);
    if (t->first)
        printf("trained    %.1f s, %lld steps of %lld samples in %d shards on %s%s\n",
               hd_seconds() - t->start, (long long)hd_trainer_steps(t->t), (long long)b.batch,
               t->options.shards, t->options.device,
               ranks > 1 ? hd_sprintf(t->a, ", %d ranks", ranks) : "");
    if (t->first && t->options.scale_steps > 0)
        printf("loss scale %g in the end, %lld steps changed nothing\n",
               hd_trainer_loss_scale(t->t), (long long)hd_trainer_skipped(t->t));
    return HD_OK;
}

static hd_status score(struct train *t) {
    int64_t right = 0;
    if (!t->test.n || !t->first) return HD_OK;
    hd_graph *g = t->runs ? t->runs : t->g;
    TRY(hd_trainer_weights(t->c->ctx, t->t, g));
    TRY(hd_score(t->c->ctx, g, &t->options, &t->test, &right));
    printf("held out   %.2f %%  %lld of %lld\n", 100 * (double)right / (double)t->test.n,
           (long long)right, (long long)t->test.n);
    return HD_OK;
}

/* ---- tasks, whose data is made ----------------------------------------------------------------
 */

static hd_status show_step(hd_ctx *ctx, void *user, const struct hd_fit_event *e) {
    (void)ctx;
    hd_cmd_progress(user, "step %lld of %lld: loss %.4f, %.0f s left", (long long)e->step,
                    (long long)e->steps, (double)e->step_results[0], e->left);
    return HD_OK;
}

static hd_status run_task(struct train *t, const struct hd_task_row *task) {
    const struct hd_cmd *c = t->c;
    for (int i = 0; i < c->opt.sets.n; i++)
        if (strncmp(c->opt.sets.text[i], "seed=", 5) != 0)
            return hd_fail(c->ctx, HD_INVALID,
                           "--set %s: task %s has settings of its own, but seed",
                           c->opt.sets.text[i], task->name);
    if (c->opt.train.shards || c->opt.train.resume || c->opt.train.memory)
        return hd_fail(c->ctx, HD_INVALID,
                       "task %s: --shards, --resume and --memory are for networks with --data",
                       task->name);
    TRY(read_settings(t));
    struct hd_task_options o = {
        .train = t->options, .seed = (uint32_t)t->o.seed, .call = show_step, .user = t->c};
    o.train.shards = 1;
    double score = 0, start = hd_seconds();
    TRY(hd_task_run(c->ctx, task, &o, &score));
    hd_cmd_progress_end(t->c);
    printf("%s: %s\ntrained    %.1f s on %s\nscore      %.4g  %s; at %s %g is wanted\n", task->name,
           task->doc, hd_seconds() - start, t->options.device, score, task->result,
           task->least ? "least" : "most", task->want);
    return HD_OK;
}

static hd_status prune(struct train *t) {
    const char *text = t->c->opt.train.prune;
    char *end = NULL;
    double v = text ? strtod(text, &end) : 0;
    struct hd_prune_options o = {v / 100, t->c->opt.train.blocks, (int)t->o.word};
    struct hd_pruned done;
    if (!text && o.blocks)
        return hd_fail(t->c->ctx, HD_INVALID, "--blocks says how to --prune: give a share");
    if (!text) return HD_OK;
    if (end == text || strcmp(end, "%") != 0 || !(v > 0 && v < 100))
        return hd_fail(t->c->ctx, HD_INVALID, "--prune %s: want more than 0%% and less than 100%%",
                       text);
    TRY(hd_prune(t->c->ctx, t->one, &o, &done));
    TRY(hd_prune(t->c->ctx, t->g, &o, &done));
    t->options.zeros = true;
    if (!t->first) return HD_OK;
    printf("pruned     %.1f %% of %lld weights are 0",
           100 * (double)done.zero / (double)done.weights, (long long)done.weights);
    if (o.blocks) printf(": %d of %d words of %d channels", done.cut, done.words, o.word);
    printf("\n");
    return HD_OK;
}

/* --devices A,B: a step is placed on them. */
static hd_status open_devices(struct train *t) {
    const char *text = t->c->together;
    if (!text) return HD_OK;
    TRY(hd_list_devices(t->c->ctx, t->a, text, &t->devices));
    if (t->devices.machine >= 0)
        return hd_fail(t->c->ctx, HD_UNSUPPORTED,
                       "devices %s: %s runs programs; a step of training wants devices that run "
                       "graphs (heddle devices)",
                       text, t->devices.name[t->devices.machine]);
    t->options.devices = &t->devices;
    return HD_OK;
}

static hd_status work(struct train *t) {
    const struct hd_task_row *task = hd_task_by_name(t->c->args[0]);
    TRY(open_devices(t));
    TRY(hd_ranks_open(t->c->ctx, &t->options.ranks));
    t->first = hd_ranks_me(t->options.ranks) == 0;
    if (!t->c->opt.calibrate.path && task) return run_task(t, task);
    TRY(read_settings(t));
    TRY(open_data(t));
    TRY(open_network(t));
    TRY(check_data(t));
    TRY(prune(t));
    TRY(loop(t));
    TRY(score(t));
    if (!t->c->opt.out || !t->first) return HD_OK;
    TRY(hd_trainer_weights(t->c->ctx, t->t, t->one));
    return hd_export_onnx(t->c->ctx, t->one, t->c->opt.out);
}

static int command(struct hd_cmd *c, bool integers) {
    hd_cmd_together(c);
    struct train t = {.c = c, .a = hd_arena_create(), .options.integers = integers};
    if (!c->opt.calibrate.path && (integers || !hd_task_by_name(c->args[0])))
        return hd_cmd_usage(c, "--data FILE.npz is missing: samples and classes");
    hd_status s = work(&t);
    hd_cmd_progress_end(c);
    int status = s == HD_OK ? HD_EXIT_DONE : hd_cmd_fail(c);
    if (s != HD_OK) hd_ranks_abort(t.options.ranks);
    hd_ranks_close(t.options.ranks);
    hd_trainer_close(t.t);
    if (t.g) hd_graph_destroy(t.g);
    if (t.one) hd_graph_destroy(t.one);
    if (t.runs) hd_graph_destroy(t.runs);
    hd_arena_destroy(t.a);
    return status;
}

int cmd_train(struct hd_cmd *c) {
    return command(c, false);
}

int cmd_finetune(struct hd_cmd *c) {
    return command(c, true);
}
