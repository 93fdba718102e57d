/* Layers and training. */
#include "runtime/python/ext.h"

enum { OPERANDS = 8, NUMBERS = 16 };

static PyObject *layers(PyObject *module, PyObject *args) {
    (void)module, (void)args;
    PyObject *dict = PyDict_New();
    const char *name, *numbers;
    int operands = 0;
    for (int i = 0; dict && (name = hd_layer(i, &operands, &numbers)); i++) {
        PyObject *row = Py_BuildValue("(is)", operands, numbers);
        if (!row || PyDict_SetItemString(dict, name, row) < 0) Py_CLEAR(dict);
        Py_XDECREF(row);
    }
    return dict;
}

static PyObject *net_layers(PyObject *module, PyObject *args) {
    PyObject *o;
    unsigned int seed;
    int training;
    if (!PyArg_ParseTuple(args, "OIp", &o, &seed, &training)) return NULL;
    hd_net *net = ext_pointer(module, o, EXT_NET);
    if (!net) return NULL;
    hd_net_layers(net, seed, training);
    Py_RETURN_NONE;
}

/* add_layer(net, kind, operands, {name: number}): its tensor */
static PyObject *add_layer(PyObject *module, PyObject *args) {
    PyObject *o, *operands, *dict, *key, *value;
    const char *kind, *names[NUMBERS];
    double values[NUMBERS];
    int in[OPERANDS], n = 0, out = -1;
    Py_ssize_t at = 0;
    if (!PyArg_ParseTuple(args, "OsO!O!", &o, &kind, &PyTuple_Type, &operands, &PyDict_Type, &dict))
        return NULL;
    hd_net *net = ext_pointer(module, o, EXT_NET);
    Py_ssize_t n_in = PyTuple_Size(operands);
    if (!net) return NULL;
    if (n_in > OPERANDS || PyDict_Size(dict) > NUMBERS)
        return PyErr_Format(PyExc_ValueError, "%s: too many operands or numbers", kind);
    for (int i = 0; i < n_in; i++) in[i] = (int)PyLong_AsLong(PyTuple_GetItem(operands, i));
    while (!PyErr_Occurred() && PyDict_Next(dict, &at, &key, &value)) {
        names[n] = PyUnicode_AsUTF8AndSize(key, NULL);
        values[n++] = PyFloat_AsDouble(value);
    }
    if (PyErr_Occurred()) return NULL;
    hd_ctx *ctx = hd_ctx_create();
    hd_status s = hd_net_add_layer(ctx, net, kind, in, (int)n_in, names, values, n, &out);
    return ext_check(module, ctx, s) ? PyLong_FromLong(out) : NULL;
}

/* ---- training ------------------------------------------------------------------------------- */

/* training_open(net, optimizer, schedule, device, rate, steps, weight_decay, clip_norm, warm_up,
 * threads, shards, momentum, clip_value, precision, loss_scale, scale_steps, memory) */
static PyObject *training_open(PyObject *module, PyObject *args) {
    PyObject *o;
    struct hd_training_options t = {0};
    hd_training *out = NULL;
    struct ext_call c;
    if (!PyArg_ParseTuple(args, "Ozzzdddddiiddzddz", &o, &t.optimizer, &t.schedule, &t.device,
                          &t.rate, &t.steps, &t.weight_decay, &t.clip_norm, &t.warm_up, &t.threads,
                          &t.shards, &t.momentum, &t.clip_value, &t.precision, &t.loss_scale,
                          &t.scale_steps, &t.memory))
        return NULL;
    hd_net *net = ext_pointer(module, o, EXT_NET);
    if (!net || !ext_begin(&c, module, (struct ext_handle *)o)) return NULL;
    hd_status s = hd_training_open(c.ctx, net, &t, &out);
    if (ext_end(&c, s)) return ext_handle(module, EXT_TRAINING, out, NULL);
    if (s == HD_OK) hd_training_close(out);
    return NULL;
}

