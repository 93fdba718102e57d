/* A model as a .c/.h pair: image and steps. The register sequence is that of sim/mach_dev.c. */
#include "compiler/emit/bundle.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { WATCHDOG = 1000000, LIST_BYTES = 600 };

void hd_bundle_put(struct hd_buf *b, const char *fmt, ...) {
    char line[4096];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    HD_ASSERT(n >= 0 && (size_t)n < sizeof line); /* texts of this folder, names cut below */
    hd_buf_put(b, line, (size_t)n);
}

const char *hd_bundle_type(hd_dtype t) {
    switch (t) {
    case HD_F32:
        return "float";
    case HD_U8:
        return "uint8_t";
    case HD_I8:
        return "int8_t";
    case HD_U16:
        return "uint16_t";
    case HD_I16:
        return "int16_t";
    case HD_I32:
        return "int32_t";
    default:
        return NULL;
    }
}

/* ---- what can be written -------------------------------------------------------------------- */

static hd_status check_host(hd_ctx *ctx, const hd_model *m, const hd_graph *g) {
    char list[LIST_BYTES] = "";
    int n = 0;
    for (int i = 0; i < m->n_steps; i++)
        for (int k = 0; m->steps[i].kind == HD_STEP_HOST && k < m->steps[i].n_nodes; k++) {
            int id = m->steps[i].nodes[k];
            if (id < 0 || (size_t)id >= g->n_nodes)
                return hd_fail(ctx, HD_INVALID, "%s: step %d names node %d, the graph has %zu",
                               m->name, i, id, g->n_nodes);
            const struct hd_node *nd = &g->nodes[id];
            if (hd_bundle_has(g, nd)) continue;
            size_t at = strlen(list);
            if (n++ < 6)
                snprintf(list + at, sizeof list - at, "\n  %.60s (%s)", nd->name,
                         hd_ir_ops[nd->op].name);
        }
    if (!n) return HD_OK;
    return hd_fail(
        ctx, HD_UNSUPPORTED,
        "%s: %d operations that stay on the host are not written as C (quantize, "
        "dequantize, softmax, relu, reshape, transpose are):%s%s\n  cut them off the "
        "network and compute them in the program, quantise them so that the machine "
        "runs them (heddle compile lists the reasons), or run the .hdl with libheddle_rt",
        m->name, n, list, n > 6 ? "\n  ..." : "");
}

static hd_status check_values(hd_ctx *ctx, const hd_model *m, const hd_graph *g) {
    for (int i = 0; i < m->n_values; i++) {
        const struct hd_value_info *v = &m->values[i];
        if ((size_t)v->tensor >= g->n_tensors || !g->tensors[v->tensor].known)
            return hd_fail(ctx, HD_INVALID, "%s: value %s is not a tensor of its graph", m->name,
                           v->name);
        if (v->layout != HD_LAYOUT_DENSE && v->elem_bytes == 2)
            return hd_fail(ctx, HD_UNSUPPORTED,
                           "%s: %s is int16 on the machine, which C source does not pack; run the "
                           ".hdl with libheddle_rt",
                           m->name, v->name);
        if (!hd_bundle_type(g->tensors[v->tensor].dtype))
            return hd_fail(ctx, HD_UNSUPPORTED,
                           "%s: %s has type %s; C source is written for f32, i32, and integers of "
                           "8 and 16 bits; run the .hdl with libheddle_rt",
                           m->name, v->name, hd_dtype_name(g->tensors[v->tensor].dtype));
    }
    return HD_OK;
}

static hd_status check_outputs(hd_ctx *ctx, const hd_model *m, const hd_graph *g) {
    for (int i = 0; i < m->n_outputs; i++)
        if (g->tensors[m->values[m->outputs[i]].tensor].data)
            return hd_fail(ctx, HD_UNSUPPORTED,
                           "%s: output %s is a constant, which C source does not hold; take it off "
                           "the network's outputs",
                           m->name, m->values[m->outputs[i]].name);
    return HD_OK;
}

/* ---- names ---------------------------------------------------------------------------------- */

