"""Tests of the Python side itself: no network, no C++ build, under a second."""

import ast
import dataclasses
import json
import math
import pathlib
import pickle
import subprocess
import sys
import tempfile
import unittest
import zipfile
from unittest import mock

import numpy as np
import onnx
from onnx import helper

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "bench" / "peers")]
import agreement  # noqa: E402
import build_efficientnet_lite0  # noqa: E402
import cases  # noqa: E402
import children  # noqa: E402
import conversions  # noqa: E402
import engines  # noqa: E402
import entrants  # noqa: E402
import fetch  # noqa: E402
import machine  # noqa: E402
import mutators  # noqa: E402
import quantisation  # noqa: E402
import report  # noqa: E402
import sampling  # noqa: E402
import torch_file  # noqa: E402
from difference import difference  # noqa: E402


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
        self.assertAlmostEqual(difference(np.float64([1, 99]), np.float64([0, 100])), 0.01)
        self.assertEqual(difference(np.zeros(3, np.float32), np.zeros(3, np.float32)), 0)
        self.assertEqual(difference(np.zeros((0, 2), np.float32), np.zeros((0, 2), np.float32)), 0)

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
            self.assertEqual(difference(ours, theirs), np.inf)
        self.assertEqual(difference(nan, nan), 0)
        self.assertEqual(difference(-inf, -inf), 0)


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


class Sampling(unittest.TestCase):
    def test_each_round_holds_every_engine_in_changing_order(self):
        rounds = sampling.schedule(["a", "b", "c"], 40, 7)
        self.assertTrue(all(sorted(order) == ["a", "b", "c"] for order in rounds))
        self.assertEqual(len(set(map(tuple, rounds))), 6)
        self.assertEqual(rounds, sampling.schedule(["a", "b", "c"], 40, 7))

    def test_a_turn_has_its_length_or_the_least_number_of_runs(self):
        self.assertEqual(sampling.runs_in_turn(10, 0.5), 48)
        self.assertEqual(sampling.runs_in_turn(125, 1), 7)
        self.assertEqual(sampling.runs_in_turn(400, 0.5), sampling.MIN_RUNS)

    def test_what_slows_a_whole_round_leaves_the_ratio_alone(self):
        own = [[10.0 * slow] * 4 for slow in (1, 1, 3, 1, 2)]
        peer = [[1.5 * ms for ms in turn] for turn in own]
        np.testing.assert_allclose(sampling.ratio_interval(peer, own), 1.5)

    def test_the_interval_covers_the_truth_as_often_as_it_says(self):
        self.enterContext(mock.patch.object(sampling, "RESAMPLES", 200))
        rng, covered = np.random.default_rng(1), 0
        for seed in range(40):
            own, peer = [[rng.normal(mean, 0.5, 9) for _ in range(20)] for mean in (10, 12)]
            ratio, low, high = sampling.ratio_interval(peer, own, seed)
            self.assertTrue(low <= ratio <= high)
            covered += low <= 1.2 <= high
        self.assertGreaterEqual(covered, 34)

    def test_geometric_mean(self):
        self.assertAlmostEqual(sampling.geometric_mean([0.5, 2, 8]), 2)


