// Definitions of a limit side by side, with their curves.

import { h, section } from './dom';
import { BANDS, between, chosen, plain, value } from './format';
import { simpleTable, sortable, type Column } from './table';
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
  return section(
    'limits',
    'Limits',
    simpleTable(['Limit', ...contenders.map((c) => c.contender)], rows, 'Limits side by side'),
    bandNote(contenders.flatMap((c) => c.limits.map((l) => l.at))),
    h('details', {}, h('summary', {}, 'How each was found'), simpleTable(['Limit', 'Contender', 'How'], how, 'How each limit was found')),
  );
}

function limitCell(limit: LoadLimit | undefined): Node | string {
  if (!limit) return '';
  if (!limit.at) return h('span', { title: limit.how }, 'none seen');
  const unit = limit.unit.includes('/s') ? ' /s' : ` ${limit.unit}`;
  const number = (x: number) => value(x, 'count');
  const band = limit.at.band === 'one' ? '' : ` (${number(limit.at.low)} – ${number(limit.at.high)})`;
  const shaky = limit.robust === false ? h('em', { class: 'shaky', title: limit.how }, 'not robust') : null;
  return h('span', {}, h('b', {}, number(limit.at.value) + unit), band, shaky ? ' ' : null, shaky);
}

/** Meaning of the ends in brackets. */
export function bandNote(all: (Banded | null)[]): HTMLElement | null {
  const kinds = [...new Set(all.flatMap((b) => (b && b.band !== 'one' ? [b.band] : [])))];
  return kinds.length > 0 ? h('p', { class: 'hint' }, `In brackets: ${kinds.map((kind) => BANDS[kind]).join('; ')}.`) : null;
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

const COLUMNS: Column<Row>[] = [
  { title: 'Contender', cell: (r) => r.contender, by: (r) => r.contender },
  { title: 'Load', cell: (r) => chosen(r.point.load, r.unit), by: (r) => r.point.load },
  { title: 'Trials', cell: (r) => plain(r.point.trials), by: (r) => r.point.trials },
  figure('Offered', (p) => p.offered, 'per_second'),
  figure('Achieved', (p) => p.achieved, 'per_second'),
  figure('Mean', (p) => p.mean, 'seconds'),
  figure('p50', (p) => p.p50, 'seconds'),
  figure('p95', (p) => p.p95, 'seconds'),
  figure('p99', (p) => p.p99, 'seconds'),
  figure('Errors', (p) => p.errors, 'share'),
];

export function curve(document: StudyDocument): HTMLElement | null {
  const rows = document.analysis.contenders.flatMap(({ contender, curve }) => {
    const unit = loadUnit(document, contender);
    return curve.map((point) => ({ contender, unit, point }));
  });
  if (rows.length < 2) return null;
  const bands = rows.flatMap(({ point }) => [point.achieved, point.p99]);
  return section('curve', 'Load by load', sortable(COLUMNS, rows, 'All trials of each load'), bandNote(bands));
}
