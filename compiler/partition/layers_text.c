/* Layers -> text -> layers.
 *
 * What partition chose is written and read: the nodes that it left to the host although the machine
 * could run them, and how many bytes a pixel of each tensor takes. Everything else follows from
 * graph, machine and these choices. So layers are made again when a text is read, packed constants
 * and what is private to a kind included, and what the text says of them is compared.
 */
#include "compiler/partition/layers_text.h"

#include <string.h>

#include "compiler/layer/kind.h"
#include "runtime/base/fields.h"

#define LAYER(type, name) HD_MEMBER(struct hd_layer, type, name)
static const struct hd_member layer[] = {
    LAYER(int, step),     LAYER(int, kh),        LAYER(int, kw),
    LAYER(int, sy),       LAYER(int, sx),        LAYER(int, dy),
    LAYER(int, dx),       LAYER(int, pt),        LAYER(int, pl),
    LAYER(int, oh),       LAYER(int, ow),        LAYER(int, oc),
    LAYER(int, uy),       LAYER(int, ux),        LAYER(int, planes),
    LAYER(int, taps),     LAYER(int, pad_value), LAYER(int, groups),
    LAYER(int, cw),       LAYER(int, nts),       LAYER(int, red),
    LAYER(int, ppw),      LAYER(int, shift),     LAYER(int, im2col),
    LAYER(int, pm_words), LAYER(int, pm_cut),    LAYER(int32_t, a_imm),
    LAYER(int32_t, y.zp), LAYER(int32_t, y.lo),  LAYER(int32_t, y.hi),
    LAYER(bool, y.table), LAYER(float, a_scale), LAYER(int64_t, weight_bytes),
    LAYER(bool, turned),  LAYER(bool, down),
};
#define TENSOR(type, name) HD_MEMBER(struct hd_mtensor, type, name)
static const struct hd_member tensor[] = {
    TENSOR(int, n),
    TENSOR(int, h),
    TENSOR(int, w),
    TENSOR(int, c),
    TENSOR(int, cp),
    TENSOR(bool, gathered),
    TENSOR(int, bytes),
    TENSOR(int, at_c),
    TENSOR(int, at_row),
    TENSOR(int, at_img),
    TENSOR(bool, has_parts),
    TENSOR(bool, kept),
    TENSOR(bool, rows),
    TENSOR(bool, is_unsigned),
    TENSOR(bool, constant),
    TENSOR(uint64_t, image_at),
    TENSOR(bool, f32),
    TENSOR(int, pad_value),
    TENSOR(bool, pads_agree),
    TENSOR(int, pt),
    TENSOR(int, pb),
    TENSOR(int, pl),
    TENSOR(int, pr),
    TENSOR(bool, comes_in),
    TENSOR(bool, goes_out),
    TENSOR(bool, read_from_dram),
    TENSOR(bool, never_resident),
    TENSOR(int, overrun),
    TENSOR(int, word_rows),
    TENSOR(bool, words_by_reader),
};
struct whole {
    uint32_t steps, layers, tensors;
};
static const struct hd_member whole[] = {HD_MEMBER(struct whole, uint32_t, steps),
                                         HD_MEMBER(struct whole, uint32_t, layers),
                                         HD_MEMBER(struct whole, uint32_t, tensors)};

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))

static struct whole whole_of(const struct hd_lowering *lo) {
    return (struct whole){.steps = (uint32_t)lo->model->n_steps,
                          .layers = (uint32_t)lo->n_layers,
                          .tensors = (uint32_t)lo->n_tensors};
}

static const char *layer_name(const struct hd_lowering *lo, size_t i) {
    return lo->g->nodes[lo->layers[i].node].name;
}

static const char *tensor_name(const struct hd_lowering *lo, size_t i) {
    return lo->g->tensors[lo->tensors[i].tensor].name;
}

/* ---- printing ---- */

static void print_layer(const struct hd_lowering *lo, size_t i, FILE *f) {
    const struct hd_layer *l = &lo->layers[i];
    fprintf(f, "# %s: %s\nlayer %zu ", hd_ir_ops[lo->g->nodes[l->node].op].name,
            l->kind->expression, i);
    hd_word_print(f, layer_name(lo, i));
    fprintf(f, " %s", l->kind->name);
    for (int k = 0; k < HD_LAYER_INPUTS && l->in[k] >= 0; k++) fprintf(f, " %d", l->in[k]);
    fprintf(f, " -> %d", l->out);
    if (l->state >= 0) fprintf(f, " %d", l->state);
    hd_members_print(f, layer, COUNT(layer), l);
    fputc('\n', f);
}

