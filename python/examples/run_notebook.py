#!/usr/bin/env python3
"""Runs the code cells of a notebook in order, without Jupyter.

    python3 python/examples/run_notebook.py            runs all cells; the first error ends it
    python3 python/examples/run_notebook.py --write    also writes their outputs into the notebook

Without pandas, cells with the tag `pandas` are left out, and --write is refused.
"""

import argparse
import ast
import contextlib
import importlib.util
import io
import json
import linecache
import sys
from pathlib import Path

NOTEBOOK = Path(__file__).resolve().parent / "examples.ipynb"
sys.path.insert(0, str(NOTEBOOK.parent.parent / "src"))


def main():
    parser = argparse.ArgumentParser(description="Runs the code cells of a notebook in order.")
    parser.add_argument("notebook", type=Path, nargs="?", default=NOTEBOOK)
    parser.add_argument("--write", action="store_true", help="write the outputs into the notebook")
    arguments = parser.parse_args()
    has_pandas = importlib.util.find_spec("pandas") is not None
    if arguments.write and not has_pandas:
        sys.exit("run_notebook.py: --write needs pandas; write: pip install pandas")
    notebook = json.loads(arguments.notebook.read_text(encoding="utf-8"))
    number = run(notebook, has_pandas)
    if arguments.write:
        text = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
        arguments.notebook.write_text(text, encoding="utf-8")
    print(f"{number} cells ran")


def run(notebook, has_pandas=True):
    """Runs the cells, replaces their outputs, and returns the number of cells that ran."""
    namespace = {"__name__": "__main__"}
    number = 0
    try:
        for cell in notebook["cells"]:
            tags = cell["metadata"].get("tags", [])
            if cell["cell_type"] != "code" or ("pandas" in tags and not has_pandas):
                continue
            number += 1
            cell["execution_count"] = number
            cell["outputs"] = run_cell("".join(cell["source"]), namespace, number)
    finally:
        # The last cell ends the server; after an error, this does.
        server = namespace.get("server")
        if server is not None and server.poll() is None:
            server.kill()
            server.wait()
    return number


def run_cell(source, namespace, number):
    """Runs a cell, and returns its outputs in the format of notebooks."""
    name = f"<cell {number}>"
    # Tracebacks then show the line.
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    tree = ast.parse(source, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    stdout = io.StringIO()
    value = None
    with contextlib.redirect_stdout(stdout):
        exec(compile(tree, name, "exec"), namespace)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), name, "eval"), namespace)
    outputs = []
    if stdout.getvalue():
        text = stdout.getvalue().splitlines(True)
        outputs.append({"name": "stdout", "output_type": "stream", "text": text})
    if value is not None:
        data = {"text/plain": repr(value).splitlines(True)}
        html = getattr(value, "_repr_html_", lambda: None)()
        if html:
            data["text/html"] = html.splitlines(True)
        result = {"data": data, "execution_count": number, "metadata": {}}
        outputs.append({**result, "output_type": "execute_result"})
    return outputs


if __name__ == "__main__":
    main()
