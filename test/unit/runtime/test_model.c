/* The model container and sessions on golden: round trip, every damage refused, values packed and
 * unpacked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#include "compiler/ir/ir.h"
#include "runtime/base/io.h"
#include "runtime/runtime.h"

static struct hd_value_info f32_value(const char *name, int tensor) {
    return (struct hd_value_info){.name = name,
                                  .dtype = 1,
                                  .elem_bytes = 4,
                                  .rank = 2,
                                  .dim = {2, 3},
                                  .tensor = tensor,
                                  .layer = -1};
}

static int *list(hd_model *m, int n, const int *v) {
    return hd_dup(m->arena, v, (size_t)n * sizeof *v);
}

/* y = relu(x) + 1 on the host, and a value in the machine's layout that nothing uses. */
/* Layers, host operations, places. */
static void add_facts(hd_model *m, int i) {
    m->n_layers = 1;
    m->layers = hd_new(m->arena, struct hd_layer_info);
    m->layers[0] = (struct hd_layer_info){.name = "l",
                                          .op = "qconv",
                                          .macs = 100,
                                          .vector_ops = 10,
                                          .unavoidable_bytes = 20,
                                          .bounds = {30, 31, 32, 33, 34},
                                          .plan = "plan"};
    m->n_host_ops = 1;
    m->host_ops = hd_new(m->arena, struct hd_host_op);
    m->host_ops[0] = (struct hd_host_op){"relu", "relu", "float", "quantise", 1234};
    m->planned_bytes = 7;
    m->n_places = 1;
    m->xm_ring = 4096;
    m->places = hd_new(m->arena, struct hd_place);
    m->places[0] = (struct hd_place){.tensor = i,
                                     .layer = -1,
                                     .on_chip = true,
                                     .in_arena = true,
                                     .xm_offset = 32,
                                     .xm_bytes = 3 * 4 * 16,
                                     .arena_bytes = 64,
                                     .n = 1,
                                     .h = 2,
                                     .w = 2,
                                     .c = 3,
                                     .c_pad = 16,
                                     .pt = 1,
                                     .pl = 2,
                                     .pitch = 4 * 16};
}

static hd_model *small_model(hd_ctx *ctx) {
    hd_graph *g = hd_graph_create();
    int64_t dim[2] = {2, 3}, img[4] = {1, 3, 2, 2};
    int x = hd_graph_tensor(g, "x", HD_F32, 2, dim), r = hd_graph_tensor(g, "r", HD_F32, 2, dim);
    int one = hd_graph_const_f32(g, "one", 1, (float[]){1});
    int y = hd_graph_tensor(g, "y", HD_F32, 2, dim), i = hd_graph_tensor(g, "img", HD_U8, 4, img);
    int n0 = hd_graph_node(g, HD_IR_relu, "relu", 1, &x, 1, &r);
    int n1 = hd_graph_node(g, HD_IR_add, "add", 2, (int[]){r, one}, 1, &y);
    hd_graph_input(g, x);
    hd_graph_input(g, i);
    hd_graph_output(g, y);
    void *bytes;
    hd_model *m = hd_model_create();
    assert_int_equal(hd_graph_save(ctx, g, &bytes, &m->graph_bytes), HD_OK);
    m->graph = hd_dup(m->arena, bytes, m->graph_bytes);
    free(bytes);
    hd_graph_destroy(g);
    m->name = "small";
    assert_int_equal(hd_machine_load(ctx, "base", &m->machine), HD_OK);
    m->isa_hash = hd_isa_hash();
    m->machine_hash = hd_machine_hash(&m->machine);
    m->image = hd_dup(m->arena, "0123456789abcdef", 16);
    m->image_bytes = 16;
    m->arena_bytes = 64;
    m->n_values = 4;
    m->values = hd_new_array(m->arena, struct hd_value_info, 4);
    m->values[0] = f32_value("x", x);
    m->values[1] = f32_value("r", r);
    m->values[2] = f32_value("y", y);
    m->values[3] = (struct hd_value_info){.name = "img",
                                          .dtype = 2,
                                          .elem_bytes = 1,
                                          .rank = 4,
                                          .dim = {1, 3, 2, 2},
                                          .tensor = i,
                                          .in_arena = true,
                                          .layout = HD_LAYOUT_NHWC,
                                          .c_pad = 16,
                                          .layer = 0};
    m->n_inputs = m->n_outputs = 1;
    m->inputs = list(m, 1, (int[]){0});
    m->outputs = list(m, 1, (int[]){2});
    m->n_steps = 1;
    m->steps = hd_new(m->arena, struct hd_step);
    m->steps[0] = (struct hd_step){.kind = HD_STEP_HOST,
                                   .nodes = list(m, 2, (int[]){n0, n1}),
                                   .n_nodes = 2,
                                   .inputs = list(m, 1, (int[]){0}),
                                   .n_inputs = 1,
                                   .outputs = list(m, 1, (int[]){2}),
                                   .n_outputs = 1};
    add_facts(m, i);
    return m;
}

