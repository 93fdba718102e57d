/* heddle exec: one raw program, without a model, on one or more machines.
 *
 * Lines of the program's text that begin with "#:" prepare memory and name what is printed:
 *
 *   #: arena OFFSET TYPE value...     writes values; TYPE i8, u8, i32 or f32
 *   #: dump OFFSET COUNT TYPE         prints that many values after the run, also after an error
 *   #: flip WORD MASK                 flips bits of a program word, to make an illegal program
 *
 * With several devices the text must be the same for all and is printed once. Cycles, which differ
 * between simulators, are printed with --cycles.
 */
#include <stdlib.h>
#include <string.h>

#include "compiler/cli/cli.h"
#include "runtime/base/io.h"
#include "runtime/runtime.h"

enum { ARENA_BYTES = 65536, WATCHDOG = 20000, LINE_VALUES = 16 };

struct exec {
    struct hd_cmd *c;
    hd_arena *a;
    const char *path;
    hd_model *m;
    uint32_t *words;
    size_t n_words;
    uint8_t *arena;
    struct dump {
        size_t at, n;
        const char *type;
    } * dumps;
    size_t n_dumps, cap_dumps;
};

static size_t type_bytes(const char *type) {
    return !strcmp(type, "i8") || !strcmp(type, "u8")     ? 1
           : !strcmp(type, "i32") || !strcmp(type, "f32") ? 4
                                                          : 0;
}

static hd_status bad_line(struct exec *x, int line, const char *why) {
    return hd_fail(x->c->ctx, HD_INVALID,
                   "%s:%d: %s; want '#: arena OFFSET TYPE value...', '#: dump OFFSET COUNT TYPE' "
                   "or '#: flip WORD MASK', TYPE i8, u8, i32 or f32",
                   x->path, line, why);
}

/* ---- directives ----------------------------------------------------------------------------- */

static bool whole(const char *text, uint64_t *out) {
    char *end;
    *out = text ? strtoull(text, &end, 0) : 0;
    return text && *text && *text != '-' && !*end;
}

static bool store_value(uint8_t *at, const char *type, const char *text) {
    char *end;
    if (!strcmp(type, "f32")) {
        float f = strtof(text, &end);
        memcpy(at, &f, sizeof f);
    } else {
        int64_t v = strtoll(text, &end, 0);
        for (size_t i = 0; i < type_bytes(type); i++) at[i] = (uint8_t)((uint64_t)v >> (8 * i));
    }
    return end != text && !*end;
}

static hd_status fill(struct exec *x, int line, char *rest) {
    uint64_t at;
    char *offset = strtok_r(rest, " \t", &rest), *type = strtok_r(NULL, " \t", &rest);
    if (!whole(offset, &at) || !type || !type_bytes(type)) return bad_line(x, line, "bad arena");
    for (char *v; (v = strtok_r(NULL, " \t", &rest)); at += type_bytes(type)) {
        if (at > ARENA_BYTES - type_bytes(type)) return bad_line(x, line, "outside the arena");
        if (!store_value(x->arena + at, type, v)) return bad_line(x, line, "not a number");
    }
    return HD_OK;
}

static hd_status add_dump(struct exec *x, int line, char *rest) {
    uint64_t at, n;
    char *offset = strtok_r(rest, " \t", &rest), *count = strtok_r(NULL, " \t", &rest);
    char *type = strtok_r(NULL, " \t", &rest);
    if (!whole(offset, &at) || !whole(count, &n) || !type || !type_bytes(type))
        return bad_line(x, line, "bad dump");
    if (at > ARENA_BYTES || n > (ARENA_BYTES - at) / type_bytes(type))
        return bad_line(x, line, "outside the arena");
    *hd_push(x->a, x->dumps, x->n_dumps, x->cap_dumps) =
        (struct dump){(size_t)at, (size_t)n, hd_strdup(x->a, type)};
    return HD_OK;
}

static hd_status flip(struct exec *x, int line, char *rest) {
    uint64_t word, mask;
    char *w = strtok_r(rest, " \t", &rest), *m = strtok_r(NULL, " \t", &rest);
    if (!whole(w, &word) || !whole(m, &mask) || mask > UINT32_MAX)
        return bad_line(x, line, "bad flip");
    if (word >= x->n_words) return bad_line(x, line, "the program has no such word");
    x->words[word] ^= (uint32_t)mask;
    return HD_OK;
}

