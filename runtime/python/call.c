/* Handles and calls: locks, contexts, signals, exceptions. */
#include "runtime/python/ext.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { WAIT_US = 50000 }; /* between looks at signals while another thread has the handle */

/* ---- handles -------------------------------------------------------------------------------- */

static void destroy(enum ext_type type, void *ptr) {
    Py_BEGIN_ALLOW_THREADS;
    if (type == EXT_NET) hd_net_destroy(ptr);
    if (type == EXT_MODEL) hd_model_destroy(ptr);
    if (type == EXT_TRAINING) hd_training_close(ptr);
    if (type == EXT_SESSION) hd_session_close(ptr); /* waits for what runs */
    Py_END_ALLOW_THREADS;
}

static void dealloc(PyObject *o, enum ext_type type) {
    struct ext_handle *h = (struct ext_handle *)o;
    PyTypeObject *t = Py_TYPE(o);
    freefunc release = (freefunc)PyType_GetSlot(t, Py_tp_free);
    if (h->ptr) destroy(type, h->ptr);
    if (h->lock) PyThread_free_lock(h->lock);
    Py_XDECREF(h->keeps);
    release(o);
    Py_DECREF((PyObject *)t);
}

static void dealloc_net(PyObject *o) {
    dealloc(o, EXT_NET);
}
static void dealloc_model(PyObject *o) {
    dealloc(o, EXT_MODEL);
}
static void dealloc_session(PyObject *o) {
    dealloc(o, EXT_SESSION);
}
static void dealloc_training(PyObject *o) {
    dealloc(o, EXT_TRAINING);
}

#define SPEC(which, text)                                                                          \
    static PyType_Slot which##_slots[] = {                                                         \
        {Py_tp_dealloc, dealloc_##which}, {Py_tp_doc, (void *)(uintptr_t)text}, {0, NULL}};        \
    PyType_Spec ext_##which##_spec = {"heddle._heddle." #which, sizeof(struct ext_handle), 0,      \
                                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,      \
                                      which##_slots};
SPEC(net, "A network of the library.")
SPEC(model, "A compiled model of the library.")
SPEC(session, "A model on a device.")
SPEC(training, "A network in training.")

PyObject *ext_handle(PyObject *module, enum ext_type type, void *ptr, PyObject *keeps) {
    PyTypeObject *t = (PyTypeObject *)ext_state(module)->type[type];
    allocfunc alloc = (allocfunc)PyType_GetSlot(t, Py_tp_alloc);
    struct ext_handle *h = (struct ext_handle *)alloc(t, 0);
    if (!h) {
        destroy(type, ptr);
        return NULL;
    }
    h->ptr = ptr;
    h->keeps = Py_XNewRef(keeps);
    h->lock = PyThread_allocate_lock();
    if (h->lock) return (PyObject *)h;
    Py_DECREF((PyObject *)h);
    return PyErr_NoMemory();
}

void *ext_pointer(PyObject *module, PyObject *o, enum ext_type type) {
    static const char *const name[EXT_TYPES] = {"network", "model", "session", "request", "array"};
    PyTypeObject *want = (PyTypeObject *)ext_state(module)->type[type];
    if (!PyObject_TypeCheck(o, want)) {
        PyErr_Format(PyExc_TypeError, "want a %s of heddle", name[type]);
        return NULL;
    }
    struct ext_handle *h = (struct ext_handle *)o;
    if (!h->ptr) ext_fail(module, HD_INVALID, "the %s is closed; open another", name[type]);
    return h->ptr;
}

/* ---- exceptions ----------------------------------------------------------------------------- */

static const char *const status_name[] = {
#define X(name, text) #name,
    HD_STATUS_LIST(X)
#undef X
};

static void set_text(PyObject *o, const char *name, const char *text) {
    PyObject *s = text && *text ? PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace")
                                : Py_NewRef(Py_None);
    if (s) PyObject_SetAttrString(o, name, s);
    Py_XDECREF(s);
}

static void raise_error(PyObject *module, hd_status s, const char *message, const char *node) {
    char status[32];
    size_t i = 0;
    const char *name = (unsigned)s < HD_STATUS_COUNT ? status_name[s] : "UNKNOWN";
    for (; name[i] && i + 1 < sizeof status; i++)
        status[i] = (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] - 'A' + 'a' : name[i]);
    status[i] = 0;
    PyObject *type = ext_state(module)->error;
    PyObject *text = PyUnicode_DecodeUTF8(message, (Py_ssize_t)strlen(message), "replace");
    PyObject *e = text ? PyObject_CallFunctionObjArgs(type, text, NULL) : NULL;
    if (e) {
        set_text(e, "status", status);
        set_text(e, "node", node);
        set_text(e, "reason", message);
        PyErr_SetObject(type, e);
    }
    Py_XDECREF(text);
    Py_XDECREF(e);
}

