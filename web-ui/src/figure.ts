// A figure: heading, chart, legend, and the same data as a table for screen readers.
//
// A chart is drawn, and shows later data, when it is near the viewport: a study may have a thousand, and the page must open immediately.

import { Chart } from './chart';
import { colorNumber, dashes } from './color';
import { h } from './dom';
import type { Group, Range } from './group';
import { plain, UNKNOWN, value, withEnds } from './format';
import { list } from './list';
import { onAxis, type Reading } from './readings';
import { simpleTable } from './table';
import { text } from './texts';
import type { Figure, Line } from './types';

/** All figures of the page that may need to be redrawn. */
const alive = new Set<FigureView>();

/** Redraws all drawn figures, for example after a change of colors. */
export function redrawAll(): void {
  for (const view of alive) view.redraw();
}

/** Draws all figures, also those outside the viewport, for printing. */
export function drawAll(): void {
  for (const view of alive) view.draw();
}

/** Draws all figures one after the other, so that the page reacts in between. */
export function drawSoon(): void {
  const next = [...alive].find((view) => !view.isDrawn);
  if (!next) return;
  setTimeout(() => {
    if (alive.has(next)) next.draw();
    drawSoon();
  });
}

const watcher = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) views.get(entry.target)?.moved(entry.isIntersecting);
  },
  { rootMargin: '300px' },
);
const views = new WeakMap<Element, FigureView>();

/** A figure of the page. */
export class FigureView {
  readonly element: HTMLElement;
  private chart: Chart | null = null;
  private isNear = false;
  /** Whether the chart shows earlier data. */
  private isStale = false;
  private readonly place = h('div', { class: 'plot' });
  private readonly tip = h('div', { class: 'tip', hidden: true });
  private readonly said = h('div', { class: 'sr', role: 'status' });
  private readonly reset: HTMLButtonElement;
  private readonly values = new Map<number, HTMLElement>();
  private byKeys = false;

  constructor(
    private figure: Figure,
    private readonly group: Group,
  ) {
    this.reset = h('button', { type: 'button', class: 'reset', hidden: true, onclick: () => group.zoom(null) }, text('chart-reset'));
    this.element = this.build();
    views.set(this.element, this);
    alive.add(this);
    watcher.observe(this.element);
    group.join(this);
  }

  /** Removes it from the page. */
  end(): void {
    this.chart?.end();
    this.group.leave(this);
    watcher.unobserve(this.element);
    alive.delete(this);
    this.element.remove();
  }

  /** Shows later data of the same figure. */
  update(figure: Figure): void {
    const names = (of: Figure) => of.lines.map((line) => line.name).join('\n');
    const isSame = names(figure) === names(this.figure);
    this.figure = figure;
    this.isStale = true;
    if (this.isNear) this.draw();
    if (!isSame) this.replaceLegend();
    const details = this.element.querySelector('details.as-table');
    details?.querySelectorAll(':scope > .scroll').forEach((table) => table.remove());
    details?.dispatchEvent(new Event('toggle'));
  }

  /** Notes that it came near the viewport, or left. */
  moved(isNear: boolean): void {
    this.isNear = isNear;
    if (isNear) this.draw();
  }

  /** Whether its chart shows the current data. */
  get isDrawn(): boolean {
    return this.chart !== null && !this.isStale;
  }

  draw(): void {
    if (!this.chart) this.chart = new Chart(this.figure, this.group, this.place, (found, title, left) => this.tell(found, title, left));
    else if (this.isStale) this.chart.update(this.figure);
    this.isStale = false;
  }

  redraw(): void {
    this.chart?.redraw();
  }

  zoomed(range: Range | null): void {
    this.reset.hidden = range === null;
  }

  private build(): HTMLElement {
    const { figure } = this;
    const stage = h(
      'div',
      {
        class: 'stage',
        tabindex: 0,
        role: 'group',
        'aria-roledescription': text('chart-role'),
        'aria-label': text('chart-label', { title: figure.title }),
        'aria-describedby': `about-${figure.id}`,
        onkeydown: (event) => this.key(event as KeyboardEvent),
        onblur: () => this.chart?.leave(),
      },
      this.place,
      this.tip,
    );
    return h(
      'figure',
      { id: `figure-${figure.id}`, 'data-figure': figure.id },
      h('figcaption', { class: 'head' }, h('h3', {}, figure.title), this.reset),
      stage,
      this.legend(),
      this.said,
      this.table(),
    );
  }

  private legend(): HTMLElement | null {
    const { lines } = this.figure;
    if (lines.length === 0 || (lines.length === 1 && !lines[0]?.name)) return null;
    const one = (line: Line, i: number) => {
      const last = h('span', { class: 'value' });
      this.values.set(i, last);
      const press = (event: Event) => {
        const button = event.currentTarget as HTMLElement;
        const shown = button.getAttribute('aria-pressed') !== 'true';
        button.setAttribute('aria-pressed', String(shown));
        this.draw();
        this.chart?.toggle(i, shown);
      };
      return h('button', { type: 'button', 'aria-pressed': 'true', onclick: press }, swatch(this.figure, i), line.name || this.figure.y.label, last);
    };
    return h('div', { class: 'legend', role: 'group', 'aria-label': text('chart-legend', { title: this.figure.title }) }, ...lines.map(one));
  }

