import { describe, expect, test } from 'vitest';
import { bend, ends, roundStep, ticks } from '../src/scale';

const words = (all: { text: string }[]): string[] => all.map((t) => t.text).filter(Boolean);

describe('even axes', () => {
  test('have marks at 1, 2 or 5 times a power of ten', () => {
    expect(words(ticks('linear', 'per_second', 0, 600, 7))).toEqual(['0', '100', '200', '300', '400', '500', '600']);
    expect(words(ticks('linear', 'seconds', 0, 0.35, 5))).toEqual(['0', '100 ms', '200 ms', '300 ms']);
    expect([roundStep(10, 5), roundStep(11, 5), roundStep(0.7, 4)]).toEqual([2, 5, 0.2]);
  });

  test('never have many more marks than asked for', () => {
    for (const span of [0.003, 0.7, 1, 13, 999, 12345.6]) {
      for (const most of [2, 5, 9]) {
        const { length } = ticks('linear', 'count', span / 3, span / 3 + span, most);
        expect(length).toBeLessThanOrEqual(most + 1);
        expect(length).toBeGreaterThan(0);
      }
    }
  });

  test('begin at 0, and hold all', () => {
    expect(ends('linear', 'count', 5, 100)).toEqual([0, 105]);
    expect(ends('linear', 'share', 0, 0.9)).toEqual([0, 1]);
    expect(ends('linear', 'count', 0, 0)).toEqual([0, 1]);
  });
});

describe('a clock', () => {
  const noon = 1_782_907_200;
  test('has round times of day, and the day at midnight', () => {
    expect(words(ticks('linear', 'clock', noon + 7, noon + 57, 8))).toEqual(['12:00:10', '12:00:20', '12:00:30', '12:00:40', '12:00:50']);
    expect(words(ticks('linear', 'clock', noon + 7, noon + 307, 8))).toEqual(['12:01', '12:02', '12:03', '12:04', '12:05']);
    expect(words(ticks('linear', 'clock', noon, noon + 86_400, 5))).toEqual(['12:00', '18:00', 'Jul 2', '06:00', '12:00']);
  });

  test('never has more marks than asked for', () => {
    for (const span of [0.5, 3, 59, 600, 7201, 90_000, 3e6]) {
      expect(ticks('linear', 'clock', noon + 3.3, noon + 3.3 + span, 8).length).toBeLessThanOrEqual(9);
    }
  });
});

describe('axes by powers of ten', () => {
  test('have words at powers, and lines between', () => {
    const marks = ticks('log', 'seconds', Math.log10(0.001), Math.log10(10), 6);
    expect(words(marks)).toEqual(['1 ms', '10 ms', '100 ms', '1 s', '10 s']);
    expect(marks.length).toBe(37);
  });

  test('have more words where there is room', () => {
    expect(words(ticks('log', 'seconds', Math.log10(0.05), Math.log10(1), 6))).toEqual(['50 ms', '100 ms', '200 ms', '500 ms', '1 s']);
  });

  test('within a part of a power are as even ones', () => {
    expect(words(ticks('log', 'seconds', Math.log10(0.05), Math.log10(0.06), 5))).toEqual(['50 ms', '52 ms', '54 ms', '56 ms', '58 ms', '60 ms']);
  });

  test('have no place for 0', () => {
    expect(bend('log').to(0)).toBeNull();
    expect(bend('log').from(bend('log').to(0.3) ?? 0)).toBeCloseTo(0.3);
  });
});

describe('axes of quantiles', () => {
  test('set 0.9, 0.99 and 0.999 equally far apart', () => {
    const [a, b, c] = [0.9, 0.99, 0.999].map((q) => bend('quantile').to(q) ?? 0);
    expect((b ?? 0) - (a ?? 0)).toBeCloseTo((c ?? 0) - (b ?? 0));
    expect(bend('quantile').to(1)).toBeNull();
  });

  test('are marked in percentiles', () => {
    expect(words(ticks('quantile', 'share', 0, 4, 12))).toEqual(['min', 'p50', 'p75', 'p90', 'p95', 'p99', 'p99.5', 'p99.9', 'p99.99']);
    expect(words(ticks('quantile', 'share', 0, 4, 5))).toEqual(['min', 'p90', 'p99', 'p99.9', 'p99.99']);
  });
});
