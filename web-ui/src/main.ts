// The report page: reads its embedded data and shows the sections in order.
//
// The script replaces the static page (`#still`), except for the overview of a run: verdict, tiles and errors.
//
// Out of scope: the fold. Rust computes all figures; the page only sums ranges of time (sketch.ts).

import 'uplot/dist/uPlot.min.css';
import './style.css';
import './catalog';
import { environment, licences, method, plan } from './background';
import { answers } from './answers';
import { ChartGroups } from './charts';
import { comparison } from './comparison';
import { folded, h, isRunPage, renew, section } from './dom';
import { dashboardSections } from './dashboard';
import { drawAll, drawSoon, redrawAll } from './figure';
import { banner, conclusions, evidence, findings } from './findings';
import { instant } from './format';
import { curve, limits } from './limits';
import { text } from './texts';
import { TrialView, trialTable } from './trials';
import type { DashboardData, Figure, PageData, StudyDocument, TrialCharts } from './types';

/** Content of a data script element; null if it does not exist. */
function data<T>(id: string, within: Document = document): T | null {
  const json = within.getElementById(id)?.textContent;
  return json ? (JSON.parse(json) as T) : null;
}

/** The page of a study. */
class StudyPage {
  private readonly trial: TrialView;
  private readonly charts = new ChartGroups();
  private readonly chartPlace = h('div');
  /** Parts that are renewed while the run is active: the headline sentence, and sections before and after the charts. */
  private readonly concluded: HTMLElement;
  private readonly answered: HTMLElement;
  private readonly judged: HTMLElement;
  private readonly background: HTMLElement;
  private readonly links: HTMLElement;

  constructor({ document: study, figures, shown, parts }: PageData) {
    document.title = `${study.name} – brunt`;
    const isRun = isRunPage();
    this.trial = new TrialView(
      study,
      (index) => data<TrialCharts>(`trial-${index}`),
      parts,
      (index) => data<TrialCharts>(`part-${index}`),
    );
    this.charts.show(figures, this.chartPlace);
    // A run that goes on may get its first charts later.
    const hasCharts = figures.length > 0 || document.getElementById('live') !== null;
    const byLoad = figures.some((figure) => figure.group === 'load');
    const charts = section('charts', isRun ? text('section-response-time') : byLoad ? text('section-by-load') : text('section-by-repetition'), hasCharts && this.chartPlace);
    this.concluded = h('div', {}, conclusions(study), banner(study));
    this.answered = h('div', {}, ...answerSections(study));
    this.judged = h('div', {}, ...findingSections(study));
    this.background = h('div', {}, ...backgroundSections(study));
    const trials = trialTable(study, (index) => this.trial.choose(index));
    // The first pictures of a run are those over time.
    const pictures = isRun ? [this.trial.element, charts] : [charts, curve(study), this.trial.element];
    const overview = document.getElementById('overview');
    const main = h('main', { id: 'main' }, heading(study), this.concluded, overview, this.answered, ...pictures, this.judged, trials, this.background, licences());
    this.links = h('div', { class: 'links' }, ...linksTo(main));
    document.getElementById('page')?.append(bar(this.links), main);
    document.getElementById('still')?.remove();
    this.trial.show(shown);
    openTarget();
    if (study.trials.length === 1) drawSoon();
  }

  /** Shows the figures of a later page of the same run. Those of an experiment stay until the page is loaded again. */
  follow(next: Document): void {
    const [study, charts] = [data<PageData>('study', next), data<TrialCharts>('trial-0', next)];
    if (!study || !charts || study.document.planned_trials > 1) return;
    const shownHeading = document.querySelector('#main > .heading');
    if (shownHeading) renew(shownHeading, heading(study.document));
    renew(this.concluded, h('div', {}, conclusions(study.document), banner(study.document)));
    const [overview, later] = [document.getElementById('overview'), next.getElementById('overview')];
    if (overview && later) renew(overview, later);
    renew(this.answered, h('div', {}, ...answerSections(study.document)));
    renew(this.judged, h('div', {}, ...findingSections(study.document)));
    this.charts.show(study.figures, this.chartPlace);
    this.trial.update(study.document, charts);
    renew(this.background, h('div', {}, ...backgroundSections(study.document)));
    const main = document.getElementById('main');
    if (main) renew(this.links, h('div', { class: 'links' }, ...linksTo(main)));
  }
}

