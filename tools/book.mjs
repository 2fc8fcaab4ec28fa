// Checks the pages: each page of docs/ is in its README.md and SUMMARY.md, each relative link leads to a file and a heading that exist,
// and both languages of the README have the same commands.
// node tools/book.mjs: prints each broken link, and exits with 1 if there is any.

import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

const pages = readdirSync("docs").filter((name) => name.endsWith(".md")).map((name) => `docs/${name}`);
const others = execFileSync("git", ["ls-files", "*.md"], { encoding: "utf8" }).split("\n").filter((file) => file && !pages.includes(file));
const problems = [];

const withoutCode = (text) => text.replace(/^```[\s\S]*?^```/gm, "").replace(/`[^`\n]*`/g, "");

/** Anchors that GitHub derives from the headings of a page. */
function anchors(file) {
  const text = readFileSync(file, "utf8").replace(/^```[\s\S]*?^```/gm, "");
  return [...text.matchAll(/^#+ +(.*)$/gm)].map(([, heading]) =>
    heading
      .toLowerCase()
      .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .replace(/[^\p{L}\p{N}\- _]/gu, "")
      .replace(/ /g, "-"),
  );
}

for (const page of [...pages, ...others].filter(existsSync)) {
  for (const [, link] of withoutCode(readFileSync(page, "utf8")).matchAll(/\]\(([^)\s]+)\)/g)) {
    if (/^[a-z]+:/.test(link)) continue;
    const [path, anchor] = link.split("#");
    const target = path === "" ? page : normalize(join(dirname(page), path));
    if (!existsSync(target)) problems.push(`${page}: no file for the link ${link}`);
    else if (anchor && statSync(target).isFile() && !anchors(target).includes(anchor)) {
      problems.push(`${page}: no heading for the link ${link}`);
    }
  }
}

const LISTS = ["README.md", "SUMMARY.md"];
const named = pages.map((page) => page.slice("docs/".length)).filter((page) => !LISTS.includes(page));
for (const list of LISTS) {
  const text = readFileSync(`docs/${list}`, "utf8");
  for (const page of named) if (!text.includes(`(${page})`)) problems.push(`docs/${list}: ${page} is missing`);
}

/** Number of sections, and commands and outputs without comments: they are the same in each language. */
function outline(file) {
  const text = readFileSync(file, "utf8");
  const blocks = [...text.matchAll(/^ *```\w*\n([\s\S]*?)^ *```$/gm)].map(([, block]) => block.replace(/ +# .*$/gm, ""));
  return [text.match(/^## /gm).length, ...blocks];
}

const [english, chinese] = ["README.md", "README.zh.md"].map(outline);
for (let at = 0; at < Math.max(english.length, chinese.length); at += 1) {
  if (english[at] === chinese[at]) continue;
  problems.push(`README.zh.md differs from README.md: ${chinese[at]} instead of ${english[at]}`);
  break;
}

for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exit(1);
