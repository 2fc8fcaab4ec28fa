// Sums of a zoomed range: counts and cells of response times are added; nothing is averaged.
//
// The cells are those of lib/stats/src/sketch.rs: eight adjacent buckets of an HDR histogram (1024 per power of two,
// values below 2048 one each), so 128 per power of two. test/sums.test.ts compares this file with the results of Rust.

import type { Zoom } from './types';

const HALF_BITS = 10;
const JOINED = 8;

/** Maximum number of nanoseconds in a cell. */
export function highOf(cell: number): number {
  const index = cell * JOINED + JOINED - 1;
  const octave = Math.max(0, (index >>> HALF_BITS) - 1);
  const within = index - octave * 2 ** HALF_BITS;
  return within * 2 ** octave + 2 ** octave - 1;
}

/** 1-based rank of quantile `q` among `count` values, as in lib/stats/src/quantile.rs. */
export function rank(q: number, count: number): number {
  const exact = q * count;
  const raw = Math.ceil(exact - 1e-9 * Math.max(exact, 1));
  return Math.min(Math.max(raw, 1), Math.max(count, 1));
}

/**
  * Decodes cells and their counts from base64. A cell is a byte: the distance from the previous cell in the upper two bits, the
  * count in the lower six. A part of 0 means that the number did not fit and follows in LEB128, distance first.
 */
export function* unpack(packed: string): Generator<[cell: number, count: number]> {
  const bytes = atob(packed);
  let at = 0;
  let cell = 0;
  const number = (): number => {
    for (let value = 0, place = 1; ; place *= 128) {
      const byte = bytes.charCodeAt(at++);
      value += (byte & 0x7f) * place;
      if (!(byte >= 0x80)) return value;
    }
  };
  while (at < bytes.length) {
    const head = bytes.charCodeAt(at++);
    cell += head >> 6 || number();
    yield [cell, head & 0x3f || number()];
  }
}

/** Counts of response times by cell. */
export class Sketch {
  private readonly counts = new Map<number, number>();
  count = 0;
  max = 0;

  /** Adds packed cells. */
  add(packed: string, max: number): void {
    for (const [cell, n] of unpack(packed)) {
      this.counts.set(cell, (this.counts.get(cell) ?? 0) + n);
      this.count += n;
    }
    this.max = Math.max(this.max, max);
  }

  /** Nanoseconds at quantile `q`: the maximum of its cell; null without samples. */
  quantile(q: number): number | null {
    if (this.count === 0) return null;
    const wanted = rank(q, this.count);
    let seen = 0;
    for (const [cell, n] of [...this.counts].sort((a, b) => a[0] - b[0])) {
      seen += n;
      if (seen >= wanted) return Math.min(highOf(cell), this.max);
    }
    return this.max;
  }
}

/** Sums of a range of time. */
export interface Summary {
  /** The summed range: whole points only. */
  from: number;
  to: number;
  planned: number;
  completed: number;
  errors: number;
  sketch: Sketch;
}

/** Sums the points that begin within the range; null if there are none. */
export function sum(zoom: Zoom, from: number, to: number): Summary | null {
  const s: Summary = { from: Infinity, to: -Infinity, planned: 0, completed: 0, errors: 0, sketch: new Sketch() };
  zoom.from_seconds.forEach((begins, i) => {
    const end = zoom.to_seconds[i] ?? begins;
    const middle = (begins + end) / 2;
    if (middle < from || middle >= to) return;
    s.from = Math.min(s.from, begins);
    s.to = Math.max(s.to, end);
    s.planned += zoom.planned[i] ?? 0;
    s.completed += zoom.completed[i] ?? 0;
    s.errors += zoom.errors[i] ?? 0;
    s.sketch.add(zoom.cells[i] ?? '', zoom.max_nanos[i] ?? 0);
  });
  return s.to > s.from ? s : null;
}
