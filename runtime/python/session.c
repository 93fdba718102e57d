/* Sessions: open, run, what the last run did. */
#include "runtime/python/ext.h"

/* open(model, device, options or None); options: the fields of hd_run_options in their order */
static PyObject *open_session(PyObject *module, PyObject *args) {
    PyObject *o, *options;
    const char *device;
    struct hd_run_options opt = {0};
    unsigned long long jitter = 0, watchdog = 0;
    int functional = 0, timed = 0, profile = 0;
    hd_session *s = NULL;
    struct ext_call c;
    if (!PyArg_ParseTuple(args, "OsO", &o, &device, &options)) return NULL;
    const hd_model *m = ext_pointer(module, o, EXT_MODEL);
    if (!m) return NULL;
    if (options != Py_None &&
        !PyArg_ParseTuple(options, "IIIKKippp", &opt.memory_latency, &opt.memory_bytes_per_cycle,
                          &opt.memory_outstanding, &jitter, &watchdog, &opt.threads, &functional,
                          &timed, &profile))
        return NULL;
    opt.jitter_seed = jitter;
    opt.watchdog_cycles = watchdog;
    opt.functional = functional;
    opt.timed = timed;
    opt.profile = profile;
    if (!ext_begin(&c, module, NULL)) return NULL;
    hd_status r = options == Py_None ? hd_session_open(c.ctx, m, device, NULL, &s)
                                     : hd_session_open_with(c.ctx, m, device, &opt, &s);
    if (ext_end(&c, r)) return ext_handle(module, EXT_SESSION, s, o);
    if (r == HD_OK) hd_session_close(s);
    return NULL;
}

static PyObject *close_session(PyObject *module, PyObject *o) {
    struct ext_handle *h = (struct ext_handle *)o;
    struct ext_call c;
    if (PyObject_TypeCheck(o, (PyTypeObject *)ext_state(module)->type[EXT_SESSION]) && !h->ptr)
        Py_RETURN_NONE;
    if (!ext_pointer(module, o, EXT_SESSION)) return NULL;
    if (h->waiters) {
        ext_fail(module, HD_INVALID, "close: %d threads wait for requests of the session",
                 h->waiters);
        return NULL;
    }
    if (!ext_begin(&c, module, h)) return NULL;
    hd_session *s = h->ptr;
    h->ptr = NULL;
    hd_session_close(s);
    return ext_end(&c, HD_OK) ? Py_NewRef(Py_None) : NULL;
}

static const hd_model *model_of(PyObject *session) {
    return ((struct ext_handle *)((struct ext_handle *)session)->keeps)->ptr;
}

/* run(session, inputs, outputs): its number */
static PyObject *run(PyObject *module, PyObject *args) {
    PyObject *o, *ins, *outs, *result = NULL;
    struct ext_views in, out;
    struct ext_call c;
    if (!PyArg_ParseTuple(args, "OOO", &o, &ins, &outs)) return NULL;
    if (!ext_pointer(module, o, EXT_SESSION)) return NULL;
    if (!ext_views_open(module, ins, model_of(o), false, &in)) return NULL;
    if (ext_views_open(module, outs, model_of(o), true, &out)) {
        struct ext_handle *h = (struct ext_handle *)o;
        hd_status s = HD_OK;
        if (ext_begin(&c, module, h)) {
            s = hd_session_run(c.ctx, h->ptr, (const void *const *)in.data, out.data);
            unsigned long long number = ++h->runs;
            if (ext_end(&c, s)) result = PyLong_FromUnsignedLongLong(number);
        }
        ext_views_close(&out);
    }
    ext_views_close(&in);
    return result;
}

/* Ends what runs in another thread. */
static PyObject *cancel(PyObject *module, PyObject *o) {
    if (!ext_pointer(module, o, EXT_SESSION)) return NULL;
    struct ext_handle *h = (struct ext_handle *)o;
    if (!h->running) Py_RETURN_FALSE;
    hd_cancel(h->running);
    Py_RETURN_TRUE;
}

static PyObject *cycles(PyObject *module, PyObject *o) {
    const hd_session *s = ext_pointer(module, o, EXT_SESSION);
    return s ? PyLong_FromUnsignedLongLong(hd_session_cycles(s)) : NULL;
}

/* ---- state ---------------------------------------------------------------------------------- */

