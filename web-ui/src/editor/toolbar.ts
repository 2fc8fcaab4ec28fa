// Buttons for the commands of the tree.

import { h } from '../dom';
import type { Command } from './tree-keys';
import { words } from './words';

interface ToolbarButton {
  command: Command;
  label: string;
  key: string;
  /** Key in the syntax of `aria-keyshortcuts`. */
  shortcut: string;
  /** Text of a button that has a symbol in place of its label. */
  symbol?: string;
}

const BUTTONS: ToolbarButton[] = [
  { command: 'add', label: words.add(), key: '+', shortcut: '+' },
  { command: 'duplicate', label: words.duplicate(), key: 'Ctrl+D', shortcut: 'Control+D' },
  { command: 'moveUp', label: words.moveUp(), key: 'Alt+Up', shortcut: 'Alt+ArrowUp', symbol: '↑' },
  { command: 'moveDown', label: words.moveDown(), key: 'Alt+Down', shortcut: 'Alt+ArrowDown', symbol: '↓' },
  { command: 'toggleEnabled', label: words.disable(), key: 'E', shortcut: 'E' },
  { command: 'remove', label: words.remove(), key: 'Delete', shortcut: 'Delete' },
  { command: 'undo', label: words.undo(), key: 'Ctrl+Z', shortcut: 'Control+Z', symbol: '↶' },
  { command: 'redo', label: words.redo(), key: 'Ctrl+Y', shortcut: 'Control+Y', symbol: '↷' },
];

/** Commands that are available in one state of the document. */
export type Availability = (command: Command) => boolean;

export class Toolbar {
  readonly element: HTMLElement;
  private isAvailable: Availability = () => false;
  private readonly buttons = new Map<Command, HTMLButtonElement>();

  constructor(run: (command: Command) => void) {
    for (const { command, label, key, shortcut, symbol } of BUTTONS) {
      const attributes = { type: 'button', 'aria-keyshortcuts': shortcut, onclick: () => this.isAvailable(command) && run(command) };
      const button = h('button', attributes, symbol ?? label);
      this.buttons.set(command, button);
      this.name(command, label, key);
    }
    this.element = h('div', { class: 'plan-toolbar', role: 'toolbar', 'aria-label': words.toolbar() }, ...this.buttons.values());
  }

  /** Shows which commands are available, and whether the selected elements would be disabled or enabled. */
  show(isAvailable: Availability, isEnabled: boolean): void {
    this.isAvailable = isAvailable;
    // A button with the attribute `disabled` would lose the focus.
    for (const [command, button] of this.buttons) button.ariaDisabled = String(!isAvailable(command));
    const label = isEnabled ? words.disable() : words.enable();
    const button = this.buttons.get('toggleEnabled');
    if (!button || button.textContent === label) return;
    button.textContent = label;
    this.name('toggleEnabled', label, 'E');
  }

  private name(command: Command, label: string, key: string): void {
    const button = this.buttons.get(command);
    if (button) button.ariaLabel = button.title = words.withKey(label, key);
  }
}
