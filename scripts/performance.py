#!/usr/bin/env python3
"""Tables and picture of docs/performance.md from what benchmarks measured: no figure there is copied by hand.

    scripts/performance.py [NAME=FILE.json]...   takes the figures of a `benchmarks/run.sh NAME --json FILE.json`, and writes the page
    scripts/performance.py --check               fails where the page or its picture is not what docs/measured says

Figures stay in docs/measured/NAME.json, by name: a run of one model replaces those of that model. --root FOLDER: another checkout.
"""

import argparse
import json
import os
import re
import sys

import yaml

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NAMES = ("step", "attention", "mesh", "compile")
PAGE, PICTURE = os.path.join("docs", "performance.md"), os.path.join("docs", "images", "performance.svg")
MODELS = {"llama-10m": "Llama 10.7M, 8 x 256", "llama-58m": "Llama 58M, 4 x 256", "gpt2-124m": "GPT-2 124M, 4 x 256",
          "gpt2-124m-64": "GPT-2 124M, 4 x 64"}
RUNNERS = {"weft": "weft", "torch": "PyTorch eager", "torch-compiled": "PyTorch compiled", "jax": "JAX"}
COLORS = {"weft": "#0072B2", "torch": "#D55E00", "torch-compiled": "#E69F00", "jax": "#009E73"}
MESHES = {"one_device": "one device", "data4": "data 4, ZeRO-1", "tensor4": "tensor 4", "data2_tensor2": "data 2 x tensor 2, ZeRO-1",
          "pipeline4": "pipeline 4", "jax": "JAX, data 2 x tensor 2"}


def title(runner):
    name, _, precision = runner.partition("-bf16")
    return RUNNERS[name] + (", bfloat16" if runner.endswith("-bf16") else "")


def runnersOf(figures, model):
    keys = [name for runner in RUNNERS for name in (runner, runner + "-bf16")]
    return [key for key in keys if f"{model}.{key}.seconds" in figures]


def bestOf(figures, model, figure, better):
    """Over the peers; None without any."""
    values = [figures[f"{model}.{key}.{figure}"] for key in runnersOf(figures, model) if not key.startswith("weft")]
    return better(values) if values else None


def table(head, rows):
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in rows])


def stepTable(figures):
    rows = []
    for model, name in MODELS.items():
        best = bestOf(figures, model, "tokens_per_second", max)
        for key in runnersOf(figures, model):
            value = lambda figure: figures.get(f"{model}.{key}.{figure}")
            compiled = value("compile_seconds")
            rows.append((name, title(key), f"{value('seconds'):.3f}", f"{value('tokens_per_second'):,.0f}",
                         f"{value('tokens_per_second') / best:.2f}" if best else "", f"{100 * value('peak_share'):.0f} %",
                         f"{value('peak_mib'):,.0f}", "" if compiled is None else f"{compiled:.1f}"))
            name = ""
    text = table(("model, batch x length", "", "s/step", "tokens/s", "of the best peer", "of the peak", "peak MiB", "compile s"), rows)
    plans = [f"{name}: {figures[f'{model}.weft.planned_mib']:,.0f}" +
             (f" (lower bound {figures[f'{model}.weft.lower_bound_mib']:,.0f})" if f"{model}.weft.lower_bound_mib" in figures else "")
             for model, name in MODELS.items() if f"{model}.weft.planned_mib" in figures]
    peaks = [f"{name}: {figures[f'{model}.machine.fp32_gflops']:,.0f}" +
             (f", in bfloat16 {figures[f'{model}.machine.bf16_gflops']:,.0f}" if f"{model}.machine.bf16_gflops" in figures else "")
             for model, name in MODELS.items() if f"{model}.machine.fp32_gflops" in figures]
    return (f"{text}\n\nweft's memory plans, in MiB: {'; '.join(plans)}. The machine's peak in float32 products during each run, in GFLOP/s: "
            f"{'; '.join(peaks)}.")


