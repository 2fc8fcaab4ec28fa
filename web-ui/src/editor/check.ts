// Checks the text of a plan on the server after changes: one request at a time, and only the newest text counts.

import { text } from '../texts';
import { structureOf, type PlanStructure } from './outline';

export interface Problem {
  /** Counted from 1; 0 for the whole file. */
  line: number;
  /** In code points, counted from 1. */
  column: number;
  severity: 'error' | 'warning';
  message: string;
}

/** Result of a check: problems and elements, or a sentence with the reason why there is no result. */
export type CheckResult = { problems: Problem[]; structure?: PlanStructure | null } | { failure: string };

/** Sends one text to the server. */
export type CheckRequest = (text: string) => Promise<CheckResult>;

/** Pause after the last change, in ms. */
const DELAY = 400;
/** A request without a reply must not block later checks forever, in ms. */
const TIMEOUT = 60_000;

function problem(value: unknown): Problem {
  const { line, column, severity, message } = value as Partial<Record<keyof Problem, unknown>>;
  return {
    line: Number(line) || 0,
    column: Number(column) || 1,
    severity: severity === 'warning' ? 'warning' : 'error',
    message: String(message),
  };
}

/** Problems of a reply; null if it has another form. */
export function problemsOf(reply: unknown): Problem[] | null {
  const list = typeof reply === 'object' && reply !== null ? (reply as { problems?: unknown }).problems : null;
  if (!Array.isArray(list)) return null;
  return list.filter((item) => typeof item === 'object' && item !== null).map(problem);
}

/** Result that a reply contains. */
export function checkResult(reply: unknown): CheckResult {
  const problems = problemsOf(reply);
  return problems ? { problems, structure: structureOf(reply) } : { failure: text('server-reply-incomplete') };
}

/** A request to the address `url`, with further fields of the form. */
export function serverCheck(url: string, fields: () => Record<string, string>): CheckRequest {
  return async (plan) => {
    try {
      const body = new URLSearchParams({ ...fields(), text: plan });
      const response = await fetch(url, { method: 'POST', body, signal: AbortSignal.timeout(TIMEOUT) });
      if (!response.ok) return { failure: text('server-status', { status: String(response.status) }) };
      return checkResult(await response.json());
    } catch (error) {
      return { failure: error instanceof SyntaxError ? text('server-reply-not-json') : text('server-no-reply') };
    }
  };
}

/** Requests a check when the text has not changed for a while. */
export class CheckSchedule {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private active: Promise<void> | null = null;
  /** Number of changes of the text. */
  private version = 0;
  private latest: { version: number; result: CheckResult } | null = null;

  constructor(
    private readonly text: () => string,
    private readonly request: CheckRequest,
    private readonly show: (result: CheckResult) => void,
  ) {}

  /** Schedules a check of a changed text. */
  change(): void {
    this.version++;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.check(), DELAY);
  }

  /** Checks the text now, or after the request in flight. */
  check(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.active ??= this.repeat().finally(() => (this.active = null));
    return this.active;
  }

  /** Returns the result for the current text, with a request only if there is none yet or the last one failed. */
  async current(): Promise<CheckResult> {
    if (this.latest && 'failure' in this.latest.result) this.discard();
    for (;;) {
      if (this.latest?.version === this.version) return this.latest.result;
      await this.check();
    }
  }

  /** True if there is a result for the current text. */
  isCurrent(): boolean {
    return this.latest?.version === this.version;
  }

  /** Discards the result for the current text: the server does not know its revision. */
  discard(): void {
    this.latest = null;
  }

  /** Shows a result for the current text that another request has brought. */
  accept(result: CheckResult): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.latest = { version: this.version, result };
    this.show(result);
  }

  private async repeat(): Promise<void> {
    do {
      const { version } = this;
      const result = await this.request(this.text());
      // The positions of an outdated reply may be wrong.
      if (version === this.version && this.latest?.version !== version) this.accept(result);
    } while (this.latest?.version !== this.version && this.timer === undefined);
  }
}
