/* Differences of one value on two devices: how many, where, how large; and all values in one table.
 */
#ifndef HD_CLI_COMPARE_H
#define HD_CLI_COMPARE_H

#include "compiler/cli/cli.h"

enum { CLI_ERROR_PLACES = 4 };

struct cli_error {
    size_t n, differ;                 /* elements, and those that are not the same bits */
    size_t place[CLI_ERROR_PLACES];   /* the first of them */
    size_t beyond;                    /* those that rounding does not explain */
    double max, mean, rms, reference; /* of the differences; rms of the reference */
};
enum cli_verdict {
    CLI_SAME,
    CLI_NEAR, /* floats that differ by no more than rounding: 1e-3 of the value, or 1e-5 (of
                 the largest value, where that is above 1) */
    CLI_DIFFERS
};

/* ref and got: dense values of v. */
struct cli_error cli_error_of(const struct hd_value_info *v, const void *ref, const void *got);
enum cli_verdict cli_error_verdict(const struct cli_error *e, const struct hd_value_info *v,
                                   bool may_round);
/* Signal to error in dB: 20 log10(reference / rms); infinite when nothing differs. */
double cli_error_db(const struct cli_error *e);
/* places: the first elements that differ, too. */
void cli_error_print(const struct cli_error *e, enum cli_verdict verdict,
                     const struct hd_value_info *v, const char *layer, const char *ref_device,
                     const char *device, const void *ref, const void *got, bool places, FILE *out);
json_object *cli_error_json(const struct cli_error *e, const struct hd_value_info *v,
                            const char *layer, const char *device);

/* The errors of all values, in the order in which the network makes them. */
struct cli_errors;
struct cli_errors *cli_errors_create(hd_arena *a);
void cli_errors_add(struct cli_errors *t, const struct hd_value_info *v, const char *layer,
                    const char *device, const struct cli_error *e);
void cli_errors_print(const struct cli_errors *t, FILE *out);

#endif
