/* Requests to remote devices while processes of either end are killed or stopped at random.
 *
 *   storm PROGRAM REQUESTS CLIENTS KILLS [SEED [SSHD]]
 *
 * SSHD: the process of an sshd, by which HEDDLE_REMOTE_COMMAND goes. All clients then use it, and
 * what it has started is killed, too.
 * Clients are processes; they use two sockets, a command and a fleet of both sockets. Every request
 * must end: right to the bit and the cycle, with an error in words, or with the client that was
 * killed; each within 10 s. At the end no process may be left. It stops by itself. */
#define _GNU_SOURCE /* subreaper, MAP_ANONYMOUS */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "compiler/compiler.h"
#include "runtime/runtime.h"
#include "test/rng.h"

#define DIGITS "test/models/digits/model.onnx"
enum {
    PIXELS = 64,
    CLASSES = 10,
    IMAGES = 8,
    MOST_CLIENTS = 16,
    MOST_REQUESTS = 100000,
    LIMIT_MS = 10000,
    STOP_MS = 2500,
    ALL_MS = 280000,
    SERVERS = 2
};
enum state { WAITS, WORKS, RIGHT, ERROR, WRONG, KILLED };

struct request {
    atomic_int state;
    int64_t start_ms, ms;
    int client;
};
struct shared { /* by all processes */
    atomic_int next, failed;
    atomic_int current[MOST_CLIENTS]; /* -1 = none */
    char message[300];                /* of what was wrong */
    struct request request[];
};

struct storm {
    const char *program;
    int n_requests, n_clients, n_kills;
    struct rng rng;
    uint64_t seed;
    pid_t far; /* sshd; 0 = none */
    char folder[64], path[SERVERS][80];
    hd_model *m;
    float image[IMAGES][PIXELS], want[IMAGES][CLASSES];
    uint64_t cycles;
    struct shared *all;
    pid_t client[MOST_CLIENTS], server[SERVERS], stopped; /* by a signal, at most one at a time */
    int64_t stopped_ms;
    int done, client_kills, server_kills;
};

static int64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void moment(int ms) {
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000L}, NULL);
}

static void fatal(struct storm *s, hd_ctx *ctx) {
    fprintf(stderr, "storm: %s\n", hd_message(ctx));
    for (int i = 0; i < SERVERS; i++)
        if (s->server[i] > 0) kill(s->server[i], SIGKILL);
    exit(1);
}

/* ---- a client ------------------------------------------------------------------------------- */

/* A request: every image once. False: a result was wrong. */
static bool ask(struct storm *s, hd_ctx *ctx, hd_session *session, hd_status *out_status) {
    for (int i = 0; i < IMAGES; i++) {
        float y[CLASSES] = {0};
        *out_status = hd_session_run(ctx, session, (const void *[]){s->image[i]}, (void *[]){y});
        if (*out_status) return true;
        if (memcmp(y, s->want[i], sizeof y) || hd_session_cycles(session) != s->cycles)
            return false;
    }
    return true;
}

static void work(struct storm *s, int me) {
    char name[100];
    hd_ctx *ctx = hd_ctx_create();
    hd_session *session = NULL;
    struct rng rng = {s->seed + (uint64_t)getpid()};
    const char *const host[] = {s->path[0], "localhost", "fleet", s->path[1]};
    snprintf(name, sizeof name, "%s/iss", s->far ? "localhost" : host[me % 4]);
    for (int i; (i = atomic_fetch_add(&s->all->next, 1)) < s->n_requests;) {
        struct request *r = &s->all->request[i];
        r->start_ms = now_ms();
        r->client = me;
        atomic_store(&s->all->current[me], i);
        atomic_store(&r->state, WORKS);
        hd_clear(ctx);
        hd_status status = session ? HD_OK : hd_session_open(ctx, s->m, name, NULL, &session);
        bool right = status || ask(s, ctx, session, &status);
        bool told = !status || hd_message(ctx)[0];
        r->ms = now_ms() - r->start_ms;
        if (!right || !told)
            snprintf(s->all->message, sizeof s->all->message, "request %d on %s: %s", i, name,
                     right ? "an error without words" : "a wrong result");
        atomic_store(&r->state, !right || !told ? WRONG : status ? ERROR : RIGHT);
        moment(status ? 50 : (int)rng_range(&rng, 0, 20));
        if (!status && i % 5) continue;
        hd_session_close(session);
        session = NULL;
    }
    hd_session_close(session);
    hd_ctx_destroy(ctx);
    _exit(0);
}

static pid_t start_client(struct storm *s, int i) {
    atomic_store(&s->all->current[i], -1);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        work(s, i);
    }
    return pid;
}

