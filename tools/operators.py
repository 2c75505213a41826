#!/usr/bin/env python3
"""Writes the table of operators in docs/OPERATORS.md from the sources of src/ops.

    python tools/operators.py            # rewrites the table in docs/OPERATORS.md
    python tools/operators.py --check    # exit code 1 when it is not up to date

Every family file ends in `OpDefs <stem>_ops()`. Inside that function an operator is one of
  - a literal: `{.name = "Flatten", .since = 9, ...}` (since is 1 where it is left out);
  - a call of a factory of the same file, `floats<Elu>("Elu", 6)`, whose version is the number given, else
    what the factory's signature or body says, else 1;
  - a copy of the operator before it: `later.since = 11;`.
Anything else is an error: a file in which no operator is found stops the script.
"""

import argparse
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
OPS = ROOT / "src" / "ops"
PAGE = ROOT / "docs" / "OPERATORS.md"
BEGIN, END = "<!-- operators -->", "<!-- end of operators -->"
NO_FAMILY = {"registry", "infer_context", "eval_context"}
INTERNAL = {"trivet"}  # made by the cpu provider's own rewrites; no model file holds them

TOKEN = re.compile(
    r'\.name = "(?P<name>\w+)"'
    r'|(?:\w+\.|\.)since = (?P<since>\d+)'
    r'|\.domain = (?P<domain>"[\w.]+"|k\w+)'
    r'|(?P<copy>OpDef later = op)'
    r'|\((?:ops, )?"(?P<called>[A-Z]\w+)"(?:, (?P<version>\d+))?'
)
FACTORY = re.compile(r"^(?:OpDef|void) (\w+)\((?:OpDefs& ops, )?std::string_view name(.*?)\) \{(.*?)^\}", re.M | re.S)


def constants(text):
    """The string constants of a file and of support/fused.h."""
    text += (OPS / "support" / "fused.h").read_text()
    return dict(re.findall(r'std::string_view (k\w+) = "([\w.]+)"', text))


def factories(text):
    """name -> (version when none is given, domain, whether a definition for opset 1 goes before it)."""
    found = {}
    for name, signature, body in FACTORY.findall(text):
        since = re.search(r"int \w*since = (\d+)", signature) or re.search(r"\.since = (\d+)", body)
        domain = re.search(r'\.domain = ("[\w.]+"|k\w+)', body)
        two = body.count(".name = name") == 2
        found[name] = (int(since[1]) if since else 1, domain[1] if domain else '""', two)
    return found


def operators(path):
    """(domain, name, since) of one file, in its order."""
    text = path.read_text()
    body = text[text.index(f"OpDefs {path.stem}_ops()"):]
    known, names = factories(text), constants(text)
    found = []
    for match in TOKEN.finditer(body):
        if match["name"]:
            found.append(['""', match["name"], 1])
        elif match["called"]:
            # The factory is the nearest one in front; between them stand template arguments only.
            ahead = [(body.rfind(f"{h}<", 0, match.start()), h) for h in known]
            ahead += [(body.rfind(f"{h}(", 0, match.start() + 1), h) for h in known]
            at, factory = max(ahead, default=(-1, ""))
            if at < 0:
                sys.exit(f"operators: {path}: no factory found for \"{match['called']}\"")
            since, domain, two = known[factory]
            if two:
                found.append([domain, match["called"], 1])
            found.append([domain, match["called"], int(match["version"] or since)])
        elif match["copy"]:
            found.append(list(found[-1]))
        elif match["since"]:
            found[-1][2] = int(match["since"])
        elif match["domain"]:
            found[-1][0] = match["domain"]
    if not found:
        sys.exit(f"operators: {path}: no operator found")
    return [(names.get(d, d.strip('"')), n, s) for d, n, s in found]


def table():
    versions = collections.defaultdict(lambda: collections.defaultdict(set))
    for path in sorted(OPS.glob("*.cc")):
        if path.stem in NO_FAMILY or path.stem.endswith(("_test", "_fuzz")):
            continue
        for domain, name, since in operators(path):
            if domain not in INTERNAL:
                versions[domain][name].add(since)
    lines = []
    for domain in sorted(versions):
        ops = versions[domain]
        lines += [f"### {domain or 'ai.onnx'}: {len(ops)} operator{'s' if len(ops) > 1 else ''}", ""]
        by_letter = collections.defaultdict(list)
        for name in sorted(ops, key=str.lower):
            since = ", ".join(str(s) for s in sorted(ops[name]))
            by_letter[name[0].upper()].append(name if since == "1" else f"{name} ({since})")
        lines += ["| | operators |", "|---|---|"]
        lines += [f"| {letter} | {', '.join(entries)} |" for letter, entries in sorted(by_letter.items())]
        lines.append("")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; exit code 1 when the table is old")
    check = parser.parse_args().check
    page = PAGE.read_text()
    before, rest = page.split(BEGIN)
    new = f"{before}{BEGIN}\n{table()}{END}{rest.split(END)[1]}"
    if new == page:
        return 0
    if check:
        print("operators: docs/OPERATORS.md is not up to date: run python tools/operators.py", file=sys.stderr)
        return 1
    PAGE.write_text(new)
    return 0


if __name__ == "__main__":
    sys.exit(main())