class PeerReport(unittest.TestCase):
    def setUp(self):
        def timed(ms, **facts):
            return {"status": "timed", "p50_ms": ms, "min_ms": ms - 1, **facts}

        def result(model, batch, engines, **facts):
            base = {"threads": 1, "precision": "float32", "comparable": True, "foreign_cpu": 0.01}
            return base | {"model": model, "batch": batch, "engines": engines} | facts

        failed = {"status": "failed", "reason": "cannot convert: no such layer"}
        peer = timed(5.0, ratio=[0.5, 0.4, 0.6])
        self.document = {
            "date": "2026-01-02 03:04 UTC",
            "machine": machine.describe(),
            "versions": {"trivet": "trivet 9", "onnxruntime": "onnxruntime 8", "ncnn": "ncnn 7"},
            "settings": {
                "precisions": {k: dataclasses.asdict(v) for k, v in agreement.PRECISIONS.items()},
            },
            "results": [
                result("a", 1, {"trivet": timed(10.0), "onnxruntime": peer, "ncnn": failed}),
                result("a", 4, {"trivet": timed(100.0), "onnxruntime": peer, "ncnn": failed}),
                result(
                    "b",
                    1,
                    {"trivet": timed(2.5), "onnxruntime": timed(5, ratio=[2, 1.9, 2.1]), "ncnn": failed},
                    comparable=False,
                    foreign_cpu=0.25,
                ),
            ],
        }

    def test_every_number_mark_and_reason_is_there(self):
        text = report.markdown(self.document)
        for line in (
            "| model | Trivet | ONNX Runtime | ncnn |",
            "| a | 10.0 (9.00) | 5.00 (4.00) | – |",
            "| b†‡ | 2.50 (1.50) | 5.00 (4.00) | – |",
            "| a | 0.50 [0.40, 0.60] | – |",
            "| geometric mean | 1.00 (of 2) | – |",
            "| 4 | 25.0 | 1.25 | – |",
            "- ncnn, a, a at batch 4, b: cannot convert: no such layer",
            "Versions: trivet 9; onnxruntime 8; ncnn 7.",
        ):
            self.assertIn(line + "\n", text)
        self.assertIn("(at most 25 %)", text)

    def test_a_precision_has_tables_of_its_own(self):
        other = dict(self.document["results"][0], precision="bfloat16")
        other["engines"] = {name: other["engines"][name] for name in ("trivet", "onnxruntime")}
        self.document["results"].append(other)
        text = report.markdown(self.document)
        self.assertEqual(text.count("### float32, 1 thread\n"), 1)
        table = text.partition("### bfloat16, 1 thread, beside Trivet's float32\n")[2]
        self.assertIn("| model | Trivet | ONNX Runtime |\n", table)
        self.assertIn("| 4 | 25.0 | 1.25 | – |\n", text)  # the curve is of float32

    def test_int8_shows_what_quantising_costs(self):
        facts = {"precision": "int8", "comparable": True}
        result = self.document["results"][0] | facts
        result["engines"] = {
            "trivet": {"status": "timed", "p50_ms": 4, "min_ms": 3, "difference": 1e-7},
            "ncnn": {"status": "timed", "p50_ms": 2, "min_ms": 1, "difference": 0.0312, "ratio": [0.5] * 3},
        }
        self.document["results"].append(result)
        title = "### int8, each engine's own quantisation, 1 thread, beside Trivet's float32\n"
        table = report.markdown(self.document).partition(title)[2]
        self.assertIn("largest difference from the outputs of float32", table)
        self.assertIn("| a | 4.00 (3.00), 0.00 % | 2.00 (1.00), 3.12 % |\n", table)
        self.assertIn("| a | 0.50 [0.50, 0.50] |\n", table)

    def test_reasons_and_chaos_are_told_by_precision(self):
        failed = {"status": "failed", "reason": "cannot convert: no DequantizeLinear"}
        facts = {"precision": "qdq", "comparable": False, "engines": {"ncnn": failed}}
        self.document["results"].append(self.document["results"][0] | facts)
        text = report.markdown(self.document)
        reasons = text.partition("Not measured in int8, the same QDQ file:\n\n")[2]
        self.assertTrue(reasons.startswith("- ncnn, a: cannot convert: no DequantizeLinear\n"))
        self.assertIn("Not measured in float32:\n\n- ncnn, a, a at batch 4, b: cannot", text)
        self.assertIn("(float32): a relative change of the inputs by 1e-06 moves", text)
        self.assertIn("(int8, the same QDQ file): a relative change of the inputs by 0.0001 moves", text)

    def test_a_quiet_machine_and_agreeing_outputs_need_no_note(self):
        self.document["results"].pop()
        text = report.markdown(self.document)
        self.assertFalse(set(text) & set(report.CHAOTIC + report.BUSY))

    def test_publishing_twice_leaves_one_block(self):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder, "BENCHMARKS.md")
            page.write_text(f"above\n{report.BEGIN}\nold\n{report.END}\nbelow\n")
            for _ in range(2):
                report.publish(self.document, page)
            block = f"{report.BEGIN}\n{report.markdown(self.document)}{report.END}"
            self.assertEqual(page.read_text(), f"above\n{block}\nbelow\n")
            saved = json.loads(pathlib.Path(folder, "benchmarks.json").read_text())
            self.assertEqual(saved, self.document)

    def test_a_page_without_markers_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder, "page.md")
            self.assertFalse(report.has_place(page))
            for text, place in ((report.BEGIN, False), (report.BEGIN + report.END, True)):
                page.write_text(text)
                self.assertEqual(report.has_place(page), place)
        with self.assertRaisesRegex(ValueError, "peers:begin"):
            report.with_block(f"{report.END} {report.BEGIN}", "text")


