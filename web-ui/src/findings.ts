// The conclusions at the top of the page: are the figures valid, and what do they show?

import { h, isRunPage, section } from './dom';
import { value } from './format';
import { simpleTable } from './table';
import { text } from './texts';
import type { Analysed, Bottleneck, Finding, Reason, State, StudyDocument, Trial } from './types';

const ORDER: State[] = ['ok', 'unjudged', 'busy_machine', 'unexplained', 'limited', 'invalid'];

const STATES: Record<State, () => string> = {
  ok: () => text('verdict-state-ok'),
  unjudged: () => text('verdict-state-unjudged'),
  busy_machine: () => text('verdict-state-busy-machine'),
  unexplained: () => text('verdict-state-unexplained'),
  limited: () => text('verdict-state-limited'),
  invalid: () => text('verdict-state-invalid'),
};

/** Display name of a verdict. */
export const stateName = (state: State): string => STATES[state]();

/** Trials with a verdict: the only run, all, or some of all. */
interface Affected {
  scope: 'run' | 'all' | 'some';
  count: number;
  total: number;
}

const BANNERS: Record<State, (affected: Affected) => string> = {
  ok: ({ scope, total }) => text('verdict-ok', { scope, total }),
  unjudged: ({ scope, count, total }) => text('verdict-unjudged', { scope, count, total }),
  busy_machine: ({ scope, count, total }) => text('verdict-busy-machine', { scope, count, total }),
  unexplained: ({ scope, count, total }) => text('verdict-unexplained', { scope, count, total }),
  limited: ({ scope, count, total }) => text('verdict-limited', { scope, count, total }),
  invalid: ({ scope, count, total }) => text('verdict-invalid', { scope, count, total }),
};

/** The worst verdict of all trials, with its causes; null for a run, whose overview has its verdict. */
export function banner({ trials }: StudyDocument): HTMLElement | null {
  if (isRunPage()) return null;
  const states = ORDER.filter((state) => trials.some((t) => t.verdict.state === state)).reverse();
  const shown = states.filter((state) => state !== 'ok');
  const total = trials.length;
  if (total === 0) return null;
  const lines = (shown.length > 0 ? shown : (['ok'] as State[])).map((state) => {
    const those = trials.filter((t) => t.verdict.state === state);
    const count = those.length;
    const sentence = BANNERS[state]({ scope: total === 1 ? 'run' : count === total ? 'all' : 'some', count, total });
    return h('p', {}, h('strong', { class: `state ${state}` }, stateName(state)), ' ', sentence, causes(those));
  });
  return h('div', { class: `banner ${states[0] ?? 'ok'}`, role: 'note', 'aria-label': text('verdict-label') }, ...lines);
}

/** Failed checks and causes, each once with its number of trials. */
function causes(trials: Trial[]): HTMLElement | null {
  const reasons = trials.flatMap((t) => [
    ...(t.failed_checks ?? []).map((c) => ({ key: c.name, sentence: text('failed-check', { name: c.name, arithmetic: c.arithmetic }), remedy: '' })),
    ...t.verdict.causes.map((c) => ({ key: c.limit, sentence: c.sentence, remedy: c.remedy })),
  ]);
  const found = new Map<string, { sentence: string; remedy: string; trials: number }>();
  for (const { key, ...reason } of reasons) {
    const same = found.get(key) ?? { ...reason, trials: 0 };
    found.set(key, { ...same, trials: same.trials + 1 });
  }
  if (found.size === 0) return null;
  const one = (c: { sentence: string; remedy: string; trials: number }) => {
    const others = c.trials > 1 && ` ${text('verdict-cause-repeated', { count: c.trials - 1 })}`;
    return h('li', {}, c.sentence, others, ' ', c.remedy ? h('span', { class: 'remedy' }, c.remedy) : null);
  };
  return h('ul', {}, ...[...found.values()].map(one));
}

/** A finding as a list item. */
export function findingItem(finding: Finding): HTMLElement {
  const remedy = finding.remedy ? h('span', { class: 'remedy' }, finding.remedy) : null;
  const severity = finding.severity === 'warning' ? text('severity-warning') : text('severity-note');
  return h('li', { class: finding.severity }, h('span', { class: 'sr' }, severity), finding.sentence, remedy ? ' ' : null, remedy);
}