/* in0_image: the index makes it unique. */
static const char *parameter(hd_arena *a, const char *kind, int i, const char *name) {
    char *s = hd_sprintf(a, "%s%d_%.40s", kind, i, name);
    for (char *p = s; *p; p++)
        if (!((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9')))
            *p = '_';
    return s;
}

static const char *input(const struct hd_bundle *x, int i) {
    return parameter(x->a, "in", i, x->m->values[x->m->inputs[i]].name);
}
static const char *output(const struct hd_bundle *x, int i) {
    return parameter(x->a, "out", i, x->m->values[x->m->outputs[i]].name);
}

/* Every tensor that is no input or output gets a member of the struct. */
static void place(struct hd_bundle *x, int tensor, struct hd_buf *members) {
    const struct hd_tensor *t = &x->g->tensors[tensor];
    if (x->place[tensor] || t->data) return;
    x->place[tensor] = hd_sprintf(x->a, "n->t%d", tensor);
    int64_t n = hd_tensor_elems(t);
    hd_bundle_put(members, "    %s t%d[%lld];\n", hd_bundle_type(t->dtype), tensor,
                  (long long)(n > 0 ? n : 1));
}

static void place_all(struct hd_bundle *x, struct hd_buf *members) {
    const hd_model *m = x->m;
    for (int i = 0; i < m->n_inputs; i++) x->place[m->values[m->inputs[i]].tensor] = input(x, i);
    for (int i = 0; i < m->n_outputs; i++) {
        int t = m->values[m->outputs[i]].tensor;
        if (!x->place[t]) x->place[t] = output(x, i);
    }
    for (int i = 0; i < m->n_steps; i++) {
        const struct hd_step *s = &m->steps[i];
        for (int k = 0; k < s->n_inputs; k++) place(x, m->values[s->inputs[k]].tensor, members);
        for (int k = 0; k < s->n_outputs; k++) place(x, m->values[s->outputs[k]].tensor, members);
        for (int k = 0; s->kind == HD_STEP_HOST && k < s->n_nodes; k++)
            place(x, x->g->nodes[s->nodes[k]].out[0], members);
    }
}

/* const float in0_image[64], float out0_logits[10] */
static void put_parameters(struct hd_buf *b, const struct hd_bundle *x) {
    const hd_model *m = x->m;
    for (int i = 0; i < m->n_inputs + m->n_outputs; i++) {
        bool is_in = i < m->n_inputs;
        int v = is_in ? m->inputs[i] : m->outputs[i - m->n_inputs];
        const struct hd_tensor *t = &x->g->tensors[m->values[v].tensor];
        int64_t n = hd_tensor_elems(t);
        hd_bundle_put(b, ",\n    %s%s %s[%lld]", is_in ? "const " : "", hd_bundle_type(t->dtype),
                      is_in ? input(x, i) : output(x, i - m->n_inputs), (long long)(n > 0 ? n : 1));
    }
}

/* ---- header --------------------------------------------------------------------------------- */

static void put_header(struct hd_buf *b, const struct hd_bundle *x, const char *name,
                       const struct hd_buf *members) {
    const hd_model *m = x->m;
    hd_bundle_put(b,
                  "/* %s, compiled by heddle for machine %.31s (0x%08" PRIx32
                  "), instruction set 0x%08" PRIx32 ". Generated; do not edit.\n *\n",
                  name, m->machine.name, m->machine_hash, m->isa_hash);
    hd_bundle_put(b,
                  " *     static struct %s net;\n"
                  " *     const char *error = %s_open(&net, &board);\n"
                  " *     if (!error) error = %s_run(&net",
                  name, name, name);
    for (int i = 0; i < m->n_inputs; i++) hd_bundle_put(b, ", %s", input(x, i));
    for (int i = 0; i < m->n_outputs; i++) hd_bundle_put(b, ", %s", output(x, i));
    hd_bundle_put(b,
                  ");\n *     if (error) puts(error);\n *\n"
                  " * Arrays are dense and row-major. One struct serves one caller at a time. */\n"
                  "#ifndef HEDDLE_BUNDLE_%s\n#define HEDDLE_BUNDLE_%s\n\n"
                  "#include <stddef.h>\n#include <stdint.h>\n\n",
                  name, name);
    hd_bundle_put(
        b,
        "#ifndef HEDDLE_BOARD\n#define HEDDLE_BOARD\n"
        "/* What the board has to offer: registers of the kernel and DRAM that both reach. */\n"
        "struct heddle_board {\n"
        "    void *user; /* first argument of each */\n"
        "    uint32_t (*read)(void *user, uint32_t offset);\n"
        "    void (*write)(void *user, uint32_t offset, uint32_t value);\n"
        "    /* Memory, aligned to 4096, and its address on the machine's bus; NULL = none. */\n"
        "    void *(*memory)(void *user, size_t bytes, uint64_t *out_address);\n"
        "    void (*to_machine)(void *user, void *p, size_t bytes);   /* flush caches, or copy */\n"
        "    void (*from_machine)(void *user, void *p, size_t bytes); /* invalidate, or copy */\n"
        "    /* Between looks at the done bit: an interrupt, a nap, nothing. Not 0: give up. */\n"
        "    int (*wait)(void *user);\n};\n#endif\n\n");
    hd_bundle_put(b,
                  "struct %s { /* private */\n    const struct heddle_board *board;\n"
                  "    unsigned char *image, *arena;\n    uint64_t image_address, arena_address, "
                  "cycles;\n    char error[96];\n",
                  name);
    if (members->n) hd_buf_put(b, members->data, members->n);
    hd_bundle_put(b,
                  "};\n\n/* NULL, or what went wrong. */\n"
                  "const char *%s_open(struct %s *n, const struct heddle_board *board);\n"
                  "const char *%s_run(struct %s *n",
                  name, name, name, name);
    put_parameters(b, x);
    hd_bundle_put(b, ");\n\n#endif\n");
}

/* ---- source --------------------------------------------------------------------------------- */

static void put_image(struct hd_buf *b, const hd_model *m) {
    const unsigned char *p = m->image;
    hd_bundle_put(b, "static const unsigned char image[%zu] = {", m->image_bytes + !m->image_bytes);
    for (size_t i = 0, column = 100; i < m->image_bytes; i++) {
        char text[8];
        int n = snprintf(text, sizeof text, "%d,", p[i]);
        if (column + (size_t)n > 98) {
            hd_bundle_put(b, "\n    ");
            column = 4;
        }
        hd_buf_put(b, text, (size_t)n);
        column += (size_t)n;
    }
    hd_bundle_put(b, "\n};\n\n");
}

static void put_open(struct hd_buf *b, const struct hd_bundle *x, const char *name) {
    const hd_model *m = x->m;
    hd_bundle_put(
        b,
        "static void write64(struct %s *n, uint32_t offset, uint64_t v) {\n"
        "    n->board->write(n->board->user, offset, (uint32_t)v);\n"
        "    n->board->write(n->board->user, offset + 4, (uint32_t)(v >> 32));\n}\n\n"
        "const char *%s_open(struct %s *n, const struct heddle_board *board) {\n"
        "    memset(n, 0, sizeof *n);\n    n->board = board;\n"
        "    uint32_t isa = board->read(board->user, 0x%x), machine = board->read(board->user, "
        "0x%x);\n"
        "    if (isa != 0x%08" PRIx32 " || machine != 0x%08" PRIx32 ") {\n"
        "        snprintf(n->error, sizeof n->error,\n"
        "                 \"kernel 0x%%08lx, instruction set 0x%%08lx; compile for that "
        "machine\",\n"
        "                 (unsigned long)machine, (unsigned long)isa);\n"
        "        return n->error;\n    }\n",
        name, name, name, HD_REG_isa_hash, HD_REG_machine_hash, m->isa_hash, m->machine_hash);
    hd_bundle_put(b,
                  "    n->image = board->memory(board->user, sizeof image, &n->image_address);\n"
                  "    n->arena = board->memory(board->user, %" PRIu64 "u, &n->arena_address);\n"
                  "    if (!n->image || !n->arena) return \"the board has no memory for image and "
                  "arena\";\n"
                  "    memcpy(n->image, image, sizeof image);\n"
                  "    memset(n->arena, 0, %" PRIu64 "u);\n"
                  "    board->to_machine(board->user, n->image, sizeof image);\n"
                  "    board->to_machine(board->user, n->arena, %" PRIu64 "u);\n"
                  "    return NULL;\n}\n\n",
                  m->arena_bytes + !m->arena_bytes, m->arena_bytes + !m->arena_bytes,
                  m->arena_bytes + !m->arena_bytes);
}

static void put_program(struct hd_buf *b, const struct hd_bundle *x, const char *name) {
    const hd_model *m = x->m;
    hd_bundle_put(b,
                  "/* Runs the program at code_offset of the image to its end. */\n"
                  "static const char *program(struct %s *n, uint32_t code_offset) {\n"
                  "    const struct heddle_board *board = n->board;\n"
                  "    write64(n, 0x%x, n->image_address);\n    write64(n, 0x%x, "
                  "n->arena_address);\n"
                  "    board->write(board->user, 0x%x, sizeof image);\n"
                  "    board->write(board->user, 0x%x, %" PRIu64 "u);\n"
                  "    board->write(board->user, 0x%x, code_offset);\n"
                  "    board->write(board->user, 0x%x, %du); /* cycles without progress */\n"
                  "    board->write(board->user, 0x%x, %du); /* 256 cycles in all */\n"
                  "    board->write(board->user, 0x%x, 1);\n",
                  name, HD_REG_image_ptr, HD_REG_arena_ptr, HD_REG_image_bytes, HD_REG_arena_bytes,
                  m->arena_bytes, HD_REG_code_offset, HD_REG_watchdog, WATCHDOG, HD_REG_cycle_limit,
                  HD_DEFAULT_cycle_limit, HD_REG_ap_ctrl);
    hd_bundle_put(b,
                  "    while (!(board->read(board->user, 0x%x) & 2)) /* done */\n"
                  "        if (board->wait(board->user)) {\n"
                  "            board->write(board->user, 0x%x, 1); /* soft reset */\n"
                  "            return \"the machine was not done in time\";\n        }\n"
                  "    uint32_t error = board->read(board->user, 0x%x);\n"
                  "    n->cycles += board->read(board->user, 0x%x);\n"
                  "    n->cycles += (uint64_t)board->read(board->user, 0x%x) << 32;\n"
                  "    if (!error) return NULL;\n"
                  "    snprintf(n->error, sizeof n->error, \"machine error %%lu, unit %%lu, word "
                  "%%lu of the program\",\n"
                  "             (unsigned long)error, (unsigned long)board->read(board->user, "
                  "0x%x),\n"
                  "             (unsigned long)board->read(board->user, 0x%x));\n"
                  "    return n->error;\n}\n\n",
                  HD_REG_ap_ctrl, HD_REG_soft_reset, HD_REG_error, HD_REG_cycles, HD_REG_cycles + 4,
                  HD_REG_error_unit, HD_REG_error_pc);
}

static void put_layout(struct hd_buf *b) {
    hd_bundle_put(
        b, "/* [n][c][pixels] and the machine's [n][pixels][c_pad]. */\n"
           "static void pack(unsigned char *to, const unsigned char *from, size_t n, size_t c, "
           "size_t pixels,\n                 size_t c_pad) {\n"
           "    memset(to, 0, n * pixels * c_pad);\n"
           "    for (size_t i = 0; i < n; i++)\n        for (size_t k = 0; k < c; k++)\n"
           "            for (size_t p = 0; p < pixels; p++)\n"
           "                to[(i * pixels + p) * c_pad + k] = from[(i * c + k) * pixels + p];\n}\n"
           "static void unpack(unsigned char *to, const unsigned char *from, size_t n, size_t c, "
           "size_t pixels,\n                   size_t c_pad) {\n"
           "    for (size_t i = 0; i < n; i++)\n        for (size_t k = 0; k < c; k++)\n"
           "            for (size_t p = 0; p < pixels; p++)\n"
           "                to[(i * c + k) * pixels + p] = from[(i * pixels + p) * c_pad + k];\n}\n"
           "\n");
}

/* Moves a value between its place and the arena. */
static void put_move(struct hd_buf *b, const struct hd_bundle *x, int value, bool to_machine) {
    const struct hd_value_info *v = &x->m->values[value];
    const struct hd_tensor *t = &x->g->tensors[v->tensor];
    size_t bytes = hd_value_arena_bytes(v);
    const char *host = x->place[v->tensor];
    char arena[64];
    snprintf(arena, sizeof arena, "n->arena + %" PRIu64 "u", v->arena_offset);
    if (t->data) host = NULL; /* constants do not move */
    if (!host) return;
    if (!to_machine)
        hd_bundle_put(b, "    board->from_machine(board->user, %s, %zuu);\n", arena, bytes);
    if (v->layout == HD_LAYOUT_DENSE) {
        hd_bundle_put(b, "    memcpy(%s, %s, %zuu);\n", to_machine ? arena : host,
                      to_machine ? host : arena, bytes);
    } else {
        struct hd_value_image i = hd_value_image(v);
        hd_bundle_put(b, "    %s(%s%s, (const unsigned char *)%s, %lldu, %lldu, %lldu, %lldu);\n",
                      to_machine ? "pack" : "unpack", to_machine ? "" : "(unsigned char *)",
                      to_machine ? arena : host, to_machine ? host : arena, (long long)i.n,
                      (long long)i.c, (long long)i.pixels, (long long)i.c_pad);
    }
    if (to_machine)
        hd_bundle_put(b, "    board->to_machine(board->user, %s, %zuu);\n", arena, bytes);
}

static void put_host_step(struct hd_buf *b, const struct hd_bundle *x, const struct hd_step *s) {
    int *order = hd_new_array(x->a, int, x->g->n_nodes + 1);
    size_t n = hd_graph_order(x->g, order);
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < s->n_nodes; k++)
            if (s->nodes[k] == order[i]) hd_bundle_node(b, x, &x->g->nodes[order[i]]);
}

static void put_run(struct hd_buf *b, const struct hd_bundle *x, const char *name) {
    const hd_model *m = x->m;
    hd_bundle_put(b, "const char *%s_run(struct %s *n", name, name);
    put_parameters(b, x);
    hd_bundle_put(b, ") {\n    const struct heddle_board *board = n->board;\n"
                     "    const char *error = NULL;\n    (void)board;\n    n->cycles = 0;\n");
    for (int i = 0; i < m->n_steps; i++) {
        const struct hd_step *s = &m->steps[i];
        if (s->kind == HD_STEP_HOST) {
            put_host_step(b, x, s);
            continue;
        }
        for (int k = 0; k < s->n_inputs; k++) put_move(b, x, s->inputs[k], true);
        hd_bundle_put(b, "    error = program(n, %" PRIu32 "u);\n    if (error) return error;\n",
                      s->code_offset);
        for (int k = 0; k < s->n_outputs; k++) put_move(b, x, s->outputs[k], false);
    }
    for (int i = 0; i < m->n_outputs; i++) { /* an output that is an input or stands twice */
        int t = m->values[m->outputs[i]].tensor;
        const char *to = output(x, i);
        if (strcmp(x->place[t], to))
            hd_bundle_put(b, "    memcpy(%s, %s, %zuu);\n", to, x->place[t],
                          hd_tensor_bytes(&x->g->tensors[t]));
    }
    hd_bundle_put(b, "    return error;\n}\n");
}

static bool has(const hd_model *m, bool nhwc) {
    for (int i = 0; i < m->n_steps; i++) {
        if (m->steps[i].kind != HD_STEP_PROG) continue;
        if (!nhwc) return true;
        for (int k = 0; k < m->steps[i].n_inputs; k++)
            if (m->values[m->steps[i].inputs[k]].layout != HD_LAYOUT_DENSE) return true;
        for (int k = 0; k < m->steps[i].n_outputs; k++)
            if (m->values[m->steps[i].outputs[k]].layout != HD_LAYOUT_DENSE) return true;
    }
    return false;
}

static void put_source(struct hd_buf *b, const struct hd_bundle *x, const char *name) {
    hd_bundle_put(b,
                  "/* Generated by heddle; do not edit. */\n#include \"%s.h\"\n\n"
                  "#include <math.h>\n#include <stdio.h>\n#include <string.h>\n\n",
                  name);
    put_image(b, x->m);
    put_open(b, x, name);
    put_program(b, x, name);
    if (has(x->m, true)) put_layout(b);
    hd_bundle_helpers(b, x);
    put_run(b, x, name);
}

hd_status hd_emit_bundle(hd_ctx *ctx, const hd_model *m, const char *name, struct hd_buf *c,
                         struct hd_buf *h) {
    hd_graph *g = NULL;
    struct hd_buf members = {0};
    if (!has(m, false))
        return hd_fail(ctx, HD_UNSUPPORTED,
                       "%s: nothing of it runs on the machine, so there is no program to write; "
                       "quantise it first (docs/numerics.md)",
                       m->name);
    TRY(hd_graph_load(ctx, m->graph, m->graph_bytes, &g));
    hd_status s = check_host(ctx, m, g);
    if (s == HD_OK) s = check_values(ctx, m, g);
    if (s == HD_OK) s = check_outputs(ctx, m, g);
    if (s == HD_OK) {
        struct hd_bundle x = {.m = m, .g = g, .a = hd_arena_create()};
        x.place = hd_new_array(x.a, const char *, g->n_tensors + 1);
        place_all(&x, &members);
        put_header(h, &x, name, &members);
        put_source(c, &x, name);
        hd_arena_destroy(x.a);
    }
    hd_buf_free(&members);
    hd_graph_destroy(g);
    return s;
}
