/* Ranks of mpirun that price machines for rank 0.
 *
 * Rank 0 sends the networks once, then a machine to whoever is free, and writes the journal. A rank
 * needs no files. What waits sleeps between two looks, since MPI's own waits keep a core busy.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "compiler/cost/memo.h"
#include "compiler/explore/explore.h"
#include "runtime/base/memory.h"
#include "runtime/ranks/ranks.h"

enum { LOOK_NS = 2000000 };

struct head { /* what rank 0 sends first; then of each network the bytes of its graph */
    int32_t nets;
    uint64_t bytes[HD_EXPLORE_NETS];
    struct hd_prices_file prices[HD_EXPLORE_NETS];
};
struct task {
    uint64_t slot; /* of rank 0, comes back; OVER = nothing more */
    struct hd_machine m;
};
#define OVER UINT64_MAX
struct answer {
    uint64_t slot;
    struct hd_priced net[HD_EXPLORE_NETS];
};

struct hd_far {
    hd_ctx *ctx;
    hd_ranks *ranks;
    int nets;
    struct hd_point **at; /* of each slot what it is at; NULL = it is free */
    size_t slots, per_rank, busy;
    hd_status failed; /* of a message; its text is in ctx */
};

/* ---- rank 0 --------------------------------------------------------------------------------- */

hd_status hd_far_open(struct hd_cmd *c, hd_arena *a, hd_ranks *ranks, const struct hd_nets *nets,
                      struct hd_far **out) {
    struct head head = {.nets = nets->n};
    int n = hd_ranks_n(ranks);
    *out = NULL;
    if (n == 1) return HD_OK;
    for (int i = 0; i < nets->n; i++) {
        head.bytes[i] = nets->of[i].prepared_bytes;
        head.prices[i] = nets->of[i].prices_file;
    }
    for (int r = 1; r < n; r++) {
        TRY(hd_ranks_send(c->ctx, ranks, r, &head, sizeof head));
        for (int i = 0; i < nets->n; i++)
            TRY(hd_ranks_send(c->ctx, ranks, r, nets->of[i].prepared, nets->of[i].prepared_bytes));
    }
    struct hd_far *f = hd_new(a, struct hd_far);
    size_t jobs = (size_t)c->opt.explore.jobs;
    *f = (struct hd_far){.ctx = c->ctx,
                         .ranks = ranks,
                         .nets = nets->n,
                         .slots = (size_t)(n - 1) * jobs,
                         .per_rank = jobs};
    f->at = hd_new_array(a, struct hd_point *, f->slots);
    memset(f->at, 0, f->slots * sizeof *f->at);
    *out = f;
    return HD_OK;
}

bool hd_far_free(const struct hd_far *f) {
    return f && f->failed == HD_OK && f->busy < f->slots;
}

bool hd_far_busy(const struct hd_far *f) {
    return f && f->failed == HD_OK && f->busy > 0;
}

/* To the ranks in turn, so that each has one before one has two. */
void hd_far_give(struct hd_far *f, struct hd_point *p) {
    size_t n = f->slots / f->per_rank, i = 0;
    while (f->at[i % n * f->per_rank + i / n]) i++;
    struct task t = {.slot = i % n * f->per_rank + i / n, .m = p->m};
    f->at[t.slot] = p;
    f->busy++;
    f->failed = hd_ranks_send(f->ctx, f->ranks, 1 + (int)(i % n), &t, sizeof t);
}

struct hd_point *hd_far_take(struct hd_far *f) {
    struct answer got;
    size_t bytes = 0;
    bool is = false;
    int from;
    if (!hd_far_busy(f)) return NULL;
    f->failed = hd_ranks_waiting(f->ctx, f->ranks, -1, &is);
    if (f->failed != HD_OK || !is) return NULL;
    f->failed = hd_ranks_receive(f->ctx, f->ranks, -1, &got, sizeof got, &from, &bytes);
    if (f->failed != HD_OK || bytes != sizeof got || got.slot >= f->slots || !f->at[got.slot])
        return NULL;
    struct hd_point *p = f->at[got.slot];
    memcpy(p->net, got.net, (size_t)f->nets * sizeof *p->net);
    p->priced = true;
    f->at[got.slot] = NULL;
    f->busy--;
    return p;
}

