/* Workers: processes that price machines, or run them, beside each other.
 *
 * They are forked when the networks have been read, so these are shared. Each reads a task from its
 * pipe and answers on another; the parent gives a task to whoever is free, writes the journal, and
 * replaces a worker that has crashed or taken too long. A task whose worker died is given once
 * more: the system kills processes, too, where memory is short.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compiler/explore/explore.h"

enum { JOBS = 64, LIMIT_SECONDS = 600, LOOK_MS = 2 };

struct worker {
    pid_t pid;
    int to, from;           /* pipes */
    struct hd_point *point; /* that it is at; NULL = it is free */
    bool again;             /* whose last worker died */
    double since;
};

static volatile sig_atomic_t interrupted;

static void on_signal(int number) {
    (void)number;
    interrupted = 1;
}

bool hd_interrupted(void) {
    return interrupted;
}

static bool read_all(int fd, void *data, size_t n) {
    for (char *at = data; n;) {
        ssize_t k = read(fd, at, n);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) return false;
        at += k, n -= (size_t)k;
    }
    return true;
}

static bool write_all(int fd, const void *data, size_t n) {
    for (const char *at = data; n;) {
        ssize_t k = write(fd, at, n);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) return false;
        at += k, n -= (size_t)k;
    }
    return true;
}

/* What is asked of a worker: a machine; what it answers: one of these for each network. */
static void serve(struct hd_work_list *w, int from, int to) {
    struct hd_machine m;
    struct hd_priced out[HD_EXPLORE_NETS];
    signal(SIGINT, SIG_IGN);
    while (read_all(from, &m, sizeof m)) {
        hd_arena *a = hd_arena_create();
        for (int i = 0; i < w->nets->n; i++) {
            const struct hd_net *net = &w->nets->of[i];
            if (!w->device) {
                hd_price(net, &m, w->c->opt.mem.latency, &out[i]);
                continue;
            }
            const char *path = hd_confirm_path(a, w->folder, &m, net, w->device);
            out[i] = (struct hd_priced){.cycles = 0};
            hd_clear(w->c->ctx);
            if (access(path, R_OK) && hd_confirm(w->c, net, &m, w->device, path) != HD_OK)
                snprintf(out[i].why, sizeof out[i].why, "%.*s",
                         (int)strcspn(hd_message(w->c->ctx), "\n"), hd_message(w->c->ctx));
        }
        hd_arena_destroy(a);
        if (!write_all(to, out, sizeof *out * (size_t)w->nets->n)) break;
    }
    _exit(0);
}

static bool start(struct hd_work_list *w, struct worker *all, int i) {
    int down[2], up[2];
    if (pipe(down)) return false;
    if (pipe(up)) {
        close(down[0]), close(down[1]);
        return false;
    }
    fflush(stdout);
    fflush(stderr);
    pid_t pid = fork();
    if (pid == 0) {
        for (int k = 0; k < JOBS; k++)
            if (k != i && all[k].pid > 0) close(all[k].to), close(all[k].from);
        close(down[1]), close(up[0]);
        serve(w, down[0], up[1]);
    }
    close(down[0]), close(up[1]);
    if (pid < 0) close(down[1]), close(up[0]);
    all[i] = (struct worker){.pid = pid, .to = down[1], .from = up[0]};
    return pid > 0;
}

static void stop(struct worker *k, bool kill_it) {
    int status;
    if (k->pid <= 0) return;
    if (kill_it) kill(k->pid, SIGKILL);
    close(k->to), close(k->from);
    while (waitpid(k->pid, &status, 0) < 0 && errno == EINTR) continue;
    k->pid = 0;
}

static void answered(struct hd_work_list *w, struct worker *k, const char *why) {
    struct hd_point *p = k->point;
    if (why && !w->device) {
        p->net[0] = (struct hd_priced){.cycles = 0};
        snprintf(p->net[0].why, sizeof p->net[0].why, "%s", why);
    }
    if (!w->device) p->priced = true;
    k->point = NULL;
    w->done(w->user, p);
}