/** Answers to the question of the study. */
export function conclusions({ analysis }: StudyDocument): HTMLElement | null {
  if (analysis.conclusions.length === 0) return null;
  const one = ({ sentence, remedy }: Finding) => h('p', { class: 'conclusion' }, sentence, ' ', remedy ? h('span', { class: 'remedy' }, remedy) : null);
  return h('div', {}, ...analysis.conclusions.map(one));
}

export function findings(document: StudyDocument): HTMLElement | null {
  const { analysis, warnings, interrupted, trials, planned_trials } = document;
  const stopped = text('study-interrupted', { count: trials.length, total: planned_trials });
  const said = analysis.findings.map(findingItem);
  const told = warnings.map((sentence) => h('li', { class: 'warning' }, h('span', { class: 'sr' }, text('severity-warning')), sentence));
  const several = analysis.contenders.length > 1;
  const limits = analysis.contenders.map((analysed) => bottleneckItem(analysed, several));
  const items = [interrupted ? h('li', { class: 'warning' }, stopped) : null, ...limits, ...said, ...told];
  const list = items.some(Boolean) ? h('ul', { class: 'findings' }, ...items) : null;
  return section('findings', text('section-findings'), list);
}

function bottleneckItem({ contender, bottleneck }: Analysed, several: boolean): HTMLElement | null {
  if (!bottleneck) return null;
  const whose = several ? h('strong', {}, text('contender-label', { contender })) : null;
  return h('li', { class: 'bottleneck' }, whose, bottleneck.sentence);
}

/** Figures that were tested for a bottleneck, with their thresholds. */
export function evidence({ contender, bottleneck, outliers, scalability }: Analysed): HTMLElement | null {
  const usl = scalability && [
    h('h4', {}, text('scalability-title')),
    simpleTable(
      [text('scalability-model'), text('column-value'), text('column-band')],
      [
        [text('scalability-lambda'), scalability.lambda],
        [text('scalability-sigma'), scalability.sigma],
        [text('scalability-kappa'), scalability.kappa],
        ...(scalability.peak ? [[text('scalability-peak'), scalability.peak] as const] : []),
      ].map(([name, b]) => (typeof b === 'object' && 'value' in b ? [String(name), small(b.value), `${small(b.low)} – ${small(b.high)}`] : [])),
      text('scalability-of', { contender }),
    ),
    h('p', {}, text('scalability-fit', { share: scalability.r_squared.toFixed(3), caution: scalability.caution })),
  ];
  const odd = outliers.length > 0 && [h('h4', {}, text('evidence-outliers')), h('ul', {}, ...outliers.map((o) => h('li', {}, o.sentence)))];
  // The findings have the sentence on the bottleneck.
  const tested = bottleneck && [others(bottleneck), reasons(bottleneck.evidence, contender)].filter((part) => part !== null);
  const server = tested && tested.length > 0 && [h('h4', {}, text('evidence-bottleneck')), ...tested];
  const parts = [server, odd, usl].flatMap((part) => part || []);
  return parts.length > 0 ? h('div', { class: 'contender' }, h('h3', {}, contender), ...parts) : null;
}

const small = (x: number): string => (x !== 0 && Math.abs(x) < 1e-3 ? x.toExponential(2) : value(x, 'count'));

const others = (bottleneck: Bottleneck): HTMLElement | null =>
  bottleneck.others.length > 0 ? h('ul', {}, ...bottleneck.others.map((sentence) => h('li', {}, sentence))) : null;

/** Figures with their thresholds. */
export function reasons(all: Reason[], contender: string): HTMLElement | null {
  if (all.length === 0) return null;
  const row = (r: Reason) => [r.name, r.source, value(r.value, 'count'), thresholdText(r), isReached(r) ? text('yes') : text('no')];
  const heads = [text('column-reading'), text('column-source'), text('column-value'), text('column-threshold'), text('column-reached')];
  return simpleTable(heads, all.map(row), text('evidence-readings-of', { contender }));
}

function thresholdText(r: Reason): string {
  const threshold = value(r.threshold, 'count');
  return r.side === 'below' ? text('threshold-below', { value: threshold }) : text('threshold-at-least', { value: threshold });
}

const isReached = (r: Reason): boolean => (r.side === 'below' ? r.value < r.threshold : r.value >= r.threshold);
