"""Arrays in and out, with numpy or without."""
from heddle import _heddle

try:
    import numpy
except ImportError:
    numpy = None


def empty(dtype, shape):
    """Memory for a result, as the library takes it."""
    return _heddle.array(dtype, shape)


def shown(array):
    """The same memory as users get it: a numpy array, else a memoryview."""
    if numpy is None:
        return memoryview(array)
    return numpy.asarray(array)


NUMPY = {"f32": "float32", "f64": "float64", "f16": "float16", "bool": "bool", "i8": "int8",
         "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8", "u16": "uint16",
         "u32": "uint32", "u64": "uint64"}


def buffer(value, dtype=None):
    """Value itself where it is a dense buffer; numbers and lists become an array of dtype."""
    try:
        if memoryview(value).c_contiguous:
            return value
    except TypeError:
        pass
    if numpy is None:
        return dense(value, dtype)
    if hasattr(value, "dtype"):
        return numpy.array(value, order="C")
    return numpy.array(value, dtype=NUMPY.get(dtype or "f32"), order="C")


def dense(value, dtype):
    """Numbers, or nested lists of them, as an array of the package."""
    shape, row = [], value
    while isinstance(row, (list, tuple)):
        shape.append(len(row))
        row = row[0] if row else 0
    array = empty(dtype or "f32", shape)
    view = memoryview(array)

    def fill(part, at):
        if isinstance(part, (list, tuple)):
            for i, x in enumerate(part):
                fill(x, at + (i,))
        elif at:
            view[at] = part
        else:
            view[()] = part
    fill(value, ())
    return array


def dtype_of(value):
    """Heddle's name of the type of a buffer's elements."""
    return _heddle.view_type(value)
