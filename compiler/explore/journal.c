/* The journal: a line of JSON for each machine that was priced, written as soon as it is. A line
 * that a kill has cut is left out; so a search that begins again goes on where it was. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/explore/explore.h"
#include "runtime/base/io.h"
#include "runtime/base/num.h"

static const struct {
    const char *name;
    size_t offset;
} work_fields[] = {
#define FIELD(name) {#name, offsetof(struct hd_work, name)},
    HD_WORK_FIELDS(FIELD)};
enum { WORK_FIELDS = sizeof work_fields / sizeof *work_fields };

struct hd_journal {
    FILE *f;
    const char *path;
    hd_arena *a;
    const struct hd_nets *nets;
    size_t found;
    bool cut; /* the last line that was read has no end: a kill cut it */
};

/* What prices depend on: networks, instruction set, latency. */
static const char *question(struct hd_cmd *c, hd_arena *a, const struct hd_nets *nets) {
    const char *text = hd_sprintf(a, "isa %08x latency %u", hd_isa_hash(), c->opt.mem.latency);
    for (int i = 0; i < nets->n; i++) {
        const struct hd_net *n = &nets->of[i];
        text = hd_sprintf(a, "%s, %s %08x", text, n->name,
                          hd_hash(HD_HASH_INIT, n->prepared, n->prepared_bytes));
    }
    return text;
}

static int64_t number(json_object *o, const char *key) {
    double v = hd_json_number(o, key);
    return v >= 0 && v < 0x1p63 ? (int64_t)v : 0;
}

static bool take_net(json_object *o, struct hd_priced *out) {
    *out = (struct hd_priced){.cycles = number(o, "cycles"),
                              .host_ns = number(o, "host_ns"),
                              .price_us = number(o, "price_us")};
    snprintf(out->why, sizeof out->why, "%s", hd_json_text(o, "why"));
    for (int i = 0; i < WORK_FIELDS; i++) {
        double v = (double)number(o, work_fields[i].name);
        memcpy((char *)&out->work + work_fields[i].offset, &v, sizeof v);
        if (out->cycles && !json_object_object_get_ex(o, work_fields[i].name, NULL))
            return false; /* of an older version */
    }
    return out->cycles || out->why[0] || out->host_ns;
}

struct by_name {
    const char *text;
    struct hd_point *p;
};

static int compare(const void *x, const void *y) {
    return strcmp(((const struct by_name *)x)->text, ((const struct by_name *)y)->text);
}

/* The machine of a line: a price holds for any number of cores. */
static const char *text_of(hd_arena *a, const struct hd_point *p) {
    struct hd_machine m = p->m;
    m.cores = 1;
    return hd_machine_text(a, &m);
}

/* A line of the file, to the point that it is of; machines of other spaces are no error. */
static void take_line(struct hd_journal *j, const char *line, const struct by_name *names,
                      size_t n) {
    json_object *o = json_tokener_parse(line), *nets = hd_json_list(o, "networks");
    if (hd_json_items(nets) == (size_t)j->nets->n) {
        struct by_name key = {.text = hd_json_text(o, "machine")};
        struct by_name *found = bsearch(&key, names, n, sizeof *names, compare);
        bool ok = found && !found->p->priced;
        for (int i = 0; ok && i < j->nets->n; i++)
            ok = take_net(json_object_array_get_idx(nets, (size_t)i), &found->p->net[i]) ||
                 found->p->net[0].why[0];
        if (ok) found->p->priced = true, j->found++;
    }
    json_object_put(o);
}

static hd_status read_lines(struct hd_cmd *c, struct hd_journal *j, const char *path,
                            const char *want, struct hd_space *space) {
    void *data;
    size_t bytes, n = 0;
    if (access(path, R_OK)) return HD_OK;
    TRY(hd_file_read(c->ctx, path, &data, &bytes));
    struct by_name *names = hd_new_array(j->a, struct by_name, space->n_prices + 1);
    for (struct hd_point *p = space->at; p < space->at + space->n; p++)
        if (p->first == p) names[n++] = (struct by_name){text_of(j->a, p), p};
    qsort(names, n, sizeof *names, compare);
    hd_status s = HD_OK;
    char *line = data, *end;
    j->cut = bytes && line[bytes - 1] != '\n';
    for (int i = 0; s == HD_OK && (end = strchr(line, '\n')); i++, line = end + 1) {
        *end = 0;
        if (i) {
            take_line(j, line, names, n);
        } else if (strcmp(line, want)) {
            s = hd_fail(c->ctx, HD_MISMATCH,
                        "%s: is of another question ('%.100s'); this is '%.100s': name another "
                        "folder with -o, or remove it",
                        path, line, want);
        }
    }
    free(data);
    return s;
}

hd_status hd_journal_open(struct hd_cmd *c, hd_arena *a, const char *path,
                          const struct hd_nets *nets, struct hd_space *space,
                          struct hd_journal **out) {
    struct hd_journal *j = hd_new(a, struct hd_journal);
    const char *want = question(c, a, nets);
    *j = (struct hd_journal){.a = a, .nets = nets, .path = path};
    TRY(read_lines(c, j, path, want, space));
    bool fresh = access(path, R_OK) != 0;
    j->f = fopen(path, "a");
    if (!j->f) return hd_fail(c->ctx, HD_IO, "%s: cannot write: %s", path, strerror(errno));
    if (fresh) fprintf(j->f, "%s\n", want);
    if (j->cut) fputs("\n", j->f);
    fflush(j->f);
    *out = j;
    return HD_OK;
}

void hd_journal_add(struct hd_journal *j, const struct hd_point *p) {
    json_object *o = json_object_new_object(), *nets = json_object_new_array();
    hd_json_str(o, "machine", text_of(j->a, p));
    for (int i = 0; i < j->nets->n; i++) {
        json_object *x = json_object_new_object();
        if (p->net[i].why[0]) hd_json_str(x, "why", p->net[i].why);
        hd_json_int(x, "cycles", p->net[i].cycles);
        hd_json_int(x, "host_ns", p->net[i].host_ns);
        hd_json_int(x, "price_us", p->net[i].price_us);
        for (int k = 0; k < WORK_FIELDS; k++) {
            double v;
            memcpy(&v, (const char *)&p->net[i].work + work_fields[k].offset, sizeof v);
            hd_json_int(x, work_fields[k].name, (int64_t)v);
        }
        json_object_array_add(nets, x);
    }
    json_object_object_add(o, "networks", nets);
    fprintf(j->f, "%s\n", json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN));
    fflush(j->f);
    json_object_put(o);
}

size_t hd_journal_found(const struct hd_journal *j) {
    return j->found;
}

hd_status hd_journal_close(struct hd_cmd *c, struct hd_journal *j, hd_status s) {
    if (!j || !j->f) return s;
    bool bad = ferror(j->f);
    bad = fclose(j->f) != 0 || bad;
    if (s != HD_OK || !bad) return s;
    return hd_fail(c->ctx, HD_IO, "%s: cannot write all of it; is the disk full?", j->path);
}
