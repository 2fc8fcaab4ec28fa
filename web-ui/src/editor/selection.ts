// Elements that are selected and expanded in the tree. The selection survives new checks of the text.

import type { Outline, OutlineNode } from './outline';

/** Rows that are shown at first without expanding anything. */
const FIRST_ROWS = 200;

export class TreeSelection {
  paths = new Set<string>(['']);
  /** Element with the focus, whose form is shown. */
  active = '';
  /** First element of a range. */
  private anchor = '';
  /** Elements that the user has expanded or collapsed. */
  private toggledPaths = new Map<string, boolean>();
  private levels: number | null = null;

  isExpanded(node: OutlineNode): boolean {
    return node.element.children.length > 0 && (this.toggledPaths.get(node.element.path) ?? node.level <= (this.levels ?? 1));
  }

  setExpanded(path: string, isExpanded: boolean): void {
    this.toggledPaths.set(path, isExpanded);
  }

  /** Expands all elements around another one. */
  expandTo(outline: Outline, path: string): void {
    for (let node = outline.node(path)?.parent; node; node = node.parent) this.toggledPaths.set(node.element.path, true);
  }

  /** Selects one element. */
  select(path: string): void {
    this.selectAll([path]);
  }

  /** Selects elements; the first one is the active one, unless one of them is it already. */
  selectAll(paths: string[]): void {
    this.paths = new Set(paths);
    this.active = this.anchor = this.paths.has(this.active) ? this.active : (paths[0] ?? '');
  }

  /** Adds an element to the selection or removes it. */
  toggle(path: string): void {
    const paths = new Set(this.paths);
    if (paths.has(path) && paths.size > 1) paths.delete(path);
    else paths.add(path);
    this.paths = paths;
    this.active = this.anchor = path;
  }

  /** Moves the focus without selecting. */
  focus(path: string): void {
    this.active = path;
  }

  /** Selects the rows from the first element of the range to another one. */
  extend(path: string, rows: string[]): void {
    const ends = [rows.indexOf(this.anchor), rows.indexOf(path)].sort((a, b) => a - b);
    const [from = 0, to = 0] = ends;
    this.paths = new Set(rows.slice(Math.max(from, 0), to + 1));
    this.active = path;
  }

  /** Gives all elements the paths that they have in another outline. */
  rename(outline: Outline, currentPath: (path: string) => string): void {
    this.levels ??= outline.levelsFor(FIRST_ROWS);
    const selectedPaths = [...this.paths].map(currentPath).filter((path) => outline.node(path));
    this.active = nearestPath(outline, currentPath(this.active));
    this.anchor = nearestPath(outline, currentPath(this.anchor));
    this.paths = new Set(selectedPaths.length > 0 ? selectedPaths : [this.active]);
    const toggledPaths = [...this.toggledPaths].map(([path, isExpanded]) => [currentPath(path), isExpanded] as const);
    this.toggledPaths = new Map(toggledPaths);
    this.expandTo(outline, this.active);
  }
}

/** The path, or that of an existing element around it. */
function nearestPath(outline: Outline, path: string): string {
  if (outline.node(path)) return path;
  const around = outline.nodes.filter(({ element }) => path.startsWith(element.path));
  return around.reduce((longest, { element }) => (element.path.length > longest.length ? element.path : longest), outline.root.path);
}
