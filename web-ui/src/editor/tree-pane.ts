// The tree with its selection and its keys.

import { visibleNodes, type Outline } from './outline';
import { TreeSelection } from './selection';
import { TreeView, type TreeRow } from './tree';
import { TypedText, commandOf, isSelectAll, movement, pathsOfAll, typedRow, type Command } from './tree-keys';

export interface PaneListeners {
  command: (command: Command) => void;
  /** The user has changed the selection. */
  select: () => void;
}

export class TreePane {
  readonly tree: TreeView;
  private readonly selection = new TreeSelection();
  private readonly typedText = new TypedText();
  private outline: Outline | null = null;
  private rows: TreeRow[] = [];

  constructor(private readonly listeners: PaneListeners) {
    this.tree = new TreeView({
      click: (path, event) => this.click(path, event),
      toggle: (path) => this.setExpanded(path, !this.isExpanded(path)),
      key: (event) => this.key(event),
    });
  }

  /** Path of the element with the focus. */
  get activePath(): string {
    return this.selection.active;
  }

  get selectedPaths(): string[] {
    return [...this.selection.paths];
  }

  /** Shows another outline; `currentPath` returns the path of an element of the previous one in it. */
  show(outline: Outline, currentPath: (path: string) => string): void {
    this.outline = outline;
    this.selection.rename(outline, currentPath);
    this.draw();
  }

  /** Selects elements and expands the elements around them. */
  select(paths: string[]): void {
    if (!this.outline) return;
    this.selection.selectAll(paths);
    for (const path of paths) this.selection.expandTo(this.outline, path);
    this.draw();
    this.tree.reveal();
  }

  /** Selects the element at which a drag begins, unless it is selected, and returns all selected ones. */
  beginDrag(path: string): string[] {
    if (!this.selection.paths.has(path)) {
      this.selection.select(path);
      this.applySelection();
    }
    return this.selectedPaths;
  }

  private isExpanded(path: string): boolean {
    const node = this.outline?.node(path);
    return node ? this.selection.isExpanded(node) : false;
  }

  private draw(): void {
    if (!this.outline) return;
    const nodes = visibleNodes(this.outline, (node) => this.selection.isExpanded(node));
    this.rows = nodes.map((node) => ({ node, isExpanded: node.element.children.length > 0 ? this.selection.isExpanded(node) : null }));
    this.tree.show(this.rows, this.selection.paths, this.selection.active);
  }

  private applySelection(): void {
    this.draw();
    this.tree.reveal();
    this.tree.focus();
    this.listeners.select();
  }

  private click(path: string, event: MouseEvent): void {
    if (event.ctrlKey || event.metaKey) this.selection.toggle(path);
    else if (event.shiftKey) this.extend(path);
    else this.selection.select(path);
    this.applySelection();
  }

  private extend(path: string): void {
    this.selection.extend(path, this.rows.map(({ node }) => node.element.path));
  }

  private setExpanded(path: string, isExpanded: boolean): void {
    if (!this.outline?.node(path)) return;
    // The selection must not be in a collapsed element.
    const isWithin = path !== this.activePath && this.outline.isWithin(this.activePath, path);
    this.selection.setExpanded(path, isExpanded);
    if (!isExpanded && isWithin) {
      this.selection.select(path);
      this.applySelection();
    } else this.draw();
  }

  private key(event: KeyboardEvent): void {
    const isTyped = event.key.length === 1 && event.key !== ' ' && !event.ctrlKey && !event.metaKey && !event.altKey;
    const command = commandOf(event);
    const isText = isTyped && (!command || this.typedText.isActive(event.timeStamp));
    if (!isText && event.key !== 'Shift') this.typedText.reset();
    if (isText) this.type(event.key, event.timeStamp);
    else if (command) this.listeners.command(command);
    else if (isSelectAll(event)) this.selectAll();
    else if (event.key === ' ') this.toggleSelected();
    else if (!event.altKey && this.move(event)) this.applySelection();
    else if (!this.expandOrCollapse(event.key)) return;
    event.preventDefault();
  }

  private activeIndex(): number {
    return this.rows.findIndex(({ node }) => node.element.path === this.activePath);
  }

  /** Moves the active row; false if the key does not move. */
  private move(event: KeyboardEvent): boolean {
    const target = movement(event.key, this.activeIndex(), this.rows, this.tree.pageSize());
    const path = target === null ? undefined : this.rows[target]?.node.element.path;
    if (path === undefined) return false;
    if (event.shiftKey) this.extend(path);
    else if (event.ctrlKey || event.metaKey) this.selection.focus(path);
    else this.selection.select(path);
    return true;
  }

  private expandOrCollapse(key: string): boolean {
    if (key !== 'ArrowRight' && key !== 'ArrowLeft') return false;
    this.setExpanded(this.activePath, key === 'ArrowRight');
    return true;
  }

  private selectAll(): void {
    const paths = pathsOfAll(this.rows, this.activePath, this.selection.paths);
    if (paths.length === 0) return;
    this.selection.selectAll(paths);
    this.applySelection();
  }

  private toggleSelected(): void {
    this.selection.toggle(this.activePath);
    this.applySelection();
  }

  private type(letter: string, now: number): void {
    const target = typedRow(this.typedText.add(letter, now), this.activeIndex(), this.rows);
    const path = target === null ? undefined : this.rows[target]?.node.element.path;
    if (path === undefined) return;
    this.selection.select(path);
    this.applySelection();
  }
}
