/* Hardware emulation, host side: private folder, environment, device process, relay. */
#define _GNU_SOURCE /* nftw, mkdtemp, SOCK_CLOEXEC */
#include "driver/emu_host.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "driver/emu_left.h"
#include "driver/emu_wire.h"
#include "driver/xclbin.h"
#include "runtime/base/socket.h"

extern char **environ;

enum {
    PATH_BYTES = 1024,
    START_MS = 900000, /* a machine of one's own is built first */
    ANSWER_MS = 6000,  /* silence of the device that counts as death */
    WATCH_MS = 100,
    EXIT_MS = 2000
};
static const char *const variables[] = {"USER", "EMULATION_SOCKETID", "XILINX_XRT",
                                        "SDACCEL_EM_RUN_DIR"};
enum { N_VARIABLES = sizeof variables / sizeof *variables };
static const char socket_id[] = "heddle";

struct hd_emu_host {
    char folder[64], xclbin[96];
    char *saved[N_VARIABLES]; /* NULL = was not set */
    bool changed;
    pid_t pid;
    int owner;                                   /* holds the folder */
    int device, listener, listener_d2x, quit[2]; /* quit: a pipe, closed to end the relay */
    pthread_t relay;
    bool relays;
    atomic_bool dead;
    atomic_uint released; /* a bit of each core */
};

const char *hd_emu_host_xclbin(const hd_emu_host *h) {
    return h->xclbin;
}

const char *hd_emu_host_fault(const hd_emu_host *h) {
    return atomic_load(&h->dead) ? "the emulated device died or fell silent (process heddle "
                                   "emu-device); open the device again"
                                 : NULL;
}

/* ---- relay ---------------------------------------------------------------------------------- */

struct relay {
    hd_emu_host *h;
    int xrt, d2x;
    struct hd_emu_call call;
    struct hd_buf answer;
};

/* Waits for one of the sockets. False: time to end. */
static bool wait_call(struct relay *r) {
    for (;;) {
        struct pollfd p[4] = {{r->h->quit[0], POLLIN, 0},
                              {r->xrt >= 0 ? r->xrt : r->h->listener, POLLIN, 0},
                              {r->d2x >= 0 ? -1 : r->h->listener_d2x, POLLIN, 0},
                              {atomic_load(&r->h->dead) ? -1 : r->h->device, POLLIN, 0}};
        if (poll(p, 4, -1) < 0 && errno != EINTR) return false;
        if (p[0].revents) return false;
        if (p[3].revents) atomic_store(&r->h->dead, true); /* nothing is due from it now */
        if (p[2].revents) r->d2x = hd_socket_accept(r->h->listener_d2x, 0);
        if (!p[1].revents) continue;
        if (r->xrt >= 0) return true;
        r->xrt = hd_socket_accept(r->h->listener, 0);
    }
}

/* True when the call is a poll of a run that the host gave up. */
static bool is_released(struct relay *r) {
    struct hd_emu_field f[HD_EMU_FIELDS];
    bool reads = r->call.api == HD_EMU_READ_REG, writes = r->call.api == HD_EMU_WRITE_REG;
    if (!atomic_load(&r->h->released) || (!reads && !writes) ||
        !hd_emu_fields(r->call.data, r->call.bytes, f))
        return false;
    uint64_t at = f[2].v - HD_EMU_CU_BASE, core = at / HD_EMU_CU_STRIDE;
    unsigned bit = core < 32 ? 1u << core : 0;
    if (at % HD_EMU_CU_STRIDE != HD_REG_ap_ctrl || !(atomic_load(&r->h->released) & bit))
        return false;
    if (writes && f[4].n && (f[4].data[0] & 1)) atomic_fetch_and(&r->h->released, ~bit);
    return reads;
}

static void ask_device(struct relay *r) {
    hd_emu_host *h = r->h;
    if (is_released(r)) {
        hd_emu_answer_dead(&r->call, &r->answer);
        return;
    }
    if (!atomic_load(&h->dead) && (hd_emu_put_call(h->device, &r->call, ANSWER_MS) ||
                                   hd_emu_get_answer(h->device, &r->answer, ANSWER_MS)))
        atomic_store(&h->dead, true);
    if (atomic_load(&h->dead)) hd_emu_answer_dead(&r->call, &r->answer);
}

