/* MODEL arguments: the model behind one, a session on it, its inputs. */
#ifndef HD_SESSION_SESSION_H
#define HD_SESSION_SESSION_H

#include "compiler/command/command.h"
#include "compiler/compiler.h"
#include "compiler/tensors/tensors.h"
#include "runtime/runtime.h"

/* File behind a MODEL argument: itself, or the network in a folder. *out_path is the arena's. */
hd_status hd_model_path(struct hd_cmd *c, hd_arena *a, const char *arg, const char **out_path);
const char *hd_model_in(hd_arena *a, const char *folder); /* NULL = no network */
bool hd_is_hdl(const char *path);                         /* a compiled model */
/* A model that benchmarks know by its folder: in $HEDDLE_MODELS or ../shared/models, else in
 * build/models, where those go that are made here. It need not be there. The arena's. */
const char *hd_stored_model(hd_arena *a, const char *folder);
/* Compiles or loads MODEL, with --keep, --dump and --select. host_only as in hd_compile_options.
 * Open dimensions take their sizes from --shape, then from --inputs or the first data set beside
 * it. */
hd_status hd_open_model(struct hd_cmd *c, const char *path, bool host_only, hd_model **out);
/* The same for a network, with the tensors of one data set for the inputs. */
hd_status hd_open_model_for(struct hd_cmd *c, const char *path, bool host_only,
                            const struct hd_file_tensor *t, int n, hd_model **out);
/* The comparisons of one function that checks itself (hd_bind.check). */
hd_status hd_open_checks(struct hd_cmd *c, const char *path, bool host_only, int check,
                         hd_model **out);
/* The graph as written, its open dimensions sized in the same way. */
hd_status hd_cmd_import(struct hd_cmd *c, const char *path, hd_graph **out);
/* What hd_open_model sizes them with; n tensors, or those of --inputs or beside the model. */
hd_status hd_cmd_bind(struct hd_cmd *c, hd_arena *a, const struct hd_file_tensor *t, int n,
                      struct hd_bind *out);
hd_status hd_cmd_bind_inputs(struct hd_cmd *c, hd_arena *a, const char *path, struct hd_bind *out);
/* Devices that a network is placed on, from "A,B,..": each is here, at most one runs programs.
 * golden comes last where none runs graphs. Memory is a's. */
hd_status hd_list_devices(hd_ctx *ctx, hd_arena *a, const char *text, struct hd_device_list *out);
/* Products of the integer layers of a legal graph; 0: it has none, and wants quantising. */
double hd_integer_macs(const hd_graph *g);
/* `heddle quantize PATH -o OUT`, with data beside the network or random. */
hd_status hd_quantise(struct hd_cmd *c, const char *path, const char *out);
/* A session with the options of the command line on model->machine. */
hd_status hd_open_session(struct hd_cmd *c, const hd_model *m, const char *device,
                          hd_session **out);

/* Tensors of --inputs, else of the first data set beside the model, else none (*out_what = NULL).
 */
hd_status hd_cmd_load_inputs(struct hd_cmd *c, hd_arena *a, const char *model_path,
                             struct hd_file_tensor **out, int *out_n, const char **out_what);
/* From --inputs, or the first data set beside the model, or random from --seed. *out_what says
 * which. */
hd_status hd_cmd_inputs(struct hd_cmd *c, hd_arena *a, const hd_model *m, const char *model_path,
                        const void ***out, const char **out_what);

#endif
