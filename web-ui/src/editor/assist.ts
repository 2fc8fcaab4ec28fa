// Completes keys and values and describes keys, from the JSON Schema of plans.

import { startCompletion, type Completion, type CompletionContext, type CompletionResult } from '@codemirror/autocomplete';
import type { Text } from '@codemirror/state';
import { hoverTooltip, type EditorView, type Tooltip } from '@codemirror/view';
import { h } from '../dom';
import { ITEM } from './path';
import { descriptionAt, keysAt, valuesAt, type KeyProposal, type SchemaNode, type ValueShape } from './schema';
import { keyAt, placeAt, type YamlPlace } from './yaml';

/** Loads the schema at its first use; null if that fails. */
export type SchemaSource = () => Promise<SchemaNode | null>;

/** A schema of the server. A failed request is repeated at the next use. */
export function serverSchema(url: string): SchemaSource {
  let pending: Promise<SchemaNode | null> | null = null;
  const load = async (): Promise<SchemaNode | null> => {
    try {
      const response = await fetch(url);
      if (response.ok) return (await response.json()) as SchemaNode;
    } catch {
      // The text can be edited without completion.
    }
    pending = null;
    return null;
  };
  return () => (pending ??= load());
}

/** Text of a description, with `code` in a fixed-width font. */
export function description(text: string): HTMLElement {
  const parts = text.split('`').map((part, i) => (i % 2 === 1 ? h('code', {}, part) : part));
  return h('div', { class: 'description' }, ...parts);
}

/** Text after a key, so that its value can be typed. */
function continuation(place: YamlPlace, shape: ValueShape, indent: number): string {
  if (place.style === 'flow' || shape === 'scalar') return ': ';
  const line = `:\n${' '.repeat(indent + 2)}`;
  return shape === 'list' ? `${line}- ` : line;
}

/** Inserts a key and its continuation, and proposes what follows. */
function insertKey(key: KeyProposal, place: YamlPlace, prefix: string): (view: EditorView, completion: Completion, from: number, to: number) => void {
  return (view, _completion, from, to) => {
    const line = view.state.doc.lineAt(from);
    const hasColon = /^[\w.-]*\s*:/.test(line.text.slice(to - line.from));
    const indent = place.from + prefix.length;
    const insert = prefix + key.name + (hasColon ? '' : continuation(place, key.shape, indent));
    view.dispatch({ changes: { from, to, insert }, selection: { anchor: from + insert.length }, userEvent: 'input.complete' });
    if (!hasColon) startCompletion(view);
  };
}

function keyCompletions(schema: SchemaNode, place: YamlPlace): Completion[] {
  const completion = (key: KeyProposal, index: number, prefix = ''): Completion => ({
    label: prefix + key.name,
    // The schema lists the most common keys first.
    sortText: String(index).padStart(5, '0'),
    type: 'property',
    apply: insertKey(key, place, prefix),
    ...(key.description && { info: () => description(key.description) }),
  });
  const keys = keysAt(schema, place.path, place.present).map((key, i) => completion(key, i));
  if (place.style === 'flow' || keys.length > 0) return keys;
  return keysAt(schema, [...place.path, ITEM]).map((key, i) => completion(key, i, '- '));
}

const valueCompletions = (schema: SchemaNode, place: YamlPlace): Completion[] =>
  valuesAt(schema, place.path).map((value, i) => ({
    label: value.text,
    sortText: String(i).padStart(5, '0'),
    type: 'enum',
    ...(value.description && { info: () => description(value.description) }),
  }));

function place(doc: Text, position: number): YamlPlace | null {
  const line = doc.lineAt(position);
  return placeAt(doc, line.number, position - line.from);
}

/** Proposes keys and values at the cursor. */
export const completionSource =
  (source: SchemaSource) =>
  async (context: CompletionContext): Promise<CompletionResult | null> => {
    const found = place(context.state.doc, context.pos);
    if (!found) return null;
    const from = context.state.doc.lineAt(context.pos).from + found.from;
    if (!context.explicit && from === context.pos) return null;
    const schema = await source();
    if (!schema || context.aborted) return null;
    const keys = found.kind === 'key' ? keyCompletions(schema, found) : [];
    const options = [...keys, ...valueCompletions(schema, found)];
    return options.length > 0 ? { from, options, validFor: /^[\w.-]*$/ } : null;
  };

/** Shows the description of the key below the pointer. */
export const keyDescriptions = (source: SchemaSource) =>
  hoverTooltip(async (view, position): Promise<Tooltip | null> => {
    const { doc } = view.state;
    const line = doc.lineAt(position);
    const key = keyAt(doc, line.number, position - line.from);
    const schema = key && (await source());
    const text = schema && descriptionAt(schema, key.path);
    if (!key || !text) return null;
    return { pos: line.from + key.from, end: line.from + key.to, above: true, create: () => ({ dom: description(text) }) };
  });
