#include "test/cosim/timing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_KINDS = 64 };
/* What is allowed: in cycles for an operation alone, in percent of the sum for chains and programs.
 */
enum { ALONE_CYCLES = 4, CHAIN_PERCENT = 2 };

struct kind_row {
    char name[32];
    bool alone;
    uint64_t n, cycles, error, worst, seed;
    int op; /* of the worst */
};
static struct kind_row rows[MAX_KINDS];
static int n_rows;

static struct kind_row *row_of(const char *name, bool alone) {
    for (int i = 0; i < n_rows; i++)
        if (!strcmp(rows[i].name, name)) return &rows[i];
    if (n_rows == MAX_KINDS) return &rows[MAX_KINDS - 1];
    struct kind_row *r = &rows[n_rows++];
    snprintf(r->name, sizeof r->name, "%s", name);
    r->alone = alone;
    return r;
}

static void add(const char *name, bool alone, const uint64_t cycles[2], uint64_t seed, int op) {
    struct kind_row *r = row_of(name, alone);
    uint64_t e = cycles[0] > cycles[1] ? cycles[0] - cycles[1] : cycles[1] - cycles[0];
    r->n++;
    r->cycles += cycles[1];
    r->error += e;
    if (e <= r->worst) return;
    r->worst = e;
    r->seed = seed;
    r->op = op;
}

/* What decides an operation's timing. */
static void kind_of(const struct op *o, char out[32]) {
#define GET(f) hd_field_get(o->words, HD_F_##f)
    const char *unit = hd_isa_units[o->unit].name;
    if (o->unit == HD_UNIT_vx && o->code == hd_isa_ops[HD_OP_vx_dw].code)
        snprintf(out, 32, "vx.dw");
    else if (o->unit == HD_UNIT_vx)
        snprintf(out, 32, "vx.map%s%s%s%s%s", GET(vx_nred) ? " red" : "",
                 GET(vx_lanes) ? " lanes" : "", GET(vx_fn) ? " fn" : "", GET(vx_lut) ? " lut" : "",
                 GET(vx_d_kind) == 3 ? " turned" : "");
    else if (o->unit == HD_UNIT_lx)
        snprintf(out, 32, "lx.load%s%s", GET(lx_edge) ? " edge" : "", GET(lx_mem) ? " am" : "");
    else if (o->unit == HD_UNIT_lw)
        snprintf(out, 32, "lw.load%s", GET(lw_col) ? " col" : "");
    else if (o->unit == HD_UNIT_st)
        snprintf(out, 32, "st.store%s", GET(st_mem) ? " am" : "");
    else
        snprintf(out, 32, "%s", unit);
#undef GET
}

static void drop_all(struct program *p) {
    for (int i = 0; i < p->n - 1; i++) p->op[i].dropped = true;
}

void timing_program(struct program *p, uint64_t seed, timing_run *run, void *user) {
    uint64_t c[2];
    char name[32];
    for (int i = 0; i < p->n_body; i++) {
        if (!p->op[i].code || !p->op[i].unit) continue;
        drop_all(p);
        p->op[i].dropped = false;
        kind_of(&p->op[i], name);
        if (run(user, p, c)) add(name, true, c, seed, i);
    }
    for (int u = HD_UNIT_lx; u < HD_UNITS; u++) {
        drop_all(p);
        for (int i = 0; i < p->n_body; i++) p->op[i].dropped = p->op[i].unit != u;
        snprintf(name, sizeof name, "all of %s", hd_isa_units[u].name);
        if (run(user, p, c)) add(name, false, c, seed, -1);
    }
    drop_all(p);
    for (int i = 0; i < p->n_body; i++) p->op[i].dropped = false;
    if (run(user, p, c)) add("whole programs", false, c, seed, -1);
}

bool timing_print(const char *machine, uint64_t n_programs) {
    bool ok = true;
    printf("cycles of the ISS beside the RTL: machine %s, %llu programs\n", machine,
           (unsigned long long)n_programs);
    printf("%-26s %6s %10s %8s %8s  worst of\n", "kind", "n", "cycles", "error", "worst");
    for (int i = 0; i < n_rows; i++) {
        const struct kind_row *r = &rows[i];
        bool good = r->alone ? r->worst <= ALONE_CYCLES
                             : r->error * 100 <= r->cycles * (uint64_t)CHAIN_PERCENT;
        printf("%-26s %6llu %10llu %7.2f%% %8llu  seed %llu", r->name, (unsigned long long)r->n,
               (unsigned long long)r->cycles,
               100.0 * (double)r->error / (double)(r->cycles + !r->cycles),
               (unsigned long long)r->worst, (unsigned long long)r->seed);
        if (r->op >= 0) printf(" op %d", r->op);
        printf("%s\n", good ? "" : "  TOO MUCH");
        ok = ok && good;
    }
    return ok;
}