class Agreement(unittest.TestCase):
    def test_what_float_computes_has_a_fixed_tolerance(self):
        for name, right, wrong in (("float32", 9e-4, 2e-3), ("bfloat16", 0.09, 0.2)):
            precision = agreement.PRECISIONS[name]
            self.assertIsNone(precision.objection(right, 1, 1e-6))
            self.assertRegex(precision.objection(wrong, 1, 1e-6), "^wrong: the outputs differ by 0.*2 of")
            self.assertRegex(precision.objection(math.nan, 1, 1e-6), "^wrong")
            self.assertTrue(precision.comparable(1e-3))
            self.assertFalse(precision.comparable(2e-3))

    def test_the_qdq_file_may_differ_by_what_rounding_does_to_it(self):
        precision = agreement.PRECISIONS["qdq"]
        measured = ((0, 0.019, True), (0, 0.021, False), (0.1, 0.29, True), (0.1, 0.31, False))
        for sensitivity, gap, right in measured:
            self.assertEqual(precision.objection(gap, 1, sensitivity) is None, right)
        self.assertTrue(precision.comparable(0.33))
        self.assertFalse(precision.comparable(0.34))  # three times as much would be unrelated

    def test_own_quantisation_is_wrong_where_the_cosine_is_low(self):
        precision = agreement.PRECISIONS["int8"]
        self.assertIsNone(precision.objection(5.0, 0.71, 1e-6))
        for cosine, words in ((0.69, "0.69"), (-1, "-1.00"), (math.nan, "nan")):
            self.assertIn(f"cosine of {words}", precision.objection(0.0, cosine, 1e-6))

    def test_cosine(self):
        rng = np.random.default_rng(3)
        a, b = rng.standard_normal((2, 10, 100))
        self.assertAlmostEqual(agreement.cosine(3 * a - 2 * a.mean(), a), 1)
        self.assertAlmostEqual(agreement.cosine(2 * a.mean() - a, a), -1)
        self.assertLess(abs(agreement.cosine(b, a)), 0.12)
        self.assertLess(abs(agreement.cosine(b + 100, a + 100)), 0.12)  # the offset is no likeness
        self.assertLess(agreement.cosine(a + 100, a), 0.1)
        self.assertEqual(agreement.cosine(np.float32([-2]), np.float32([3])), -1)
        self.assertEqual(agreement.cosine(np.ones(3), np.ones(3)), 1)
        self.assertEqual(agreement.cosine(np.arange(3), np.ones(3)), 0)
        for ours in (a.T, a * np.nan):
            self.assertTrue(math.isnan(agreement.cosine(ours, a)))

    def test_the_worst_output_counts(self):
        with tempfile.TemporaryDirectory() as folder:
            ours, theirs, fewer, broken = (f"{folder}/{name}.npz" for name in "abcd")
            one, two = np.arange(4.0), np.float64([1, -2, 1, 0])
            np.savez(ours, one, -two)
            np.savez(theirs, one, two)
            np.savez(fewer, one)
            np.savez(broken, one, two * np.nan)
            np.testing.assert_allclose(agreement.compare(ours, theirs), (2, -1))
            self.assertEqual(agreement.compare(fewer, theirs)[0], np.inf)
            for file in (fewer, broken):
                self.assertTrue(math.isnan(agreement.compare(file, theirs)[1]))