const answerSections = (study: StudyDocument): HTMLElement[] => [answers(study), comparison(study)].filter((s) => s !== null);

const findingSections = (study: StudyDocument): HTMLElement[] => [limits(study.analysis), findings(study)].filter((s) => s !== null);

const backgroundSections = (study: StudyDocument): HTMLElement[] => {
  const about = study.analysis.contenders.map(evidence).filter((e) => e !== null);
  return [folded('evidence', text('section-evidence'), ...about), plan(study), environment(study), method(study)].filter((s) => s !== null);
};

/** Links to the sections of an element. */
const linksTo = (main: HTMLElement): HTMLElement[] =>
  [...main.querySelectorAll('section')].map((s) => h('a', { href: `#${s.id}` }, s.querySelector('h2')?.textContent ?? ''));

/** Opens the section that the address names. */
function openTarget(): void {
  const details = document.querySelector<HTMLDetailsElement>(`[id="${CSS.escape(location.hash.slice(1))}"] > details`);
  if (details) details.open = true;
}

/** A page without a study. */
function dashboard(content: DashboardData): void {
  document.title = content.title;
  const sections = dashboardSections(content);
  const heading = h('div', { class: 'heading' }, h('h1', {}, content.title));
  const main = h('main', { id: 'main' }, heading, ...sections);
  document.getElementById('page')?.append(bar(h('div', { class: 'links' }, ...linksTo(main))), main);
  document.getElementById('still')?.remove();
}

function bar(links: HTMLElement): HTMLElement {
  const theme = h('button', { type: 'button', class: 'theme', onclick: () => setTheme(isDark() ? 'light' : 'dark') }, text('theme-switch'));
  const skip = h('a', { class: 'skip', href: '#main' }, text('skip-link'));
  // The page of the studio has a header already.
  return h('nav', { class: 'bar', 'aria-label': text('navigation') }, skip, h('span', { class: 'brand' }, 'brunt'), links, theme);
}

function heading(study: StudyDocument): HTMLElement {
  const { planned_trials: planned, id } = study;
  const count = study.trials.length;
  const trials = isRunPage() ? null : count === planned ? text('heading-trials', { count }) : text('heading-trials-of-planned', { count, planned });
  const facts = [instant(study.started), trials, study.environment.brunt, id && text('heading-id', { id })].filter(Boolean);
  return h('div', { class: 'heading' }, h('h1', {}, study.name), study.about ? h('p', { class: 'about' }, study.about) : null, h('p', { class: 'facts' }, facts.join(' · ')));
}

const root = document.documentElement;
const preferred = matchMedia('(prefers-color-scheme: dark)');
const isDark = (): boolean => root.dataset.theme === 'dark';

function setTheme(theme: string): void {
  root.dataset.theme = theme;
  redrawAll();
}

/** Prints the page light, drawn and expanded, and restores it afterwards. */
function whilePrinted(): void {
  let [theme, opened]: [string, HTMLDetailsElement[]] = ['light', []];
  addEventListener('beforeprint', () => {
    theme = root.dataset.theme ?? 'light';
    opened = [...document.querySelectorAll<HTMLDetailsElement>('details.print-open:not([open])')];
    opened.forEach((details) => (details.open = true));
    setTheme('light');
    drawAll();
  });
  addEventListener('afterprint', () => {
    opened.forEach((details) => (details.open = false));
    setTheme(theme);
  });
}

setTheme(preferred.matches ? 'dark' : 'light');
const study = data<PageData>('study');
if (study) {
  const page = new StudyPage(study);
  // The studio sends the pages of a run that goes on.
  addEventListener('brunt-follow', (event) => page.follow((event as CustomEvent<Document>).detail));
}
const content = data<DashboardData>('dashboard');
if (content) dashboard(content);
// A page that the studio has made, with a place for its charts.
const figures = data<Figure[]>('page-figures');
const place = document.getElementById('page-charts');
if (figures && place) new ChartGroups().show(figures, place);
whilePrinted();
addEventListener('hashchange', openTarget);
preferred.addEventListener('change', () => setTheme(preferred.matches ? 'dark' : 'light'));
