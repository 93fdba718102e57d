/* The device HOST/NAME: every call is a frame to heddle serve on that host. Buffers, models and
 * runs are kept in mind, so that another host of a fleet can take over (fleet.c). */
#include "driver/remote/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/remote/remote.h"

/* ---- open and close ------------------------------------------------------------------------- */

hd_status hd_remote_open_device(hd_ctx *ctx, hd_device *d) {
    struct hd_buf b = {0};
    hd_put_options(&b, d->scheme, &d->opt);
    hd_status s =
        hd_link_ask(ctx, &d->link, HD_FRAME_open, b.data, b.n, HD_FRAME_ok, HD_OPEN_MS, NULL);
    hd_buf_free(&b);
    return s;
}

static hd_status connect_host(hd_ctx *ctx, hd_device *d, const char *host) {
    TRY(hd_link_start(ctx, &d->link, host, NULL));
    return hd_link_greet(ctx, &d->link, hd_link_greet_ms(&d->link));
}

static hd_status open_name(hd_ctx *ctx, hd_device *d, const char *name) {
    const char *slash = strrchr(name, '/');
    char host[HD_HOST_BYTES];
    int n = slash ? (int)(slash - name) : 0;
    if (!n || n >= HD_HOST_BYTES || strlen(slash + 1) >= sizeof d->scheme)
        return hd_fail(ctx, HD_INVALID,
                       "device %.300s: want HOST/NAME, each below %d and %zu bytes", name,
                       HD_HOST_BYTES, sizeof d->scheme);
    snprintf(host, sizeof host, "%.*s", n, name);
    strcpy(d->scheme, slash + 1);
    if (strcmp(host, HD_REMOTE_FLEET)) {
        TRY(connect_host(ctx, d, host));
    } else {
        TRY(hd_fleet_create(ctx, &d->fleet));
        TRY(hd_fleet_connect(ctx, d->fleet, &d->link));
    }
    hd_status s = hd_remote_open_device(ctx, d);
    if (s) hd_remote_again(ctx, d, &s);
    return s;
}

static void remote_close(hd_device *d) {
    hd_link_close(&d->link);
    for (size_t i = 0; i < d->n_buffers; i++) free(d->buffers[i].mirror);
    for (int i = 0; i < HD_PROBE_MEMORIES; i++) hd_buf_free(&d->run.memory[i]);
    while (d->models) {
        struct hd_remote_model *next = d->models->next;
        free(d->models);
        d->models = next;
    }
    while (d->execs) {
        hd_exec *next = d->execs->next;
        if (d->execs->told) hd_arena_destroy(d->execs->told);
        free(d->execs);
        d->execs = next;
    }
    hd_fleet_destroy(d->fleet);
    free(d->run.io);
    free(d->buffers);
    free(d->layers);
    free(d);
}

static hd_status remote_open(hd_ctx *ctx, const struct hd_device_options *opt, hd_device **out) {
    *out = NULL;
    hd_device *d = calloc(1, sizeof *d);
    if (!d) return hd_fail(ctx, HD_NOMEM, "%s: no memory for the device", opt->name);
    d->opt = *opt;
    hd_status s = open_name(ctx, d, opt->name ? opt->name : "");
    d->opt.name = NULL; /* the caller's */
    if (s)
        remote_close(d);
    else
        *out = d;
    return s;
}

/* ---- buffers -------------------------------------------------------------------------------- */

/* A run in work ends before anything else is asked, so that two never wait for each other. */
static hd_status settle(hd_ctx *ctx, hd_device *d) {
    return d->run.open ? hd_remote_finish(ctx, d, UINT64_MAX) : HD_OK;
}

hd_status hd_remote_post_buffer(hd_ctx *ctx, hd_device *d, uint32_t index) {
    struct hd_buf b = {0};
    hd_buf_u32(&b, index);
    hd_buf_u64(&b, d->buffers[index].bytes);
    hd_status s = hd_link_post(ctx, &d->link, HD_FRAME_alloc, b.data, b.n);
    hd_buf_free(&b);
    return s;
}

