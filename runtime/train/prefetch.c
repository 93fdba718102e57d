/* Batches by a thread of their own: see prefetch.h. */
#include "runtime/train/prefetch.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"

enum { DEPTH = 3 }; /* one is read, one is ready, one is made */

struct hd_prefetch {
    hd_arena *arena;
    struct hd_source source;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t change;
    int64_t first, made, read; /* steps since the first: that are made, that were asked for */
    bool ends;
    void **slot[DEPTH];
};

/* Waits for room for another step; false: it is over. */
static bool room(hd_prefetch *p) {
    pthread_mutex_lock(&p->lock);
    while (!p->ends && p->made - p->read >= DEPTH - 1) pthread_cond_wait(&p->change, &p->lock);
    bool goes_on = !p->ends;
    pthread_mutex_unlock(&p->lock);
    return goes_on;
}

static void *work(void *user) {
    hd_prefetch *p = user;
    while (room(p)) {
        p->source.get(p->source.user, p->first + p->made, p->slot[p->made % DEPTH]);
        pthread_mutex_lock(&p->lock);
        p->made++;
        pthread_cond_broadcast(&p->change);
        pthread_mutex_unlock(&p->lock);
    }
    return NULL;
}

hd_status hd_prefetch_open(hd_ctx *ctx, const struct hd_source *source, int64_t first,
                           hd_prefetch **out) {
    hd_arena *a = hd_arena_create();
    hd_prefetch *p = hd_new(a, hd_prefetch);
    p->arena = a, p->source = *source, p->first = first;
    for (int k = 0; k < DEPTH; k++) {
        p->slot[k] = hd_new_array(a, void *, (size_t)source->n + 1);
        for (int i = 0; i < source->n; i++) p->slot[k][i] = hd_alloc(a, source->bytes[i] + 1);
    }
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->change, NULL);
    if (pthread_create(&p->thread, NULL, work, p)) {
        hd_arena_destroy(a);
        return hd_fail(ctx, HD_NOMEM, "no thread for batches");
    }
    *out = p;
    return HD_OK;
}

const void *const *hd_prefetch_next(hd_prefetch *p) {
    pthread_mutex_lock(&p->lock);
    int64_t i = p->read++;
    pthread_cond_broadcast(&p->change);
    while (p->made <= i) pthread_cond_wait(&p->change, &p->lock);
    pthread_mutex_unlock(&p->lock);
    return (const void *const *)p->slot[i % DEPTH];
}

void hd_prefetch_close(hd_prefetch *p) {
    if (!p) return;
    pthread_mutex_lock(&p->lock);
    p->ends = true;
    pthread_cond_broadcast(&p->change);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
    pthread_cond_destroy(&p->change);
    pthread_mutex_destroy(&p->lock);
    hd_arena_destroy(p->arena);
}
