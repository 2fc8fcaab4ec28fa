// A heat map: cells painted on the canvas of the chart; darker cells have higher counts.

import type uPlot from 'uplot';
import { themed } from './dom';
import { bend } from './scale';
import type { Figure, Heat } from './types';

const SHADES = 24;

/** Paints the cells between uPlot's grid and pointer. */
export function paint(u: uPlot, figure: Figure, heat: Heat): void {
  const across = bend(figure.x.scale);
  const up = bend(figure.y.scale);
  const most = Math.max(1, ...heat.counts.map((column) => Math.max(0, ...column)));
  const [none, full] = [rgb(themed('--heat-low')), rgb(themed('--heat-high'))];
  const shades = Array.from({ length: SHADES }, (_, i) => mix(none, full, i / (SHADES - 1)));
  const rows = heat.y.map((y) => edge(up.to(y), (at) => u.valToPos(at, 'y', true), u.bbox.top + u.bbox.height));
  const columns = heat.x.map((x) => edge(across.to(x), (at) => u.valToPos(at, 'x', true), u.bbox.left));
  u.ctx.save();
  u.ctx.beginPath();
  u.ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
  u.ctx.clip();
  heat.counts.forEach((column, i) => {
    const [left = 0, right = 0] = [columns[i], columns[i + 1]];
    column.forEach((count, j) => {
      if (count === 0) return;
      const [bottom = 0, top = 0] = [rows[j], rows[j + 1]];
      u.ctx.fillStyle = shades[shade(count, most)] ?? '';
      u.ctx.fillRect(left, top, Math.max(1, right - left), Math.max(1, bottom - top));
    });
  });
  u.ctx.restore();
}

/** Shade of a count, logarithmic, because counts differ by powers of ten. */
export function shade(count: number, most: number): number {
  const share = most > 1 ? Math.log(count) / Math.log(most) : 1;
  return Math.round((0.12 + 0.88 * share) * (SHADES - 1));
}

const edge = (bent: number | null, place: (at: number) => number, otherwise: number): number =>
  Math.round(bent === null ? otherwise : place(bent));

const rgb = (hex: string): number[] => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));

const mix = (a: number[], b: number[], share: number): string =>
  `rgb(${a.map((x, i) => Math.round(x + ((b[i] ?? 0) - x) * share)).join(' ')})`;

/** Place of a cell in a heat map. */
export interface CellPosition {
  column: number;
  row: number;
}

/** A cell of a heat map. */
export interface Cell {
  x: readonly [number, number];
  y: readonly [number, number];
  count: number;
}

/** The cell at values of x and y with its borders and count; null outside. */
export function cellAt(heat: Heat, x: number, y: number): Cell | null {
  return cellOf(heat, { column: heat.x.findLastIndex((border) => border <= x), row: heat.y.findLastIndex((border) => border <= y) });
}

/** The cell at a place; null outside. */
export function cellOf(heat: Heat, { column, row }: CellPosition): Cell | null {
  const count = heat.counts[column]?.[row];
  const [x0, x1, y0, y1] = [heat.x[column], heat.x[column + 1], heat.y[row], heat.y[row + 1]];
  if (count === undefined || x0 === undefined || x1 === undefined || y0 === undefined || y1 === undefined) return null;
  return { x: [x0, x1] as const, y: [y0, y1] as const, count };
}

/** Rows of a column that have a count, from below. */
const rowsOf = (heat: Heat, column: number): number[] => (heat.counts[column] ?? []).flatMap((count, row) => (count > 0 ? [row] : []));

/** The next cell with a count in the same column: above for 1, below for -1. */
export function cellInColumn(heat: Heat, { column, row }: CellPosition, by: 1 | -1): CellPosition | null {
  const rows = rowsOf(heat, column).filter((other) => (other - row) * by > 0);
  const next = by > 0 ? rows[0] : rows.at(-1);
  return next === undefined ? null : { column, row: next };
}

/** The cell with a count that is nearest to a row, in the first column with one: from `column` on, to the right or to the left. */
export function cellFrom(heat: Heat, column: number, row: number, by: 1 | -1): CellPosition | null {
  for (let i = column; i >= 0 && i < heat.counts.length; i += by) {
    const [nearest] = rowsOf(heat, i).sort((a, b) => Math.abs(a - row) - Math.abs(b - row));
    if (nearest !== undefined) return { column: i, row: nearest };
  }
  return null;
}
