// Applies edits one after another: asks the server for the changes of the text and applies them in one transaction.

import { isolateHistory } from '@codemirror/commands';
import type { EditorView } from '@codemirror/view';
import { text } from '../texts';
import { checkResult, type CheckSchedule } from './check';
import type { PlanEdit } from './commands';
import { UNKNOWN_REVISION, type ChangeReply, type PlanServer, type Reply } from './server';

/** Result of an edit: the elements to select, or the reason why the text has not changed. */
export type EditOutcome = { select: string[] } | { message: string };

/** Computes edits when all earlier ones have been applied and the elements are current. */
export type EditSource = () => PlanEdit[];

export class EditQueue {
  private last: Promise<EditOutcome | null> = Promise.resolve(null);
  private pendingCount = 0;

  constructor(
    private readonly view: EditorView,
    private readonly checks: CheckSchedule,
    private readonly server: PlanServer,
  ) {}

  /** Applies edits after all earlier ones. */
  submit(source: EditSource): Promise<EditOutcome> {
    this.pendingCount++;
    const outcome = this.last.then(() => this.apply(source)).finally(() => this.pendingCount--);
    this.last = outcome.catch(() => null);
    return outcome;
  }

  isBusy(): boolean {
    return this.pendingCount > 0;
  }

  /** Resolves when all edits have been applied; false if the last one was refused. */
  async finishEdits(): Promise<boolean> {
    let outcome: EditOutcome | null = null;
    while (this.pendingCount > 0) outcome = await this.last;
    return outcome !== null && 'select' in outcome;
  }

  private async apply(source: EditSource): Promise<EditOutcome> {
    let isRepeated = false;
    for (;;) {
      const result = await this.checks.current();
      if (!this.checks.isCurrent()) continue;
      if ('failure' in result) return { message: text('change-unchecked', { reason: result.failure }) };
      if (!result.structure?.tree) return { message: text('change-unreadable') };
      const edits = source();
      if (edits.length === 0) return { select: [] };
      const { doc } = this.view.state;
      const reply = await this.server.change(result.structure.revision, edits);
      // The offsets of the reply are those of another text.
      if (this.view.state.doc !== doc) continue;
      const isUnknown = 'status' in reply && reply.status === UNKNOWN_REVISION;
      if (!isUnknown || isRepeated) return this.finish(reply);
      isRepeated = true;
      this.checks.discard();
    }
  }

  private finish(reply: Reply<ChangeReply>): EditOutcome {
    if ('status' in reply) return { message: reply.message };
    const { changes, select, check } = reply.value;
    try {
      // Each edit is one step of the history.
      this.view.dispatch({ changes, annotations: isolateHistory.of('full'), userEvent: 'input.structure' });
    } catch (error) {
      if (error instanceof RangeError) return { message: text('change-mismatch') };
      throw error;
    }
    this.checks.accept(checkResult(check));
    return { select };
  }
}