static char *saved(hd_ctx *ctx, size_t *bytes) {
    char path[] = "/tmp/heddle_model_XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    hd_model *m = small_model(ctx);
    assert_int_equal(hd_model_save(ctx, m, path), HD_OK);
    hd_model_destroy(m);
    void *data;
    assert_int_equal(hd_file_read(ctx, path, &data, bytes), HD_OK);
    remove(path);
    return data;
}

static void round_trip(void **state) {
    hd_ctx *ctx = *state;
    size_t n;
    char *data = saved(ctx, &n);
    hd_model *m;
    assert_int_equal(hd_model_load_memory(ctx, data, n, "memory", &m), HD_OK);
    assert_string_equal(m->name, "small");
    assert_string_equal(m->machine.name, "base");
    assert_int_equal(m->n_values, 4);
    assert_string_equal(m->values[3].name, "img");
    assert_int_equal(m->values[3].c_pad, 16);
    assert_int_equal(m->steps[0].n_nodes, 2);
    assert_int_equal(m->layers[0].bounds.mx_cycles, 30);
    assert_int_equal(m->layers[0].bounds.write_bytes, 34);
    assert_string_equal(m->host_ops[0].hint, "quantise");
    assert_int_equal(m->host_ops[0].ns, 1234);
    assert_memory_equal(m->image, "0123456789abcdef", 16);
    assert_int_equal((uintptr_t)m->image % 64, 0);
    assert_int_equal(m->planned_bytes, 7);
    assert_int_equal(m->n_places, 1);
    assert_int_equal(m->xm_ring, 4096);
    assert_int_equal(m->places[0].xm_offset, 32);
    assert_int_equal(m->places[0].pl, 2);
    assert_int_equal(m->places[0].pitch, 64);
    hd_model_destroy(m);
    free(data);
}

static void cut_short(void **state) {
    hd_ctx *ctx = *state;
    size_t n;
    char *data = saved(ctx, &n);
    for (size_t k = 0; k < n; k++) {
        hd_model *m;
        char *part = malloc(k + 1); /* its own block, so that asan sees a read behind it */
        memcpy(part, data, k);
        assert_int_equal(hd_model_load_memory(ctx, part, k, "part", &m), HD_INVALID);
        free(part);
    }
    free(data);
}

/* Without a valid checksum every change is refused; with one, whatever loads must be harmless. */
static void damaged(void **state) {
    hd_ctx *ctx = *state;
    size_t n;
    char *data = saved(ctx, &n);
    for (size_t k = 64; k < n; k++) {
        hd_model *m;
        char keep = data[k];
        data[k] ^= 0x40;
        assert_int_not_equal(hd_model_load_memory(ctx, data, n, "damaged", &m), HD_OK);
        for (int bit = 0; bit < 8; bit++) {
            data[k] = (char)(keep ^ (1 << bit));
            uint32_t crc = (uint32_t)crc32_z(0, (unsigned char *)data + 64, n - 64);
            memcpy(data + 40, &crc, 4);
            hd_session *s = NULL;
            if (hd_model_load_memory(ctx, data, n, "damaged", &m) != HD_OK) continue;
            size_t total = 0;
            for (int v = 0; v < m->n_values; v++) {
                total += hd_value_dense_bytes(&m->values[v]);
                if (m->values[v].in_arena)
                    assert_true(m->values[v].arena_offset + hd_value_arena_bytes(&m->values[v]) <=
                                m->arena_bytes);
            }
            if (total < 4096 && hd_session_open(ctx, m, "golden", NULL, &s) == HD_OK)
                hd_session_close(s);
            hd_model_destroy(m);
        }
        data[k] = keep;
        uint32_t crc = (uint32_t)crc32_z(0, (unsigned char *)data + 64, n - 64);
        memcpy(data + 40, &crc, 4);
    }
    free(data);
}

