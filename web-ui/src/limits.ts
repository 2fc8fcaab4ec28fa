// Definitions of a limit side by side, with their curves.

import { h, section } from './dom';
import { between, chosen, plain, value } from './format';
import { clauses } from './list';
import { simpleTable, sortable, type Column } from './table';
import { text } from './texts';
import type { Analysed, Analysis, Banded, CurvePoint, LoadLimit, StudyDocument, Unit } from './types';

/** Unit of a contender's loads. */
export function loadUnit({ experiment }: StudyDocument, contender: string): Unit {
  return experiment.contenders.find((c) => c.name === contender)?.unit.model === 'users' ? 'users' : 'per_second';
}

export function limits({ contenders }: Analysis): HTMLElement | null {
  const names = [...new Set(contenders.flatMap((c) => c.limits.map((l) => l.name)))];
  if (names.length === 0) return null;
  const find = (c: Analysed, name: string) => c.limits.find((l) => l.name === name);
  const rows = names.map((name) => [name, ...contenders.map((c) => limitCell(find(c, name)))]);
  const how = names.flatMap((name) => contenders.map((c) => [name, c.contender, find(c, name)?.how ?? ''])).filter((row) => row[2]);
  const howHeads = [text('column-limit'), text('column-contender'), text('column-how')];
  return section(
    'limits',
    text('section-limits'),
    simpleTable([text('column-limit'), ...contenders.map((c) => c.contender)], rows, text('limits-caption')),
    bandNote(contenders.flatMap((c) => c.limits.map((l) => l.at))),
    h('details', {}, h('summary', {}, text('limits-how')), simpleTable(howHeads, how, text('limits-how-caption'))),
  );
}

/** A limit without a load. */
const UNMET: Record<'none' | 'all' | 'unknown', () => string> = {
  none: () => text('limit-not-met'),
  all: () => text('limit-met'),
  unknown: () => text('limit-unseen'),
};

function limitCell(limit: LoadLimit | undefined): Node | string {
  if (!limit) return '';
  if (!limit.at) return h('span', { title: limit.how }, UNMET[limit.held ?? 'unknown']());
  const unit = limit.unit.includes('/s') ? ' /s' : ` ${limit.unit}`;
  const number = (x: number) => value(x, 'count');
  const band = limit.at.band === 'one' ? '' : ` (${number(limit.at.low)} – ${number(limit.at.high)})`;
  const shaky = limit.robust === false ? h('em', { class: 'shaky', title: limit.how }, text('limit-not-robust')) : null;
  return h('span', {}, h('b', {}, number(limit.at.value) + unit), band, shaky ? ' ' : null, shaky);
}

/** Meaning of the ends of an interval. */
const BANDS: Record<Exclude<Banded['band'], 'one'>, () => string> = {
  range: () => text('band-range'),
  model: () => text('band-model'),
  within_run: () => text('band-within-run'),
  repetitions: () => text('band-repetitions'),
};

/** Explains the ends in brackets. */
export function bandNote(all: (Banded | null)[]): HTMLElement | null {
  const kinds = [...new Set(all.flatMap((b) => (b && b.band !== 'one' ? [b.band] : [])))];
  if (kinds.length === 0) return null;
  return h('p', { class: 'hint' }, text('band-note', { meanings: clauses(kinds.map((kind) => BANDS[kind]())) }));
}

/** A figure with its interval in smaller letters. */
function bandedCell(b: Banded | null, unit: Unit): Node | string {
  if (!b || b.band === 'one') return value(b?.value, unit);
  return h('span', {}, value(b.value, unit), ' ', h('small', {}, between(b.value, b.low, b.high, unit)));
}

interface Row {
  contender: string;
  unit: Unit;
  point: CurvePoint;
}

const figure = (title: string, of: (p: CurvePoint) => Banded | null, unit: Unit): Column<Row> => ({
  title,
  cell: ({ point }) => bandedCell(of(point), unit),
  by: ({ point }) => of(point)?.value ?? null,
});

const columns = (): Column<Row>[] => [
  { title: text('column-contender'), cell: (r) => r.contender, by: (r) => r.contender },
  { title: text('column-load'), cell: (r) => chosen(r.point.load, r.unit), by: (r) => r.point.load },
  { title: text('column-trials'), cell: (r) => plain(r.point.trials), by: (r) => r.point.trials },
  figure(text('column-offered'), (p) => p.offered, 'per_second'),
  figure(text('column-achieved'), (p) => p.achieved, 'per_second'),
  figure(text('column-mean'), (p) => p.mean, 'seconds'),
  figure('p50', (p) => p.p50, 'seconds'),
  figure('p95', (p) => p.p95, 'seconds'),
  figure('p99', (p) => p.p99, 'seconds'),
  figure(text('column-errors'), (p) => p.errors, 'share'),
];

export function curve(document: StudyDocument): HTMLElement | null {
  const rows = document.analysis.contenders.flatMap(({ contender, curve }) => {
    const unit = loadUnit(document, contender);
    return curve.map((point) => ({ contender, unit, point }));
  });
  if (rows.length < 2) return null;
  const bands = rows.flatMap(({ point }) => [point.achieved, point.p99]);
  return section('curve', text('section-curve'), sortable(columns(), rows, text('curve-caption')), bandNote(bands));
}
