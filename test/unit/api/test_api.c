/* The public C API: networks built and compiled, errors that name nodes, cancelling. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "compiler/api/heddle.h"

#define DIGITS "test/models/digits"

static int setup(void **state) {
    *state = hd_ctx_create();
    return 0;
}
static int teardown(void **state) {
    hd_ctx_destroy(*state);
    return 0;
}

static struct hd_io_info f32(const char *name, int rank, int64_t a, int64_t b) {
    return (struct hd_io_info){
        .name = name, .dtype = hd_type_by_name("f32"), .rank = rank, .dim = {a, b}};
}

/* y = relu(x @ w), of named axes. */
static hd_net *build(hd_ctx *ctx) {
    static const float w[6] = {1, -1, 2, -2, 3, -3};
    const struct hd_net_attr by_name = {.name = "by", .string = "name"};
    hd_net *net = hd_net_create("small");
    struct hd_io_info x = f32("x", 2, 1, 3), weights = f32("w", 2, 3, 2);
    int id[4];
    assert_int_equal(hd_net_add_input(ctx, net, &x, (const char *const[]){"row", "in"}, &id[0]),
                     HD_OK);
    assert_int_equal(
        hd_net_add_constant(ctx, net, &weights, (const char *const[]){"in", "out"}, w, &id[1]),
        HD_OK);
    assert_int_equal(hd_net_add_node(ctx, net, "matmul", "product", id, 2, &by_name, 1, &id[2], 1),
                     HD_OK);
    assert_int_equal(hd_net_add_node(ctx, net, "relu", "y", &id[2], 1, NULL, 0, &id[3], 1), HD_OK);
    assert_int_equal(hd_net_check(ctx, net), HD_INVALID); /* no output */
    assert_int_equal(hd_net_add_output(ctx, net, id[3]), HD_OK);
    assert_int_equal(hd_net_add_output(ctx, net, id[3]), HD_INVALID);
    assert_int_equal(hd_net_add_output(ctx, net, 99), HD_INVALID);
    assert_int_equal(hd_net_check(ctx, net), HD_OK);
    return net;
}

static void test_types(void **state) {
    (void)state;
    assert_string_equal(hd_type_name(1), "f32");
    assert_null(hd_type_name(8)); /* strings */
    assert_int_equal(hd_type_by_name("i8"), 3);
    assert_int_equal(hd_type_by_name("i9"), 0);
    assert_int_equal(hd_type_bytes(hd_type_by_name("i4")), 1);
    assert_int_equal(hd_type_bytes(77), 0);
    struct hd_op_row op;
    assert_non_null(hd_op(0, &op));
    assert_null(hd_op(-1, &op));
    assert_null(hd_op(100000, &op));
}

static void test_build(void **state) {
    hd_ctx *ctx = *state;
    hd_net *net = build(ctx), *again = NULL;
    struct hd_io_info info;
    const char *op;
    int tensor;
    hd_net_tensor(net, hd_net_output(net, 0), &info);
    assert_string_equal(info.name, "y");
    assert_int_equal(info.dim[1], 2);
    assert_string_equal(hd_net_axis(net, hd_net_output(net, 0), 1), "out");
    assert_null(hd_net_axis(net, hd_net_output(net, 0), 2));
    assert_string_equal(hd_net_node(net, 0, &op, &tensor), "product");
    assert_string_equal(op, "matmul");
    assert_null(hd_net_node(net, 2, &op, &tensor));
    assert_int_equal(hd_net_input(net, 1), -1);
    hd_net_tensor(net, 99, &info);
    assert_null(info.name);
    char *text = NULL, *same = NULL;
    assert_int_equal(hd_net_text(ctx, net, true, &text), HD_OK);
    assert_int_equal(hd_net_parse(ctx, text, "text", &again), HD_OK);
    assert_int_equal(hd_net_text(ctx, again, true, &same), HD_OK);
    assert_string_equal(text, same);
    hd_text_free(text);
    hd_text_free(same);
    hd_net_destroy(again);
    hd_net_destroy(net);
}