static void print_tensor(const struct hd_lowering *lo, size_t i, FILE *f) {
    const struct hd_mtensor *t = &lo->tensors[i];
    fprintf(f, "tensor %zu ", i);
    hd_word_print(f, tensor_name(lo, i));
    if (t->base >= 0) fprintf(f, " in %d", t->base);
    hd_members_print(f, tensor, COUNT(tensor), t);
    fputc('\n', f);
}

static void print_host(const struct hd_lowering *lo, FILE *f) {
    hd_arena *a = hd_arena_create();
    for (size_t i = 0; i < lo->g->n_nodes; i++) {
        const char *large = hd_refusal_text(&lo->too_big[i], a);
        if (lo->g->nodes[i].dead || (!large && !lo->left[i])) continue;
        fputs("host ", f);
        hd_word_print(f, lo->g->nodes[i].name);
        fprintf(f, " %s %s\n", large ? "large" : "costly", large ? large : lo->left[i]);
    }
    hd_arena_destroy(a);
}

void hd_layers_print(const struct hd_lowering *lo, FILE *out) {
    const struct hd_name_list *only = &lo->opt->dump_only;
    struct whole all = whole_of(lo);
    fprintf(out, "# %s on %s\nlayers", lo->model->name, lo->m->name);
    hd_members_print(out, whole, COUNT(whole), &all);
    fputc('\n', out);
    print_host(lo, out);
    for (size_t i = 0; i < lo->n_layers; i++)
        if (!only->n || hd_name_listed(only, layer_name(lo, i))) print_layer(lo, i, out);
    for (size_t i = 0; i < lo->n_tensors; i++)
        if (!only->n) print_tensor(lo, i, out);
}

/* ---- reading ---- */

struct reader {
    struct hd_lines r;
    const struct hd_lowering *lo;
    const char **layer, **tensor; /* names */
    bool *layers, *tensors;       /* that are there */
    bool whole;                   /* all of them have to be */
};

static hd_status parse_host(struct hd_lines *r, struct hd_lowering *lo) {
    hd_arena *a = lo->model->arena;
    const char *name;
    TRY(hd_lines_name(r, a, &name));
    int node = hd_node_by_name(lo->g, name);
    if (node < 0)
        return hd_fail(lo->ctx, HD_MISMATCH,
                       "%s:%d: no node '%s': the layers are of another network", r->file, r->line,
                       name);
    bool large = hd_lines_accept(r, "large");
    if (!large && !hd_lines_accept(r, "costly")) return hd_lines_fail(r, "large or costly");
    r->p += strspn(r->p, " ");
    const char *why = hd_strndup(a, r->p, strcspn(r->p, "\n"));
    if (large)
        lo->too_big[node] = (struct hd_refusal){.why = HD_REFUSAL_said, .said = why};
    else
        lo->left[node] = why;
    return HD_OK;
}

/* Only what a pixel takes; the rest is for hd_layers_check(). */
static hd_status parse_pixel(struct hd_lines *r, struct hd_lowering *lo) {
    struct hd_mtensor t = {0};
    int64_t number;
    const char *name;
    TRY(hd_lines_integer(r, 0, INT32_MAX, &number));
    TRY(hd_lines_name(r, lo->model->arena, &name));
    if (hd_lines_accept(r, "in")) TRY(hd_lines_integer(r, 0, INT32_MAX, &number));
    TRY(hd_lines_members(r, tensor, COUNT(tensor), &t));
    for (size_t i = 0; i < lo->g->n_tensors; i++)
        if (!strcmp(lo->g->tensors[i].name, name))
            lo->pixels[i] = (struct hd_pixels){t.cp, t.gathered};
    return HD_OK;
}

hd_status hd_layers_parse_choices(struct hd_lowering *lo, const char *text, const char *file) {
    struct hd_lines r = {lo->ctx, text, file, 0};
    while (hd_lines_next(&r)) {
        if (hd_lines_accept(&r, "host"))
            TRY(parse_host(&r, lo));
        else if (hd_lines_accept(&r, "tensor"))
            TRY(parse_pixel(&r, lo));
        r.p += strcspn(r.p, "\n");
    }
    return HD_OK;
}

/* ---- checking ---- */

