// Finds the keys that lead to a place in a YAML text. It reads single lines and their indentation, because a text in an editor
// is incomplete most of the time and a parser rejects it.
//
// Out of scope: flow style over several lines, aliases, complex keys (`? key`).

import { flowPlace, isFlow } from './flow';
import { ITEM, unquoted, type Segment } from './path';

/** Lines of a text, counted from 1. */
export interface LineSource {
  readonly lines: number;
  line(number: number): { readonly text: string };
}

/** A place where a key or a value is expected. */
export interface YamlPlace {
  /** Keys and items that lead to the place. */
  path: Segment[];
  kind: 'key' | 'value';
  /** Column at which the key or the value begins, counted from 0. */
  from: number;
  /** Keys of the same mapping, without the key at the place. */
  present: string[];
  style: 'block' | 'flow';
}

/** A key in the text and the path to its value. */
export interface KeyRange {
  path: Segment[];
  from: number;
  to: number;
}

interface LineTokens {
  /** Columns of the dashes that begin items of lists. */
  dashes: number[];
  /** Column at which the content begins; the length of the line if it has none. */
  content: number;
  key: { column: number; name: string; colon: number } | null;
}

/** Longest part of a line that is read: minified data may have lines of many kilobytes. */
const MAX_COLUMNS = 2000;
/** Most lines that are read in one direction, which takes about 5 ms. */
export const MAX_LINES = 5000;
const QUOTED = /^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*')\s*:(?=\s|$)/;

