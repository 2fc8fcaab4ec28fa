// Keys of the tree: which command or which movement a key stands for.

import type { TreeRow } from './tree';

export type Command =
  | 'add' | 'duplicate' | 'moveUp' | 'moveDown' | 'toggleEnabled' | 'remove' | 'copy' | 'cut' | 'paste' | 'undo' | 'redo' | 'search' | 'edit';

/** The parts of a keyboard event that matter. */
export interface KeyPress {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  shiftKey: boolean;
  altKey: boolean;
}

const CONTROL: Record<string, Command> = { d: 'duplicate', c: 'copy', x: 'cut', v: 'paste', z: 'undo', y: 'redo', f: 'search' };
const PLAIN: Record<string, Command> = { Enter: 'edit', Delete: 'remove', Insert: 'add', '+': 'add', e: 'toggleEnabled', E: 'toggleEnabled' };

/** Undo, redo and search, which the form has, too; null for another key. */
export function historyCommand(press: KeyPress): Command | null {
  const command = commandOf(press);
  return command === 'undo' || command === 'redo' || command === 'search' ? command : null;
}

/** Command of a key; null if it has none. */
export function commandOf(press: KeyPress): Command | null {
  const { key, altKey, shiftKey } = press;
  const control = press.ctrlKey || press.metaKey;
  if (altKey && !control) return key === 'ArrowUp' ? 'moveUp' : key === 'ArrowDown' ? 'moveDown' : null;
  if (altKey) return null;
  if (control && shiftKey) return key.toLowerCase() === 'z' ? 'redo' : null;
  if (control) return CONTROL[key.toLowerCase()] ?? null;
  return PLAIN[key] ?? null;
}

/** True for the key that selects all elements. */
export const isSelectAll = ({ key, ctrlKey, metaKey, shiftKey, altKey }: KeyPress): boolean =>
  key.toLowerCase() === 'a' && (ctrlKey || metaKey) && !shiftKey && !altKey;

/**
 * Paths that the key selects: the siblings of the active element, or all rows if the siblings are selected. The root is not among
 * them, because commands on it would apply to nothing else.
 */
export function pathsOfAll(rows: TreeRow[], active: string, selected: ReadonlySet<string>): string[] {
  const descendants = rows.filter(({ node }) => node.parent !== null);
  const parent = rows.find(({ node }) => node.element.path === active)?.node.parent;
  const siblings = descendants.filter(({ node }) => node.parent === parent);
  const areSelected = siblings.every(({ node }) => selected.has(node.element.path));
  return (areSelected ? descendants : siblings).map(({ node }) => node.element.path);
}

/** Index of the row to which a key moves; null if the key does not move. */
export function movement(key: string, index: number, rows: TreeRow[], page: number): number | null {
  const last = rows.length - 1;
  const within = (target: number): number => Math.min(Math.max(target, 0), last);
  const row = rows[index];
  switch (key) {
    case 'ArrowDown':
      return within(index + 1);
    case 'ArrowUp':
      return within(index - 1);
    case 'Home':
      return 0;
    case 'End':
      return last;
    case 'PageDown':
      return within(index + page);
    case 'PageUp':
      return within(index - page);
    case 'ArrowRight':
      return row?.isExpanded === true ? within(index + 1) : null;
    case 'ArrowLeft': {
      if (row?.isExpanded === true) return null;
      const parent = rows.findIndex(({ node }) => node === row?.node.parent);
      return parent < 0 ? null : parent;
    }
    default:
      return null;
  }
}

/** Index of the next row whose title, or else whose kind, begins with a text; null if there is none. */
export function typedRow(text: string, index: number, rows: TreeRow[]): number | null {
  return nextRow(text, index, rows, 'title') ?? nextRow(text, index, rows, 'kind');
}

function nextRow(text: string, index: number, rows: TreeRow[], name: 'title' | 'kind'): number | null {
  const prefix = text.toLowerCase();
  // A single letter goes on to the next row; further letters may still match the current one.
  const start = text.length > 1 ? 0 : 1;
  for (let n = start; n < rows.length + start; n++) {
    const at = (index + n) % rows.length;
    if (rows[at]?.node.element[name].toLowerCase().startsWith(prefix)) return at;
  }
  return null;
}

/** Pause after which typed letters begin a new text, in ms. */
const TYPING_PAUSE = 700;

/** Collects letters that are typed in quick succession. */
export class TypedText {
  private text = '';
  private time = -Infinity;

  /** True if the next letter continues a text. */
  isActive(now: number): boolean {
    return this.text !== '' && now - this.time < TYPING_PAUSE;
  }

  /** Begins a new text with the next letter. */
  reset(): void {
    this.text = '';
  }

  add(letter: string, now: number): string {
    this.text = this.isActive(now) ? this.text + letter : letter;
    this.time = now;
    return this.text;
  }
}
