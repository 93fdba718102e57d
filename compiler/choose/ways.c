/* Ways to run a network: devices that are here, machines, threads, precision, samples. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/choose/choose.h"
#include "runtime/base/num.h"

enum { CORES_MOST = 64, MACHINES = 8 };

struct list {
    struct hd_cmd *c;
    hd_arena *a;
    struct hd_way *way;
    int n;
    struct named {
        const char *arg, *name;
    } machines[MACHINES];
    int n_machines;
};

static bool is_here(struct hd_cmd *c, const char *device) {
    struct hd_device_options o;
    struct hd_device_info info = {.available = true};
    struct hd_machine m = hd_machines[1];
    const struct hd_device_ops *d = hd_device_by_scheme(device);
    hd_cmd_device_options(c, &m, &o);
    if (d && d->probe && d->probe(c->ctx, &o, &info) != HD_OK) info.available = false;
    hd_clear(c->ctx);
    return d && info.available;
}

/* way: device, machine, threads (0: the device has its own), precision. */
static void add(struct list *l, const struct hd_way *way, const char *machine) {
    const char *only = l->c->opt.run.only, *precision = way->int8 ? "int8" : "float";
    const char *of = way->threads ? hd_sprintf(l->a, " threads=%d", way->threads) : "";
    int most = l->c->opt.run.batch ? l->c->opt.run.batch : 16;
    const int batches[] = {1, most / 4, most};
    if (only && strcmp(only, precision)) return;
    for (int i = 0; i < 3 && l->n < HD_WAYS; i++) {
        if (i && batches[i] <= 1) continue;
        struct hd_way *w = &l->way[l->n++];
        *w = *way;
        w->batch = batches[i];
        w->kind = hd_sprintf(l->a, "%s %s%s", way->device, precision, of);
        w->variant = hd_sprintf(l->a, "%s%sbatch=%d", machine, *machine ? " " : "", w->batch);
    }
}

const char *hd_way_family(hd_arena *a, const char *kind) {
    const char *threads = strstr(kind, " threads=");
    return hd_sprintf(a, "%.*s", (int)(threads ? threads - kind : (long)strlen(kind)), kind);
}

/* One thread, twice as many, ..; at last as many as there are processors. */
static int threads_after(int threads, int most) {
    return threads == most ? most + 1 : threads * 2 > most ? most : threads * 2;
}

static void add_device(struct list *l, const char *device) {
    int most = (int)hd_min(sysconf(_SC_NPROCESSORS_ONLN), CORES_MOST);
    if (l->c->opt.threads) most = l->c->opt.threads;
    bool cpu = !strcmp(device, "cpu");
    struct hd_way way = {.device = device, .int8 = true};
    if (!hd_is_graph_device(device)) {
        for (int i = 0; i < l->n_machines; i++) {
            way.machine = l->machines[i].arg;
            add(l, &way, l->machines[i].name);
        }
        return;
    }
    for (int int8 = 0; int8 < 2; int8++)
        for (int t = cpu ? 1 : 0; t <= most; t = t ? threads_after(t, most) : most + 1) {
            way.int8 = int8;
            way.threads = t;
            add(l, &way, "");
        }
}

/* Of --machine, between commas; else two whose clock is known. */
static hd_status list_machines(struct list *l) {
    struct hd_cmd *c = l->c;
    const char *given = c->opt.machine ? c->opt.machine : "tiny,base";
    char *rest = hd_strdup(l->a, given);
    hd_status s = HD_OK;
    for (char *one; s == HD_OK && l->n_machines < MACHINES && (one = strtok_r(rest, ",", &rest));) {
        struct hd_machine m;
        s = hd_machine_load(c->ctx, one, &m);
        if (s != HD_OK) break;
        struct named *to = &l->machines[l->n_machines++];
        *to = (struct named){one, hd_strdup(l->a, m.name)};
    }
    return s;
}

hd_status hd_ways_list(struct hd_cmd *c, hd_arena *a, struct hd_way *out, int *out_n) {
    struct list l = {.c = c, .a = a, .way = out};
    const char *const usual[] = {"cpu", "opencl", "cuda", "iss"};
    TRY(list_machines(&l));
    char *rest = hd_strdup(a, c->opt.devices ? c->opt.devices : "");
    for (char *one; (one = strtok_r(rest, ",", &rest));) {
        if (!is_here(c, one))
            return hd_fail(c->ctx, HD_UNSUPPORTED,
                           "--devices: %s is not here; heddle devices says why", one);
        add_device(&l, one);
    }
    for (size_t i = 0; !c->opt.devices && i < sizeof usual / sizeof *usual; i++)
        if (is_here(c, usual[i])) add_device(&l, usual[i]);
    *out_n = l.n;
    return HD_OK;
}
