/* Device "rtl" on several processes: the ISS runs ahead and is cut, a process takes each part
 * (sim/rtl_part.h), and what the parts counted is added up where they join. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "sim/iss.h"
#include "sim/mach_dev.h"
#include "sim/rtl_find.h"
#include "sim/rtl_part.h"

enum { WAIT_MS = 100, PART_CYCLES = 256 * 1024, LEAD_CYCLES = 2048 };

struct process {
    pid_t pid; /* 0: it has ended */
    int fd;
    bool running; /* its report is still to come */
    uint64_t cut, begin;
    struct hd_part_report report;
    struct hd_layer_counters *begin_layers, *end_layers;
};

struct jobs {
    const struct hd_probe *probe;
    hd_iss *iss;
    hd_axi_mem *iss_mem, *mem; /* mem: the RTL's */
    struct hd_rtl_lib lib;
    struct hd_cutter cutter;
    int max_running, free_sem;

    /* the run */
    bool started, begun, iss_ended;
    bool added; /* the sums below are those of the last run */
    struct process *part;
    int n_parts, chain; /* chain: the part that the run has been proved up to */
    uint64_t join;      /* the last one that the ISS has passed */
    struct hd_rtl_snapshot sum;
    struct hd_layer_counters *layers;
    int n_layers, n_joined;
    char fault[1000];
};

/* ---- processes ------------------------------------------------------------------------------- */

static void end_process(struct process *p) {
    if (!p->pid) return;
    kill(p->pid, SIGKILL);
    while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR) {
    }
    close(p->fd);
    p->pid = 0;
    p->running = false;
}

static void clear_parts(struct jobs *j) {
    for (int i = 0; i < j->n_parts; i++) {
        end_process(&j->part[i]);
        free(j->part[i].begin_layers);
        free(j->part[i].end_layers);
    }
    free(j->part);
    j->part = NULL;
    j->n_parts = j->chain = 0;
}

static void fault(struct jobs *j, const char *format, const char *text) {
    if (!j->fault[0]) snprintf(j->fault, sizeof j->fault, format, text);
}

/* The process has closed its end. */
static void died(struct jobs *j, struct process *p) {
    int status = 0;
    char how[100] = "has gone", text[300];
    if (waitpid(p->pid, &status, 0) == p->pid) {
        if (WIFSIGNALED(status))
            snprintf(how, sizeof how, "was ended by signal %d", WTERMSIG(status));
        else if (WEXITSTATUS(status) == HD_NOMEM)
            snprintf(how, sizeof how, "has no memory");
        else
            snprintf(how, sizeof how, "ended with status %d", WEXITSTATUS(status));
    }
    close(p->fd);
    p->pid = 0;
    p->running = false;
    snprintf(text, sizeof text, "of the part from cycle %" PRIu64 " %s", p->begin, how);
    fault(j, "the process %s; run again, with fewer --jobs where memory is short", text);
}

static _Noreturn void be_part(struct jobs *j, const struct hd_iss_cut *cut, int fd, pid_t parent) {
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* not to outlive the program */
#endif
    if (getppid() != parent) _exit(0);
    for (int i = 0; i < j->n_parts; i++)
        if (j->part[i].pid) close(j->part[i].fd);
    const struct hd_part_job job = {j->cutter, j->iss_mem, j->lib.api,  j->lib.rtl,
                                    j->mem,    cut,        j->free_sem, fd};
    hd_part_main(&job);
}

/* Starts the part of a cut (NULL: the first part). */
static void start_part(struct jobs *j, const struct hd_iss_cut *cut) {
    int fds[2];
    struct process *parts = realloc(j->part, (size_t)(j->n_parts + 1) * sizeof *parts);
    if (parts) j->part = parts;
    if (!parts || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds)) {
        fault(j, "%s for another process", "no memory");
        return;
    }
    fflush(NULL);
    pid_t self = getpid(), pid = fork();
    if (pid == 0) {
        close(fds[0]);
        be_part(j, cut, fds[1], self);
    }
    close(fds[1]);
    if (pid < 0) {
        close(fds[0]);
        fault(j, "another process cannot be started (%s); run with fewer --jobs", strerror(errno));
        return;
    }
    parts[j->n_parts++] =
        (struct process){.pid = pid, .fd = fds[0], .running = true, .cut = cut ? cut->cycle : 0};
}

