"""Tests of the Python side itself: no network, no C++ build, under a second."""

import pathlib
import pickle
import sys
import tempfile
import unittest
import zipfile

import numpy as np
import onnx
from onnx import helper

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import build_efficientnet_lite0  # noqa: E402
import fetch  # noqa: E402
import mutators  # noqa: E402
import parity  # noqa: E402
import torch_file  # noqa: E402


class Hostile:
    """Pickles to a call of a function that no file of weights needs."""

    def __reduce__(self):
        return print, ("called",)


class TorchFile(unittest.TestCase):
    def test_refuses_foreign_names(self):
        with tempfile.NamedTemporaryFile() as file:
            pickle.dump(Hostile(), file)
            file.flush()
            with self.assertRaisesRegex(torch_file.BadFile, "builtins.print has no place"):
                torch_file.load_state_dict(file.name)

    def test_refuses_archive_without_pickle(self):
        with tempfile.NamedTemporaryFile() as file:
            with zipfile.ZipFile(file, "w") as archive:
                archive.writestr("a/b", b"")
            with self.assertRaisesRegex(torch_file.BadFile, "no data.pkl"):
                torch_file.load_state_dict(file.name)

    def test_strided_tensor_and_its_bounds(self):
        storages = {"0": np.arange(6, dtype=np.float32)}
        transposed = torch_file._Deferred("0", 0, (3, 2), (1, 3))
        np.testing.assert_array_equal(transposed.resolve(storages), [[0, 3], [1, 4], [2, 5]])
        with self.assertRaisesRegex(ValueError, "outside its storage"):
            torch_file._Deferred("0", 1, (3, 2), (1, 3)).resolve(storages)


class Padding(unittest.TestCase):
    def test_odd_pixel_goes_to_the_end(self):
        self.assertEqual(build_efficientnet_lite0.same_padding(224, 3, 2), (0, 1))
        self.assertEqual(build_efficientnet_lite0.same_padding(56, 5, 2), (1, 2))
        self.assertEqual(build_efficientnet_lite0.same_padding(7, 5, 1), (2, 2))


class Difference(unittest.TestCase):
    def test_relative_to_the_largest_magnitude(self):
        self.assertAlmostEqual(parity.difference(np.float64([1, 99]), np.float64([0, 100])), 0.01)
        self.assertEqual(parity.difference(np.zeros(3, np.float32), np.zeros(3, np.float32)), 0)
        self.assertEqual(parity.difference(np.zeros((0, 2), np.float32), np.zeros((0, 2), np.float32)), 0)

    def test_whatever_cannot_be_compared_is_infinite(self):
        one, nan, inf = np.float32([1]), np.float32([np.nan]), np.float32([np.inf])
        for ours, theirs in (
            (nan, one),
            (one, nan),
            (inf, one),
            (-inf, inf),
            (one.astype(np.float64), one),
            (one[None], one),
            (np.int64([1]), np.int64([2])),
            (one, one * 0),
        ):
            self.assertEqual(parity.difference(ours, theirs), np.inf)
        self.assertEqual(parity.difference(nan, nan), 0)
        self.assertEqual(parity.difference(-inf, -inf), 0)


class Mutants(unittest.TestCase):
    def setUp(self):
        value = helper.make_tensor_value_info
        weight = helper.make_tensor("w", onnx.TensorProto.FLOAT, [2, 2], [1, 2, 3, 4])
        graph = helper.make_graph(
            [
                helper.make_node("Gemm", ["x", "w"], ["h"], transB=1),
                helper.make_node("Transpose", ["h"], ["y"], perm=[1, 0]),
            ],
            "g",
            [value("x", 1, [2, 2])],
            [value("y", 1, [2, 2])],
            [weight],
        )
        self.seed = mutators.Seed(helper.make_model(graph).SerializeToString())

    def test_replacing_a_field_by_itself_changes_nothing(self):
        for path in self.seed.paths:
            self.assertEqual(self.seed.replaced(path, self.seed.field(path)[0].raw), self.seed.data)

    def test_the_same_numbers_give_the_same_mutants(self):
        mutants = [[mutators.mutate([self.seed], i, 1) for i in range(200)] for _ in range(2)]
        self.assertEqual(*mutants)
        self.assertGreater(sum(data != self.seed.data for _, data in mutants[0]), 180)


class Assets(unittest.TestCase):
    def test_the_table_is_complete(self):
        for name, asset in fetch.load_table().items():
            self.assertLessEqual(
                {"source", "package", "version", "licence", "about", "files"}, asset.keys(), name
            )
            for file, (_, digest) in asset["files"].items():
                self.assertRegex(digest, "^[0-9a-f]{64}$", f"{name}: {file}")


if __name__ == "__main__":
    unittest.main()
