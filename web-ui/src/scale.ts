// Axes: transformation of values, and positions of ticks.
//
// Out of scope: drawing. uPlot receives transformed values, so all its axes are linear.

import type { ScaleKind, Unit } from './types';
import { day, percentile, tick, timeOfDay } from './format';
import { text } from './texts';

/** Transformation of an axis; a value without a position (log of 0) becomes null. */
export interface Bend {
  to(x: number): number | null;
  from(u: number): number;
}

const BENDS: Record<ScaleKind, Bend> = {
  linear: { to: (x) => x, from: (u) => u },
  log: { to: (x) => (x > 0 ? Math.log10(x) : null), from: (u) => 10 ** u },
  quantile: { to: (q) => (q < 1 ? -Math.log10(1 - q) : null), from: (u) => 1 - 10 ** -u },
};

export const bend = (scale: ScaleKind): Bend => BENDS[scale];

/** A tick: position in transformed units, and label. A tick without a label is only a line. */
export interface Tick {
  at: number;
  text: string;
}

/** Ticks between two transformed ends, at most about `most` with labels. */
export function ticks(scale: ScaleKind, unit: Unit, low: number, high: number, most: number): Tick[] {
  if (!(high > low)) return [];
  if (scale === 'log' && high - low > 0.5) return logTicks(unit, low, high, most);
  if (scale === 'quantile') return quantileTicks(low, high, most);
  if (scale === 'log') {
    return evenTicks(unit, 10 ** low, 10 ** high, most).map((t) => ({ ...t, at: Math.log10(t.at) }));
  }
  return unit === 'clock' ? clockTicks(low, high, most) : evenTicks(unit, low, high, most);
}

const DAY = 86_400;
/** Distances between ticks of a time axis, in seconds; longer ones are whole days. */
const CLOCK_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, DAY];

/** Round times of day; at midnight the date. */
function clockTicks(low: number, high: number, most: number): Tick[] {
  const least = (high - low) / Math.max(1, most);
  const step = CLOCK_STEPS.find((s) => s >= least) ?? Math.ceil(least / DAY) * DAY;
  const first = Math.ceil(low / step);
  const count = Math.max(0, Math.floor(high / step) - first + 1);
  return Array.from({ length: count }, (_, i) => {
    const at = (first + i) * step;
    return { at, text: at % DAY === 0 ? day(at) : timeOfDay(at, step < 60) };
  });
}

/** Smallest round step (1, 2 or 5 times a power of ten) with at most `most` ticks between the ends. */
export function roundStep(span: number, most: number): number {
  const least = span / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(least));
  return power * ([1, 2, 5, 10].find((m) => m * power >= least * (1 - 1e-9)) ?? 10);
}

function evenTicks(unit: Unit, low: number, high: number, most: number): Tick[] {
  const step = roundStep(high - low, most);
  const first = Math.ceil(low / step - 1e-9);
  const count = Math.floor(high / step + 1e-9) - first + 1;
  const greatest = Math.max(Math.abs(low), Math.abs(high));
  return Array.from({ length: Math.max(0, count) }, (_, i) => {
    const at = Number(((first + i) * step).toPrecision(12));
    return { at, text: tick(at, step, greatest, unit) };
  });
}

function logTicks(unit: Unit, low: number, high: number, most: number): Tick[] {
  const decades = high - low;
  const words = decades * 3 <= most ? [1, 2, 5] : decades * 2 <= most ? [1, 3] : [1];
  const stride = Math.max(1, Math.ceil(decades / most));
  const all: Tick[] = [];
  for (let power = Math.floor(low); power <= Math.ceil(high); power++) {
    for (const m of [1, 2, 3, 4, 5, 6, 7, 8, 9]) {
      const at = power + Math.log10(m);
      if (at < low - 1e-9 || at > high + 1e-9) continue;
      const x = Number(`${m}e${power}`);
      const said = words.includes(m) && power % stride === 0;
      all.push({ at, text: said ? tick(x, x, x, unit) : '' });
    }
  }
  return all;
}

function quantileTicks(low: number, high: number, most: number): Tick[] {
  const common = [0, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9999, 0.99999, 0.999999];
  const fits = (qs: number[]) => qs.filter((q) => at(q) >= low - 1e-9 && at(q) <= high + 1e-9);
  const at = (q: number) => -Math.log10(1 - q);
  const full = fits(common);
  const shown = full.length <= most ? full : fits([0, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999]);
  return shown.map((q) => ({ at: at(q), text: q === 0 ? text('axis-minimum') : percentile(q) }));
}

/** Ends of a y axis that contains all values, in transformed units: from 0 on a linear axis, whole decade ticks otherwise. */
export function ends(scale: ScaleKind, unit: Unit, low: number, high: number): [number, number] {
  if (!(high >= low)) return [0, 1];
  if (scale === 'linear') {
    const top = unit === 'share' && high > 0.5 && high <= 1 ? 1 : high * 1.05;
    return [Math.min(0, low * 1.05), top > 0 ? top : 1];
  }
  const slack = Math.max(0.05, (high - low) * 0.04);
  return [low - slack, high + slack];
}
