/* Several hosts as one: who is least busy is asked, and another takes over from one that dies. */
#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/remote/client.h"

enum { HOSTS_MAX = 64, PATH_BYTES = 1024, CHOOSE_MS = 1000, REST_MS = 10000, LOOK_MS = 50 };

struct host {
    char name[HD_HOST_BYTES], command[HD_COMMAND_BYTES];
    int64_t died; /* when, 0 = never */
};
struct hd_fleet {
    char path[PATH_BYTES];
    struct host *hosts;
    int n;
};

/* ---- the file ------------------------------------------------------------------------------- */

static bool hosts_path(char *out) {
    const char *set = getenv("HEDDLE_HOSTS"), *xdg = getenv("XDG_CONFIG_HOME"),
               *home = getenv("HOME");
    int n = set && *set          ? snprintf(out, PATH_BYTES, "%s", set)
            : xdg && *xdg == '/' ? snprintf(out, PATH_BYTES, "%s/heddle/hosts", xdg)
            : home && *home      ? snprintf(out, PATH_BYTES, "%s/.config/heddle/hosts", home)
                                 : -1;
    return n > 0 && n < PATH_BYTES;
}

/* A line: a host, then the command that reaches it, if it has one of its own. */
static hd_status read_line(hd_ctx *ctx, struct hd_fleet *f, int number, char *line) {
    line[strcspn(line, "#\r")] = 0;
    char *p = line + strspn(line, " \t");
    size_t n = strcspn(p, " \t"), end = strlen(p);
    if (!n) return HD_OK;
    while (end && isspace((unsigned char)p[end - 1])) p[--end] = 0;
    const char *command = end > n ? p + n + strspn(p + n, " \t") : "";
    if (f->n == HOSTS_MAX || n >= HD_HOST_BYTES || strlen(command) >= HD_COMMAND_BYTES)
        return hd_fail(ctx, HD_INVALID,
                       "%s:%d: want at most %d hosts, names below %d and commands below %d bytes",
                       f->path, number, HOSTS_MAX, HD_HOST_BYTES, HD_COMMAND_BYTES);
    struct host *h = &f->hosts[f->n++];
    memcpy(h->name, p, n);
    strcpy(h->command, command);
    return HD_OK;
}

static hd_status read_hosts(hd_ctx *ctx, struct hd_fleet *f) {
    void *data = NULL;
    size_t bytes;
    int number = 0;
    if (!hosts_path(f->path))
        return hd_fail(ctx, HD_IO, "fleet: no file of hosts; name it in HEDDLE_HOSTS");
    TRY(hd_note(ctx, hd_file_read(ctx, f->path, &data, &bytes),
                "the file of hosts, a host a line (docs/remote.md); HEDDLE_HOSTS names another"));
    hd_status s = HD_OK;
    char *save = data;
    for (char *line; !s && (line = save) && *line;) {
        char *end = strchr(line, '\n');
        save = end ? end + 1 : NULL;
        if (end) *end = 0;
        s = read_line(ctx, f, ++number, line);
    }
    free(data);
    if (s || f->n) return s;
    return hd_fail(ctx, HD_INVALID, "%s: names no host; want a host a line", f->path);
}

hd_status hd_fleet_create(hd_ctx *ctx, struct hd_fleet **out) {
    struct hd_fleet *f = calloc(1, sizeof *f);
    if (f) f->hosts = calloc(HOSTS_MAX, sizeof *f->hosts);
    if (!f || !f->hosts) {
        free(f);
        return hd_fail(ctx, HD_NOMEM, "fleet: no memory for its hosts");
    }
    *out = f;
    return read_hosts(ctx, f);
}

void hd_fleet_destroy(struct hd_fleet *f) {
    if (!f) return;
    free(f->hosts);
    free(f);
}

/* ---- the choice ----------------------------------------------------------------------------- */

struct choice {
    struct hd_link link[HOSTS_MAX];
    char why[HOSTS_MAX][160];
};

static void keep_why(hd_ctx *ctx, char out[160]) {
    snprintf(out, 160, "%s", hd_message(ctx));
    out[strcspn(out, "\n")] = 0;
}

/* Starts those that did not die a moment ago; when none is left, all. */
static int start_all(hd_ctx *ctx, struct hd_fleet *f, struct choice *c, bool all) {
    int n = 0;
    for (int i = 0; i < f->n; i++) {
        struct host *h = &f->hosts[i];
        if (!all && h->died && hd_remote_ms() - h->died < REST_MS) continue;
        if (hd_link_start(ctx, &c->link[i], h->name, h->command))
            keep_why(ctx, c->why[i]);
        else
            n++;
    }
    return n;
}

/* Greets whoever begins to speak, until `end`; ends sooner once some time has gone by since the
 * first. */
