// One setting in the form: its label, its control and its description.

import { h } from '../dom';
import { text } from '../texts';
import { description } from './assist';
import type { Field } from './server';

export interface FieldListeners {
  /** The user has entered a value; null removes the setting. */
  commit: (input: FieldInput, value: string | null) => void;
  jump: (line: number) => void;
}

type Control = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

const HINTS: Partial<Record<Field['form'], () => string>> = {
  list: () => text('setting-format-list'),
  pairs: () => text('setting-format-pairs'),
  yaml: () => text('setting-format-yaml'),
};
const MAX_ROWS = 16;
/** Length from which a description is shown in part. */
const LONG = 160;

let inputCount = 0;

/** First sentence of a description; a period within `code` does not end it. */
export function firstSentence(about: string): string {
  const end = /^(?:`[^`]*`|[^`\n])*?(?:[.:](?=\s+[A-Z`])|。(?=.))/s.exec(about)?.[0] ?? about.split('\n')[0] ?? '';
  return end.length < about.length ? end : about;
}

/** Description of which only the first sentence is shown at first. */
export function foldedDescription(long: string, id: string): HTMLElement {
  const short = firstSentence(long);
  if (long.length <= LONG || short === long) return h('div', { id, class: 'setting-about' }, description(long));
  const button = h('button', { type: 'button', class: 'link', 'aria-expanded': 'false' }, text('setting-more'));
  const about = h('div', { id, class: 'setting-about' }, description(short), button);
  button.addEventListener('click', () => {
    const isExpanded = button.ariaExpanded !== 'true';
    button.ariaExpanded = String(isExpanded);
    button.textContent = isExpanded ? text('setting-less') : text('setting-more');
    about.replaceChildren(description(isExpanded ? long : short), button);
  });
  return about;
}

/** Choices of a select element: its words, and a value that is not among them. */
function fillChoices(select: HTMLSelectElement, field: Field): void {
  const choices = field.form === 'switch' ? ['true', 'false'] : field.words;
  const { value } = field;
  const all = value === null || choices.includes(value) ? choices : [...choices, value];
  const empty = field.default === null ? text('setting-unset') : text('setting-unset-default', { value: field.default });
  const options = all.map((choice) => h('option', { value: choice }, choice));
  select.replaceChildren(...(field.required && value !== null ? [] : [h('option', { value: '' }, empty)]), ...options);
}

function createControl(field: Field): Control {
  switch (field.form) {
    case 'choice':
    case 'switch':
      return h('select');
    case 'lines':
    case 'list':
    case 'pairs':
    case 'yaml':
      return h('textarea', { spellcheck: 'false', class: field.form === 'lines' || field.form === 'yaml' ? 'code' : '' });
    case 'number':
      return h('input', { type: 'text', inputmode: 'decimal', autocomplete: 'off', spellcheck: 'false', class: 'number-input' });
    default:
      return h('input', { type: 'text', autocomplete: 'off', spellcheck: 'false' });
  }
}

export class FieldInput {
  readonly element: HTMLElement;
  readonly control: Control;
  private readonly remove: HTMLButtonElement;
  private readonly preview = h('div', { class: 'setting-cut' });
  /** Value of the control that the plan contains, or that has been sent. */
  private committedValue = '';
  private pendingRequests = 0;

  constructor(
    public field: Field,
    private readonly listeners: FieldListeners,
  ) {
    const id = `setting-${++inputCount}`;
    this.control = createControl(field);
    this.control.id = id;
    if (field.about) this.control.setAttribute('aria-describedby', `${id}-about`);
    this.remove = h('button', { type: 'button', class: 'setting-remove', onclick: () => this.clear() }, '×');
    this.remove.ariaLabel = this.remove.title = text('setting-remove', { name: field.name });
    const note = field.required ? text('setting-required') : HINTS[field.form]?.();
    const label = h('label', { for: id }, field.name, note ? h('span', { class: 'setting-note' }, note) : '');
    const about = field.about ? foldedDescription(field.about, `${id}-about`) : '';
    this.element = h('div', { class: `setting is-${field.form}` }, label, h('div', { class: 'setting-value' }, this.control, this.remove), this.preview, about);
    this.control.addEventListener('change', () => this.commit());
    this.control.addEventListener('input', () => this.fitRows());
    this.control.addEventListener('keydown', (event) => this.key(event as KeyboardEvent));
    this.update(field);
  }

  /** True if the control has a value that has not been sent. */
  isUnsaved(): boolean {
    return this.control.value !== this.committedValue;
  }

  /** Shows another state of the field, without replacing a value that the user is entering. */
  update(field: Field): void {
    const isInUse = this.pendingRequests > 0 || (this.isUnsaved() && (this.hasFocus() || this.control.ariaInvalid === 'true'));
    this.field = field;
    const { control } = this;
    if (control instanceof HTMLSelectElement) {
      if (!isInUse) fillChoices(control, field);
    } else {
      const isDefault = field.value === null && field.default !== null;
      control.placeholder = isDefault ? text('setting-default', { value: field.default?.split('\n')[0] ?? '' }) : '';
      control.readOnly = field.cut;
    }
    // With the attribute `required`, a collapsed control could prevent the submission of the page's form.
    if (field.required) control.ariaRequired = 'true';
    this.remove.hidden = field.value === null || field.required || field.cut;
    this.showCut();
    this.element.classList.toggle('is-set', field.value !== null);
    if (isInUse) return;
    control.value = field.value ?? '';
    // A text area normalizes line breaks.
    this.committedValue = control.value;
    this.setInvalid(false);
    this.fitRows();
  }

  /** Sends the value if it has changed. */
  commit(): void {
    if (!this.isUnsaved() || this.field.cut) return;
    const { value } = this.control;
    this.send(value === '' && !this.field.required ? null : value);
  }

  /** Marks the end of a request for this field; a refused value can be sent again. */
  finish(isApplied: boolean): void {
    this.pendingRequests--;
    if (!isApplied) this.committedValue = this.field.value ?? '';
    this.setInvalid(!isApplied);
  }

  private send(value: string | null): void {
    this.committedValue = this.control.value;
    this.pendingRequests++;
    this.listeners.commit(this, value);
  }

  private clear(): void {
    this.control.value = '';
    this.control.focus();
    this.send(null);
  }

  private showCut(): void {
    const { cut, line } = this.field;
    this.preview.hidden = !cut;
    if (!cut) return this.preview.replaceChildren();
    const jump = h('button', { type: 'button', onclick: () => this.listeners.jump(line ?? 1) }, text('setting-edit-in-text'));
    this.preview.replaceChildren(h('span', {}, text('setting-truncated')), jump);
  }

  private hasFocus(): boolean {
    return document.activeElement === this.control;
  }

  private setInvalid(isInvalid: boolean): void {
    if (isInvalid) this.control.ariaInvalid = 'true';
    else this.control.ariaInvalid = null;
  }

  private fitRows(): void {
    if (!(this.control instanceof HTMLTextAreaElement)) return;
    const lines = this.control.value.split('\n').length;
    this.control.rows = Math.min(Math.max(lines + (this.field.form === 'lines' ? 1 : 0), 2), MAX_ROWS);
  }

  private key(event: KeyboardEvent): void {
    const isLines = this.control instanceof HTMLTextAreaElement;
    if (event.key === 'Enter' && (!isLines || event.ctrlKey || event.metaKey)) {
      // The element may be within the form of the page, which must not be submitted.
      if (!(this.control instanceof HTMLSelectElement)) event.preventDefault();
      this.commit();
    } else if (event.key === 'Escape' && this.isUnsaved()) {
      event.stopPropagation();
      this.control.value = this.committedValue;
      this.setInvalid(false);
    }
  }
}