class Conversions(unittest.TestCase):
    # Writes what it was called with to its copy of the model, and "no layer" as an error if asked to.
    WORKER = """import json, pathlib, sys
verb, engine, model, folder, *rest = sys.argv[1:]
pathlib.Path(model).write_text("spoiled")
with open(folder + "/calls", "a") as calls: calls.write(f"{verb} {engine} {rest} ")
print(json.dumps({"error": "no layer"} if engine == "poor" else {"file": "calls"}))
"""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.source = self.folder / "model.onnx"
        self.source.write_text("model")
        worker = self.folder / "worker.py"
        worker.write_text(self.WORKER)
        self.enterContext(mock.patch.object(conversions, "WORKER", worker))

    def test_it_is_made_once_of_a_copy(self):
        for _ in range(2):
            made = conversions.made_once(self.folder / "x", "quantise", "rich", self.source, "inputs.json")
            self.assertEqual(made.read_text(), "quantise rich ['inputs.json'] ")
        self.assertEqual(self.source.read_text(), "model")
        self.assertFalse((self.folder / "x" / "source.onnx").exists())

    def test_the_reason_is_kept(self):
        for _ in range(2):
            with self.assertRaisesRegex(children.EngineFailed, "^cannot convert: no layer$"):
                conversions.made_once(self.folder / "y", "convert", "poor", self.source)
        self.assertEqual((self.folder / "y" / "calls").read_text(), "convert poor [] ")


