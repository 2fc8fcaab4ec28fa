import { readFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { CheckSchedule, problemsOf, type CheckResult } from '../src/editor/check';
import { ITEM } from '../src/editor/path';
import { descriptionAt, keysAt, valuesAt, type SchemaNode } from '../src/editor/schema';
import { endOfWord, minimalChange, nestingDepth, offsetOfColumn } from '../src/editor/text';
import { MAX_LINES, indentationAfter, keyAt, placeAt, type LineSource } from '../src/editor/yaml';

const schema = JSON.parse(readFileSync(new URL('../../docs/plan.schema.json', import.meta.url), 'utf8')) as SchemaNode;

const source = (text: string): LineSource => {
  const lines = text.split('\n');
  return { lines: lines.length, line: (number) => ({ text: lines[number - 1] ?? '' }) };
};

/** Text without its cursor (`|`), and the position of the cursor. */
function cursor(marked: string): [LineSource, number, number] {
  const before = marked.slice(0, marked.indexOf('|')).split('\n');
  return [source(marked.replace('|', '')), before.length, before.at(-1)?.length ?? 0];
}

const placeOf = (marked: string) => placeAt(...cursor(marked));

/** Path to the cursor; items of lists are `*`. */
function pathOf(marked: string): string | null {
  const place = placeOf(marked);
  return place && `${place.kind} ${place.path.map((segment) => (segment === ITEM ? '*' : segment)).join('.')}`;
}

function proposedKeys(marked: string): string[] {
  const place = placeOf(marked);
  return place?.kind === 'key' ? keysAt(schema, place.path, place.present).map((key) => key.name) : [];
}

function proposedValues(marked: string): string[] {
  const place = placeOf(marked);
  return place ? valuesAt(schema, place.path).map((value) => value.text) : [];
}

function hovered(marked: string): string {
  const key = keyAt(...cursor(marked));
  return key ? descriptionAt(schema, key.path) : '';
}

test('the indentation gives the path of keys', () => {
  expect(pathOf('|')).toBe('key ');
  expect(pathOf('load:\n  |')).toBe('key load');
  expect(pathOf('load:\n  ra|')).toBe('key load');
  expect(pathOf('load:\n|')).toBe('key ');
  expect(pathOf('load: # comment\n\n  # comment\n  rate: |')).toBe('value load.rate');
  expect(pathOf('a:\n  b:\n    c: 1\n  |')).toBe('key a');
  expect(pathOf('"a b":\n  |')).toBe('key a b');
  expect(pathOf('a: &anchor !tag # comment\n  |')).toBe('key a');
  expect(pathOf('a:\n  b:\n---\n|')).toBe('key ');
});

test('lists are part of the path', () => {
  expect(pathOf('scenario:\n  steps:\n  - |')).toBe('key scenario.steps.*');
  expect(pathOf('scenario:\n  steps:\n    - |')).toBe('key scenario.steps.*');
  expect(pathOf('steps:\n- get: /\n  |')).toBe('key steps.*');
  expect(pathOf('steps:\n- get: /\n- |')).toBe('key steps.*');
  expect(pathOf('steps:\n- loop: 10\n  steps:\n  - |')).toBe('key steps.*.steps.*');
  expect(pathOf('steps:\n- check:\n    |')).toBe('key steps.*.check');
  expect(pathOf('a:\n- - |')).toBe('key a.*.*');
  expect(pathOf('a:\n  -|')).toBeNull();
});

test('flow style on one line is part of the path', () => {
  expect(pathOf('load: {|}')).toBe('key load');
  expect(pathOf('load: {users: 20, ra|}')).toBe('key load');
  expect(pathOf('load: {users: |')).toBe('value load.users');
  expect(pathOf('load: {users: "a, {b", |')).toBe('key load');
  expect(pathOf('steps: [{get: /1k, |')).toBe('key steps.*');
  expect(pathOf('- {check: {status: 1, |}}')).toBe('key *.check');
  expect(pathOf('  - a: {b: {c: 1}, d: |}')).toBe('value *.a.d');
  expect(pathOf('load: {users: 20} |')).toBeNull();
});

test('there are no proposals within scalars and comments', () => {
  expect(pathOf('start: |\n  a:\n    '.replace('|', '>') + '|')).toBeNull();
  expect(pathOf('name: shop\n  |')).toBeNull();
  expect(pathOf('# lo|')).toBeNull();
  expect(pathOf('name: a # lo|')).toBeNull();
  expect(pathOf('name: "lo|"')).toBeNull();
  expect(pathOf('name:|')).toBeNull();
  expect(pathOf('|  name: x')).toBeNull();
  expect(pathOf(`${'x'.repeat(5000)}|`)).toBeNull();
});

test('keys of the same mapping are known', () => {
  expect(placeOf('a: 1\nb:\n  c: 1\n|\nd: 1\n')?.present).toEqual(['b', 'a', 'd']);
  expect(placeOf('- a: 1\n  b: 2\n  |\n  c: 3\n- d: 4')?.present.sort()).toEqual(['a', 'b', 'c']);
  expect(placeOf('- a: 1\n- |\n  b: 2')?.present).toEqual(['b']);
  expect(placeOf('x: {a: 1, |, c: {d: 2}, e: 3}')?.present).toEqual(['a', 'c', 'e']);
  expect(placeOf('x: {a: 1, b|: 2}')?.present).toEqual(['a']);
});

test('keys come from the schema of plans', () => {
  expect(proposedKeys('|')).toEqual(expect.arrayContaining(['name', 'load', 'scenario', 'contenders']));
  expect(proposedKeys('load:\n  |')).toEqual(expect.arrayContaining(['rate', 'users']));
  expect(proposedKeys('load: {|}')).toEqual(expect.arrayContaining(['rate', 'users']));
  expect(proposedKeys('scenario:\n  steps:\n  - |')).toEqual(expect.arrayContaining(['get', 'post', 'loop']));
  expect(proposedKeys('setup:\n- |')).toContain('get');
  expect(proposedKeys('setup:\n  |')).toContain('steps');
  expect(proposedKeys('contenders:\n  nginx:\n    |')).toContain('load');
  expect(proposedKeys('choose:\n  scale:\n    small:\n      load: {|}')).toContain('duration');
  expect(proposedKeys('scenario:\n  steps:\n  - loop: 2\n    steps:\n    - loop: 3\n      steps:\n      - |')).toContain('get');
  expect(proposedKeys('unknown:\n  |')).toEqual([]);
  expect(proposedKeys('vars:\n  constructor:\n    |')).toEqual([]);
});

test('a key that is there already is not proposed', () => {
  expect(proposedKeys('load:\n  rate: 5\n  |\n  users: 3')).not.toEqual(expect.arrayContaining(['rate']));
  expect(proposedKeys('load:\n  rate: 5\n  |\n  users: 3')).not.toContain('users');
  expect(proposedKeys('load:\n  rate: 5\n  |\n  users: 3')).toContain('duration');
  // A probe has one kind, so the other kinds do not fit.
  expect(proposedKeys('probes:\n- |')).toEqual(expect.arrayContaining(['host', 'server']));
  expect(proposedKeys('probes:\n- host: {}\n  |')).toEqual([]);
});

test('values come from the schema of plans', () => {
  expect(proposedValues('order: |')).toEqual(['interleaved', 'blocks', 'random']);
  expect(proposedValues('scenario: {on_failure: it|}')).toEqual(['continue', 'iteration', 'user', 'run']);
  expect(proposedValues('checks:\n  same_length: |')).toEqual(['true', 'false']);
  expect(proposedValues('name: |')).toEqual([]);
  expect(valuesAt({ properties: { a: { enum: ['on', 'x y', 2, null] } } }, ['a']).map((v) => v.text)).toEqual(['"on"', '"x y"', '2']);
});

test('a key has its description', () => {
  expect(hovered('load:\n  ra|te: 5')).toMatch(/requests per second/);
  expect(hovered('load: {users: 2, ra|te: 5}')).toMatch(/requests per second/);
  expect(hovered('- x\nload: {users: 2, rate: 5|}')).toBe('');
  expect(hovered('lo|ad:')).toMatch(/Load/);
  expect(hovered('vars:\n  sca|le: full')).toBe('');
  expect(hovered('load:\n  rate: 5|')).toBe('');
});

test('a recursive schema ends', () => {
  const node: SchemaNode = { properties: { a: { type: 'string' } } };
  node.anyOf = [{ $ref: '#' }, { allOf: [{ $ref: '#/anyOf/0' }] }, { $ref: '#/missing' }, { $ref: 'http://elsewhere/' }];
  node.additionalProperties = { $ref: '#' };
  expect(keysAt(node, ['b', 'c', 'd']).map((key) => key.name)).toEqual(['a']);
});

test('a proposal reads a bounded number of lines', () => {
  const steps = '  - loop: 2\n    steps:\n    - get: /\n'.repeat(20_000);
  const [doc, ...rest] = cursor(`scenario:\n  steps:\n${steps}  - transaction: t\n    |`);
  let lines = 0;
  const counting = new Proxy(doc, {
    get(target, name) {
      if (name === 'line') lines += 1;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  expect(placeAt(counting, ...rest)).toBeNull();
  expect(lines).toBeLessThan(2 * MAX_LINES);
});

test('the line after an open key is indented', () => {
  expect(indentationAfter('load:', 2)).toBe(2);
  expect(indentationAfter('  - loop: # twice', 2)).toBe(6);
  expect(indentationAfter('start: |', 2)).toBe(2);
  expect(indentationAfter('rate: 5', 2)).toBeNull();
  expect(indentationAfter('', 2)).toBeNull();
});

test('a change keeps the common beginning and end', () => {
  expect(minimalChange('abc', 'abc')).toBeNull();
  expect(minimalChange('abc', 'axc')).toEqual({ from: 1, to: 2, insert: 'x' });
  expect(minimalChange('aa', 'aaa')).toEqual({ from: 2, to: 2, insert: 'a' });
  expect(minimalChange('', 'a')).toEqual({ from: 0, to: 0, insert: 'a' });
  // A change must not divide a surrogate pair: 😀 and 😁 have the first unit in common, 😀 and 🈀 the second.
  expect(minimalChange('a😀b', 'a😁b')).toEqual({ from: 1, to: 3, insert: '😁' });
  expect(minimalChange('a😀b', 'a\u{1fa00}b')).toEqual({ from: 1, to: 3, insert: '\u{1fa00}' });
});

test('nesting is measured', () => {
  expect(nestingDepth('a: {b: [1], c: [2]}\n]]{')).toBe(2);
  expect(nestingDepth('')).toBe(0);
});

test('columns count code points', () => {
  expect(offsetOfColumn('a😀b', 1)).toBe(0);
  expect(offsetOfColumn('a😀b', 3)).toBe(3);
  expect(offsetOfColumn('a😀b', 9)).toBe(4);
  expect(endOfWord('rate: x', 0)).toBe(4);
  expect(endOfWord('rate: x', 4)).toBe(7);
});

test('a reply has problems or another form', () => {
  expect(problemsOf({ problems: [{ line: 2, column: 3, severity: 'warning', message: 'm' }] })).toEqual([
    { line: 2, column: 3, severity: 'warning', message: 'm' },
  ]);
  expect(problemsOf({ problems: [{ message: 'm' }, 1] })).toEqual([{ line: 0, column: 1, severity: 'error', message: 'm' }]);
  expect(problemsOf({})).toBeNull();
  expect(problemsOf(null)).toBeNull();
});

test('one request at a time, and only the reply to the newest text is shown', async () => {
  vi.useFakeTimers();
  const replies: ((result: CheckResult) => void)[] = [];
  const texts: string[] = [];
  const shown: CheckResult[] = [];
  let text = 'a';
  const request = (sent: string): Promise<CheckResult> => {
    texts.push(sent);
    return new Promise((resolve) => replies.push(resolve));
  };
  const checks = new CheckSchedule(() => text, request, (result) => shown.push(result));
  void checks.check();
  text = 'b';
  checks.change();
  await vi.advanceTimersByTimeAsync(1000);
  expect(texts).toEqual(['a']);
  replies[0]?.({ failure: 'old' });
  await vi.advanceTimersByTimeAsync(0);
  expect(texts).toEqual(['a', 'b']);
  text = 'c';
  checks.change();
  replies[1]?.({ failure: 'old' });
  await vi.advanceTimersByTimeAsync(399);
  expect(texts).toEqual(['a', 'b']);
  await vi.advanceTimersByTimeAsync(1);
  expect(texts).toEqual(['a', 'b', 'c']);
  replies[2]?.({ failure: 'new' });
  await vi.advanceTimersByTimeAsync(1000);
  expect(shown).toEqual([{ failure: 'new' }]);
  expect(texts).toHaveLength(3);
  vi.useRealTimers();
});
