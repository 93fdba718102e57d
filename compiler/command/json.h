/* Fields of JSON objects. */
#ifndef HD_COMMAND_JSON_H
#define HD_COMMAND_JSON_H

#include <json-c/json.h>
#include <stdint.h>

void hd_json_str(json_object *o, const char *key, const char *v); /* NULL as null */
void hd_json_int(json_object *o, const char *key, int64_t v);
void hd_json_num(json_object *o, const char *key, double v);
json_object *hd_json_shape(const int64_t *dim, int rank);

#endif