class Quantisation(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        value = helper.make_tensor_value_info
        ends = [value("x", 1, [2, 3])], [value("y", 1, [2, 3])]
        graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", *ends)
        self.case = cases.Case("m", 2, self.folder, {"x": [2, 3]})
        onnx.save(helper.make_model(graph), self.case.file)
        self.own = np.float32([[1, 2, 3], [4, 5, 6]])
        cases.write_case(self.folder, "reference", {"x": self.own}, ["y"])

    def test_calibration_starts_with_the_input_that_is_measured(self):
        files = json.loads(quantisation.calibration(self.case, 7).read_text())
        arrays = [np.load(self.folder / sample["x"]) for sample in files]
        self.assertEqual(len(arrays), quantisation.INPUTS)
        np.testing.assert_array_equal(arrays[0], self.own)
        self.assertTrue(all(a.shape == (2, 3) and a.dtype == np.float32 for a in arrays))
        self.assertEqual(len({a.tobytes() for a in arrays}), quantisation.INPUTS)

    def test_a_conversion_is_kept_by_precision_and_calibration(self):
        with (
            mock.patch.object(entrants, "version", return_value="mnn 9, pnnx 8"),
            mock.patch.object(entrants, "made_once") as made,
        ):
            for precision, saturates in (("float32", True), ("int8", True), ("int8", False)):
                with mock.patch.object(machine, "saturates", return_value=saturates):
                    entrants.converted("mnn", self.case, precision, 0)
        calls = [call.args for call in made.call_args_list]
        self.assertEqual([verb for _, verb, *_ in calls], ["convert", "quantise", "quantise"])
        names = [folder.name for folder, *_ in calls]
        self.assertEqual(names[0], "mnn-9+pnnx-8")
        self.assertRegex(names[1], "^int8-[0-9a-f]{8}-mnn-9[+]pnnx-8$")
        self.assertEqual(len(set(names)), 3)

    def test_narrow_weights_are_for_x86_without_vnni(self):
        for architecture, isa, narrow in (
            ("x86_64", ["avx2", "fma"], True),
            ("x86_64", ["avx2", "avx_vnni"], False),
            ("x86_64", ["avx512f", "avx512_vnni"], False),
            ("aarch64", ["asimd"], False),
        ):
            facts = {"architecture": architecture, "isa": isa}
            with mock.patch.object(machine, "describe", return_value=facts):
                self.assertEqual(machine.saturates(), narrow)
                self.assertEqual(quantisation.settings()["reduce_range"], narrow)

    def test_every_engine_converts_quantises_and_loads(self):
        for name in engines.PEERS:
            source = pathlib.Path(engines.__file__).with_name(f"{name}.py").read_text()
            defined = {node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}
            self.assertLessEqual({"convert", "quantise", "load"}, defined, name)

    def test_only_who_knows_bfloat16_is_in_its_table(self):
        known = [name for name in entrants.NAMES if entrants.knows(name, "bfloat16")]
        self.assertEqual(known, ["trivet", "openvino"])
        for precision in ("float32", "qdq", "int8"):
            self.assertTrue(all(entrants.knows(name, precision) for name in entrants.NAMES))


class PeerChildren(unittest.TestCase):
    ECHO = "import sys\nfor line in sys.stdin: print('{\"got\": %s}' % line.strip(), flush=True)"

    def start(self, code):
        log = self.enterContext(tempfile.NamedTemporaryFile()).name
        return self.enterContext(children.Child([sys.executable, "-c", code], log))

    def test_a_stopped_child_answers_only_after_waking(self):
        child = self.start(self.ECHO)
        self.assertEqual(child.ask("1", 10), {"got": 1})
        child.stop()
        with self.assertRaisesRegex(children.EngineFailed, "no answer"):
            child.ask("2", 0.1)
        child.wake()
        self.assertEqual(child.read_answer(10), {"got": 2})

    def test_an_end_tells_how_and_the_last_words(self):
        for code, how in (
            ("import sys; sys.exit('bad weights')", "exit code 1: bad weights"),
            ("import os; os.kill(os.getpid(), 11)", "signal 11"),
            ("print('{\"error\": \"no layer\"}')", "no layer"),
        ):
            with self.assertRaisesRegex(children.EngineFailed, how):
                self.start(code).ask("run 1", 10)

    def test_foreign_load_is_what_the_child_did_not_use(self):
        child = self.start("sum(range(10**9))")
        load = machine.ForeignLoad()
        burn = "import time; end = time.monotonic() + 0.3\nwhile time.monotonic() < end: pass"
        load.during(child, lambda: subprocess.run([sys.executable, "-c", burn], check=True))
        self.assertGreater(child.cpu_seconds(), 0.05)
        self.assertGreater(load.foreign_s, 0.1)
        self.assertLessEqual(load.share(), 1)


class PeerCases(unittest.TestCase):
    def model(self, *dims):
        value = helper.make_tensor_value_info
        nodes = [helper.make_node("Relu", ["x"], ["y"])]
        graph = helper.make_graph(nodes, "g", [value("x", 1, dims)], [value("y", 1, ["n", 3, "w"])])
        return helper.make_model(graph)

    def test_the_batch_and_the_open_sizes_are_fixed(self):
        model = self.model("n", 3, "w")
        cases.fix_shapes(model, 4)
        for value in (model.graph.input[0], model.graph.output[0]):
            sizes = [d.dim_value for d in value.type.tensor_type.shape.dim]
            self.assertEqual(sizes, [4, 3, cases.OPEN_DIMENSION])

    def test_a_fixed_batch_stays(self):
        cases.fix_shapes(self.model(1, 3, 8), 1)
        with self.assertRaisesRegex(cases.BadModel, "takes 1 at a time, not 2"):
            cases.fix_shapes(self.model(1, 3, 8), 2)

    def test_a_perturbation_moves_floats_a_little(self):
        rng = np.random.default_rng(0)
        ones = np.ones(1000, np.float32)
        moved = cases.perturbed(ones, 1e-6, rng)
        self.assertEqual(moved.dtype, np.float32)
        self.assertTrue(np.all(moved != ones) and np.allclose(moved, ones, rtol=2e-6))
        indices = np.arange(3)
        self.assertIs(cases.perturbed(indices, 1e-6, rng), indices)


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
