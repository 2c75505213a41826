#!/usr/bin/env python3
"""Writes src/schema/data/schemas.txt, what each version of each standard operator takes, from the onnx package.

    python tools/schemas.py            # rewrites the file
    python tools/schemas.py --check    # exit code 1 when it is not up to date

The file has two kinds of lines:

    types 3 float double int32          a set of element types; "seq:", "opt:", "optseq:", "sparse:" and "map" go in front
    op <domain> <name> <since> <flags> | attributes | inputs | outputs | type parameters

"." is the domain ai.onnx. Flags are "-" or "deprecated". An attribute is name:type, where the type is that of
AttributeProto in lower case, then "!" when it is required or "=value" when it has a default. An input or output
is name:type parameter, with "?" in front when it may be missing and "*N/" when it stands for at least N values;
"*N~/" says that those may differ in type. A type parameter is name=set.
"""

import argparse
import pathlib
import re
import sys

import onnx
from onnx.defs import OpSchema

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "src" / "schema" / "data" / "schemas.txt"
DOMAINS = {"": ".", "ai.onnx.ml": "ai.onnx.ml"}
PREFIXES = {
    "tensor": "",
    "seq(tensor": "seq:",
    "optional(tensor": "opt:",
    "optional(seq(tensor": "optseq:",
    "sparse_tensor": "sparse:",
}
NAMES = {"float": "float32", "double": "float64"}


def short_type(text):
    """'seq:float32' for 'seq(tensor(float))'; all maps, and sequences of them, are 'map'."""
    if "map(" in text:
        return "map"
    outer, element = re.fullmatch(r"([a-z_(]+)\(([a-z0-9]+)\)+", text).groups()
    return PREFIXES[outer] + NAMES.get(element, element)


def default(attribute):
    """'=value' where the schema names a default that fits in a word."""
    if not attribute.default_value.name:
        return ""
    value = onnx.helper.get_attribute_value(attribute.default_value)
    if isinstance(value, bytes):
        value = value.decode()
    if isinstance(value, float):
        value = f"{value:.9g}"
    if isinstance(value, (list, tuple)):
        value = ",".join(str(v) for v in value)
    return "" if re.search(r"[\s|]", str(value)) else f"={value}"


def attributes(schema):
    words = []
    for name in sorted(schema.attributes):
        attribute = schema.attributes[name]
        words.append(f"{name}:{attribute.type.name.lower()}{'!' if attribute.required else default(attribute)}")
    return " ".join(words)


class Writer:
    def __init__(self):
        self.sets = {}  # tuple of types -> number

    def set_of(self, types):
        return self.sets.setdefault(tuple(sorted({short_type(t) for t in types})), len(self.sets))

    def ports(self, ports, least, parameters):
        words = []
        for port in ports:
            mark = ""
            if port.option == OpSchema.FormalParameterOption.Optional:
                mark = "?"
            if port.option == OpSchema.FormalParameterOption.Variadic:
                mark = f"*{max(0, least - len(ports) + 1)}" + ("" if port.is_homogeneous else "~") + " "
            if port.type_str not in parameters:  # a type by its own name
                parameters[port.type_str.replace(" ", "")] = self.set_of([port.type_str])
            words.append(f"{mark.strip()}{'/' if mark.endswith(' ') else ''}{port.name}:{port.type_str.replace(' ', '')}")
        return " ".join(words)

    def line(self, schema):
        parameters = {c.type_param_str: self.set_of(c.allowed_type_strs) for c in schema.type_constraints}
        inputs = self.ports(schema.inputs, schema.min_input, parameters)
        outputs = self.ports(schema.outputs, schema.min_output, parameters)
        types = " ".join(f"{name}={number}" for name, number in parameters.items())
        flags = "deprecated" if schema.deprecated else "-"
        head = f"op {DOMAINS[schema.domain]} {schema.name} {schema.since_version} {flags}"
        return " | ".join([head, attributes(schema), inputs, outputs, types])


def table():
    writer = Writer()
    schemas = [s for s in onnx.defs.get_all_schemas_with_history() if s.domain in DOMAINS]
    schemas.sort(key=lambda s: (s.domain, s.name, s.since_version))
    lines = [writer.line(s) for s in schemas]
    sets = [f"types {number} {' '.join(types)}" for types, number in writer.sets.items()]
    head = f"# Written by tools/schemas.py from onnx {onnx.__version__}; the form of a line is told there."
    return "\n".join([head, *sets, *lines]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="only compare; exit code 1 when the file differs")
    arguments = parser.parse_args()
    text = table()
    if arguments.check:
        if not PAGE.exists() or PAGE.read_text() != text:
            print(f"{PAGE.relative_to(ROOT)} is not up to date: run python tools/schemas.py", file=sys.stderr)
            return 1
        return 0
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(text)
    print(f"{PAGE.relative_to(ROOT)}: {text.count(chr(10) + 'op ')} schemas, {len(text)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
