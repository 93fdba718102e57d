/* Module heddle._heddle: its types, its exception, its functions. */
#include "runtime/python/ext.h"

struct ext_state *ext_state(PyObject *module) {
    return PyModule_GetState(module);
}

/* ---- what belongs to no object -------------------------------------------------------------- */

static PyObject *version(PyObject *module, PyObject *args) {
    (void)module, (void)args;
    return PyUnicode_FromString(hd_rt_version());
}

static PyObject *devices(PyObject *module, PyObject *args) {
    (void)args, (void)module;
    PyObject *list = PyList_New(0);
    for (int i = 0; list && hd_device_name(i); i++) {
        hd_ctx *ctx = hd_ctx_create();
        const char *name = hd_device_name(i);
        hd_status s = hd_device_check(ctx, name);
        PyObject *row = Py_BuildValue("(sz)", name, s == HD_OK ? NULL : hd_message(ctx));
        hd_ctx_destroy(ctx);
        if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static PyObject *machines(PyObject *module, PyObject *args) {
    (void)args, (void)module;
    PyObject *list = PyList_New(0);
    for (int i = 0; list && hd_machine_name(i); i++) {
        PyObject *name = PyUnicode_FromString(hd_machine_name(i));
        if (!name || PyList_Append(list, name) < 0) Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}

static PyObject *types(PyObject *module, PyObject *args) {
    enum { ONNX_TYPES = 64 };
    (void)args, (void)module;
    PyObject *dict = PyDict_New();
    for (int t = 0; dict && t < ONNX_TYPES; t++) {
        if (!hd_type_name(t)) continue;
        PyObject *bytes = PyLong_FromSize_t(hd_type_bytes(t));
        if (!bytes || PyDict_SetItemString(dict, hd_type_name(t), bytes) < 0) Py_CLEAR(dict);
        Py_XDECREF(bytes);
    }
    return dict;
}

static PyObject *view_type(PyObject *module, PyObject *o) {
    (void)module;
    Py_buffer view;
    if (PyObject_GetBuffer(o, &view, PyBUF_FORMAT | PyBUF_ND | PyBUF_STRIDES) < 0) return NULL;
    PyObject *type = Py_BuildValue("z", hd_type_name(ext_view_type(&view)));
    PyBuffer_Release(&view);
    return type;
}

static PyMethodDef methods[] = {
    {"version", version, METH_NOARGS, "Version of the library."},
    {"devices", devices, METH_NOARGS, "(name, why not) of each device."},
    {"machines", machines, METH_NOARGS, "Names of machines."},
    {"types", types, METH_NOARGS, "Types of elements and their bytes."},
    {"view_type", view_type, METH_O, "Type of the elements of a buffer, None = no such."},
    {"array", ext_array_new, METH_VARARGS, "array(dtype, shape): zeroed memory."},
    {NULL, NULL, 0, NULL}};

/* ---- the module ----------------------------------------------------------------------------- */

static const char error_doc[] =
    "What the library refused, or what failed.\n\n"
    "status: 'invalid', 'unsupported', 'nomem', 'io', 'device', 'mismatch' or 'cancelled'.\n"
    "node: name of the node that is to blame, or None.\n"
    "reason: the whole message: what, where, got, allowed, what to do.";

static bool add_error(PyObject *module) {
    struct ext_state *st = ext_state(module);
    PyObject *fields =
        Py_BuildValue("{sOsOsO}", "status", Py_None, "node", Py_None, "reason", Py_None);
    if (!fields) return false;
    st->error = PyErr_NewExceptionWithDoc("heddle.Error", error_doc, NULL, fields);
    Py_DECREF(fields);
    return st->error && PyModule_AddObjectRef(module, "Error", st->error) == 0;
}

static int exec(PyObject *module) {
    PyType_Spec *specs[EXT_TYPES] = {&ext_net_spec,     &ext_model_spec, &ext_session_spec,
                                     &ext_request_spec, &ext_array_spec, &ext_training_spec};
    PyMethodDef *more[] = {ext_net_methods,     ext_build_methods,   ext_model_methods,
                           ext_session_methods, ext_request_methods, ext_quantize_methods,
                           ext_train_methods};
    struct ext_state *st = ext_state(module);
    for (int i = 0; i < EXT_TYPES; i++) {
        st->type[i] = PyType_FromModuleAndSpec(module, specs[i], NULL);
        if (!st->type[i]) return -1;
    }
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        if (PyModule_AddFunctions(module, more[i]) < 0) return -1;
    return add_error(module) ? 0 : -1;
}

static int traverse(PyObject *module, visitproc visit, void *arg) {
    struct ext_state *st = ext_state(module);
    if (!st) return 0;
    Py_VISIT(st->error);
    for (int i = 0; i < EXT_TYPES; i++) Py_VISIT(st->type[i]);
    return 0;
}

static int clear(PyObject *module) {
    struct ext_state *st = ext_state(module);
    if (!st) return 0;
    Py_CLEAR(st->error);
    for (int i = 0; i < EXT_TYPES; i++) Py_CLEAR(st->type[i]);
    return 0;
}

static void free_module(void *module) {
    clear(module);
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, (void *)(uintptr_t)exec}, {0, NULL}};
static struct PyModuleDef def = {.m_base = PyModuleDef_HEAD_INIT,
                                 .m_name = "heddle._heddle",
                                 .m_doc = "The C half of package heddle.",
                                 .m_size = sizeof(struct ext_state),
                                 .m_methods = methods,
                                 .m_slots = slots,
                                 .m_traverse = traverse,
                                 .m_clear = clear,
                                 .m_free = free_module};

PyMODINIT_FUNC PyInit__heddle(void);
PyMODINIT_FUNC PyInit__heddle(void) {
    return PyModuleDef_Init(&def);
}
