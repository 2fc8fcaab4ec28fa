// Writes the software bill of materials of brunt (CycloneDX 1.5) to standard output: node tools/dist/sbom.mjs TARGET
// It names the crates that are linked into the binary for that target, from `cargo metadata`.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

const target = process.argv[2];
if (!target) {
  console.error("usage: node tools/dist/sbom.mjs TARGET, such as x86_64-unknown-linux-musl");
  process.exit(2);
}
const options = ["metadata", "--format-version", "1", "--locked", "--filter-platform", target];
const metadata = JSON.parse(execFileSync("cargo", options, { encoding: "utf8", maxBuffer: 1 << 28 }));
const packages = new Map(metadata.packages.map((p) => [p.id, p]));
const nodes = new Map(metadata.resolve.nodes.map((n) => [n.id, n]));
const checksums = new Map(
  readFileSync("Cargo.lock", "utf8")
    .split("[[package]]")
    .map((text) => ["name", "version", "checksum"].map((key) => text.match(new RegExp(`^${key} = "(.*)"$`, "m"))?.[1]))
    .map(([name, version, checksum]) => [`${name} ${version}`, checksum]),
);

// Dependencies that are linked: neither those of tests (dev) nor those of build scripts, nor macros.
const isMacro = (id) => packages.get(id).targets.some((t) => t.kind.includes("proc-macro"));
const linked = (id) =>
  nodes.get(id).deps.filter((d) => d.dep_kinds.some((k) => k.kind === null) && !isMacro(d.pkg)).map((d) => d.pkg);
const root = metadata.packages.find((p) => p.name === "brunt-cli").id;
const reached = new Set([root]);
for (const id of reached) linked(id).forEach((next) => reached.add(next));

const reference = (id) => `pkg:cargo/${packages.get(id).name}@${packages.get(id).version}`;
const component = (id) => {
  const { name, version, license, repository } = packages.get(id);
  const checksum = checksums.get(`${name} ${version}`);
  return {
    type: "library",
    "bom-ref": reference(id),
    name,
    version,
    purl: reference(id),
    ...(license && { licenses: [{ expression: license.replaceAll("/", " OR ") }] }),
    ...(checksum && { hashes: [{ alg: "SHA-256", content: checksum }] }),
    ...(repository && { externalReferences: [{ type: "vcs", url: repository }] }),
  };
};
const sorted = [...reached].sort((a, b) => (reference(a) < reference(b) ? -1 : 1));
const seconds = Number(process.env.SOURCE_DATE_EPOCH ?? Date.now() / 1000);
const document = {
  bomFormat: "CycloneDX",
  specVersion: "1.5",
  version: 1,
  metadata: {
    timestamp: new Date(seconds * 1000).toISOString(),
    component: { ...component(root), type: "application", name: "brunt" },
    properties: [{ name: "cargo:target", value: target }],
  },
  components: sorted.filter((id) => id !== root).map(component),
  dependencies: sorted.map((id) => ({ ref: reference(id), dependsOn: [...new Set(linked(id).map(reference))].sort() })),
};
console.log(JSON.stringify(document, null, 1));
