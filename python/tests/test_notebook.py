"""The notebook of examples runs, and contains the outputs of such a run."""

import importlib.util
import json
import re
import unittest

from .support import PROJECT, BruntTestCase

NOTEBOOK = PROJECT / "examples" / "examples.ipynb"
HAS_PANDAS = importlib.util.find_spec("pandas") is not None


def runner():
    path = PROJECT / "examples" / "run_notebook.py"
    spec = importlib.util.spec_from_file_location("run_notebook", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Notebook(BruntTestCase):
    def setUp(self):
        super().setUp()
        self.notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))

    def test_the_format_is_that_of_notebooks(self):
        self.assertEqual((self.notebook["nbformat"], self.notebook["nbformat_minor"]), (4, 5))
        cells = self.notebook["cells"]
        self.assertEqual(len({cell["id"] for cell in cells}), len(cells))
        number = 0
        for cell in cells:
            self.assertRegex(cell["id"], r"^[a-zA-Z0-9_-]{1,64}$")
            self.assertIn(cell["cell_type"], ("code", "markdown"))
            keys = {"cell_type", "id", "metadata", "source"}
            if cell["cell_type"] == "code":
                keys |= {"execution_count", "outputs"}
                number += 1
                self.assertEqual(cell["execution_count"], number, "run run_notebook.py --write")
                for output in cell["outputs"]:
                    self.assertIn(output["output_type"], ("stream", "execute_result"))
            self.assertEqual(set(cell), keys)
            self.assertFalse([line for line in cell["source"][:-1] if not line.endswith("\n")])

    def test_the_cells_run(self):
        before = [len(cell.get("outputs", [])) for cell in self.notebook["cells"]]
        number = runner().run(self.notebook, HAS_PANDAS)
        self.assertGreater(number, 10)
        after = [len(cell.get("outputs", [])) for cell in self.notebook["cells"]]
        self.assertEqual(after, before, "other outputs; write them with run_notebook.py --write")
        # Other outputs depend on the machine.
        outputs = json.dumps([cell.get("outputs") for cell in self.notebook["cells"]])
        for text in ("p50: ", "exit code 4", "True ['cache emptied']", "write --timeout"):
            self.assertTrue(text in outputs, f"`{text}` is in no output")

    def test_all_functions_are_shown_or_described(self):
        import brunt

        source = "".join("".join(cell["source"]) for cell in self.notebook["cells"])
        readme = (PROJECT / "README.md").read_text(encoding="utf-8")
        for name in brunt.__all__:
            self.assertRegex(source + readme, rf"\b{re.escape(name)}\b")


if __name__ == "__main__":
    unittest.main()