static PyObject *training_results(PyObject *module, PyObject *o) {
    const hd_training *t = ext_pointer(module, o, EXT_TRAINING);
    PyObject *list = t ? PyList_New(0) : NULL;
    for (int i = 0; list && hd_training_result(t, i); i++) {
        PyObject *name = PyUnicode_FromString(hd_training_result(t, i));
        if (!name || PyList_Append(list, name) < 0) Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}

static PyObject *training_steps(PyObject *module, PyObject *o) {
    const hd_training *t = ext_pointer(module, o, EXT_TRAINING);
    return t ? PyLong_FromLongLong(hd_training_steps(t)) : NULL;
}

static PyObject *training_scale(PyObject *module, PyObject *o) {
    const hd_training *t = ext_pointer(module, o, EXT_TRAINING);
    if (!t) return NULL;
    return Py_BuildValue("dL", hd_training_loss_scale(t), (long long)hd_training_skipped(t));
}

/* Dense buffers of a batch; how many were opened, -1 with an exception. */
static int open_batch(PyObject *module, const hd_training *t, PyObject *list, Py_buffer *view,
                      const void **data) {
    int n = 0;
    for (; n < PyTuple_Size(list) && n < OPERANDS; n++) {
        if (PyObject_GetBuffer(PyTuple_GetItem(list, n), &view[n], PyBUF_C_CONTIGUOUS) < 0) break;
        data[n] = view[n].buf;
        if ((size_t)view[n].len == hd_training_input_bytes(t, n)) continue;
        ext_fail(module, HD_INVALID, "input %d of a step: %zd bytes, want %zu", n, view[n].len,
                 hd_training_input_bytes(t, n));
        n++;
        break;
    }
    if (!PyErr_Occurred() && hd_training_input_bytes(t, n))
        ext_fail(module, HD_INVALID, "a step of %d inputs, want more", n);
    return n;
}

/* training_step(training, buffers): results */
static PyObject *training_step(PyObject *module, PyObject *args) {
    PyObject *o, *buffers, *list = NULL;
    Py_buffer view[OPERANDS];
    const void *data[OPERANDS];
    struct ext_call c;
    if (!PyArg_ParseTuple(args, "OO!", &o, &PyTuple_Type, &buffers)) return NULL;
    hd_training *t = ext_pointer(module, o, EXT_TRAINING);
    if (!t) return NULL;
    int n = open_batch(module, t, buffers, view, data), results = hd_training_n_results(t);
    float *out = PyMem_Calloc((size_t)results + 1, sizeof *out);
    if (!PyErr_Occurred() && out && ext_begin(&c, module, (struct ext_handle *)o) &&
        ext_end(&c, hd_training_step(c.ctx, t, data, out)))
        list = PyList_New(results);
    for (int i = 0; list && i < results; i++) {
        PyObject *v = PyFloat_FromDouble((double)out[i]);
        if (!v || PyList_SetItem(list, i, v) < 0) Py_CLEAR(list);
    }
    for (int i = 0; i < n; i++) PyBuffer_Release(&view[i]);
    PyMem_Free(out);
    return list;
}

static PyObject *training_weights(PyObject *module, PyObject *args) {
    PyObject *o, *n;
    if (!PyArg_ParseTuple(args, "OO", &o, &n)) return NULL;
    const hd_training *t = ext_pointer(module, o, EXT_TRAINING);
    hd_net *net = t ? ext_pointer(module, n, EXT_NET) : NULL;
    if (!net) return NULL;
    hd_ctx *ctx = hd_ctx_create();
    return ext_check(module, ctx, hd_training_weights(ctx, t, net)) ? Py_NewRef(Py_None) : NULL;
}

static PyObject *training_file(PyObject *module, PyObject *args, bool load) {
    PyObject *o;
    const char *path;
    if (!PyArg_ParseTuple(args, "Os", &o, &path)) return NULL;
    hd_training *t = ext_pointer(module, o, EXT_TRAINING);
    if (!t) return NULL;
    hd_ctx *ctx = hd_ctx_create();
    hd_status s = load ? hd_training_load(ctx, t, path) : hd_training_save(ctx, t, path);
    return ext_check(module, ctx, s) ? Py_NewRef(Py_None) : NULL;
}

static PyObject *training_save(PyObject *module, PyObject *args) {
    return training_file(module, args, false);
}

static PyObject *training_load(PyObject *module, PyObject *args) {
    return training_file(module, args, true);
}

/* training_events(training, folder or None) */
static PyObject *training_events(PyObject *module, PyObject *args) {
    PyObject *o;
    const char *folder;
    if (!PyArg_ParseTuple(args, "Oz", &o, &folder)) return NULL;
    hd_training *t = ext_pointer(module, o, EXT_TRAINING);
    if (!t) return NULL;
    hd_ctx *ctx = hd_ctx_create();
    return ext_check(module, ctx, hd_training_events(ctx, t, folder)) ? Py_NewRef(Py_None) : NULL;
}

PyMethodDef ext_train_methods[] = {
    {"layers", layers, METH_NOARGS, "{layer: (operands, numbers)}"},
    {"net_layers", net_layers, METH_VARARGS, "net_layers(net, seed, training)"},
    {"add_layer", add_layer, METH_VARARGS, "add_layer(net, kind, operands, numbers): its tensor."},
    {"training_open", training_open, METH_VARARGS, "A trainer of a network."},
    {"training_results", training_results, METH_O, "Names of the results of a step."},
    {"training_scale", training_scale, METH_O, "Factor of the loss; steps that changed nothing."},
    {"training_steps", training_steps, METH_O, "Steps that were taken."},
    {"training_step", training_step, METH_VARARGS, "training_step(training, buffers): results."},
    {"training_weights", training_weights, METH_VARARGS, "training_weights(training, net)"},
    {"training_events", training_events, METH_VARARGS, "training_events(training, folder)"},
    {"training_save", training_save, METH_VARARGS, "training_save(training, path)"},
    {"training_load", training_load, METH_VARARGS, "training_load(training, path)"},
    {NULL, NULL, 0, NULL}};