static void test_run(void **state) {
    hd_ctx *ctx = *state;
    hd_net *net = build(ctx);
    hd_model *m = NULL;
    hd_session *s = NULL;
    float x[3] = {1, 2, 3}, y[2] = {-1, -1};
    const struct hd_build host = {.host_only = true};
    assert_int_equal(hd_net_compile(ctx, net, &host, &m), HD_OK);
    assert_int_equal(hd_net_compile(ctx, net, &(struct hd_build){.machine = "none"}, &m),
                     HD_INVALID);
    hd_net_destroy(net);
    assert_int_equal(hd_session_open(ctx, m, "golden", NULL, &s), HD_OK);
    assert_int_equal(hd_session_run(ctx, s, (const void *const[]){x}, (void *const[]){y}), HD_OK);
    assert_true(y[0] == 14 && y[1] == 0);
    struct hd_difference d;
    float z[2] = {14, 1};
    for (int i = 0; i < hd_model_n_values(m); i++) {
        struct hd_io_info info;
        hd_model_value(m, i, &info);
        if (strcmp(info.name, "y")) continue;
        hd_model_compare(m, i, y, z, &d);
        assert_int_equal(d.differ, 1);
        assert_int_equal(d.first, 1);
    }
    hd_session_close(s);
    hd_model_destroy(m);
}

/* One network on several devices: placed when it is compiled, opened with the same list. */
static void test_devices(void **state) {
    hd_ctx *ctx = *state;
    hd_net *net = build(ctx);
    hd_model *m = NULL;
    hd_session *s = NULL;
    struct hd_part_row part;
    float x[3] = {1, 2, 3}, y[2] = {-1, -1};
    struct hd_build list = {.devices = "iss,golden"};
    assert_int_equal(hd_net_compile(ctx, net, &(struct hd_build){.devices = "iss,rtl"}, &m),
                     HD_UNSUPPORTED);
    assert_int_equal(hd_net_compile(ctx, net, &(struct hd_build){.devices = "cpu,cpu"}, &m),
                     HD_INVALID);
    for (int i = 0; i < 2; i++) {
        if (i) list.devices = "golden,cpu";
        assert_int_equal(hd_net_compile(ctx, net, &list, &m), HD_OK);
        assert_int_equal(hd_session_open(ctx, m, list.devices, NULL, &s), HD_OK);
        assert_int_equal(hd_session_run(ctx, s, (const void *const[]){x}, (void *const[]){y}),
                         HD_OK);
        assert_true(y[0] == 14 && y[1] == 0);
        assert_true(hd_session_part(s, 0, &part));
        assert_string_equal(part.device, "golden");
        assert_int_equal(part.n_nodes, 2);
        assert_int_equal(part.in_bytes, 12);
        assert_int_equal(part.out_bytes, 8);
        assert_non_null(strstr(part.why, i ? "cpu " : "iss cannot run 2 of 2"));
        assert_false(hd_session_part(s, 1, &part));
        hd_session_close(s);
        hd_model_destroy(m);
    }
    hd_net_destroy(net);
}

/* ---- quantising ----------------------------------------------------------------------------- */

static void count_rows(void *user, const struct hd_quantize_row *row) {
    ((int *)user)[row->why != NULL]++;
}