static void *relay_main(void *arg) {
    struct relay r = {.h = arg, .xrt = -1, .d2x = -1};
    while (wait_call(&r)) {
        if (hd_emu_get_call(r.xrt, &r.call, ANSWER_MS)) break;
        ask_device(&r);
        if (hd_emu_put_answer(r.xrt, &r.answer, ANSWER_MS)) break;
        if (r.call.api == HD_EMU_CLOSE) break;
    }
    if (r.d2x < 0) r.d2x = hd_socket_accept(r.h->listener_d2x, WATCH_MS);
    if (r.d2x >= 0) {
        hd_emu_put_call(r.d2x, &(struct hd_emu_call){.api = HD_EMU_CLOSE}, ANSWER_MS);
        close(r.d2x);
    }
    if (r.xrt >= 0) close(r.xrt);
    hd_emu_call_free(&r.call);
    hd_buf_free(&r.answer);
    return NULL;
}

/* ---- device process ------------------------------------------------------------------------- */

static bool is_program(const char *path) {
    struct stat st;
    return access(path, X_OK) == 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* In a folder of PATH, for programs that use the installed library. */
static bool find_in_path(char *out) {
    const char *p = getenv("PATH");
    while (p && *p) {
        const char *end = strchrnul(p, ':');
        int n = (int)(end - p);
        if (n && snprintf(out, PATH_BYTES, "%.*s/heddle", n, p) < PATH_BYTES && is_program(out))
            return true;
        p = *end ? end + 1 : end;
    }
    return false;
}

/* The program heddle: HEDDLE_PROGRAM, or beside this program or above it (tests), or in PATH. */
static bool find_program(char *out) {
    const char *set = getenv("HEDDLE_PROGRAM");
    if (set && *set) return snprintf(out, PATH_BYTES, "%s", set) < PATH_BYTES;
    char folder[PATH_BYTES - 16];
    ssize_t n = readlink("/proc/self/exe", folder, sizeof folder - 1);
    folder[n > 0 ? n : 0] = 0;
    for (int up = 0; up < 5; up++) {
        char *slash = strrchr(folder, '/');
        if (!slash) break;
        *slash = 0;
        snprintf(out, PATH_BYTES, "%s/heddle", folder);
        if (is_program(out)) return true;
    }
    return find_in_path(out);
}

static hd_status write_machine(hd_ctx *ctx, const struct hd_machine *m, const char *path) {
    char text[1024] = "base = base\n";
    size_t at = strlen(text);
    for (int i = 0; i < hd_n_machine_params && at < sizeof text; i++) {
        uint32_t v;
        memcpy(&v, (const char *)m + hd_machine_params[i].offset, sizeof v);
        at += (size_t)snprintf(text + at, sizeof text - at, "%s = %" PRIu32 "\n",
                               hd_machine_params[i].name, v);
    }
    return hd_file_write(ctx, path, text, at);
}

static hd_status spawn(hd_ctx *ctx, hd_emu_host *h, char *const *argv, int its_end) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t none;
    sigemptyset(&none);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attr);
    posix_spawn_file_actions_adddup2(&files, its_end, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attr, &none);
    int e = posix_spawn(&h->pid, argv[0], &files, &attr, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attr);
    if (!e) return HD_OK;
    h->pid = 0;
    return hd_fail(ctx, HD_DEVICE, "xrt: cannot start %s: %s", argv[0], strerror(e));
}

/* The device says 0 when it is ready, else the length of its message and the message. */
static hd_status wait_ready(hd_ctx *ctx, hd_emu_host *h) {
    unsigned char head[4];
    char text[2000];
    enum hd_emu_io io = hd_emu_read(h->device, head, sizeof head, START_MS);
    size_t n = head[0] | (size_t)head[1] << 8;
    if (!io && !n) return HD_OK;
    if (!io && n < sizeof text) io = hd_emu_read(h->device, text, n, ANSWER_MS);
    if (io || n >= sizeof text)
        return hd_fail(ctx, HD_DEVICE,
                       "xrt: the emulated device ended before it was ready; try it by hand: heddle "
                       "emu-device --device rtl /tmp/socket");
    text[n] = 0;
    return hd_fail(ctx, HD_DEVICE, "%s\nwhile starting the emulated device", text);
}

