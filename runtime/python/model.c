/* Machines, compiling, and what a model says of itself. */
#include "runtime/python/ext.h"

static PyObject *new_model(PyObject *module, struct ext_call *c, hd_status s, hd_model *m) {
    if (ext_end(c, s)) return ext_handle(module, EXT_MODEL, m, NULL);
    if (s == HD_OK) hd_model_destroy(m);
    return NULL;
}

/* machine_values(machine, settings): [(name, value, least, most, text)] */
static PyObject *machine_values(PyObject *module, PyObject *args) {
    enum { MOST = 64 };
    struct hd_machine_value v[MOST];
    PyObject *settings;
    const char *machine;
    Py_ssize_t n_set = 0;
    int n = 0;
    if (!PyArg_ParseTuple(args, "sO", &machine, &settings)) return NULL;
    const char **set = ext_strings(settings, &n_set);
    if (!set) return NULL;
    hd_ctx *ctx = hd_ctx_create();
    hd_status s = hd_machine_values(ctx, machine, set, (int)n_set, v, MOST, &n);
    bool ok = ext_check(module, ctx, s);
    PyMem_Free(set);
    PyObject *list = ok ? PyList_New(0) : NULL;
    for (int i = 0; list && i < n && i < MOST; i++) {
        PyObject *row =
            Py_BuildValue("(sIIIs)", v[i].name, v[i].value, v[i].min, v[i].max, v[i].doc);
        if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

/* compile(net, machine, settings, host_only, keep_all, in_order, memory_latency, devices,
 * cache_mib) */
static PyObject *compile(PyObject *module, PyObject *args) {
    PyObject *o, *settings, *result = NULL;
    struct hd_build b = {0};
    int host_only, keep_all, in_order;
    Py_ssize_t n_set = 0;
    hd_model *m = NULL;
    struct ext_call c;
    if (!PyArg_ParseTuple(args, "OsOpppIzi", &o, &b.machine, &settings, &host_only, &keep_all,
                          &in_order, &b.memory_latency, &b.devices, &b.cache_mib))
        return NULL;
    const hd_net *net = ext_pointer(module, o, EXT_NET);
    if (!net) return NULL;
    const char **set = ext_strings(settings, &n_set);
    b.set = set;
    b.n_set = (int)n_set;
    b.host_only = host_only;
    b.keep_all = keep_all;
    b.in_order = in_order;
    if (set && ext_begin(&c, module, (struct ext_handle *)o)) {
        hd_status s = hd_net_compile(c.ctx, net, &b, &m);
        result = new_model(module, &c, s, m);
    }
    PyMem_Free(set);
    return result;
}

static PyObject *load(PyObject *module, PyObject *args) {
    PyObject *path, *result = NULL;
    hd_model *m = NULL;
    struct ext_call c;
    if (!PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &path)) return NULL;
    if (ext_begin(&c, module, NULL)) {
        hd_status s = hd_model_load(c.ctx, PyBytes_AsString(path), &m);
        result = new_model(module, &c, s, m);
    }
    Py_DECREF(path);
    return result;
}

static PyObject *load_memory(PyObject *module, PyObject *args) {
    Py_buffer data;
    const char *name;
    PyObject *result = NULL;
    hd_model *m = NULL;
    struct ext_call c;
    if (!PyArg_ParseTuple(args, "y*s", &data, &name)) return NULL;
    if (ext_begin(&c, module, NULL)) {
        hd_status s = hd_model_load_memory(c.ctx, data.buf, (size_t)data.len, name, &m);
        result = new_model(module, &c, s, m);
    }
    PyBuffer_Release(&data);
    return result;
}

static PyObject *save(PyObject *module, PyObject *args) {
    PyObject *o, *path, *result = NULL;
    struct ext_call c;
    if (!PyArg_ParseTuple(args, "OO&", &o, PyUnicode_FSConverter, &path)) return NULL;
    const hd_model *m = ext_pointer(module, o, EXT_MODEL);
    if (m && ext_begin(&c, module, NULL))
        result = ext_end(&c, hd_model_save(c.ctx, m, PyBytes_AsString(path))) ? Py_NewRef(Py_None)
                                                                              : NULL;
    Py_DECREF(path);
    return result;
}

/* (name, machine, inputs, outputs, values); each of those (name, type, shape) */
static PyObject *facts(PyObject *module, PyObject *o) {
    const hd_model *m = ext_pointer(module, o, EXT_MODEL);
    if (!m) return NULL;
    PyObject *list[3] = {NULL};
    const int n[3] = {hd_model_n_inputs(m), hd_model_n_outputs(m), hd_model_n_values(m)};
    void (*const fact[3])(const hd_model *, int,
                          struct hd_io_info *) = {hd_model_input, hd_model_output, hd_model_value};
    bool ok = true;
    for (int k = 0; k < 3; k++) {
        ok = (list[k] = PyList_New(n[k])) && ok;
        for (int i = 0; ok && i < n[k]; i++) {
            struct hd_io_info info;
            fact[k](m, i, &info);
            PyObject *row = ext_info(&info);
            ok = row && PyList_SetItem(list[k], i, row) == 0;
        }
    }
    PyObject *result = ok ? Py_BuildValue("(ssOOOi)", hd_model_name(m), hd_model_machine(m),
                                          list[0], list[1], list[2], hd_model_n_states(m))
                          : NULL;
    for (int k = 0; k < 3; k++) Py_XDECREF(list[k]);
    return result;
}

PyObject *ext_layer(const struct hd_layer_row *r) {
    return Py_BuildValue("{ss ss sL sL sd sL sd ss sL sL sL si ss}", "layer", r->name, "op", r->op,
                         "cycles", (long long)r->cycles, "macs", (long long)r->macs, "utilization",
                         r->utilization, "roofline", (long long)r->roofline, "efficiency",
                         r->efficiency, "bound", r->bound, "mx_busy", (long long)r->mx_busy,
                         "vx_busy", (long long)r->vx_busy, "dram_bytes", (long long)r->dram_bytes,
                         "step", r->step, "plan", r->plan);
}

static PyObject *layers(PyObject *module, PyObject *o) {
    const hd_model *m = ext_pointer(module, o, EXT_MODEL);
    int n = m ? hd_model_n_layers(m) : 0;
    PyObject *list = m ? PyList_New(n) : NULL;
    for (int i = 0; list && i < n; i++) {
        struct hd_layer_row r;
        hd_model_layer(m, i, &r);
        PyObject *row = ext_layer(&r);
        if (!row || PyList_SetItem(list, i, row) < 0) Py_CLEAR(list);
    }
    return list;
}

static PyObject *host_ops(PyObject *module, PyObject *o) {
    const hd_model *m = ext_pointer(module, o, EXT_MODEL);
    int n = m ? hd_model_n_host_ops(m) : 0;
    PyObject *list = m ? PyList_New(n) : NULL;
    for (int i = 0; list && i < n; i++) {
        struct hd_host_row r;
        hd_model_host_op(m, i, &r);
        PyObject *row = Py_BuildValue("{sz sz sd sz sz}", "node", r.node, "op", r.op, "seconds",
                                      r.seconds, "reason", r.reason, "hint", r.hint);
        if (!row || PyList_SetItem(list, i, row) < 0) Py_CLEAR(list);
    }
    return list;
}

/* model_compare(model, value, reference, got) */
static PyObject *compare(PyObject *module, PyObject *args) {
    PyObject *o, *a, *b;
    Py_buffer x, y;
    int i;
    struct hd_io_info info;
    struct hd_difference d;
    if (!PyArg_ParseTuple(args, "OiOO", &o, &i, &a, &b)) return NULL;
    const hd_model *m = ext_pointer(module, o, EXT_MODEL);
    if (!m) return NULL;
    hd_model_value(m, i, &info);
    if (!info.name) return PyErr_Format(PyExc_IndexError, "no value %d", i);
    if (!ext_view(module, a, "value", &info, false, &x)) return NULL;
    bool ok = ext_view(module, b, "value", &info, false, &y);
    if (ok) {
        Py_BEGIN_ALLOW_THREADS;
        hd_model_compare(m, i, x.buf, y.buf, &d);
        Py_END_ALLOW_THREADS;
        PyBuffer_Release(&y);
    }
    PyBuffer_Release(&x);
    if (!ok) return NULL;
    return Py_BuildValue("{sn sn sn sn sd sd sd sd}", "n", (Py_ssize_t)d.n, "differ",
                         (Py_ssize_t)d.differ, "beyond", (Py_ssize_t)d.beyond, "first",
                         (Py_ssize_t)d.first, "max", d.max, "mean", d.mean, "rms", d.rms, "db",
                         d.db);
}

PyMethodDef ext_model_methods[] = {
    {"machine_values", machine_values, METH_VARARGS,
     "machine_values(machine, settings): [(name, value, least, most, text)]"},
    {"compile", compile, METH_VARARGS,
     "compile(net, machine, settings, host_only, keep_all, in_order, memory_latency, devices): a "
     "model."},
    {"model_load", load, METH_VARARGS, "model_load(path): a model."},
    {"model_load_memory", load_memory, METH_VARARGS, "model_load_memory(data, name): a model."},
    {"model_save", save, METH_VARARGS, "model_save(model, path)"},
    {"model_facts", facts, METH_O, "(name, machine, inputs, outputs, values, states)"},
    {"model_layers", layers, METH_O, "Rows of its layers, as planned."},
    {"model_host_ops", host_ops, METH_O, "Rows of what stays on the host."},
    {"model_compare", compare, METH_VARARGS, "model_compare(model, value, reference, got)"},
    {NULL, NULL, 0, NULL}};