static hd_status remote_alloc(hd_ctx *ctx, hd_device *d, size_t bytes, hd_buffer *out) {
    size_t i = 0;
    TRY(settle(ctx, d));
    while (i < d->n_buffers && d->buffers[i].used) i++;
    if (i == HD_REMOTE_BUFFERS)
        return hd_fail(ctx, HD_NOMEM, "%s: %d buffers are open; free one", d->scheme,
                       HD_REMOTE_BUFFERS);
    if (i == d->n_buffers) {
        struct hd_remote_buffer *grown = realloc(d->buffers, (i + 1) * sizeof *grown);
        if (!grown) return hd_fail(ctx, HD_NOMEM, "%s: no memory for a buffer's record", d->scheme);
        d->buffers = grown;
        d->n_buffers++;
    }
    struct hd_remote_buffer *b = &d->buffers[i];
    *b = (struct hd_remote_buffer){.bytes = bytes};
    if (d->fleet && !(b->mirror = calloc(1, bytes ? bytes : 1)))
        return hd_fail(ctx, HD_NOMEM, "%s: no memory for %zu bytes", d->scheme, bytes);
    b->used = true;
    hd_status s = hd_remote_post_buffer(ctx, d, (uint32_t)i);
    if (s) hd_remote_again(ctx, d, &s);
    out->id = i + 1;
    return s;
}

static struct hd_remote_buffer *buffer_of(hd_device *d, hd_buffer b) {
    return b.id && b.id <= d->n_buffers && d->buffers[b.id - 1].used ? &d->buffers[b.id - 1] : NULL;
}

/* What a run gave cannot be had again once its memory is another. */
static void forget_run(hd_device *d, size_t index) {
    bool its = false;
    for (uint32_t i = 0; d->run.exec && i < d->run.n_io; i++) its = its || d->run.io[i] == index;
    for (uint32_t i = 0; its && i < d->run.n_io; i++)
        if (d->run.io[i] < d->n_buffers) d->buffers[d->run.io[i]].stale = true;
    if (its) d->run.exec = NULL;
}

static void remote_free(hd_device *d, hd_buffer id) {
    struct hd_remote_buffer *b = buffer_of(d, id);
    if (!b) return;
    hd_ctx *ctx = hd_ctx_create();
    unsigned char index[4];
    for (int i = 0; i < 4; i++) index[i] = (unsigned char)((id.id - 1) >> 8 * i);
    settle(ctx, d);
    forget_run(d, id.id - 1);
    free(b->mirror);
    *b = (struct hd_remote_buffer){0};
    if (d->link.open) hd_link_post(ctx, &d->link, HD_FRAME_free, index, sizeof index);
    hd_ctx_destroy(ctx);
}

static hd_status check(hd_ctx *ctx, hd_device *d, hd_buffer id, size_t off, size_t bytes) {
    const struct hd_remote_buffer *b = buffer_of(d, id);
    if (!b)
        return hd_fail(ctx, HD_INVALID, "%s: no buffer %llu", d->scheme, (unsigned long long)id.id);
    if (off > b->bytes || bytes > b->bytes - off)
        return hd_fail(ctx, HD_INVALID, "%s: bytes %zu..%zu of buffer %llu, it has %zu", d->scheme,
                       off, off + bytes, (unsigned long long)id.id, b->bytes);
    return HD_OK;
}

hd_status hd_remote_post_bytes(hd_ctx *ctx, hd_device *d, uint32_t index, size_t off,
                               const unsigned char *data, size_t bytes) {
    struct hd_buf b = {0};
    hd_status s = HD_OK;
    for (size_t k; bytes && !s; bytes -= k, off += k, data += k) {
        k = bytes < HD_FRAME_BYTES - 12 ? bytes : HD_FRAME_BYTES - 12;
        b.n = 0;
        hd_buf_u32(&b, index);
        hd_buf_u64(&b, off);
        hd_buf_put(&b, data, k);
        s = hd_link_post(ctx, &d->link, HD_FRAME_write, b.data, b.n);
    }
    hd_buf_free(&b);
    return s;
}

static hd_status remote_write(hd_ctx *ctx, hd_device *d, hd_buffer id, size_t off, const void *src,
                              size_t bytes) {
    TRY(settle(ctx, d));
    TRY(check(ctx, d, id, off, bytes));
    struct hd_remote_buffer *b = buffer_of(d, id);
    if (bytes) forget_run(d, id.id - 1);
    if (bytes && b->mirror) memcpy(b->mirror + off, src, bytes);
    hd_status s = hd_remote_post_bytes(ctx, d, (uint32_t)(id.id - 1), off, src, bytes);
    if (s) hd_remote_again(ctx, d, &s);
    return s;
}