void ext_fail(PyObject *module, hd_status s, const char *fmt, ...) {
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    raise_error(module, s, text, NULL);
}

/* What is worth knowing, line by line. */
static bool warn(const char *lines) {
    while (*lines) {
        const char *end = strchr(lines, '\n'), *text = lines;
        size_t n = end ? (size_t)(end - lines) : strlen(lines);
        static const char prefix[] = "warning: ";
        if (n > strlen(prefix) && !strncmp(text, prefix, strlen(prefix)))
            text += strlen(prefix), n -= strlen(prefix);
        char line[1024];
        snprintf(line, sizeof line, "%.*s", (int)n, text);
        if (PyErr_WarnEx(PyExc_UserWarning, line, 2) < 0) return false;
        lines = end ? end + 1 : lines + strlen(lines);
    }
    return true;
}

bool ext_check(PyObject *module, hd_ctx *ctx, hd_status s) {
    char node[256];
    if (s != HD_OK) {
        hd_error_node(ctx, node, sizeof node);
        const char *message = hd_message(ctx);
        raise_error(module, s, *message ? message : hd_status_text(s), node);
    }
    bool ok = s == HD_OK && warn(hd_warnings(ctx));
    hd_ctx_destroy(ctx);
    return ok;
}

/* ---- calls ---------------------------------------------------------------------------------- */

/* Waits for the handle; looks at signals meanwhile. */
static bool take(PyObject *module, struct ext_handle *h) {
    unsigned long me = PyThread_get_thread_ident();
    while (PyThread_acquire_lock_timed(h->lock, 0, 0) != PY_LOCK_ACQUIRED) {
        if (h->owner == me) {
            ext_fail(module, HD_INVALID, "in use further up in this thread");
            return false;
        }
        PyLockStatus got;
        Py_BEGIN_ALLOW_THREADS;
        got = PyThread_acquire_lock_timed(h->lock, WAIT_US, 0);
        Py_END_ALLOW_THREADS;
        if (got == PY_LOCK_ACQUIRED) break;
        if (PyErr_CheckSignals() < 0) return false;
    }
    h->owner = me;
    return true;
}

static void give(struct ext_handle *h) {
    h->running = NULL;
    h->owner = 0;
    PyThread_release_lock(h->lock);
}

/* From within the library: has a handler of a signal raised something? */
static bool stop(void *user) {
    struct ext_call *c = user;
    PyEval_RestoreThread(c->thread);
    c->interrupted = PyErr_CheckSignals() < 0;
    c->thread = PyEval_SaveThread();
    return c->interrupted;
}

bool ext_begin(struct ext_call *c, PyObject *module, struct ext_handle *handle) {
    if (handle && !take(module, handle)) return false;
    *c = (struct ext_call){.module = module, .ctx = hd_ctx_create(), .handle = handle};
    if (handle) handle->running = c->ctx;
    hd_on_wait(c->ctx, stop, c);
    c->thread = PyEval_SaveThread();
    return true;
}

bool ext_end(struct ext_call *c, hd_status s) {
    PyEval_RestoreThread(c->thread);
    if (c->handle) give(c->handle);
    if (!c->interrupted) return ext_check(c->module, c->ctx, s);
    hd_ctx_destroy(c->ctx); /* what the handler raised is set */
    return false;
}

/* ---- values --------------------------------------------------------------------------------- */

PyObject *ext_info(const struct hd_io_info *i) {
    if (i->rank < 0) return Py_BuildValue("(zOO)", i->name, Py_None, Py_None);
    PyObject *shape = PyTuple_New(i->rank);
    for (int d = 0; shape && d < i->rank; d++) {
        PyObject *n = PyLong_FromLongLong(i->dim[d]);
        if (!n || PyTuple_SetItem(shape, d, n) < 0) Py_CLEAR(shape);
    }
    if (!shape) return NULL;
    return Py_BuildValue("(zzN)", i->name, hd_type_name(i->dtype), shape);
}

const char **ext_strings(PyObject *sequence, Py_ssize_t *out_n) {
    Py_ssize_t n = PySequence_Size(sequence);
    if (n < 0) return NULL;
    const char **list = PyMem_Calloc((size_t)n + 1, sizeof *list);
    if (!list) {
        PyErr_NoMemory();
        return NULL;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *s = PySequence_GetItem(sequence, i);
        if (s && s != Py_None) list[i] = PyUnicode_AsUTF8AndSize(s, NULL);
        bool ok = s && (s == Py_None || list[i]);
        Py_XDECREF(s); /* the sequence holds it */
        if (ok) continue;
        PyMem_Free(list);
        return NULL;
    }
    *out_n = n;
    return list;
}
