/* Candidates: every combination of values of machine parameters that is a machine. Those that
 * differ in nothing but their cores stand together: they have one price. */
#include <stdlib.h>
#include <string.h>

#include "compiler/explore/explore.h"

enum { VALUES = 32, PARAMS = 32, POINTS = 2000000 };

struct axis {
    const char *values[VALUES];
    int n;
};

static const struct {
    const char *param, *values;
} wide_values[] = {
#define SPACE(param, values) {#param, values},
#include "compiler/explore/space.def"
};

static uint32_t value_of(const struct hd_machine *m, int param) {
    uint32_t v;
    memcpy(&v, (const char *)m + hd_machine_params[param].offset, sizeof v);
    return v;
}

static int param_index(const char *name, size_t len) {
    for (int i = 0; i < hd_n_machine_params; i++)
        if (strlen(hd_machine_params[i].name) == len &&
            !memcmp(hd_machine_params[i].name, name, len))
            return i;
    return -1;
}

/* "8,16" to an axis, each value once; it is checked by the table of parameters. */
static hd_status split_values(struct hd_cmd *c, hd_arena *a, int param, const char *text,
                              struct axis *out) {
    const char *name = hd_machine_params[param].name;
    char *rest = hd_strdup(a, text);
    uint32_t are[VALUES];
    out->n = 0;
    for (char *one; (one = strtok_r(rest, ",", &rest));) {
        struct hd_machine m = hd_machines[0];
        int k = 0;
        const char *value = hd_sprintf(a, "%s=%s", name, one);
        TRY(hd_machine_set(c->ctx, &m, value));
        while (k < out->n && are[k] != value_of(&m, param)) k++;
        if (k < out->n) continue;
        if (out->n == VALUES)
            return hd_fail(c->ctx, HD_INVALID, "--set %s: more than %d values", name, VALUES);
        are[out->n] = value_of(&m, param);
        out->values[out->n++] = value;
    }
    return HD_OK;
}

static hd_status make_axes(struct hd_cmd *c, hd_arena *a, bool wide, struct axis *axes) {
    for (size_t i = 0; wide && i < sizeof wide_values / sizeof *wide_values; i++) {
        const char *name = wide_values[i].param;
        int p = param_index(name, strlen(name));
        TRY(split_values(c, a, p, wide_values[i].values, &axes[p]));
    }
    for (int i = 0; i < c->opt.sets.n; i++) {
        const char *text = c->opt.sets.text[i], *equals = strchr(text, '=');
        int p = equals ? param_index(text, (size_t)(equals - text)) : -1;
        struct hd_machine m = hd_machines[0];
        if (p < 0) return hd_machine_set(c->ctx, &m, text); /* its message */
        TRY(split_values(c, a, p, equals + 1, &axes[p]));
    }
    return HD_OK;
}

/* Combination i of the axes; false: no machine. */
static bool combine(struct hd_cmd *c, const struct hd_machine *from, const struct axis *axes,
                    size_t i, struct hd_machine *out) {
    *out = *from;
    for (int p = 0; p < hd_n_machine_params; p++) {
        size_t n = (size_t)axes[p].n;
        if (!n) continue;
        struct hd_machine m = *out;
        if (hd_machine_set(c->ctx, &m, axes[p].values[i % n]) != HD_OK) return false;
        memcpy(m.name, from->name, sizeof m.name);
        *out = m;
        i /= n;
    }
    bool legal = hd_machine_check(c->ctx, out) == HD_OK && 8 * out->n * 8 >= out->axi_bits;
    hd_clear(c->ctx);
    snprintf(out->name, sizeof out->name, "k%un%u-%08x", out->k, out->n, hd_machine_hash(out));
    return legal;
}

/* A machine with each number of cores. */
static hd_status add_points(struct hd_cmd *c, hd_arena *a, const struct hd_machine *m,
                            const struct axis *cores, struct hd_space *out) {
    struct hd_point *first = &out->at[out->n];
    struct hd_priced *net = hd_new_array(a, struct hd_priced, (size_t)c->n_args);
    out->n_prices++;
    for (int i = 0; i < (cores->n ? cores->n : 1); i++) {
        struct hd_point *p = &out->at[out->n++];
        *p = (struct hd_point){.m = *m, .first = first, .net = net};
        if (cores->n) TRY(hd_machine_set(c->ctx, &p->m, cores->values[i]));
        memcpy(p->m.name, m->name, sizeof m->name);
        p->area = hd_area_of(&p->m, NULL, NULL);
    }
    return HD_OK;
}

hd_status hd_space_make(struct hd_cmd *c, hd_arena *a, bool wide, struct hd_space *out) {
    struct axis axes[PARAMS] = {{{0}, 0}}, cores;
    struct hd_machine from, m;
    size_t n = 1;
    HD_ASSERT(hd_n_machine_params <= PARAMS);
    TRY(hd_machine_load(c->ctx, c->opt.machine ? c->opt.machine : "base", &from));
    TRY(make_axes(c, a, wide, axes));
    for (int p = 0; p < hd_n_machine_params; p++) {
        if (axes[p].n) n *= (size_t)axes[p].n;
        if (n > POINTS)
            return hd_fail(c->ctx, HD_INVALID,
                           "--set: more than %d combinations; give some parameters fewer values",
                           POINTS);
    }
    *out = (struct hd_space){.at = hd_new_array(a, struct hd_point, n),
                             .front = hd_new_array(a, struct hd_point *, n)};
    struct axis *last = &axes[param_index("cores", strlen("cores"))];
    cores = *last, last->n = 0;
    for (size_t i = 0; i < n / (size_t)(cores.n ? cores.n : 1); i++) {
        if (combine(c, &from, axes, i, &m))
            TRY(add_points(c, a, &m, &cores, out));
        else
            out->illegal++;
    }
    if (out->n) return HD_OK;
    return hd_fail(c->ctx, HD_INVALID,
                   "--set: none of %zu combinations is a machine (memories of at least 16 words, a "
                   "port of at most 64 * n bits); heddle machines prints the parameters",
                   n);
}

const char *hd_machine_text(hd_arena *a, const struct hd_machine *m) {
    const char *text = "";
    for (int p = 0; p < hd_n_machine_params; p++)
        text = hd_sprintf(a, "%s%s%s=%u", text, p ? " " : "", hd_machine_params[p].name,
                          value_of(m, p));
    return text;
}