static PyObject *reset(PyObject *module, PyObject *o) {
    struct ext_call c;
    struct ext_handle *h = (struct ext_handle *)o;
    if (!ext_pointer(module, o, EXT_SESSION) || !ext_begin(&c, module, h)) return NULL;
    return ext_end(&c, hd_session_reset(c.ctx, h->ptr)) ? Py_NewRef(Py_None) : NULL;
}

static PyObject *save_state(PyObject *module, PyObject *o) {
    struct ext_call c;
    struct ext_handle *h = (struct ext_handle *)o;
    const hd_session *s = ext_pointer(module, o, EXT_SESSION);
    PyObject *data =
        s ? PyBytes_FromStringAndSize(NULL, (Py_ssize_t)hd_session_state_bytes(s)) : NULL;
    if (!data) return NULL;
    if (!ext_begin(&c, module, h) ||
        !ext_end(&c, hd_session_state_save(c.ctx, h->ptr, PyBytes_AsString(data))))
        Py_CLEAR(data);
    return data;
}

static PyObject *load_state(PyObject *module, PyObject *args) {
    struct ext_call c;
    PyObject *o, *result = NULL;
    Py_buffer data;
    if (!PyArg_ParseTuple(args, "Oy*", &o, &data)) return NULL;
    struct ext_handle *h = (struct ext_handle *)o;
    if (ext_pointer(module, o, EXT_SESSION) && ext_begin(&c, module, h) &&
        ext_end(&c, hd_session_state_load(c.ctx, h->ptr, data.buf, (size_t)data.len)))
        result = Py_NewRef(Py_None);
    PyBuffer_Release(&data);
    return result;
}

/* ---- after a run ---------------------------------------------------------------------------- */

/* The session of run number `run`, which is its last; nobody else is at work on it. */
static hd_session *after(PyObject *module, PyObject *o, unsigned long long number) {
    hd_session *s = ext_pointer(module, o, EXT_SESSION);
    struct ext_handle *h = (struct ext_handle *)o;
    if (!s) return NULL;
    if (!h->running && h->runs == number) return s;
    ext_fail(module, HD_INVALID,
             "run %llu: the session has begun run %llu since; look at a result "
             "before the next run",
             number, h->runs + (h->running != NULL));
    return NULL;
}

static PyObject *layers(PyObject *module, PyObject *args) {
    PyObject *o;
    unsigned long long number;
    if (!PyArg_ParseTuple(args, "OK", &o, &number)) return NULL;
    hd_session *s = after(module, o, number);
    int n = s ? hd_model_n_layers(model_of(o)) : 0;
    PyObject *list = s ? PyList_New(n) : NULL;
    for (int i = 0; list && i < n; i++) {
        struct hd_layer_row r;
        hd_ctx *ctx = hd_ctx_create();
        bool ok = ext_check(module, ctx, hd_session_layer(ctx, s, i, &r));
        PyObject *row = ok ? ext_layer(&r) : NULL;
        if (!row || PyList_SetItem(list, i, row) < 0) Py_CLEAR(list);
    }
    return list;
}

static PyObject *totals(PyObject *module, PyObject *args) {
    PyObject *o;
    unsigned long long number;
    struct hd_run_totals t;
    if (!PyArg_ParseTuple(args, "OK", &o, &number)) return NULL;
    hd_session *s = after(module, o, number);
    if (!s) return NULL;
    hd_ctx *ctx = hd_ctx_create();
    if (!ext_check(module, ctx, hd_session_totals(ctx, s, &t))) return NULL;
    return Py_BuildValue(
        "{sK sK sK sK sL sL sd sd}", "cycles", (unsigned long long)t.cycles, "read_bytes",
        (unsigned long long)t.read_bytes, "write_bytes", (unsigned long long)t.write_bytes,
        "code_bytes", (unsigned long long)t.code_bytes, "macs", (long long)t.macs, "roofline",
        (long long)t.roofline, "utilization", t.utilization, "efficiency", t.efficiency);
}