static void test_quantize(void **state) {
    hd_ctx *ctx = *state;
    hd_net *net = build(ctx), *made = NULL;
    float a[3] = {1, 2, 3}, b[3] = {-1, 0.5f, 2};
    const void *const first[] = {a}, *const second[] = {b};
    const void *const *const sets[] = {first, second};
    int rows[2] = {0, 0};
    const struct hd_quantize q = {.row = count_rows, .user = rows};
    struct hd_quantize_score score;
    assert_int_equal(hd_net_quantize(ctx, net, &q, sets, 2, &made, &score), HD_OK);
    assert_true(score.sets == 2 && score.same_top == 2 && score.db > 20);
    assert_int_equal(rows[0], 1);
    hd_net_destroy(net);
    hd_model *m = NULL; /* the int8 network does not need the float one */
    assert_int_equal(hd_net_compile(ctx, made, NULL, &m), HD_OK);
    assert_int_equal(hd_net_quantize(ctx, made, NULL, sets, 0, &net, NULL), HD_INVALID);
    const struct hd_quantize wrong = {.range = "most"};
    assert_int_equal(hd_net_quantize(ctx, made, &wrong, sets, 2, &net, NULL), HD_INVALID);
    hd_model_destroy(m);
    hd_net_destroy(made);
}

static void test_node_errors(void **state) {
    hd_ctx *ctx = *state;
    hd_net *net = hd_net_create(NULL);
    struct hd_io_info x = f32("x", 2, 1, 3), bad = f32("bad", 9, 1, 1);
    int id, out;
    char node[16], cut[4];
    assert_int_equal(hd_net_add_input(ctx, net, &x, NULL, &id), HD_OK);
    const int operands[2] = {id, id};
    assert_int_equal(hd_net_add_node(ctx, net, "matmul", "m1", operands, 2, NULL, 0, &out, 1),
                     HD_INVALID);
    hd_error_node(ctx, node, sizeof node);
    assert_string_equal(node, "m1");
    hd_error_node(ctx, cut, 2);
    assert_string_equal(cut, "m");
    assert_int_equal(hd_net_n_nodes(net), 0);
    assert_int_equal(hd_net_add_node(ctx, net, "relu", "r", operands, 2, NULL, 0, &out, 1),
                     HD_INVALID);
    assert_int_equal(hd_net_add_node(ctx, net, "none", "r", operands, 1, NULL, 0, &out, 1),
                     HD_UNSUPPORTED);
    assert_int_equal(hd_net_add_input(ctx, net, &bad, NULL, &id), HD_UNSUPPORTED);
    hd_error_node(ctx, node, sizeof node);
    assert_string_equal(node, "");
    hd_net_destroy(net);
}

static void test_machine(void **state) {
    hd_ctx *ctx = *state;
    hd_net *net = NULL;
    hd_model *m = NULL;
    hd_session *s = NULL;
    float image[64] = {0}, logits[10];
    struct hd_machine_value v[64];
    int n = 0;
    const char *const set[] = {"queue_ops=8"};
    assert_int_equal(hd_machine_values(ctx, "tiny", set, 1, v, 64, &n), HD_OK);
    assert_true(n > 5 && n < 64 && hd_machine_name(0) && !hd_machine_name(99));
    const struct hd_build b = {.machine = "tiny", .set = set, .n_set = 1};
    const struct hd_run_options slow = {.memory_latency = 300};
    assert_int_equal(hd_net_load(ctx, DIGITS, NULL, 0, &net), HD_OK);
    assert_int_equal(hd_net_compile(ctx, net, &b, &m), HD_OK);
    assert_string_equal(hd_model_name(m), "digits");
    assert_string_equal(hd_model_machine(m), "tiny+queue_ops=8");
    assert_int_equal(hd_session_open_with(ctx, m, "iss", &slow, &s), HD_OK);
    assert_int_equal(hd_session_run(ctx, s, (const void *const[]){image}, (void *const[]){logits}),
                     HD_OK);
    struct hd_run_totals t;
    struct hd_layer_row row, planned;
    struct hd_host_row host;
    struct hd_unit_row unit;
    int64_t cycles = 0;
    assert_int_equal(hd_session_totals(ctx, s, &t), HD_OK);
    assert_int_equal(t.cycles, hd_session_cycles(s));
    for (int i = 0; i < hd_model_n_layers(m); i++) {
        assert_int_equal(hd_session_layer(ctx, s, i, &row), HD_OK);
        hd_model_layer(m, i, &planned);
        assert_true(row.macs == planned.macs && planned.cycles == 0);
        cycles += row.cycles;
    }
    assert_true(cycles > 0 && cycles <= (int64_t)t.cycles);
    assert_int_equal(hd_session_layer(ctx, s, 99, &row), HD_INVALID);
    assert_int_equal(hd_session_unit(ctx, s, 3, &unit), HD_OK);
    assert_int_equal(hd_session_unit(ctx, s, 99, &unit), HD_INVALID);
    assert_false(hd_session_step(s, 0, &(struct hd_step_row){0}));
    bool is_state = true;
    assert_int_equal(hd_model_initial(ctx, m, 0, image, &is_state), HD_OK);
    assert_false(is_state);
    assert_int_equal(hd_model_n_states(m), 0);
    hd_model_host_op(m, 0, &host);
    assert_true(hd_model_n_host_ops(m) == 2 && host.reason);
    hd_session_close(s);
    hd_model_destroy(m);
    hd_net_destroy(net);
}

