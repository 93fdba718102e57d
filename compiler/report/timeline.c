/* Timeline of a run as Chrome trace JSON, which Perfetto and chrome://tracing open.
 *
 * A track per unit; an event per operation over the cycles in which it was the oldest in its unit,
 * so that a track adds up to the unit's busy counter; waits for semaphores as events of category
 * "stall" before them; an arrow from each signal to the wait that took it; DRAM bytes as a counter.
 * Operations outside the window, or of layers that were not selected, are dropped as they come. At
 * level "layer" operations of one layer that follow each other in a unit are one event. A device
 * that tells only counters gives an event per unit and counter. 1 us in the viewer is 1 cycle. */
#include <stdlib.h>
#include <string.h>

#include "compiler/report/profile.h"
#include "compiler/report/report.h"
#include "compiler/report/timeline.h"
#include "runtime/base/io.h"

enum { PID = 1 };

struct op { /* an operation that is kept; at level "layer", several */
    struct hd_op_record r;
    int step;
    uint64_t base;           /* cycles of the steps before */
    uint64_t busy, n_merged; /* level "layer": cycles in work, operations */
};

struct arrow {
    size_t from, to; /* in ops */
};

struct fifo { /* operations that signalled a semaphore and were not waited for yet; -1 = dropped */
    int64_t op[HD_SEM_MAX + 1];
    unsigned head, n;
};

struct step_words { /* of one program, by word; what is no operation has no bundle */
    int32_t *bundle;
    const uint32_t *words;
    size_t n;
};

struct hd_timeline {
    struct hd_probe probe;
    hd_arena *a;
    const hd_model *m;
    uint64_t from, to;  /* window, in cycles of the run */
    const bool *layers; /* those that are kept; NULL = all, and SEQ's operations */
    bool by_layer;
    size_t last[HD_UNITS]; /* by_layer: in ops, plus 1; the newest of the unit */
    struct op *ops;
    size_t n_ops, cap_ops, n_dropped;
    struct arrow *arrows;
    size_t n_arrows, cap_arrows;
    struct fifo sem[HD_SEMAPHORES];
    uint64_t base; /* cycles of the steps that ended */
    int step;
    struct step_words *steps;
    struct hd_bins dram; /* in the window */
};

/* ---- what the device tells ------------------------------------------------------------------ */

/* Places of operations in a program. */
static void read_program(struct hd_timeline *t, struct step_words *s) {
    s->bundle = hd_new_array(t->a, int32_t, s->n + 1);
    memset(s->bundle, -1, s->n * sizeof *s->bundle);
    int bundle = 0;
    for (size_t at = HD_PROG_HEADER_WORDS; at < s->n; bundle++) {
        struct hd_op_word ops[HD_UNITS];
        int offset[HD_UNITS], n;
        const char *why;
        int words = hd_bundle_decode(s->words + at, s->n - at, ops, offset, &n, &why);
        if (!words) return;
        for (int i = 0; i < n; i++) s->bundle[at + (size_t)offset[i]] = bundle;
        at += (size_t)words;
    }
}

static bool decode(const struct hd_timeline *t, int step, const struct hd_op_record *r,
                   struct hd_op_word *out) {
    const struct step_words *s = &t->steps[step];
    const char *why;
    return r->pc < s->n &&
           hd_op_decode((enum hd_unit)r->unit, s->words + r->pc, s->n - r->pc, out, &why) > 0;
}

static void begin(void *user, int step, const uint32_t *program, size_t n_words,
                  const struct hd_probe_eye *eye) {
    (void)eye;
    struct hd_timeline *t = user;
    if (step <= t->step) { /* another run of the model: the last one counts */
        t->n_ops = t->n_arrows = t->n_dropped = 0;
        t->base = 0;
        hd_bins_clear(&t->dram);
    }
    t->step = step;
    memset(t->last, 0, sizeof t->last);
    memset(t->sem, 0, sizeof t->sem);
    struct step_words *s = &t->steps[step];
    if (s->words) return;
    *s = (struct step_words){NULL, hd_dup(t->a, program, n_words * sizeof *program), n_words};
    read_program(t, s);
}

static void end(void *user, uint64_t cycles, const struct hd_probe_state *state) {
    struct hd_timeline *t = user;
    (void)state;
    t->base += cycles;
}

