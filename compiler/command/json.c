/* Fields of JSON objects. */
#include "compiler/command/json.h"

#include <stdio.h>

void hd_json_str(json_object *o, const char *key, const char *v) {
    json_object_object_add(o, key, v ? json_object_new_string(v) : NULL);
}

void hd_json_int(json_object *o, const char *key, int64_t v) {
    json_object_object_add(o, key, json_object_new_int64(v));
}

void hd_json_num(json_object *o, const char *key, double v) {
    char text[32];
    snprintf(text, sizeof text, "%.9g", v);
    json_object_object_add(o, key, json_object_new_double_s(v, text));
}

json_object *hd_json_shape(const int64_t *dim, int rank) {
    json_object *a = json_object_new_array();
    for (int i = 0; i < rank; i++) json_object_array_add(a, json_object_new_int64(dim[i]));
    return a;
}
