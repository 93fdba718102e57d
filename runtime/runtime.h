/* Runtime: open a model on a device, run it, read results and counters.
 *
 *   hd_ctx *ctx = hd_ctx_create();
 *   hd_model *model;  hd_session *s;
 *   if (hd_model_load(ctx, "digits.hdl", &model) ||
 *       hd_session_open(ctx, model, "iss", NULL, &s) ||
 *       hd_session_run(ctx, s, (const void *[]){image}, (void *[]){logits}))
 *       fprintf(stderr, "%s\n", hd_message(ctx));
 *
 * Inputs and outputs are dense arrays in the order and type of model->inputs and model->outputs.
 */
#ifndef HD_RUNTIME_RUNTIME_H
#define HD_RUNTIME_RUNTIME_H

#include "runtime/hal.h"
#include "runtime/model.h"

typedef struct hd_session hd_session;

/* `scheme` names the device for PROG steps; HOST steps run on golden. A GRAPH device runs the whole
 * graph. opt NULL = the model's machine and its default memory. Allocates everything that run
 * needs. */
hd_status hd_session_open(hd_ctx *ctx, const hd_model *m, const char *scheme,
                          const struct hd_device_options *opt, hd_session **out);
void hd_session_close(hd_session *s);

/* inputs[i], outputs[i]: dense, hd_value_dense_bytes() each, the caller's. */
hd_status hd_session_run(hd_ctx *ctx, hd_session *s, const void *const *inputs,
                         void *const *outputs);

/* Dense copy of any value of the model after a run; HD_UNSUPPORTED if it stayed on chip. */
hd_status hd_session_value(hd_ctx *ctx, hd_session *s, int value, void *out);

/* Counters of the last run, PROG steps added up (GRAPH devices: all zero). layers: model->n_layers
 * rows, the session's, valid until the next run. */
hd_status hd_session_counters(hd_ctx *ctx, hd_session *s, struct hd_counters *out);

#endif
