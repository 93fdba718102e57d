/* A picture of the network through Graphviz, coloured by what is asked for; repeated
 * blocks of big graphs are drawn once. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compiler/import/network.h"
#include "compiler/report/fold.h"
#include "compiler/report/picture.h"
#include "runtime/base/io.h"

enum { FOLD_FROM = 60, BIG = 400 }; /* operations */

static const char *const palette[] = {"#cfe3f7", "#f8d9b6", "#d5ecd4", "#e5d5f0", "#f6d1d1",
                                      "#fbf0c4", "#d0ecec", "#e4e4e4", "#f3d6e8", "#dfe6c8"};
enum { COLORS = sizeof palette / sizeof palette[0] };

struct picture {
    struct hd_cmd *c;
    hd_arena *a;
    const char *path, *color;
    const hd_graph *g; /* the one that is drawn */
    struct hd_op_items items;
    bool *outlined; /* per item: --select means it */
    int *ids, n;    /* items that are operations, in order */
    int *drawn;     /* per item: the item that stands for it */
    struct hd_block *blocks;
    int n_blocks;
    const char *legend[COLORS];
    int n_legend;
    double most_cost;
    FILE *f;
};

static const struct hd_item_attr *attr(const struct hd_item *it, enum hd_op_attr which) {
    for (int i = 0; i < it->n_attrs; i++)
        if (!strcmp(it->attrs[i].name, hd_op_attrs[which].name)) return &it->attrs[i];
    return NULL;
}

static const char *text_of(const struct hd_item *it, enum hd_op_attr which) {
    const struct hd_item_attr *v = attr(it, which);
    return v && v->text ? v->text : "";
}

static void put_text(FILE *f, const char *text) { /* within quotes */
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') fputc('\\', f);
        fputc((unsigned char)*text < ' ' ? ' ' : *text, f);
    }
}

/* ---- colours -------------------------------------------------------------------------------- */

static double cost(const struct hd_item *it) {
    const struct hd_item_attr *v = attr(it, HD_OP_ATTR_roofline);
    return v ? v->number : 0;
}

/* Operations of one kind get the next free colour of the palette, and a line in the legend. */
static const char *by_name(struct picture *x, const char *name) {
    int i = 0;
    if (!*name) return "#ffffff";
    while (i < x->n_legend && strcmp(x->legend[i], name)) i++;
    if (i == x->n_legend && i < COLORS) x->legend[x->n_legend++] = name;
    return palette[i % COLORS];
}

static const char *fill(struct picture *x, const struct hd_item *it) {
    if (!strcmp(x->color, "dtype")) return by_name(x, text_of(it, HD_OP_ATTR_dtype));
    if (!strcmp(x->color, "device")) return by_name(x, text_of(it, HD_OP_ATTR_device));
    double share = x->most_cost > 0 ? sqrt(cost(it) / x->most_cost) : 0;
    return hd_sprintf(x->a, "#%02x%02x%02x", 255 - (int)(25 * share), 255 - (int)(170 * share),
                      255 - (int)(190 * share));
}

/* ---- DOT ------------------------------------------------------------------------------------ */

static void put_node(struct picture *x, int id) {
    const struct hd_item *it = &x->items.items.item[id];
    bool fused = false;
    for (int i = 0; i < it->n_labels; i++) fused = fused || !strcmp(it->labels[i], "fused");
    fprintf(x->f, "    n%d [label=\"", id);
    put_text(x->f, it->name);
    fputs("\\n", x->f);
    put_text(x->f, it->type);
    fputs("  ", x->f);
    put_text(x->f, text_of(it, HD_OP_ATTR_dtype));
    fprintf(x->f, "[%s]", text_of(it, HD_OP_ATTR_shape));
    if (!strcmp(x->color, "cost") && !fused && cost(it) > 0)
        fprintf(x->f, "\\n%.0f cycles at least", cost(it));
    fprintf(x->f, "\", fillcolor=\"%s\"%s", fill(x, it),
            x->outlined[id] ? ", color=\"#d01c1c\", penwidth=3" : "");
    fputs(", tooltip=\"", x->f);
    put_text(x->f, *text_of(it, HD_OP_ATTR_reason) ? text_of(it, HD_OP_ATTR_reason)
                                                   : text_of(it, HD_OP_ATTR_plan));
    fputs("\"];\n", x->f);
}

struct edge {
    int from, to;
    bool back;
};

