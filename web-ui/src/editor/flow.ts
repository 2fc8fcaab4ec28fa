// Finds the keys that lead to a place within a value in flow style, such as `{users: 20, stages: [{rate: 5}]}`, on one line.

import { ITEM, unquoted, type Segment } from './path';

interface FlowKey {
  name: string;
  column: number;
}

/** An open mapping or list. */
interface Frame {
  isMapping: boolean;
  /** Keys of the mapping, in order. */
  keys: FlowKey[];
  /** True after the colon of the last key. */
  isAfterColon: boolean;
  /** Column of the current key or value; null before its first character. */
  token: number | null;
}

interface FlowPlace {
  path: Segment[];
  kind: 'key' | 'value';
  from: number;
  present: string[];
}

/** True if a value that begins with this character is in flow style. */
export const isFlow = (first: string | undefined): boolean => first === '{' || first === '[';

/** Column after a quoted text; the length of the line if it is not closed. */
function afterQuoted(text: string, start: number): number {
  const quote = text[start];
  for (let i = start + 1; i < text.length; i++) {
    if (text[i] === '\\' && quote === '"') i++;
    else if (text[i] === quote) return i + 1;
  }
  return text.length;
}

/** Reads a value in flow style up to a column and keeps the open mappings and lists. */
class FlowReader {
  readonly frames: Frame[] = [];

  constructor(
    private readonly text: string,
    private column: number,
  ) {}

  /** Reads until a column; false if the column is within a quoted text or a comment. */
  readUntil(end: number): boolean {
    while (this.column < end) {
      const next = this.read();
      if (next > end) return false;
      this.column = next;
      if (this.frames.length === 0) return true;
    }
    return true;
  }

  /** Reads the rest until the innermost open mapping ends. */
  readFrame(): void {
    const depth = this.frames.length;
    while (this.column < this.text.length && this.frames.length >= depth) this.column = this.read();
  }

  /** Reads one character or one quoted text; returns the column after it. */
  private read(): number {
    const column = this.column;
    const character = this.text.charAt(column);
    const frame = this.frames.at(-1);
    if (/\s/.test(character)) return column + 1;
    if (character === '#' && /\s/.test(this.text.charAt(column - 1))) return this.text.length;
    if (isFlow(character)) this.frames.push({ isMapping: character === '{', keys: [], isAfterColon: false, token: null });
    else if (character === '}' || character === ']') this.frames.pop();
    else if (frame && character === ',') Object.assign(frame, { isAfterColon: false, token: null });
    else if (frame && character === ':' && this.endsKey(frame)) this.addKey(frame);
    else if (frame) return this.readToken(frame);
    return column + 1;
  }

  private readToken(frame: Frame): number {
    const isFirst = frame.token === null;
    frame.token ??= this.column;
    return isFirst && /["']/.test(this.text.charAt(this.column)) ? afterQuoted(this.text, this.column) : this.column + 1;
  }

  /** A colon ends a key before a space, an indicator, or after a quoted key. */
  private endsKey(frame: Frame): boolean {
    const isQuoted = /["']/.test(this.text.charAt(this.column - 1));
    return frame.isMapping && !frame.isAfterColon && (isQuoted || /^[\s,{}[\]]?$/.test(this.text.charAt(this.column + 1)));
  }

  private addKey(frame: Frame): void {
    const start = frame.token ?? this.column;
    frame.keys.push({ name: unquoted(this.text.slice(start, this.column).trim()), column: start });
    Object.assign(frame, { isAfterColon: true, token: null });
  }
}

/** Segments from a mapping or a list to the value that is open within it. */
function segment(frame: Frame): Segment[] {
  if (!frame.isMapping) return [ITEM];
  const key = frame.isAfterColon ? frame.keys.at(-1) : undefined;
  return key ? [key.name] : [];
}

/** The place at a column of a line, within the value that begins at `start`; null outside of it. */
export function flowPlace(text: string, start: number, column: number): FlowPlace | null {
  const reader = new FlowReader(text, start);
  if (!reader.readUntil(column)) return null;
  const frame = reader.frames.at(-1);
  if (!frame) return null;
  const from = frame.token ?? column;
  if (!/^[\w.-]*$/.test(text.slice(from, column))) return null;
  const path = reader.frames.flatMap(segment);
  const kind = frame.isMapping && !frame.isAfterColon ? 'key' : 'value';
  reader.readFrame();
  const present = frame.keys.filter((key) => key.column !== from).map((key) => key.name);
  return { path, kind, from, present: kind === 'key' ? present : [] };
}