/* Arrows to an operation from those whose signals it took, then its own signals. */
static void connect(struct hd_timeline *t, const struct hd_op_word *op, int64_t index) {
    for (int i = 0; i < HD_SEMAPHORES; i++) {
        struct fifo *f = &t->sem[i];
        if (op->wait >> i & 1 && f->n) {
            int64_t from = f->op[f->head];
            f->head = (f->head + 1) % (HD_SEM_MAX + 1);
            f->n--;
            if (from >= 0 && index >= 0)
                *hd_push(t->a, t->arrows, t->n_arrows, t->cap_arrows) =
                    (struct arrow){(size_t)from, (size_t)index};
        }
        if (op->signal >> i & 1 && f->n <= HD_SEM_MAX)
            f->op[(f->head + f->n++) % (HD_SEM_MAX + 1)] = index;
    }
}

static bool is_selected(const struct hd_timeline *t, const struct hd_op_record *r) {
    return !t->layers || (r->unit != HD_UNIT_seq && r->tag < t->m->n_layers && t->layers[r->tag]);
}

/* Adds the operation to the one before it in its unit, if both are of one layer. */
static bool merge(struct hd_timeline *t, const struct hd_op_record *r) {
    size_t last = t->last[r->unit];
    if (!last || t->ops[last - 1].r.tag != r->tag) return false;
    struct op *o = &t->ops[last - 1];
    o->r.end = r->end;
    o->busy += r->end - r->oldest;
    o->n_merged++;
    o->r.stall_sem += r->stall_sem;
    o->r.stall_mem += r->stall_mem;
    o->r.stall_bank += r->stall_bank;
    return true;
}

static void op_ended(void *user, const struct hd_op_record *r) {
    struct hd_timeline *t = user;
    bool inside = t->base + r->end > t->from && t->base + r->oldest - r->stall_sem < t->to;
    int64_t index = -1;
    if (inside && is_selected(t, r) && t->by_layer && merge(t, r)) return;
    if (inside && is_selected(t, r) && t->n_ops < HD_OPS_MAX) {
        index = (int64_t)t->n_ops;
        *hd_push(t->a, t->ops, t->n_ops, t->cap_ops) =
            (struct op){*r, t->step, t->base, r->end - r->oldest, 1};
        t->last[r->unit] = t->n_ops;
    } else {
        t->last[r->unit] = 0;
        t->n_dropped++;
    }
    struct hd_op_word op;
    if (!t->by_layer && decode(t, t->step, r, &op)) connect(t, &op, index);
}

static void dram(void *user, uint64_t cycle, bool write, uint32_t bytes) {
    struct hd_timeline *t = user;
    uint64_t at = t->base + cycle;
    if (at < t->from || at >= t->to) return;
    hd_bins_add(&t->dram, at - t->from, write, bytes);
}

struct hd_timeline *hd_timeline_create(hd_arena *a, const hd_model *m, const struct hd_options *opt,
                                       const bool *layers) {
    uint64_t from = opt->trace.from, cycles = opt->trace.cycles;
    struct hd_timeline *t = hd_new(a, struct hd_timeline);
    t->probe =
        (struct hd_probe){.user = t, .begin = begin, .op = op_ended, .dram = dram, .end = end};
    t->a = a;
    t->m = m;
    t->from = from;
    t->layers = layers;
    t->by_layer = opt->trace.level && !strcmp(opt->trace.level, "layer");
    t->to = cycles && from + cycles > from ? from + cycles : UINT64_MAX;
    t->steps = hd_new_array(a, struct step_words, (size_t)m->n_steps + 1);
    hd_bins_clear(&t->dram);
    t->step = -1;
    return t;
}

const struct hd_probe *hd_timeline_probe(const struct hd_timeline *t) {
    return &t->probe;
}

/* ---- the file ------------------------------------------------------------------------------- */

enum kind { EVENT_STALL, EVENT_OP, EVENT_FROM, EVENT_TO, EVENT_DRAM };

struct event {
    uint64_t ts;
    enum kind kind;
    size_t index; /* in ops, arrows or bins */
};

