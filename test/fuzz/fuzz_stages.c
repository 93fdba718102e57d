/* Any text of layers, plan or operations (the first byte says which): is refused with a message, or
 * a program comes out of it. Read with the graph of a convolution, a pool and a sum on tiny. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/compiler.h"
#include "isa/isa.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int ok) {
    if (!ok) abort();
}

static int byte_tensor(hd_graph *g, const char *name) {
    return hd_graph_tensor(g, name, HD_I8, 4, (int64_t[]){1, 8, 8, 8});
}

static hd_graph *network(hd_ctx *ctx) {
    enum { TAPS = 8 * 8 * 3 * 3 };
    static int8_t w[TAPS];
    static const int32_t bias[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const float scale = 1.0f / 512;
    const int64_t three[2] = {3, 3}, pads[4] = {1, 1, 1, 1};
    for (int i = 0; i < TAPS; i++) w[i] = (int8_t)(i * 37);
    hd_graph *g = hd_graph_create();
    int x = byte_tensor(g, "x"), a = byte_tensor(g, "a"), p = byte_tensor(g, "p"),
        y = byte_tensor(g, "y");
    hd_graph_input(g, x);
    int in[4] = {x, hd_graph_const(g, "w", HD_I8, 4, (int64_t[]){8, 8, 3, 3}, w),
                 hd_graph_const(g, "b", HD_I32, 1, (int64_t[]){8}, bias),
                 hd_graph_const(g, "s", HD_F32, 1, (int64_t[]){1}, &scale)};
    int conv = hd_graph_node(g, HD_IR_qconv, "a", 4, in, 1, &a);
    hd_attr_set_ints(g, conv, "pads", 4, pads);
    int pool = hd_graph_node(g, HD_IR_qmaxpool, "p", 1, &a, 1, &p);
    hd_attr_set_ints(g, pool, "kernel_shape", 2, three);
    hd_attr_set_ints(g, pool, "pads", 4, pads);
    hd_graph_node(g, HD_IR_qadd, "y", 2, (int[]){a, p}, 1, &y);
    hd_graph_output(g, y);
    must(hd_graph_infer(ctx, g) == HD_OK);
    return g;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    hd_ctx *ctx = hd_ctx_create();
    hd_arena *a = hd_arena_create();
    hd_graph *g = network(ctx);
    struct hd_compile_options o = {.latency_hiding = true};
    struct hd_stage_text *const text[] = {&o.layers, &o.plan, &o.ops};
    hd_model *m = NULL;
    must(hd_machine_load(ctx, "tiny", &o.machine) == HD_OK);
    if (size && !memchr(data, 0, size))
        *text[*data % 3] =
            (struct hd_stage_text){hd_strndup(a, (const char *)data + 1, size - 1), "text"};
    if (hd_lower(ctx, g, &o, &m) != HD_OK)
        must(*hd_message(ctx));
    else
        hd_model_destroy(m);
    hd_graph_destroy(g);
    hd_arena_destroy(a);
    hd_ctx_destroy(ctx);
    return 0;
}
