/* Text of structs from tables of their members. */
#include "runtime/base/fields.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/num.h"

static int64_t get(const struct hd_member *m, const void *of) {
    const char *p = (const char *)of + m->at;
    int64_t v = 0;
    memcpy(&v, p, m->bytes); /* little endian */
    int unused = 64 - 8 * (int)m->bytes;
    if (m->is_signed && unused) v = (int64_t)((uint64_t)v << unused) >> unused;
    return v;
}

static float get_float(const struct hd_member *m, const void *of) {
    float f;
    memcpy(&f, (const char *)of + m->at, sizeof f);
    return f;
}

void hd_member_text(const struct hd_member *m, const void *of, char *out, size_t bytes) {
    int64_t v = get(m, of);
    if (m->is_float)
        snprintf(out, bytes, "%a", (double)get_float(m, of));
    else if (m->is_signed)
        snprintf(out, bytes, "%" PRId64, v);
    else
        snprintf(out, bytes, "%" PRIu64, (uint64_t)v);
}

void hd_members_print(FILE *out, const struct hd_member *m, int n, const void *of) {
    char text[32];
    for (int i = 0; i < n; i++) {
        if (!get(&m[i], of)) continue;
        hd_member_text(&m[i], of, text, sizeof text);
        fprintf(out, " %s=%s", m[i].name, text);
    }
}

const struct hd_member *hd_members_differ(const struct hd_member *m, int n, const void *a,
                                          const void *b) {
    for (int i = 0; i < n; i++)
        if (get(&m[i], a) != get(&m[i], b)) return &m[i];
    return NULL;
}

bool hd_members_equal(const struct hd_member *m, int n, const void *a, const void *b) {
    return !hd_members_differ(m, n, a, b);
}

uint32_t hd_members_hash(uint32_t h, const struct hd_member *m, int n, const void *of) {
    for (int i = 0; i < n; i++) {
        int64_t v = get(&m[i], of);
        h = hd_hash(h, &v, sizeof v);
    }
    return h;
}

static bool is_word(int c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("_./-", c));
}

void hd_word_print(FILE *out, const char *name) {
    for (; *name; name++)
        if (is_word((unsigned char)*name))
            fputc(*name, out);
        else
            fprintf(out, "%%%02x", (unsigned char)*name);
}

/* ---- reading ---- */

static void blanks(struct hd_lines *r) {
    while (*r->p == ' ' || *r->p == '\t' || *r->p == '\r') r->p++;
    if (*r->p == '#') r->p += strcspn(r->p, "\n");
}

bool hd_lines_end(struct hd_lines *r) {
    blanks(r);
    return *r->p == '\n' || *r->p == 0;
}

bool hd_lines_next(struct hd_lines *r) {
    if (!r->line) r->line = 1;
    for (; hd_lines_end(r); r->p++, r->line++)
        if (*r->p == 0) return false;
    return true;
}

hd_status hd_lines_fail(const struct hd_lines *r, const char *want) {
    size_t n = strcspn(r->p, " \t\r\n");
    return hd_fail(r->ctx, HD_INVALID, "%s:%d: got '%.*s', want %s", r->file, r->line,
                   (int)hd_min((int64_t)n, 40), r->p, want);
}

bool hd_lines_accept(struct hd_lines *r, const char *word) {
    size_t n = strlen(word);
    blanks(r);
    if (strncmp(r->p, word, n) || !strchr(" \t\r\n", r->p[n])) return false;
    r->p += n;
    return true;
}

