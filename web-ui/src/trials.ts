// All trials in a sortable table, and one of them over time.

import { folded, h, renew, section } from './dom';
import { ChartGroups } from './charts';
import { findingItem, reasons, stateName } from './findings';
import { chosen, instant, plain, value } from './format';
import type { Range } from './group';
import { loadUnit } from './limits';
import { sum, type Summary } from './sketch';
import { simpleTable, sortable, type Column } from './table';
import { text } from './texts';
import type { Part, StudyDocument, Times, Trial, TrialCharts, Unit, Zoom } from './types';

interface Row {
  trial: Trial;
  index: number;
  unit: Unit;
}

const KEYS = ['p50', 'p95', 'p99', 'max'] as const;

/** A time; with ≥ if it is only a lower bound. */
const time = (times: Times | null, key: (typeof KEYS)[number]): string =>
  (times?.at_least?.includes(key) ? '≥ ' : '') + value(times?.[key], 'seconds');

const columns = (choose: (index: number) => void): Column<Row>[] => [
  { title: text('column-number'), cell: (r) => button(r, choose), by: (r) => r.index },
  { title: text('column-contender'), cell: (r) => r.trial.contender, by: (r) => r.trial.contender },
  { title: text('column-load'), cell: (r) => chosen(r.trial.load, r.unit), by: (r) => r.trial.load },
  { title: text('column-repetition'), cell: (r) => plain(r.trial.repetition), by: (r) => r.trial.repetition },
  { title: text('column-throughput'), cell: (r) => value(r.trial.throughput_per_second, 'per_second'), by: (r) => r.trial.throughput_per_second },
  ...KEYS.map((key) => ({
    title: key === 'max' ? text('column-max') : key,
    cell: (r: Row) => time(r.trial.response_time_seconds, key),
    by: (r: Row) => r.trial.response_time_seconds?.[key] ?? null,
  })),
  { title: text('column-errors'), cell: (r) => plain(r.trial.requests.errors), by: (r) => r.trial.requests.errors },
  { title: text('column-verdict'), cell: (r) => stateLabel(r.trial), by: (r) => r.trial.verdict.state },
];

const stateLabel = ({ verdict }: Trial): HTMLElement => h('span', { class: `state ${verdict.state}` }, stateName(verdict.state));

const button = ({ index }: Row, choose: (index: number) => void): HTMLElement =>
  h('button', { type: 'button', class: 'link', title: text('trial-show'), onclick: () => choose(index) }, plain(index + 1));

/** Table of all trials. */
export function trialTable(document: StudyDocument, choose: (index: number) => void): HTMLElement | null {
  const rows = document.trials.map((trial, index) => ({ trial, index, unit: loadUnit(document, trial.contender) }));
  if (rows.length < 2) return null;
  return folded('trials', text('section-trials'), sortable(columns(choose), rows, text('trials-caption')));
}

/** One trial over time, with a selector. */
export class TrialView {
  readonly element: HTMLElement | null;
  private readonly chooser: HTMLSelectElement;
  private readonly room = h('div', { class: 'trial' });
  private readonly charts = new ChartGroups();
  private readonly facts = h('div');
  /** Selects the part of an only run whose charts are shown. */
  private readonly partChooser: HTMLSelectElement;
  private readonly sums = h('div', { class: 'sums', 'aria-live': 'polite' });
  private zoom: Zoom | null = null;
  private range: Range | null = null;

  constructor(
    private document: StudyDocument,
    /** Charts of a trial, parsed on demand. */
    private readonly read: (index: number) => TrialCharts | null,
    parts: Part[] = [],
    /** Charts of a part of an only run, parsed on demand. */
    private readonly readPart: (index: number) => TrialCharts | null = () => null,
  ) {
    this.partChooser = h('select', { id: 'part-choice', onchange: () => this.show(0) }, ...partOptions(parts));
    this.chooser = h('select', { id: 'trial-choice', onchange: () => this.show(Number(this.chooser.value)) }, ...this.options());
    const back = h('button', { type: 'button', onclick: () => this.move(-1) }, text('trial-previous'));
    const on = h('button', { type: 'button', onclick: () => this.move(1) }, text('trial-next'));
    const many = document.trials.length > 1;
    const bar = many && h('div', { class: 'chooser' }, h('label', { for: 'trial-choice' }, text('trial-label')), this.chooser, back, on);
    const partBar = parts.length > 0 && h('div', { class: 'chooser' }, h('label', { for: 'part-choice' }, text('part-label')), this.partChooser);
    this.element = document.trials.length > 0 ? section('time', text('section-over-time'), bar, partBar, this.room) : null;
  }

