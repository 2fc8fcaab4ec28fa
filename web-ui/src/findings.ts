// The conclusions at the top of the page: are the figures valid, and what do they show?

import { h, section } from './dom';
import { plain, value } from './format';
import { simpleTable } from './table';
import type { Analysed, Bottleneck, Finding, Reason, State, StudyDocument, Trial } from './types';

const plural = (n: number, one: string): string => `${plain(n)} ${n === 1 ? one : `${one}s`}`;

const ORDER: State[] = ['ok', 'unjudged', 'busy_machine', 'unexplained', 'limited', 'invalid'];

const BANNERS: Record<State, (of: string) => string> = {
  ok: (of) => `The generator was not the limit in ${of}: the figures are the server's.`,
  unjudged: (of) => `In ${of} no good reply arrived: there is nothing to judge the server or the generator by.`,
  busy_machine: (of) => `In ${of} other processes used the machine's CPU, and that changed figures.`,
  unexplained: (of) => `In ${of} requests were late for an unknown reason.`,
  limited: (of) => `In ${of} the generator was the limit for some of the time.`,
  invalid: (of) => `In ${of} a consistency check failed: discard these figures.`,
};

/** The worst verdict of all trials, with its causes. */
function banner({ trials }: StudyDocument): HTMLElement | null {
  const states = ORDER.filter((state) => trials.some((t) => t.verdict.state === state)).reverse();
  const shown = states.filter((state) => state !== 'ok');
  if (trials.length === 0) return null;
  const lines = (shown.length > 0 ? shown : (['ok'] as State[])).map((state) => {
    const those = trials.filter((t) => t.verdict.state === state);
    const all = plural(trials.length, 'trial');
    const of = those.length === trials.length ? `all ${all}` : `${plain(those.length)} of ${all}`;
    const text = BANNERS[state](trials.length === 1 ? 'this run' : state === 'ok' ? `any of the ${all}` : of);
    return h('p', {}, h('strong', { class: `state ${state}` }, state.replace('_', ' ').toUpperCase()), ' ', text, causes(those));
  });
  return h('div', { class: `banner ${states[0] ?? 'ok'}`, role: 'note', 'aria-label': 'Verdict' }, ...lines);
}

/** Failed checks and causes, each once with its number of trials. */
function causes(trials: Trial[]): HTMLElement | null {
  const reasons = trials.flatMap((t) => [
    ...(t.failed_checks ?? []).map((c) => ({ key: c.name, sentence: `${c.name}: ${c.arithmetic}`, remedy: '' })),
    ...t.verdict.causes.map((c) => ({ key: c.limit, sentence: c.sentence, remedy: c.remedy })),
  ]);
  const found = new Map<string, { sentence: string; remedy: string; trials: number }>();
  for (const { key, ...reason } of reasons) {
    const same = found.get(key) ?? { ...reason, trials: 0 };
    found.set(key, { ...same, trials: same.trials + 1 });
  }
  if (found.size === 0) return null;
  const one = (c: { sentence: string; remedy: string; trials: number }) => {
    const times = c.trials > 1 ? ` (and ${plural(c.trials - 1, 'other trial')} like it)` : '';
    return h('li', {}, c.sentence, times, ' ', c.remedy ? h('span', { class: 'remedy' }, c.remedy) : null);
  };
  return h('ul', {}, ...[...found.values()].map(one));
}

/** A finding as a list item. */
export function findingItem(finding: Finding): HTMLElement {
  const remedy = finding.remedy ? h('span', { class: 'remedy' }, finding.remedy) : null;
  const severity = finding.severity === 'warning' ? 'Warning' : 'Note';
  return h('li', { class: finding.severity }, h('span', { class: 'sr' }, `${severity}: `), finding.sentence, remedy ? ' ' : null, remedy);
}

