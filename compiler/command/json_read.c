/* Fields of JSON objects that were read. */
#include <string.h>

#include "compiler/command/json.h"

static json_object *get(json_object *o, const char *key) {
    json_object *v = NULL;
    return json_object_is_type(o, json_type_object) && json_object_object_get_ex(o, key, &v) ? v
                                                                                             : NULL;
}

double hd_json_number(json_object *o, const char *key) {
    json_object *v = get(o, key);
    return v ? json_object_get_double(v) : 0;
}

const char *hd_json_text(json_object *o, const char *key) {
    json_object *v = get(o, key);
    return json_object_is_type(v, json_type_string) ? json_object_get_string(v) : "";
}

json_object *hd_json_list(json_object *o, const char *key) {
    json_object *v = get(o, key);
    return json_object_is_type(v, json_type_array) ? v : NULL;
}

size_t hd_json_items(json_object *list) {
    return list ? json_object_array_length(list) : 0;
}

json_object *hd_json_named(json_object *o, const char *list, const char *name) {
    json_object *items = hd_json_list(o, list);
    for (size_t i = 0; i < hd_json_items(items); i++) {
        json_object *item = json_object_array_get_idx(items, i);
        if (!strcmp(hd_json_text(item, "name"), name)) return item;
    }
    return NULL;
}
