/* What a client asks of its device, but for runs: buffers, models, steps. Nothing that it says is
 * believed before it is checked. */
#include <stdlib.h>
#include <string.h>

#include "driver/remote/server.h"
#include "runtime/base/parallel.h"
#include "runtime/device/cache.h"

static hd_status no_device(struct hd_server *s) {
    return s->dev ? HD_OK : hd_serve_damaged(s, "no device is open");
}

/* ---- devices -------------------------------------------------------------------------------- */

void hd_serve_devices(struct hd_server *s) {
    const struct hd_device_options opt = {.machine = hd_machines[1]};
    for (int i = 0; s->o->devices[i]; i++) {
        const struct hd_device_ops *d = s->o->devices[i];
        struct hd_device_info info = {.available = true};
        if (d->probe && d->probe(s->ctx, &opt, &info) != HD_OK) {
            info.available = false;
            info.why_not = hd_message(s->ctx);
        }
        const char *more = info.available ? info.description : info.why_not;
        struct hd_buf b = {0};
        hd_buf_str(&b, d->scheme);
        hd_buf_str(&b, d->sections & HD_RUNS_PROG ? "programs" : "graphs");
        hd_buf_str(&b, d->doc);
        hd_buf_str(&b, more);
        hd_buf_u32(&b, info.available);
        if (b.n <= 8192) hd_serve_say(s, HD_FRAME_device, b.data, b.n);
        hd_buf_free(&b);
    }
    hd_serve_answer(s, HD_OK);
}

static hd_status open_device(struct hd_server *s, struct hd_cursor *c) {
    struct hd_device_info info = {.available = true};
    if (s->dev) return hd_serve_damaged(s, "a device is open already");
    if (!hd_get_options(c, s->a, &s->scheme, &s->opt, &s->wants))
        return hd_serve_damaged(s, "the options of the device are damaged");
    if (strchr(s->scheme, '/'))
        return hd_fail(s->ctx, HD_UNSUPPORTED,
                       "device %.100s: heddle serve gives devices of its own computer only",
                       s->scheme);
    TRY(hd_machine_check(s->ctx, &s->opt.machine));
    TRY(s->o->find(s->ctx, s->scheme, &s->ops));
    if (s->opt.threads > hd_cores()) s->opt.threads = hd_cores();
    s->opt.name = s->scheme;
    hd_serve_probe(s);
    s->opt.probe = s->wants ? &s->probe : NULL;
    if (s->ops->probe) TRY(s->ops->probe(s->ctx, &s->opt, &info));
    if (!info.available)
        return hd_fail(s->ctx, HD_DEVICE, "device %s: not available: %s", s->scheme,
                       info.why_not ? info.why_not : "");
    return s->ops->open(s->ctx, &s->opt, &s->dev);
}

void hd_serve_open(struct hd_server *s, struct hd_cursor *c) {
    hd_serve_answer(s, open_device(s, c));
}

static uint64_t bytes_max(const struct hd_server *s) {
    return s->o->bytes ? s->o->bytes : HD_SERVE_BYTES;
}

/* ---- buffers -------------------------------------------------------------------------------- */

static struct hd_served_buffer *buffer_of(struct hd_server *s, uint32_t index) {
    return index < s->n_buffers && s->buffers[index].buffer.id ? &s->buffers[index] : NULL;
}

hd_status hd_serve_alloc(struct hd_server *s, struct hd_cursor *c) {
    uint32_t index = hd_cursor_u32(c);
    uint64_t bytes = hd_cursor_u64(c);
    TRY(no_device(s));
    if (index >= HD_SERVE_BUFFERS || buffer_of(s, index))
        return hd_serve_damaged(s, "a buffer has a number that is taken or too large");
    if (bytes > bytes_max(s) - s->bytes)
        return hd_fail(s->ctx, HD_NOMEM,
                       "heddle serve: buffers of %llu bytes in all, at most %llu for a client; use "
                       "a smaller model",
                       (unsigned long long)(s->bytes + bytes), (unsigned long long)bytes_max(s));
    if (index >= s->n_buffers) {
        uint32_t n = index + 1 < 2 * s->n_buffers ? 2 * s->n_buffers : index + 1;
        struct hd_served_buffer *grown = realloc(s->buffers, n * sizeof *grown);
        if (!grown) return hd_fail(s->ctx, HD_NOMEM, "heddle serve: no memory for a buffer");
        memset(grown + s->n_buffers, 0, (n - s->n_buffers) * sizeof *grown);
        s->buffers = grown;
        s->n_buffers = n;
    }
    TRY(s->ops->alloc(s->ctx, s->dev, (size_t)bytes, &s->buffers[index].buffer));
    s->buffers[index].bytes = bytes;
    s->bytes += bytes;
    return HD_OK;
}