/* ---- cancelling ----------------------------------------------------------------------------- */

static bool stop_now(void *asked) {
    ++*(int *)asked;
    return true;
}

static void test_cancel(void **state) {
    hd_ctx *ctx = *state;
    hd_net *net = NULL;
    hd_model *m = NULL;
    hd_session *s = NULL;
    float image[64] = {0}, logits[10];
    const void *const in[] = {image};
    void *const out[] = {logits};
    int asked = 0;
    assert_int_equal(hd_net_load(ctx, DIGITS, NULL, 0, &net), HD_OK);
    assert_int_equal(hd_net_compile(ctx, net, NULL, &m), HD_OK);
    assert_int_equal(hd_session_open(ctx, m, "golden", NULL, &s), HD_OK);
    hd_ctx *other = hd_ctx_create();
    hd_cancel(other);
    assert_int_equal(hd_session_run(other, s, in, out), HD_CANCELLED);
    assert_string_equal(hd_message(other), "cancelled");
    assert_int_equal(hd_net_compile(other, net, NULL, &m), HD_CANCELLED);
    hd_ctx_destroy(other);
    assert_int_equal(hd_session_run(ctx, s, in, out), HD_OK); /* it stays usable */
    hd_on_wait(ctx, stop_now, &asked);
    assert_int_equal(hd_session_run(ctx, s, in, out), HD_OK); /* too soon to be asked */
    nanosleep(&(struct timespec){0, 60000000}, NULL);
    assert_int_equal(hd_session_run(ctx, s, in, out), HD_CANCELLED);
    assert_int_equal(asked, 1);
    hd_session_close(s);
    hd_model_destroy(m);
    hd_net_destroy(net);
}

/* A batch of n for a network whose batch is open; each output is that of its row alone. */
static void run_batch(hd_ctx *ctx, hd_any *any, int64_t n, const float *x, float *y) {
    struct hd_io_info in = {.name = "x", .rank = 4, .dim = {n, 2, 4, 4}};
    const hd_model *m = NULL;
    hd_session *s = NULL;
    assert_int_equal(hd_any_session(ctx, any, &in, 1, &m, &s), HD_OK);
    hd_model_input(m, 0, &in);
    assert_int_equal(in.dim[0], n);
    assert_int_equal(hd_session_run(ctx, s, (const void *const[]){x}, (void *const[]){y}), HD_OK);
}

/* Files of models in the cache. */
static int n_kept(const char *cache) {
    char folder[256];
    int n = 0;
    snprintf(folder, sizeof folder, "%s/heddle/compiled", cache);
    DIR *dir = opendir(folder);
    if (!dir) return 0;
    for (struct dirent *e; (e = readdir(dir));) n += strstr(e->d_name, ".hdl") != NULL;
    closedir(dir);
    return n;
}

