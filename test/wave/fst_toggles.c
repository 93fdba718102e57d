/* Counts changes of bits in an FST file, in each scope: fst_toggles FILE.fst. Clocks and texts are
 * left out; a signal that has several names counts once, where it has its first. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fstapi.h"

struct signal {
    int scope; /* -1: not counted */
    uint32_t bits;
    char *value; /* NULL: none yet */
};
struct counts {
    struct signal *of; /* by handle, from 1 */
    char **path;       /* by scope */
    uint64_t *toggles;
    int n_scopes;
};

static void see(void *user, uint64_t time, fstHandle handle, const unsigned char *value) {
    struct counts *c = user;
    struct signal *s = &c->of[handle];
    (void)time;
    if (s->scope < 0) return;
    for (uint32_t i = 0; s->value && i < s->bits; i++)
        c->toggles[s->scope] += s->value[i] != (char)value[i];
    if (!s->value) s->value = malloc(s->bits);
    memcpy(s->value, value, s->bits);
}

/* A text comes with its length. */
static void see_text(void *user, uint64_t time, fstHandle handle, const unsigned char *value,
                     uint32_t bytes) {
    (void)user, (void)time, (void)handle, (void)value, (void)bytes;
}

static void read_names(void *r, struct counts *c) {
    int depth = 0, at[64];
    char path[4096] = "";
    size_t end[64] = {0};
    for (struct fstHier *h; (h = fstReaderIterateHier(r));) {
        if (h->htyp == FST_HT_SCOPE) {
            snprintf(path + end[depth], sizeof path - end[depth], "%s%s", depth ? "." : "",
                     h->u.scope.name);
            end[++depth] = strlen(path), at[depth] = c->n_scopes;
            c->path = realloc(c->path, (size_t)(c->n_scopes + 1) * sizeof *c->path);
            c->path[c->n_scopes++] = strdup(path);
        } else if (h->htyp == FST_HT_UPSCOPE) {
            path[end[--depth]] = 0;
        } else if (h->htyp == FST_HT_VAR && !h->u.var.is_alias) {
            bool counts = depth && h->u.var.typ != FST_VT_GEN_STRING && h->u.var.length &&
                          strcmp(h->u.var.name, "ap_clk") && strcmp(h->u.var.name, "clk_i");
            c->of[h->u.var.handle] =
                (struct signal){counts ? at[depth] : -1, h->u.var.length, NULL};
        }
    }
}

int main(int argc, char **argv) {
    void *r = argc == 2 ? fstReaderOpen(argv[1]) : NULL;
    struct counts c = {0};
    if (!r) {
        fprintf(stderr, "fst_toggles: cannot read %s\n", argc == 2 ? argv[1] : "without a file");
        return 1;
    }
    c.of = calloc(fstReaderGetMaxHandle(r) + 1, sizeof *c.of);
    read_names(r, &c);
    c.toggles = calloc((size_t)c.n_scopes + 1, sizeof *c.toggles);
    fstReaderSetFacProcessMaskAll(r);
    if (!fstReaderIterBlocks2(r, see, see_text, &c, NULL)) return 1;
    for (int i = 0; i < c.n_scopes; i++)
        if (c.toggles[i]) printf("%llu %s\n", (unsigned long long)c.toggles[i], c.path[i]);
    fstReaderClose(r);
    return 0;
}