static int by_ends(const void *a, const void *b) {
    const struct edge *x = a, *y = b;
    return x->from != y->from ? (x->from > y->from) - (x->from < y->from)
                              : (x->to > y->to) - (x->to < y->to);
}

static void put_edges(struct picture *x) {
    struct edge *e = NULL;
    size_t n = 0, cap = 0;
    for (int i = 0; i < x->n; i++) {
        const struct hd_item *it = &x->items.items.item[x->ids[i]];
        for (int k = 0; k < it->n_inputs; k++) {
            int from = x->drawn[it->inputs[k]], to = x->drawn[x->ids[i]];
            if (from < 0) continue;
            *hd_push(x->a, e, n, cap) = (struct edge){from, to, from >= to};
        }
    }
    if (n) qsort(e, n, sizeof *e, by_ends);
    for (size_t i = 0; i < n; i++)
        if (!i || by_ends(&e[i], &e[i - 1]))
            fprintf(x->f, "  n%d -> n%d%s;\n", e[i].from, e[i].to,
                    e[i].back ? " [style=dashed, constraint=false]" : "");
}

static void put_borders(struct picture *x) {
    const hd_graph *g = x->g;
    for (size_t i = 0; i < g->n_inputs; i++) {
        fprintf(x->f, "  i%zu [shape=ellipse, style=solid, label=\"", i);
        put_text(x->f, g->tensors[g->inputs[i]].name);
        fputs("\"];\n", x->f);
    }
    for (int i = 0; i < x->n; i++) {
        const struct hd_node *n = &g->nodes[x->items.node[x->ids[i]]];
        for (int k = 0; k < n->n_in; k++)
            for (size_t t = 0; t < g->n_inputs; t++)
                if (n->in[k] == g->inputs[t])
                    fprintf(x->f, "  i%zu -> n%d;\n", t, x->drawn[x->ids[i]]);
        for (int k = 0; k < n->n_out; k++)
            for (size_t t = 0; t < g->n_outputs; t++)
                if (n->out[k] >= 0 && n->out[k] == g->outputs[t]) {
                    fprintf(x->f, "  o%zu [shape=ellipse, style=solid, label=\"", t);
                    put_text(x->f, g->tensors[g->outputs[t]].name);
                    fprintf(x->f, "\"];\n  n%d -> o%zu;\n", x->drawn[x->ids[i]], t);
                }
    }
}

static void put_legend(const struct picture *x) {
    if (!x->n_legend) return;
    fputs("  subgraph cluster_legend { label=\"", x->f);
    put_text(x->f, x->color);
    fputs("\"; style=solid; color=\"#b0b6c0\";\n", x->f);
    for (int i = 0; i < x->n_legend; i++) {
        fprintf(x->f, "    l%d [label=\"", i);
        put_text(x->f, x->legend[i]);
        fprintf(x->f, "\", fillcolor=\"%s\"];\n", palette[i]);
    }
    fputs("  }\n", x->f);
}

static void put_dot(struct picture *x) {
    int block = 0;
    fputs("digraph network {\n  label=\"", x->f);
    put_text(x->f, hd_short_name(x->a, x->path));
    fputs("\"; labelloc=t; fontname=\"DejaVu Sans\";\n"
          "  node [shape=box, style=\"filled,rounded\", color=\"#8a93a3\", fontsize=10, "
          "fontname=\"DejaVu Sans\", margin=\"0.10,0.04\"];\n"
          "  edge [color=\"#5d6675\", arrowsize=0.6]; ranksep=0.28; nodesep=0.2;\n",
          x->f);
    if (x->n > BIG) fputs("  nslimit=2; nslimit1=2; mclimit=0.5; splines=polyline;\n", x->f);
    for (int i = 0; i < x->n;) {
        bool begins = block < x->n_blocks && x->blocks[block].first == i;
        if (!begins) {
            put_node(x, x->ids[i++]);
            continue;
        }
        const struct hd_block *b = &x->blocks[block];
        fprintf(x->f, "  subgraph cluster_%d { label=\"%d times\"; style=\"rounded,bold\";\n",
                block, b->count);
        for (int k = 0; k < b->period; k++) put_node(x, x->ids[i + k]);
        fputs("  }\n", x->f);
        i += b->period * b->count;
        block++;
    }
    put_edges(x);
    put_borders(x);
    put_legend(x);
    fputs("}\n", x->f);
}

/* ---- output --------------------------------------------------------------------------------- */

