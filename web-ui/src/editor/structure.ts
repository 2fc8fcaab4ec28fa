// Connects the text with the tree and the form of its elements. The text is the only state: each edit in the tree or the form is
// a change of the text that the server computes, and the tree shows the elements of the last check.

import { ChangeSet, type ChangeDesc } from '@codemirror/state';
import type { EditorView } from '@codemirror/view';
import { h } from '../dom';
import { text } from '../texts';
import { ElementActions } from './actions';
import { AddMenu } from './add-menu';
import type { CheckResult, CheckSchedule } from './check';
import type { PlanEdit } from './commands';
import { drawCurves } from './curves';
import { addDragging } from './drag';
import { EditQueue } from './edits';
import { FormView } from './form';
import { FormLoader } from './form-loader';
import { Outline } from './outline';
import type { ElementForm, Field, PlanServer } from './server';
import { Toolbar } from './toolbar';
import { TextPane } from './text-pane';
import { PathTracker, currentLine, currentPath, rebasedPath, type Snapshot, type TrackedPath } from './tracking';
import { TreePane } from './tree-pane';

export class Structure {
  private snapshot: Snapshot | null = null;
  private revision = '';
  private isReadable = false;
  private readonly edits: EditQueue;
  private readonly text: TextPane;
  private readonly pane: TreePane;
  private readonly form: FormView;
  private readonly toolbar: Toolbar;
  private readonly actions: ElementActions;
  private readonly menu: AddMenu;
  private readonly note = h('p', { class: 'plan-note plan-outdated', role: 'status', hidden: true });
  private readonly load = h('details', { class: 'plan-load', open: true, hidden: true }, h('summary', {}, text('load-title')));
  private readonly tracker = new PathTracker();
  /** Form of the active element; null until the server has replied. */
  private elementForm: ElementForm | null = null;
  /** Element of the form, which may have got another path since the form was requested. */
  private formElement: TrackedPath = { path: '' };
  private readonly loader: FormLoader;
  /** True if the user has opened the menu of additions before the server has sent them. */
  private needsMenu = false;

  constructor(
    container: HTMLElement,
    private readonly view: EditorView,
    checks: CheckSchedule,
    server: PlanServer,
  ) {
    this.edits = new EditQueue(view, checks, server);
    this.text = new TextPane(view, () => this.followCursor());
    this.pane = new TreePane({ command: (command) => this.actions.run(command), select: () => this.selectionChanged() });
    this.form = new FormView({
      change: (path, field, value) => this.changeField(path, field, value),
      jump: (line) => this.text.jump(this.currentLine(line)),
      command: (command) => this.actions.run(command),
      leave: () => this.pane.tree.focus(),
    });
    this.loader = new FormLoader(server, checks, () => (this.isReadable ? { revision: this.revision, path: this.pane.activePath } : null), {
      show: (form) => this.showForm(form),
      fail: (message) => this.form.showMessage(message),
    });
    this.actions = new ElementActions(view, this.pane, this.form, this.tracker, {
      outline: () => this.outline,
      isReadable: () => this.isReadable,
      submit: (edits) => this.submit(edits, () => true),
      openMenu: () => this.openMenu(),
      // The tree must follow undo and redo without the pause after typing.
      checkNow: () => void checks.check(),
    });
    this.toolbar = new Toolbar((command) => this.actions.run(command));
    this.menu = new AddMenu(
      (addition) => this.actions.add(addition),
      () => this.pane.tree.focus(),
    );
    addDragging(this.pane.tree, {
      outline: () => (this.isReadable ? this.outline : null),
      begin: (path) => this.pane.beginDrag(path),
      drop: (paths, place) => this.actions.drop(paths, place),
    });
    const commands = h('div', { class: 'plan-commands' }, this.toolbar.element, this.menu.element);
    const hint = h('p', { class: 'hint' }, text('tree-keys'));
    container.replaceChildren(commands, this.note, this.pane.tree.element, hint, this.load, this.form.element, this.actions.status);
    this.updateToolbar();
  }

  private get outline(): Outline | null {
    return this.snapshot?.outline ?? null;
  }

  /** The text has changed. */
  change(changes: ChangeDesc): void {
    if (this.snapshot) this.snapshot.changes = this.snapshot.changes.composeDesc(changes);
    this.updateToolbar();
  }

  /** Shows the elements of a check of the current text. */
  show(result: CheckResult): void {
    if ('failure' in result || !result.structure) return;
    const { revision, tree, curves } = result.structure;
    this.isReadable = tree !== null;
    this.note.hidden = this.isReadable;
    this.note.textContent = this.snapshot ? text('tree-outdated') : text('tree-empty');
    this.pane.tree.setOutdated(!this.isReadable);
    this.form.setDisabled(!this.isReadable);
    if (tree) {
      this.revision = revision;
      this.replaceOutline(new Outline(tree));
      this.showLoad(drawCurves(curves));
      this.requestForm();
      if (this.text.hasFocus()) this.moveCursor();
    }
    this.updateToolbar();
  }

