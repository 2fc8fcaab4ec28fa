// Path of keys and items from the root of a document to a value.

/** Segment that stands for any item of a list. */
export const ITEM = Symbol('item');
export type Segment = string | typeof ITEM;

/** Name of a key as it is written, without its quotes. */
export const unquoted = (name: string): string => (/^(["']).*\1$/.test(name) ? name.slice(1, -1) : name);
