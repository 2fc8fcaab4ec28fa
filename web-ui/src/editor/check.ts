// Checks the text of a plan on the server after changes: one request at a time, and only the newest text counts.

export interface Problem {
  /** Counted from 1; 0 for the whole file. */
  line: number;
  /** In code points, counted from 1. */
  column: number;
  severity: 'error' | 'warning';
  message: string;
}

/** Result of a check: problems, or the reason why there is no result. */
export type CheckResult = { problems: Problem[] } | { failure: string };

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

/** A request to the address `url`, with further fields of the form. */
export function serverCheck(url: string, fields: () => Record<string, string>): CheckRequest {
  return async (text) => {
    try {
      const body = new URLSearchParams({ ...fields(), text });
      const response = await fetch(url, { method: 'POST', body, signal: AbortSignal.timeout(TIMEOUT) });
      if (!response.ok) return { failure: `the server replied with status ${response.status}` };
      const problems = problemsOf(await response.json());
      return problems ? { problems } : { failure: 'the reply of the server has no `problems`' };
    } catch (error) {
      return { failure: error instanceof SyntaxError ? 'the reply of the server is not JSON' : 'no response from the server' };
    }
  };
}

/** Requests a check when the text has not changed for a while. */
export class CheckSchedule {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private isActive = false;
  /** True if the text changed since the last request began. */
  private isOutdated = true;

  constructor(
    private readonly text: () => string,
    private readonly request: CheckRequest,
    private readonly show: (result: CheckResult) => void,
  ) {}

  /** Schedules a check of a changed text. */
  change(): void {
    this.isOutdated = true;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.check(), DELAY);
  }

  /** Checks the text now, or after the request in flight. */
  async check(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.isActive) return;
    this.isActive = true;
    this.isOutdated = false;
    const result = await this.request(this.text());
    this.isActive = false;
    // The positions of an outdated reply may be wrong.
    if (!this.isOutdated) this.show(result);
    else if (this.timer === undefined) await this.check();
  }
}
