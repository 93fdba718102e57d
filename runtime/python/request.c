/* Requests in flight: their arrays are held until they are done. */
#include "runtime/python/ext.h"

struct request {
    PyObject ob_base;
    PyObject *session; /* NULL = done */
    uint64_t id;
    struct ext_views in, out;
};

static void release(struct request *r) {
    ext_views_close(&r->in);
    ext_views_close(&r->out);
    Py_CLEAR(r->session);
}

/* Memory that the library still writes to must stay: waits. */
static void dealloc(PyObject *o) {
    struct request *r = (struct request *)o;
    PyTypeObject *t = Py_TYPE(o);
    freefunc free_it = (freefunc)PyType_GetSlot(t, Py_tp_free);
    hd_session *s = r->session ? ((struct ext_handle *)r->session)->ptr : NULL;
    if (s && r->id) {
        hd_ctx *ctx = hd_ctx_create();
        Py_BEGIN_ALLOW_THREADS;
        hd_session_wait(ctx, s, r->id, UINT64_MAX);
        Py_END_ALLOW_THREADS;
        hd_ctx_destroy(ctx);
    }
    release(r);
    free_it(o);
    Py_DECREF((PyObject *)t);
}

static PyType_Slot slots[] = {
    {Py_tp_dealloc, dealloc}, {Py_tp_doc, "A request in flight."}, {0, NULL}};
PyType_Spec ext_request_spec = {"heddle._heddle.request", sizeof(struct request), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

static PyObject *queue(PyObject *module, PyObject *args) {
    PyObject *o;
    int n;
    struct ext_call c;
    if (!PyArg_ParseTuple(args, "Oi", &o, &n)) return NULL;
    hd_session *s = ext_pointer(module, o, EXT_SESSION);
    if (!s || !ext_begin(&c, module, (struct ext_handle *)o)) return NULL;
    return ext_end(&c, hd_session_queue(c.ctx, s, n)) ? Py_NewRef(Py_None) : NULL;
}

static PyObject *submit(PyObject *module, PyObject *args) {
    PyObject *o, *ins, *outs;
    if (!PyArg_ParseTuple(args, "OOO", &o, &ins, &outs)) return NULL;
    hd_session *s = ext_pointer(module, o, EXT_SESSION);
    if (!s) return NULL;
    PyTypeObject *t = (PyTypeObject *)ext_state(module)->type[EXT_REQUEST];
    struct request *r = (struct request *)((allocfunc)PyType_GetSlot(t, Py_tp_alloc))(t, 0);
    if (!r) return NULL;
    r->session = Py_NewRef(o);
    const hd_model *m = ((struct ext_handle *)((struct ext_handle *)o)->keeps)->ptr;
    bool ok = ext_views_open(module, ins, m, false, &r->in) &&
              ext_views_open(module, outs, m, true, &r->out);
    if (ok) {
        hd_ctx *ctx = hd_ctx_create();
        ok = ext_check(
            module, ctx,
            hd_session_submit(ctx, s, (const void *const *)r->in.data, r->out.data, &r->id));
    }
    if (ok) return (PyObject *)r;
    Py_DECREF((PyObject *)r);
    return NULL;
}

/* wait(request, seconds or negative): True = done, False = time ran out */
static PyObject *wait(PyObject *module, PyObject *args) {
    PyObject *o;
    double seconds;
    struct ext_call c;
    if (!PyArg_ParseTuple(args, "Od", &o, &seconds)) return NULL;
    if (!PyObject_TypeCheck(o, (PyTypeObject *)ext_state(module)->type[EXT_REQUEST]))
        return PyErr_Format(PyExc_TypeError, "want a request of heddle");
    struct request *r = (struct request *)o;
    if (!r->session) Py_RETURN_TRUE;
    hd_session *s = ext_pointer(module, r->session, EXT_SESSION);
    if (!s) return NULL;
    ((struct ext_handle *)r->session)->waiters++;
    if (!ext_begin(&c, module, NULL)) return NULL; /* without a handle it does not fail */
    uint64_t ns = seconds < 0 || seconds > 1e9 ? UINT64_MAX : (uint64_t)(seconds * 1e9);
    hd_status status = hd_session_wait(c.ctx, s, r->id, ns);
    bool done = !hd_session_in_flight(s, r->id);
    bool ok = ext_end(&c, done ? status : HD_OK);
    ((struct ext_handle *)r->session)->waiters--;
    if (done) release(r);
    return ok ? PyBool_FromLong(done) : NULL;
}

/* [(request, step, on the machine, start, end)], nanoseconds */
static PyObject *timeline(PyObject *module, PyObject *o) {
    enum { MOST = 1024 };
    hd_session *s = ext_pointer(module, o, EXT_SESSION);
    struct hd_span *spans = s ? PyMem_Calloc(MOST, sizeof *spans) : NULL;
    if (!s) return NULL;
    if (!spans) return PyErr_NoMemory();
    int n = hd_session_timeline(s, spans, MOST);
    PyObject *list = PyList_New(n);
    for (int i = 0; list && i < n; i++) {
        const struct hd_span *p = &spans[i];
        PyObject *row =
            Py_BuildValue("{sK si sO sK sK}", "request", (unsigned long long)p->request, "step",
                          p->step, "on_machine", p->on_machine ? Py_True : Py_False, "start_ns",
                          (unsigned long long)p->start_ns, "end_ns", (unsigned long long)p->end_ns);
        if (!row || PyList_SetItem(list, i, row) < 0) Py_CLEAR(list);
    }
    PyMem_Free(spans);
    return list;
}

PyMethodDef ext_request_methods[] = {
    {"session_queue", queue, METH_VARARGS, "session_queue(session, requests)"},
    {"session_submit", submit, METH_VARARGS,
     "session_submit(session, inputs, outputs): a request."},
    {"request_wait", wait, METH_VARARGS, "request_wait(request, seconds): whether it is done."},
    {"session_timeline", timeline, METH_O, "What ran when: rows."},
    {NULL, NULL, 0, NULL}};