def partsTable(figures):
    """Where the time of weft's step goes."""
    parts = ("products", "loss", "attention", "norms", "elementwise", "rest")
    rows = [(name, *(f"{100 * figures.get(f'{model}.weft.share_of_{part}', 0):.0f} %" for part in parts))
            for model, name in MODELS.items() if f"{model}.weft.share_of_products" in figures]
    return table(("model, batch x length", "products of layers", "loss head", "attention", "norms", "element-wise", "rest"), rows)


def attentionTable(figures):
    """Columns of what was not measured at any length are left out."""
    lengths = sorted(int(name.rpartition("_")[2]) for name in figures if name.startswith("weft_milliseconds_"))
    columns = {"weft ms": ("weft_milliseconds", ",.2f"), "in bfloat16": ("weft_bf16_milliseconds", ",.2f"),
               "PyTorch ms": ("torch_milliseconds", ",.2f"), "in bfloat16 ": ("torch_bf16_milliseconds", ",.2f"),
               "PyTorch / weft, the faster of each": ("ratio", ".2f"), "plan of the step, MiB": ("planned_mib", ",.0f"),
               "in bfloat16  ": ("planned_bf16_mib", ",.0f")}
    columns = {head: column for head, column in columns.items() if any(f"{column[0]}_{length}" in figures for length in lengths)}
    cell = lambda length, name, form: format(figures[f"{name}_{length}"], form) if f"{name}_{length}" in figures else ""
    return table(("tokens", *(head.strip() for head in columns)),
                 [(f"{length:,}", *(cell(length, *column) for column in columns.values())) for length in lengths])


def meshTable(figures):
    rows = [(name, f"{figures[f'{key}_tokens_per_second']:,.0f}", f"{figures[f'{key}_ratio']:.2f}" if f"{key}_ratio" in figures else "",
             f"{figures[f'{key}_peak_mib']:,.0f}") for key, name in MESHES.items() if f"{key}_tokens_per_second" in figures]
    return table(("mesh", "tokens/s", "of one device", "peak MiB of all ranks"), rows)


def boundsTable(measured, bounds):
    """What must be reached and was measured, with what is missing."""
    rows = []
    for name in NAMES:
        for figure, bound in bounds[name].items():
            value = measured[name].get(figure)
            if value is None:
                continue
            word = "at_least" if "at_least" in bound else "at_most"
            holds = value >= bound[word] if word == "at_least" else value <= bound[word]
            rows.append((f"`{name}`", figure.replace("_", " "), f"{value:.4g}", f"{word.replace('_', ' ')} {bound[word]:g}", "" if holds else "missed"))
    return table(("benchmark", "figure", "measured", "bound", ""), rows)


def bars(figures, left, width, heading, models, height):
    """A panel: of each model a bar for each runner. `height`: (model, runner) -> (share of the tallest, label)."""
    bottom, tall = 330, 240
    shapes = [f'<text x="{left}" y="40" font-size="14" font-weight="bold" fill="#333333">{heading}</text>',
              f'<line x1="{left}" y1="{bottom}" x2="{left + width}" y2="{bottom}" stroke="#8a8a8a"/>']
    group = width / max(1, len(models))
    for number, model in enumerate(models):
        runners = [key for key in runnersOf(figures, model) if not key.endswith("-bf16")]
        bar = group * 0.84 / len(runners)
        for place, runner in enumerate(runners):
            share, label = height(model, runner)
            x, size = left + number * group + group * 0.08 + place * bar, share * tall
            shapes.append(f'<rect x="{x:.1f}" y="{bottom - size:.1f}" width="{bar - 2:.1f}" height="{size:.1f}" fill="{COLORS[runner]}"/>')
            shapes.append(f'<text x="{x + bar / 2 - 1:.1f}" y="{bottom - size - 4:.1f}" font-size="10" fill="#333333" text-anchor="middle">{label}</text>')
        shapes.append(f'<text x="{left + (number + 0.5) * group:.1f}" y="{bottom + 18}" font-size="11" fill="#333333" '
                      f'text-anchor="middle">{MODELS[model].split(",")[0]}</text>')
        shapes.append(f'<text x="{left + (number + 0.5) * group:.1f}" y="{bottom + 33}" font-size="11" fill="#333333" '
                      f'text-anchor="middle">{MODELS[model].split(",")[1].strip()}</text>')
    return shapes