hd_status hd_far_close(struct hd_far *f) {
    const struct task over = {.slot = OVER};
    for (int r = 1; f && f->failed == HD_OK && r < hd_ranks_n(f->ranks); r++)
        f->failed = hd_ranks_send(f->ctx, f->ranks, r, &over, sizeof over);
    return f ? f->failed : HD_OK;
}

/* ---- the others ----------------------------------------------------------------------------- */

struct served {
    struct hd_cmd *c;
    hd_ranks *ranks;
    bool over;
    hd_status status;
};
struct far_point { /* a machine that rank 0 sent */
    struct hd_point p;
    uint64_t slot;
    struct hd_priced net[HD_EXPLORE_NETS];
};

static hd_status next_message(struct served *s, void *out, size_t bytes) {
    bool is = false;
    int from;
    size_t got = 0;
    while (!is) {
        TRY(hd_ranks_waiting(s->c->ctx, s->ranks, 0, &is));
        if (!is) nanosleep(&(struct timespec){0, LOOK_NS}, NULL);
    }
    TRY(hd_ranks_receive(s->c->ctx, s->ranks, 0, out, bytes, &from, &got));
    if (got == bytes) return HD_OK;
    return hd_fail(s->c->ctx, HD_INVALID, "rank 0 sent %zu bytes, want %zu: is it another heddle?",
                   got, bytes);
}

static struct hd_point *next_task(void *user, bool *more) {
    struct served *s = user;
    struct task t = {0};
    bool is = false;
    s->status = hd_ranks_waiting(s->c->ctx, s->ranks, 0, &is);
    if (s->status == HD_OK && is) s->status = next_message(s, &t, sizeof t);
    if (s->status != HD_OK) s->over = true;
    if (is && s->status == HD_OK && t.slot == OVER) s->over = true;
    *more = !s->over;
    if (!is || s->over) return NULL;
    struct far_point *f = calloc(1, sizeof *f);
    HD_MEMORY(f);
    f->slot = t.slot, f->p.m = t.m, f->p.net = f->net;
    return &f->p;
}

static void send_answer(void *user, struct hd_point *p) {
    struct served *s = user;
    struct far_point *f = (struct far_point *)p;
    struct answer out = {.slot = f->slot};
    memcpy(out.net, f->net, sizeof out.net);
    if (s->status == HD_OK) s->status = hd_ranks_send(s->c->ctx, s->ranks, 0, &out, sizeof out);
    free(f);
}

hd_status hd_far_serve(struct hd_cmd *c, hd_ranks *ranks) {
    struct served s = {.c = c, .ranks = ranks};
    struct hd_nets nets;
    struct head head;
    memset(&nets, 0, sizeof nets);
    TRY(next_message(&s, &head, sizeof head));
    if (!head.nets) return HD_OK; /* rank 0 failed, and says why */
    for (nets.n = 0; nets.n < head.nets; nets.n++) {
        struct hd_net *net = &nets.of[nets.n];
        net->prepared_bytes = (size_t)head.bytes[nets.n];
        net->prepared = malloc(net->prepared_bytes);
        net->prices = hd_prices_share(&head.prices[nets.n]);
        net->prices_file.fd = -1;
        HD_MEMORY(net->prepared);
        TRY(next_message(&s, net->prepared, net->prepared_bytes));
    }
    struct hd_work_list w = {.c = c,
                             .nets = &nets,
                             .jobs = c->opt.explore.jobs,
                             .next = next_task,
                             .done = send_answer,
                             .user = &s};
    hd_work_all(&w);
    hd_nets_close(&nets);
    return s.status;
}

void hd_far_nothing(hd_ctx *ctx, hd_ranks *ranks) {
    const struct head none = {.nets = 0};
    for (int r = 1; r < hd_ranks_n(ranks); r++)
        if (hd_ranks_send(ctx, ranks, r, &none, sizeof none) != HD_OK) return;
}