/* Members that are read are those of `made`. */
static hd_status compare(struct reader *s, const char *what, const size_t *number,
                         const struct hd_member *m, int n, void *read, const void *made) {
    TRY(hd_lines_members(&s->r, m, n, read));
    const struct hd_member *other = hd_members_differ(m, n, read, made);
    if (!other) return HD_OK;
    char got[32], want[32], which[24] = "";
    if (number) snprintf(which, sizeof which, " %zu", *number);
    hd_member_text(other, read, got, sizeof got);
    hd_member_text(other, made, want, sizeof want);
    return hd_fail(s->r.ctx, HD_MISMATCH,
                   "%s:%d: %s%s: %s is %s, want %s, which follows from the graph and the choices",
                   s->r.file, s->r.line, what, which, other->name, got, want);
}

static hd_status expect(struct reader *s, int want) {
    int64_t got;
    char text[32];
    snprintf(text, sizeof text, "%d", want);
    hd_lines_end(&s->r); /* blanks */
    const struct hd_lines at = s->r;
    if (hd_lines_integer(&s->r, want, want, &got) == HD_OK) return HD_OK;
    hd_clear(s->r.ctx);
    return hd_lines_fail(&at, text);
}

static hd_status expect_word(struct reader *s, const char *word) {
    return hd_lines_accept(&s->r, word) ? HD_OK : hd_lines_fail(&s->r, word);
}

static hd_status check_layer(struct reader *s) {
    struct hd_layer read = {0};
    size_t i = 0;
    TRY(hd_lines_which(&s->r, "layer", s->layer, s->lo->n_layers, s->layers, &i));
    const struct hd_layer *l = &s->lo->layers[i];
    TRY(expect_word(s, l->kind->name));
    for (int k = 0; k < HD_LAYER_INPUTS && l->in[k] >= 0; k++) TRY(expect(s, l->in[k]));
    TRY(expect_word(s, "->"));
    TRY(expect(s, l->out));
    if (l->state >= 0) TRY(expect(s, l->state));
    return compare(s, "layer", &i, layer, COUNT(layer), &read, l);
}

static hd_status check_tensor(struct reader *s) {
    struct hd_mtensor read = {0};
    size_t i = 0;
    TRY(hd_lines_which(&s->r, "tensor", s->tensor, s->lo->n_tensors, s->tensors, &i));
    const struct hd_mtensor *t = &s->lo->tensors[i];
    if (t->base >= 0) TRY(expect_word(s, "in"));
    if (t->base >= 0) TRY(expect(s, t->base));
    return compare(s, "tensor", &i, tensor, COUNT(tensor), &read, t);
}

/* Without numbers lines of layers and tensors may be missing: who changes a choice need not say
 * what follows from it. */
static hd_status check_whole(struct reader *s) {
    struct whole all = whole_of(s->lo), read = {0};
    s->whole = !hd_lines_end(&s->r);
    return s->whole ? compare(s, "layers", NULL, whole, COUNT(whole), &read, &all) : HD_OK;
}

static hd_status check_line(struct reader *s) {
    if (hd_lines_accept(&s->r, "layer")) return check_layer(s);
    if (hd_lines_accept(&s->r, "tensor")) return check_tensor(s);
    if (!hd_lines_accept(&s->r, "host")) return hd_lines_fail(&s->r, "host, layer or tensor");
    s->r.p += strcspn(s->r.p, "\n"); /* hd_layers_parse_choices */
    return HD_OK;
}

hd_status hd_layers_check(const struct hd_lowering *lo, const char *text, const char *file) {
    struct reader s = {.r = {lo->ctx, text, file, 0},
                       .lo = lo,
                       .layer = hd_layer_names(lo, lo->arena),
                       .tensor = hd_mtensor_names(lo, lo->arena),
                       .layers = hd_new_array(lo->arena, bool, lo->n_layers + 1),
                       .tensors = hd_new_array(lo->arena, bool, lo->n_tensors + 1)};
    if (!hd_lines_next(&s.r) || !hd_lines_accept(&s.r, "layers"))
        return hd_lines_fail(&s.r, "'layers', on the first line");
    TRY(check_whole(&s));
    while (hd_lines_next(&s.r)) TRY(check_line(&s));
    if (s.whole) TRY(hd_lines_all(&s.r, "layer", s.layers, lo->n_layers));
    return s.whole ? hd_lines_all(&s.r, "tensor", s.tensors, lo->n_tensors) : HD_OK;
}
