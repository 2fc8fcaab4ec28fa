// The values at the pointer, as text.

import { colorNumber } from './color';
import { between, chosen, percentile, value } from './format';
import { cellAt, type Cell } from './heat';
import { barAt, nearest } from './lines';
import { bend } from './scale';
import { text } from './texts';
import type { Axis, Figure } from './types';

/** Value of a line at the pointer. */
export interface Reading {
  /** Index of the line; -1 for a cell of a heat map. */
  line: number;
  name: string;
  color: number;
  text: string;
  /** Band as text, or empty. */
  band: string;
}

/** Formats a value of an axis; quantiles as percentiles. */
export const onAxis = (x: number, axis: Axis): string =>
  axis.scale === 'quantile' ? percentile(Number(x.toPrecision(6))) : chosen(Number(x.toPrecision(axis.unit === 'clock' ? 16 : 6)), axis.unit);

/** Values of a figure at a transformed x (for a heat map also y). Lines without a point near x are omitted. */
export function readings(figure: Figure, shown: boolean[], at: number, near: number, y: number | null) {
  if (figure.heat) return cellReading(figure, y === null ? null : cellAt(figure.heat, bend(figure.x.scale).from(at), y));
  const { to } = bend(figure.x.scale);
  const found: Reading[] = [];
  let [x, distance] = [bend(figure.x.scale).from(at), Infinity];
  figure.lines.forEach((line, i) => {
    const point = !shown[i] ? -1 : figure.histogram ? barAt(line, to, at) : nearest(line, to, at, near);
    const px = line.x[point];
    if (px === undefined) return;
    const away = Math.abs((to(px) ?? 0) - at);
    if (away < distance) [x, distance] = [px, away];
    const [low, high] = [line.low?.[point] ?? null, line.high?.[point] ?? null];
    const y = line.y[point] ?? null;
    const band = y === null || low === null || high === null ? '' : between(y, low, high, figure.y.unit);
    found.push({ line: i, name: line.name || figure.y.label, color: colorNumber(figure, i), text: value(y, figure.y.unit), band });
  });
  return { readings: found, title: `${figure.x.label} ${onAxis(x, figure.x)}` };
}

/** The count of a cell of a heat map. */
export function cellReading(figure: Figure, cell: Cell | null): { readings: Reading[]; title: string } {
  if (!cell) return { readings: [], title: '' };
  const between = (ends: readonly [number, number], axis: Axis) => ends.map((e) => value(e, axis.unit)).join(' – ');
  const name = between(cell.y, figure.y);
  const found = [{ line: -1, name, color: 0, text: text('heat-requests', { count: cell.count }), band: '' }];
  return { readings: found, title: `${figure.x.label} ${between(cell.x, figure.x)}` };
}
