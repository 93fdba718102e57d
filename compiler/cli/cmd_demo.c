/* heddle demo: the digits network over all held-out images, on a device and on golden: accuracy,
 * agreement, and where the cycles of one image go. */
#include <stdlib.h>
#include <string.h>

#include "compiler/cli/cli.h"
#include "compiler/command/table.h"
#include "compiler/report/report.h"
#include "compiler/session/session.h"
#include "compiler/tensors/tensors.h"
#include "runtime/runtime.h"

struct demo {
    struct hd_cmd *c;
    hd_arena *a;
    const char *folder, *path;
    hd_model *m;
    hd_session *device, *golden;
    const unsigned char *images, *labels;
    int64_t n_images, pixels;
    int n_classes;
    int right_device, right_golden, equal;
    uint64_t cycles, least, most;
    double seconds;
    struct hd_run_facts first; /* of image 0 */
};

static const struct hd_file_tensor *array(const struct hd_file_tensor *t, int n, const char *name,
                                          int rank) {
    for (int i = 0; i < n; i++)
        if (!strcmp(t[i].name, name) && t[i].rank == rank &&
            hd_dtype_from_onnx(t[i].dtype) == HD_U8)
            return &t[i];
    return NULL;
}

static hd_status load(struct demo *d) {
    struct hd_cmd *c = d->c;
    struct hd_file_tensor *t;
    int n;
    TRY(hd_model_path(c, d->a, d->folder, &d->path));
    const char *data = hd_sprintf(d->a, "%s/digits.npz", hd_folder_of(d->a, d->path));
    TRY(hd_load_npz(c->ctx, d->a, data, &t, &n));
    const struct hd_file_tensor *image = array(t, n, "image", 3), *label = array(t, n, "label", 1);
    if (!image || !label || image->dim[0] != label->dim[0] || image->dim[0] < 1)
        return hd_fail(c->ctx, HD_INVALID, "%s: want uint8 arrays image [N,8,8] and label [N]",
                       data);
    d->images = image->data;
    d->labels = label->data;
    d->n_images = image->dim[0];
    d->pixels = image->dim[1] * image->dim[2];
    if (c->opt.images && c->opt.images < d->n_images) d->n_images = c->opt.images;
    TRY(hd_open_model(c, d->path, false, &d->m));
    const struct hd_value_info *in = &d->m->values[d->m->inputs[0]],
                               *out = &d->m->values[d->m->outputs[0]];
    if (d->m->n_inputs != 1 || hd_dtype_from_onnx(in->dtype) != HD_F32 ||
        hd_value_dense_bytes(in) != (size_t)d->pixels * 4 ||
        hd_dtype_from_onnx(out->dtype) != HD_F32)
        return hd_fail(c->ctx, HD_INVALID,
                       "%s: want one float input of %lld pixels and float logits", d->path,
                       (long long)d->pixels);
    d->n_classes = (int)(hd_value_dense_bytes(out) / 4);
    TRY(hd_open_session(c, d->m, c->opt.device, &d->device));
    return hd_open_session(c, d->m, "golden", &d->golden);
}

static int largest(const float *x, int n) {
    int best = 0;
    for (int i = 1; i < n; i++)
        if (x[i] > x[best]) best = i;
    return best;
}

static hd_status run_image(struct demo *d, int64_t i, float *x, void **out, void **ref) {
    struct hd_cmd *c = d->c;
    struct hd_counters k;
    for (int64_t p = 0; p < d->pixels; p++) x[p] = d->images[i * d->pixels + p];
    double start = hd_seconds();
    TRY(hd_session_run(c->ctx, d->device, (const void *[]){x}, out));
    d->seconds += hd_seconds() - start;
    TRY(hd_session_counters(c->ctx, d->device, &k));
    TRY(hd_session_run(c->ctx, d->golden, (const void *[]){x}, ref));
    size_t bytes = (size_t)d->n_classes * 4;
    d->equal += !memcmp(out[0], ref[0], bytes);
    d->right_device += largest(out[0], d->n_classes) == d->labels[i];
    d->right_golden += largest(ref[0], d->n_classes) == d->labels[i];
    d->cycles += k.cycles;
    if (i == 0 || k.cycles < d->least) d->least = k.cycles;
    if (i == 0 || k.cycles > d->most) d->most = k.cycles;
    return HD_OK;
}

