/* Gradients from device to device: see peers.h. */
#include "runtime/train/peers.h"

#include <string.h>

#include "compiler/grad/build.h"

hd_status hd_train_peers_agree(hd_ctx *ctx, const struct hd_train_options *o, bool *out,
                               const char **why) {
    int n = o->ranks ? hd_ranks_n(o->ranks) : 1, me = n > 1 ? hd_ranks_me(o->ranks) : 0;
    int shards = o->shards < 1 ? n : o->shards;
    bool tree = !(n & (n - 1)) && !(shards & (shards - 1)) && shards % n == 0;
    *out = false;
    if (n == 1 || !tree) return HD_OK; /* hd_shards_open says what is wrong */
    *why = o->devices ? "several devices share a step" : hd_peers_why_not(ctx, o->device);
    unsigned char can = !*why, other = 0;
    for (int with = 1; with < n; with *= 2) {
        TRY(hd_ranks_exchange(ctx, o->ranks, me ^ with, &can, &other, 1));
        if (!other && !*why) *why = "another rank has no way to it";
        can = can && other;
    }
    *out = can;
    return HD_OK;
}

/* ---- the update -------------------------------------------------------------------------------
 */

/* Shards first .. first + n - 1, by halves. */
static int tree(struct hd_back *b, int all, const struct hd_tensor *one, int first, int n,
                int shards, int ranks) {
    if (n == 1) {
        int mine = shards / ranks, row = first % mine * ranks + first / mine;
        return hd_b_reshape(b, hd_b_slice(b, all, 0, row, row + 1), one->rank, one->dim);
    }
    int left = tree(b, all, one, first, n / 2, shards, ranks);
    return hd_b(b, add, left, tree(b, all, one, first + n / 2, n / 2, shards, ranks));
}

static void gathered(struct hd_back *b, int input, int shards, int ranks) {
    hd_graph *g = b->g;
    struct hd_tensor one = hd_b_shape(b, g->inputs[input]);
    int64_t dim[HD_MAX_RANK] = {shards};
    memcpy(dim + 1, one.dim, (size_t)one.rank * sizeof *dim);
    const char *name = hd_sprintf(b->arena, "%s.shards", one.name);
    int was = g->inputs[input], all = hd_graph_tensor(g, name, one.dtype, one.rank + 1, dim);
    int sum = tree(b, all, &one, 0, shards, shards, ranks);
    int mean = hd_b(b, mul, sum, hd_b_number(b, one.dtype, 1 / (double)shards));
    if (b->status == HD_OK) hd_graph_replace(g, was, mean);
    g->inputs[input] = all;
}

hd_status hd_train_peers_update(hd_ctx *ctx, hd_graph *update, int n, int shards, int ranks) {
    struct hd_back b = {.ctx = ctx, .g = update, .arena = hd_arena_create(), .prefix = "shards"};
    for (int i = 0; i < n && b.status == HD_OK; i++) {
        int input = (int)update->n_inputs - n + i;
        if (update->tensors[update->inputs[input]].rank == HD_MAX_RANK)
            b.status = hd_fail(ctx, HD_UNSUPPORTED, "%s: %d dimensions leave none for shards",
                               update->tensors[update->inputs[input]].name, HD_MAX_RANK);
        else
            gathered(&b, input, shards, ranks);
    }
    hd_arena_destroy(b.arena);
    return b.status == HD_OK ? hd_graph_verify(ctx, update) : b.status;
}

/* ---- steps ------------------------------------------------------------------------------------
 */

hd_status hd_train_peers_open(hd_ctx *ctx, hd_arena *a, hd_ranks *ranks, struct hd_train_peers *p) {
    char id[HD_PEERS_ID];
    int from = 0;
    size_t bytes = 0;
    p->me = hd_ranks_me(ranks), p->n = hd_ranks_n(ranks);
    p->move = hd_new_array(a, struct hd_session_move, (size_t)p->n_gradients + 1);
    if (p->me == 0) TRY(hd_session_peers_id(ctx, p->update, id));
    for (int i = 1; i < p->n && p->me == 0; i++) TRY(hd_ranks_send(ctx, ranks, i, id, sizeof id));
    if (p->me) TRY(hd_ranks_receive(ctx, ranks, 0, id, sizeof id, &from, &bytes));
    return hd_session_join(ctx, p->update, id, p->me, p->n);
}

hd_status hd_train_peers_gather(hd_ctx *ctx, struct hd_train_peers *p, int k) {
    for (int i = 0; i < p->n_gradients; i++)
        p->move[i] = (struct hd_session_move){.output = p->n_results + i,
                                              .input = p->n_state + i,
                                              .at = (size_t)k * (size_t)p->n * p->bytes[i]};
    return hd_session_gather(ctx, p->update, p->step, p->move, p->n_gradients);
}