static void refuses_other_isa(void **state) {
    hd_ctx *ctx = *state;
    size_t n;
    char *data = saved(ctx, &n);
    hd_model *m;
    data[8] ^= 1;
    assert_int_equal(hd_model_load_memory(ctx, data, n, "other", &m), HD_MISMATCH);
    data[8] ^= 1;
    data[12] ^= 1;
    assert_int_equal(hd_model_load_memory(ctx, data, n, "other", &m), HD_MISMATCH);
    data[0] = 'X';
    assert_int_equal(hd_model_load_memory(ctx, data, n, "other", &m), HD_INVALID);
    assert_non_null(strstr(hd_message(ctx), "not a .hdl file"));
    free(data);
}

static void packs(void **state) {
    hd_ctx *ctx = *state;
    hd_model *m = small_model(ctx);
    const struct hd_value_info *v = &m->values[3];
    unsigned char dense[12], arena[64], back[12];
    for (int i = 0; i < 12; i++) dense[i] = (unsigned char)(i + 1);
    memset(arena, 0xff, sizeof arena);
    assert_int_equal(hd_value_dense_bytes(v), 12);
    assert_int_equal(hd_value_arena_bytes(v), 64);
    hd_value_pack(v, dense, arena);
    assert_int_equal(arena[0], 1);  /* pixel 0, channel 0 */
    assert_int_equal(arena[1], 5);  /* channel 1 */
    assert_int_equal(arena[2], 9);  /* channel 2 */
    assert_int_equal(arena[3], 0);  /* padding */
    assert_int_equal(arena[16], 2); /* pixel 1 */
    hd_value_unpack(v, arena, back);
    assert_memory_equal(back, dense, 12);
    hd_model_destroy(m);
}

/* int16 in two planes: high bytes, then low ones. */
static void packs_planes(void **state) {
    (void)state;
    const struct hd_value_info v = {
        .elem_bytes = 2, .rank = 3, .dim = {1, 3, 2}, .c_pad = 32, .layout = HD_LAYOUT_NHWC};
    const int16_t dense[6] = {0x0102, -2, 0x0304, 32767, 0, -32768};
    int16_t back[6];
    unsigned char arena[64];
    assert_int_equal(hd_value_arena_bytes(&v), 64);
    memset(arena, 0xff, sizeof arena);
    hd_value_pack(&v, dense, arena);
    const unsigned char high[3] = {0x01, 0x03, 0}, low[3] = {0x02, 0x04, 0};
    assert_memory_equal(arena, high, 3);
    assert_memory_equal(arena + 16, low, 3);
    assert_int_equal(arena[3], 0);     /* padding */
    assert_int_equal(arena[32], 0xff); /* pixel 1: -2 */
    assert_int_equal(arena[48], 0xfe);
    hd_value_unpack(&v, arena, back);
    assert_memory_equal(back, dense, sizeof dense);
}

