// Shows the settings of the selected element. Settings that the plan contains come first.

import { h } from '../dom';
import { text } from '../texts';
import { description } from './assist';
import { FieldInput } from './field-input';
import type { ElementForm, Field } from './server';
import { historyCommand, type Command } from './tree-keys';

export interface FormListeners {
  /** The user has changed a setting; null removes it. The promise has the message of a refused change, or null. */
  change: (elementPath: string, field: Field, value: string | null) => Promise<string | null>;
  jump: (line: number) => void;
  command: (command: Command) => void;
  /** The user leaves the form with the keyboard. */
  leave: () => void;
}

/** Number of settings that are shown without the fold. */
const MAX_UNFOLDED = 6;

export class FormView {
  readonly element: HTMLElement;
  private readonly alert = h('div', { class: 'problem', role: 'alert', hidden: true });
  private readonly body = h('div', { class: 'plan-form-body' });
  private inputs = new Map<string, FieldInput>();
  private readonly heading = h('div', { class: 'plan-heading' });
  private path: string | null = null;
  private needsFocus = false;

  constructor(private readonly listeners: FormListeners) {
    this.element = h(
      'section',
      { class: 'plan-form', 'aria-label': text('form-label'), onkeydown: (event) => this.key(event as KeyboardEvent) },
      this.alert,
      this.body,
    );
  }

  /** Shows the form of an element. Controls of the same element remain, with the values that the user is entering. */
  show(reply: ElementForm): void {
    // Without its only value, the element itself would be removed.
    const fields = reply.fields.map((field) => ({ ...field, required: field.required || field.path === reply.path }));
    const form = { ...reply, fields };
    const previousInput = this.path === form.path ? undefined : this.focusedInput();
    if (this.path !== form.path) this.inputs.clear();
    for (const field of form.fields) this.inputs.get(field.path)?.update(field);
    const isSame = this.path === form.path && this.hasSameFields(form.fields);
    if (isSame) this.showHeading(form);
    else this.build(form);
    this.path = form.path;
    if (previousInput) this.keepFocus(previousInput);
    // The user may have left for the text.
    if (this.needsFocus && this.element.parentElement?.contains(document.activeElement)) this.focus();
    this.needsFocus = false;
  }

  /** Shows a sentence in place of a form. */
  showNote(note: string): void {
    this.path = null;
    this.inputs.clear();
    this.body.replaceChildren(h('p', { class: 'plan-note' }, note));
  }

  /** Shows the reason why a change was refused; null removes it. */
  showMessage(message: string | null): void {
    this.alert.hidden = message === null;
    this.alert.replaceChildren(message === null ? '' : description(message));
  }

  setDisabled(isDisabled: boolean): void {
    this.element.inert = isDisabled;
    this.element.classList.toggle('is-disabled', isDisabled);
  }

  /** Focuses the control of a field or the first one, as soon as it is there. */
  focus(path?: string): void {
    const control = path === undefined ? undefined : this.inputs.get(path)?.control;
    const first = control ?? this.body.querySelector<HTMLElement>('input, select, textarea, summary');
    this.needsFocus = !first || this.path === null;
    if (this.needsFocus) return;
    first?.focus();
    // As the Tab key does.
    if (!control && first instanceof HTMLInputElement) first.select();
  }

  /** Ends waiting for the form of the element. */
  cancelFocus(): void {
    this.needsFocus = false;
  }

  /** True if the focused control has a value that has not been sent. */
  hasUnsavedInput(): boolean {
    return this.focusedInput()?.isUnsaved() === true;
  }

  private focusedInput(): FieldInput | undefined {
    return [...this.inputs.values()].find((input) => input.control === document.activeElement);
  }

  /** Keeps the focus and the value that the user is entering if the path of the element has changed. */
  private keepFocus(previousInput: FieldInput): void {
    const { name, form } = previousInput.field;
    const input = [...this.inputs.values()].find(({ field }) => field.name === name && field.form === form);
    if (!input) return;
    if (previousInput.isUnsaved()) input.control.value = previousInput.control.value;
    this.focus(input.field.path);
  }

  private hasSameFields(fields: Field[]): boolean {
    return fields.length === this.inputs.size && fields.every((field) => this.inputs.get(field.path)?.field.form === field.form);
  }

  private build(form: ElementForm): void {
    const hadFocus = this.body.contains(document.activeElement);
    const focusedPath = this.focusedInput()?.field.path;
    const isOpen = this.inputs.size > 0 && this.body.querySelector('details')?.open === true;
    const inputs = form.fields.map((field) => this.input(field));
    this.inputs = new Map(inputs.map((input) => [input.field.path, input]));
    const isShort = inputs.length <= MAX_UNFOLDED;
    const isFirst = ({ field }: FieldInput): boolean => isShort || field.value !== null || field.required;
    const byUse = [...inputs].sort((a, b) => Number(b.field.value !== null) - Number(a.field.value !== null));
    const first = byUse.filter(isFirst).map((input) => input.element);
    const rest = inputs.filter((input) => !isFirst(input));
    this.showHeading(form);
    this.body.replaceChildren(
      this.heading,
      inputs.length === 0 ? h('p', { class: 'plan-note' }, text('form-empty')) : '',
      h('div', { class: 'settings' }, ...first),
      rest.length > 0 ? this.fold(rest, isOpen) : '',
    );
    if (hadFocus) this.focus(focusedPath);
  }

  /** The control of a field, which remains if its form is the same. */
  private input(field: Field): FieldInput {
    const existing = this.inputs.get(field.path);
    if (existing?.field.form === field.form) return existing;
    return new FieldInput(field, { commit: (input, value) => void this.commit(input, value), jump: this.listeners.jump });
  }

  private showHeading({ title, kind, about }: ElementForm): void {
    const name = title && title !== kind ? h('span', { class: 'plan-kind' }, kind) : '';
    this.heading.replaceChildren(h('h2', {}, title || kind, name), about ? description(about) : '');
  }

  /** Settings that the plan does not contain, with a filter. */
  private fold(rest: FieldInput[], isOpen: boolean): HTMLElement {
    const empty = h('p', { class: 'plan-note', hidden: true }, text('form-no-match'));
    const label = text('form-filter');
    const filter = h('input', { type: 'search', class: 'plan-filter', 'aria-label': label, placeholder: label });
    filter.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') event.preventDefault();
    });
    filter.addEventListener('input', () => {
      const typedText = filter.value.trim().toLowerCase();
      for (const { field, element } of rest) element.hidden = !`${field.name} ${field.about}`.toLowerCase().includes(typedText);
      empty.hidden = rest.some(({ element }) => !element.hidden);
    });
    const settings = h('div', { class: 'settings' }, ...rest.map((input) => input.element));
    const summary = h('summary', {}, text('form-further-settings', { count: rest.length }));
    return h('details', { class: 'further', open: isOpen }, summary, filter, empty, settings);
  }

  private key(event: KeyboardEvent): void {
    const command = historyCommand(event);
    const isFilled = event.target instanceof HTMLInputElement && event.target.type === 'search' && event.target.value !== '';
    if (event.key === 'Escape' && !isFilled) this.listeners.leave();
    // The browser undoes the input that has not been sent.
    else if (command === 'search' || (command && !this.hasUnsavedInput())) this.listeners.command(command);
    else return;
    event.preventDefault();
  }

  private async commit(input: FieldInput, value: string | null): Promise<void> {
    const message = await this.listeners.change(this.path ?? '', input.field, value);
    input.finish(message === null);
    this.showMessage(message);
  }
}
