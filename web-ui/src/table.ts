// Tables: plain ones, and ones that can be sorted by mouse and keyboard.

import { h } from './dom';

type Cell = Node | string;

/** A table of texts whose first column names the rows. Without titles, it has no head. */
export function simpleTable(titles: string[], rows: Cell[][], caption: string): HTMLElement {
  const head = h('tr', {}, ...titles.map((title) => h('th', { scope: 'col' }, title)));
  const body = rows.map((row) => h('tr', {}, ...row.map((cell, i) => (i === 0 ? h('th', { scope: 'row' }, cell) : h('td', {}, cell)))));
  return scrolled(caption, h('table', {}, h('caption', { class: 'sr' }, caption), titles.some(Boolean) && h('thead', {}, head), h('tbody', {}, ...body)));
}

/** A column of a sortable table. */
export interface Column<Row> {
  title: string;
  /** Displayed text. */
  cell(row: Row): Cell;
  /** Sort key; unknown values come last in both directions. */
  by(row: Row): number | string | null;
}

/** A table with buttons as column heads: the first press sorts ascending, the next descending. The first rows may be fixed. */
export function sortable<Row>(columns: Column<Row>[], rows: Row[], caption: string, fixed = 0): HTMLElement {
  const numbers = columns.map((c) => rows.some((row) => typeof c.by(row) === 'number'));
  const made = rows.map((row) => ({ row, element: h('tr', {}, ...columns.map((c, i) => data(c.cell(row), numbers[i] ?? false))) }));
  const body = h('tbody', {}, ...made.map((m) => m.element));
  const heads = columns.map((column, i) => {
    const arrow = h('span', { class: 'arrow', 'aria-hidden': 'true' });
    const button = h('button', { type: 'button', onclick: () => sort(i) }, column.title, arrow);
    return h('th', { scope: 'col', class: numbers[i] ? 'number' : undefined, 'aria-sort': 'none' }, button);
  });
  const sort = (by: number) => {
    const up = heads[by]?.getAttribute('aria-sort') !== 'ascending';
    heads.forEach((head, i) => head.setAttribute('aria-sort', i !== by ? 'none' : up ? 'ascending' : 'descending'));
    const key = columns[by]?.by ?? (() => null);
    body.append(...made.slice(fixed).sort((a, b) => order(key(a.row), key(b.row), up ? 1 : -1)).map((m) => m.element));
  };
  return scrolled(caption, h('table', { class: 'sortable' }, h('caption', { class: 'sr' }, caption), h('thead', {}, h('tr', {}, ...heads)), body));
}

/** Compares two sort keys; unknown values come last in both directions. */
export function order(a: number | string | null, b: number | string | null, direction: number): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  if (typeof a === 'number' && typeof b === 'number') return (a - b) * direction;
  return String(a).localeCompare(String(b), 'en', { numeric: true }) * direction;
}

const data = (cell: Cell, number: boolean) => h('td', { class: number ? 'number' : undefined }, cell);

const scrolled = (name: string, table: HTMLElement): HTMLElement =>
  h('div', { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': name }, table);
