// Resolves paths of keys in a JSON Schema: which keys and values a place of a document may have, and their descriptions.
//
// Out of scope: validation. The server checks the text.

import { ITEM, type Segment } from './path';

export type Schema = boolean | SchemaNode;

export interface SchemaNode {
  $ref?: string;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  type?: string | string[];
  properties?: Record<string, Schema>;
  additionalProperties?: Schema;
  items?: Schema;
  enum?: unknown[];
  const?: unknown;
  description?: string;
}

/** Form of a value: it decides how a key is continued. */
export type ValueShape = 'scalar' | 'mapping' | 'list';

export interface KeyProposal {
  name: string;
  description: string;
  /** The simplest form of the value. */
  shape: ValueShape;
}

export interface ValueProposal {
  /** The value as YAML. */
  text: string;
  description: string;
}

/** Most nodes of one step of a path: the schema of plans needs fewer than 50, and recursion must end. */
const MAX_NODES = 500;

/** Node of a JSON pointer such as `#/$defs/Load`. */
function resolveReference(root: SchemaNode, reference: string): Schema | undefined {
  if (!reference.startsWith('#')) return undefined;
  let node: unknown = root;
  for (const part of decodeURIComponent(reference).split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof node !== 'object' || node === null || !Object.hasOwn(node, name)) return undefined;
    node = (node as Record<string, unknown>)[name];
  }
  return node as Schema | undefined;
}

/** All alternatives of the schemas, without references: a node comes before the nodes that it refers to. */
function alternatives(root: SchemaNode, schemas: Schema[]): SchemaNode[] {
  const found = new Set<SchemaNode>();
  const queue = [...schemas];
  for (let i = 0; i < queue.length && found.size < MAX_NODES; i++) {
    const node = queue[i];
    if (typeof node !== 'object' || found.has(node)) continue;
    found.add(node);
    const target = node.$ref === undefined ? undefined : resolveReference(root, node.$ref);
    if (target !== undefined) queue.push(target);
    queue.push(...(node.allOf ?? []), ...(node.anyOf ?? []), ...(node.oneOf ?? []));
  }
  return [...found];
}

/** Schema of a key that a node names. */
function namedProperty(node: SchemaNode, key: string): Schema | undefined {
  return node.properties && Object.hasOwn(node.properties, key) ? node.properties[key] : undefined;
}

const property = (node: SchemaNode, key: string): Schema | undefined => namedProperty(node, key) ?? node.additionalProperties;

/** Schemas of the value at the end of a path. */
function schemasAt(root: SchemaNode, path: Segment[]): Schema[] {
  let schemas: Schema[] = [root];
  for (const segment of path) {
    schemas = alternatives(root, schemas)
      .map((node) => (segment === ITEM ? node.items : property(node, segment)))
      .filter((schema) => typeof schema === 'object');
  }
  return schemas;
}

/** Alternatives that accept the keys; all of them if none does, because a key may be incomplete. */
function accepting(nodes: SchemaNode[], present: string[]): SchemaNode[] {
  const maps = nodes.filter((node) => node.properties);
  const matching = maps.filter((node) => present.every((key) => property(node, key) !== false));
  return matching.length > 0 ? matching : maps;
}

const types = (node: SchemaNode): string[] => (node.type === undefined ? [] : [node.type].flat());

function shape(nodes: SchemaNode[]): ValueShape {
  const names = new Set(nodes.flatMap(types));
  if (nodes.some((node) => node.enum || node.const !== undefined)) return 'scalar';
  if (['string', 'number', 'integer', 'boolean'].some((name) => names.has(name))) return 'scalar';
  if (names.has('array')) return 'list';
  return names.has('object') ? 'mapping' : 'scalar';
}

const firstDescription = (nodes: SchemaNode[]): string => nodes.find((node) => node.description)?.description ?? '';

/** Keys that the mapping at the path may have in addition to those that are present. */
export function keysAt(root: SchemaNode, path: Segment[], present: string[] = []): KeyProposal[] {
  const proposals = new Map<string, KeyProposal>();
  for (const node of accepting(alternatives(root, schemasAt(root, path)), present)) {
    for (const [name, schema] of Object.entries(node.properties ?? {})) {
      if (schema === false || present.includes(name) || proposals.has(name)) continue;
      const values = alternatives(root, [schema]);
      proposals.set(name, { name, description: firstDescription(values), shape: shape(values) });
    }
  }
  return [...proposals.values()];
}

/** A scalar as YAML; quoted where YAML would read another type. */
function yamlScalar(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  const isPlain = /^[A-Za-z_][\w./-]*$/.test(value) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(value);
  return isPlain ? value : JSON.stringify(value);
}

/** Values that the schema lists for the path: `enum`, `const` and booleans. */
export function valuesAt(root: SchemaNode, path: Segment[]): ValueProposal[] {
  const proposals = new Map<string, ValueProposal>();
  for (const node of alternatives(root, schemasAt(root, path))) {
    // `Word` of the plan accepts any scalar: `true` and `false` are no hint there.
    const isBoolean = types(node).includes('boolean') && !types(node).includes('string');
    const constants = node.const === undefined ? [] : [node.const];
    for (const value of [...constants, ...(node.enum ?? []), ...(isBoolean ? [true, false] : [])]) {
      if (value === null || typeof value === 'object') continue;
      const text = yamlScalar(value);
      if (!proposals.has(text)) proposals.set(text, { text, description: constants.length > 0 ? (node.description ?? '') : '' });
    }
  }
  return [...proposals.values()];
}

/** Description of the key at the end of a path; empty if there is none, and for names that the user chooses. */
export function descriptionAt(root: SchemaNode, path: Segment[]): string {
  const key = path.at(-1);
  if (typeof key !== 'string') return '';
  const schemas = alternatives(root, schemasAt(root, path.slice(0, -1)))
    .map((node) => namedProperty(node, key))
    .filter((schema) => typeof schema === 'object');
  return firstDescription(alternatives(root, schemas));
}
