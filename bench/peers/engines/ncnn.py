"""ncnn: pnnx converts from ONNX. A tensor of ncnn has no batch axis; a run takes one input of each."""

import subprocess

import ncnn
import numpy as np
import onnx

from engines.errors import CannotConvert, last_words, program_of


def convert(model, folder):
    shapes = {}
    for value in onnx.load(model, load_external_data=False).graph.input:
        shapes[value.name] = [d.dim_value for d in value.type.tensor_type.shape.dim]
    if any(shape and shape[0] != 1 for shape in shapes.values()):
        raise CannotConvert("a tensor of ncnn has no batch axis")
    text = ",".join(f"[{','.join(map(str, shape))}]f32" for shape in shapes.values())
    copy = folder / "model.onnx"  # pnnx writes beside its input
    copy.unlink(missing_ok=True)
    copy.symlink_to(model)
    command = [program_of("pnnx", "pnnx"), copy.name, f"inputshape={text}", "fp16=0"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    result = folder / "model.ncnn.param"
    if done.returncode or not result.is_file():
        raise CannotConvert(f"pnnx: {last_words(done)}")
    return result


def quantise(model, folder, calibration):
    raise CannotConvert("the ncnn package on PyPI has no quantiser (ncnn2table and ncnn2int8 are apart)")


def left_over(file):
    """Operators that pnnx could not turn into a layer keep their name in PyTorch, which holds a dot."""
    kinds = {line.split()[0] for line in file.read_text().splitlines()[2:]}
    return sorted(kind for kind in kinds if "." in kind)


def load(file, threads, inputs, outputs):
    net = ncnn.Net()
    net.opt.num_threads = threads
    net.opt.use_vulkan_compute = False
    net.opt.use_fp16_packed = net.opt.use_fp16_storage = net.opt.use_fp16_arithmetic = False
    net.opt.use_bf16_storage = False
    if net.load_param(str(file)) or net.load_model(str(file.with_suffix(".bin"))):
        raise CannotConvert(f"pnnx left operators that ncnn lacks: {', '.join(left_over(file))}")
    arrays = [np.ascontiguousarray(array[0]) for array in inputs.values()]

    def run():
        with net.create_extractor() as extractor:
            for index, array in enumerate(arrays):
                extractor.input(f"in{index}", ncnn.Mat(array))
            results = []
            for index, name in enumerate(outputs):
                code, value = extractor.extract(f"out{index}")
                if code:
                    raise RuntimeError(f"ncnn cannot compute '{name}': extract() gives {code}")
                results.append(np.array(value)[np.newaxis])
            return results

    return run
