// Contenders compared: figures side by side, differences of quantiles, and other differences.

import { h, section } from './dom';
import { UNKNOWN, chosen, value } from './format';
import { simpleTable } from './table';
import { text } from './texts';
import type { Compared, Measure, Pair, StudyDocument, Unit } from './types';

const TIME = ['mean', 'max', 'server_cpu'];

const MEASURES: Record<string, () => string> = {
  server_cpu: () => text('measure-server-cpu'),
  capacity: () => text('measure-capacity'),
  throughput: () => text('measure-throughput'),
  goodput: () => text('measure-goodput'),
  mean: () => text('measure-mean'),
  max: () => text('measure-max'),
  errors: () => text('measure-errors'),
};

const VERDICTS: Record<Compared['verdict'], () => string> = {
  better: () => text('comparison-better'),
  worse: () => text('comparison-worse'),
  equal: () => text('comparison-equal'),
  undecided: () => text('comparison-undecided'),
};

/** Display name of a measure. */
export function measureName(measure: Measure): string {
  const name = typeof measure === 'string' ? measure : measure.run;
  return typeof name === 'string' ? (MEASURES[name]?.() ?? name) : `p${Number((name.quantile * 100).toPrecision(8))}`;
}

function measureUnit(measure: Measure): Unit {
  if (measure === 'capacity') return 'per_second';
  const name = typeof measure === 'string' ? measure : measure.run;
  if (typeof name !== 'string' || TIME.includes(name)) return 'seconds';
  return name === 'errors' ? 'share' : 'per_second';
}

/** `+4.1 %`. */
export const signedShare = (x: number | null): string =>
  x === null ? UNKNOWN : `${x < 0 ? '−' : '+'}${Math.abs(x * 100).toFixed(1)} %`;

const signedTime = (x: number): string => `${x < 0 ? '−' : '+'}${value(Math.abs(x), 'seconds')}`;

const interval = (low: string, high: string): string =>
  low === UNKNOWN && high === UNKNOWN
    ? UNKNOWN
    : text('comparison-interval', { low: low === UNKNOWN ? '?' : low, high: high === UNKNOWN ? '?' : high });

const probability = (p: number | null): string => (p === null ? UNKNOWN : p < 0.001 ? '<0.001' : p.toFixed(3));

export function comparison(document: StudyDocument): HTMLElement | null {
  const { comparison: compared, pairs } = document.analysis;
  const unit: Unit = document.experiment.contenders[0]?.unit.model === 'users' ? 'users' : 'per_second';
  if (!compared) return pairs.length > 0 ? section('comparison', text('section-comparison'), ...byLoad(pairs, unit)) : null;
  const { blocks: count, most } = compared;
  const differ = compared.differences.map((sentence) => h('li', {}, sentence));
  return section(
    'comparison',
    text('section-comparison'),
    h('p', { class: 'hint' }, text('comparison-repetitions', { count, most })),
    ...compared.pairs.flatMap((pair) => tables(pair, unit)),
    differ.length > 0 ? h('details', { open: true }, h('summary', {}, text('comparison-other')), h('ul', {}, ...differ)) : null,
  );
}

/** Compares two contenders of a sweep: a row for each load. */
function byLoad(pairs: Pair[], unit: Unit): HTMLElement[] {
  const groups = new Map<string, Pair[]>();
  for (const pair of pairs) {
    const key = JSON.stringify([pair.ours, pair.theirs]);
    groups.set(key, [...(groups.get(key) ?? []), pair]);
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    const measure = first?.measures[0]?.measure;
    if (!first || !measure) return [];
    const rows = group.flatMap(({ load, measures }) => (load === null ? [] : measures.map((of) => [chosen(load, unit), ...row(of).slice(1)])));
    const { ours, theirs } = first;
    const title = text('comparison-title-of-measure', { measure: measureName(measure), theirs, ours });
    return [h('h3', {}, title), simpleTable(heads(text('column-load'), first), rows, title)];
  });
}

/** Heads of a table of compared figures. */
const heads = (first: string, { ours, theirs }: Pair): string[] => [
  first,
  ours,
  theirs,
  text('column-difference'),
  text('column-interval'),
  text('column-p-value'),
  text('column-result'),
];

function tables(pair: Pair, unit: Unit): (HTMLElement | null)[] {
  const { ours, theirs } = pair;
  const title =
    pair.load === null
      ? text('comparison-title', { theirs, ours })
      : text('comparison-title-at-load', { theirs, ours, load: chosen(pair.load, unit) });
  const figures = simpleTable(heads(text('column-figure'), pair), pair.measures.map(row), title);
  const quantiles = pair.shift.map((s) => [
    measureName({ run: { quantile: s.quantile } }),
    signedTime(s.seconds),
    interval(signedTime(s.low), signedTime(s.high)),
  ]);
  const shiftHeads = [text('column-quantile'), text('column-difference'), text('column-joint-band')];
  const shift = quantiles.length > 0 ? simpleTable(shiftHeads, quantiles, text('comparison-quantiles', { title })) : null;
  return [h('h3', {}, title), figures, shift];
}

function row(of: Compared): (Node | string)[] {
  const unit = measureUnit(of.measure);
  const verdict = h('b', { class: `verdict ${of.verdict}`, title: of.sentence }, VERDICTS[of.verdict]());
  const ends = interval(signedShare(of.low), signedShare(of.high));
  return [measureName(of.measure), value(of.ours, unit), value(of.theirs, unit), signedShare(of.shift), ends, probability(of.p), verdict];
}
