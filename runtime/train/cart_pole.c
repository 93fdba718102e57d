/* Deep Q-learning on cart-pole, with the pole's equations in C.
 * Source: Barto, Sutton and Anderson, IEEE SMC-13 (1983), appendix; Mnih et al., arXiv:1312.5602,
 * algorithm 1, with a network of its own for the targets. */
#include <math.h>
#include <string.h>

#include "runtime/train/eval.h"
#include "runtime/train/task.h"

enum {
    STATE = 4,
    BATCH = 32,
    MEMORY = 10000,
    MOST_STEPS = 200,
    EPISODES = 20,   /* of the score */
    TRAINED = 12000, /* steps of the game */
    BEGIN = 500,     /* that are played before training */
    FOLLOW = 200     /* steps until the targets' network is that of now */
};
#define FUTURE 0.98f /* what the next step's value counts */

struct pole {
    float s[STATE]; /* place, speed, angle, speed of the angle */
    int n;
};

static void set_up(struct pole *p, struct hd_dice *d) {
    for (int i = 0; i < STATE; i++) p->s[i] = ((float)hd_dice_below(d, 1000) - 500) / 10000;
    p->n = 0;
}

/* A push to the left or right for 20 ms; false: it fell, or ran off. */
static bool push(struct pole *p, int right) {
    const float mass = 0.1f, all = 1.1f, half = 0.5f, gravity = 9.8f, time = 0.02f;
    float force = right ? 10 : -10, c = cosf(p->s[2]), s = sinf(p->s[2]);
    float part = (force + mass * half * p->s[3] * p->s[3] * s) / all;
    float turn = (gravity * s - c * part) / (half * (4.0f / 3 - mass * c * c / all));
    float speed = part - mass * half * turn * c / all;
    p->s[0] += time * p->s[1], p->s[1] += time * speed;
    p->s[2] += time * p->s[3], p->s[3] += time * turn;
    p->n++;
    return fabsf(p->s[0]) < 2.4f && fabsf(p->s[2]) < 0.2095f;
}

struct seen { /* a step of the game */
    float before[STATE], after[STATE];
    int64_t right;
    bool fell;
};

struct game {
    struct hd_dice d;
    hd_graph *g, *values, *one;
    hd_trainer *t;
    hd_eval *now, *target; /* values of one state; of a batch, by older weights */
    struct seen *memory;
    int n, at;
};

static int values(struct hd_layers *l, int x) {
    x = hd_layer_relu(l, hd_layer_dense(l, x, 64));
    x = hd_layer_relu(l, hd_layer_dense(l, x, 64));
    return hd_layer_dense(l, x, 2);
}

/* What is chosen is worth what it gave: the square of the difference. */
static hd_status build(hd_ctx *ctx, uint32_t seed, int64_t batch, bool loss, hd_graph **out) {
    struct hd_layers l;
    hd_layers_init(&l, ctx, "cart_pole", seed);
    int x = hd_layer_input(&l, "state", 2, (int64_t[]){batch, STATE}, NULL), y = values(&l, x);
    if (loss) {
        int64_t column[2] = {batch, 1};
        int right = hd_layer_integers(&l, "right", 2, column, NULL);
        int worth = hd_layer_input(&l, "worth", 2, column, NULL);
        int node = hd_b_start(&l.b, HD_IR_gatherelements, 2, (int[]){y, right}, 1);
        hd_b_int(&l.b, node, "axis", 1);
        y = hd_loss_square(&l, hd_b_end(&l.b, node), worth);
    }
    return hd_layers_finish(&l, y, out);
}

static hd_status choose(hd_ctx *ctx, struct game *g, const float *s, int *out) {
    float y[2] = {0, 0};
    TRY(hd_eval_run(ctx, g->now, (const void *[]){s}, (void *[]){y}));
    *out = y[1] > y[0];
    return HD_OK;
}

