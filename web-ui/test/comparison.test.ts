import { expect, test } from 'vitest';
import { measureName, signedShare } from '../src/comparison';

test('measures are called as in the text', () => {
  expect(measureName({ run: { quantile: 0.99 } })).toBe('p99');
  expect(measureName({ run: { quantile: 0.999 } })).toBe('p99.9');
  expect(measureName({ run: 'throughput' })).toBe('throughput');
  expect(measureName('server_cpu')).toBe('server CPU per request');
});

test('a difference has its sign', () => {
  expect(signedShare(0.041)).toBe('+4.1 %');
  expect(signedShare(-0.026)).toBe('−2.6 %');
  expect(signedShare(null)).toBe('–');
});
