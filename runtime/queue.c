/* Several requests of one session in flight: a few threads take them in order and run their steps.
 * A device runs one step at a time (the session's locks), so what overlaps is the host steps of one
 * request, with packing and copying, and the machine steps of another; and those of several cores,
 * which each have their share of the requests. Nothing is allocated between open and close. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/base/num.h"
#include "runtime/session.h"

enum { MOST = 64, SPARE = 2, THREADS = HD_MOST_cores + SPARE, SPANS = 1024 };
enum state { FREE, PENDING, RUNNING, DONE };

struct request {
    struct hd_queue *q;
    uint64_t id;
    enum state state;
    bool waited; /* somebody waits for it, so it is not free yet */
    hd_status status;
    hd_ctx *ctx; /* its messages */
    struct hd_slot *slot;
    const void **inputs;
    void **outputs;
};

struct hd_queue {
    hd_session *s;
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    bool stop;
    struct request *requests;
    int n;
    uint64_t next_id;
    pthread_t threads[THREADS];
    int n_threads;
    uint64_t begin_ns;
    struct hd_span spans[SPANS]; /* a ring */
    uint64_t n_spans;            /* ever */
};

/* ---- threads -------------------------------------------------------------------------------- */

static void span(void *user, int step, bool on_machine, uint64_t start_ns, uint64_t end_ns) {
    struct request *r = user;
    struct hd_queue *q = r->q;
    pthread_mutex_lock(&q->lock);
    q->spans[q->n_spans++ % SPANS] =
        (struct hd_span){r->id, step, on_machine, start_ns - q->begin_ns, end_ns - q->begin_ns};
    pthread_mutex_unlock(&q->lock);
}

static struct request *oldest_pending(struct hd_queue *q) {
    struct request *best = NULL;
    for (int i = 0; i < q->n; i++)
        if (q->requests[i].state == PENDING && (!best || q->requests[i].id < best->id))
            best = &q->requests[i];
    return best;
}

static void *run_requests(void *arg) {
    struct hd_queue *q = arg;
    pthread_mutex_lock(&q->lock);
    while (!q->stop) {
        struct request *r = oldest_pending(q);
        if (!r) {
            pthread_cond_wait(&q->work, &q->lock);
            continue;
        }
        r->state = RUNNING;
        pthread_mutex_unlock(&q->lock);
        hd_clear(r->ctx);
        hd_status s = hd_slot_run(r->ctx, q->s, r->slot, r->inputs, r->outputs,
                                  &(struct hd_span_sink){span, r});
        pthread_mutex_lock(&q->lock);
        r->status = s;
        r->state = DONE;
        pthread_cond_broadcast(&q->done);
    }
    pthread_mutex_unlock(&q->lock);
    return NULL;
}

/* ---- open and close ------------------------------------------------------------------------- */

void hd_queue_close(struct hd_queue *q) {
    if (!q) return;
    pthread_mutex_lock(&q->lock);
    q->stop = true;
    pthread_cond_broadcast(&q->work);
    pthread_mutex_unlock(&q->lock);
    for (int i = 0; i < q->n_threads; i++) pthread_join(q->threads[i], NULL);
    for (int i = 0; q->requests && i < q->n; i++) {
        if (q->requests[i].ctx) hd_ctx_destroy(q->requests[i].ctx);
        free(q->requests[i].inputs);
        free(q->requests[i].outputs);
    }
    pthread_mutex_destroy(&q->lock);
    pthread_cond_destroy(&q->work);
    pthread_cond_destroy(&q->done);
    free(q->requests);
    free(q);
}

static hd_status open_request(hd_ctx *ctx, struct hd_queue *q, struct request *r) {
    const hd_model *m = q->s->model;
    r->q = q;
    r->ctx = hd_ctx_create();
    r->inputs = calloc((size_t)m->n_inputs + 1, sizeof *r->inputs);
    r->outputs = calloc((size_t)m->n_outputs + 1, sizeof *r->outputs);
    if (!r->inputs || !r->outputs)
        return hd_fail(ctx, HD_NOMEM, "%s: no memory for a request", m->name);
    return hd_slot_open(ctx, q->s, (int)(r - q->requests) % (q->s->n_cores + 1), &r->slot);
}

static hd_status open_queue(hd_ctx *ctx, struct hd_queue *q, int n) {
    q->requests = calloc((size_t)n, sizeof *q->requests);
    if (!q->requests) return hd_fail(ctx, HD_NOMEM, "%s: no memory for a queue", q->s->model->name);
    TRY(hd_session_cores(ctx, q->s, n));
    for (q->n = 0; q->n < n; q->n++) TRY(open_request(ctx, q, &q->requests[q->n]));
    const int threads = (int)hd_min(q->s->n_cores + 1 + SPARE, n);
    for (q->n_threads = 0; q->n_threads < threads; q->n_threads++)
        if (pthread_create(&q->threads[q->n_threads], NULL, run_requests, q))
            return hd_fail(ctx, HD_NOMEM, "%s: the system gives no thread; raise ulimit -u",
                           q->s->model->name);
    return HD_OK;
}

hd_status hd_session_queue(hd_ctx *ctx, hd_session *s, int n) {
    if (s->queue)
        return hd_fail(ctx, HD_INVALID, "%s: the session has a queue of %d already", s->model->name,
                       s->queue->n);
    if (n < 1 || n > MOST)
        return hd_fail(ctx, HD_INVALID, "%s: a queue of %d requests, want 1 to %d", s->model->name,
                       n, MOST);
    struct hd_queue *q = calloc(1, sizeof *q);
    if (!q) return hd_fail(ctx, HD_NOMEM, "%s: no memory for a queue", s->model->name);
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->work, NULL);
    pthread_cond_init(&q->done, &clock);
    pthread_condattr_destroy(&clock);
    q->s = s;
    q->begin_ns = hd_now_ns();
    hd_status r = open_queue(ctx, q, n);
    if (r) {
        if (q->n < n) q->n++; /* the one that failed has parts, too */
        hd_queue_close(q);
    } else {
        s->queue = q;
    }
    return r;
}

