// Converts the lines of a figure to uPlot's format: one transformed x for all, and columns of y with bands.

import type uPlot from 'uplot';
import { bend } from './scale';
import type { Figure, Line } from './types';

type Column = (number | null | undefined)[];

/** All lines over one x. A missing point is undefined (the line continues), a gap is null. */
export interface Columns {
  /** Transformed values. */
  x: number[];
  /** For each line: y, and the ends of its band if it has one. */
  columns: { y: Column; low: Column | null; high: Column | null }[];
}

export function columns(figure: Figure): Columns {
  const across = bend(figure.x.scale);
  const up = bend(figure.y.scale);
  const place = new Map<number, number>();
  const all = new Set<number>();
  const bent = figure.lines.map((line) => line.x.map((x) => across.to(x)));
  for (const xs of bent) for (const x of xs) if (x !== null) all.add(x);
  const x = [...all].sort((a, b) => a - b);
  x.forEach((value, i) => place.set(value, i));
  const spread = (xs: (number | null)[], values: (number | null)[] | undefined): Column | null => {
    if (!values?.some((v) => v !== null)) return null;
    const column: Column = Array.from({ length: x.length });
    xs.forEach((at, i) => {
      const value = values[i] ?? null;
      if (at !== null) column[place.get(at) ?? 0] = value === null ? null : up.to(value);
    });
    return column;
  };
  const one = (line: Line, i: number) => {
    const xs = bent[i] ?? [];
    const y = spread(xs, line.y) ?? Array.from({ length: x.length }, () => null);
    const low = spread(xs, line.low);
    return { y, low, high: low && spread(xs, line.high) };
  };
  return { x, columns: figure.lines.map(one) };
}

/** Columns in uPlot's order: x, then y, low, high of each line. */
export function aligned({ x, columns }: Columns): uPlot.AlignedData {
  return [x, ...columns.flatMap((c) => (c.low && c.high ? [c.y, c.low, c.high] : [c.y]))] as uPlot.AlignedData;
}

/** Minimum and maximum of the visible lines within a transformed x range; null without points. */
export function extent(c: Columns, shown: boolean[], from: number, to: number): [number, number] | null {
  let [low, high] = [Infinity, -Infinity];
  const look = (value: number | null | undefined) => {
    if (value === null || value === undefined) return;
    low = Math.min(low, value);
    high = Math.max(high, value);
  };
  c.columns.forEach((column, line) => {
    if (!shown[line]) return;
    for (let i = 0; i < c.x.length; i++) {
      const x = c.x[i] ?? 0;
      if (x < from || x > to) continue;
      look(column.y[i]);
      look(column.low?.[i]);
      look(column.high?.[i]);
    }
  });
  return high >= low ? [low, high] : null;
}

/** Index of the bar of a histogram at a transformed x; -1 before the first one. */
export const barAt = (line: Line, to: (x: number) => number | null, at: number): number =>
  line.x.findLastIndex((x) => (to(x) ?? Infinity) <= at + 1e-9);

/** Index of the point nearest to a transformed x; -1 if none is near. */
export function nearest(line: Line, to: (x: number) => number | null, at: number, near: number): number {
  let [best, distance] = [-1, near];
  line.x.forEach((x, i) => {
    const bentX = to(x);
    if (bentX === null || line.y[i] === null) return;
    if (Math.abs(bentX - at) <= distance) [best, distance] = [i, Math.abs(bentX - at)];
  });
  return best;
}
