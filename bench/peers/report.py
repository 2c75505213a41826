"""The results as Markdown tables and as JSON."""

import itertools
import json
import os
import pathlib

import sampling
from agreement import PRECISIONS
from engines import PEERS

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "BENCHMARKS.md"
BEGIN, END = "<!-- peers:begin -->", "<!-- peers:end -->"
QUIET = 0.05  # share of the processor time that others may use before a line is marked
TITLES = {"trivet": "Trivet"} | {name: peer.title for name, peer in PEERS.items()}
CHAOTIC, BUSY = "†", "‡"


def table(header, rows):
    lines = [header, ["---"] + ["--:"] * (len(header) - 1), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def number(value):
    """Three significant digits, no exponent."""
    return f"{value:.0f}" if value >= 99.95 else f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"


def timed(result, name):
    """What was measured of an engine, or nothing."""
    facts = result["engines"].get(name, {})
    return facts if facts.get("status") == "timed" else None


def shows_difference(result):
    return PRECISIONS[result["precision"]].least_cosine is not None


def percent(difference):
    return "–" if difference is None else f"{number(100 * difference)} %"


def time_cell(result, name):
    facts = timed(result, name)
    if facts:
        time = f"{number(facts['p50_ms'])} ({number(facts['min_ms'])})"
        return f"{time}, {percent(facts['difference'])}" if shows_difference(result) else time
    return "wrong" if result["engines"][name]["reason"].startswith("wrong") else "–"


def ratio_cell(result, name):
    facts = timed(result, name)
    if not facts or "ratio" not in facts:
        return "–"
    ratio, low, high = facts["ratio"]
    return f"{ratio:.2f} [{low:.2f}, {high:.2f}]"


def mean_row(results, names):
    """Geometric means of the ratios, over the models that the engine has one for."""
    row = ["geometric mean"]
    for name in names:
        ratios = [r["engines"][name]["ratio"][0] for r in results if "ratio" in (timed(r, name) or {})]
        row.append(f"{sampling.geometric_mean(ratios):.2f} (of {len(ratios)})" if ratios else "–")
    return row


def label(result):
    marks = "" if result["comparable"] else CHAOTIC
    return result["model"] + marks + (BUSY if result["foreign_cpu"] > QUIET else "")


def thread_text(count):
    return f"{count} thread" + ("s" if count != 1 else "")


def latency_tables(results, names):
    """Times and ratios of one thread count, a line per model."""
    peers = [name for name in names if name != "trivet"]
    what = ", largest difference from the outputs of float32 in % of their largest magnitude"
    out = f"Milliseconds, p50 (minimum){what if shows_difference(results[0]) else ''}:\n\n"
    out += table(
        ["model", *(TITLES[name] for name in names)],
        [[label(r), *(time_cell(r, name) for name in names)] for r in results],
    )
    if "trivet" not in names or not peers:
        return out
    rows = [[label(r), *(ratio_cell(r, name) for name in peers)] for r in results]
    rows += [mean_row(results, peers)] if len(results) > 1 else []
    out += "\nTime of the peer divided by Trivet's, with a 95 % interval. Above 1, Trivet is faster:\n\n"
    return out + table(["model", *(TITLES[name] for name in peers)], rows)


def curve_table(results, names):
    """Milliseconds per item over the batch size, of one model and thread count."""
    rows = []
    for result in results:
        mark = BUSY if result["foreign_cpu"] > QUIET else ""
        cells = [timed(result, name) for name in names]
        per_item = [number(c["p50_ms"] / result["batch"]) if c else "–" for c in cells]
        rows.append([f"{result['batch']}{mark}", *per_item])
    return table(["batch", *(TITLES[name] for name in names)], rows)


def reasons(results):
    """What was not measured, by precision: a line per engine and reason, with the models it is about."""
    out = ""
    for precision, group in PRECISIONS.items():
        lines = reason_lines([r for r in results if r["precision"] == precision])
        out += f"\nNot measured in {group.title}:\n\n{lines}" if lines else ""
    return out


def reason_lines(results):
    about = {}
    for result in results:
        for name, facts in result["engines"].items():
            if facts["status"] != "timed":
                where = about.setdefault((TITLES[name], facts["reason"]), {})
                case = result["model"] + (f" at batch {result['batch']}" if result["batch"] != 1 else "")
                where[case] = None
    return "".join(f"- {name}, {', '.join(where)}: {why}\n" for (name, why), where in sorted(about.items()))


def machine_text(document):
    machine = document["machine"]
    virtual = ", a virtual machine" if machine["virtual"] else ""
    family = "/".join(machine["family_model_stepping"])
    return (
        f"{document['date']} on {machine['processor']} (family/model/stepping {family}), "
        f"{machine['processors']} processors{virtual}, {' '.join(machine['isa'])}; "
        f"{machine['memory_gib']:g} GiB; {machine['system']}, Linux {machine['kernel']}.\n"
        f"Versions: {'; '.join(document['versions'].values())}.\n"
    )


def chaos_note(results, settings):
    """What the mark of chaotic cases means, by what each precision calls so."""
    chaotic = {}
    for precision in dict.fromkeys(r["precision"] for r in results if not r["comparable"]):
        facts = settings["precisions"][precision]
        limits = f"{facts['perturbation']:g}", f"{facts['chaotic']:.2g}"
        chaotic.setdefault(limits, []).append(facts["title"])
    return "".join(
        f"{CHAOTIC} The outputs cannot be compared ({'; '.join(titles)}): a relative change of the inputs by "
        f"{change} moves those of the reference itself by more than {limit}.\n"
        for (change, limit), titles in chaotic.items()
    )


def notes(results, settings):
    out = chaos_note(results, settings)
    worst = max(r["foreign_cpu"] for r in results)
    if worst > QUIET:
        out += (
            f"{BUSY} The machine was not quiet: others used more than {100 * QUIET:g} % of its processor "
            f"time meanwhile (at most {100 * worst:.0f} %).\n"
        )
    return out


def markdown(document):
    """The whole block that stands between the markers."""
    results, names = document["results"], list(document["versions"])
    first = {}
    for result in results:
        first.setdefault(result["model"], result["batch"])
    out = machine_text(document)
    for precision, threads in itertools.product(PRECISIONS, sorted({r["threads"] for r in results})):
        chosen = [r for r in with_setting(results, precision, threads) if r["batch"] == first[r["model"]]]
        if chosen:
            title, trivet = PRECISIONS[precision].title, PRECISIONS[precision].trivet
            beside = f", beside Trivet's {trivet}" if trivet else ""
            taking_part = [name for name in names if name in chosen[0]["engines"]]
            out += f"\n### {title}, {thread_text(threads)}{beside}\n\n"
            out += latency_tables(chosen, taking_part)
    if text := notes(results, document["settings"]):
        out += "\n" + text
    return out + reasons(results) + curves(results, names)


def with_setting(results, precision, threads):
    return [r for r in results if r["precision"] == precision and r["threads"] == threads]


def curves(results, names):
    out = ""
    for model in dict.fromkeys(r["model"] for r in results):
        for threads in sorted({r["threads"] for r in results}):
            line = [r for r in with_setting(results, "float32", threads) if r["model"] == model]
            if len(line) > 1:
                title = f"\n### {model} over the batch size, {thread_text(threads)}\n\n"
                out += title + "Milliseconds per item, p50:\n\n" + curve_table(line, names)
    return out


def replace_file(path, text):
    """Writes beside the file, then renames: a reader sees the old text or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(path.name + ".part")
    draft.write_text(text)
    os.replace(draft, path)


def json_text(document):
    return json.dumps(document, indent=1, allow_nan=False) + "\n"


def write(document, out):
    """OUT.json and OUT.md."""
    replace_file(out.with_name(out.name + ".json"), json_text(document))
    replace_file(out.with_name(out.name + ".md"), markdown(document))


def with_block(text, block):
    """The text with everything between the markers replaced."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the text has no {BEGIN} with {END} behind it")
    return f"{before}{BEGIN}\n{block}{END}{after}"


def has_place(page):
    """Whether the page is there and has the markers."""
    return page.is_file() and BEGIN in page.read_text() and END in page.read_text().partition(BEGIN)[2]


def publish(document, page=PAGE):
    """The tables in the page, and all of the document beside it: benchmarks.json for BENCHMARKS.md."""
    page_text = with_block(page.read_text(), markdown(document))
    replace_file(page.with_name(page.stem.lower() + ".json"), json_text(document))
    replace_file(page, page_text)
