import { expect, test } from 'vitest';
import { cellAt, shade } from '../src/heat';
import { columns, extent, nearest } from '../src/lines';
import { readings } from '../src/readings';
import { order } from '../src/table';
import type { Figure, Line } from '../src/types';

const line = (name: string, x: number[], y: (number | null)[], band?: number): Line => {
  const beside = (by: number) => y.map((v) => (v === null ? null : v + by));
  const ends = band === undefined ? {} : { low: beside(-band), high: beside(band) };
  return { name, contender: null, dash: 0, x, y, ...ends };
};

const figure = (lines: Line[], more: Partial<Figure> = {}): Figure => ({
  id: 'f',
  title: 'F',
  about: '',
  group: 'load',
  x: { label: 'Load', unit: 'per_second', scale: 'linear' },
  y: { label: 'p99', unit: 'seconds', scale: 'linear' },
  lines,
  marks: [],
  heat: null,
  ...more,
});

test('lines with other xs are drawn across them, gaps stay gaps', () => {
  const { x, columns: made } = columns(figure([line('a', [1, 3, 5], [1, null, 3]), line('b', [2, 3], [7, 8], 1)]));
  expect(x).toEqual([1, 2, 3, 5]);
  expect(made[0]?.y).toEqual([1, undefined, null, 3]);
  expect(made[1]?.high).toEqual([undefined, 8, 9, undefined]);
  expect(made[0]?.low).toBeNull();
});

test('a bar of a histogram is read over its whole width', () => {
  const bars = figure([line('', [1, 2, 4], [5, 7, 0])], { histogram: true });
  const read = (x: number) => readings(bars, [true], x, 0, null).readings.map((reading) => reading.text);
  expect([0.5, 1, 1.9, 3.9].map((x) => read(x))).toEqual([[], ['5 s'], ['5 s'], ['7 s']].map((texts) => texts.map((t) => t.replace(/^(\d)/, '$1.00'))));
});

test('the extent is of what is shown, bands with it', () => {
  const all = columns(figure([line('a', [1, 2], [1, 2]), line('b', [1, 2], [10, 20], 5)]));
  expect(extent(all, [true, true], 0, 9)).toEqual([1, 25]);
  expect(extent(all, [true, false], 0, 1.5)).toEqual([1, 1]);
  expect(extent(all, [false, false], 0, 9)).toBeNull();
});

test('the pointer reads the nearest point of each line, and its band', () => {
  const f = figure([line('a', [100, 200], [0.05, 0.06], 0.01), line('b', [100, 140], [0.07, null])]);
  const { readings: found, title } = readings(f, [true, true], 130, 50, null);
  expect(title).toBe('Load 100 /s');
  expect(found.map((r) => [r.name, r.text, r.band])).toEqual([
    ['a', '50.0 ms', '(40.0 – 60.0)'],
    ['b', '70.0 ms', ''],
  ]);
  expect(nearest(f.lines[0]!, (x) => x, 400, 50)).toBe(-1);
});

test('a cell of a heat map is found by its borders', () => {
  const heat = { x: [0, 1, 2], y: [0.1, 0.2, 0.4], counts: [[1, 2], [0, 4]] };
  expect(cellAt(heat, 1.5, 0.3)).toEqual({ x: [1, 2], y: [0.2, 0.4], count: 4 });
  expect(cellAt(heat, 2.5, 0.3)).toBeNull();
  expect(cellAt(heat, 0.5, 0.05)).toBeNull();
  expect(shade(1, 1000)).toBeLessThan(shade(30, 1000));
});

test('what is not known comes last, up or down', () => {
  const sorted = (direction: number) => [3, null, 1, 2].sort((a, b) => order(a, b, direction));
  expect(sorted(1)).toEqual([1, 2, 3, null]);
  expect(sorted(-1)).toEqual([3, 2, 1, null]);
  expect(['run 10', 'run 9'].sort((a, b) => order(a, b, 1))).toEqual(['run 9', 'run 10']);
});
