/* How soon a sort of machines by their bound finds a good one: what a learned guide would have to
 * beat (docs/decisions/055).
 *
 * usage: order JOURNAL MODEL...     the models of the journal, in its order
 *
 * For each network alone: of the machines of the journal that have at most so many LUT, how many
 * are priced, those with the least bound first, until one is within 1 % of the best.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/explore/explore.h"
#include "runtime/base/num.h"

enum { LINES = 100000 };

struct machine {
    double lut, least, is, bytes; /* seconds: the bound, the price; of all memories */
};

static int by_least(const void *x, const void *y) {
    const struct machine *a = x, *b = y;
    if (a->least != b->least) return a->least < b->least ? -1 : 1;
    return (a->bytes < b->bytes) - (a->bytes > b->bytes); /* of equal bounds most memory */
}

static json_object *member(json_object *o, const char *key) {
    json_object *v = NULL;
    return o && json_object_object_get_ex(o, key, &v) ? v : NULL;
}

/* A machine of the journal with its price for a network; false: it has none. */
static bool read_line(hd_ctx *ctx, const struct hd_net *net, int i, const char *line,
                      struct machine *out) {
    json_object *o = json_tokener_parse(line), *nets = member(o, "networks");
    struct hd_machine m = hd_machines[0];
    bool ok = nets && member(o, "machine");
    char *text = ok ? strdup(json_object_get_string(member(o, "machine"))) : NULL, *rest = text;
    for (char *one; ok && (one = strtok_r(rest, " ", &rest));)
        ok = hd_machine_set(ctx, &m, one) == HD_OK;
    json_object *x = ok ? json_object_array_get_idx(nets, (size_t)i) : NULL;
    double cycles = member(x, "cycles") ? json_object_get_double(member(x, "cycles")) : 0;
    if (ok && cycles > 0) {
        struct hd_least l = hd_net_least(net, &m);
        double least = fmax(fmax(l.mx, l.chain), l.bytes / hd_axi_bytes(&m));
        *out = (struct machine){hd_area_of(&m, NULL, NULL).lut, least / m.clock_mhz * 1e-6,
                                cycles / m.clock_mhz * 1e-6,
                                (double)m.xm_bytes + m.wm_bytes + m.am_bytes + m.pm_bytes};
    }
    free(text);
    json_object_put(o);
    return ok && cycles > 0;
}

/* Until one is within 1 % of the best of those with at most so many LUT. */
static size_t tries(const struct machine *m, size_t n, double lut, size_t *out_of) {
    double best = INFINITY;
    size_t tried = 0;
    *out_of = 0;
    for (size_t i = 0; i < n; i++)
        if (m[i].lut <= lut) best = fmin(best, m[i].is), ++*out_of;
    for (size_t i = 0; i < n; i++) {
        if (m[i].lut > lut) continue;
        tried++;
        if (m[i].is <= 1.01 * best) break;
    }
    return tried;
}

static void print_network(hd_ctx *ctx, hd_arena *a, const char *path, const struct hd_nets *nets,
                          int i) {
    struct machine *list = hd_new_array(a, struct machine, LINES);
    double most = 0, least = INFINITY;
    char *line = NULL;
    size_t room = 0, n = 0;
    FILE *f = fopen(path, "r");
    if (!f) perror(path), exit(2);
    while (n < LINES && getline(&line, &room, f) > 0)
        n += read_line(ctx, &nets->of[i], i, line, &list[n]);
    free(line);
    fclose(f);
    for (size_t k = 0; k < n; k++) most = fmax(most, list[k].lut), least = fmin(least, list[k].lut);
    qsort(list, n, sizeof *list, by_least);
    for (int part = 1; part <= 4; part++) {
        double lut = least + (most - least) * part / 4;
        size_t of, tried = tries(list, n, lut, &of);
        printf("%s, at most %.0f LUT: %zu of %zu\n", nets->of[i].name, lut, tried, of);
    }
}

int main(int argc, char **argv) {
    hd_ctx *ctx = hd_ctx_create();
    hd_arena *a = hd_arena_create();
    struct hd_nets nets;
    if (argc < 3) return fprintf(stderr, "usage: order JOURNAL MODEL...\n"), 2;
    struct hd_cmd c = {.ctx = ctx, .name = "order", .args = argv + 2, .n_args = argc - 2};
    if (hd_nets_open(&c, a, "/tmp", &nets) != HD_OK)
        return fprintf(stderr, "%s\n", hd_message(ctx)), 2;
    for (int i = 0; i < nets.n; i++) print_network(ctx, a, argv[1], &nets, i);
    hd_nets_close(&nets);
    hd_arena_destroy(a);
    hd_ctx_destroy(ctx);
    return 0;
}
