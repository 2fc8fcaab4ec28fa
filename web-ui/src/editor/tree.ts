// Draws the tree of elements. Only the rows in view are in the document, so a list of thousands of elements stays fast.

import { h } from '../dom';
import { text } from '../texts';
import type { OutlineNode } from './outline';

/** Height of a row in pixels; the style sheet has the same. */
const ROW = 28;
/** Number of rows that are drawn above and below the visible part. */
const MARGIN = 8;

export interface TreeRow {
  node: OutlineNode;
  /** Null without children. */
  isExpanded: boolean | null;
}

export interface TreeListeners {
  /** The user has clicked a row. */
  click: (path: string, event: MouseEvent) => void;
  toggle: (path: string) => void;
  key: (event: KeyboardEvent) => void;
}

/** Shape of a row as it was drawn, to skip rows that have not changed. */
interface DrawnRow {
  item: HTMLElement;
  signature: string;
}

export class TreeView {
  /** Contains the rows and scrolls. */
  readonly element: HTMLElement;
  private readonly sizer = h('div', { class: 'plan-rows', role: 'none' });
  private rows: TreeRow[] = [];
  private indexes = new Map<string, number>();
  private readonly drawnRows = new Map<string, DrawnRow>();
  private selectedPaths: ReadonlySet<string> = new Set();
  private activePath = '';
  private isScheduled = false;

  constructor(private readonly listeners: TreeListeners) {
    this.element = h(
      'div',
      {
        class: 'plan-tree',
        role: 'tree',
        'aria-label': text('tree-label'),
        'aria-multiselectable': 'true',
        onkeydown: (event) => listeners.key(event as KeyboardEvent),
        onclick: (event) => this.handleClick(event as MouseEvent),
        onscroll: () => this.schedule(),
      },
      this.sizer,
    );
    new ResizeObserver(() => this.schedule()).observe(this.element);
  }

  /** Shows rows and the selection; the active row can receive the focus. */
  show(rows: TreeRow[], selected: ReadonlySet<string>, active: string): void {
    const hadFocus = this.hasFocus();
    this.rows = rows;
    this.indexes = new Map(rows.map((row, i) => [row.node.element.path, i]));
    this.selectedPaths = selected;
    this.activePath = active;
    this.sizer.style.height = `${rows.length * ROW}px`;
    this.draw();
    if (hadFocus) this.focus();
  }

  /** Marks the tree as that of an older text. */
  setOutdated(isOutdated: boolean): void {
    if (isOutdated) this.element.setAttribute('aria-disabled', 'true');
    else this.element.removeAttribute('aria-disabled');
  }

  hasFocus(): boolean {
    return this.element.contains(document.activeElement);
  }

  /** Focuses the active row. */
  focus(): void {
    this.drawnRows.get(this.activePath)?.item.focus({ preventScroll: true });
  }

  /** Scrolls the active row into view. */
  reveal(): void {
    const top = (this.indexes.get(this.activePath) ?? 0) * ROW;
    const { scrollTop, clientHeight } = this.element;
    if (top < scrollTop) this.element.scrollTop = top;
    else if (top + ROW > scrollTop + clientHeight) this.element.scrollTop = top + ROW - clientHeight;
    this.draw();
  }

  /** Number of rows that are completely in view. */
  pageSize(): number {
    return Math.max(1, Math.floor(this.element.clientHeight / ROW) - 1);
  }

  /** Row in which an event happened, and the path of its element. */
  rowOf(event: Event): { item: HTMLElement; path: string } | null {
    const item = (event.target as Element).closest<HTMLElement>('[role=treeitem]');
    return item ? { item, path: item.dataset.path ?? '' } : null;
  }

  private handleClick(event: MouseEvent): void {
    const row = this.rowOf(event);
    if (!row) return;
    if ((event.target as Element).classList.contains('plan-toggle')) this.listeners.toggle(row.path);
    else this.listeners.click(row.path, event);
  }

  private schedule(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    requestAnimationFrame(() => {
      this.isScheduled = false;
      this.draw();
    });
  }

  /** Draws the rows in view and the active one, which must stay in the document to keep the focus. */
  private draw(): void {
    const { scrollTop, clientHeight } = this.element;
    const first = Math.max(0, Math.floor(scrollTop / ROW) - MARGIN);
    const last = Math.min(this.rows.length, Math.ceil((scrollTop + clientHeight) / ROW) + MARGIN);
    const indexes = Array.from({ length: Math.max(0, last - first) }, (_, i) => first + i);
    const active = this.indexes.get(this.activePath);
    if (active !== undefined && (active < first || active >= last)) indexes.push(active);
    const paths = new Set(indexes.map((index) => this.rows[index]?.node.element.path));
    for (const [path, { item }] of this.drawnRows) {
      if (paths.has(path)) continue;
      item.remove();
      this.drawnRows.delete(path);
    }
    for (const index of indexes) this.drawRow(index);
    this.sort(indexes);
  }

  /** Puts the rows in the order of the tree for screen readers. A row that is moved loses the focus, so most remain. */
  private sort(indexes: number[]): void {
    let next: Element | null = null;
    for (const index of [...indexes].sort((a, b) => b - a)) {
      const item = this.drawnRows.get(this.rows[index]?.node.element.path ?? '')?.item;
      if (!item) continue;
      if (!item.parentElement || item.nextElementSibling !== next) this.sizer.insertBefore(item, next);
      next = item;
    }
  }

  private drawRow(index: number): void {
    const row = this.rows[index];
    if (!row) return;
    const { element, level, position, siblings } = row.node;
    const isSelected = this.selectedPaths.has(element.path);
    const isActive = element.path === this.activePath;
    const { title, kind, enabled } = element;
    const signature = JSON.stringify([index, level, position, siblings, row.isExpanded, isSelected, isActive, title, kind, enabled]);
    let drawnRow = this.drawnRows.get(element.path);
    if (drawnRow?.signature === signature) return;
    if (!drawnRow) {
      const item = h('div', { role: 'treeitem', draggable: 'true', 'data-path': element.path });
      drawnRow = { item, signature };
      this.drawnRows.set(element.path, drawnRow);
    }
    drawnRow.signature = signature;
    const { item } = drawnRow;
    item.className = `plan-row${enabled ? '' : ' is-disabled'}${isActive ? ' is-active' : ''}`;
    item.style.top = `${index * ROW}px`;
    item.style.paddingInlineStart = `${(level - 1) * 1.1 + 0.3}rem`;
    item.tabIndex = isActive ? 0 : -1;
    item.ariaLevel = String(level);
    item.ariaPosInSet = String(position);
    item.ariaSetSize = String(siblings);
    item.ariaSelected = String(isSelected);
    item.ariaExpanded = row.isExpanded === null ? null : String(row.isExpanded);
    item.title = [kind, title].filter(Boolean).join(' ');
    item.replaceChildren(
      h('span', { class: 'plan-toggle', 'aria-hidden': 'true' }, row.isExpanded === null ? '' : row.isExpanded ? '▾' : '▸'),
      h('span', { class: 'plan-title' }, title || kind),
      title && title !== kind ? h('span', { class: 'plan-kind' }, kind) : '',
      enabled ? '' : h('span', { class: 'sr' }, text('tree-disabled-element')),
    );
  }
}