static pid_t start_server(struct storm *s, int i) {
    pid_t pid = fork();
    if (pid) return pid;
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (!freopen("/dev/null", "w", stderr)) _exit(126);
    execl(s->program, s->program, "serve", "--socket", s->path[i], (char *)NULL);
    _exit(127);
}

/* ---- processes ------------------------------------------------------------------------------ */

static pid_t parent_of(pid_t pid) {
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f) fclose(f);
    text[n] = 0;
    const char *end = strrchr(text, ')');
    long parent = 0;
    return end && sscanf(end + 1, " %*c %ld", &parent) == 1 ? (pid_t)parent : 0;
}

/* All that descend from us, and from sshd. */
static int descendants(const struct storm *s, pid_t *out, int max) {
    int n = 0;
    DIR *proc = opendir("/proc");
    for (struct dirent *e; proc && (e = readdir(proc));) {
        pid_t pid = (pid_t)atol(e->d_name);
        for (pid_t p = pid; p > 1 && n < max; p = parent_of(p))
            if (parent_of(p) == getpid() || (s->far && parent_of(p) == s->far)) {
                out[n++] = pid;
                break;
            }
    }
    if (proc) closedir(proc);
    return n;
}

static int client_of(const struct storm *s, pid_t pid) {
    for (int i = 0; i < s->n_clients; i++)
        if (s->client[i] == pid) return i;
    return -1;
}

/* The request of a client that died ends with it. */
static void bury_client(struct storm *s, int i, int status) {
    int r = atomic_load(&s->all->current[i]);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        s->client[i] = 0;
        s->done++;
        return;
    }
    if (r >= 0 && atomic_load(&s->all->request[r].state) == WORKS) {
        s->all->request[r].ms = now_ms() - s->all->request[r].start_ms;
        atomic_store(&s->all->request[r].state, KILLED);
    }
    s->client[i] = start_client(s, i);
}

static void reap(struct storm *s, bool again) {
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
        int i = client_of(s, pid);
        if (i >= 0) bury_client(s, i, status);
        for (int k = 0; k < SERVERS; k++)
            if (s->server[k] == pid) s->server[k] = again ? start_server(s, k) : 0;
    }
}

/* Kills a process of either end, or stops one that serves. */
static void strike(struct storm *s) {
    pid_t all[256], pick;
    bool at_client = rng_next(&s->rng) % 2;
    int n = descendants(s, all, 256), tries = 0;
    if (!n) return;
    do {
        pick = all[rng_next(&s->rng) % (uint32_t)n];
    } while ((client_of(s, pick) >= 0) != at_client && tries++ < 100);
    bool stop = client_of(s, pick) < 0 && rng_next(&s->rng) % 3 == 0 && !s->stopped;
    if (stop) {
        s->stopped = pick;
        s->stopped_ms = now_ms();
    }
    kill(pick, stop ? SIGSTOP : SIGKILL);
    if (client_of(s, pick) >= 0)
        s->client_kills++;
    else
        s->server_kills++;
}

/* ---- the storm ------------------------------------------------------------------------------ */

static void prepare(struct storm *s) {
    hd_ctx *ctx = hd_ctx_create();
    hd_session *local = NULL;
    struct hd_compile_options o = {.latency_hiding = true};
    if (hd_machine_load(ctx, "tiny", &o.machine) || hd_compile(ctx, DIGITS, &o, &s->m) ||
        hd_session_open(ctx, s->m, "iss", NULL, &local))
        fatal(s, ctx);
    for (int i = 0; i < IMAGES; i++) {
        for (int k = 0; k < PIXELS; k++) s->image[i][k] = (float)((k * 7 + i * 13) % 17);
        if (hd_session_run(ctx, local, (const void *[]){s->image[i]}, (void *[]){s->want[i]}))
            fatal(s, ctx);
    }
    s->cycles = hd_session_cycles(local);
    hd_session_close(local);
    hd_ctx_destroy(ctx);
}

static void surround(struct storm *s) {
    char hosts[100], command[300];
    strcpy(s->folder, "/tmp/heddle-storm-XXXXXX");
    if (!mkdtemp(s->folder)) exit(1);
    snprintf(hosts, sizeof hosts, "%s/hosts", s->folder);
    snprintf(command, sizeof command, "%s serve --stdio", s->program);
    FILE *f = fopen(hosts, "w");
    for (int i = 0; f && i < SERVERS; i++) {
        snprintf(s->path[i], sizeof s->path[i], "%s/socket%d", s->folder, i);
        fprintf(f, "%s\n", s->path[i]);
    }
    if (!f || fclose(f)) exit(1);
    setenv("XDG_RUNTIME_DIR", s->folder, 1);
    setenv("XDG_CACHE_HOME", s->folder, 1);
    setenv("HEDDLE_REMOTE_TIMEOUT", "1", 1);
    setenv("HEDDLE_HOSTS", hosts, 1);
    setenv("HEDDLE_REMOTE_COMMAND", command, 0); /* one that is set, by ssh, stays */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    for (int i = 0; i < SERVERS; i++) s->server[i] = start_server(s, i);
    for (int i = 0; i < SERVERS; i++)
        for (int ms = 0; ms < 5000 && access(s->path[i], F_OK); ms += 5) moment(5);
}

