/* A run on another computer: asked for, watched, cancelled; what it tells reaches the probe. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/remote/client.h"

enum { MEMORY_MAX = 1 << 28 }; /* of one on-chip memory, or of an arena that is shown */

/* XM and the arena as the operation told last has left them. */
static bool look(void *device, struct hd_probe_state *out) {
    const struct hd_remote_run *r = &((hd_device *)device)->run;
    *out = (struct hd_probe_state){0};
    for (int i = 0; i < HD_PROBE_MEMORIES; i++)
        if (r->memory[i].n) out->memory[i] = r->memory[i].data, out->bytes[i] = r->memory[i].n;
    return r->memory[HD_PROBE_XM].n > 0;
}

static const uint32_t *program_of(const hd_exec *x, size_t *out_words) {
    const struct hd_step *s = &x->m->model->steps[x->step];
    *out_words = s->code_bytes / 4;
    return (const void *)((const char *)x->m->model->image + s->code_offset);
}

hd_status hd_remote_post_run(hd_ctx *ctx, hd_device *d) {
    struct hd_remote_run *r = &d->run;
    const struct hd_probe *p = d->opt.probe;
    struct hd_buf b = {0};
    r->open = true;
    r->ended = false;
    hd_buf_u32(&b, r->exec->id);
    hd_buf_u32(&b, r->n_io);
    for (uint32_t i = 0; i < r->n_io; i++) hd_buf_u32(&b, r->io[i]);
    hd_status s = b.n <= HD_FRAME_BYTES / 4
                      ? hd_link_post(ctx, &d->link, HD_FRAME_run, b.data, b.n)
                      : hd_fail(ctx, HD_UNSUPPORTED, "%s: %u buffers in a run, at most %d",
                                d->scheme, r->n_io, HD_FRAME_BYTES / 16 - 2);
    hd_buf_free(&b);
    TRY(s);
    r->number = d->link.number;
    for (int i = 0; i < HD_PROBE_MEMORIES; i++) r->memory[i].n = 0;
    r->eye = (struct hd_probe_eye){d, look};
    if (p && p->begin && !r->quiet && r->exec->step >= 0) {
        size_t n;
        const uint32_t *words = program_of(r->exec, &n);
        p->begin(p->user, r->exec->step, words, n, &r->eye);
    }
    return HD_OK;
}

/* ---- what it tells -------------------------------------------------------------------------- */

static bool told_ops(hd_device *d, struct hd_cursor *c) {
    const struct hd_probe *p = d->opt.probe;
    struct hd_op_record r;
    size_t n_words;
    if (!p || !p->op || d->run.exec->step < 0) return false;
    program_of(d->run.exec, &n_words);
    while (c->at < c->n) {
        if (!hd_get_op(c, n_words, &r)) return false;
        if (!d->run.quiet) p->op(p->user, &r);
    }
    return true;
}

static bool told_dram(hd_device *d, struct hd_cursor *c) {
    const struct hd_probe *p = d->opt.probe;
    if (!p || !p->dram) return false;
    while (c->at < c->n) {
        uint64_t cycle = hd_cursor_u64(c);
        uint32_t is_write = hd_cursor_u32(c), bytes = hd_cursor_u32(c);
        if (c->bad || cycle >> 40 || is_write > 1) return false;
        if (!d->run.quiet) p->dram(p->user, cycle, is_write != 0, bytes);
    }
    return true;
}

static bool told_memory(hd_device *d, struct hd_cursor *c) {
    const struct hd_probe *p = d->opt.probe;
    uint32_t which = hd_cursor_u32(c);
    uint64_t total = hd_cursor_u64(c), from = hd_cursor_u64(c);
    size_t n = c->n - c->at;
    if (!p || !p->looks || which >= HD_PROBE_MEMORIES || total > MEMORY_MAX) return false;
    struct hd_buf *b = &d->run.memory[which];
    if (from > b->n || n > total - from || b->n > total) return false; /* no hole, nothing behind */
    size_t old = b->n - from < n ? b->n - from : n;
    if (old) memcpy(b->data + from, c->data + c->at, old);
    hd_buf_put(b, c->data + c->at + old, n - old);
    return true;
}

static void tell_end(hd_device *d) {
    const struct hd_probe *p = d->opt.probe;
    struct hd_probe_state state = {0};
    if (!p || !p->end || !d->run.ended || d->run.quiet) return;
    for (int i = 0; i < HD_PROBE_MEMORIES; i++) {
        state.memory[i] = d->run.memory[i].n ? d->run.memory[i].data : NULL;
        state.bytes[i] = d->run.memory[i].n;
    }
    p->end(p->user, d->run.cycles, &state);
}

