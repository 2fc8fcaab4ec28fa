import { expect, test } from 'vitest';
import { slice } from '../src/slice';

test('a slice begins at the top and goes clockwise', () => {
  expect(slice(0, 0.25)).toBe('M0 0L0.0000 -1.0000A1 1 0 0 1 1.0000 -0.0000Z');
  expect(slice(0.25, 1)).toBe('M0 0L1.0000 -0.0000A1 1 0 1 1 -0.0000 -1.0000Z');
});

test('the whole is a circle', () => {
  expect(slice(0, 1)).toBe('M0-1A1 1 0 1 1 0 1A1 1 0 1 1 0-1Z');
});
