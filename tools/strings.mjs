// Collects the texts that users read (string literals of the crates, without tests) in tests/data/strings.txt, for review from
// top to bottom, and checks that no sentence has more than 25 words.
// node tools/strings.mjs [--write]: exits with 1 if the file is outdated or a sentence is too long.

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

const FILE = "tests/data/strings.txt";
const MOST_WORDS = 25;
const LEAST_WORDS = 4;
// Names of ciphers; SQL.
const NO_TEXTS = /^crates\/(dropin\/src\/ciphers\.rs|store\/src\/(index|schema))/;

const files = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "crates/*.rs", "lab/*.rs"], { encoding: "utf8" })
  .split("\n")
  .filter((file) => /\/src\//.test(file) && !/\/tests?(\.rs$|\/)|\/story|_tests?\.rs$/.test(file) && !NO_TEXTS.test(file))
  .sort();

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

let all = "";
let long = 0;
for (const file of files) {
  let source;
  try {
    source = readFileSync(file, "utf8");
  } catch {
    continue; // deleted, and not committed yet
  }
  const texts = literals(source).filter(isText);
  if (texts.length === 0) continue;
  all += `\n# ${file}\n${texts.map((text) => `${text.trim()}\n`).join("")}`;
  for (const sentence of texts.flatMap((text) => text.split(/(?<=[.;:!?])\s+|\n/))) {
    if (words(sentence) <= MOST_WORDS) continue;
    long += 1;
    console.error(`${file}: ${words(sentence)} words in a sentence (at most ${MOST_WORDS}): ${sentence.trim()}`);
  }
}

if (process.argv.includes("--write")) writeFileSync(FILE, all.trimStart());
let known = "";
try {
  known = readFileSync(FILE, "utf8");
} catch {
  // told below
}
const outdated = known !== all.trimStart();
if (outdated) console.error(`${FILE} is outdated: node tools/strings.mjs --write; then read what changed (git diff)`);
process.exit(long > 0 || outdated ? 1 : 0);