static int by_time(const void *x, const void *y) {
    const struct event *a = x, *b = y;
    if (a->ts != b->ts) return a->ts < b->ts ? -1 : 1;
    if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static uint64_t op_begin(const struct op *o) {
    return o->base + o->r.oldest;
}
/* The last cycle of an operation. */
static uint64_t op_last(const struct op *o) {
    return o->base + (o->r.end > o->r.oldest ? o->r.end - 1 : o->r.end);
}
/* SEQ waits within its operation, and one that starts behind another one did not wait alone. */
static bool has_stall(const struct op *o) {
    return o->r.unit != HD_UNIT_seq && o->r.stall_sem > 0;
}

static struct event *collect(struct hd_timeline *t, size_t *out_n) {
    struct event *e = NULL;
    size_t n = 0, cap = 0;
    for (size_t i = 0; i < t->n_ops; i++) {
        const struct op *o = &t->ops[i];
        if (!t->by_layer && has_stall(o))
            *hd_push(t->a, e, n, cap) =
                (struct event){o->base + o->r.start - o->r.stall_sem, EVENT_STALL, i};
        *hd_push(t->a, e, n, cap) = (struct event){op_begin(o), EVENT_OP, i};
    }
    for (size_t i = 0; i < t->n_arrows; i++) {
        *hd_push(t->a, e, n, cap) =
            (struct event){op_last(&t->ops[t->arrows[i].from]), EVENT_FROM, i};
        *hd_push(t->a, e, n, cap) = (struct event){op_begin(&t->ops[t->arrows[i].to]), EVENT_TO, i};
    }
    for (size_t i = 0; i <= t->dram.n && t->dram.n; i++) { /* where it changes, and zero at last */
        bool last = i == t->dram.n;
        uint64_t r = last ? 0 : t->dram.bytes[i][0], w = last ? 0 : t->dram.bytes[i][1];
        if (!i || r || w || t->dram.bytes[i - 1][0] || t->dram.bytes[i - 1][1])
            *hd_push(t->a, e, n, cap) = (struct event){t->from + i * t->dram.cycles, EVENT_DRAM, i};
    }
    if (n) qsort(e, n, sizeof *e, by_time);
    *out_n = n;
    return e;
}

static void put_string(FILE *f, const char *text) {
    json_object *o = json_object_new_string(text);
    fputs(json_object_to_json_string_ext(o, JSON_C_TO_STRING_NOSLASHESCAPE), f);
    json_object_put(o);
}

static void put_head(FILE *f, const char *ph, uint64_t ts, int tid) {
    fprintf(f, ",\n{\"ph\":\"%s\",\"ts\":%llu,\"pid\":%d,\"tid\":%d,\"name\":", ph,
            (unsigned long long)ts, PID, tid);
}

static const char *layer_name(const struct hd_timeline *t, const struct op *o) {
    return o->r.tag < t->m->n_layers && o->r.unit != HD_UNIT_seq ? t->m->layers[o->r.tag].name : "";
}

/* An event for all operations of a layer that follow each other in a unit. */
static void put_layer(const struct hd_timeline *t, const struct op *o, FILE *f) {
    const struct hd_op_record *r = &o->r;
    const char *layer = layer_name(t, o);
    put_head(f, "X", op_begin(o), r->unit);
    put_string(f, *layer ? layer : hd_isa_units[r->unit].name);
    fprintf(f, ",\"cat\":\"op\",\"dur\":%llu,\"args\":{\"layer\":",
            (unsigned long long)(r->end - r->oldest));
    put_string(f, layer);
    fprintf(f,
            ",\"step\":%d,\"operations\":%llu,\"busy\":%llu,\"stall_semaphore\":%llu,"
            "\"stall_memory\":%llu,\"stall_bank\":%llu}}",
            o->step, (unsigned long long)o->n_merged, (unsigned long long)o->busy,
            (unsigned long long)r->stall_sem, (unsigned long long)r->stall_mem,
            (unsigned long long)r->stall_bank);
}

static void put_op(const struct hd_timeline *t, const struct op *o, FILE *f) {
    const struct hd_op_record *r = &o->r;
    const struct step_words *s = &t->steps[o->step];
    struct hd_op_word op = {.unit = r->unit};
    char text[1000] = "";
    if (decode(t, o->step, r, &op)) hd_op_text(&op, text, sizeof text);
    int code = hd_op_by_code((enum hd_unit)r->unit, op.code);
    const char *layer = layer_name(t, o);
    put_head(f, "X", op_begin(o), r->unit);
    put_string(f, hd_sprintf(t->a, "%s%s%s.%s", layer, *layer ? " " : "",
                             hd_isa_units[r->unit].name, code >= 0 ? hd_isa_ops[code].name : "?"));
    fprintf(f, ",\"cat\":\"op\",\"dur\":%llu,\"args\":{\"step\":%d,\"bundle\":%d,\"pc\":%u,\"op\":",
            (unsigned long long)(r->end - r->oldest), o->step, r->pc < s->n ? s->bundle[r->pc] : -1,
            r->pc);
    put_string(f, text);
    fputs(",\"layer\":", f);
    put_string(f, layer);
    fprintf(f,
            ",\"taken\":%llu,\"started\":%llu,\"stall_semaphore\":%llu,\"stall_memory\":%llu,"
            "\"stall_bank\":%llu}}",
            (unsigned long long)(o->base + r->take), (unsigned long long)(o->base + r->start),
            (unsigned long long)r->stall_sem, (unsigned long long)r->stall_mem,
            (unsigned long long)r->stall_bank);
}

static void put_stall(const struct hd_timeline *t, const struct op *o, FILE *f) {
    char name[200] = "wait for semaphore";
    struct hd_op_word op;
    if (decode(t, o->step, &o->r, &op))
        for (int i = 0, any = 0; i < HD_SEMAPHORES; i++)
            if (op.wait >> i & 1) {
                size_t n = strlen(name);
                snprintf(name + n, sizeof name - n, "%s %d", any++ ? "," : "", i);
            }
    put_head(f, "X", o->base + o->r.start - o->r.stall_sem, o->r.unit);
    put_string(f, name);
    fprintf(f, ",\"cat\":\"stall\",\"dur\":%llu,\"args\":{\"reason\":\"semaphore\",\"pc\":%u}}",
            (unsigned long long)o->r.stall_sem, o->r.pc);
}

static void put_event(const struct hd_timeline *t, const struct event *e, FILE *f) {
    static const uint64_t none[2] = {0, 0};
    const uint64_t *bin =
        e->kind == EVENT_DRAM && e->index < t->dram.n ? t->dram.bytes[e->index] : none;
    switch (e->kind) {
    case EVENT_STALL:
        put_stall(t, &t->ops[e->index], f);
        break;
    case EVENT_OP:
        if (t->by_layer)
            put_layer(t, &t->ops[e->index], f);
        else
            put_op(t, &t->ops[e->index], f);
        break;
    case EVENT_FROM:
        put_head(f, "s", e->ts, t->ops[t->arrows[e->index].from].r.unit);
        fprintf(f, "\"semaphore\",\"cat\":\"semaphore\",\"id\":%zu}", e->index + 1);
        break;
    case EVENT_TO:
        put_head(f, "f", e->ts, t->ops[t->arrows[e->index].to].r.unit);
        fprintf(f, "\"semaphore\",\"cat\":\"semaphore\",\"id\":%zu,\"bp\":\"e\"}", e->index + 1);
        break;
    default:
        put_head(f, "C", e->ts, 0);
        fprintf(f, "\"DRAM bytes per %llu cycles\",\"args\":{\"read\":%llu,\"write\":%llu}}",
                (unsigned long long)t->dram.cycles, (unsigned long long)bin[0],
                (unsigned long long)bin[1]);
        break;
    }
}

static void put_facts(const struct hd_timeline *t, const struct hd_run_facts *r, FILE *f) {
    json_object *o = json_object_new_object(), *units = json_object_new_object();
    hd_json_str(o, "schema", "heddle.trace/1");
    hd_json_str(o, "time", "1 us is 1 cycle of the machine");
    hd_json_str(o, "model", r->path);
    hd_json_str(o, "device", r->device);
    hd_json_str(o, "machine", t->m->machine.name);
    hd_json_int(o, "cycles", (int64_t)r->counters.cycles);
    hd_json_int(o, "from", (int64_t)t->from);
    json_object_object_add(o, "window_cycles",
                           t->to == UINT64_MAX ? NULL
                                               : json_object_new_int64((int64_t)(t->to - t->from)));
    hd_json_str(o, "level", t->step < 0 ? "counters" : t->by_layer ? "layer" : "op");
    json_object_object_add(o, "selected", json_object_new_boolean(t->layers != NULL));
    hd_json_int(o, t->by_layer ? "events" : "operations", (int64_t)t->n_ops);
    hd_json_int(o, "dropped_operations", (int64_t)t->n_dropped);
    hd_json_int(o, "dram_read_bytes", (int64_t)r->counters.read_bytes);
    hd_json_int(o, "dram_write_bytes", (int64_t)r->counters.write_bytes);
    for (int u = HD_UNIT_lx; u < HD_UNITS; u++) { /* the counters, to check the events against */
        const struct hd_unit_counters *k = &r->counters.unit[u];
        json_object *c = json_object_new_object();
        hd_json_int(c, "busy", (int64_t)k->busy);
        hd_json_int(c, "stall_semaphore", (int64_t)k->stall_sem);
        hd_json_int(c, "stall_memory", (int64_t)k->stall_mem);
        hd_json_int(c, "stall_bank", (int64_t)k->stall_bank);
        json_object_object_add(units, hd_isa_units[u].name, c);
    }
    json_object_object_add(o, "units", units);
    json_object *layers = json_object_new_array();
    for (int i = 0; r->counters.layers && i < r->counters.n_layers && i < t->m->n_layers; i++) {
        const struct hd_layer_counters *k = &r->counters.layers[i];
        json_object *x = json_object_new_object();
        hd_json_str(x, "name", t->m->layers[i].name);
        hd_json_int(x, "cycles", (int64_t)k->cycles);
        hd_json_int(x, "mx_busy", (int64_t)k->mx_busy);
        hd_json_int(x, "vx_busy", (int64_t)k->vx_busy);
        json_object_array_add(layers, x);
    }
    json_object_object_add(o, "layers", layers);
    fputs(json_object_to_json_string_ext(o, JSON_C_TO_STRING_NOSLASHESCAPE), f);
    json_object_put(o);
}

static void put_tracks(const struct hd_timeline *t, const struct hd_run_facts *r, FILE *f) {
    fprintf(f,
            "{\"ph\":\"M\",\"ts\":0,\"pid\":%d,\"tid\":0,\"name\":\"process_name\",\"args\":{"
            "\"name\":",
            PID);
    put_string(f, hd_sprintf(t->a, "%s, machine %s", r->device, t->m->machine.name));
    fputs("}}", f);
    for (int u = 0; u < HD_UNITS; u++) {
        put_head(f, "M", 0, u);
        fputs("\"thread_name\",\"args\":{\"name\":", f);
        put_string(f, hd_sprintf(t->a, "%s: %s", hd_isa_units[u].name, hd_isa_units[u].doc));
        fputs("}}", f);
        put_head(f, "M", 0, u);
        fprintf(f, "\"thread_sort_index\",\"args\":{\"sort_index\":%d}}", u);
    }
}

/* What a device tells that counts but shows no operations: each unit's cycles by what it did, one
 * behind the other. */
static void put_counters(const struct hd_run_facts *r, FILE *f) {
    for (int u = HD_UNIT_lx; u < HD_UNITS; u++) {
        const struct hd_unit_counters *k = &r->counters.unit[u];
        const struct {
            const char *name, *category;
            uint64_t cycles;
        } part[] = {{"busy", "op", k->busy},
                    {"wait for a semaphore", "stall", k->stall_sem},
                    {"wait for memory (within busy)", "within", k->stall_mem},
                    {"wait for a bank (within busy)", "within", k->stall_bank}};
        uint64_t at = 0, begin = 0;
        for (size_t i = 0; i < sizeof part / sizeof part[0]; i++) {
            if (i == 2) at = 0; /* nested in busy */
            begin = at;
            at += part[i].cycles;
            if (!part[i].cycles) continue;
            put_head(f, "X", begin, u);
            fprintf(f, "\"%s\",\"cat\":\"%s\",\"dur\":%llu,\"args\":{}}", part[i].name,
                    part[i].category, (unsigned long long)part[i].cycles);
        }
    }
}

hd_status hd_timeline_write(struct hd_cmd *c, struct hd_timeline *t, const struct hd_run_facts *r,
                            const char *path) {
    struct hd_out out;
    TRY(hd_out_open(c->ctx, path, &out));
    FILE *f = out.f;
    size_t n;
    const struct event *e = collect(t, &n);
    fputs("{\"displayTimeUnit\":\"ns\",\"otherData\":", f);
    put_facts(t, r, f);
    fputs(",\n\"traceEvents\":[\n", f);
    put_tracks(t, r, f);
    for (size_t i = 0; i < n; i++) put_event(t, &e[i], f);
    if (t->step < 0) put_counters(r, f);
    fputs("\n]}\n", f);
    return hd_out_close(c->ctx, &out, HD_OK);
}
