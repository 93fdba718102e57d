/* Fields of JSON objects. */
#ifndef HD_COMMAND_JSON_H
#define HD_COMMAND_JSON_H

#include <json-c/json.h>
#include <stddef.h>
#include <stdint.h>

void hd_json_str(json_object *o, const char *key, const char *v); /* NULL as null */
void hd_json_int(json_object *o, const char *key, int64_t v);
void hd_json_num(json_object *o, const char *key, double v);
/* Read, of any JSON: 0, "" and NULL where o is no object, has no such key, or another kind of
 * value. A list that is NULL has 0 items. */
double hd_json_number(json_object *o, const char *key);
const char *hd_json_text(json_object *o, const char *key);
json_object *hd_json_list(json_object *o, const char *key);
size_t hd_json_items(json_object *list);
/* The item of a list of o whose "name" is this. */
json_object *hd_json_named(json_object *o, const char *list, const char *name);
json_object *hd_json_shape(const int64_t *dim, int rank);

#endif
