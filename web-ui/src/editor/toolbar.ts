// Buttons for the commands of the tree.

import { h } from '../dom';
import { text } from '../texts';
import type { Command } from './tree-keys';

interface ToolbarButton {
  command: Command;
  label: string;
  key: string;
  /** Key in the syntax of `aria-keyshortcuts`. */
  shortcut: string;
  /** Text of the button if it is not the label, such as a symbol. */
  content?: string;
}

const buttons = (): ToolbarButton[] => [
  { command: 'add', label: text('command-add'), key: '+', shortcut: '+', content: text('toolbar-add') },
  { command: 'duplicate', label: text('command-duplicate'), key: 'Ctrl+D', shortcut: 'Control+D' },
  { command: 'moveUp', label: text('command-move-up'), key: 'Alt+↑', shortcut: 'Alt+ArrowUp', content: '↑' },
  { command: 'moveDown', label: text('command-move-down'), key: 'Alt+↓', shortcut: 'Alt+ArrowDown', content: '↓' },
  { command: 'toggleEnabled', label: text('command-disable'), key: 'E', shortcut: 'E' },
  { command: 'remove', label: text('command-remove'), key: 'Delete', shortcut: 'Delete' },
  { command: 'undo', label: text('command-undo'), key: 'Ctrl+Z', shortcut: 'Control+Z', content: '↶' },
  { command: 'redo', label: text('command-redo'), key: 'Ctrl+Y', shortcut: 'Control+Y', content: '↷' },
];

/** Commands that are available in one state of the document. */
export type Availability = (command: Command) => boolean;

export class Toolbar {
  readonly element: HTMLElement;
  private isAvailable: Availability = () => false;
  private readonly buttons = new Map<Command, HTMLButtonElement>();

  constructor(run: (command: Command) => void) {
    for (const { command, label, key, shortcut, content } of buttons()) {
      const attributes = { type: 'button', 'aria-keyshortcuts': shortcut, onclick: () => this.isAvailable(command) && run(command) };
      const button = h('button', attributes, content ?? label);
      this.buttons.set(command, button);
      this.name(command, label, key);
    }
    this.element = h('div', { class: 'plan-toolbar', role: 'toolbar', 'aria-label': text('toolbar-label') }, ...this.buttons.values());
  }

  /** Shows which commands are available, and whether the selected elements would be disabled or enabled. */
  show(isAvailable: Availability, isEnabled: boolean): void {
    this.isAvailable = isAvailable;
    // A button with the attribute `disabled` would lose the focus.
    for (const [command, button] of this.buttons) button.ariaDisabled = String(!isAvailable(command));
    const label = isEnabled ? text('command-disable') : text('command-enable');
    const button = this.buttons.get('toggleEnabled');
    if (!button || button.textContent === label) return;
    button.textContent = label;
    this.name('toggleEnabled', label, 'E');
  }

  private name(command: Command, label: string, key: string): void {
    const button = this.buttons.get(command);
    if (button) button.ariaLabel = button.title = text('toolbar-button', { label, key });
  }
}
