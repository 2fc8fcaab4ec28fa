// Draws the load of a plan over time as small line charts.

import { h } from '../dom';
import { value } from '../format';
import { ends, roundStep, ticks } from '../scale';
import { text } from '../texts';
import type { Curve } from './outline';

const WIDTH = 400;
const HEIGHT = 116;
const LEFT = 46;
const RIGHT = 14;
const TOP = 8;
const BOTTOM = 24;
const COLORS = 8;

const NAMESPACE = 'http://www.w3.org/2000/svg';

function svg(name: string, attributes: Record<string, string | number>, ...children: (Node | string)[]): SVGElement {
  const element = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  element.append(...children);
  return element;
}

const UNITS: [seconds: number, name: string][] = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'min'],
];

/** A duration with at most two units: `90 s`, `10 min`, `1 h 30 min`. */
export function duration(seconds: number): string {
  const index = UNITS.findIndex(([size]) => seconds >= size && (size > 60 || seconds >= 120 || seconds === 60));
  const unit = UNITS[index];
  if (!unit) return `${Number(seconds.toPrecision(3))} s`;
  const [size, name] = unit;
  const [smaller, smallerName] = UNITS[index + 1] ?? [1, 's'];
  // Rounded before it is divided, so that the rest is never a whole unit.
  const total = Math.round(seconds / smaller);
  const whole = Math.floor((total * smaller) / size);
  const rest = total - (whole * size) / smaller;
  return rest > 0 ? `${whole} ${name} ${rest} ${smallerName}` : `${whole} ${name}`;
}

const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400];

/** Instants with labels on the axis of time, from 0. */
export function timeTicks(end: number, most: number): number[] {
  const least = end / most;
  const step = least < 1 ? roundStep(end, most) : (STEPS.find((size) => size >= least) ?? Math.ceil(least / 86_400) * 86_400);
  if (!(step > 0)) return [0];
  return Array.from({ length: Math.floor(end / step + 1e-9) + 1 }, (_, i) => i * step);
}

function label({ name, unit, points }: Curve, end: number): string {
  const values = points.map(([, amount]) => amount);
  const low = value(values.reduce((a, b) => Math.min(a, b), Infinity), 'count');
  const high = value(values.reduce((a, b) => Math.max(a, b), -Infinity), 'count');
  const time = duration(end);
  if (!name) return text('load-curve', { unit, duration: time, low, high });
  return text('load-curve-of', { name, unit, duration: time, low, high });
}

function chart(curve: Curve, color: number): SVGElement {
  const end = curve.points.reduce((latest, [seconds]) => Math.max(latest, seconds), 0) || 1;
  const high = curve.points.reduce((highest, [, amount]) => Math.max(highest, amount), 0);
  const [low, top] = ends('linear', 'count', 0, high);
  const x = (seconds: number): number => LEFT + (seconds / end) * (WIDTH - LEFT - RIGHT);
  const y = (amount: number): number => HEIGHT - BOTTOM - ((amount - low) / (top - low)) * (HEIGHT - TOP - BOTTOM);
  const levels = ticks('linear', 'count', low, top, 4);
  const lines = levels.map(({ at }) => svg('line', { class: 'grid', x1: LEFT, x2: WIDTH - RIGHT, y1: y(at), y2: y(at) }));
  const values = levels.map((level) => svg('text', { x: LEFT - 6, y: y(level.at) + 4, 'text-anchor': 'end' }, level.text));
  const times = timeTicks(end, 5).map((at) => {
    // A label at the edge would be cut off.
    const anchor = x(at) > WIDTH - RIGHT - 20 ? 'end' : 'middle';
    return svg('text', { x: anchor === 'end' ? WIDTH - 2 : x(at), y: HEIGHT - 6, 'text-anchor': anchor }, at === 0 ? '0' : duration(at));
  });
  const path = curve.points.map(([seconds, amount]) => `${x(seconds).toFixed(1)},${y(amount).toFixed(1)}`).join(' ');
  const line = svg('polyline', { class: `stroke-${color % COLORS}`, points: path });
  const view = { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': label(curve, end) };
  return svg('svg', view, ...lines, ...values, ...times, line);
}

/** The charts of all curves; null without curves. */
export function drawCurves(curves: Curve[]): HTMLElement | null {
  const drawable = curves.filter((curve) => curve.points.length > 0);
  if (drawable.length === 0) return null;
  const figures = drawable.map((curve, i) => {
    const { name, unit } = curve;
    const caption = h('figcaption', {}, name ? text('load-curve-title', { name, unit }) : unit);
    const figure = h('figure', {}, caption);
    figure.append(chart(curve, i));
    return figure;
  });
  return h('div', { class: 'plan-curves' }, ...figures);
}