static void reads_places(void **state) {
    hd_model *m = small_model(*state);
    struct hd_place *p = &m->places[0];
    unsigned char xm[256] = {0}, arena[64] = {0}, dense[12];
    for (int y = 0; y < 2; y++) /* behind one row and two pixels of padding */
        for (int x = 0; x < 2; x++)
            for (int c = 0; c < 3; c++) {
                xm[32 + ((y + 1) * 4 + x + 2) * 16 + c] = (unsigned char)(100 * c + 10 * y + x);
                arena[(y * 2 + x) * 16 + c] = (unsigned char)(1 + 100 * c + 10 * y + x);
            }
    const unsigned char want[12] = {0, 1, 10, 11, 100, 101, 110, 111, 200, 201, 210, 211};
    assert_true(hd_place_read(p, xm, sizeof xm, arena, sizeof arena, dense)); /* both: DRAM */
    for (int i = 0; i < 12; i++) assert_int_equal(dense[i], want[i] + 1);
    assert_true(hd_place_read(p, xm, sizeof xm, arena, 63, dense));
    assert_memory_equal(dense, want, 12);
    p->on_chip = false;
    assert_false(hd_place_read(p, xm, sizeof xm, arena, 63, dense));
    p->on_chip = true, p->in_arena = false;
    assert_true(hd_place_read(p, xm, sizeof xm, arena, sizeof arena, dense));
    assert_memory_equal(dense, want, 12);
    p->on_chip = false;
    assert_false(hd_place_read(p, xm, sizeof xm, arena, sizeof arena, dense));
    hd_model_destroy(m);
}

static void runs_on_golden(void **state) {
    hd_ctx *ctx = *state;
    hd_model *m = small_model(ctx);
    m->n_values = 3; /* without img, which nothing computes */
    hd_session *s;
    float x[6] = {-1, 0, 1, 2, -3, 4}, y[6], r[6];
    if (hd_session_open(ctx, m, "golden", NULL, &s) != HD_OK) fail_msg("%s", hd_message(ctx));
    for (int i = 0; i < 2; i++) {
        memset(y, 0, sizeof y);
        if (hd_session_run(ctx, s, (const void *[]){x}, (void *[]){y}) != HD_OK)
            fail_msg("%s", hd_message(ctx));
        float want[6] = {1, 1, 2, 3, 1, 5};
        assert_memory_equal(y, want, sizeof want);
    }
    const void *in[] = {NULL};
    assert_int_equal(hd_session_run(ctx, NULL, in, NULL), HD_INVALID);
    assert_int_equal(hd_session_run(ctx, s, NULL, (void *[]){y}), HD_INVALID);
    assert_int_equal(hd_session_run(ctx, s, in, (void *[]){y}), HD_INVALID);
    assert_string_equal(hd_message(ctx), "small: input 0 (x) is NULL, want its 24 bytes");
    assert_int_equal(hd_session_run(ctx, s, (const void *[]){x}, NULL), HD_INVALID);
    assert_int_equal(hd_session_run(ctx, s, (const void *[]){x}, (void *[]){NULL}), HD_INVALID);
    assert_string_equal(hd_message(ctx), "small: output 0 (y) is NULL, want room for 24 bytes");
    assert_int_equal(hd_session_value(ctx, s, 1, r), HD_OK);
    assert_true(r[5] == 4.0f);
    assert_int_equal(hd_session_value(ctx, s, 9, r), HD_INVALID);
    struct hd_counters k;
    assert_int_equal(hd_session_counters(ctx, s, &k), HD_OK);
    assert_int_equal(k.cycles, 0);
    hd_session_close(s);
    hd_model_destroy(m);
}

static void unknown_device(void **state) {
    hd_ctx *ctx = *state;
    hd_model *m = small_model(ctx);
    hd_session *s;
    assert_int_equal(hd_session_open(ctx, m, "nonesuch", NULL, &s), HD_UNSUPPORTED);
    assert_non_null(strstr(hd_message(ctx), "golden"));
    hd_model_destroy(m);
}

static int setup(void **state) {
    *state = hd_ctx_create();
    return 0;
}

static int teardown(void **state) {
    hd_ctx_destroy(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip),        cmocka_unit_test(cut_short),
        cmocka_unit_test(damaged),           cmocka_unit_test(packs),
        cmocka_unit_test(packs_planes),      cmocka_unit_test(reads_places),
        cmocka_unit_test(refuses_other_isa), cmocka_unit_test(runs_on_golden),
        cmocka_unit_test(unknown_device),
    };
    return cmocka_run_group_tests_name("model", tests, setup, teardown);
}
