// Formats numbers for people: three significant digits, a suitable unit, commas between thousands. Must agree with
// crates/report/src/figures.rs.

import { locale, text } from './texts';
import type { Banded, Unit } from './types';

export const UNKNOWN = '–';

const grouped = (text: string): string => {
  const [whole = '', rest] = text.split('.');
  const commas = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return rest === undefined ? commas : `${commas}.${rest}`;
};

/** Formats three significant digits and all digits before the point: `0.123`, `12.3`, `12,345`. */
export function three(x: number): string {
  if (!Number.isFinite(x)) return UNKNOWN;
  if (x === 0) return '0';
  const sign = x < 0 ? '−' : '';
  const size = Math.abs(x);
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Number(size.toPrecision(3)))));
  return sign + grouped(size.toFixed(Math.min(digits, 12)));
}

/** Formats a number as a user would type it: `2,000`, `0.5`. */
export function plain(x: number): string {
  return Number.isInteger(x) ? (x < 0 ? '−' : '') + grouped(String(Math.abs(x))) : String(Number(x.toPrecision(6)));
}

interface Step {
  from: number;
  per: number;
  name: string;
}

const TIMES: Step[] = [
  { from: 1, per: 1, name: 's' },
  { from: 1e-3, per: 1e-3, name: 'ms' },
  { from: 0, per: 1e-6, name: 'µs' },
];
const BYTES: Step[] = [
  { from: 1e9, per: 1e9, name: 'GB' },
  { from: 1e6, per: 1e6, name: 'MB' },
  { from: 1e3, per: 1e3, name: 'kB' },
  { from: 0, per: 1, name: 'B' },
];
const NUMBERS: Step[] = [
  { from: 1e9, per: 1e9, name: 'G' },
  { from: 1e6, per: 1e6, name: 'M' },
  { from: 1e4, per: 1e3, name: 'k' },
  { from: 0, per: 1, name: '' },
];
const SHARES: Step[] = [{ from: 0, per: 0.01, name: '%' }];
const PLAIN: Step[] = [{ from: 0, per: 1, name: '' }];

/** Names of a unit by magnitude, and the suffix of all of them. */
const UNITS: Record<Unit, { steps: Step[]; behind: string }> = {
  count: { steps: NUMBERS, behind: '' },
  seconds: { steps: TIMES, behind: '' },
  per_second: { steps: NUMBERS, behind: '/s' },
  share: { steps: SHARES, behind: '' },
  bytes: { steps: BYTES, behind: '' },
  bytes_per_second: { steps: BYTES, behind: '/s' },
  cores: { steps: PLAIN, behind: '' },
  users: { steps: NUMBERS, behind: '' },
  clock: { steps: PLAIN, behind: '' },
};

const stepFor = (steps: Step[], size: number): Step =>
  steps.find((s) => size >= s.from * (1 - 5e-4)) ?? { from: 0, per: 1, name: '' };

/** A value with its unit: `391 µs`, `1.20 ms`, `12,345 /s`, `42.1 %`. */
export function value(x: number | null | undefined, unit: Unit): string {
  if (x === null || x === undefined || !Number.isFinite(x)) return UNKNOWN;
  if (unit === 'clock') return dayAndTime(x);
  const { steps, behind } = UNITS[unit];
  const scaled = unit === 'count' || unit === 'per_second' || unit === 'users' ? PLAIN : steps;
  const step = stepFor(scaled, Math.abs(x));
  const number = unit === 'count' || unit === 'users' ? plainOrThree(x) : three(x / step.per);
  return [number, step.name + behind].filter(Boolean).join(' ');
}

/** Seconds since 1970 in the time zone of the axis: `Nov 26 14:05:07`. */
const dayAndTime = (x: number): string => `${day(x)} ${timeOfDay(x, true)}`;

/** The day in the language of the page: `Nov 26`. */
export const day = (x: number): string => new Date(x * 1000).toLocaleDateString(locale(), { month: 'short', day: 'numeric', timeZone: 'UTC' });

/** The time of day: `14:05`, or `14:05:07`. */
export const timeOfDay = (x: number, seconds: boolean): string => new Date(x * 1000).toISOString().slice(11, seconds ? 19 : 16);

/** A value that the user chose, such as a load: `20 /s`. */
export function chosen(x: number, unit: Unit): string {
  return unit === 'per_second' && Number.isInteger(x) ? `${plain(x)} /s` : value(x, unit);
}

const plainOrThree = (x: number): string => (Number.isInteger(x) ? plain(x) : three(x));

/** A tick label. Adjacent ticks are `apart` away; the label has only the digits that distinguish them. */
export function tick(x: number, apart: number, greatest: number, unit: Unit): string {
  const { steps, behind } = UNITS[unit];
  const step = stepFor(steps, Math.abs(greatest));
  const digits = Math.min(9, Math.max(0, -Math.floor(Math.log10(apart / step.per) + 1e-9)));
  const number = (x < 0 ? '−' : '') + grouped(Math.abs(x / step.per).toFixed(digits));
  if (x === 0) return '0';
  return number + (step.name === '' ? '' : (step.name.length === 1 && 'kMG'.includes(step.name) ? '' : ' ') + step.name) + (behind && step.name.endsWith('B') ? behind : '');
}

/** An instant with a resolution of a second. */
export const instant = (rfc3339: string): string => rfc3339.replace('T', ' ').replace(/(\.\d+)?Z$/, ' UTC');

/** A quantile as a percentile: 0.99 is `p99`, 0.999 `p99.9`. */
export function percentile(q: number): string {
  return `p${Number((q * 100).toPrecision(12))}`;
}

/** Unit after the label of an axis whose ticks have none. */
export function axisUnit(unit: Unit): string {
  if (unit === 'cores') return text('unit-cores');
  if (unit === 'users') return text('unit-users');
  return unit === 'per_second' ? '/s' : '';
}

/** A figure over trials with its interval: `33.1 /s (31.0 – 34.2)`. The ends have units if they differ from that of the value. */
export function banded(b: Banded | null | undefined, unit: Unit): string {
  if (!b) return UNKNOWN;
  return b.band === 'one' ? value(b.value, unit) : withEnds(b.value, b.low, b.high, unit);
}

/** A value with its interval. */
export function withEnds(x: number, low: number, high: number, unit: Unit): string {
  return `${value(x, unit)} ${between(x, low, high, unit)}`;
}

/** The ends of an interval, in brackets. */
export function between(x: number, low: number, high: number, unit: Unit): string {
  const [middle, from, to] = [x, low, high].map((v) => value(v, unit)) as [string, string, string];
  const behind = (t: string) => t.split(' ')[1] ?? '';
  const same = behind(from) === behind(middle) && behind(to) === behind(middle);
  const bare = (t: string) => (same ? (t.split(' ')[0] ?? t) : t);
  return `(${bare(from)} – ${bare(to)})`;
}
