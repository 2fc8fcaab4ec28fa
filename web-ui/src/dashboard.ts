// A page of tables and charts without a study, such as JMeter's dashboard.

import { h, section } from './dom';
import { byGroup } from './charts';
import { FigureView } from './figure';
import { plain, value } from './format';
import { Group } from './group';
import { slice } from './slice';
import { simpleTable, sortable, type Column } from './table';
import { text } from './texts';
import type { DashboardCell, DashboardData, DashboardTable, Figure, Share, Shares } from './types';

/** Sections of the page, in order. */
export function dashboardSections(data: DashboardData): HTMLElement[] {
  const groups = new Map([...byGroup(data.sections.flatMap((s) => s.figures))].map(([name, figures]) => [name, new Group(figures)]));
  const [overview, ...others] = data.sections.map(({ title, figures }) => chartSection(title, figures, groups));
  const shares = data.shares.map(sharesFigure);
  return [
    section('information', text('section-information'), simpleTable(['', ''], data.facts, text('section-information')), ...links(data)),
    shares.length > 0 ? section('shares', text('section-summary'), h('div', { class: 'charts' }, ...shares)) : null,
    overview,
    ...data.tables.map((table) => section(slug(table.title), table.title, tableOf(table))),
    ...others,
  ].filter((s): s is HTMLElement => Boolean(s));
}

const links = (data: DashboardData): HTMLElement[] => data.links.map(([address, title]) => h('p', {}, h('a', { href: address }, title)));

const slug = (title: string): string => title.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-|-$/g, '');

/** Charts of one group zoom together, across all sections. */
function chartSection(title: string, figures: Figure[], groups: Map<string, Group>): HTMLElement | null {
  const views = figures.map((figure) => new FigureView(figure, groups.get(figure.group) ?? new Group([figure])));
  return section(slug(title), title, h('div', { class: 'charts' }, ...views.map((view) => view.element)));
}

/** A sortable table; the rows of totals stay first. */
function tableOf({ title, columns, rows, fixed_rows }: DashboardTable): HTMLElement {
  const column = (name: string, i: number): Column<DashboardCell[]> => ({
    title: name,
    cell: (row) => row[i]?.text ?? '',
    by: (row) => row[i]?.number ?? (row[i]?.text || null),
  });
  return sortable(columns.map(column), rows, title, fixed_rows);
}

/** Shares of a whole as a picture and as text. */
function sharesFigure({ title, form, parts }: Shares): HTMLElement {
  const all = parts.reduce((sum, part) => sum + part.count, 0);
  const share = (part: Share): number => (all > 0 ? part.count / all : 0);
  const words = ({ name, ...part }: Share): string =>
    text('share-of-whole', { name, count: plain(part.count), share: value(share({ name, ...part }), 'share') });
  const drawing = form === 'pie' ? pie(parts, share, words) : bars(parts, share, words);
  const item = (part: Share) => h('li', {}, h('i', { class: `dot ${part.grade}` }), words(part));
  return h(
    'figure',
    { class: `shares ${form}`, 'aria-label': title },
    h('figcaption', { class: 'head' }, h('h3', {}, title)),
    drawing,
    form === 'pie' ? h('ul', {}, ...parts.map(item)) : null,
  );
}

const SVG = 'http://www.w3.org/2000/svg';

function shape(name: string, attributes: Record<string, string>, ...children: Node[]): SVGElement {
  const element = document.createElementNS(SVG, name);
  for (const [key, content] of Object.entries(attributes)) element.setAttribute(key, content);
  element.append(...children);
  return element;
}

function pie(parts: Share[], share: (part: Share) => number, words: (part: Share) => string): SVGElement {
  let begin = 0;
  const slices = parts.flatMap((part) => {
    const end = begin + share(part);
    const title = shape('title', {});
    title.textContent = words(part);
    const path = shape('path', { d: slice(begin, end), class: part.grade }, title);
    begin = end;
    return part.count > 0 ? [path] : [];
  });
  return shape('svg', { viewBox: '-1 -1 2 2', role: 'img', 'aria-label': parts.map(words).join(', ') }, ...slices);
}

function bars(parts: Share[], share: (part: Share) => number, words: (part: Share) => string): HTMLElement {
  const bar = (part: Share) => {
    const filled = h('i', { class: part.grade });
    filled.style.width = `${share(part) * 100}%`;
    return h('div', { class: 'share', title: words(part) }, h('span', {}, words(part)), h('b', {}, filled));
  };
  return h('div', {}, ...parts.map(bar));
}
