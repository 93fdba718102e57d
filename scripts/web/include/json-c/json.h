/* Of json-c, the calls that write: Debian has no json-c for WebAssembly. Reports are made by them.
 */
#ifndef HD_WEB_JSON_H
#define HD_WEB_JSON_H

#include <stdint.h>

typedef struct json_object json_object;

enum {
    JSON_C_TO_STRING_PLAIN = 0,
    JSON_C_TO_STRING_SPACED = 1,
    JSON_C_TO_STRING_PRETTY = 2,
    JSON_C_TO_STRING_NOSLASHESCAPE = 16
};

json_object *json_object_new_object(void);
json_object *json_object_new_array(void);
json_object *json_object_new_boolean(int v);
json_object *json_object_new_int64(int64_t v);
json_object *json_object_new_uint64(uint64_t v);
json_object *json_object_new_double_s(double v, const char *text);
json_object *json_object_new_string(const char *text);
json_object *json_object_new_string_len(const char *text, int bytes);
/* Both take v; NULL = null. */
int json_object_array_add(json_object *array, json_object *v);
int json_object_object_add(json_object *object, const char *key, json_object *v);
int json_object_put(json_object *o); /* frees it, and all in it */
/* Plain, with / as \/, whatever the flags. The text is the object's. */
const char *json_object_to_json_string_ext(json_object *o, int flags);

#endif