static void greet_all(hd_ctx *ctx, struct hd_fleet *f, struct choice *c) {
    int64_t end = 0;
    for (;;) {
        struct pollfd p[HOSTS_MAX];
        int waiting = 0;
        for (int i = 0; i < f->n; i++) {
            struct hd_link *l = &c->link[i];
            bool waits = l->open && !l->greeted;
            p[i] = (struct pollfd){waits ? l->wire.in : -1, POLLIN, 0};
            waiting += waits;
            if (waits && !end) end = hd_remote_ms() + hd_link_greet_ms(l);
        }
        int64_t left = end - hd_remote_ms();
        if (!waiting || left <= 0 || hd_continue(ctx) != HD_OK) return;
        if (poll(p, (nfds_t)f->n, left < LOOK_MS ? (int)left : LOOK_MS) < 0 && errno != EINTR)
            return;
        for (int i = 0; i < f->n; i++) {
            if (!p[i].revents) continue;
            if (hd_link_greet(ctx, &c->link[i], c->link[i].wire.silence_ms))
                keep_why(ctx, c->why[i]);
            else if (end > hd_remote_ms() + CHOOSE_MS)
                end = hd_remote_ms() + CHOOSE_MS;
        }
    }
}

/* The least runs for its cores; -1: nobody came. */
static int least_busy(const struct hd_fleet *f, const struct choice *c) {
    int best = -1;
    for (int i = 0; i < f->n; i++) {
        const struct hd_link *l = &c->link[i], *b = best < 0 ? NULL : &c->link[best];
        if (!l->open || !l->greeted) continue;
        uint64_t mine = (uint64_t)l->busy * (b ? b->cores + !b->cores : 1);
        if (!b || mine < (uint64_t)b->busy * (l->cores + !l->cores)) best = i;
    }
    return best;
}

static hd_status nobody(hd_ctx *ctx, const struct hd_fleet *f, const struct choice *c) {
    struct hd_buf b = {0};
    for (int i = 0; i < f->n && b.n < 2500; i++) {
        char line[HD_HOST_BYTES + 200];
        int n = snprintf(line, sizeof line, "\n  %s: %s", f->hosts[i].name,
                         c->why[i][0] ? c->why[i] : "has not answered in time");
        hd_buf_put(&b, line, (size_t)n);
    }
    hd_buf_put(&b, "", 1);
    hd_status s = hd_fail(ctx, HD_DEVICE, "fleet: none of the %d hosts of %s can be used%s", f->n,
                          f->path, (char *)b.data);
    hd_buf_free(&b);
    return s;
}

hd_status hd_fleet_connect(hd_ctx *ctx, struct hd_fleet *f, struct hd_link *out) {
    struct choice *c = calloc(1, sizeof *c);
    if (!c) return hd_fail(ctx, HD_NOMEM, "fleet: no memory for its hosts");
    int best = -1;
    for (int all = 0; all < 2 && best < 0; all++) {
        if (!start_all(ctx, f, c, all)) continue;
        greet_all(ctx, f, c);
        best = least_busy(f, c);
        for (int i = 0; i < f->n; i++) {
            if (i == best) continue;
            if (c->link[i].open && !c->link[i].greeted) f->hosts[i].died = hd_remote_ms();
            hd_link_close(&c->link[i]);
        }
    }
    hd_status s = hd_continue(ctx);
    if (!s && best < 0) s = nobody(ctx, f, c);
    if (s && best >= 0) hd_link_close(&c->link[best]);
    if (!s) *out = c->link[best];
    free(c);
    return s;
}

/* ---- taking over ---------------------------------------------------------------------------- */

static void bury(struct hd_fleet *f, const char *host) {
    for (int i = 0; i < f->n; i++)
        if (!strcmp(f->hosts[i].name, host)) f->hosts[i].died = hd_remote_ms();
}

/* All that was asked of the host that died, asked of the new one. A finished run is run again: what
 * it gave may not have been read yet. */
static hd_status replay(hd_ctx *ctx, hd_device *d) {
    struct hd_remote_run *r = &d->run;
    TRY(hd_remote_open_device(ctx, d));
    for (size_t i = 0; i < d->n_buffers; i++) {
        struct hd_remote_buffer *b = &d->buffers[i];
        if (!b->used) continue;
        if (b->stale) b->lost = true;
        TRY(hd_remote_post_buffer(ctx, d, (uint32_t)i));
        TRY(hd_remote_post_bytes(ctx, d, (uint32_t)i, 0, b->mirror, b->bytes));
    }
    for (hd_exec *x = d->execs; x; x = x->next) TRY(hd_remote_load_exec(ctx, d, x));
    if (!r->exec) return HD_OK;
    if (r->open) return hd_remote_post_run(ctx, d);
    r->quiet = true;
    hd_status s = hd_remote_post_run(ctx, d);
    struct hd_frame f;
    bool late;
    while (!s && r->open) {
        s = hd_link_leave(&d->link, hd_link_next(ctx, &d->link, r->number, -1, &f, &late));
        if (!s && f.kind == HD_FRAME_done) r->open = false;
    }
    r->open = r->quiet = false;
    return s;
}

bool hd_remote_again(hd_ctx *ctx, hd_device *d, hd_status *s) {
    if (!*s || *s == HD_CANCELLED || d->link.open || !d->fleet) return false;
    while (d->tries++ < d->fleet->n) {
        bury(d->fleet, d->link.host);
        *s = hd_fleet_connect(ctx, d->fleet, &d->link);
        if (*s) return false;
        *s = replay(ctx, d);
        if (!*s) return true;
        if (d->link.open) return false; /* it refuses: so would every other */
    }
    return false;
}
