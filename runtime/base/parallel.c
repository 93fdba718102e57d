/* Threads for loops whose rounds are independent (kernels of device cpu, plans of the compiler):
 * one pool of the process.
 *
 * The caller works, too, and workers take units as they come: a worker that the system does not run
 * at the moment, on a busy machine, holds nobody up, as the caller then does its units and waits
 * only for those that were begun. (A team of OpenMP, which oneDNN uses, waits for every member.)
 * A worker spins a little for the next job, since steps follow each other within microseconds, and
 * sleeps then.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/parallel.h"

enum { WORKERS_MAX = 255, SPINS = 4000, SPINS_CALLER = 20000 };

struct job {
    void (*fn)(void *, int64_t, int);
    void *arg;
    int64_t n;
    int threads;
};

static struct pool {
    pthread_mutex_t lock, user; /* user: one job at a time; another caller works alone */
    pthread_cond_t wake;
    int workers, sleeping;
    struct job job;
    atomic_int serial; /* of the job; odd = open to workers */
    atomic_int inside; /* workers in it */
    atomic_llong next; /* unit */
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER,
          .user = PTHREAD_MUTEX_INITIALIZER,
          .wake = PTHREAD_COND_INITIALIZER};

static void relax(void) {
#if defined __x86_64__
    __builtin_ia32_pause();
#endif
}

static void take_units(const struct job *j, int thread) {
    for (;;) {
        int64_t i = atomic_fetch_add(&pool.next, 1);
        if (i >= j->n) return;
        j->fn(j->arg, i, thread);
    }
}

/* Waits until the job is another one than `seen` and open; false = still none after spinning. */
static bool spin_for_job(int seen) {
    for (int i = 0; i < SPINS; i++) {
        int now = atomic_load(&pool.serial);
        if (now != seen && now & 1) return true;
        relax();
    }
    return false;
}

static void *work(void *number) {
    int thread = (int)(intptr_t)number, seen = 0;
    for (;;) {
        if (!spin_for_job(seen)) {
            pthread_mutex_lock(&pool.lock);
            pool.sleeping++;
            while (atomic_load(&pool.serial) == seen || !(atomic_load(&pool.serial) & 1))
                pthread_cond_wait(&pool.wake, &pool.lock);
            pool.sleeping--;
            pthread_mutex_unlock(&pool.lock);
        }
        atomic_fetch_add(&pool.inside, 1); /* before the look: the caller closes, then waits */
        seen = atomic_load(&pool.serial);
        if (seen & 1 && thread < pool.job.threads) take_units(&pool.job, thread);
        atomic_fetch_sub(&pool.inside, 1);
    }
    return NULL;
}

int hd_cores(void) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1 ? 1 : cores > WORKERS_MAX ? WORKERS_MAX : (int)cores;
}

bool hd_threads_open(int threads) {
    bool ok = true;
    pthread_mutex_lock(&pool.lock);
    while (pool.workers < threads - 1 && ok) {
        pthread_t t;
        ok = pool.workers < WORKERS_MAX &&
             pthread_create(&t, NULL, work, (void *)(intptr_t)(pool.workers + 1)) == 0;
        if (ok) pthread_detach(t), pool.workers++;
    }
    pthread_mutex_unlock(&pool.lock);
    return ok;
}

static void alone(int64_t n, void (*fn)(void *, int64_t, int), void *arg) {
    for (int64_t i = 0; i < n; i++) fn(arg, i, 0);
}

void hd_parallel(int threads, int64_t n, void (*fn)(void *, int64_t, int), void *arg) {
    if (threads < 2 || n < 2 || pthread_mutex_trylock(&pool.user) != 0) {
        alone(n, fn, arg);
        return;
    }
    pool.job = (struct job){fn, arg, n, threads};
    atomic_store(&pool.next, 0);
    atomic_fetch_add(&pool.serial, 1); /* open */
    pthread_mutex_lock(&pool.lock);
    if (pool.sleeping) pthread_cond_broadcast(&pool.wake);
    pthread_mutex_unlock(&pool.lock);
    take_units(&pool.job, 0);
    atomic_fetch_add(&pool.serial, 1); /* closed */
    for (int i = 0; atomic_load(&pool.inside); i++) {
        if (i < SPINS_CALLER)
            relax();
        else
            nanosleep(&(struct timespec){0, 20000}, NULL); /* its worker waits for a processor */
    }
    pthread_mutex_unlock(&pool.user);
}
