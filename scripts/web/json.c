/* A tree of JSON, and its text: see include/json-c/json.h. */
#include <inttypes.h>
#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/io.h"

enum kind { OBJECT, ARRAY, RAW, STRING };

struct json_object {
    enum kind kind;
    char *key, *text; /* text: of RAW and STRING; of the root, what was asked for */
    size_t bytes;     /* of text */
    json_object *first, *last, *next;
};

static char *copied(const char *text, size_t bytes) {
    char *s = malloc(bytes + 1);
    HD_ASSERT(s != NULL);
    memcpy(s, text, bytes);
    s[bytes] = 0;
    return s;
}

static json_object *made(enum kind kind, const char *text, size_t bytes) {
    json_object *o = calloc(1, sizeof *o);
    HD_ASSERT(o != NULL);
    o->kind = kind;
    o->text = text ? copied(text, bytes) : NULL;
    o->bytes = bytes;
    return o;
}

json_object *json_object_new_object(void) {
    return made(OBJECT, NULL, 0);
}

json_object *json_object_new_array(void) {
    return made(ARRAY, NULL, 0);
}

json_object *json_object_new_boolean(int v) {
    return v ? made(RAW, "true", 4) : made(RAW, "false", 5);
}

json_object *json_object_new_int64(int64_t v) {
    char text[24];
    return made(RAW, text, (size_t)snprintf(text, sizeof text, "%" PRId64, v));
}

json_object *json_object_new_uint64(uint64_t v) {
    char text[24];
    return made(RAW, text, (size_t)snprintf(text, sizeof text, "%" PRIu64, v));
}

json_object *json_object_new_double_s(double v, const char *text) {
    (void)v;
    return made(RAW, text, strlen(text));
}

json_object *json_object_new_string(const char *text) {
    return made(STRING, text, strlen(text));
}

json_object *json_object_new_string_len(const char *text, int bytes) {
    return made(STRING, text, (size_t)bytes);
}

int json_object_object_add(json_object *object, const char *key, json_object *v) {
    json_object *o = v ? v : made(RAW, "null", 4);
    o->key = key ? copied(key, strlen(key)) : NULL;
    *(object->last ? &object->last->next : &object->first) = o;
    object->last = o;
    return 0;
}

int json_object_array_add(json_object *array, json_object *v) {
    return json_object_object_add(array, NULL, v);
}

int json_object_put(json_object *o) {
    if (!o) return 1;
    for (json_object *c = o->first, *next; c; c = next) {
        next = c->next;
        json_object_put(c);
    }
    free(o->key);
    free(o->text);
    free(o);
    return 1;
}

static void put_quoted(struct hd_buf *b, const char *text, size_t bytes) {
    hd_buf_put(b, "\"", 1);
    for (size_t i = 0; i < bytes; i++) {
        char c = text[i], escaped[8];
        int n = (unsigned char)c < ' ' ? snprintf(escaped, sizeof escaped, "\\u%04x", c)
                : c == '"' || c == '\\' || c == '/' ? snprintf(escaped, sizeof escaped, "\\%c", c)
                                                    : snprintf(escaped, sizeof escaped, "%c", c);
        hd_buf_put(b, escaped, (size_t)n);
    }
    hd_buf_put(b, "\"", 1);
}

static void put(struct hd_buf *b, const json_object *o) {
    if (o->kind == RAW) hd_buf_put(b, o->text, o->bytes);
    if (o->kind == STRING) put_quoted(b, o->text, o->bytes);
    if (o->kind == RAW || o->kind == STRING) return;
    hd_buf_put(b, o->kind == OBJECT ? "{" : "[", 1);
    for (const json_object *c = o->first; c; c = c->next) {
        if (c->key) {
            put_quoted(b, c->key, strlen(c->key));
            hd_buf_put(b, ":", 1);
        }
        put(b, c);
        if (c->next) hd_buf_put(b, ",", 1);
    }
    hd_buf_put(b, o->kind == OBJECT ? "}" : "]", 1);
}

const char *json_object_to_json_string_ext(json_object *o, int flags) {
    struct hd_buf b = {0};
    (void)flags;
    put(&b, o);
    free(o->text);
    o->text = copied((const char *)b.data, b.n);
    hd_buf_free(&b);
    return o->text;
}