static hd_status start_device(hd_ctx *ctx, hd_emu_host *h, const struct hd_device_options *opt) {
    char program[PATH_BYTES], machine[96], latency[16], rate[16], open[16], seed[24];
    const char *kind = getenv("HEDDLE_EMU_DEVICE");
    const struct hd_mem_options *mem = &opt->mem;
    char *argv[20];
    int n = 0, pair[2];
    if (!find_program(program))
        return hd_fail(ctx, HD_DEVICE,
                       "xrt: the program heddle, which is the emulated device, is not beside this "
                       "program; set HEDDLE_PROGRAM to its path");
    snprintf(machine, sizeof machine, "%s/machine", h->folder);
    TRY(write_machine(ctx, &opt->machine, machine));
    argv[n++] = program;
    argv[n++] = (char *)"emu-device";
    argv[n++] = (char *)"--device";
    argv[n++] = (char *)(kind && *kind ? kind : "rtl");
    argv[n++] = (char *)"--machine";
    argv[n++] = machine;
    struct {
        const char *name;
        uint64_t v;
        char *text;
        size_t bytes;
    } number[] = {{"--mem-latency", mem->latency, latency, sizeof latency},
                  {"--mem-bytes-per-cycle", mem->bytes_per_cycle, rate, sizeof rate},
                  {"--mem-outstanding", mem->outstanding, open, sizeof open},
                  {"--mem-jitter", mem->jitter ? mem->jitter_seed + !mem->jitter_seed : 0, seed,
                   sizeof seed}};
    for (int i = 0; i < 4; i++) {
        if (!number[i].v) continue;
        snprintf(number[i].text, number[i].bytes, "%" PRIu64, number[i].v);
        argv[n++] = (char *)number[i].name;
        argv[n++] = number[i].text;
    }
    argv[n++] = (char *)"-";
    argv[n] = NULL;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
        return hd_fail(ctx, HD_IO, "xrt: no socket for the emulated device: %s", strerror(errno));
    h->device = pair[0];
    hd_status s = spawn(ctx, h, argv, pair[1]);
    close(pair[1]);
    return s ? s : wait_ready(ctx, h);
}

/* Waits for the process, then ends it. */
static void end_device(hd_emu_host *h) {
    if (h->device >= 0) close(h->device); /* it sees the end */
    if (!h->pid) return;
    for (int ms = 0; ms < EXIT_MS; ms += 5) {
        if (waitpid(h->pid, NULL, WNOHANG) != 0) return;
        nanosleep(&(struct timespec){0, 5000000}, NULL);
    }
    kill(h->pid, SIGKILL);
    waitpid(h->pid, NULL, 0);
}

/* ---- folder and environment ----------------------------------------------------------------- */

/* XRT's emulation writes a log beside the program and leaves it. */
static void remove_log(void) {
    char path[PATH_BYTES];
    if (hd_emu_log_path(path, sizeof path)) unlink(path);
}

/* XRT looks for its shim in $XILINX_XRT/lib only, where Debian does not put it. */
static hd_status make_folder(hd_ctx *ctx, hd_emu_host *h, const char *shim,
                             const struct hd_machine *m) {
    char path[PATH_BYTES];
    struct hd_buf b = {0};
    hd_emu_sweep();
    strcpy(h->folder, HD_EMU_FOLDER);
    if (!mkdtemp(h->folder)) {
        h->folder[0] = 0;
        return hd_fail(ctx, HD_IO, "xrt: cannot make a folder in /tmp: %s", strerror(errno));
    }
    h->owner = hd_emu_claim(h->folder);
    snprintf(path, sizeof path, "%s/lib", h->folder);
    bool ok = h->owner >= 0 && mkdir(path, 0700) == 0;
    snprintf(path, sizeof path, "%s/lib/libxrt_hwemu.so.2", h->folder);
    ok = ok && symlink(shim, path) == 0;
    snprintf(path, sizeof path, "%s/run", h->folder);
    ok = ok && mkdir(path, 0700) == 0;
    if (!ok) return hd_fail(ctx, HD_IO, "xrt: cannot fill %s: %s", h->folder, strerror(errno));
    snprintf(h->xclbin, sizeof h->xclbin, "%s/emu.xclbin", h->folder);
    hd_xclbin_emulation(m, NULL, 0, &b);
    hd_status s = hd_file_write(ctx, h->xclbin, b.data, b.n);
    hd_buf_free(&b);
    return s;
}