  /** Shows a trial and scrolls to it. */
  choose(index: number): void {
    this.show(index);
    this.element?.scrollIntoView();
    this.chooser.focus({ preventScroll: true });
  }

  show(index: number): void {
    const trial = this.document.trials[index];
    if (!trial) return;
    this.chooser.value = String(index);
    this.charts.end();
    this.range = null;
    const part = Number(this.partChooser.value) - 1;
    const charts = part >= 0 ? this.readPart(part) : this.read(index);
    this.facts.replaceChildren(...this.about(trial));
    this.sums.replaceChildren();
    this.room.replaceChildren(this.facts);
    // For a single run, they are at the top of the page.
    if (charts && this.document.trials.length > 1) this.room.append(...breakdown(charts));
    this.room.append(this.sums);
    if (!charts) return;
    this.draw(charts);
    this.charts.first()?.join({ zoomed: (range) => this.zoomed(range) });
  }

  /** Shows later figures of an only trial. */
  update(document: StudyDocument, charts: TrialCharts): void {
    this.document = document;
    const [trial] = document.trials;
    if (trial) renew(this.facts, h('div', {}, ...this.about(trial)));
    // Only a change by the user is read aloud.
    this.sums.setAttribute('aria-live', 'off');
    this.draw(charts);
  }

  private draw({ figures, zoom }: TrialCharts): void {
    this.zoom = zoom;
    this.charts.show(figures, this.room);
    this.sum();
  }

  private zoomed(range: Range | null): void {
    this.range = range;
    this.sums.setAttribute('aria-live', 'polite');
    this.sum();
  }

  private sum(): void {
    const { zoom, range } = this;
    if (!zoom || zoom.from_seconds.length === 0) return;
    // The tiles of an only run have the sums of its measured time.
    const isInTiles = this.document.trials.length === 1 && this.partChooser.selectedIndex <= 0;
    const whole = isInTiles && !range ? null : sum(zoom, 0, zoom.measured_seconds);
    const table = sumTable(whole, range && sum(zoom, range.from, range.to));
    const shown = this.sums.firstElementChild;
    if (shown) renew(shown, table);
    else this.sums.append(table);
  }

  private move(by: number): void {
    const next = Number(this.chooser.value) + by;
    if (next >= 0 && next < this.document.trials.length) this.show(next);
  }

  private options(): HTMLElement[] {
    const { trials, experiment } = this.document;
    const option = (trial: Trial, index: number) => {
      const load = chosen(trial.load, loadUnit(this.document, trial.contender));
      const { contender, repetition, verdict } = trial;
      const number = String(index + 1);
      const isOk = verdict.state === 'ok';
      const name = isOk
        ? text('trial-option', { number, contender, load, repetition })
        : text('trial-option-with-state', { number, contender, load, repetition, state: stateName(verdict.state) });
      return h('option', { value: index }, name);
    };
    const made = trials.map((trial, index) => ({ trial, option: option(trial, index) }));
    return experiment.contenders.map((c) => h('optgroup', { label: c.name }, ...made.filter((m) => m.trial.contender === c.name).map((m) => m.option)));
  }

