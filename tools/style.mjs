// Checks all texts of the project for phrases that are not plain technical English (tools/style-words.txt).
// node tools/style.mjs: prints each place, and exits with 1 if there is any.

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

const WORDS = "tools/style-words.txt";
const TEXTS = ["rs", "md", "sh", "mjs", "ts", "html", "proto", "yaml", "yml", "txt", "toml"];
// Text of other tools, recorded or required byte for byte.
const FOREIGN = /^(tests\/data\/|web-ui\/node_modules\/)/;

// A pattern that begins a line may depend on case; the others do not.
const patterns = readFileSync(WORDS, "utf8")
  .split("\n")
  .filter(Boolean)
  .map((line) => new RegExp(line, line.startsWith("^") ? "u" : "iu"));

const files = execFileSync("git", ["ls-files", "-co", "--exclude-standard", ...TEXTS.map((end) => `*.${end}`)], {
  encoding: "utf8",
})
  .split("\n")
  .filter((file) => file && file !== WORDS && !FOREIGN.test(file) && existsSync(file));

let found = 0;
for (const file of files) {
  readFileSync(file, "utf8")
    .split("\n")
    .forEach((line, at) => {
      const pattern = patterns.find((pattern) => pattern.test(line));
      if (!pattern) return;
      found += 1;
      console.error(`${file}:${at + 1}: ${line.trim()}\n    matches ${pattern.source}; CONTRIBUTING.md says how texts are written`);
    });
}
if (found > 0) {
  console.error(`${found} lines to rewrite in plain technical English`);
  process.exit(1);
}
