import { describe, expect, test } from 'vitest';
import { banded, chosen, percentile, plain, three, tick, value } from '../src/format';

describe('numbers', () => {
  test('have three digits, and all before the point', () => {
    const written = [0.1234, 12.345, 12345.6, 0, 9.999, 0.0001234, 999.6, -3.14159].map(three);
    expect(written).toEqual(['0.123', '12.3', '12,346', '0', '10.0', '0.000123', '1,000', '−3.14']);
  });

  test('as they were typed', () => {
    expect([2000, 0.5, 1234567, -3, 0.1 + 0.2].map(plain)).toEqual(['2,000', '0.5', '1,234,567', '−3', '0.3']);
  });
});

describe('values', () => {
  test('an instant is a day and a time', () => {
    expect(value(1_782_907_207.9, 'clock')).toBe('Jul 1 12:00:07');
  });

  test('times take the unit that fits', () => {
    const written = [391e-6, 0.0012, 3.4142, 0, 0.9999].map((x) => value(x, 'seconds'));
    expect(written).toEqual(['391 µs', '1.20 ms', '3.41 s', '0 µs', '1.00 s']);
  });

  test('other units', () => {
    expect([12345.6, 20, 33.25].map((x) => value(x, 'per_second'))).toEqual(['12,346 /s', '20.0 /s', '33.3 /s']);
    expect([20, 33.25].map((x) => chosen(x, 'per_second'))).toEqual(['20 /s', '33.3 /s']);
    expect(value(0.0421, 'share')).toBe('4.21 %');
    expect(value(124_000, 'bytes')).toBe('124 kB');
    expect(value(2.5e6, 'bytes_per_second')).toBe('2.50 MB/s');
    expect(value(1200, 'users')).toBe('1,200');
    expect(value(1.5, 'cores')).toBe('1.50');
  });

  test('what is not known is a dash', () => {
    expect([value(null, 'seconds'), value(NaN, 'count'), banded(null, 'seconds')]).toEqual(['–', '–', '–']);
  });

  test('bands stand beside', () => {
    expect(banded({ value: 0.16, low: 0.1, high: 0.31, band: 'range' }, 'seconds')).toBe('160 ms (100 – 310)');
    expect(banded({ value: 0.16, low: 0.1, high: 1.2, band: 'range' }, 'seconds')).toBe('160 ms (100 ms – 1.20 s)');
    expect(banded({ value: 5, low: 5, high: 5, band: 'one' }, 'count')).toBe('5');
  });

  test('percentiles', () => {
    expect([0.5, 0.99, 0.999, 0.9999].map(percentile)).toEqual(['p50', 'p99', 'p99.9', 'p99.99']);
  });
});

test('ticks have the digits that tell them apart', () => {
  expect([0, 0.05, 0.1].map((x) => tick(x, 0.05, 0.1, 'seconds'))).toEqual(['0', '50 ms', '100 ms']);
  expect([1, 1.5, 2].map((x) => tick(x, 0.5, 2, 'seconds'))).toEqual(['1.0 s', '1.5 s', '2.0 s']);
  expect([10_000, 20_000].map((x) => tick(x, 10_000, 20_000, 'per_second'))).toEqual(['10k', '20k']);
  expect(tick(0.25, 0.25, 1, 'share')).toBe('25 %');
  expect(tick(5e6, 5e6, 1e7, 'bytes_per_second')).toBe('5 MB/s');
});