static bool hangs(const struct storm *s) {
    for (int i = 0; i < s->n_requests; i++)
        if (atomic_load(&s->all->request[i].state) == WORKS &&
            now_ms() - s->all->request[i].start_ms > LIMIT_MS + 1000)
            return true;
    return false;
}

static void blow(struct storm *s) {
    int64_t end = now_ms() + ALL_MS;
    int kills = 0;
    for (int i = 0; i < s->n_clients; i++) s->client[i] = start_client(s, i);
    while (s->done < s->n_clients && now_ms() < end && !hangs(s)) {
        int at = (int)((int64_t)(kills + 1) * s->n_requests / (s->n_kills + 1));
        if (kills < s->n_kills && atomic_load(&s->all->next) >= at) {
            strike(s);
            kills++;
        }
        if (s->stopped && now_ms() - s->stopped_ms > STOP_MS) {
            kill(s->stopped, SIGKILL);
            s->stopped = 0;
        }
        reap(s, true);
        moment(1);
    }
    if (s->stopped) kill(s->stopped, SIGKILL);
    for (int i = 0; i < SERVERS; i++)
        if (s->server[i] > 0) kill(s->server[i], SIGTERM);
}

/* Processes that are there after all ended, and should not be. */
static int left_over(struct storm *s) {
    pid_t all[256];
    int n = 0;
    for (int ms = 0; ms < LIMIT_MS; ms += 20) {
        reap(s, false);
        n = descendants(s, all, 256);
        if (!n) return 0;
        moment(20);
    }
    for (int i = 0; i < n; i++) kill(all[i], SIGKILL);
    return n;
}

static int judge(struct storm *s, int left) {
    int count[KILLED + 1] = {0};
    int64_t worst = 0;
    for (int i = 0; i < s->n_requests; i++) {
        struct request *r = &s->all->request[i];
        count[atomic_load(&r->state)]++;
        if (r->ms > worst) worst = r->ms;
    }
    bool ok = !left && !count[WAITS] && !count[WORKS] && !count[WRONG] && worst <= LIMIT_MS &&
              count[RIGHT] >= s->n_requests / 2;
    printf("  %s  remote: %d requests of %d clients, %d kills and stops of servers, %d kills of "
           "clients: %d right, %d errors, %d ended with their client; longest %.1f s\n",
           ok ? "ok  " : "FAIL", s->n_requests, s->n_clients, s->server_kills, s->client_kills,
           count[RIGHT], count[ERROR], count[KILLED], (double)worst / 1000);
    if (!ok)
        printf("        %d never began, %d hang, %d wrong %s; %d processes are left; seed %llu\n",
               count[WAITS], count[WORKS], count[WRONG], s->all->message, left,
               (unsigned long long)s->seed);
    return ok ? 0 : 1;
}

int main(int argc, char **argv) {
    static struct storm s;
    char remove[100];
    if (argc < 5)
        return fprintf(stderr, "usage: storm PROGRAM REQUESTS CLIENTS KILLS [SEED [SSHD]]\n"), 2;
    s.program = argv[1];
    s.n_requests = atoi(argv[2]);
    s.n_clients = atoi(argv[3]);
    s.n_kills = atoi(argv[4]);
    s.seed = argc > 5 ? strtoull(argv[5], NULL, 0) : 1;
    s.far = argc > 6 ? (pid_t)atol(argv[6]) : 0;
    s.rng.s = s.seed;
    if (s.n_requests < 1 || s.n_requests > MOST_REQUESTS || s.n_clients < 1 ||
        s.n_clients > MOST_CLIENTS)
        return 2;
    size_t bytes = sizeof *s.all + (size_t)s.n_requests * sizeof *s.all->request;
    s.all = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (s.all == MAP_FAILED) return 1;
    prepare(&s);
    surround(&s);
    blow(&s);
    int status = judge(&s, left_over(&s));
    snprintf(remove, sizeof remove, "rm -rf %s", s.folder);
    hd_model_destroy(s.m);
    return system(remove) || status;
}
