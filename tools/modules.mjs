// Prints the crates and modules with their imports, and checks that no modules import each other in a cycle.
//
//   node tools/modules.mjs           prints them
//   node tools/modules.mjs --check   exits with 1 for a cycle that CIRCLES does not allow, for an import of a module
//                                    reserved to the rows of a register (REGISTERS), or for an import of a module
//                                    that comes later in ORDERS
//
// A module is a file or folder directly in a crate's src, with all files below it. Its imports are the paths in its
// files: `use crate::…`, `super::…`, and paths in the code. Tests are excluded. Needs only node.

import { readFileSync, readdirSync, existsSync } from "node:fs";
import { join, relative, sep } from "node:path";

// Allowed cycles: the modules of a crate, and the reason.
const CIRCLES = {
  bench: [
    "check options overload pacing report session tools",
    "a session measures each kind of case, and each kind reads the options and tools of the session",
  ],
  certify: ["league table trial", "the table shows leagues and trials, and both use its formats of figures"],
  dom: ["document html xml", "both parsers build a document, and a document chooses the parser"],
  engine: [
    "actor iteration lanes transactions",
    "the methods of an actor, by subject: each file reads the state of the actor, which holds what they define",
  ],
  groovy: [
    "check classes error host jmeter map methods script syntax value vm",
    "values call the interpreter (closures, comparators), and the interpreter calls methods of values",
  ],
  judge: ["facts fleet", "the facts of agents on one machine are those of the run, and each agent has facts of its own"],
  lab: [
    "args body conn deliver h2 h3 hostile ledger planner reply report request serve server socket tls websocket",
    "one planner serves all protocols: each connection asks it for replies, and it knows the connections that it ends",
  ],
  model: ["analysis answer comparison question", "the types of questions, answers and comparisons hold values of each other"],
  report: [
    "agents breakdown result",
    "rows of agents are rows of a breakdown, breakdowns name labels of the result, and the result holds agents",
  ],
  search: ["answer capacity damage recovery search stage", "a search holds the state of its stages, and each stage reads the search"],
};

// Modules that only the rows of a register (and they themselves) may import: the modules, the folder and its rows.
const REGISTERS = {
  wire: { modules: ["h1", "h2", "h3", "websocket"], register: "http", rows: ["h1", "h2", "h3", "websocket", "replay"] },
};

// Order of the modules of a crate: each imports only earlier ones.
const ORDERS = {
  script: ["error", "texts", "replies", "program", "languages", "check", "scripting"],
};

const files = (folder) =>
  readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return files(path);
      return entry.name.endsWith(".rs") ? [path] : [];
    });