static int hex_digit(int c) {
    const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

hd_status hd_lines_name(struct hd_lines *r, hd_arena *a, const char **out) {
    blanks(r);
    size_t n = 0;
    char *text = hd_alloc(a, strcspn(r->p, " \t\r\n") + 1);
    while (is_word((unsigned char)*r->p) || *r->p == '%') {
        int high = *r->p == '%' ? hex_digit(r->p[1]) : 0;
        int low = *r->p == '%' && high >= 0 ? hex_digit(r->p[2]) : 0;
        if (high < 0 || low < 0) return hd_lines_fail(r, "two hexadecimal digits behind %");
        text[n++] = *r->p == '%' ? (char)(high * 16 + low) : *r->p;
        r->p += *r->p == '%' ? 3 : 1;
    }
    if (!n || !strchr(" \t\r\n", *r->p)) return hd_lines_fail(r, "a name");
    *out = hd_strndup(a, text, n);
    return HD_OK;
}

hd_status hd_lines_integer(struct hd_lines *r, int64_t lo, int64_t hi, int64_t *out) {
    char *end, want[80];
    blanks(r);
    errno = 0;
    int64_t v = strtoll(r->p, &end, 0);
    snprintf(want, sizeof want, "a whole number, %" PRId64 " to %" PRId64, lo, hi);
    if (end == r->p || errno || !strchr(" \t\r\n", *end) || v < lo || v > hi)
        return hd_lines_fail(r, want);
    r->p = end, *out = v;
    return HD_OK;
}

/* "name=" -> the member; r->p goes behind it. */
static hd_status find(struct hd_lines *r, const struct hd_member *m, int n, int *out) {
    char want[1024] = "a member: ";
    size_t len = strcspn(r->p, "= \t\r\n");
    for (int i = 0; i < n; i++) {
        if (strlen(m[i].name) == len && !strncmp(m[i].name, r->p, len) && r->p[len] == '=') {
            r->p += len + 1, *out = i;
            return HD_OK;
        }
        size_t used = strlen(want);
        snprintf(want + used, sizeof want - used, "%s%s=", i ? ", " : "", m[i].name);
    }
    return hd_lines_fail(r, want);
}

static hd_status value(struct hd_lines *r, const struct hd_member *m, void *of) {
    char *at = (char *)of + m->at, *end;
    if (m->is_float) {
        float f = strtof(r->p, &end);
        if (end == r->p || !strchr(" \t\r\n", *end)) return hd_lines_fail(r, "a number");
        memcpy(at, &f, sizeof f);
        r->p = end;
        return HD_OK;
    }
    int bits = 8 * (int)m->bytes - 1; /* an unsigned one has not more, either: none is that large */
    if (m->is_bool) bits = 0;
    int64_t hi = bits >= 63 ? INT64_MAX : (INT64_C(1) << (bits + !m->is_signed)) - 1, v;
    TRY(hd_lines_integer(r, m->is_signed ? -hi - 1 : 0, hi, &v));
    memcpy(at, &v, m->bytes);
    return HD_OK;
}

hd_status hd_lines_members(struct hd_lines *r, const struct hd_member *m, int n, void *of) {
    while (!hd_lines_end(r)) {
        int i = 0;
        TRY(find(r, m, n, &i));
        TRY(value(r, &m[i], of));
    }
    return HD_OK;
}

hd_status hd_lines_which(struct hd_lines *r, const char *what, const char *const *names, size_t n,
                         bool *seen, size_t *out) {
    int64_t i = 0;
    const char *got;
    TRY(hd_lines_integer(r, 0, (int64_t)n - 1, &i));
    hd_arena *a = hd_arena_create();
    hd_status s = hd_lines_name(r, a, &got);
    if (s == HD_OK && strcmp(got, names[i]))
        s = hd_fail(r->ctx, HD_MISMATCH,
                    "%s:%d: %s %d is '%s', want '%s': the text is of another network", r->file,
                    r->line, what, (int)i, got, names[i]);
    if (s == HD_OK && seen[i])
        s = hd_fail(r->ctx, HD_INVALID, "%s:%d: %s %d comes twice, want one line of each", r->file,
                    r->line, what, (int)i);
    hd_arena_destroy(a);
    *out = (size_t)i;
    if (s == HD_OK) seen[i] = true;
    return s;
}

hd_status hd_lines_all(const struct hd_lines *r, const char *what, const bool *seen, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!seen[i])
            return hd_fail(r->ctx, HD_INVALID, "%s: no line of %s %zu, want one of each of %zu",
                           r->file, what, i, n);
    return HD_OK;
}
