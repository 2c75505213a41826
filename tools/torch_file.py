"""Reads a PyTorch state dictionary without PyTorch.

Two layouts exist: since 1.6 a zip archive with data.pkl and one file per storage; before that a row
of pickles followed by the raw storages. The unpickler resolves only the few names a state dictionary
needs, so a hostile file can build no other object and call no other function.
"""

import collections
import pickle
import struct
import zipfile

import numpy as np

LEGACY_MAGIC = 0x1950A86A20F9469CFC6C
STORAGE_DTYPES = {
    "DoubleStorage": "<f8",
    "FloatStorage": "<f4",
    "HalfStorage": "<f2",
    "LongStorage": "<i8",
    "IntStorage": "<i4",
    "ShortStorage": "<i2",
    "CharStorage": "i1",
    "ByteStorage": "u1",
    "BoolStorage": "?",
}


class BadFile(Exception):
    """The file is damaged, or holds something else than tensors."""


class _Deferred:
    """A tensor whose storage has not been read yet: all sizes and strides count elements."""

    def __init__(self, storage, offset, size, stride):
        self.storage, self.offset, self.size, self.stride = storage, offset, size, stride

    def resolve(self, storages):
        """The tensor as a contiguous array, cut out of `storages` (key -> flat array)."""
        flat = storages[self.storage]
        last = self.offset + sum((n - 1) * s for n, s in zip(self.size, self.stride))
        if min((self.offset, *self.size, *self.stride), default=0) < 0 or last >= flat.size:
            raise ValueError(
                f"a tensor of shape {self.size} reaches outside its storage of {flat.size} elements"
            )
        strides = [s * flat.itemsize for s in self.stride]
        view = np.lib.stride_tricks.as_strided(flat[self.offset :], self.size, strides)
        return np.ascontiguousarray(view)


def _rebuild_tensor(storage, offset, size, stride, *_):
    return _Deferred(storage, offset, size, stride)


def _rebuild_parameter(tensor, *_):
    return tensor


class _Unpickler(pickle.Unpickler):
    """Knows OrderedDict, the storage types and the two functions that rebuild tensors."""

    def __init__(self, file):
        super().__init__(file)
        self.dtypes = {}

    def find_class(self, module, name):
        if (module, name) == ("collections", "OrderedDict"):
            return collections.OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _rebuild_tensor
        if (module, name) == ("torch._utils", "_rebuild_parameter"):
            return _rebuild_parameter
        if module == "torch" and name in STORAGE_DTYPES:
            return np.dtype(STORAGE_DTYPES[name])
        raise pickle.UnpicklingError(f"{module}.{name} has no place in a file of weights")

    def persistent_load(self, pid):
        _, dtype, key, *_ = pid
        self.dtypes[key] = dtype
        return key


def load_state_dict(path):
    """Reads a .pth file of weights: an ordered dictionary, name -> array.

    Raises BadFile when it holds anything but tensors, OSError when it cannot be opened.
    """
    try:
        with open(path, "rb") as file:
            if zipfile.is_zipfile(file):
                tensors, storages = _read_zip(file)
            else:
                file.seek(0)
                tensors, storages = _read_legacy(file)
        if not all(isinstance(tensor, _Deferred) for tensor in tensors.values()):
            raise ValueError("it holds more than tensors; save the state_dict of the model instead")
        return {name: tensor.resolve(storages) for name, tensor in tensors.items()}
    except (
        pickle.UnpicklingError,
        zipfile.BadZipFile,
        struct.error,
        ValueError,
        KeyError,
        EOFError,
        AttributeError,
        TypeError,
    ) as error:
        raise BadFile(f"{path}: cannot read the weights: {error}") from error


def _read_zip(file):
    with zipfile.ZipFile(file) as archive:
        pickled = next((n for n in archive.namelist() if n.endswith("/data.pkl")), None)
        if pickled is None:
            raise ValueError("the archive has no data.pkl: this is no PyTorch file")
        folder = pickled[: -len("data.pkl")] + "data/"
        with archive.open(pickled) as stream:
            unpickler = _Unpickler(stream)
            tensors = unpickler.load()
        storages = {
            key: np.frombuffer(archive.read(folder + key), dtype) for key, dtype in unpickler.dtypes.items()
        }
    return tensors, storages


def _read_legacy(file):
    """Magic number, protocol version and system facts, the objects, the storage keys, then for
    each key an int64 count of elements and the elements."""
    if _Unpickler(file).load() != LEGACY_MAGIC:
        raise ValueError("this is no PyTorch file")
    _Unpickler(file).load()
    _Unpickler(file).load()
    unpickler = _Unpickler(file)
    tensors = unpickler.load()
    storages = {}
    for key in _Unpickler(file).load():
        dtype = unpickler.dtypes[key]
        (count,) = struct.unpack("<q", file.read(8))
        storages[key] = np.frombuffer(file.read(count * dtype.itemsize), dtype)
        if storages[key].size != count:
            raise ValueError("the file ends within its weights: it is truncated")
    return tensors, storages
