/* Names of the file. A graph in an attribute sees the names of the graphs around it; what it reads
 * from there becomes an input of its own. */
#include <string.h>

#include "compiler/import/onnx/onnx.h"
#include "runtime/base/num.h"

struct entry {
    const char *name; /* NULL = free */
    int tensor;
    const struct hd_sequence *sequence; /* NULL = a tensor */
};

struct hd_scope {
    hd_arena *arena;
    struct hd_scope *up; /* of the same graph */
    struct entry *slot;  /* open addressing */
    size_t n, cap;
};

struct hd_scope *hd_scope_create(hd_arena *a, struct hd_scope *up) {
    struct hd_scope *s = hd_new(a, struct hd_scope);
    s->arena = a;
    s->up = up;
    return s;
}

static struct entry *find(const struct hd_scope *s, const char *name) {
    size_t i = hd_hash(HD_HASH_INIT, name, strlen(name)) & (s->cap - 1);
    while (s->slot[i].name && strcmp(s->slot[i].name, name)) i = (i + 1) & (s->cap - 1);
    return &s->slot[i];
}

bool hd_scope_has(const struct hd_scope *s, const char *name) {
    return s->cap && find(s, name)->name;
}

static void bind(struct hd_scope *s, const char *name, int tensor) {
    if ((s->n + 1) * 2 > s->cap) {
        struct hd_scope old = *s;
        s->cap = old.cap ? old.cap * 2 : 64;
        s->slot = hd_new_array(s->arena, struct entry, s->cap);
        for (size_t i = 0; i < old.cap; i++)
            if (old.slot[i].name) *find(s, old.slot[i].name) = old.slot[i];
    }
    struct entry *e = find(s, name);
    s->n += !e->name;
    *e = (struct entry){hd_strdup(s->arena, name), tensor, NULL};
}

void hd_scope_bind(struct hd_importer *m, const char *name, int tensor) {
    bind(m->scope, name, tensor);
}

const struct hd_sequence *hd_scope_sequence(const struct hd_importer *m, const char *name) {
    for (const struct hd_scope *s = m->scope; s; s = s->up)
        if (hd_scope_has(s, name)) return find(s, name)->sequence;
    return NULL;
}

void hd_scope_bind_sequence(struct hd_importer *m, const char *name, const struct hd_sequence *s) {
    bind(m->scope, name, hd_scope_find(m, name));
    find(m->scope, name)->sequence = s;
}

static int capture(const struct hd_importer *m, const char *name, int outer) {
    const struct hd_tensor t = m->outer->g->tensors[outer];
    static const int64_t none[1];
    int id = hd_graph_tensor(m->g, name, t.dtype, t.rank, t.known ? t.rank ? t.dim : none : NULL);
    if (t.data)
        m->g->tensors[id].data = t.data; /* lives as long as the graph around this one */
    else {
        hd_graph_input(m->g, id);
        *hd_push(m->arena, m->captures->outer, m->captures->n, m->captures->cap) = outer;
    }
    struct hd_scope *own = m->scope;
    while (own->up) own = own->up;
    bind(own, name, id);
    return id;
}

int hd_scope_find(const struct hd_importer *m, const char *name) {
    for (const struct hd_scope *s = m->scope; s; s = s->up)
        if (hd_scope_has(s, name)) return find(s, name)->tensor;
    int outer = m->outer ? hd_scope_find(m->outer, name) : -1;
    return outer < 0 ? -1 : capture(m, name, outer);
}
