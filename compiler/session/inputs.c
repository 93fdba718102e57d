/* The inputs of a run: --inputs, the first data set beside the model where it has the sizes of
 * --shape, or random ones. */
#include "compiler/session/session.h"
#include "compiler/tensors/tensors.h"

hd_status hd_cmd_load_inputs(struct hd_cmd *c, hd_arena *a, const char *model_path,
                             struct hd_file_tensor **out, int *out_n, const char **out_what) {
    int n;
    *out_what = c->opt.inputs;
    *out_n = 0;
    if (!*out_what) {
        char **sets = hd_data_sets(a, model_path, &n);
        if (n) { /* some sets hold outputs only: their inputs are a formula elsewhere */
            TRY(hd_load_set(c->ctx, a, sets[0], "input", out, out_n));
            if (*out_n) *out_what = sets[0];
            return HD_OK;
        }
    }
    return *out_what ? hd_load_tensors(c->ctx, a, *out_what, out, out_n) : HD_OK;
}

hd_status hd_cmd_inputs(struct hd_cmd *c, hd_arena *a, const hd_model *m, const char *model_path,
                        const void ***out, const char **out_what) {
    struct hd_file_tensor *t;
    int n;
    TRY(hd_cmd_load_inputs(c, a, model_path, &t, &n, out_what));
    if (*out_what) {
        hd_status s = hd_note(c->ctx, hd_match_inputs(c->ctx, a, m, t, n, out), "in %s", *out_what);
        if (s == HD_OK || c->opt.inputs || !c->opt.import.shapes.n) return s;
        hd_clear(c->ctx); /* nobody asked for that data set */
        hd_warn(c->ctx, "warning: %s has not the sizes of --shape: inputs are random", *out_what);
    }
    *out_what = hd_sprintf(a, "random, seed %llu", (unsigned long long)c->opt.seed);
    return hd_random_inputs(c->ctx, a, m, c->opt.seed, out);
}
