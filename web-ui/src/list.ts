// Joins items of an enumeration.

import { text } from './texts';

/** Items with the separator of the language between them. */
export const list = (items: string[]): string => items.join(text('list-separator'));

/** Clauses of a sentence with the separator of the language between them. */
export const clauses = (items: string[]): string => items.join(text('clause-separator'));
