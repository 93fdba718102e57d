/* stages MACHINE MODEL...: text of every stage, read back, gives the same program (make roundtrip).
 */
#include <stdio.h>

#include "compiler/session/session.h"
#include "test/stages/round_trip.h"

static hd_status one(hd_ctx *ctx, hd_arena *a, const char *machine, const char *path,
                     const char **out_skipped) {
    struct hd_compile_options o = {.latency_hiding = true};
    struct hd_cmd c = {.ctx = ctx};
    hd_graph *g = NULL;
    *out_skipped = NULL;
    TRY(hd_machine_load(ctx, machine, &o.machine));
    hd_status read = hd_cmd_bind_inputs(&c, a, path, &o.bind);
    if (read == HD_OK) read = hd_import(ctx, path, &o.bind, &g);
    if (read != HD_OK) {
        *out_skipped = hd_message(ctx);
        return HD_OK;
    }
    hd_status s = hd_legalize(ctx, g);
    if (s == HD_OK) s = hd_prepare(ctx, g);
    if (s == HD_OK) s = round_trip(ctx, g, &o);
    hd_graph_destroy(g);
    return s;
}

int main(int argc, char **argv) {
    int bad = argc < 3;
    if (bad) fprintf(stderr, "usage: %s MACHINE MODEL...\n", argv[0]);
    for (int i = 2; i < argc; i++) {
        hd_ctx *ctx = hd_ctx_create();
        const char *skipped = NULL;
        hd_arena *a = hd_arena_create();
        const char *in = hd_model_in(a, argv[i]);
        hd_status s = one(ctx, a, argv[1], in ? in : argv[i], &skipped);
        printf("%-7s %s %s%s%s\n",
               s != HD_OK ? "FAILED"
               : skipped  ? "left"
                          : "ok",
               argv[1], argv[i], s != HD_OK || skipped ? ": " : "",
               s != HD_OK ? hd_message(ctx)
               : skipped  ? skipped
                          : "");
        fflush(stdout);
        bad |= s != HD_OK;
        hd_arena_destroy(a);
        hd_ctx_destroy(ctx);
    }
    return bad;
}