static PyObject *units(PyObject *module, PyObject *args) {
    PyObject *o;
    unsigned long long number;
    if (!PyArg_ParseTuple(args, "OK", &o, &number)) return NULL;
    hd_session *s = after(module, o, number);
    PyObject *list = s ? PyList_New(0) : NULL;
    hd_ctx *ctx = hd_ctx_create();
    struct hd_unit_row u;
    for (int i = 0; list && hd_session_unit(ctx, s, i, &u) == HD_OK; i++) {
        PyObject *row = Py_BuildValue(
            "{ss sK sK sK sK}", "unit", u.name, "busy", (unsigned long long)u.busy,
            "stall_semaphore", (unsigned long long)u.stall_semaphore, "stall_memory",
            (unsigned long long)u.stall_memory, "stall_bank", (unsigned long long)u.stall_bank);
        if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    hd_ctx_destroy(ctx);
    return list;
}

static PyObject *steps(PyObject *module, PyObject *args) {
    PyObject *o;
    unsigned long long number;
    if (!PyArg_ParseTuple(args, "OK", &o, &number)) return NULL;
    hd_session *s = after(module, o, number);
    PyObject *list = s ? PyList_New(0) : NULL;
    struct hd_step_row x;
    for (int i = 0; list && hd_session_step(s, i, &x); i++) {
        PyObject *row = Py_BuildValue("{sz sz sz si sd}", "node", x.node, "op", x.op, "how", x.how,
                                      "nodes", x.n_nodes, "seconds", x.seconds);
        if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static PyObject *parts(PyObject *module, PyObject *args) {
    PyObject *o;
    unsigned long long number;
    if (!PyArg_ParseTuple(args, "OK", &o, &number)) return NULL;
    hd_session *s = after(module, o, number);
    PyObject *list = s ? PyList_New(0) : NULL;
    struct hd_part_row x;
    for (int i = 0; list && hd_session_part(s, i, &x); i++) {
        PyObject *row = Py_BuildValue("{sz si sL sL sd sz}", "device", x.device, "nodes", x.n_nodes,
                                      "in_bytes", (long long)x.in_bytes, "out_bytes",
                                      (long long)x.out_bytes, "seconds", x.seconds, "why", x.why);
        if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

/* session_value(session, run, value, buffer) */
static PyObject *value(PyObject *module, PyObject *args) {
    PyObject *o, *buffer;
    unsigned long long number;
    int i;
    struct hd_io_info info;
    Py_buffer view;
    if (!PyArg_ParseTuple(args, "OKiO", &o, &number, &i, &buffer)) return NULL;
    hd_session *s = after(module, o, number);
    if (!s) return NULL;
    hd_model_value(model_of(o), i, &info);
    if (!info.name) return PyErr_Format(PyExc_IndexError, "no value %d", i);
    if (!ext_view(module, buffer, "value", &info, true, &view)) return NULL;
    hd_ctx *ctx = hd_ctx_create();
    bool ok = ext_check(module, ctx, hd_session_value(ctx, s, i, view.buf));
    PyBuffer_Release(&view);
    return ok ? Py_NewRef(Py_None) : NULL;
}

/* session_report(session, run, path) */
static PyObject *report(PyObject *module, PyObject *args) {
    PyObject *o, *path;
    unsigned long long number;
    if (!PyArg_ParseTuple(args, "OKO&", &o, &number, PyUnicode_FSConverter, &path)) return NULL;
    hd_session *s = after(module, o, number);
    struct ext_call c;
    bool ok = false;
    if (s && ext_begin(&c, module, (struct ext_handle *)o))
        ok = ext_end(&c, hd_session_report(c.ctx, s, PyBytes_AsString(path)));
    Py_DECREF(path);
    return ok ? Py_NewRef(Py_None) : NULL;
}

PyMethodDef ext_session_methods[] = {
    {"session_open", open_session, METH_VARARGS, "session_open(model, device, options)"},
    {"session_close", close_session, METH_O, "session_close(session)"},
    {"session_run", run, METH_VARARGS, "session_run(session, inputs, outputs): its number."},
    {"session_cancel", cancel, METH_O, "Ends what runs; whether something did."},
    {"session_reset", reset, METH_O, "States as before the first run."},
    {"session_save_state", save_state, METH_O, "What the next run begins with, as bytes."},
    {"session_load_state", load_state, METH_VARARGS, "session_load_state(session, bytes)"},
    {"session_cycles", cycles, METH_O, "Cycles of the last run."},
    {"session_layers", layers, METH_VARARGS, "session_layers(session, run): rows."},
    {"session_totals", totals, METH_VARARGS, "session_totals(session, run): a dict."},
    {"session_units", units, METH_VARARGS, "session_units(session, run): rows."},
    {"session_steps", steps, METH_VARARGS, "session_steps(session, run): rows."},
    {"session_report", report, METH_VARARGS, "session_report(session, run, path)"},
    {"session_parts", parts, METH_VARARGS, "session_parts(session, run): rows."},
    {"session_value", value, METH_VARARGS, "session_value(session, run, value, buffer)"},
    {NULL, NULL, 0, NULL}};
