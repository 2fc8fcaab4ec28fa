// Compares texts and converts positions. Columns of the server count Unicode code points, those of the editor UTF-16 units.

export interface TextChange {
  from: number;
  to: number;
  insert: string;
}

const isHighSurrogate = (unit: number): boolean => (unit & 0xfc00) === 0xd800;
const isLowSurrogate = (unit: number): boolean => (unit & 0xfc00) === 0xdc00;

/** The smallest single change from one text to another; null if they are equal. */
export function minimalChange(before: string, after: string): TextChange | null {
  if (before === after) return null;
  const shorter = Math.min(before.length, after.length);
  let prefix = 0;
  while (prefix < shorter && before.charCodeAt(prefix) === after.charCodeAt(prefix)) prefix++;
  if (prefix > 0 && isHighSurrogate(before.charCodeAt(prefix - 1))) prefix--;
  let suffix = 0;
  while (suffix < shorter - prefix && before.charCodeAt(before.length - suffix - 1) === after.charCodeAt(after.length - suffix - 1)) suffix++;
  if (suffix > 0 && isLowSurrogate(before.charCodeAt(before.length - suffix))) suffix--;
  return { from: prefix, to: before.length - suffix, insert: after.slice(prefix, after.length - suffix) };
}

/** Offset in UTF-16 units of a column that counts code points from 1; the length of the line if it is shorter. */
export function offsetOfColumn(line: string, column: number): number {
  let offset = 0;
  for (let n = 1; n < column && offset < line.length; n++) {
    offset += (line.codePointAt(offset) ?? 0) > 0xffff ? 2 : 1;
  }
  return offset;
}

/** End of the word at an offset of a line; the end of the line where no word begins. */
export function endOfWord(line: string, offset: number): number {
  const word = /^[^\s,:{}[\]]+/.exec(line.slice(offset));
  return word ? offset + word[0].length : line.length;
}

/** Maximum number of brackets and braces that are open at the same time. Quotes and comments are not considered. */
export function nestingDepth(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    depth = bracket === '[' || bracket === '{' ? depth + 1 : Math.max(0, depth - 1);
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

/** Maximum number of XML elements that are open at the same time. Comments and CDATA sections are not considered. */
export function tagDepth(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [tag] of text.matchAll(/<\/|<[\w:]|\/>/g)) {
    depth = tag.startsWith('</') || tag === '/>' ? Math.max(0, depth - 1) : depth + 1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}
