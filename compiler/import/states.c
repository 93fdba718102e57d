/* State between runs: an output of the network becomes what an input is in the next run. The two
 * go to the ends of the lists, and the input begins with zero (compiler/ir/ir.h). */
#include <string.h>

#include "compiler/import/import.h"

/* Its number in the list, whose tensors have names; -1 = none. */
static int find(const hd_graph *g, const int *list, size_t n, const char *name) {
    for (size_t i = 0; i < n; i++)
        if (!strcmp(g->tensors[list[i]].name, name)) return (int)i;
    return -1;
}

static void move_to_end(int *list, size_t n, int i) {
    int id = list[i];
    memmove(list + i, list + i + 1, (n - (size_t)i - 1) * sizeof *list);
    list[n - 1] = id;
}

/* Open dimensions are named by the number of their input. */
static void renumber_open(hd_graph *g, int input) {
    int *open = hd_new_array(g->arena, int, (size_t)g->n_open + 1);
    for (int i = 0; i < g->n_open; i++) {
        int of = g->open[i] / HD_MAX_RANK, to = of;
        if (of == input) to = (int)g->n_inputs - 1;
        if (of > input) to = of - 1;
        open[i] = to * HD_MAX_RANK + g->open[i] % HD_MAX_RANK;
    }
    g->open = open;
}

/* The byte that stands for zero: the zero point of what reads it, where that is one. */
static uint8_t zero_of(const hd_graph *g, int tensor) {
    hd_dtype type = g->tensors[tensor].dtype;
    int user = -1;
    if (type != HD_I8 && type != HD_U8) return 0;
    if (!hd_graph_users(g, tensor, &user, 1) || g->nodes[user].op != HD_IR_dequantize) return 0;
    const struct hd_node *n = &g->nodes[user];
    const struct hd_tensor *z = n->n_in > 2 && n->in[2] >= 0 ? &g->tensors[n->in[2]] : NULL;
    return z && z->data && z->dtype == type && hd_tensor_elems(z) == 1 ? *(const uint8_t *)z->data
                                                                       : 0;
}

static bool same_type(const struct hd_tensor *a, const struct hd_tensor *b) {
    bool same = a->known && b->known && a->dtype == b->dtype && a->rank == b->rank;
    for (int i = 0; same && i < a->rank; i++) same = a->dim[i] == b->dim[i];
    return same;
}

static hd_status none_such(hd_ctx *ctx, const hd_graph *g, const char *text, const char *what,
                           const char *name, const int *list, size_t n) {
    hd_arena *a = hd_arena_create();
    const char *names = "";
    for (size_t i = 0; i < n; i++)
        names = hd_sprintf(a, "%s%s%s", names, i ? ", " : "", g->tensors[list[i]].name);
    hd_status s = hd_fail(ctx, HD_INVALID, "state '%s': no %s '%s', there %s %s", text, what, name,
                          n == 1 ? "is" : "are", n ? names : "none");
    hd_arena_destroy(a);
    return s;
}

hd_status hd_import_state(hd_ctx *ctx, hd_graph *g, const char *text) {
    char shape[2][HD_SHAPE_TEXT];
    const char *equals = strchr(text, '=');
    if (!equals)
        return hd_fail(ctx, HD_INVALID, "state '%s': want OUTPUT=INPUT, two names of the network",
                       text);
    const char *from = hd_strndup(g->arena, text, (size_t)(equals - text)), *to = equals + 1;
    int in = find(g, g->inputs, g->n_inputs, to), out = find(g, g->outputs, g->n_outputs, from);
    if (out < 0) return none_such(ctx, g, text, "output", from, g->outputs, g->n_outputs);
    if (in < 0) return none_such(ctx, g, text, "input", to, g->inputs, g->n_inputs);
    struct hd_tensor *x = &g->tensors[g->inputs[in]];
    const struct hd_tensor *y = &g->tensors[g->outputs[out]];
    size_t states = hd_graph_n_states(g);
    if (x->initial || (size_t)out >= g->n_outputs - states)
        return hd_fail(ctx, HD_INVALID, "state '%s': %s is state already", text,
                       x->initial ? x->name : y->name);
    if (!same_type(x, y))
        return hd_fail(ctx, HD_UNSUPPORTED,
                       "state '%s': the output is %s, the input %s; a state keeps its type and "
                       "shape",
                       text, hd_shape_text(y, shape[0]), hd_shape_text(x, shape[1]));
    uint8_t *zero = hd_alloc(g->arena, hd_tensor_bytes(x) + 1);
    memset(zero, zero_of(g, g->inputs[in]), hd_tensor_bytes(x));
    x->initial = zero;
    renumber_open(g, in);
    move_to_end(g->inputs, g->n_inputs, in);
    move_to_end(g->outputs, g->n_outputs, out);
    return HD_OK;
}

hd_status hd_import_states(hd_ctx *ctx, hd_graph *g, const struct hd_bind *bind) {
    for (size_t i = 0; bind && i < bind->n_states; i++)
        TRY(hd_import_state(ctx, g, bind->states[i]));
    return HD_OK;
}
