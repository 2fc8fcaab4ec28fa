// Counts habits that make source hard to read, for each crate and for the workspace, without tests.
// node tools/plain.mjs: prints a table, and exits with 1 if a count is above its goal.
// node tools/plain.mjs --list KIND [CRATE ...]: prints the places of one kind.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

// A word list, not a grammar: it finds sentences that probably need a second reading.
const DIALECT = new RegExp(
  "\\b(" +
    [
      "told|tells?|nobody|somebody|whoever|whose|so many|goes on|go on|behind|beside|anew|seldom|for ever|all that",
      "became? of|becomes? of|comes? (?:of|by)|came of|stands|stood|hears?|heard|says?|said|makes? of|none of",
      "of (?:ours|its own|their own)|what (?:it|is|was|they|he|one) |once more|hands? (?:over|on)|under way",
      "is (?:gone|there|for)|whether or not|without a word|to be had|where it (?:is|has|does)",
    ].join("|") +
    ")\\b",
  "iu",
);

const PARTICIPLES =
  "told|said|kept|asked|wanted|came|given|made|usual|heard|seen|known|held|meant|left|put|had|gone|begun|taken|found|" +
  "spoken|searched|listed|stated|handed|attended";

const CODE_PATTERNS = {
  names: new RegExp(`\\b(?:let(?: mut)?|fn|struct|enum|trait|mod)\\s+(?:${PARTICIPLES})\\b`, "giu"),
  paired: /\blet\s+(?:mut\s+)?\((?:mut\s+)?\w+,[^)]*\)\s*(?::[^=;]+)?=\s*\(/gu,
  tuples: /\bfn\s+\w+[^{;]*?[(,]\s*\((?:mut\s+)?\w+,[^)]*\)\s*:\s*\(/gu,
  closures: /\blet\s+(?:mut\s+)?\w+\s*(?::[^=;]+)?=\s*(?:move\s*)?\|/gu,
};

/** Maximum of each kind for the workspace; a crate may have twice as much. */
const GOALS = { dialect: 1.5, names: 0.2, paired: 0.4, tuples: 0, closures: 1, filler: 3, reasons: 60 };

const TEST = /(^|\/)(tests?|benches|examples|fuzz_targets)\/|(^|\/|_)tests?\.rs$/u;
const INLINE_TEST = /#\[cfg\((?:all\()?test[^\]]*\]\s*mod\s+\w+\s*\{/u;
const COMMENT_OR_LITERAL =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|(?:b|c)?r(#*)"[\s\S]*?"\1|b?"(?:\\[\s\S]|[^"\\])*"|'(?:\\(?:x[0-9a-fA-F]{2}|u\{[^}]*\}|[\s\S])|[^\\'\n])'/gu;

/** A place of one kind. */
class Place {
  constructor(kind, file, line, text) {
    Object.assign(this, { kind, file, line, text: text.trim() });
  }
}

/** Code with comments and literals replaced by spaces, so that line numbers stay. */
const masked = (source) => source.replace(COMMENT_OR_LITERAL, (text) => text.replace(/[^\n]/gu, " "));

/** Numbers of lines, comment lines and doc lines of a file, and the places found in it. */
function examine(file, source) {
  const lines = source.split("\n");
  const counts = { lines: lines.length, comments: 0, docs: 0 };
  const places = [];
  lines.forEach((line, index) => {
    const comment = line.trim();
    if (!comment.startsWith("//")) return;
    const text = comment.replace(/^[/!]+/u, "").trim();
    const isDoc = comment.startsWith("///") || comment.startsWith("//!");
    counts.comments += 1;
    if (isDoc) counts.docs += 1;
    if (DIALECT.test(text)) places.push(new Place("dialect", file, index + 1, line));
    if (!isDoc) places.push(new Place("reasons", file, index + 1, line));
    if (isDoc && text && text.split(/\s+/u).length <= 3 && !/^[#*`|-]/u.test(text)) {
      places.push(new Place("filler", file, index + 1, line));
    }
  });
  const code = masked(source);
  for (const [kind, pattern] of Object.entries(CODE_PATTERNS)) {
    for (const match of code.matchAll(pattern)) {
      const line = code.slice(0, match.index).split("\n").length;
      places.push(new Place(kind, file, line, lines[line - 1]));
    }
  }
  return { counts, places };
}

/** Counts of a crate in the units of GOALS. */
function rates({ lines, comments, docs, found }) {
  const count = (kind) => found[kind] ?? 0;
  const perThousandLines = (kind) => (1000 * count(kind)) / Math.max(1, lines);
  return {
    dialect: (100 * count("dialect")) / Math.max(1, comments),
    names: perThousandLines("names"),
    paired: perThousandLines("paired"),
    tuples: perThousandLines("tuples"),
    closures: perThousandLines("closures"),
    filler: (100 * count("filler")) / Math.max(1, docs),
    reasons: lines / Math.max(1, count("reasons")),
  };
}

const crateOf = (file) => file.split("/src/")[0].split("/").at(-1);
const options = process.argv.slice(2);
const listed = options[0] === "--list" ? options[1] : undefined;
const crates = options.slice(2);

const tracked = execFileSync("git", ["ls-files", "*.rs"], { encoding: "utf8" }).split("\n");
const totals = new Map();
for (const file of tracked.filter((file) => file.includes("/src/") && !TEST.test(file))) {
  const crate = crateOf(file);
  if (crates.length > 0 && !crates.includes(crate)) continue;
  const { counts, places } = examine(file, readFileSync(file, "utf8").split(INLINE_TEST)[0]);
  for (const place of places) {
    if (place.kind === listed) console.log(`${place.file}:${place.line}: ${place.text.slice(0, 150)}`);
  }
  for (const name of [crate, "all"]) {
    const total = totals.get(name) ?? { lines: 0, comments: 0, docs: 0, found: {} };
    for (const [key, count] of Object.entries(counts)) total[key] += count;
    for (const { kind } of places) total.found[kind] = (total.found[kind] ?? 0) + 1;
    totals.set(name, total);
  }
}
if (listed) process.exit();

const kinds = Object.keys(GOALS);
const row = (name, cells) => console.log(name.padEnd(9) + cells.map((cell) => `${cell}`.padStart(9)).join(""));
const tooMany = [];
row("", ["lines", ...kinds]);
row("goal", ["", ...kinds.map((kind) => GOALS[kind])]);
for (const [name, total] of [...totals].sort(([a], [b]) => (a === "all") - (b === "all") || a.localeCompare(b))) {
  const measured = rates(total);
  const factor = name === "all" ? 1 : 2;
  row(name, [total.lines, ...kinds.map((kind) => measured[kind].toFixed(kind === "reasons" ? 0 : 2))]);
  for (const kind of kinds) {
    const limit = factor * GOALS[kind];
    if (measured[kind] > limit) tooMany.push(`${name}: ${kind} ${measured[kind].toFixed(2)} (at most ${limit})`);
  }
}
if (tooMany.length > 0) {
  console.error(`${tooMany.join("\n")}\nnode tools/plain.mjs --list KIND CRATE prints the places; CONTRIBUTING.md says how code is written`);
  process.exit(1);
}
