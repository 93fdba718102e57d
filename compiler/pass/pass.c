/* Passes by name, and legalisation as their sequence. */
#include "compiler/pass/pass.h"

#include <string.h>

#include "compiler/compiler.h"
#include "compiler/pass/pattern.h"

const char *const hd_pass_names[] = {"axes",      "fold",      "cse",       "simplify", "sink",
                                     "batchnorm", "norm",      "attention", "qdq",      "dce",
                                     "split",     "recurrent", "legalize",  NULL};

static hd_status run(hd_ctx *ctx, hd_graph *g, const char *name) {
    char allowed[128] = "";
    if (!strcmp(name, "axes")) return hd_axes_lower(ctx, g);
    if (!strcmp(name, "fold")) return hd_pass_fold(ctx, g);
    if (!strcmp(name, "qdq")) return hd_pass_qdq(ctx, g);
    if (!strcmp(name, "split")) return hd_pass_split(ctx, g);
    if (!strcmp(name, "recurrent")) return hd_pass_recurrent(ctx, g);
    if (!strcmp(name, "cse") || !strcmp(name, "dce")) {
        *name == 'c' ? hd_pass_cse(g) : hd_pass_dce(g);
        return HD_OK;
    }
    for (size_t i = 0; hd_pass_names[i]; i++) {
        if (hd_pass_has_patterns(name)) return hd_pass_patterns(ctx, g, name);
        if (i) strcat(allowed, ", ");
        strcat(allowed, hd_pass_names[i]);
    }
    if (strcmp(name, "legalize"))
        return hd_fail(ctx, HD_INVALID, "no pass '%s', allowed %s", name, allowed);
    static const char *const sequence[] = {"axes",     "fold", "recurrent", "norm", "qdq",
                                           "simplify", "norm", "cse",       "fold"};
    for (size_t i = 0; i < sizeof sequence / sizeof *sequence; i++)
        TRY(hd_pass_run(ctx, g, sequence[i]));
    return HD_OK;
}

hd_status hd_pass_run(hd_ctx *ctx, hd_graph *g, const char *name) {
    TRY(hd_note(ctx, run(ctx, g, name), "in pass %s", name));
    return hd_note(ctx, hd_graph_verify(ctx, g), "after pass %s", name);
}

hd_status hd_legalize(hd_ctx *ctx, hd_graph *g) {
    return hd_pass_run(ctx, g, "legalize");
}
