// Requests the form of the active element: one request at a time, and only the newest element counts.

import type { CheckSchedule } from './check';
import { UNKNOWN_REVISION, type ElementForm, type PlanServer } from './server';

export interface FormSource {
  revision: string;
  path: string;
}

export interface FormListener {
  show: (form: ElementForm) => void;
  fail: (message: string) => void;
}

export class FormLoader {
  private requests = 0;
  private isActive = false;
  /** True if the text has been checked again because the server did not know its revision. */
  private isRepeated = false;

  constructor(
    private readonly server: PlanServer,
    private readonly checks: CheckSchedule,
    /** The element whose form is shown; null if there is none. */
    private readonly source: () => FormSource | null,
    private readonly listener: FormListener,
  ) {}

  /** Requests the form now, or after the request in flight. */
  request(): void {
    this.requests++;
    // Several changes of the selection in one task need one request.
    queueMicrotask(() => void this.load());
  }

  private async load(): Promise<void> {
    if (this.isActive) return;
    for (let source = this.source(); source; source = this.source()) {
      const request = this.requests;
      this.isActive = true;
      const reply = await this.server.fields(source.revision, source.path);
      this.isActive = false;
      // The user has selected another element, or the text has changed.
      if (request !== this.requests) continue;
      if ('value' in reply) {
        this.isRepeated = false;
        return this.listener.show(reply.value);
      }
      if (reply.status !== UNKNOWN_REVISION || this.isRepeated) return this.listener.fail(reply.message);
      this.isRepeated = true;
      this.checks.discard();
      // The result of the check requests the form again.
      return void this.checks.current();
    }
  }
}