/* A batch of what was seen, anywhere in the memory. */
static hd_status learn(hd_ctx *ctx, struct game *g) {
    float before[BATCH * STATE], after[BATCH * STATE], worth[BATCH], loss = 0;
    float next[BATCH * 2] = {0}; /* of each state: worth of left and of right */
    int64_t right[BATCH];
    bool fell[BATCH];
    for (int i = 0; i < BATCH; i++) {
        const struct seen *m = &g->memory[hd_dice_below(&g->d, (uint32_t)g->n)];
        memcpy(before + i * STATE, m->before, sizeof m->before);
        memcpy(after + i * STATE, m->after, sizeof m->after);
        right[i] = m->right, fell[i] = m->fell;
    }
    TRY(hd_eval_run(ctx, g->target, (const void *[]){after}, (void *[]){next}));
    for (int i = 0; i < BATCH; i++)
        worth[i] = fell[i] ? 0 : 1 + FUTURE * fmaxf(next[2 * i], next[2 * i + 1]);
    return hd_trainer_run(ctx, g->t, (const void *[]){before, right, worth}, &loss);
}

static hd_status play(hd_ctx *ctx, struct game *g) {
    struct pole p;
    set_up(&p, &g->d);
    for (int i = 0; i < TRAINED; i++) {
        /* chance of a push by the dice: from 1 to 1/50 in the first half */
        float dice = fmaxf(0.02f, 1 - 2 * (float)i / TRAINED);
        struct seen *m = &g->memory[g->at];
        int right = (int)hd_dice_below(&g->d, 2);
        if ((float)hd_dice_below(&g->d, 10000) >= 10000 * dice) TRY(choose(ctx, g, p.s, &right));
        memcpy(m->before, p.s, sizeof p.s);
        m->fell = !push(&p, right), m->right = right;
        memcpy(m->after, p.s, sizeof p.s);
        if (m->fell || p.n == MOST_STEPS) set_up(&p, &g->d);
        g->at = (g->at + 1) % MEMORY;
        if (g->n < MEMORY) g->n++;
        if (i % FOLLOW == 0) hd_eval_keep(g->target);
        if (i >= BEGIN) TRY(learn(ctx, g));
    }
    return HD_OK;
}

static hd_status score(hd_ctx *ctx, struct game *g, double *out) {
    int sum = 0;
    for (int i = 0; i < EPISODES; i++) {
        struct pole p;
        int right = 0;
        bool stands = true;
        set_up(&p, &g->d);
        while (stands && p.n < MOST_STEPS) {
            TRY(choose(ctx, g, p.s, &right));
            stands = push(&p, right);
        }
        sum += p.n;
    }
    *out = (double)sum / EPISODES;
    return HD_OK;
}

static hd_status run(hd_ctx *ctx, struct game *g, const struct hd_task_options *o, double *out) {
    struct hd_train_options t = o->train;
    t.shards = 1;
    t.optimizer = hd_optimizer_default(HD_OPTIMIZER_adam);
    t.optimizer.rate = 0.001, t.optimizer.clip_norm = 10, t.optimizer.steps = TRAINED;
    t.optimizer.schedule = HD_SCHEDULE_cosine;
    TRY(build(ctx, o->seed, BATCH, true, &g->g));
    TRY(build(ctx, o->seed, BATCH, false, &g->values));
    TRY(build(ctx, o->seed, 1, false, &g->one));
    TRY(hd_trainer_open(ctx, g->g, &t, &g->t));
    TRY(hd_eval_open(ctx, g->one, &t, g->t, &g->now));
    TRY(hd_eval_open(ctx, g->values, &t, g->t, &g->target));
    TRY(play(ctx, g));
    return score(ctx, g, out);
}

hd_status hd_cart_pole(hd_ctx *, const struct hd_task_options *, double *);
hd_status hd_cart_pole(hd_ctx *ctx, const struct hd_task_options *o, double *out_score) {
    hd_arena *a = hd_arena_create();
    struct game g = {.d = {.key = hd_random_hash(o->seed)},
                     .memory = hd_new_array(a, struct seen, MEMORY)};
    hd_status s = run(ctx, &g, o, out_score);
    hd_eval_close(g.now);
    hd_eval_close(g.target);
    hd_trainer_close(g.t);
    hd_graph *all[] = {g.g, g.values, g.one};
    for (int i = 0; i < 3; i++)
        if (all[i]) hd_graph_destroy(all[i]);
    hd_arena_destroy(a);
    return s;
}