static bool read_all(int fd, void *to, size_t bytes) {
    for (char *at = to; bytes;) {
        ssize_t n = read(fd, at, bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        at += n, bytes -= (size_t)n;
    }
    return true;
}

static bool read_layers(int fd, int n, struct hd_layer_counters **out) {
    free(*out);
    *out = calloc((size_t)n + 1, sizeof **out);
    return *out && read_all(fd, *out, (size_t)n * sizeof **out);
}

static void take_report(struct jobs *j, struct process *p) {
    if (read_all(p->fd, &p->report, sizeof p->report) &&
        read_layers(p->fd, p->report.n_begin, &p->begin_layers) &&
        read_layers(p->fd, p->report.n_end, &p->end_layers))
        p->running = false;
    else
        died(j, p);
}

static void take_reports(struct jobs *j) {
    struct pollfd fds[64];
    struct process *of[64];
    nfds_t n = 0;
    for (int i = 0; i < j->n_parts && n < 64; i++)
        if (j->part[i].pid && j->part[i].running) {
            of[n] = &j->part[i];
            fds[n++] = (struct pollfd){.fd = j->part[i].fd, .events = POLLIN};
        }
    if (!n || poll(fds, n, WAIT_MS) <= 0) return;
    for (nfds_t i = 0; i < n; i++)
        if (fds[i].revents) take_report(j, of[i]);
}

/* ---- joining ----------------------------------------------------------------------------------
 */

static struct hd_layer_counters *layer(struct jobs *j, int i) {
    if (i >= j->n_layers) {
        struct hd_layer_counters *l = realloc(j->layers, (size_t)(i + 1) * sizeof *l);
        if (!l) {
            fault(j, "%s for the counters of layers", "no memory");
            return NULL;
        }
        memset(l + j->n_layers, 0, (size_t)(i + 1 - j->n_layers) * sizeof *l);
        j->layers = l;
        j->n_layers = i + 1;
    }
    return &j->layers[i];
}

static void add_layer(struct hd_layer_counters *to, const struct hd_layer_counters *l, bool less) {
    uint64_t sign = less ? UINT64_MAX : 1; /* modulo 2^64 */
    to->cycles += sign * l->cycles;
    to->mx_busy += sign * l->mx_busy;
    to->vx_busy += sign * l->vx_busy;
    to->read_bytes += sign * l->read_bytes;
    to->write_bytes += sign * l->write_bytes;
}

static void add_side(struct hd_rtl_snapshot *to, const struct hd_rtl_snapshot *s, bool less) {
    uint64_t sign = less ? UINT64_MAX : 1;
    to->cycles += sign * s->cycles;
    to->read_bytes += sign * s->read_bytes;
    to->write_bytes += sign * s->write_bytes;
    to->code_bytes += sign * s->code_bytes;
    for (int u = 0; u < HD_UNITS; u++) {
        to->unit[u].busy += sign * s->unit[u].busy;
        to->unit[u].stall_sem += sign * s->unit[u].stall_sem;
        to->unit[u].stall_mem += sign * s->unit[u].stall_mem;
        to->unit[u].stall_bank += sign * s->unit[u].stall_bank;
    }
}

/* What a part counted between its join and its end. */
static void add_part(struct jobs *j, const struct process *p) {
    const struct hd_part_report *r = &p->report;
    j->n_joined++;
    add_side(&j->sum, &r->end.s, false);
    add_side(&j->sum, &r->begin.s, true);
    for (int i = 0; i < r->n_end && layer(j, i); i++)
        add_layer(layer(j, i), &p->end_layers[i], false);
    for (int i = 0; i < r->n_begin && layer(j, i); i++)
        add_layer(layer(j, i), &p->begin_layers[i], true);
}

static bool same_state(const struct hd_part_side *a, const struct hd_part_side *b) {
    return a->cycle == b->cycle && a->s.control == b->s.control && a->s.last_tag == b->s.last_tag;
}

static const char *const memory_names[HD_PROBE_MEMORIES] = {"XM", "AM", "WM", "PM", "the arena"};

/* Whether the next part goes on as the chain would; the memories of one that comes from the ISS,
 * and is in the same state, must be those of the RTL. */
static bool goes_on(struct jobs *j, const struct process *chain, const struct process *next) {
    const struct hd_part_side *a = &chain->report.end, *b = &next->report.begin;
    if (next->report.cannot || next->report.differs[0] || !same_state(a, b)) return false;
    for (int i = 0; i < HD_PROBE_MEMORIES; i++) {
        if (a->memory[i] == b->memory[i]) continue;
        char text[200];
        snprintf(text, sizeof text, "%s between cycle %" PRIu64 " and %" PRIu64, memory_names[i],
                 chain->report.begin.cycle, a->cycle);
        fault(j, "rtl and iss part first in %s; heddle compare names the operation", text);
    }
    return !j->fault[0];
}

/* Takes parts whose reports are there into the chain. */
static void join_parts(struct jobs *j) {
    while (!j->fault[0] && !j->added) {
        struct process *c = &j->part[j->chain];
        if (c->running) return;
        if (c->report.differs[0]) {
            fault(j, "rtl and iss differ: %s", c->report.differs);
            return;
        }
        if (c->report.last) {
            add_part(j, c);
            j->added = true;
            return;
        }
        int next = j->chain + 1;
        while (next < j->n_parts && j->part[next].begin &&
               j->part[next].begin < c->report.end.cycle)
            next++;
        bool none = next == j->n_parts;
        if (none ? !j->iss_ended : j->part[next].running) return;
        if (!none && goes_on(j, c, &j->part[next])) {
            add_part(j, c);
            end_process(c);
            j->chain = next;
        } else if (!j->fault[0]) { /* it has not come into the state of the run: the one before
                                      stays */
            if (!none) end_process(&j->part[next]);
            c->running = send(c->fd, "", 1, MSG_NOSIGNAL) == 1;
            if (!c->running) died(j, c);
        }
    }
}

/* ---- the run ----------------------------------------------------------------------------------
 */

/* The ISS goes on to the next join, and the part before it begins. */
static void advance(struct jobs *j) {
    struct hd_iss_cut cut;
    if (!j->begun) {
        start_part(j, NULL);
        j->begun = true;
        j->join = 0;
        return;
    }
    if (!hd_cut_next(&j->cutter, j->join, &cut)) {
        j->iss_ended = true;
        return;
    }
    if (j->free_sem < 0) j->free_sem = hd_iss_free_semaphore(j->iss);
    if (j->free_sem < 0) { /* nothing to hold operations by: the first part is the whole run */
        hd_iss_cut_free(&cut);
        j->iss_ended = hd_iss_run(j->iss, 0);
        return;
    }
    start_part(j, &cut);
    hd_iss_cut_free(&cut);
    if (j->fault[0]) return;
    struct process *p = &j->part[j->n_parts - 1];
    j->iss_ended = !hd_cut_join(&j->cutter, p->cut, &j->join);
    p->begin = j->join;
    if (!j->iss_ended) return;
    end_process(p); /* nothing is left for it */
    j->n_parts--;
}

static int n_running(const struct jobs *j) {
    int n = 0;
    for (int i = 0; i < j->n_parts; i++) n += j->part[i].running;
    return n;
}

/* Works for a while; true when the run is over. */
static bool run(void *self, uint64_t max_cycles) {
    struct jobs *j = self;
    (void)max_cycles;
    if (!j->started) return true;
    if (!j->iss_ended && n_running(j) < j->max_running)
        advance(j);
    else
        take_reports(j);
    if (!j->fault[0]) join_parts(j);
    if (!j->fault[0] && !j->added) return false;
    if (!j->iss_ended && !j->fault[0]) j->iss_ended = hd_iss_run(j->iss, 0); /* results are its */
    if (j->fault[0] && !j->iss_ended) hd_iss_reg_write(j->iss, HD_REG_soft_reset, 1);
    clear_parts(j);
    j->started = false;
    return true;
}

static void reg_write(void *self, uint32_t offset, uint32_t v) {
    struct jobs *j = self;
    if (offset == HD_REG_ap_ctrl && v & 1 && !j->started) {
        j->started = true;
        j->begun = j->iss_ended = j->added = false;
        j->fault[0] = 0;
        j->free_sem = -1;
        j->sum = (struct hd_rtl_snapshot){0};
        free(j->layers);
        j->layers = NULL;
        j->n_layers = j->n_joined = 0;
    }
    if (offset == HD_REG_soft_reset && v & 1) {
        clear_parts(j);
        j->started = false;
    }
    hd_iss_reg_write(j->iss, offset, v);
}

/* Counters are the RTL's, added up. */
static uint32_t reg_read(void *self, uint32_t offset) {
    const struct jobs *j = self;
    const struct hd_unit_counters *u = j->sum.unit;
    uint64_t v[HD_UNITS];
    uint32_t at = offset & ~7u;
    bool units = at >= HD_REG_busy && at < HD_REG_queue;
    if (!j->added || !(units || (at >= HD_REG_cycles && at < HD_REG_sem_nonzero)))
        return hd_iss_reg_read(j->iss, offset);
    if (units) {
        uint32_t first = HD_REG_busy + (at - HD_REG_busy) / 64 * 64, i = (at - first) / 8;
        if (i >= HD_UNITS) return 0;
        v[0] = first == HD_REG_busy        ? u[i].busy
               : first == HD_REG_stall_sem ? u[i].stall_sem
               : first == HD_REG_stall_mem ? u[i].stall_mem
                                           : u[i].stall_bank;
    } else {
        v[0] = at == HD_REG_cycles        ? j->sum.cycles
               : at == HD_REG_read_bytes  ? j->sum.read_bytes
               : at == HD_REG_write_bytes ? j->sum.write_bytes
                                          : j->sum.code_bytes;
    }
    return (uint32_t)(offset & 4 ? v[0] >> 32 : v[0]);
}

static const struct hd_layer_counters *layers(void *self, int *out_n) {
    const struct jobs *j = self;
    *out_n = j->n_layers;
    return j->layers;
}

static int parts(void *self) {
    return ((const struct jobs *)self)->n_joined;
}

static const char *why(void *self) {
    const struct jobs *j = self;
    return j->fault[0] ? j->fault : NULL;
}

/* Operations are compared with those of the ISS, so its are shown. */
static bool set_probe(void *self, const struct hd_probe *probe) {
    struct jobs *j = self;
    hd_iss_set_probe(j->iss, probe);
    return !probe->looks;
}

static bool state(void *self, struct hd_probe_state *out) {
    return hd_mach_iss.state(((struct jobs *)self)->iss, out);
}

static void destroy(void *self) {
    struct jobs *j = self;
    clear_parts(j);
    hd_rtl_close(&j->lib);
    hd_axi_mem_destroy(j->mem);
    hd_iss_destroy(j->iss);
    free(j->layers);
    free(j);
}

static hd_status create(hd_ctx *ctx, const struct hd_device_options *opt, hd_axi_mem *mem,
                        void **out) {
    struct hd_mem_config cfg;
    *out = NULL;
    TRY(hd_mach_mem_config(ctx, "rtl", opt, &cfg));
    struct jobs *j = calloc(1, sizeof *j);
    if (!j) return hd_fail(ctx, HD_NOMEM, "rtl: no memory for machine %s", opt->machine.name);
    j->iss_mem = mem;
    j->mem = hd_axi_mem_create(hd_axi_bytes(&opt->machine), &cfg);
    j->iss = hd_iss_create(&opt->machine, mem);
    j->max_running = opt->jobs;
    uint64_t lead = LEAD_CYCLES + 8 * (uint64_t)cfg.latency;
    j->cutter =
        (struct hd_cutter){j->iss, opt->part_cycles ? opt->part_cycles : PART_CYCLES,
                           (lead + HD_N_limit_unit - 1) / HD_N_limit_unit * HD_N_limit_unit};
    hd_status s = j->mem && j->iss
                      ? hd_rtl_open(ctx, &opt->machine, false, j->mem, &j->lib)
                      : hd_fail(ctx, HD_NOMEM, "rtl: no memory for machine %s", opt->machine.name);
    if (s)
        destroy(j);
    else
        *out = j;
    return s;
}

const struct hd_mach_backend hd_mach_rtl_jobs = {.scheme = "rtl",
                                                 .dram = &hd_mach_dram,
                                                 .create = create,
                                                 .destroy = destroy,
                                                 .reg_write = reg_write,
                                                 .reg_read = reg_read,
                                                 .run = run,
                                                 .layers = layers,
                                                 .set_probe = set_probe,
                                                 .state = state,
                                                 .parts = parts,
                                                 .fault = why};