  private replaceLegend(): void {
    this.values.clear();
    this.element.querySelector('.legend')?.remove();
    const legend = this.legend();
    if (legend) this.element.insertBefore(legend, this.said);
  }

  private table(): HTMLElement {
    const about = h('p', { class: 'about', id: `about-${this.figure.id}` }, this.figure.about);
    const details = h('details', { class: 'as-table' }, h('summary', {}, text('chart-table')), about);
    const fill = () => {
      if (details.open && details.children.length === 2) details.append(tableOf(this.figure));
    };
    details.addEventListener('toggle', fill);
    return details;
  }

  private key(event: KeyboardEvent): void {
    this.draw();
    // In a chart of lines, these keys scroll the page.
    const isVertical = event.key === 'ArrowUp' || event.key === 'ArrowDown';
    if (isVertical && !this.figure.heat) return;
    const doings: Record<string, () => void> = {
      ArrowRight: () => this.chart?.step(1),
      ArrowLeft: () => this.chart?.step(-1),
      ArrowUp: () => this.chart?.stepUp(1),
      ArrowDown: () => this.chart?.stepUp(-1),
      Home: () => this.chart?.stepToEnd(-1),
      End: () => this.chart?.stepToEnd(1),
      '+': () => this.chart?.zoomBy(0.5),
      '=': () => this.chart?.zoomBy(0.5),
      '-': () => this.chart?.zoomBy(2),
      Escape: () => (this.chart?.leave(), this.group.zoom(null)),
    };
    const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : doings[event.key];
    if (!act) return;
    event.preventDefault();
    this.byKeys = true;
    act();
    this.byKeys = false;
  }

  /** Shows the values at the pointer: at the pointer in this chart, in the legend if another chart leads. */
  private tell(found: Reading[], title: string, left: number | null): void {
    for (const [line, element] of this.values) {
      element.textContent = found.find((reading) => reading.line === line)?.text ?? '';
    }
    const values = list(found.map(({ name, text, band }) => [name, text, band].filter(Boolean).join(' ')));
    // Also a point without a value is read: otherwise a key would seem to have no effect.
    if (this.byKeys && title) this.said.textContent = text('chart-values', { position: title, values: values || UNKNOWN });
    this.tip.hidden = left === null || found.length === 0;
    if (left === null || found.length === 0) return;
    this.tip.replaceChildren(h('strong', {}, title), ...found.map(tipRow));
    const room = this.place.clientWidth;
    const right = left > room * 0.55;
    this.tip.style.left = right ? 'auto' : `${left + 14}px`;
    this.tip.style.right = right ? `${room - left + 14}px` : 'auto';
    this.tip.style.maxWidth = `min(36rem, ${(right ? left : room - left) - 14}px)`;
  }
}

const tipRow = (r: Reading): HTMLElement => {
  const dot = h('i', { class: r.line < 0 ? 'dot none' : `dot line-${r.color}` });
  return h('div', {}, dot, h('span', {}, r.name), h('b', {}, r.text), r.band ? h('small', {}, r.band) : null);
};

/** A sample of the line's color and dashes. */
function swatch(figure: Figure, index: number): SVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  const set = (e: Element, all: Record<string, string>) => Object.entries(all).forEach(([k, v]) => e.setAttribute(k, v));
  set(svg, { width: '24', height: '8', 'aria-hidden': 'true', class: `stroke-${colorNumber(figure, index)}` });
  set(path, { d: 'M0 4H24', 'stroke-width': '2.5', 'stroke-dasharray': dashes(figure.lines[index]?.dash ?? 0).join(' ') });
  svg.append(path);
  return svg;
}

function tableOf(figure: Figure): HTMLElement {
  if (figure.heat) return heatTable(figure);
  const xs = [...new Set(figure.lines.flatMap((line) => line.x))].sort((a, b) => a - b);
  const rows = xs.map((x) => [onAxis(x, figure.x), ...figure.lines.map((line) => cell(figure, line, x))]);
  return simpleTable([figure.x.label, ...figure.lines.map((line) => line.name || figure.y.label)], rows, figure.title);
}

function cell(figure: Figure, line: Line, x: number): string {
  const at = line.x.indexOf(x);
  if (at < 0) return '';
  const [low, high] = [line.low?.[at] ?? null, line.high?.[at] ?? null];
  const y = line.y[at] ?? null;
  return y === null || low === null || high === null ? value(y, figure.y.unit) : withEnds(y, low, high, figure.y.unit);
}

function heatTable(figure: Figure): HTMLElement {
  const { x = [], y = [], counts = [] } = figure.heat ?? {};
  const rows = counts.flatMap((column, i) =>
    column.flatMap((count, j) => {
      if (count === 0) return [];
      const [left, right] = [x[i], x[i + 1]].map((v) => value(v, figure.x.unit));
      const [bottom, top] = [y[j], y[j + 1]].map((v) => value(v, figure.y.unit));
      return [[`${left} – ${right}`, `${bottom} – ${top}`, plain(count)]];
    }),
  );
  return simpleTable([figure.x.label, figure.y.label, text('column-count')], rows, figure.title);
}