hd_status hd_serve_free(struct hd_server *s, struct hd_cursor *c) {
    struct hd_served_buffer *b = buffer_of(s, hd_cursor_u32(c));
    if (!b) return HD_OK;
    s->ops->free(s->dev, b->buffer);
    s->bytes -= b->bytes;
    *b = (struct hd_served_buffer){{0}, 0};
    return HD_OK;
}

hd_status hd_serve_write(struct hd_server *s, struct hd_cursor *c) {
    struct hd_served_buffer *b = buffer_of(s, hd_cursor_u32(c));
    uint64_t off = hd_cursor_u64(c);
    if (!b) return hd_serve_damaged(s, "write to a buffer that is not there");
    return s->ops->write(s->ctx, s->dev, b->buffer, (size_t)off, c->data + c->at, c->n - c->at);
}

void hd_serve_read(struct hd_server *s, struct hd_cursor *c) {
    static const size_t most = HD_FRAME_BYTES;
    struct hd_served_buffer *b = buffer_of(s, hd_cursor_u32(c));
    uint64_t off = hd_cursor_u64(c), bytes = hd_cursor_u64(c);
    hd_status r = HD_OK;
    if (!b || off > b->bytes || bytes > b->bytes - off)
        r = hd_serve_damaged(s, "read of bytes that are not in the buffer");
    unsigned char *part = r ? NULL : malloc(most);
    if (!r && !part) r = hd_fail(s->ctx, HD_NOMEM, "heddle serve: no memory to read a buffer");
    for (size_t k; !r && bytes && !s->gone; bytes -= k, off += k) {
        k = bytes < most ? (size_t)bytes : most;
        r = s->ops->read(s->ctx, s->dev, b->buffer, (size_t)off, part, k);
        if (!r) hd_serve_say(s, HD_FRAME_data, part, k);
    }
    free(part);
    hd_serve_answer(s, r);
}

/* ---- models and steps ----------------------------------------------------------------------- */

hd_status hd_serve_model(struct hd_server *s, struct hd_cursor *c) {
    if (c->n > bytes_max(s) - s->incoming.n)
        return hd_serve_damaged(s, "a model larger than is allowed");
    hd_buf_put(&s->incoming, c->data, c->n);
    return HD_OK;
}

static struct hd_served_model *keep_model(struct hd_server *s, const unsigned char *key,
                                          hd_model *m) {
    struct hd_served_model *k = calloc(1, sizeof *k);
    HD_ASSERT(k != NULL);
    memcpy(k->key, key, sizeof k->key);
    k->model = m;
    k->next = s->models;
    s->models = k;
    return k;
}

/* The model of a key: known, from the cache, or what was just sent; *out NULL: none of these. */
static hd_status find_model(struct hd_server *s, const unsigned char *key, uint64_t bytes,
                            struct hd_served_model **out) {
    unsigned char is[HD_SHA256_BYTES];
    hd_model *m = NULL;
    for (*out = s->models; *out; *out = (*out)->next)
        if (!memcmp((*out)->key, key, sizeof is)) return HD_OK;
    if (!s->incoming.n) {
        m = s->o->cache_mib ? hd_cache_get(HD_CACHE_SENT, key) : NULL;
        if (m) *out = keep_model(s, key, m);
        return HD_OK;
    }
    hd_sha256(s->incoming.data, s->incoming.n, is);
    if (s->incoming.n != bytes || memcmp(is, key, sizeof is))
        return hd_serve_damaged(s, "the model that was sent has another SHA-256 than was said");
    TRY(hd_model_load_memory(s->ctx, s->incoming.data, s->incoming.n, "the model that was sent",
                             &m));
    if (s->o->cache_mib)
        hd_cache_put(HD_CACHE_SENT, key, s->incoming.data, s->incoming.n, s->o->cache_mib);
    *out = keep_model(s, key, m);
    return HD_OK;
}

