import { readFileSync, readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { descriptionAt, keysAt, type SchemaNode } from '../src/editor/schema';
import { keyAt, type KeyRange, type LineSource } from '../src/editor/yaml';

const file = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const schema = JSON.parse(file('docs/plan.schema.json')) as SchemaNode;
const examples = readdirSync(new URL('../../examples', import.meta.url)).filter((name) => name.endsWith('.yaml'));

/** All keys of a text. */
function keysOf(text: string): KeyRange[] {
  const lines = text.split('\n');
  const source: LineSource = { lines: lines.length, line: (number) => ({ text: lines[number - 1] ?? '' }) };
  const columns = lines.flatMap((line, i) => Array.from(line, (_, column) => ({ number: i + 1, column })));
  return columns.flatMap(({ number, column }) => {
    const key = keyAt(source, number, column);
    return key?.from === column ? [key] : [];
  });
}

test.each(examples)('the schema has each key of %s, except for names that the user chooses', (name) => {
  const keys = keysOf(file(`examples/${name}`));
  expect(keys.length).toBeGreaterThan(20);
  for (const { path } of keys) {
    const proposals = keysAt(schema, path.slice(0, -1)).map((key) => key.name);
    if (proposals.length === 0) continue;
    expect(proposals).toContain(path.at(-1));
    expect(descriptionAt(schema, path)).not.toBe('');
  }
});
