// Contenders compared: figures side by side, differences of quantiles, and other differences.

import { h, section } from './dom';
import { UNKNOWN, chosen, value } from './format';
import { simpleTable } from './table';
import type { Compared, Measure, Pair, StudyDocument, Unit } from './types';

const TIME = ['mean', 'max', 'server_cpu'];

/** Display name of a measure. */
export function measureName(measure: Measure): string {
  if (measure === 'server_cpu') return 'server CPU per request';
  if (measure === 'capacity') return 'capacity';
  const { run } = measure;
  return typeof run === 'string' ? run : `p${Number((run.quantile * 100).toPrecision(8))}`;
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
  low === UNKNOWN && high === UNKNOWN ? UNKNOWN : `${low === UNKNOWN ? '?' : low} to ${high === UNKNOWN ? '?' : high}`;

const probability = (p: number | null): string => (p === null ? UNKNOWN : p < 0.001 ? '<0.001' : p.toFixed(3));

export function comparison(document: StudyDocument): HTMLElement | null {
  const { comparison: compared, pairs } = document.analysis;
  const unit: Unit = document.experiment.contenders[0]?.unit.model === 'users' ? 'users' : 'per_second';
  if (!compared) return pairs.length > 0 ? section('comparison', 'Comparison', ...byLoad(pairs, unit)) : null;
  const differ = compared.differences.map((text) => h('li', {}, text));
  return section(
    'comparison',
    'Comparison',
    h('p', { class: 'hint' }, `${compared.blocks} of ${compared.most} repetitions at most; one repetition is one observation.`),
    ...compared.pairs.flatMap((pair) => tables(pair, unit)),
    differ.length > 0 ? h('details', { open: true }, h('summary', {}, 'Other differences'), h('ul', {}, ...differ)) : null,
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
    const title = `${measureName(measure)}: ${first.theirs} against ${first.ours}`;
    return [h('h3', {}, title), simpleTable(['Load', first.ours, first.theirs, 'Difference', '95 % interval', 'p', 'It is'], rows, title)];
  });
}

function tables(pair: Pair, unit: Unit): (HTMLElement | null)[] {
  const at = pair.load === null ? '' : ` at ${chosen(pair.load, unit)}`;
  const title = `${pair.theirs} against ${pair.ours}${at}`;
  const figures = simpleTable(['Figure', pair.ours, pair.theirs, 'Difference', '95 % interval', 'p', 'It is'], pair.measures.map(row), title);
  const quantiles = pair.shift.map((s) => [
    measureName({ run: { quantile: s.quantile } }),
    signedTime(s.seconds),
    interval(signedTime(s.low), signedTime(s.high)),
  ]);
  const shift = quantiles.length > 0 ? simpleTable(['Quantile', 'Difference', 'Band of all at once'], quantiles, `Quantiles: ${title}`) : null;
  return [h('h3', {}, title), figures, shift];
}

function row(of: Compared): (Node | string)[] {
  const unit = measureUnit(of.measure);
  const verdict = h('b', { class: `verdict ${of.verdict}`, title: of.sentence }, of.verdict);
  const ends = interval(signedShare(of.low), signedShare(of.high));
  return [measureName(of.measure), value(of.ours, unit), value(of.theirs, unit), signedShare(of.shift), ends, probability(of.p), verdict];
}
