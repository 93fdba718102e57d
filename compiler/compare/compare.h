/* Differences of one value on two devices: how many, where, how large; and all values in one table.
 */
#ifndef HD_COMPARE_COMPARE_H
#define HD_COMPARE_COMPARE_H

#include "compiler/session/session.h"

enum { HD_ERROR_PLACES = 4 };

struct hd_value_error {
    size_t n, differ;                 /* elements, and those that are not the same bits */
    size_t place[HD_ERROR_PLACES];    /* the first of them */
    size_t beyond;                    /* those that rounding does not explain */
    double max, mean, rms, reference; /* of the differences; rms of the reference */
};
enum hd_verdict {
    HD_SAME,
    HD_NEAR, /* floats that differ by no more than rounding: 1e-3 of the value, or 1e-5 (of
                 the largest value, where that is above 1) */
    HD_DIFFERS
};

/* ref and got: dense values of v. */
struct hd_value_error hd_value_error_of(const struct hd_value_info *v, const void *ref,
                                        const void *got);
enum hd_verdict hd_value_error_verdict(const struct hd_value_error *e,
                                       const struct hd_value_info *v, bool may_round);
/* Signal to error in dB: 20 log10(reference / rms); infinite when nothing differs. */
double hd_value_error_db(const struct hd_value_error *e);
/* places: the first elements that differ, too. */
void hd_value_error_print(const struct hd_value_error *e, enum hd_verdict verdict,
                          const struct hd_value_info *v, const char *layer, const char *ref_device,
                          const char *device, const void *ref, const void *got, bool places,
                          FILE *out);
json_object *hd_value_error_json(const struct hd_value_error *e, const struct hd_value_info *v,
                                 const char *layer, const char *device);

/* The errors of all values, in the order in which the network makes them. */
struct hd_value_errors;
struct hd_value_errors *hd_value_errors_create(hd_arena *a);
void hd_value_errors_add(struct hd_value_errors *t, const struct hd_value_info *v,
                         const char *layer, const char *device, const struct hd_value_error *e);
void hd_value_errors_print(const struct hd_value_errors *t, FILE *out);

/* The model of the command's argument on its --devices, or two models: every value that two of them
 * give, and where they part. Gives the exit status. */
int hd_compare_models(struct hd_cmd *c);

#endif