static hd_status read_once(hd_ctx *ctx, hd_device *d, hd_buffer id, size_t off, unsigned char *dst,
                           size_t bytes) {
    struct hd_buf b = {0};
    struct hd_frame f;
    bool late;
    if (buffer_of(d, id)->lost)
        return hd_fail(ctx, HD_DEVICE,
                       "%s: the host that had the results of buffer %llu died; run again",
                       d->scheme, (unsigned long long)id.id);
    hd_buf_u32(&b, (uint32_t)(id.id - 1));
    hd_buf_u64(&b, off);
    hd_buf_u64(&b, bytes);
    hd_status s = hd_link_post(ctx, &d->link, HD_FRAME_read, b.data, b.n);
    hd_buf_free(&b);
    TRY(s);
    for (size_t got = 0;;) {
        s = hd_link_next(ctx, &d->link, d->link.number, HD_ASK_MS, &f, &late);
        if (late) return hd_link_late(ctx, &d->link);
        TRY(hd_link_leave(&d->link, s));
        if (f.kind == HD_FRAME_ok && got == bytes) return HD_OK;
        if (f.kind != HD_FRAME_data || f.body.n > bytes - got)
            return hd_link_lies(ctx, &d->link, "other bytes than were asked for");
        memcpy(dst + got, f.body.data, f.body.n);
        got += f.body.n;
    }
}

static hd_status remote_read(hd_ctx *ctx, hd_device *d, hd_buffer id, size_t off, void *dst,
                             size_t bytes) {
    hd_status s;
    TRY(settle(ctx, d));
    TRY(check(ctx, d, id, off, bytes));
    if (!bytes) return HD_OK;
    do {
        s = read_once(ctx, d, id, off, dst, bytes);
    } while (s && hd_remote_again(ctx, d, &s));
    if (!s) d->tries = 0;
    return s;
}

/* ---- steps ---------------------------------------------------------------------------------- */

static struct hd_remote_model *model_of(hd_device *d, const hd_model *m) {
    for (struct hd_remote_model *k = d->models; k; k = k->next)
        if (k->model == m && k->uses) return k;
    struct hd_remote_model *k = d->models;
    while (k && k->uses) k = k->next;
    if (!k) {
        k = calloc(1, sizeof *k);
        if (!k) return NULL;
        k->next = d->models;
        d->models = k;
    }
    struct hd_buf b = {0};
    hd_model_bytes(m, &b);
    k->model = m;
    k->bytes = b.n;
    hd_sha256(b.data, b.n, k->key);
    hd_buf_free(&b);
    return k;
}

static hd_status send_model(hd_ctx *ctx, hd_device *d, const hd_model *m) {
    struct hd_buf b = {0};
    hd_status s = HD_OK;
    hd_model_bytes(m, &b);
    for (size_t at = 0, k; at < b.n && !s; at += k) {
        k = b.n - at < HD_FRAME_BYTES ? b.n - at : HD_FRAME_BYTES;
        s = hd_link_post(ctx, &d->link, HD_FRAME_model, b.data + at, k);
    }
    hd_buf_free(&b);
    return s;
}

hd_status hd_remote_load_exec(hd_ctx *ctx, hd_device *d, hd_exec *x) {
    struct hd_buf b = {0};
    uint32_t kind = HD_FRAME_want;
    hd_buf_put(&b, x->m->key, sizeof x->m->key);
    hd_buf_u64(&b, x->m->bytes);
    hd_buf_u32(&b, x->id);
    hd_buf_u32(&b, (uint32_t)x->step);
    hd_status s = HD_OK;
    for (int i = 0; i < 2 && !s && kind == HD_FRAME_want; i++) {
        if (i) s = send_model(ctx, d, x->m->model);
        if (!s)
            s = hd_link_ask(ctx, &d->link, HD_FRAME_load, b.data, b.n, HD_FRAME_want, HD_LOAD_MS,
                            &kind);
    }
    hd_buf_free(&b);
    if (!s && kind == HD_FRAME_want)
        return hd_link_lies(ctx, &d->link, "that it does not have the model which it was sent");
    return s;
}

static void remote_unload(hd_device *d, hd_exec *x) {
    hd_ctx *ctx = hd_ctx_create();
    unsigned char id[4];
    for (int i = 0; i < 4; i++) id[i] = (unsigned char)(x->id >> 8 * i);
    if (d->run.open && d->run.exec == x) hd_link_post(ctx, &d->link, HD_FRAME_cancel, NULL, 0);
    settle(ctx, d);
    if (d->run.exec == x) d->run.exec = NULL;
    if (d->link.open) hd_link_post(ctx, &d->link, HD_FRAME_unload, id, sizeof id);
    for (hd_exec **p = &d->execs; *p; p = &(*p)->next)
        if (*p == x) {
            *p = x->next;
            break;
        }
    x->m->uses--;
    if (x->told) hd_arena_destroy(x->told);
    free(x);
    hd_ctx_destroy(ctx);
}