static hd_status listen_for_xrt(hd_ctx *ctx, hd_emu_host *h) {
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", h->folder, socket_id);
    h->listener = hd_socket_listen(path);
    snprintf(path, sizeof path, "%s/D2X_unix_sock_%s", h->folder, socket_id);
    h->listener_d2x = hd_socket_listen(path);
    if (h->listener < 0 || h->listener_d2x < 0 || pipe(h->quit))
        return hd_fail(ctx, HD_IO, "xrt: cannot listen in %s: %s", h->folder, strerror(errno));
    fcntl(h->quit[0], F_SETFD, FD_CLOEXEC);
    fcntl(h->quit[1], F_SETFD, FD_CLOEXEC);
    return HD_OK;
}

static void change_environment(hd_emu_host *h) {
    char run[PATH_BYTES];
    snprintf(run, sizeof run, "%s/run", h->folder);
    const char *value[N_VARIABLES] = {h->folder + strlen("/tmp/"), socket_id, h->folder, run};
    for (int i = 0; i < N_VARIABLES; i++) {
        const char *was = getenv(variables[i]);
        h->saved[i] = was ? strdup(was) : NULL;
        setenv(variables[i], value[i], 1);
    }
    h->changed = true;
}

static void restore_environment(hd_emu_host *h) {
    for (int i = 0; h->changed && i < N_VARIABLES; i++) {
        if (h->saved[i])
            setenv(variables[i], h->saved[i], 1);
        else
            unsetenv(variables[i]);
        free(h->saved[i]);
    }
}

/* ---- start and stop ------------------------------------------------------------------------- */

static hd_status start(hd_ctx *ctx, hd_emu_host *h, const struct hd_device_options *opt,
                       const char *shim) {
    const char *id = getenv("EMULATION_SOCKETID");
    if (id && !strcmp(id, socket_id))
        return hd_fail(ctx, HD_DEVICE,
                       "xrt: this process has an emulated device open, and XRT gives one at a "
                       "time; close it first");
    TRY(make_folder(ctx, h, shim, &opt->machine));
    TRY(start_device(ctx, h, opt));
    TRY(listen_for_xrt(ctx, h));
    if (pthread_create(&h->relay, NULL, relay_main, h))
        return hd_fail(ctx, HD_NOMEM, "xrt: no thread for the emulated device");
    h->relays = true;
    change_environment(h);
    return HD_OK;
}

hd_status hd_emu_host_start(hd_ctx *ctx, const struct hd_device_options *opt, const char *shim,
                            hd_emu_host **out) {
    *out = NULL;
    hd_emu_host *h = calloc(1, sizeof *h);
    if (!h) return hd_fail(ctx, HD_NOMEM, "xrt: no memory for the emulated device");
    h->owner = h->device = h->listener = h->listener_d2x = h->quit[0] = h->quit[1] = -1;
    hd_status s = start(ctx, h, opt, shim);
    if (s)
        hd_emu_host_stop(h, false);
    else
        *out = h;
    return s;
}

void hd_emu_host_release(hd_emu_host *h, int core) {
    atomic_fetch_or(&h->released, 1u << core);
}

void hd_emu_host_first_wait(void *handle) {
    int (*wait)(void *, int);
    void *symbol = dlsym(RTLD_DEFAULT, "xclExecWait");
    memcpy(&wait, &symbol, sizeof symbol);
    if (symbol && handle) wait(handle, 0);
}

void hd_emu_host_stop(hd_emu_host *h, bool stay) {
    if (!h) return;
    stay = stay && h->relays;
    if (stay) {
        atomic_store(&h->dead, true);
        pthread_detach(h->relay);
        if (h->pid) kill(h->pid, SIGKILL);
        if (h->pid) waitpid(h->pid, NULL, 0);
    } else {
        if (h->quit[1] >= 0) close(h->quit[1]);
        if (h->relays) pthread_join(h->relay, NULL);
        end_device(h);
        if (h->quit[0] >= 0) close(h->quit[0]);
        if (h->listener >= 0) close(h->listener);
        if (h->listener_d2x >= 0) close(h->listener_d2x);
    }
    if (h->changed) remove_log();
    restore_environment(h);
    if (h->folder[0]) hd_emu_remove(h->folder);
    if (h->owner >= 0) close(h->owner);
    if (!stay) free(h);
}