  private about(trial: Trial): HTMLElement[] {
    const { verdict, findings, bottleneck, objectives, error } = trial;
    const mistake = error === null ? [] : [h('li', { class: 'warning' }, error)];
    // The other facts of an only run are at the top of the page.
    if (this.document.trials.length === 1) {
      return [...(mistake.length > 0 ? [h('ul', { class: 'findings' }, ...mistake)] : []), ...readings(trial)];
    }
    const warnings = trial.warnings.map((warning) => h('li', { class: 'warning' }, warning));
    const causes = verdict.causes.map((c) => h('li', { class: 'warning' }, c.sentence, ' ', h('span', { class: 'remedy' }, c.remedy)));
    const results = objectives.map(({ met, text: objective }) =>
      h('li', { class: met ? 'met' : 'warning' }, met ? text('objective-met', { objective }) : text('objective-missed', { objective })),
    );
    const items = [...mistake, ...warnings, ...causes, ...findings.map(findingItem), ...results];
    const facts = [
      trial.contender,
      chosen(trial.load, loadUnit(this.document, trial.contender)),
      text('trial-repetition', { repetition: trial.repetition }),
      text('trial-start', { instant: instant(trial.started) }),
      trial.id && text('trial-run', { id: trial.id }),
      trial.interrupted && text('trial-interrupted'),
    ].filter(Boolean);
    const looked = bottleneck && reasons(bottleneck.evidence, trial.contender);
    return [
      h('p', { class: 'facts' }, stateLabel(trial), ' ', facts.join(' · ')),
      ...(bottleneck ? [h('p', {}, bottleneck.sentence)] : []),
      ...(items.length > 0 ? [h('ul', { class: 'findings' }, ...items)] : []),
      ...(looked ? [h('details', {}, h('summary', {}, text('evidence-readings')), looked)] : []),
      ...readings(trial),
    ];
  }
}

/** The whole run, and its parts by kind. */
function partOptions(parts: Part[]): HTMLElement[] {
  const option = ({ name }: Part, index: number) => h('option', { value: index + 1 }, name);
  const made = parts.map((part, index) => ({ kind: part.kind, option: option(part, index) }));
  const kinds = [...new Set(parts.map((part) => part.kind))];
  const groups = kinds.map((kind) => h('optgroup', { label: kind }, ...made.filter((m) => m.kind === kind).map((m) => m.option)));
  return [h('option', { value: 0 }, text('part-whole')), ...groups];
}

/** Figures of a trial by population, label and transaction, and its failed checks. */
function breakdown({ tables, check_failures }: TrialCharts): HTMLElement[] {
  const failures = check_failures.map((sentence) => h('li', { class: 'warning' }, sentence));
  const list = failures.length > 0 ? [h('h3', {}, text('trial-failed-checks')), h('ul', { class: 'findings' }, ...failures)] : [];
  return [...list, ...tables.map(({ head, rows }) => simpleTable(head, rows, head[0] ?? ''))];
}

/** Sums of the measured time and of the zoomed range, side by side. */
function sumTable(whole: Summary | null, part: Summary | null): HTMLElement {
  const rows = [
    ...(whole ? [sumRow(text('range-measured'), whole)] : []),
    ...(part ? [sumRow(text('range-zoomed'), part)] : []),
  ];
  const titles = [
    text('column-range'),
    text('column-span'),
    text('column-planned'),
    text('column-completed'),
    text('column-throughput'),
    text('column-errors'),
    'p50',
    'p90',
    'p99',
    text('column-max'),
  ];
  const table = rows.length > 0 ? simpleTable(titles, rows, text('range-caption')) : null;
  return h('div', {}, table, h('p', { class: 'hint' }, text('range-hint')));
}

function sumRow(name: string, s: Summary): string[] {
  const at = (q: number) => value(nanos(s.sketch.quantile(q)), 'seconds');
  const span = [s.from, s.to].map((t) => (t === 0 ? '0' : value(t, 'seconds'))).join(' – ');
  const rate = value(s.completed / (s.to - s.from), 'per_second');
  const max = value(s.sketch.count > 0 ? nanos(s.sketch.max) : null, 'seconds');
  return [name, span, plain(s.planned), plain(s.completed), rate, plain(s.errors), at(0.5), at(0.9), at(0.99), max];
}

const nanos = (n: number | null): number | null => (n === null ? null : n / 1e9);

/** Readings of the server and the machine: means over the measured time. */
function readings({ readings, contender }: Trial): HTMLElement[] {
  const rows = Object.entries(readings).flatMap(([source, values]) => Object.entries(values).map(([name, x]) => [name, source, value(x, 'count')]));
  if (rows.length === 0) return [];
  const heads = [text('column-reading'), text('column-source'), text('column-mean')];
  return [h('details', {}, h('summary', {}, text('trial-readings')), simpleTable(heads, rows, text('trial-readings-of', { contender })))];
}
