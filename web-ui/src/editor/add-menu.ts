// The menu from which the user adds an element: a filter, and kinds grouped by the list to which they are added.

import { h } from '../dom';
import { text } from '../texts';
import { description } from './assist';
import type { AdditionList, ElementForm } from './server';

export interface Addition {
  /** Path of the element for which the menu was opened. */
  element: string;
  list: string;
  index: number;
  kind: string;
}

interface Option {
  addition: Addition;
  item: HTMLElement;
  text: string;
}

export class AddMenu {
  readonly element: HTMLElement;
  private readonly filter: HTMLInputElement;
  private readonly list = h('div', { id: 'plan-add-list', role: 'listbox', 'aria-label': text('add-label') });
  private options: Option[] = [];
  private active = -1;

  constructor(
    private readonly add: (addition: Addition) => void,
    private readonly leave: () => void,
  ) {
    this.filter = h('input', {
      type: 'search',
      class: 'plan-filter',
      role: 'combobox',
      'aria-label': text('add-filter'),
      placeholder: text('add-filter'),
      'aria-expanded': 'true',
      'aria-controls': 'plan-add-list',
      'aria-autocomplete': 'list',
      autocomplete: 'off',
      oninput: () => this.applyFilter(),
      onkeydown: (event) => this.key(event as KeyboardEvent),
    });
    this.element = h('div', { class: 'plan-add', role: 'dialog', 'aria-label': text('add-label'), hidden: true }, this.filter, this.list);
    this.element.addEventListener('focusout', (event) => {
      if (!this.element.contains(event.relatedTarget as Node | null)) this.element.hidden = true;
    });
    // A click on an option must not take the focus from the filter.
    this.list.addEventListener('mousedown', (event) => event.preventDefault());
  }

  /** Shows the additions that the form of an element offers. */
  open({ path, lists }: ElementForm): void {
    this.options = [];
    const groups = lists.filter((list) => list.kinds.length > 0).map((list, i) => this.group(path, list, `plan-add-group-${i}`));
    this.list.replaceChildren(...groups, h('p', { class: 'plan-note' }));
    this.filter.value = '';
    this.element.hidden = false;
    this.applyFilter();
    this.filter.focus();
  }

  isOpen(): boolean {
    return !this.element.hidden;
  }

  private group(element: string, { path, index, name, kinds }: AdditionList, id: string): HTMLElement {
    const items = kinds.map((kind) => {
      const about = kind.about ? description(kind.about) : '';
      const item = h('div', { role: 'option', id: `plan-add-${this.options.length}` }, h('b', {}, kind.name), about);
      const addition = { element, list: path, index, kind: kind.name };
      item.addEventListener('click', () => this.choose(addition));
      this.options.push({ addition, item, text: `${kind.name} ${kind.about} ${name}`.toLowerCase() });
      return item;
    });
    return h('div', { role: 'group', 'aria-labelledby': id }, h('div', { id, class: 'plan-add-title' }, name), ...items);
  }

  private matching(): Option[] {
    return this.options.filter((option) => !option.item.hidden);
  }

  private applyFilter(): void {
    const typedText = this.filter.value.trim().toLowerCase();
    for (const option of this.options) option.item.hidden = !option.text.includes(typedText);
    for (const group of this.list.querySelectorAll<HTMLElement>('[role=group]')) {
      group.hidden = !group.querySelector('[role=option]:not([hidden])');
    }
    const matching = this.matching();
    const note = this.list.lastElementChild;
    if (note) note.textContent = matching.length > 0 ? '' : this.options.length > 0 ? text('add-no-match') : text('add-impossible');
    // A kind whose name begins with the text is more likely than one whose description contains it.
    const named = typedText === '' ? -1 : matching.findIndex((option) => option.addition.kind.toLowerCase().startsWith(typedText));
    this.activate(Math.max(named, matching.length > 0 ? 0 : -1));
  }

  private activate(index: number): void {
    this.active = index;
    const matching = this.matching();
    for (const option of this.options) option.item.ariaSelected = 'false';
    const item = matching[index]?.item;
    if (!item) return this.filter.removeAttribute('aria-activedescendant');
    item.ariaSelected = 'true';
    this.filter.setAttribute('aria-activedescendant', item.id);
    item.scrollIntoView({ block: 'nearest' });
  }

  private key(event: KeyboardEvent): void {
    const matching = this.matching();
    const count = matching.length;
    const option = matching[this.active];
    event.stopPropagation();
    if (event.key === 'ArrowDown' && count > 0) this.activate((this.active + 1) % count);
    else if (event.key === 'ArrowUp' && count > 0) this.activate((this.active - 1 + count) % count);
    else if (event.key === 'Enter') option && this.choose(option.addition);
    else if (event.key === 'Escape') this.close();
    else return;
    event.preventDefault();
  }

  private close(): void {
    this.element.hidden = true;
    this.leave();
  }

  private choose(addition: Addition): void {
    this.close();
    this.add(addition);
  }
}
