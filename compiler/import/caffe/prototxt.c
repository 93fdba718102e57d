/* Protobuf's text form: a parser by recursive descent, which goes 32 messages deep. */
#include "compiler/import/caffe/prototxt.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { NESTING_MAX = 32 };

struct parser {
    hd_ctx *ctx;
    hd_arena *a;
    const char *p;
    int line, depth;
};

static void skip_blanks(struct parser *s) {
    for (; *s->p; s->p++) {
        if (*s->p == '#') s->p += strcspn(s->p, "\n");
        if (*s->p == '\n') s->line++;
        if (!*s->p || !(isspace((unsigned char)*s->p) || *s->p == ',' || *s->p == ';')) return;
    }
}

static hd_status bad(struct parser *s, const char *want) {
    return hd_fail(s->ctx, HD_INVALID, "line %d: got '%.12s', want %s", s->line, s->p, want);
}

static const char *word(struct parser *s) {
    size_t n = 0;
    while (isalnum((unsigned char)s->p[n]) || (s->p[n] && strchr("_.+-", s->p[n]))) n++;
    const char *v = n ? hd_strndup(s->a, s->p, n) : NULL;
    s->p += n;
    return v;
}

static hd_status quoted(struct parser *s, const char **out) {
    char end = *s->p++;
    const char *from = s->p;
    while (*s->p && *s->p != end && *s->p != '\n') s->p += s->p[0] == '\\' && s->p[1] ? 2 : 1;
    if (*s->p != end) return bad(s, "the end of a string");
    *out = hd_strndup(s->a, from, (size_t)(s->p++ - from));
    return HD_OK;
}

static struct hd_txt *add(struct parser *s, struct hd_txt *m, const char *name) {
    struct hd_txt *f = hd_new(s->a, struct hd_txt);
    f->name = name;
    f->line = s->line;
    if (m->last)
        m->last->next = f;
    else
        m->first = f;
    m->last = f;
    return f;
}

static hd_status fields(struct parser *s, struct hd_txt *m, char end);

static hd_status value(struct parser *s, struct hd_txt *m, const char *name) {
    skip_blanks(s);
    struct hd_txt *f = add(s, m, name);
    if (*s->p == '{' || *s->p == '<') {
        char end = *s->p++ == '{' ? '}' : '>';
        if (++s->depth > NESTING_MAX)
            return hd_fail(s->ctx, HD_UNSUPPORTED, "line %d: messages nested deeper than %d",
                           s->line, NESTING_MAX);
        TRY(fields(s, f, end));
        s->depth--;
        return HD_OK;
    }
    if (*s->p == '"' || *s->p == '\'') return quoted(s, &f->value);
    f->value = word(s);
    return f->value ? HD_OK : bad(s, "a value");
}

static hd_status fields(struct parser *s, struct hd_txt *m, char end) {
    for (;;) {
        skip_blanks(s);
        if (*s->p == end) {
            if (end) s->p++;
            return HD_OK;
        }
        const char *name = word(s);
        if (!name) return bad(s, end ? "a field or the end of its message" : "a field");
        skip_blanks(s);
        bool colon = *s->p == ':';
        if (colon) s->p++;
        skip_blanks(s);
        if (colon && *s->p == '[') {
            s->p++;
            for (skip_blanks(s); *s->p != ']'; skip_blanks(s)) TRY(value(s, m, name));
            s->p++;
            continue;
        }
        if (!colon && *s->p != '{' && *s->p != '<') return bad(s, "':' or '{'");
        TRY(value(s, m, name));
    }
}

hd_status hd_txt_parse(hd_ctx *ctx, hd_arena *a, const char *text, struct hd_txt *out) {
    struct parser s = {.ctx = ctx, .a = a, .p = text, .line = 1};
    *out = (struct hd_txt){.name = ""};
    return fields(&s, out, 0);
}

/* ---- access ---- */

const struct hd_txt *hd_txt_next(const struct hd_txt *m, const struct hd_txt *after,
                                 const char *name) {
    const struct hd_txt *f = after ? after->next : m->first;
    while (f && strcmp(f->name, name)) f = f->next;
    return f;
}

const struct hd_txt *hd_txt_message(const struct hd_txt *m, const char *name) {
    static const struct hd_txt none = {.name = ""};
    const struct hd_txt *f = hd_txt_next(m, NULL, name);
    return f && !f->value ? f : &none;
}

const char *hd_txt_string(const struct hd_txt *m, const char *name, const char *def) {
    const struct hd_txt *f = hd_txt_next(m, NULL, name);
    return f && f->value ? f->value : def;
}

int64_t hd_txt_int(const struct hd_txt *m, const char *name, int64_t def) {
    const char *v = hd_txt_string(m, name, NULL);
    return v ? strtoll(v, NULL, 10) : def;
}

float hd_txt_float(const struct hd_txt *m, const char *name, float def) {
    const char *v = hd_txt_string(m, name, NULL);
    return v ? strtof(v, NULL) : def;
}

bool hd_txt_bool(const struct hd_txt *m, const char *name, bool def) {
    const char *v = hd_txt_string(m, name, NULL);
    return v ? !strcmp(v, "true") || !strcmp(v, "1") : def;
}

int hd_txt_ints(const struct hd_txt *m, const char *name, int64_t *out, int max) {
    int n = 0;
    for (const struct hd_txt *f = NULL; (f = hd_txt_next(m, f, name)); n++)
        if (n < max) out[n] = f->value ? strtoll(f->value, NULL, 10) : 0;
    return n;
}