/* Status, words, counters, and the steps of a graph device. False: damaged. */
static bool take_done(hd_device *d, struct hd_cursor *c) {
    struct hd_remote_run *r = &d->run;
    hd_exec *x = r->exec;
    uint32_t status = hd_cursor_u32(c);
    hd_wire_text(c, r->message, sizeof r->message);
    bool counted = hd_cursor_u32(c) != 0;
    if (c->bad || status >= HD_STATUS_COUNT) return false;
    if (counted && !hd_get_counters(c, &d->counters, &d->layers)) return false;
    if (x->told) hd_arena_destroy(x->told);
    x->told = hd_arena_create();
    if (!hd_get_steps(c, x->told, &x->steps, &x->n_steps) || c->at != c->n) {
        x->n_steps = 0;
        return false;
    }
    r->status = (hd_status)status;
    d->counted = counted;
    return true;
}

/* A frame of the run in work; false: it has no place there. */
static bool told(hd_device *d, struct hd_frame *f) {
    switch (f->kind) {
    case HD_FRAME_ops:
        return told_ops(d, &f->body);
    case HD_FRAME_dram:
        return told_dram(d, &f->body);
    case HD_FRAME_memory:
        return told_memory(d, &f->body);
    case HD_FRAME_end:
        d->run.cycles = hd_cursor_u64(&f->body);
        d->run.ended = true;
        return d->run.cycles >> 40 == 0;
    case HD_FRAME_done:
        if (!take_done(d, &f->body)) return false;
        d->run.open = false;
        if (!d->run.status) tell_end(d);
        return true;
    default:
        return false;
    }
}

/* ---- until it is done ----------------------------------------------------------------------- */

/* The run as one that failed with the connection. */
static hd_status gave_up(hd_ctx *ctx, hd_device *d, hd_status s) {
    d->run.open = false;
    d->run.exec = NULL;
    d->counted = false;
    d->run.status = s;
    snprintf(d->run.message, sizeof d->run.message, "%s", hd_message(ctx));
    return s;
}

/* Takes frames until the run is done; HD_OK then, whatever came of it. */
static hd_status take_run(hd_ctx *ctx, hd_device *d, int64_t end, bool *out_late) {
    struct hd_frame f;
    while (d->run.open) {
        int64_t left = end < 0 ? -1 : end - hd_remote_ms();
        hd_status s = hd_link_next(ctx, &d->link, d->run.number, end >= 0 && left < 0 ? 0 : left,
                                   &f, out_late);
        if (s && d->link.open && s != HD_CANCELLED && !*out_late) { /* of what was posted before */
            d->run.open = false;
            d->run.status = s;
            snprintf(d->run.message, sizeof d->run.message, "%s", hd_message(ctx));
            return HD_OK;
        }
        TRY(s);
        if (!told(d, &f)) return hd_link_lies(ctx, &d->link, "what is no part of this run");
    }
    return HD_OK;
}

/* A run whose time is over, or that is cancelled, is ended there, and says so. */
static hd_status finish_once(hd_ctx *ctx, hd_device *d, uint64_t timeout_ns) {
    bool late = false;
    int64_t wait = timeout_ns > (uint64_t)INT64_MAX / 2 ? -1 : (int64_t)(timeout_ns / 1000000u) + 1;
    hd_status why = take_run(ctx, d, wait < 0 ? -1 : hd_remote_ms() + wait, &late);
    if (!late && (why != HD_CANCELLED || !d->link.open)) return why;
    hd_ctx *own = hd_ctx_create(); /* ctx may be cancelled, which has been heard */
    hd_status s = hd_link_post(own, &d->link, HD_FRAME_cancel, NULL, 0);
    if (!s) s = take_run(own, d, hd_remote_ms() + 2 * d->link.wire.silence_ms, &late);
    if (s && d->link.open) s = hd_link_late(own, &d->link);
    if (s && why != HD_CANCELLED) hd_fail(ctx, s, "%s", hd_message(own));
    hd_ctx_destroy(own);
    return why == HD_CANCELLED ? why : s;
}

hd_status hd_remote_finish(hd_ctx *ctx, hd_device *d, uint64_t timeout_ns) {
    hd_status s;
    do {
        s = finish_once(ctx, d, timeout_ns);
    } while (s && hd_remote_again(ctx, d, &s));
    if (s) return gave_up(ctx, d, s);
    d->tries = 0;
    return HD_OK;
}
