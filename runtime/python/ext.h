/* The C half of package heddle: handles of library objects, calls, arrays.
 *
 * It is as thin as it can be: a function for each call of the library, over the public C API and
 * Python's limited API, so that one build serves Python 3.11 and later. What a user sees is in
 * heddle/(all).py. */
#ifndef HD_PYTHON_EXT_H
#define HD_PYTHON_EXT_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include "compiler/api/heddle.h"

enum ext_type { EXT_NET, EXT_MODEL, EXT_SESSION, EXT_REQUEST, EXT_ARRAY, EXT_TRAINING, EXT_TYPES };

struct ext_state { /* of the module */
    PyObject *error;
    PyObject *type[EXT_TYPES];
};
struct ext_state *ext_state(PyObject *module);

/* ---- handles: call.c ------------------------------------------------------------------------ */

/* A network, model or session. What works on it without the interpreter's lock holds this one's. */
struct ext_handle {
    PyObject ob_base;
    void *ptr;       /* NULL = closed */
    PyObject *keeps; /* what has to live as long; may be NULL */
    PyThread_type_lock lock;
    unsigned long owner;     /* thread that holds the lock */
    hd_ctx *running;         /* context of the call in work; NULL = none */
    unsigned long long runs; /* of a session, finished */
    int waiters;             /* of a session: threads that wait for its requests */
};
extern PyType_Spec ext_net_spec, ext_model_spec, ext_session_spec, ext_training_spec;
/* A new handle of ptr, which it destroys; with no memory for it, ptr is destroyed at once. */
PyObject *ext_handle(PyObject *module, enum ext_type type, void *ptr, PyObject *keeps);
/* The pointer behind an argument; NULL with TypeError or heddle.Error set. */
void *ext_pointer(PyObject *module, PyObject *o, enum ext_type type);

/* ---- calls: call.c -------------------------------------------------------------------------- */

/* One call of the library: a context, and the interpreter's lock given away meanwhile. Signals are
 * looked at while it runs. */
struct ext_call {
    PyObject *module;
    hd_ctx *ctx;
    PyThreadState *thread; /* NULL: the interpreter's lock is held */
    struct ext_handle *handle;
    bool interrupted;
};
/* Takes the handle (NULL = none) and gives the interpreter's lock away. False: an exception is set,
 * and there is nothing to end. */
bool ext_begin(struct ext_call *c, PyObject *module, struct ext_handle *handle);
/* Takes the lock back; raises heddle.Error unless s is HD_OK. True: no exception is set. */
bool ext_end(struct ext_call *c, hd_status s);
/* For calls that are short: the lock stays. ext_check raises, and ends the context. */
bool ext_check(PyObject *module, hd_ctx *ctx, hd_status s);
/* Raises heddle.Error with a message of our own. */
void ext_fail(PyObject *module, hd_status s, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- arrays: array.c ------------------------------------------------------------------------ */

extern PyType_Spec ext_array_spec;
/* array(dtype, shape): zeroed memory with the buffer protocol. */
PyObject *ext_array_new(PyObject *module, PyObject *args);
/* A view of a dense buffer of the type and shape of `want`; what: "input", ... False: an exception
 * says what is wrong. */
bool ext_view(PyObject *module, PyObject *o, const char *what, const struct hd_io_info *want,
              bool writable, Py_buffer *out);
/* The ONNX type of a view; 0: Heddle has none such. */
int ext_view_type(const Py_buffer *view);

struct ext_views { /* of the inputs or outputs of one run */
    Py_buffer *view;
    void **data;
    int n;
};
/* Views of a sequence of buffers for a model's inputs or outputs. */
bool ext_views_open(PyObject *module, PyObject *list, const hd_model *m, bool outputs,
                    struct ext_views *out);
void ext_views_close(struct ext_views *v);

/* ---- values: call.c ------------------------------------------------------------------------- */

/* (name, dtype name, shape) */
PyObject *ext_info(const struct hd_io_info *i);
PyObject *ext_layer(const struct hd_layer_row *r);
/* A list of the strings of a sequence, borrowed from it, for the length of a call; PyMem_Free frees
 * it. NULL with an exception set. */
const char **ext_strings(PyObject *sequence, Py_ssize_t *out_n);

/* ---- tables of functions, ended by NULL: net.c, build.c, model.c, session.c, ... ------- */
extern PyMethodDef ext_net_methods[], ext_build_methods[], ext_model_methods[],
    ext_session_methods[], ext_request_methods[], ext_quantize_methods[], ext_train_methods[];
extern PyType_Spec ext_request_spec;

#endif