def picture(figures):
    models = [model for model in MODELS if runnersOf(figures, model)]
    value = lambda model, runner, figure: figures[f"{model}.{runner}.{figure}"]
    most = {(model, figure): max(value(model, runner, figure) for runner in runnersOf(figures, model))
            for model in models for figure in ("tokens_per_second", "peak_mib")}
    speed = lambda model, runner: (value(model, runner, "tokens_per_second") / most[model, "tokens_per_second"],
                                   f"{value(model, runner, 'tokens_per_second'):,.0f}")
    memory = lambda model, runner: (value(model, runner, "peak_mib") / most[model, "peak_mib"], f"{value(model, runner, 'peak_mib'):,.0f}")
    shapes = bars(figures, 30, 440, "tokens a second", models, speed) + bars(figures, 500, 440, "peak resident memory, MiB", models, memory)
    for number, (runner, name) in enumerate(RUNNERS.items()):
        x = 30 + number * 150
        shapes.append(f'<rect x="{x}" y="386" width="12" height="12" fill="{COLORS[runner]}"/>')
        shapes.append(f'<text x="{x + 18}" y="396" font-size="12" fill="#333333">{name}</text>')
    return ('<svg xmlns="http://www.w3.org/2000/svg" width="960" height="412" viewBox="0 0 960 412" font-family="Helvetica, Arial, \'DejaVu Sans\', '
            'sans-serif">\n<rect width="960" height="412" fill="#ffffff"/>\n' + "\n".join(shapes) + "\n</svg>\n")


def take(measured, argument):
    """The figures of a benchmark's JSON into those of its name: a failed figure too, as it was measured."""
    name, _, path = argument.partition("=")
    if name not in NAMES or not path:
        sys.exit(f"performance: {argument}: expected NAME=FILE.json with one of {', '.join(NAMES)}")
    with open(path, encoding="utf-8") as file:
        measured[name].update({row["name"]: float(f"{row['value']:.5g}") for row in json.load(file) if row["value"] is not None})


def generated(root, measured):
    """{path: text} of all files that this script writes."""
    with open(os.path.join(root, "benchmarks", "bounds.yaml"), encoding="utf-8") as file:
        bounds = yaml.safe_load(file)
    parts = {"step": stepTable(measured["step"]), "parts": partsTable(measured["step"]), "attention": attentionTable(measured["attention"]),
             "mesh": meshTable(measured["mesh"]), "bounds": boundsTable(measured, bounds)}
    with open(os.path.join(root, PAGE), encoding="utf-8") as file:
        page = file.read()
    for name, text in parts.items():
        page, count = re.subn(rf"(<!-- {name} -->\n).*?(<!-- end of {name} -->)", lambda found: found[1] + text + "\n" + found[2], page, flags=re.DOTALL)
        if count != 1:
            sys.exit(f"performance: {PAGE} has {count} places for the table {name}: expected one, from <!-- {name} --> to <!-- end of {name} -->")
    files = {os.path.join("docs", "measured", f"{name}.json"): json.dumps(dict(sorted(measured[name].items())), indent=1) + "\n"
             for name in NAMES if measured[name]}
    return files | {PAGE: page, PICTURE: picture(measured["step"])}


def main(arguments):
    parser = argparse.ArgumentParser(prog="scripts/performance.py", description=__doc__.splitlines()[0])
    parser.add_argument("figures", nargs="*", metavar="NAME=FILE.json")
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a file is not current")
    parser.add_argument("--root", default=ROOT, help="the checkout")
    options = parser.parse_args(arguments)
    measured = {}
    for name in NAMES:
        path = os.path.join(options.root, "docs", "measured", f"{name}.json")
        measured[name] = json.load(open(path, encoding="utf-8")) if os.path.exists(path) else {}
    for argument in options.figures:
        take(measured, argument)
    stale = []
    for name, text in generated(options.root, measured).items():
        path = os.path.join(options.root, name)
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                if file.read() == text:
                    continue
        stale.append(name)
        if not options.check:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
    if options.check and stale:
        sys.exit(f"performance: not current: {', '.join(stale)}. scripts/performance.py writes them.")


if __name__ == "__main__":
    main(sys.argv[1:])