/* Runs dot -TFORMAT on what put_dot writes; its result goes to out. */
static hd_status draw(struct picture *x, const char *format, const char *path, FILE *out) {
    hd_ctx *ctx = x->c->ctx;
    int fd[2];
    if (pipe(fd) != 0) return hd_fail(ctx, HD_IO, "dot: no pipe: %s", strerror(errno));
    signal(SIGPIPE, SIG_IGN); /* dot may end before it has read all */
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(fd[0], STDIN_FILENO);
        dup2(fileno(out), STDOUT_FILENO);
        close(fd[0]);
        close(fd[1]);
        execlp("dot", "dot", hd_sprintf(x->a, "-T%s", format), (char *)NULL);
        _exit(127);
    }
    close(fd[0]);
    x->f = fdopen(fd[1], "w");
    HD_ASSERT(x->f);
    put_dot(x);
    fclose(x->f);
    int status = 0;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    if (pid < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 127))
        return hd_fail(
            ctx, HD_IO,
            "%s: there is no program 'dot' to draw it; install Graphviz (apt-get install "
            "graphviz), or write the text with -o FILE.dot",
            path);
    if (!WIFEXITED(status) || WEXITSTATUS(status))
        return hd_fail(ctx, HD_IO, "%s: dot could not draw it (status %d); see its message above",
                       path, status);
    return HD_OK;
}

static hd_status write_picture(struct picture *x) {
    const char *path = x->c->opt.out, *dot = strrchr(path, '.');
    bool draws = strcmp(path, "-") && strcmp(dot, ".dot");
    struct hd_out out;
    TRY(hd_out_open(x->c->ctx, path, &out));
    x->f = out.f;
    hd_status s = HD_OK;
    if (draws)
        s = draw(x, dot + 1, path, out.f);
    else
        put_dot(x);
    return hd_out_close(x->c->ctx, &out, s);
}

/* ---- all of it ------------------------------------------------------------------------------ */

static void fold(struct picture *x) {
    const char *how = x->c->opt.picture.fold ? x->c->opt.picture.fold : "auto";
    const struct hd_items *s = &x->items.items;
    for (int i = 0; i < x->n; i++) x->drawn[x->ids[i]] = x->ids[i];
    if (!strcmp(how, "yes") || (!strcmp(how, "auto") && x->n >= FOLD_FROM))
        x->n_blocks = hd_find_blocks(x->a, s, x->ids, x->n, &x->blocks);
    for (int b = 0; b < x->n_blocks; b++)
        for (int i = 0; i < x->blocks[b].period * x->blocks[b].count; i++)
            x->drawn[x->ids[x->blocks[b].first + i]] =
                x->ids[x->blocks[b].first + i % x->blocks[b].period];
    for (int i = 0, k = 0; i < s->n; i++) { /* what is not drawn passes its operand on */
        if (k < x->n && x->ids[k] == i)
            k++;
        else
            x->drawn[i] = s->item[i].n_inputs ? x->drawn[s->item[i].inputs[0]] : -1;
    }
}

hd_status hd_draw_graph(struct hd_cmd *c, hd_arena *a, const struct hd_op_source *s,
                        const char *path) {
    struct picture picture = {.c = c, .a = a, .path = path, .g = s->graph}, *x = &picture;
    x->color = c->opt.picture.color ? c->opt.picture.color : "device";
    hd_op_items_build(c, x->a, s, &x->items);
    const struct hd_items *items = &x->items.items;
    bool plan = c->opt.stage && !strcmp(c->opt.stage, "plan");
    x->ids = hd_new_array(x->a, int, (size_t)items->n + 1);
    x->drawn = hd_new_array(x->a, int, (size_t)items->n + 1);
    x->outlined = hd_new_array(x->a, bool, (size_t)items->n + 1);
    for (int i = 0; i < items->n; i++) {
        const struct hd_item *it = &items->item[i];
        if (it->is_scope || (plan && !*text_of(it, HD_OP_ATTR_device))) continue; /* folded away */
        x->ids[x->n++] = i;
        if (cost(it) > x->most_cost) x->most_cost = cost(it);
    }
    if (c->opt.select) {
        const struct hd_query *q;
        TRY(hd_query_parse(c->ctx, x->a, c->opt.select, &q));
        TRY(hd_query_match(c->ctx, q, items, x->outlined));
    }
    fold(x);
    return write_picture(x);
}
