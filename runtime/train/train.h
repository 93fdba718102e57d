/* Training: a network, its weights, its loss and its optimiser as one graph; a step of training is
 * a run of it. Nothing that runs networks links this.
 *
 *   hd_trainer *t = NULL;
 *   TRY(hd_trainer_open(ctx, g, &options, &t));       // g: images [N,..] -> a row of classes each
 *   for (..) TRY(hd_trainer_step(ctx, t, images, classes, &r));
 *   TRY(hd_trainer_weights(ctx, t, g));               // into the constants of the same names
 *   hd_trainer_close(t);
 *
 * Weights are the f32 constants that layers read as weights, bias or scale (train.c). They become
 * state of the graph, and so do the tensors of the optimiser and the number of the step. The same
 * options and data give the same bits. */
#ifndef HD_TRAIN_TRAIN_H
#define HD_TRAIN_TRAIN_H

#include "compiler/grad/optimizer.h"
#include "compiler/ir/ir.h"
#include "runtime/ranks/ranks.h"
#include "runtime/train/data.h"

typedef struct hd_trainer hd_trainer;
struct hd_device_list; /* compiler/options/options.h */

/* For temporaries of a step: bytes, or a share of what it takes to keep each until it is read last.
 * Both 0 = no limit. */
struct hd_memory_limit {
    double bytes, share;
};
/* "30000000" or "50%". */
hd_status hd_memory_limit_parse(hd_ctx *ctx, const char *text, struct hd_memory_limit *out);

/* What is computed again, so that a step fits. Costs: elements and multiplications, weighted. */
struct hd_recomputed {
    size_t alone_bytes, bytes; /* of temporaries: where all are kept; planned */
    double cost, again;        /* of the step without repetitions; of these */
    struct {
        int nodes;
        size_t bytes;
        double cost;
    } op[HD_IR_OPS];
};

struct hd_train_options {
    struct hd_optimizer_options optimizer;
    const char *device; /* that runs graphs: golden, cpu; or several, "cpu,opencl" */
    /* Several that share a step: its nodes are placed by cost. Shards then follow each other as in
     * a pipeline, one on each device. NULL = there is one. */
    const struct hd_device_list *devices;
    int threads; /* 0 = the device's default */
    /* The network is quantised, and values are those of its integers, bit for bit (integer.c). What
     * is trained are floats behind the stored integers of weights and biases, whose scales stay.
     * Gradients pass rounding straight, and end where a value leaves the range of its scale.
     * Source: Bengio et al., arXiv:1308.3432; Jacob et al., CVPR 2018, section 3. */
    bool integers;
    /* Of those: scales of activations move, too, by so much of the rate; 0 = they stay. The step
     * keeps the scales of the last hd_trainer_ranges. */
    double ranges;
    bool zeros; /* of those: integer weights that are 0 stay 0 (prune.h) */
    /* A batch is cut into so many parts of equal size, a power of two. The gradient is the sum of
     * theirs by a fixed tree, so results depend on the number of shards, and never on that of the
     * ranks, which share them out. 0 = 1. */
    int shards;
    hd_ranks *ranks; /* NULL = this process alone */
    struct hd_memory_limit memory;
    /* "f16", "bf16": the network of logits computes in 16 bits, beside float weights. NULL = "f32".
     * The loss is multiplied by loss_scale on the way to gradients (0 = 1), so that small ones are
     * not rounded to 0. A step whose gradients are not finite changes nothing but its number. */
    const char *precision;
    double loss_scale;
    /* With a precision: the factor adapts itself. It is halved by a step whose gradients are not
     * finite, and doubled by so many good steps; it stays in 1 .. 2^24, and is 2^16 first where
     * loss_scale is 0 or 1. 0 = it stays. The optimiser does not count a step that changed nothing;
     * the schedule does. The factor and the counts of steps are the last states.
     * Source: Micikevicius et al., arXiv:1710.03740, section 3.2. */
    double scale_steps;
};

struct hd_train_result { /* of one step of a network of logits */
    float loss;          /* mean cross entropy of the batch */
    float right;         /* samples whose largest output is their class */
};