function parseKey(text: string, column: number): LineTokens['key'] {
  const rest = text.slice(column);
  const quoted = QUOTED.exec(rest);
  if (quoted) return { column, name: unquoted(quoted[1] ?? ''), colon: column + quoted[0].length - 1 };
  if (/^["'{[|>!&*#]/.test(rest)) return null;
  const colon = rest.search(/:(?=\s|$)/);
  const name = rest.slice(0, colon).trimEnd();
  if (colon <= 0 || name.includes(' #')) return null;
  return { column, name, colon: column + colon };
}

/** Dashes and key of a line; null for an empty line and a comment. */
function parseLine(line: string): LineTokens | null {
  const text = line.slice(0, MAX_COLUMNS);
  const dashes: number[] = [];
  let content = text.search(/\S|$/);
  if (content === text.length || text[content] === '#') return null;
  while (text[content] === '-' && /^\s?$/.test(text.charAt(content + 1))) {
    dashes.push(content);
    content += 1 + text.slice(content + 1).search(/\S|$/);
  }
  return { dashes, content, key: parseKey(text, content) };
}

const isDocumentEnd = (line: string): boolean => /^(---|\.\.\.)(\s|$)/.test(line);

/** Rest of a line without anchor, tag and comment. */
const withoutProperties = (rest: string): string => rest.replace(/^(\s*[&!]\S*(?=\s|$))+/, '').replace(/(^|\s)#.*$/, '').trim();

/** True if the value of the token may be the following, deeper lines. */
function isOpen(line: string, tokens: LineTokens): boolean {
  const { key, content } = tokens;
  return withoutProperties(line.slice(key ? key.colon + 1 : content, MAX_COLUMNS)) === '';
}

/** Path to a node by its column and the dashes before it on its line; null if its parent is a scalar. */
function pathTo(source: LineSource, number: number, column: number, dashes: number[]): Segment[] | null {
  const path: Segment[] = dashes.map(() => ITEM);
  let bound = dashes[0] ?? column;
  let isItem = dashes.length > 0;
  for (let i = number - 1; bound > 0 || isItem; i--) {
    if (i < 1) return path;
    if (i < number - MAX_LINES) return null;
    const { text } = source.line(i);
    if (isDocumentEnd(text)) return path;
    const tokens = parseLine(text);
    if (!tokens) continue;
    const { key } = tokens;
    // A list may have the same indentation as its key.
    if (key && (key.column < bound || (isItem && key.column === bound))) {
      if (!isOpen(text, tokens)) return null;
      path.unshift(key.name);
      bound = key.column;
      isItem = false;
    }
    for (const dash of [...tokens.dashes].reverse()) {
      if (dash >= bound) continue;
      if (!key && !isOpen(text, tokens)) return null;
      path.unshift(ITEM);
      bound = dash;
      isItem = true;
    }
  }
  return path;
}

/** Keys of the mapping at a column, before (`step` -1) or after a line. */
function* neighbors(source: LineSource, number: number, column: number, step: 1 | -1): Generator<string> {
  for (let n = 1; n <= MAX_LINES; n++) {
    const i = number + step * n;
    if (i < 1 || i > source.lines) return;
    const { text } = source.line(i);
    if (isDocumentEnd(text)) return;
    const tokens = parseLine(text);
    if (!tokens) continue;
    const { key, dashes, content } = tokens;
    const isFirst = dashes.some((dash) => dash < column);
    if (key?.column === column && (step < 0 || !isFirst)) yield key.name;
    if (isFirst || content < column) return;
  }
}

function siblings(source: LineSource, number: number, column: number, isFirst: boolean): string[] {
  const before = isFirst ? [] : [...neighbors(source, number, column, -1)];
  return [...before, ...neighbors(source, number, column, 1)];
}

/** The place at a column (counted from 0) of a line; null where neither a key nor a value is expected. */
export function placeAt(source: LineSource, number: number, column: number): YamlPlace | null {
  if (column > MAX_COLUMNS) return null;
  const text = source.line(number).text.slice(0, MAX_COLUMNS);
  if (text.trim() === '') return blockPlace(source, number, column, []);
  const tokens = parseLine(text);
  if (!tokens) return null;
  const { dashes, key } = tokens;
  const content = tokens.content === text.length ? column : tokens.content;
  const lastDash = dashes.at(-1);
  if (column < content || (lastDash !== undefined && column <= lastDash + 1)) return null;
  if (key && column > key.colon) return valuePlace(source, number, column, tokens, key);
  const start = content + propertiesLength(text.slice(content));
  if (isFlow(text[start])) return flowWithin(source, number, column, tokens, start, []);
  if (!key && !/^[\w.-]*$/.test(text.slice(content, column))) return null;
  return blockPlace(source, number, content, dashes);
}

/** Length of anchors and tags, and of the spaces around them. */
const propertiesLength = (rest: string): number => /^(\s*[&!]\S*)*\s*/.exec(rest)?.[0].length ?? 0;

function blockPlace(source: LineSource, number: number, column: number, dashes: number[]): YamlPlace | null {
  const path = pathTo(source, number, column, dashes);
  if (!path) return null;
  return { path, kind: 'key', from: column, present: siblings(source, number, column, dashes.length > 0), style: 'block' };
}

function valuePlace(
  source: LineSource,
  number: number,
  column: number,
  tokens: LineTokens,
  key: NonNullable<LineTokens['key']>,
): YamlPlace | null {
  const text = source.line(number).text.slice(0, MAX_COLUMNS);
  const start = key.colon + 1 + propertiesLength(text.slice(key.colon + 1));
  if (isFlow(text[start]) && column > start) return flowWithin(source, number, column, tokens, start, [key.name]);
  const typed = text.slice(Math.min(start, column), column);
  if (column === key.colon + 1 || !/^[\w.-]*$/.test(typed)) return null;
  const path = pathTo(source, number, key.column, tokens.dashes);
  return path && { path: [...path, key.name], kind: 'value', from: Math.min(start, column), present: [], style: 'block' };
}

function flowWithin(
  source: LineSource,
  number: number,
  column: number,
  tokens: LineTokens,
  start: number,
  keys: string[],
): YamlPlace | null {
  const place = flowPlace(source.line(number).text.slice(0, MAX_COLUMNS), start, column);
  const path = place && pathTo(source, number, tokens.content, tokens.dashes);
  return path && { ...place, path: [...path, ...keys, ...place.path], style: 'flow' };
}

/** The key at a column of a line, for its description; null if there is none. */
export function keyAt(source: LineSource, number: number, column: number): KeyRange | null {
  const place = placeAt(source, number, column);
  if (place?.kind !== 'key') return null;
  const rest = source.line(number).text.slice(place.from, MAX_COLUMNS);
  const written = place.style === 'block' ? blockKey(rest) : /^("[^"]*"|'[^']*'|[^\s:,{}[\]]+)(?=\s*:)/.exec(rest)?.[0];
  if (!written || column > place.from + written.length) return null;
  return { path: [...place.path, unquoted(written)], from: place.from, to: place.from + written.length };
}

function blockKey(rest: string): string | undefined {
  const key = parseKey(rest, 0);
  return key ? rest.slice(0, key.colon).trimEnd() : undefined;
}

/** Indentation after a line that ends with a key without a value or with an empty item; null after other lines. */
export function indentationAfter(line: string, unit: number): number | null {
  const tokens = parseLine(line);
  if (!tokens?.key || line.length > MAX_COLUMNS || !/^\s*([|>][+-]?\d?)?$/.test(withoutProperties(line.slice(tokens.key.colon + 1)))) return null;
  return tokens.key.column + unit;
}