static void drop_unused(struct hd_server *s) {
    for (struct hd_served_model **p = &s->models; *p;) {
        struct hd_served_model *k = *p;
        if (k->uses) {
            p = &k->next;
            continue;
        }
        *p = k->next;
        hd_model_destroy(k->model);
        free(k);
    }
}

static hd_status load(struct hd_server *s, struct hd_cursor *c, bool *out_want) {
    const unsigned char *key = hd_cursor_take(c, HD_SHA256_BYTES);
    uint64_t bytes = hd_cursor_u64(c);
    uint32_t id = hd_cursor_u32(c), step = hd_cursor_u32(c);
    struct hd_served_model *m;
    TRY(no_device(s));
    if (c->bad || id >= HD_SERVE_EXECS || (id < s->n_execs && s->execs[id].exec))
        return hd_serve_damaged(s, "a step has a number that is taken or too large");
    hd_status r = find_model(s, key, bytes, &m);
    hd_buf_free(&s->incoming);
    TRY(r);
    *out_want = !m;
    if (!m) return HD_OK;
    if (id >= s->n_execs) {
        struct hd_served_exec *grown = realloc(s->execs, (id + 1) * sizeof *grown);
        if (!grown) return hd_fail(s->ctx, HD_NOMEM, "heddle serve: no memory for a step");
        memset(grown + s->n_execs, 0, (id + 1 - s->n_execs) * sizeof *grown);
        s->execs = grown;
        s->n_execs = id + 1;
    }
    struct hd_served_exec *x = &s->execs[id];
    bool whole = step == UINT32_MAX;
    if (!whole && step >= (uint32_t)m->model->n_steps)
        return hd_fail(s->ctx, HD_INVALID, "%s: step %u of %s, it has %d", s->scheme, step,
                       m->model->name, m->model->n_steps);
    TRY(s->ops->load(s->ctx, s->dev, m->model, whole ? -1 : (int)step, &x->exec));
    x->m = m;
    x->step = whole ? -1 : (int)step;
    m->uses++;
    return HD_OK;
}

void hd_serve_load(struct hd_server *s, struct hd_cursor *c) {
    bool want = false;
    hd_status r = load(s, c, &want);
    if (want)
        hd_serve_say(s, HD_FRAME_want, NULL, 0);
    else
        hd_serve_answer(s, r);
    drop_unused(s);
}

hd_status hd_serve_unload(struct hd_server *s, struct hd_cursor *c) {
    uint32_t id = hd_cursor_u32(c);
    if (id >= s->n_execs || !s->execs[id].exec) return HD_OK;
    s->ops->unload(s->dev, s->execs[id].exec);
    s->execs[id].m->uses--;
    s->execs[id] = (struct hd_served_exec){0};
    drop_unused(s);
    return HD_OK;
}

void hd_serve_end(struct hd_server *s) {
    for (uint32_t i = 0; i < s->n_execs; i++)
        if (s->execs[i].exec) {
            s->ops->unload(s->dev, s->execs[i].exec);
            s->execs[i].m->uses--;
        }
    for (uint32_t i = 0; i < s->n_buffers; i++)
        if (s->buffers[i].buffer.id) s->ops->free(s->dev, s->buffers[i].buffer);
    if (s->dev) s->ops->close(s->dev);
    drop_unused(s);
    hd_buf_free(&s->incoming);
    hd_buf_free(&s->ops_told);
    hd_buf_free(&s->dram_told);
    for (int i = 0; i < HD_PROBE_MEMORIES; i++) hd_buf_free(&s->shown[i]);
    free(s->execs);
    free(s->buffers);
}