/* The least number that no step has. */
static uint32_t new_id(const hd_device *d) {
    uint32_t id = 0;
    for (const hd_exec *x = d->execs; x;)
        if (x->id == id) {
            id++;
            x = d->execs;
        } else {
            x = x->next;
        }
    return id;
}

static hd_status remote_load(hd_ctx *ctx, hd_device *d, const hd_model *m, int step,
                             hd_exec **out) {
    *out = NULL;
    TRY(settle(ctx, d));
    hd_exec *x = calloc(1, sizeof *x);
    if (x) x->m = model_of(d, m);
    if (!x || !x->m) {
        free(x);
        return hd_fail(ctx, HD_NOMEM, "%s: no memory for step %d of %s", d->scheme, step, m->name);
    }
    x->m->uses++;
    x->d = d;
    x->step = step;
    x->id = new_id(d);
    x->next = d->execs;
    d->execs = x;
    hd_status s = hd_remote_load_exec(ctx, d, x);
    if (s && !hd_remote_again(ctx, d, &s)) {
        char text[2000];
        snprintf(text, sizeof text, "%s", hd_message(ctx));
        remote_unload(d, x);
        return hd_fail(ctx, s, "%s", text);
    }
    d->tries = 0;
    *out = x;
    return HD_OK;
}

/* ---- runs ----------------------------------------------------------------------------------- */

static hd_status remote_submit(hd_ctx *ctx, hd_device *d, hd_exec *x, const hd_buffer *io,
                               hd_fence *out) {
    struct hd_remote_run *r = &d->run;
    uint32_t n = hd_remote_io_count(x->m->model, x->step);
    if (r->open || (d->fences && !r->waited))
        return hd_fail(ctx, HD_INVALID, "%s: a run is open; wait for its fence first", d->scheme);
    if (n > r->cap_io) {
        uint32_t *grown = realloc(r->io, n * sizeof *grown);
        if (!grown) return hd_fail(ctx, HD_NOMEM, "%s: no memory for a run", d->scheme);
        r->io = grown;
        r->cap_io = n;
    }
    for (uint32_t i = 0; i < n; i++) TRY(check(ctx, d, io[i], 0, 0));
    r->exec = NULL;
    for (uint32_t i = 0; i < n; i++) {
        r->io[i] = (uint32_t)(io[i].id - 1);
        d->buffers[r->io[i]].stale = d->buffers[r->io[i]].lost = false;
    }
    r->n_io = n;
    r->exec = x;
    r->waited = r->quiet = false;
    hd_status s = hd_remote_post_run(ctx, d);
    if (s && !hd_remote_again(ctx, d, &s)) {
        r->exec = NULL;
        r->open = false;
        r->waited = true;
        return s;
    }
    *out = ++d->fences;
    return HD_OK;
}

static hd_status remote_wait(hd_ctx *ctx, hd_device *d, hd_fence fence, uint64_t timeout_ns) {
    struct hd_remote_run *r = &d->run;
    if (fence > d->fences)
        return hd_fail(ctx, HD_INVALID, "%s: fence %llu was never given", d->scheme,
                       (unsigned long long)fence);
    if (fence < d->fences || r->waited || !d->fences) return HD_OK;
    r->waited = true;
    if (r->open) TRY(hd_remote_finish(ctx, d, timeout_ns));
    if (!r->status) return HD_OK;
    hd_fail(ctx, r->status, "%s", r->message);
    return hd_note(ctx, r->status, "on host %s", d->link.host);
}

static hd_status remote_counters(hd_ctx *ctx, hd_device *d, struct hd_counters *out) {
    TRY(settle(ctx, d));
    *out = d->counters;
    return d->counted ? HD_OK : hd_fail(ctx, HD_INVALID, "%s: no finished run to count", d->scheme);
}

static int remote_steps(hd_exec *x, const struct hd_exec_step **out) {
    *out = x->steps;
    return x->n_steps;
}

/* ---- tables --------------------------------------------------------------------------------- */

#define REMOTE_DEVICE(runs, what)                                                                  \
    {                                                                                              \
        .scheme = "remote", .doc = "a device of another computer", .sections = runs,               \
        .open = remote_open, .close = remote_close, .alloc = remote_alloc, .free = remote_free,    \
        .write = remote_write, .read = remote_read, .load = remote_load, .unload = remote_unload,  \
        .submit = remote_submit, .wait = remote_wait, .counters = remote_counters, .steps = what   \
    }

const struct hd_device_ops hd_device_remote_programs = REMOTE_DEVICE(HD_RUNS_PROG, NULL);
const struct hd_device_ops hd_device_remote_graphs = REMOTE_DEVICE(HD_RUNS_GRAPH, remote_steps);