static void what_was_compiled_is_kept(void **state) {
    enum { IN = 2 * 4 * 4, OUT = 5, MOST = 2 };
    hd_ctx *ctx = *state;
    char cache[] = "/tmp/test_api_XXXXXX";
    float x[MOST * IN], y[2][MOST * OUT];
    assert_non_null(mkdtemp(cache));
    assert_int_equal(setenv("XDG_CACHE_HOME", cache, 1), 0);
    struct hd_build build = {.host_only = true};
    struct hd_any_options o = {.device = "golden", .build = &build};
    for (int i = 0; i < MOST * IN; i++) x[i] = (float)((i * 29) % 19) / 9 - 1;
    for (int i = 0; i < 3; i++) { /* nothing is kept at first, then it is, and is found */
        hd_any *any = NULL;
        build.cache_mib = i ? 8 : 0;
        assert_int_equal(hd_any_open(ctx, "test/golden/quantize/batch.onnx", &o, &any), HD_OK);
        run_batch(ctx, any, 1, x, y[i > 0]);
        run_batch(ctx, any, 2, x, y[i > 0]);
        hd_any_close(any);
        assert_int_equal(n_kept(cache), i ? 2 : 0);
        assert_memory_equal(y[0], y[i > 0], sizeof y[0]);
    }
    char remove[64];
    snprintf(remove, sizeof remove, "rm -r %s", cache);
    assert_int_equal(system(remove), 0);
}

static void test_any_size(void **state) {
    enum { IN = 2 * 4 * 4, OUT = 5, MOST = 4 };
    hd_ctx *ctx = *state;
    float x[MOST * IN], y[MOST * OUT], one[OUT];
    hd_any *any = NULL;
    hd_session *s = NULL;
    struct hd_any_options o = {.device = "golden", .most = 2};
    for (int i = 0; i < MOST * IN; i++) x[i] = (float)((i * 37) % 23) / 11 - 1;
    assert_int_equal(hd_any_open(ctx, "test/golden/quantize/batch.onnx", &o, &any), HD_OK);
    static const struct {
        int64_t n, compiled;
    } row[] = {{1, 1}, {3, 2}, {1, 2}, {4, 3}, {1, 3}, {3, 4}}; /* 4 takes the place of 3 */
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        run_batch(ctx, any, row[i].n, x, y);
        assert_int_equal(hd_any_compiled(any), row[i].compiled);
        if (!i) memcpy(one, y, sizeof one);
        assert_memory_equal(one, y, sizeof one);
    }
    struct hd_io_info bad = {.name = "x", .rank = 4, .dim = {1, 3, 4, 4}};
    assert_int_not_equal(hd_any_session(ctx, any, &bad, 1, NULL, &s), HD_OK);
    run_batch(ctx, any, 3, x, y); /* is still there */
    assert_int_equal(hd_any_compiled(any), 4);
    bad.name = NULL;
    assert_int_equal(hd_any_session(ctx, any, &bad, 1, NULL, &s), HD_INVALID);
    hd_any_close(any);
    o.most = -1;
    assert_int_equal(hd_any_open(ctx, "x.onnx", &o, &any), HD_INVALID);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_types, setup, teardown),
        cmocka_unit_test_setup_teardown(test_build, setup, teardown),
        cmocka_unit_test_setup_teardown(test_run, setup, teardown),
        cmocka_unit_test_setup_teardown(test_devices, setup, teardown),
        cmocka_unit_test_setup_teardown(test_quantize, setup, teardown),
        cmocka_unit_test_setup_teardown(test_node_errors, setup, teardown),
        cmocka_unit_test_setup_teardown(test_machine, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cancel, setup, teardown),
        cmocka_unit_test_setup_teardown(test_any_size, setup, teardown),
        cmocka_unit_test_setup_teardown(what_was_compiled_is_kept, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