static void print(struct demo *d) {
    struct hd_cmd *c = d->c;
    FILE *out = hd_cmd_json_on_stdout(c) ? stderr : stdout;
    double n = (double)d->n_images;
    fprintf(out, "one image, layer by layer (device %s, machine %s):\n\n", c->opt.device,
            d->m->machine.name);
    hd_print_layers(c, &d->first, out);
    fprintf(out, "\n");
    struct hd_table t;
    hd_table_init(&t, "lrl");
    hd_table_cells(&t, (const char *[]){"accuracy, golden"}, 1);
    hd_table_cell(&t, "%.2f %%", 100 * d->right_golden / n);
    hd_table_cell(&t, "%d of %lld held-out digits", d->right_golden, (long long)d->n_images);
    hd_table_cell(&t, "accuracy, %s", c->opt.device);
    hd_table_cell(&t, "%.2f %%", 100 * d->right_device / n);
    hd_table_cell(&t, "%d of %lld held-out digits", d->right_device, (long long)d->n_images);
    hd_table_cell(&t, "agreement");
    hd_table_cell(&t, "%.2f %%", 100 * d->equal / n);
    hd_table_cell(&t, "%d of %lld images with logits bit-equal to golden's", d->equal,
                  (long long)d->n_images);
    hd_table_cell(&t, "cycles per image");
    hd_table_cell(&t, "%.0f", (double)d->cycles / n);
    hd_table_cell(&t, "mean; %llu to %llu; %.1f us at %u MHz%s", (unsigned long long)d->least,
                  (unsigned long long)d->most, (double)d->cycles / n / d->m->machine.clock_mhz,
                  d->m->machine.clock_mhz, hd_machine_clock_note(&d->m->machine));
    hd_table_cell(&t, "simulation");
    hd_table_cell(&t, "%.2f s", d->seconds);
    hd_table_cell(&t, "%.0f cycles/s", d->seconds > 0 ? (double)d->cycles / d->seconds : 0);
    hd_table_print(&t, out);
}

static json_object *demo_json(const struct demo *d, bool ok) {
    json_object *o = json_object_new_object();
    hd_json_str(o, "schema", "heddle.demo/1");
    hd_json_str(o, "device", d->c->opt.device);
    json_object_object_add(o, "ok", json_object_new_boolean(ok));
    hd_json_int(o, "images", d->n_images);
    hd_json_int(o, "right_device", d->right_device);
    hd_json_int(o, "right_golden", d->right_golden);
    hd_json_int(o, "bit_equal", d->equal);
    hd_json_int(o, "cycles", (int64_t)d->cycles);
    hd_json_num(o, "wall_seconds", d->seconds);
    json_object_object_add(o, "first_image", hd_run_json(d->c, &d->first));
    return o;
}

static hd_status run(struct demo *d) {
    struct hd_cmd *c = d->c;
    TRY(load(d));
    float *x = hd_new_array(d->a, float, (size_t)d->pixels);
    void **out = hd_output_buffers(d->a, d->m), **ref = hd_output_buffers(d->a, d->m);
    for (int64_t i = 0; i < d->n_images; i++) {
        hd_cmd_progress(c, "image %lld of %lld", (long long)i + 1, (long long)d->n_images);
        TRY(hd_note(c->ctx, run_image(d, i, x, out, ref), "in image %lld", (long long)i));
        if (i) continue;
        d->first = (struct hd_run_facts){.model = d->m,
                                         .path = d->path,
                                         .device = c->opt.device,
                                         .inputs = "image 0",
                                         .wall_seconds = d->seconds,
                                         .has_cycles = !hd_is_graph_device(c->opt.device)};
        TRY(hd_session_counters(c->ctx, d->device, &d->first.counters));
        struct hd_layer_counters *layers =
            hd_new_array(d->a, struct hd_layer_counters, (size_t)d->m->n_layers + 1);
        if (d->m->n_layers)
            memcpy(layers, d->first.counters.layers, (size_t)d->m->n_layers * sizeof *layers);
        d->first.counters.layers = layers;
    }
    hd_cmd_progress_end(c);
    return HD_OK;
}

int cmd_demo(struct hd_cmd *c) {
    struct demo d = {
        .c = c, .a = hd_arena_create(), .folder = c->n_args ? c->args[0] : "test/models/digits"};
    int status;
    if (run(&d) != HD_OK) {
        status = hd_cmd_fail(c);
    } else {
        bool ok = d.equal == d.n_images;
        print(&d);
        status = ok ? HD_EXIT_DONE : HD_EXIT_FAILED;
        if (!ok)
            fprintf(stderr,
                    "heddle demo: %s and golden differ on %lld of %lld images; heddle compare %s "
                    "--devices "
                    "golden,%s names the layer\n",
                    c->opt.device, (long long)(d.n_images - d.equal), (long long)d.n_images,
                    d.folder, c->opt.device);
        if (c->opt.json && hd_cmd_write_json(c, demo_json(&d, ok)) != HD_EXIT_DONE)
            status = HD_EXIT_FAILED;
    }
    hd_session_close(d.device);
    hd_session_close(d.golden);
    hd_model_destroy(d.m);
    hd_arena_destroy(d.a);
    return status;
}
