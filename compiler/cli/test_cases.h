/* Private to compiler/cli: what the parts of heddle test share. */
#ifndef HD_CLI_TEST_CASES_H
#define HD_CLI_TEST_CASES_H

#include "compiler/cli/cli.h"

struct tester {
    struct hd_cmd *c;
    hd_arena *a; /* of the folder in work */
    json_object *cases;
    int passed, failed, skipped;
    FILE *text;          /* NULL: only JSON */
    const char **listed; /* --list: case and reason, in turn */
    size_t n_listed;
    const char *reason; /* of the folder in work when it is listed */
};

enum verdict { PASS, FAIL, SKIP };

void test_say(struct tester *t, const char *what, enum verdict v, const char *why);
/* The reason for which a case is left out; NULL = it is not. */
const char *test_listed(const struct tester *t, const char *what);
/* A file whose functions check themselves: a case each. */
void test_checks(struct tester *t, const char *path);

#endif
