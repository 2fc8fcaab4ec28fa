// Keeps the text field of the form equal to the document, for submission and for other scripts.
//
// A copy of 5 MB takes 150 ms. A large document is therefore copied when the text field is read, not on each key.

/** Largest document that is copied on each change, in UTF-16 units. */
const MAX_IMMEDIATE = 100_000;
/** Pause before a large document is copied without being read, in ms: the browser restores the field after a reload. */
const DELAY = 1000;

const native = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value') as PropertyDescriptor;

export class TextField {
  private isOutdated = false;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly field: HTMLTextAreaElement,
    private readonly text: () => string,
    replace: (text: string) => void,
  ) {
    const get = (): string => this.value();
    const set = (value: string): void => {
      native.set?.call(field, value);
      replace(this.nativeValue());
    };
    Object.defineProperty(field, 'value', { configurable: true, get, set });
    // The browser reads the field for submission without the property.
    field.form?.addEventListener('formdata', (event) => event.formData.set(field.name, this.value()));
    // The browser resets the field after the event.
    field.form?.addEventListener('reset', () => setTimeout(() => replace(this.nativeValue())));
  }

  /** Copies a changed document, now or later. */
  change(length: number): void {
    this.isOutdated = true;
    clearTimeout(this.timer);
    if (length <= MAX_IMMEDIATE) this.value();
    else this.timer = setTimeout(() => this.value(), DELAY);
  }

  private value(): string {
    if (this.isOutdated) native.set?.call(this.field, this.text());
    return this.nativeValue();
  }

  /** Value that the browser or a script has set, instead of the document. */
  private nativeValue(): string {
    this.isOutdated = false;
    clearTimeout(this.timer);
    return native.get?.call(this.field) as string;
  }
}
