// Runs the commands of the tree and announces their results.

import { redo, redoDepth, undo, undoDepth } from '@codemirror/commands';
import { openSearchPanel } from '@codemirror/search';
import type { EditorView } from '@codemirror/view';
import { h } from '../dom';
import { text } from '../texts';
import type { Addition } from './add-menu';
import { copyable, duplicateEdits, enableEdits, moveEdits, pasteEdits, removeEdits, type PlanEdit } from './commands';
import type { FormView } from './form';
import type { DropPlace, Outline } from './outline';
import { rebasedPath, type PathTracker, type TrackedPath } from './tracking';
import type { Command } from './tree-keys';
import type { TreePane } from './tree-pane';

export interface ActionContext {
  outline: () => Outline | null;
  /** False if the text has an error that prevents reading it. */
  isReadable: () => boolean;
  /** Applies edits; returns the reason if they are refused. */
  submit: (edits: () => PlanEdit[]) => Promise<string | null>;
  openMenu: () => void;
  checkNow: () => void;
}

/** Edits of a command that is applied to elements, and its texts. */
interface ElementCommand {
  edits: (outline: Outline, selected: string[]) => PlanEdit[];
  label: () => string;
  impossible: () => string;
}

const ELEMENT_COMMANDS: Partial<Record<Command, ElementCommand>> = {
  duplicate: { edits: duplicateEdits, label: () => text('command-duplicate'), impossible: () => text('status-not-duplicated') },
  moveUp: {
    edits: (outline, selected) => moveEdits(outline, selected, -1),
    label: () => text('command-move-up'),
    impossible: () => text('status-not-moved'),
  },
  moveDown: {
    edits: (outline, selected) => moveEdits(outline, selected, 1),
    label: () => text('command-move-down'),
    impossible: () => text('status-not-moved'),
  },
  toggleEnabled: { edits: enableEdits, label: () => text('command-enable-or-disable'), impossible: () => text('status-not-disabled') },
  remove: { edits: removeEdits, label: () => text('command-remove'), impossible: () => text('status-not-removed') },
};

/** Number of elements that edits change. */
const elementCount = (edits: PlanEdit[]): number => edits.reduce((sum, edit) => sum + ('paths' in edit ? edit.paths.length : 1), 0);

export class ElementActions {
  /** Announces results to screen readers. */
  readonly status = h('div', { class: 'sr', role: 'status' });
  private clipboard: { op: 'copy' | 'move'; elements: TrackedPath[] } | null = null;

  constructor(
    private readonly view: EditorView,
    private readonly pane: TreePane,
    private readonly form: FormView,
    private readonly tracker: PathTracker,
    private readonly context: ActionContext,
  ) {}

  run(command: Command): void {
    const elementCommand = ELEMENT_COMMANDS[command];
    if (elementCommand) {
      const { edits, label, impossible } = elementCommand;
      return void this.apply((outline) => edits(outline, this.pane.selectedPaths), label(), impossible());
    }
    if (command === 'add') this.context.openMenu();
    else if (command === 'copy') this.copy('copy', (count) => text('status-copied', { count }));
    else if (command === 'cut') this.copy('move', (count) => text('status-cut', { count }));
    else if (command === 'paste') this.paste();
    else if (command === 'undo') this.changeHistory(undo(this.view), text('status-undone'), text('status-nothing-to-undo'));
    else if (command === 'redo') this.changeHistory(redo(this.view), text('status-redone'), text('status-nothing-to-redo'));
    else if (command === 'search') openSearchPanel(this.view);
    else if (command === 'edit') this.form.focus();
  }

  /** True if a command can be run; `isListed` is true if a selected element is in a list. */
  isAvailable(command: Command, isListed: boolean): boolean {
    if (command === 'undo') return undoDepth(this.view.state) > 0;
    if (command === 'redo') return redoDepth(this.view.state) > 0;
    if (!this.context.isReadable()) return false;
    if (command === 'add') return true;
    const root = this.context.outline()?.root.path;
    return isListed || (command === 'remove' && this.pane.selectedPaths.some((path) => path !== root));
  }

  /** Adds an element that the user has chosen. The paths are those of the last check when the menu was opened. */
  add({ element, list, index, kind }: Addition): void {
    const current = this.tracker.add(element);
    const edits = (): PlanEdit[] => [{ op: 'add', list: rebasedPath(list, element, current.path), index, kind }];
    void this.apply(edits, text('command-add'), text('add-impossible')).finally(() => this.tracker.remove([current]));
  }

  /** Moves elements that the user has dragged. */
  drop(paths: string[], { list, index }: DropPlace): void {
    const edits = (outline: Outline): PlanEdit[] => [{ op: 'move', paths: copyable(outline, paths), list, index }];
    void this.apply(edits, text('command-move'), text('status-not-moved'));
  }

  private copy(op: 'copy' | 'move', successMessage: (count: number) => string): void {
    const outline = this.context.outline();
    const paths = outline ? copyable(outline, this.pane.selectedPaths) : [];
    if (paths.length === 0) return this.announce(text('status-not-copyable'));
    this.tracker.remove(this.clipboard?.elements ?? []);
    this.clipboard = { op, elements: paths.map((path) => this.tracker.add(path)) };
    this.announce(successMessage(paths.length));
  }

  private paste(): void {
    const { clipboard } = this;
    if (!clipboard) return this.announce(text('status-clipboard-empty'));
    const edits = (outline: Outline): PlanEdit[] => {
      const target = outline.element(this.pane.activePath);
      const paths = clipboard.elements.map(({ path }) => path);
      return target ? pasteEdits(outline, { op: clipboard.op, paths }, target) : [];
    };
    void this.apply(edits, text('command-paste'), text('status-not-pasted'));
    // Elements that were cut are moved once.
    if (clipboard.op === 'move') this.clipboard = null;
  }

  private changeHistory(isChanged: boolean, successMessage: string, impossible: string): void {
    if (isChanged) this.context.checkNow();
    this.announce(isChanged ? successMessage : impossible);
  }

  /** Applies a command; `impossible` is announced if there is nothing to change. */
  private async apply(edits: (outline: Outline) => PlanEdit[], label: string, impossible: string): Promise<void> {
    let count = 0;
    const source = (): PlanEdit[] => {
      const outline = this.context.outline();
      const computedEdits = outline ? edits(outline) : [];
      count = elementCount(computedEdits);
      return computedEdits;
    };
    // The paths of the fields change, so a value that is entered meanwhile would be one of another element.
    this.form.setDisabled(true);
    const message = await this.context.submit(source);
    this.form.setDisabled(!this.context.isReadable());
    this.form.showMessage(message);
    if (message === null) this.announce(count > 0 ? text('status-done', { command: label, count }) : impossible);
  }

  private announce(message: string): void {
    this.status.textContent = message;
  }
}