// The source without comments and tests.
function code(path) {
  const text = readFileSync(path, "utf8").replace(/\/\/.*$/gm, "");
  const tests = text.search(/#\[cfg\(test\)\]\s*mod \w+ \{/);
  return tests < 0 ? text : text.slice(0, tests);
}

const isTest = (path) => /(^|\/)(tests|[a-z_]+_tests)(\.rs$|\/)/.test(path);

// A crate: its name, its dependencies, its modules and their imports.
function crate(folder) {
  const name = folder.split("/").pop();
  const manifest = readFileSync(join(folder, "Cargo.toml"), "utf8").split(/^\[dev-dependencies\]/m)[0];
  const needs = [...manifest.matchAll(/^brunt-([a-z]+)[ .]/gm)].map((m) => m[1]);
  const source = join(folder, "src");
  const paths = files(source).map((path) => relative(source, path).split(sep).join("/")).filter((path) => !isTest(path));
  const moduleOf = (path) => path.split("/")[0].replace(/\.rs$/, "");
  const modules = new Map(paths.map((path) => [moduleOf(path), new Set()]));
  modules.delete("lib");
  modules.delete("main");
  const bypasses = [];
  for (const path of paths) {
    const own = moduleOf(path);
    if (!modules.has(own)) continue;
    for (const named of imported(code(join(source, path)), path)) {
      if (named === own || !modules.has(named)) continue;
      modules.get(own).add(named);
      if (isBypass(name, path, named)) bypasses.push(`${join(source, path)} imports ${named}`);
    }
  }
  return { name, needs, modules, bypasses };
}

// True if a file outside the register imports a module that only its rows may import.
function isBypass(crate, path, named) {
  const { modules, register, rows } = REGISTERS[crate] ?? { modules: [] };
  return modules.includes(named) && !rows.some((row) => path === `${register}/${row}.rs`);
}

// Top-level modules that a file imports by `crate::a` or a sufficient number of `super::`.
function imported(text, path) {
  const depth = path.replace(/(\/mod)?\.rs$/, "").split("/").length;
  const root = `(?:crate|${Array(depth).fill("super").join("::")})`;
  const one = new RegExp(`\\b${root}::(\\w+)`, "g");
  const many = new RegExp(`\\b${root}::\\{([^;]*)\\}`, "g");
  const names = [...text.matchAll(one)].map((m) => m[1]);
  for (const [, list] of text.matchAll(many)) {
    let flat = list;
    while (/\{[^{}]*\}/.test(flat)) flat = flat.replace(/\{[^{}]*\}/g, "");
    names.push(...flat.split(",").map((path) => path.trim().split("::")[0]));
  }
  return names;
}

// Removes edges that follow from others.
function direct(crates) {
  const needs = new Map(crates.map((one) => [one.name, one.needs]));
  const reaches = (from, to) => (needs.get(from) ?? []).some((next) => next === to || reaches(next, to));
  return crates.flatMap(({ name, needs: all }) =>
    all.filter((to) => !all.some((other) => other !== to && reaches(other, to))).map((to) => [name, to]),
  );
}

// Modules that import each other, directly or indirectly.
function circles(modules) {
  const reaches = (from, to, seen = new Set()) =>
    [...modules.get(from)].some((next) => next === to || (!seen.has(next) && reaches(next, to, seen.add(next))));
  return [...modules.keys()].filter((one) => reaches(one, one));
}

// Imports against the order of modules.
function backward(modules, order) {
  return order.flatMap((from, at) => {
    const imports = modules.get(from) ?? new Set();
    return order.slice(at + 1).filter((to) => imports.has(to)).map((to) => [from, to]);
  });
}

function picture(crates) {
  const lines = ["```mermaid", "graph BT"];
  for (const [from, to] of direct(crates)) lines.push(`  ${from} --> ${to}`);
  lines.push("```", "", "Modules of each crate, and what they import of the same crate:", "");
  for (const { name, modules } of crates) {
    const rows = [...modules].map(([one, imports]) => {
      const list = [...imports].sort().join(", ");
      return list ? `\`${one}\` → ${list}` : `\`${one}\``;
    });
    lines.push(`* **${name}**: ${rows.join("; ")}`);
  }
  return lines.join("\n");
}

const crates = ["lib", "crates", "compat", "dev"]
  .flatMap((wing) => readdirSync(wing).sort().map((name) => join(wing, name)))
  .filter((folder) => existsSync(join(folder, "src")))
  .map(crate);
const option = process.argv[2];
if (option === undefined) {
  console.log(picture(crates));
} else if (option === "--check") {
  for (const { name, modules, bypasses } of crates) {
    for (const bypass of bypasses) {
      console.error(`${bypass}: only the rows of the register \`${REGISTERS[name].register}\` may`);
      process.exitCode = 1;
    }
    for (const [from, to] of backward(modules, ORDERS[name] ?? [])) {
      console.error(`module ${from} of ${name} imports ${to}, which follows it in the order of modules`);
      process.exitCode = 1;
    }
    const [allowed] = CIRCLES[name] ?? [""];
    const found = circles(modules);
    if (found.every((one) => allowed.split(" ").includes(one))) continue;
    console.error(`modules of ${name} import each other in a circle: ${found.join(", ")}`);
    process.exitCode = 1;
  }
} else {
  console.error(`unknown option ${option}: --check`);
  process.exitCode = 2;
}
