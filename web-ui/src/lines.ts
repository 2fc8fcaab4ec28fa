// A figure's lines as uPlot wants them: one x for all, bent, and columns of y with the bands beside.

import type uPlot from 'uplot';
import { bend } from './scale';
import type { Figure, Line } from './types';

type Column = (number | null | undefined)[];

/** All lines over one x. Where a line has no point, it is undefined (drawn across); where it has a gap, null. */
export interface Columns {
  /** Bent. */
  x: number[];
  /** Of each line: y, and low and high of its band where it has one. */
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

/** The columns in uPlot's order: x, then for each line y, low, high. */
export function aligned({ x, columns }: Columns): uPlot.AlignedData {
  return [x, ...columns.flatMap((c) => (c.low && c.high ? [c.y, c.low, c.high] : [c.y]))] as uPlot.AlignedData;
}

/** The least and the greatest that the shown lines have within a range of bent x; null where there is nothing. */
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

/** The point of a line that is nearest to a value of x, bent alike; -1 where none is near. */
export function nearest(line: Line, to: (x: number) => number | null, at: number, near: number): number {
  let [best, distance] = [-1, near];
  line.x.forEach((x, i) => {
    const bentX = to(x);
    if (bentX === null || line.y[i] === null) return;
    if (Math.abs(bentX - at) <= distance) [best, distance] = [i, Math.abs(bentX - at)];
  });
  return best;
}
