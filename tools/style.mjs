// Checks all texts of the project for phrases in tools/style-words.txt, and string literals of the crates (without tests) for
// sentences of more than 25 words.
// node tools/style.mjs: prints each place, and exits with 1 if there is any.

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

const WORDS = "tools/style-words.txt";
const TEXTS = ["rs", "md", "sh", "mjs", "ts", "ftl", "html", "proto", "yaml", "yml", "txt", "toml"];
// Text of other tools, recorded or required byte for byte.
const FOREIGN = /^(dev\/tests\/data\/|web-ui\/node_modules\/)/;

const MOST_WORDS = 25;
const LEAST_WORDS = 4;
// Names of ciphers; SQL.
const NO_TEXTS = /^(compat\/dropin\/src\/ciphers\.rs|crates\/store\/src\/(index|schema))/;

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

/** The string literals of a file, in order. */
function literals(source) {
  const [code] = source.split(/#\[cfg\(test\)\]\s*(?:pub(?:\(\w+\))? )?mod \w+ \{/);
  const tokens = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|b?r(#*)"([\s\S]*?)"\1|'(?:\\.[^']*|[^'\\])'|b?"((?:[^"\\]|\\[\s\S])*)"/g;
  return [...code.matchAll(tokens)].flatMap(([, , raw, quoted]) => {
    if (raw !== undefined) return [raw];
    return quoted === undefined ? [] : [quoted.replace(/\\\n\s*/g, "").replaceAll("\\n", "\n").replace(/\\(["\\])/g, "$1")];
  });
}

const words = (text) => text.split(/\s+/).filter((word) => /\p{Letter}/u.test(word)).length;
const isText = (text) => words(text) >= LEAST_WORDS && !/^[\s<{(]*(SELECT|INSERT|CREATE|DELETE|UPDATE|PRAGMA) /.test(text);

const isShown = (file) =>
  /^(lib|crates|compat|dev\/lab)\/(.*\/)?src\/.*\.rs$/.test(file) && !/\/tests?(\.rs$|\/)|\/story|_tests?\.rs$/.test(file) && !NO_TEXTS.test(file);

let found = 0;
for (const file of files) {
  const source = readFileSync(file, "utf8");
  const texts = isShown(file) ? literals(source).filter(isText) : [];
  for (const sentence of texts.flatMap((text) => text.split(/(?<=[.;:!?])\s+|\n/))) {
    if (words(sentence) <= MOST_WORDS) continue;
    found += 1;
    console.error(`${file}: ${words(sentence)} words in a sentence (at most ${MOST_WORDS}): ${sentence.trim()}`);
  }
  source
    .split("\n")
    .forEach((line, at) => {
      const pattern = patterns.find((pattern) => pattern.test(line));
      if (!pattern) return;
      found += 1;
      console.error(`${file}:${at + 1}: ${line.trim()}\n    matches ${pattern.source}; CONTRIBUTING.md says how texts are written`);
    });
}
if (found > 0) {
  console.error(`${found} places to rewrite in plain technical English`);
  process.exit(1);
}
