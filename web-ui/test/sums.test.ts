// The sums of a zoomed range equal those of Rust: crates/report/src/html/zoom.rs wrote zoom.json. It has packed seconds,
// and the results of ranges computed from the histograms themselves.

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { highOf, rank, sum, unpack } from '../src/sketch';
import type { Zoom } from '../src/types';

interface Case {
  zoom: Zoom;
  ranges: {
    from: number;
    to: number;
    planned: number;
    completed: number;
    errors: number;
    count: number;
    max_nanos: number;
    quantiles: [number, number][];
  }[];
}

const cases = JSON.parse(readFileSync(new URL('./zoom.json', import.meta.url), 'utf8')) as Case[];

test('ranges come to what Rust says of them', () => {
  let quantiles = 0;
  for (const { zoom, ranges } of cases) {
    for (const range of ranges) {
      const summed = sum(zoom, range.from, range.to);
      if (range.count === 0 && range.planned === 0) continue;
      const { planned, completed, errors, sketch } = summed ?? expect.fail('there are points in it');
      expect({ planned, completed, errors, count: sketch.count, max_nanos: sketch.max }).toEqual({
        planned: range.planned,
        completed: range.completed,
        errors: range.errors,
        count: range.count,
        max_nanos: range.max_nanos,
      });
      for (const [q, nanos] of range.quantiles) {
        expect(sketch.quantile(q) ?? 0, `quantile ${q} of ${range.from} to ${range.to}`).toBe(nanos);
        quantiles += 1;
      }
    }
  }
  expect(quantiles).toBeGreaterThan(20);
});

test('all seconds together are the run', () => {
  for (const { zoom } of cases) {
    const all = sum(zoom, -Infinity, Infinity);
    expect(all?.completed).toBe(zoom.completed.reduce((a, b) => a + b));
  }
});

test('cells below 2048 hold eight values each, and each touches the next', () => {
  expect(highOf(0)).toBe(7);
  expect(highOf(255)).toBe(2047);
  expect(highOf(256)).toBe(2063);
  for (let cell = 1; cell < 5000; cell++) expect(highOf(cell)).toBeGreaterThan(highOf(cell - 1));
});

test('long distances and great counts are unpacked', () => {
  // 0x41: distance 1, count 1. 0x00 e8 07 80 01: distance 1000, count 128.
  expect([...unpack(btoa('\x41\x00\xe8\x07\x80\x01'))]).toEqual([
    [1, 1],
    [1001, 128],
  ]);
});

test('ranks follow the nearest-rank definition', () => {
  expect([rank(0.99, 100), rank(0.999, 1000), rank(0.5, 3), rank(0, 10), rank(1, 10), rank(0.07, 100), rank(0.5, 0)]).toEqual([
    99, 999, 2, 1, 10, 7, 1,
  ]);
});