  /** Selects the element at the cursor, when the cursor rests. */
  moveCursor(): void {
    this.text.moveCursor();
  }

  /** True if an edit has been requested and not yet applied. */
  isBusy(): boolean {
    return this.edits.isBusy();
  }

  /** Resolves when all edits have been applied; false if the last one was refused. */
  finishEdits(): Promise<boolean> {
    return this.edits.finishEdits();
  }

  private replaceOutline(outline: Outline): void {
    const { doc } = this.view.state;
    const before = this.snapshot;
    const path = (old: string): string => (before ? currentPath(before, doc, outline, old) : old);
    this.tracker.rename(path);
    this.snapshot = { outline, doc, changes: ChangeSet.empty(doc.length).desc };
    this.pane.show(outline, path);
  }

  private showLoad(charts: HTMLElement | null): void {
    this.load.querySelector('.plan-curves')?.remove();
    this.load.hidden = charts === null;
    if (charts) this.load.append(charts);
  }

  private followCursor(): void {
    const { snapshot, view } = this;
    // While the text changes, the lines of the elements are unknown; the next check calls this again.
    if (!snapshot || snapshot.doc !== view.state.doc || !this.text.hasFocus()) return;
    const { path } = snapshot.outline.atLine(this.text.cursorLine());
    if (path === this.pane.activePath && this.pane.selectedPaths.length === 1) return;
    this.pane.select([path]);
    this.form.cancelFocus();
    this.requestForm();
    this.updateToolbar();
  }

  /** The user has selected elements in the tree. */
  private selectionChanged(): void {
    this.form.cancelFocus();
    this.form.showMessage(null);
    this.needsMenu = false;
    this.scrollToActive();
    this.requestForm();
    this.updateToolbar();
  }

  private scrollToActive(): void {
    const element = this.outline?.element(this.pane.activePath);
    if (element) this.text.show(this.currentLine(element.line));
  }

  /** Line in the current text of a line of the last check. */
  private currentLine(line: number): number {
    return this.snapshot ? currentLine(this.snapshot, this.view.state.doc, line) : 1;
  }

  private requestForm(): void {
    if (this.elementForm?.path !== this.pane.activePath) this.elementForm = null;
    const count = this.pane.selectedPaths.length;
    if (count > 1) this.form.showNote(text('form-selection', { count }));
    this.loader.request();
  }

  private showForm(form: ElementForm): void {
    this.elementForm = form;
    this.tracker.remove([this.formElement]);
    this.formElement = this.tracker.add(form.path);
    if (this.pane.selectedPaths.length === 1) this.form.show(form);
    if (this.needsMenu) this.openMenu();
  }

  /** Changes a field of the form of the element that had the path `path` when the form was requested. */
  private async changeField(path: string, field: Field, value: string | null): Promise<string | null> {
    const element = this.tracker.add(this.formElement.path);
    const edits = (): PlanEdit[] => {
      const current = rebasedPath(field.path, path, element.path);
      return [value === null ? { op: 'remove', paths: [current] } : { op: 'set', path: current, value }];
    };
    const message = await this.submit(edits, () => this.pane.activePath === element.path);
    this.tracker.remove([element]);
    return message;
  }

  /** Applies edits and returns the message of the server if it refuses them; `canSelect` is false if the selection must remain. */
  private async submit(edits: () => PlanEdit[], canSelect: () => boolean): Promise<string | null> {
    try {
      const outcome = await this.edits.submit(edits);
      if ('message' in outcome) return outcome.message;
      this.form.showMessage(null);
      const select = outcome.select.filter((path) => this.outline?.node(path));
      if (select.length > 0 && canSelect()) this.selectResult(select);
      return null;
    } catch (error) {
      console.error(error);
      return text('change-failed');
    } finally {
      this.updateToolbar();
    }
  }

  private selectResult(paths: string[]): void {
    const isSame = isSameSet(paths, this.pane.selectedPaths);
    this.pane.select(paths);
    if (isSame) return;
    this.scrollToActive();
    this.requestForm();
  }

  private openMenu(): void {
    const form = this.elementForm;
    this.needsMenu = form === null;
    if (form) this.menu.open(form);
  }

  private updateToolbar(): void {
    const elements = this.pane.selectedPaths.flatMap((path) => this.outline?.element(path) ?? []);
    const isListed = elements.some((element) => element.list !== null);
    this.toolbar.show((command) => this.actions.isAvailable(command, isListed), elements.some((element) => element.enabled));
  }
}

const isSameSet = (a: string[], b: string[]): boolean => a.length === b.length && a.every((path) => b.includes(path));