/* The graph of a step: inputs of the network, then state; outputs loss and metrics, then the next
 * state. State: the number of the step, weights, tensors of the optimiser. g becomes it. *out: the
 * weights, the arena's. Logits as the only output get the loss of hd_loss_classes, and classes i64
 * [N] as the second input.
 * With update_graph, which is empty, the step has two halves. g: inputs, step where layers read it,
 * weights -> loss, metrics, gradients. update_graph: state, gradients -> the next state. */
struct hd_trained;
hd_status hd_train_graph(hd_ctx *ctx, hd_graph *g, const struct hd_train_options *o,
                         hd_graph *update_graph, hd_arena *arena, struct hd_trained *out);

/* g, whose first input has a batch of another size, gets batches of n. Errors: HD_UNSUPPORTED, a
 * node has no shape then, or the result no batch. */
hd_status hd_graph_batch(hd_ctx *ctx, hd_graph *g, int64_t n);

/* g is only read. One f32 input whose first dimension is the batch of a shard, one result [N,
 * classes]; or any inputs whose first dimension is that, and results f32 []: a loss, metrics.
 * Errors: HD_INVALID, shards that are no power of two or no multiple of the ranks. */
hd_status hd_trainer_open(hd_ctx *ctx, const hd_graph *g, const struct hd_train_options *o,
                          hd_trainer **out);
/* in: the inputs, of a whole batch, on every rank. out: the mean loss of the shards, and sums of
 * the metrics. */
hd_status hd_trainer_run(hd_ctx *ctx, hd_trainer *t, const void *const *in, float *out);
int hd_trainer_n_inputs(const hd_trainer *t);
int hd_trainer_n_results(const hd_trainer *t);
/* Bytes of input i of a whole batch. */
size_t hd_trainer_input_bytes(const hd_trainer *t, int i);
const char *hd_trainer_result(const hd_trainer *t, int i); /* its name */
/* The same for a network of logits. */
hd_status hd_trainer_step(hd_ctx *ctx, hd_trainer *t, const float *x, const int64_t *classes,
                          struct hd_train_result *out);
/* The weights as they are now, to the constants of g that have their names. */
hd_status hd_trainer_weights(hd_ctx *ctx, const hd_trainer *t, hd_graph *g);
/* All state: a step after a load gives the bits of one without. */
hd_status hd_trainer_save(hd_ctx *ctx, const hd_trainer *t, const char *path);
hd_status hd_trainer_load(hd_ctx *ctx, hd_trainer *t, const char *path);
/* A step has the scales that were learned up to now: it is compiled anew, and state stays. Does
 * nothing where none are learned. A file that hd_trainer_weights writes has the scales of now. */
hd_status hd_trainer_ranges(hd_ctx *ctx, hd_trainer *t);
/* The value of weights `name` as they are now, and its bytes; NULL = there are none. */
const float *hd_trainer_weight(const hd_trainer *t, const char *name, size_t *out_bytes);
/* How many samples have their class as the largest result of g, batch by batch. */
hd_status hd_score(hd_ctx *ctx, const hd_graph *g, const struct hd_train_options *o,
                   const struct hd_samples *s, int64_t *out_right);
/* Integer weights that are not trained: not int8 around 0, read twice, or not found again in the
 * legal network. */
int hd_trainer_frozen(const hd_trainer *t);
/* What a limit of memory did; NULL = there is none. */
const struct hd_recomputed *hd_trainer_recomputed(const hd_trainer *t);
/* The model of a step's gradients: its steps name their devices. */
const struct hd_model *hd_trainer_model(const hd_trainer *t);
/* The factor of the loss in the next step. */
double hd_trainer_loss_scale(const hd_trainer *t);
/* Where that adapts: steps that changed nothing, those of a loaded checkpoint too. Else 0. */
int64_t hd_trainer_skipped(const hd_trainer *t);
/* Of several ranks: NULL, gradients go from device to device; else why they go by MPI. */
const char *hd_trainer_no_peers(const hd_trainer *t);
/* Products of it that were cut, so that several devices share each (parts.h). */
int hd_trainer_shared(const hd_trainer *t);
int64_t hd_trainer_steps(const hd_trainer *t); /* that were taken */
void hd_trainer_close(hd_trainer *t);          /* NULL is fine */

#endif
