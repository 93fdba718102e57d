/* Files appear under their names only when they are complete. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/base/io.h"

static char folder[] = "/tmp/heddle_out_XXXXXX";

static const char *in_folder(const char *name) {
    static char path[8][256];
    static int turn;
    turn = (turn + 1) % 8;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static void expect_text(hd_ctx *ctx, const char *path, const char *want) {
    void *data;
    size_t n;
    assert_int_equal(hd_file_read(ctx, path, &data, &n), HD_OK);
    assert_string_equal(data, want);
    free(data);
}

/* Nothing but `want` files in the folder, which empties. */
static void expect_files(int want) {
    char command[300], text[16] = "";
    snprintf(command, sizeof command, "ls -A %s | wc -l", folder);
    FILE *p = popen(command, "r");
    assert_non_null(p);
    assert_non_null(fgets(text, sizeof text, p));
    pclose(p);
    assert_int_equal(atoi(text), want);
}

static void full_disk(void **state) {
    hd_ctx *ctx = *state;
    static const char big[100000];
    struct stat st;
    if (stat("/dev/full", &st) != 0) return;
    assert_int_equal(hd_file_write(ctx, "/dev/full", "x", 1), HD_IO);
    assert_string_equal(hd_message(ctx), "/dev/full: cannot write: No space left on device");
    hd_clear(ctx);
    assert_int_equal(hd_file_write(ctx, "/dev/full", big, sizeof big), HD_IO);
    assert_string_equal(hd_message(ctx), "/dev/full: cannot write: No space left on device");
    assert_int_equal(stat("/dev/full", &st), 0);
    assert_true(S_ISCHR(st.st_mode)); /* not replaced by a file */
}

static void when_complete(void **state) {
    hd_ctx *ctx = *state;
    struct hd_out out;
    const char *path = in_folder("a");
    assert_int_equal(hd_file_write(ctx, path, "old", 3), HD_OK);
    assert_int_equal(hd_out_open(ctx, path, &out), HD_OK);
    fputs("new", out.f);
    fflush(out.f);
    expect_text(ctx, path, "old");
    assert_int_equal(hd_out_close(ctx, &out, HD_OK), HD_OK);
    expect_text(ctx, path, "new");
    expect_files(1);
}

static void after_an_error(void **state) {
    hd_ctx *ctx = *state;
    struct hd_out out;
    const char *path = in_folder("b");
    assert_int_equal(hd_out_open(ctx, path, &out), HD_OK);
    fputs("half", out.f);
    assert_int_equal(hd_out_close(ctx, &out, HD_INVALID), HD_INVALID);
    assert_int_not_equal(access(path, F_OK), 0);
    expect_files(1); /* that of when_complete */
}

static void through_a_link(void **state) {
    hd_ctx *ctx = *state;
    struct stat st;
    const char *link = in_folder("link");
    assert_int_equal(symlink("a", link), 0);
    assert_int_equal(chmod(in_folder("a"), 0640), 0);
    assert_int_equal(hd_file_write(ctx, link, "linked", 6), HD_OK);
    expect_text(ctx, in_folder("a"), "linked");
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(stat(in_folder("a"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    unlink(link);
}

static void no_folder(void **state) {
    hd_ctx *ctx = *state;
    assert_int_equal(hd_file_write(ctx, in_folder("no/b"), "x", 1), HD_IO);
}

static int setup(void **state) {
    *state = hd_ctx_create();
    return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state) {
    hd_ctx_destroy(*state);
    unlink(in_folder("a"));
    return rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_disk),      cmocka_unit_test(when_complete),
        cmocka_unit_test(after_an_error), cmocka_unit_test(through_a_link),
        cmocka_unit_test(no_folder),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
