/* Boards, limits and objectives, from options and files. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/explore/explore.h"
#include "runtime/base/io.h"

static const struct hd_board boards[] = {
#define BOARD(id, LUT, FF, DSP, BRAM, URAM, GBS, ALL, from)                                        \
    {.name = #id,                                                                                  \
     .source = (from),                                                                             \
     .has = {LUT, FF, DSP, BRAM, URAM},                                                            \
     .gbs = (GBS),                                                                                 \
     .gbs_all = (ALL)},
#include "compiler/explore/boards.def"
};
enum { BOARDS = sizeof boards / sizeof *boards };

const char *const hd_objective_names[HD_OBJECTIVE_COUNT] = {"latency", "fps",  "area",
                                                            "dsp",     "bram", "energy"};

struct key { /* of --limit and of board files */
    const char *name;
    double *value;
};

static hd_status no_such(struct hd_cmd *c, const char *where, const char *what, const char *got,
                         const char *list) {
    return hd_fail(c->ctx, HD_INVALID, "%s: no %s '%s'; there are %s", where, what, got, list);
}

/* "key = value" to the key's place; a value may end in x where *out_times is given. */
static hd_status set_key(struct hd_cmd *c, hd_arena *a, const char *where, const char *line,
                         const struct key *keys, int n, double *out_times) {
    char name[32], *end;
    const char *equals = strchr(line, '='), *list = "";
    size_t len = strspn(line, " \t");
    line += len;
    len = strcspn(line, " \t=");
    snprintf(name, sizeof name, "%.*s", (int)len, line);
    for (int i = 0; i < n; i++) {
        list = hd_sprintf(a, "%s%s%s", list, i ? ", " : "", keys[i].name);
        if (strcmp(keys[i].name, name)) continue;
        double v = equals ? strtod(equals + 1, &end) : 0;
        bool times = equals && *end == 'x' && out_times && !strcmp(name, "gbs");
        if (!equals || end == equals + 1 || end[times + strspn(end + times, " \t\r\n")] ||
            !(v >= 0) || !isfinite(v))
            return hd_fail(c->ctx, HD_INVALID, "%s: got '%.60s', want %s=NUMBER", where, line,
                           name);
        *(times ? out_times : keys[i].value) = v;
        return HD_OK;
    }
    return no_such(c, where, "key", name, list);
}

/* A file of lines `key = value`: what the board has, and coefficients of energy. */
static hd_status read_board(struct hd_cmd *c, hd_arena *a, const char *path, struct hd_board *b) {
    void *data;
    size_t bytes;
    int n = 0;
    struct key keys[64] = {{"lut", &b->has.lut},    {"ff", &b->has.ff},     {"dsp", &b->has.dsp},
                           {"bram", &b->has.bram},  {"uram", &b->has.uram}, {"gbs", &b->gbs},
                           {"gbs_all", &b->gbs_all}};
    enum { OWN = 7 };
    for (n = OWN; n - OWN < hd_n_coefficients; n++)
        keys[n] = (struct key){hd_coefficients[n - OWN].name,
                               (void *)((char *)&b->energy + hd_coefficients[n - OWN].offset)};
    b->gbs_all = 0;
    TRY(hd_file_read(c->ctx, path, &data, &bytes));
    hd_status s = HD_OK;
    char *rest = data;
    for (int i = 1; rest && s == HD_OK; i++) {
        char *line = rest, *end = strchr(rest, '\n');
        rest = end ? end + 1 : NULL;
        if (end) *end = 0;
        line[strcspn(line, "#")] = 0;
        if (line[strspn(line, " \t\r")])
            s = set_key(c, a, hd_sprintf(a, "%s:%d", path, i), line, keys, n, NULL);
    }
    free(data);
    if (!b->gbs_all) b->gbs_all = b->gbs; /* one port's memory */
    b->name = hd_strdup(a, path), b->source = "a file";
    return s;
}

static hd_status find_board(struct hd_cmd *c, hd_arena *a, struct hd_board *out) {
    const double none = INFINITY;
    const char *name = c->opt.explore.board, *list = "";
    *out = (struct hd_board){.has = {none, none, none, none, none}, .gbs = none, .gbs_all = none};
    for (int i = 0; name && i < BOARDS; i++) {
        list = hd_sprintf(a, "%s%s%s", list, i ? ", " : "", boards[i].name);
        if (!strcmp(boards[i].name, name)) *out = boards[i];
    }
    out->energy = hd_energy_default;
    if (!name || out->name) return HD_OK;
    if (!strpbrk(name, "./"))
        return no_such(c, "--board", "board", name, hd_sprintf(a, "%s, or a FILE", list));
    return read_board(c, a, name, out);
}

static hd_status read_limits(struct hd_cmd *c, hd_arena *a, struct hd_limits *l) {
    double all = 0; /* 0: not said */
    const double ports = isfinite(l->gbs) ? l->gbs_all / l->gbs : INFINITY;
    const struct key keys[] = {
        {"lut", &l->most.lut},   {"ff", &l->most.ff},     {"dsp", &l->most.dsp},
        {"bram", &l->most.bram}, {"uram", &l->most.uram}, {"gbs", &l->gbs},
        {"gbs_all", &all},       {"fps", &l->fps},        {"joule", &l->joule},
        {"ms", &l->ms},          {"within", &l->within},  {"machines", &l->machines},
        {"seconds", &l->seconds}};
    for (int i = 0; i < c->opt.explore.limits.n; i++)
        TRY(set_key(c, a, "--limit", c->opt.explore.limits.text[i], keys,
                    sizeof keys / sizeof *keys, &l->gbs_times));
    l->gbs_all = all > 0 ? all : l->gbs * ports;
    if (l->gbs_times && !isfinite(l->gbs))
        return hd_fail(c->ctx, HD_INVALID,
                       "--limit gbs=%gx: times what? give a --board, or --limit gbs=NUMBER first",
                       l->gbs_times);
    return HD_OK;
}

static hd_status read_objectives(struct hd_cmd *c, hd_arena *a, struct hd_goal *g) {
    char *rest = hd_strdup(a, c->opt.explore.objective ? c->opt.explore.objective : "fps,area");
    const char *list = "";
    for (int k = 0; k < HD_OBJECTIVE_COUNT; k++)
        list = hd_sprintf(a, "%s%s%s", list, k ? ", " : "", hd_objective_names[k]);
    for (char *one; (one = strtok_r(rest, ",", &rest));) {
        int k = 0;
        while (k < HD_OBJECTIVE_COUNT && strcmp(hd_objective_names[k], one)) k++;
        if (k == HD_OBJECTIVE_COUNT) return no_such(c, "--objective", "objective", one, list);
        if (g->n == HD_EXPLORE_OBJECTIVES)
            return hd_fail(c->ctx, HD_INVALID, "--objective: more than %d objectives",
                           HD_EXPLORE_OBJECTIVES);
        g->by[g->n++] = (enum hd_objective)k;
    }
    return g->n ? HD_OK : no_such(c, "--objective", "objective", "", list);
}

hd_status hd_goal_make(struct hd_cmd *c, hd_arena *a, struct hd_goal *out) {
    *out = (struct hd_goal){.n = 0};
    TRY(find_board(c, a, &out->board));
    out->limits = (struct hd_limits){.most = out->board.has,
                                     .gbs = out->board.gbs,
                                     .gbs_all = out->board.gbs_all,
                                     .joule = INFINITY,
                                     .ms = INFINITY,
                                     .seconds = INFINITY,
                                     .machines = 1000};
    TRY(read_limits(c, a, &out->limits));
    return read_objectives(c, a, out);
}