/** Answers to the question of the study. */
export function conclusions({ analysis }: StudyDocument): HTMLElement | null {
  if (analysis.conclusions.length === 0) return null;
  const one = ({ sentence, remedy }: Finding) => h('p', { class: 'conclusion' }, sentence, ' ', remedy ? h('span', { class: 'remedy' }, remedy) : null);
  return h('div', {}, ...analysis.conclusions.map(one));
}

export function findings(document: StudyDocument): HTMLElement | null {
  const { analysis, warnings, interrupted, trials, planned_trials } = document;
  const stopped = `It was stopped after ${plain(trials.length)} of ${plural(planned_trials, 'trial')}: what follows is a part.`;
  const said = analysis.findings.map(findingItem);
  const told = warnings.map((text) => h('li', { class: 'warning' }, h('span', { class: 'sr' }, 'Warning: '), text));
  const limits = analysis.contenders.map(bottleneckItem);
  const items = [interrupted ? h('li', { class: 'warning' }, stopped) : null, ...limits, ...said, ...told];
  const list = items.some(Boolean) ? h('ul', { class: 'findings' }, ...items) : null;
  // The overview of a run already contains its verdict.
  const verdict = globalThis.document.getElementById('overview') ? null : banner(document);
  return section('findings', 'Findings', verdict, list);
}

function bottleneckItem({ contender, bottleneck }: Analysed): HTMLElement | null {
  if (!bottleneck) return null;
  return h('li', { class: 'bottleneck' }, h('strong', {}, contender), ': ', bottleneck.sentence);
}

/** Figures that were tested for a bottleneck, with their thresholds. */
export function evidence({ contender, bottleneck, outliers, scalability }: Analysed): HTMLElement | null {
  const usl = scalability && [
    h('h4', {}, 'Universal Scalability Law'),
    simpleTable(
      ['Of X(N) = λN / (1 + σ(N − 1) + κN(N − 1))', 'Value', 'Band'],
      [
        ['λ: throughput of one, per second', scalability.lambda],
        ['σ: the share that is serial', scalability.sigma],
        ['κ: the cost of coherence', scalability.kappa],
        ...(scalability.peak ? [['N at which throughput is greatest', scalability.peak] as const] : []),
      ].map(([name, b]) => (typeof b === 'object' && 'value' in b ? [String(name), small(b.value), `${small(b.low)} – ${small(b.high)}`] : [])),
      `Scalability of ${contender}`,
    ),
    h('p', {}, `R² = ${scalability.r_squared.toFixed(3)}. ${scalability.caution}`),
  ];
  const odd = outliers.length > 0 && [h('h4', {}, 'What does not fit'), h('ul', {}, ...outliers.map((o) => h('li', {}, o.sentence)))];
  const server = bottleneck && [h('h4', {}, 'What limited it'), h('p', {}, bottleneck.sentence), others(bottleneck), reasons(bottleneck.evidence, contender)];
  const parts = [server, odd, usl].flatMap((part) => part || []);
  return parts.length > 0 ? h('div', { class: 'contender' }, h('h3', {}, contender), ...parts) : null;
}

const small = (x: number): string => (x !== 0 && Math.abs(x) < 1e-3 ? x.toExponential(2) : value(x, 'count'));

const others = (bottleneck: Bottleneck): HTMLElement | null =>
  bottleneck.others.length > 0 ? h('ul', {}, ...bottleneck.others.map((text) => h('li', {}, text))) : null;

/** Figures with their thresholds. */
export function reasons(all: Reason[], of: string): HTMLElement | null {
  if (all.length === 0) return null;
  const row = (r: Reason) => [r.name, r.source, value(r.value, 'count'), `${r.side === 'below' ? 'below' : 'at least'} ${value(r.threshold, 'count')}`, beyond(r) ? 'yes' : 'no'];
  return simpleTable(['Reading', 'Source', 'Value', 'Counts from', 'Counts'], all.map(row), `What was looked at of ${of}`);
}

const beyond = (r: Reason): boolean => (r.side === 'below' ? r.value < r.threshold : r.value >= r.threshold);