static void give(struct hd_work_list *w, struct worker *all, int i, struct hd_point *p) {
    if (all[i].pid <= 0 && !start(w, all, i)) return;
    all[i].point = p, all[i].since = hd_seconds(), all[i].again = false;
    if (!write_all(all[i].to, &p->m, sizeof p->m)) stop(&all[i], true), all[i].point = NULL;
}

/* An answer is there, or the worker is dead. */
static void take(struct hd_work_list *w, struct worker *all, int i) {
    struct worker *k = &all[i];
    struct hd_priced got[HD_EXPLORE_NETS];
    if (read_all(k->from, got, sizeof *got * (size_t)w->nets->n)) {
        if (!w->device) memcpy(k->point->net, got, sizeof *got * (size_t)w->nets->n);
        const char *why = NULL;
        for (int n = 0; w->device && n < w->nets->n; n++)
            if (got[n].why[0]) why = got[n].why;
        if (why) hd_warn(w->c->ctx, "warning: %s on %s: %s", w->device, k->point->m.name, why);
        answered(w, k, NULL);
        return;
    }
    struct hd_point *p = k->point;
    const bool again = k->again;
    stop(k, true);
    k->point = NULL;
    if (!again) give(w, all, i, p), k->again = true;
    if (k->point) return;
    k->point = p;
    answered(w, k, "the compiler crashed");
}

static void wait_for_answers(struct hd_work_list *w, struct worker *all, int jobs, bool idle) {
    struct pollfd fds[JOBS];
    struct hd_point *p;
    for (int i = 0; i < jobs; i++)
        fds[i] = (struct pollfd){all[i].point ? all[i].from : -1, POLLIN, 0};
    if (poll(fds, (nfds_t)jobs, w->far || idle ? LOOK_MS : 200) < 0) return;
    for (int i = 0; i < jobs; i++) {
        if (all[i].point && fds[i].revents) {
            take(w, all, i);
        } else if (all[i].point && hd_seconds() - all[i].since > LIMIT_SECONDS) {
            stop(&all[i], true);
            answered(w, &all[i], "the compiler took more than 600 s");
        }
    }
    while ((p = hd_far_take(w->far))) w->done(w->user, p);
}

/* Gives work to whoever is free; false: there is none now, or no process. */
static bool give_one(struct hd_work_list *w, struct worker *all, int jobs, struct hd_point **kept,
                     bool *more, int *failed) {
    int i = 0;
    while (i < jobs && all[i].point) i++;
    if (i == jobs && !hd_far_free(w->far)) return false;
    if (!*kept && w->next) *kept = w->next(w->user, more);
    if (!*kept && w->n) w->n--, *kept = *w->points++;
    if (!*kept) return false;
    if (i == jobs) {
        hd_far_give(w->far, *kept);
    } else {
        give(w, all, i, *kept);
        if (!all[i].point) return ++*failed, false; /* no process: perhaps later */
    }
    *kept = NULL;
    return true;
}

bool hd_work_all(struct hd_work_list *w) {
    struct worker all[JOBS] = {{0}};
    const struct sigaction act = {.sa_handler = on_signal};
    struct sigaction before[2];
    struct hd_point *kept = NULL; /* that nobody could begin */
    int jobs = w->jobs < 1 ? 1 : w->jobs < JOBS ? w->jobs : JOBS, failed = 0;
    bool stopped = false, busy = true, more = false;
    sigaction(SIGINT, &act, &before[0]);
    sigaction(SIGPIPE, &(struct sigaction){.sa_handler = SIG_IGN}, &before[1]);
    while (busy && !stopped && failed < 100) {
        stopped = interrupted || (w->until > 0 && hd_seconds() > w->until);
        while (!stopped && give_one(w, all, jobs, &kept, &more, &failed)) continue;
        bool here = false;
        for (int i = 0; i < jobs; i++) here = here || all[i].point;
        busy = here || hd_far_busy(w->far) || kept || more;
        if (busy && !stopped) wait_for_answers(w, all, jobs, !here);
    }
    for (int i = 0; i < jobs; i++) stop(&all[i], all[i].point != NULL);
    sigaction(SIGINT, &before[0], NULL);
    sigaction(SIGPIPE, &before[1], NULL);
    return !stopped && !busy;
}