/* ---- requests ------------------------------------------------------------------------------- */

/* A free one, of the core with the fewest in flight; NULL = there is none. */
static struct request *find_free(struct hd_queue *q) {
    int busy[HD_MOST_cores + 1] = {0};
    struct request *best = NULL;
    for (int i = 0; i < q->n; i++) busy[q->requests[i].slot->core] += q->requests[i].state != FREE;
    for (int i = 0; i < q->n; i++) {
        struct request *r = &q->requests[i];
        if (r->state == FREE && (!best || busy[r->slot->core] < busy[best->slot->core])) best = r;
    }
    return best;
}

static hd_status no_queue(hd_ctx *ctx, const hd_session *s) {
    return hd_fail(ctx, HD_INVALID, "%s: the session has no queue; call hd_session_queue first",
                   s->model->name);
}

hd_status hd_session_submit(hd_ctx *ctx, hd_session *s, const void *const *inputs,
                            void *const *outputs, uint64_t *out_request) {
    *out_request = 0;
    TRY(hd_check_arrays(ctx, s, inputs, (const void *const *)outputs));
    struct hd_queue *q = s->queue;
    const hd_model *m = s->model;
    if (!q) return no_queue(ctx, s);
    pthread_mutex_lock(&q->lock);
    struct request *r = find_free(q);
    if (r) {
        memcpy(r->inputs, inputs, (size_t)m->n_inputs * sizeof *inputs);
        memcpy(r->outputs, outputs, (size_t)m->n_outputs * sizeof *outputs);
        *out_request = r->id = ++q->next_id;
        r->state = PENDING;
        pthread_cond_signal(&q->work);
    }
    pthread_mutex_unlock(&q->lock);
    if (r) return HD_OK;
    return hd_fail(ctx, HD_INVALID,
                   "%s: %d requests are in flight, all that the queue holds; wait for one", m->name,
                   q->n);
}

static struct timespec deadline(uint64_t timeout_ns) {
    uint64_t ns = hd_now_ns();
    ns = timeout_ns < UINT64_MAX / 2 ? ns + timeout_ns : UINT64_MAX / 2;
    return (struct timespec){(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
}

/* Waits under the lock until r is done; false when time ran out, or the waiting was cancelled. */
static bool wait_done(hd_ctx *ctx, struct hd_queue *q, struct request *r, uint64_t timeout_ns) {
    enum { LOOK_NS = 50000000 }; /* between looks at ctx */
    uint64_t begin = hd_now_ns();
    while (r->state != DONE) {
        uint64_t waited = hd_now_ns() - begin;
        if (waited >= timeout_ns) return false;
        pthread_mutex_unlock(&q->lock); /* ctx may ask the program, which takes its time */
        hd_status s = hd_continue(ctx);
        pthread_mutex_lock(&q->lock);
        if (s != HD_OK) return r->state == DONE;
        uint64_t left = timeout_ns - waited;
        struct timespec end = deadline(left < LOOK_NS ? left : LOOK_NS);
        if (r->state != DONE) pthread_cond_timedwait(&q->done, &q->lock, &end);
    }
    return true;
}

bool hd_session_in_flight(hd_session *s, uint64_t request) {
    struct hd_queue *q = s->queue;
    bool is = false;
    if (!q) return false;
    pthread_mutex_lock(&q->lock);
    for (int i = 0; i < q->n && !is; i++)
        is = q->requests[i].state != FREE && q->requests[i].id == request;
    pthread_mutex_unlock(&q->lock);
    return is;
}

hd_status hd_session_wait(hd_ctx *ctx, hd_session *s, uint64_t request, uint64_t timeout_ns) {
    struct hd_queue *q = s->queue;
    const char *name = s->model->name;
    if (!q) return no_queue(ctx, s);
    struct request *r = NULL;
    hd_status status = HD_OK;
    pthread_mutex_lock(&q->lock);
    for (int i = 0; i < q->n && !r; i++)
        if (q->requests[i].state != FREE && q->requests[i].id == request) r = &q->requests[i];
    if (!r || r->waited) {
        status =
            hd_fail(ctx, HD_INVALID, "%s: request %llu is %s", name, (unsigned long long)request,
                    r ? "waited for by another thread" : "not in flight");
    } else {
        r->waited = true;
        if (wait_done(ctx, q, r, timeout_ns)) {
            status = r->status;
            if (status) hd_fail(ctx, status, "%s", hd_message(r->ctx));
            s->last = r->slot;
            r->state = FREE;
        } else if ((status = hd_continue(ctx)) == HD_OK) {
            status =
                hd_fail(ctx, HD_DEVICE, "%s: request %llu is not done after %llu ms; wait on", name,
                        (unsigned long long)request, (unsigned long long)(timeout_ns / 1000000u));
        }
        r->waited = false;
    }
    pthread_mutex_unlock(&q->lock);
    return status;
}

int hd_session_timeline(hd_session *s, struct hd_span *out, int max) {
    struct hd_queue *q = s->queue;
    if (!q || max <= 0) return 0;
    pthread_mutex_lock(&q->lock);
    uint64_t have = q->n_spans < SPANS ? q->n_spans : SPANS;
    int n = have < (uint64_t)max ? (int)have : max;
    for (int i = 0; i < n; i++) out[i] = q->spans[(q->n_spans - have + (uint64_t)i) % SPANS];
    pthread_mutex_unlock(&q->lock);
    return n;
}