static hd_status directives(struct exec *x, char *text) {
    int line = 0;
    for (char *next = text; next;) {
        char *now = next, *end = strchr(now, '\n');
        line++;
        next = end ? end + 1 : NULL;
        if (end) *end = 0;
        if (strncmp(now, "#:", 2)) continue;
        char *rest = now + 2, *what = strtok_r(rest, " \t", &rest);
        hd_status s = !what                    ? bad_line(x, line, "empty")
                      : !strcmp(what, "arena") ? fill(x, line, rest)
                      : !strcmp(what, "dump")  ? add_dump(x, line, rest)
                      : !strcmp(what, "flip")  ? flip(x, line, rest)
                                               : bad_line(x, line, "unknown word");
        TRY(s);
    }
    return HD_OK;
}

/* ---- model ---------------------------------------------------------------------------------- */

static hd_status load(struct exec *x) {
    struct hd_machine machine;
    void *text;
    size_t bytes;
    uint32_t *words = NULL;
    TRY(hd_cmd_machine(x->c, &machine));
    TRY(hd_file_read(x->c->ctx, x->path, &text, &bytes));
    x->arena = hd_alloc(x->a, ARENA_BYTES);
    for (size_t i = 0; i < ARENA_BYTES; i++) x->arena[i] = (uint8_t)i;
    hd_status s = memchr(text, 0, bytes)
                      ? hd_fail(x->c->ctx, HD_INVALID,
                                "%s: has zero bytes, want the text of a program; heddle run "
                                "takes .hdl files",
                                x->path)
                      : hd_asm(x->c->ctx, &machine, text, x->path, &words, &x->n_words);
    if (s == HD_OK) x->words = hd_dup(x->a, words, x->n_words * 4);
    if (s == HD_OK) s = directives(x, text);
    free(words);
    free(text);
    TRY(s);
    hd_model *m = x->m = hd_model_create();
    m->name = hd_strdup(m->arena, x->path);
    m->machine = machine;
    m->isa_hash = hd_isa_hash();
    m->machine_hash = hd_machine_hash(&machine);
    m->image_bytes = (x->n_words * 4 + 63) / 64 * 64;
    m->image = hd_alloc(m->arena, m->image_bytes);
    memcpy(m->image, x->words, x->n_words * 4);
    m->arena_bytes = ARENA_BYTES;
    m->n_steps = 1;
    m->steps = hd_new(m->arena, struct hd_step);
    m->steps[0].kind = HD_STEP_PROG;
    m->steps[0].code_bytes = (uint32_t)x->n_words * 4;
    return HD_OK;
}

/* ---- run ------------------------------------------------------------------------------------ */

/* The device's message without what differs between simulators: name of device, cycle. */
static void put_message(struct exec *x, struct hd_buf *b, const char *scheme) {
    char *text = hd_strdup(x->a, hd_message(x->c->ctx));
    const char *prefix = hd_sprintf(x->a, "%s: %s, step 0: ", scheme, x->path);
    size_t n = strlen(prefix);
    char *from = strncmp(text, prefix, n) ? text : text + n;
    char *cycle = strstr(from, ", cycle ");
    hd_buf_put(b, from, cycle ? (size_t)(cycle - from) : strlen(from));
    if (cycle) {
        cycle += strlen(", cycle ");
        cycle += strspn(cycle, "0123456789");
        hd_buf_put(b, cycle, strlen(cycle));
    }
    hd_buf_put(b, "\n", 1);
}

