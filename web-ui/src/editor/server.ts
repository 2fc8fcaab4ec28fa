// Requests of the tree and the form to the server.

import { text } from '../texts';
import type { PlanEdit } from './commands';
import type { TextChange } from './text';

/** Form of a field: the control with which its value is edited. */
export type FieldForm = 'text' | 'lines' | 'choice' | 'switch' | 'number' | 'list' | 'pairs' | 'yaml';

export interface Field {
  path: string;
  name: string;
  about: string;
  form: FieldForm;
  /** Values to choose from. */
  words: string[];
  default: string | null;
  /** Null if the plan does not contain the key. */
  value: string | null;
  /** True if the value is too long for a form. */
  cut: boolean;
  line: number | null;
  required: boolean;
}

/** A list to which elements can be added, and their kinds. */
export interface AdditionList {
  path: string;
  index: number;
  name: string;
  kinds: { name: string; about: string }[];
}

export interface ElementForm {
  path: string;
  kind: string;
  title: string;
  about: string;
  fields: Field[];
  lists: AdditionList[];
}

export interface ChangeReply {
  /** Offsets in UTF-16 units of the text of the revision. */
  changes: TextChange[];
  /** Paths of the elements to select. */
  select: string[];
  check: unknown;
}

/** A reply; `status` is 0 if there is none. */
export type Reply<T> = { value: T } | { status: number; message: string };

/** Status for a revision that the server does not know. */
export const UNKNOWN_REVISION = 409;
/** A request without a reply must not block later ones forever, in ms. */
const TIMEOUT = 60_000;

/** Message of a reply with an error: the studio sends a text or a page. */
async function messageOf(response: Response): Promise<string> {
  const type = response.headers.get('content-type') ?? '';
  const content = await response.text();
  if (type.startsWith('text/plain')) return content;
  if (!type.startsWith('text/html')) return '';
  return new DOMParser().parseFromString(content, 'text/html').querySelector('.problem')?.textContent ?? '';
}

async function post<T>(url: string, fields: Record<string, string>): Promise<Reply<T>> {
  try {
    const response = await fetch(url, { method: 'POST', body: new URLSearchParams(fields), signal: AbortSignal.timeout(TIMEOUT) });
    if (response.ok) return { value: (await response.json()) as T };
    const message = await messageOf(response);
    return { status: response.status, message: message || text('server-status', { status: String(response.status) }) };
  } catch (error) {
    return { status: 0, message: error instanceof SyntaxError ? text('server-reply-not-json') : text('server-no-reply') };
  }
}

/** Addresses of the server, and the fields that all requests contain. */
export class PlanServer {
  constructor(
    private readonly fieldsUrl: string,
    private readonly changeUrl: string,
    private readonly common: () => Record<string, string>,
  ) {}

  /** Requests the fields of an element. */
  fields(revision: string, path: string): Promise<Reply<ElementForm>> {
    return post(this.fieldsUrl, { ...this.common(), revision, path });
  }

  /** Requests the changes of the text that edits make. */
  change(revision: string, edits: PlanEdit[]): Promise<Reply<ChangeReply>> {
    return post(this.changeUrl, { ...this.common(), revision, edits: JSON.stringify(edits) });
  }
}