static void put_dump(struct hd_buf *b, const struct dump *d, const uint8_t *arena) {
    char text[40];
    size_t size = type_bytes(d->type);
    for (size_t i = 0; i < d->n; i++) {
        const uint8_t *p = arena + d->at + i * size;
        uint32_t v = p[0];
        if (i % LINE_VALUES == 0) {
            int n = snprintf(text, sizeof text, "%s0x%04zx %s", i ? "\n" : "", d->at + i * size,
                             d->type);
            hd_buf_put(b, text, (size_t)n);
        }
        if (size == 4) v |= (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
        float f;
        memcpy(&f, &v, sizeof f);
        int n = !strcmp(d->type, "f32")  ? snprintf(text, sizeof text, " %.9g", (double)f)
                : !strcmp(d->type, "i8") ? snprintf(text, sizeof text, " %d", (int8_t)v)
                : !strcmp(d->type, "u8") ? snprintf(text, sizeof text, " %u", v)
                                         : snprintf(text, sizeof text, " %d", (int32_t)v);
        hd_buf_put(b, text, (size_t)n);
    }
    hd_buf_put(b, "\n", 1);
}

static hd_status run_on(struct exec *x, const struct hd_device_ops *ops, hd_device *dev,
                        struct hd_buf *b, bool *out_ran) {
    hd_ctx *ctx = x->c->ctx;
    hd_exec *e = NULL;
    hd_buffer arena;
    hd_fence fence;
    uint8_t *got = hd_alloc(x->a, ARENA_BYTES);
    TRY(ops->alloc(ctx, dev, ARENA_BYTES, &arena));
    TRY(ops->write(ctx, dev, arena, 0, x->arena, ARENA_BYTES));
    TRY(ops->load(ctx, dev, x->m, 0, &e));
    hd_status s = ops->submit(ctx, dev, e, &arena, &fence);
    if (s == HD_OK) {
        hd_status ran = ops->wait(ctx, dev, fence, UINT64_MAX);
        *out_ran = ran == HD_OK;
        if (ran != HD_OK) put_message(x, b, ops->scheme);
        hd_clear(ctx);
        s = ops->read(ctx, dev, arena, 0, got, ARENA_BYTES);
    }
    for (size_t i = 0; s == HD_OK && i < x->n_dumps; i++) put_dump(b, &x->dumps[i], got);
    struct hd_counters k;
    if (s == HD_OK && x->c->opt.cycles && ops->counters(ctx, dev, &k) == HD_OK)
        printf("%s: %llu cycles, %llu bytes read, %llu bytes written\n", ops->scheme,
               (unsigned long long)k.cycles, (unsigned long long)k.read_bytes,
               (unsigned long long)k.write_bytes);
    ops->unload(dev, e);
    return s;
}

static hd_status run_device(struct exec *x, const char *scheme, struct hd_buf *b, bool *out_ran) {
    const struct hd_device_ops *ops = hd_device_by_scheme(scheme);
    if (!ops)
        return hd_fail(x->c->ctx, HD_INVALID, "no device '%s'; heddle devices lists them", scheme);
    if (!(ops->sections & HD_RUNS_PROG))
        return hd_fail(x->c->ctx, HD_UNSUPPORTED,
                       "device %s runs graphs only; iss and rtl run programs", scheme);
    struct hd_device_options o;
    hd_device *dev = NULL;
    hd_cmd_device_options(x->c, &x->m->machine, &o);
    o.name = scheme;
    o.watchdog_cycles = WATCHDOG;
    TRY(ops->open(x->c->ctx, &o, &dev));
    hd_status s = run_on(x, ops, dev, b, out_ran);
    ops->close(dev);
    return s;
}

/* Every device in turn; the text of the first is printed, that of another only when it differs. */
static hd_status run_all(struct exec *x, bool *out_ok) {
    char *rest = hd_strdup(x->a, x->c->opt.devices ? x->c->opt.devices : x->c->opt.device);
    struct hd_buf first = {0}, now = {0};
    hd_status s = HD_OK;
    *out_ok = true;
    for (char *name; s == HD_OK && (name = strtok_r(rest, ",", &rest));) {
        bool is_first = !first.data, ran = false;
        now.n = 0;
        s = run_device(x, name, &now, &ran);
        hd_buf_put(&now, "", 1);
        *out_ok = *out_ok && ran;
        if (s != HD_OK) break;
        if (is_first) {
            hd_buf_put(&first, now.data, now.n);
            fputs((char *)first.data, stdout);
        } else if (strcmp((char *)first.data, (char *)now.data)) {
            printf("%s differs:\n%s", name, (char *)now.data);
            *out_ok = false;
        }
    }
    hd_buf_free(&first);
    hd_buf_free(&now);
    return s;
}

int cmd_exec(struct hd_cmd *c) {
    struct exec x = {.c = c, .a = hd_arena_create(), .path = c->args[0]};
    bool ok = false;
    hd_status s = load(&x);
    if (s == HD_OK) s = run_all(&x, &ok);
    int status = s != HD_OK ? hd_cmd_fail(c) : ok ? HD_EXIT_DONE : HD_EXIT_FAILED;
    if (x.m) hd_model_destroy(x.m);
    hd_arena_destroy(x.a);
    return status;
}
