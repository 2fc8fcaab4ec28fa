// Texts for users by id, in the language of the page: English, or Chinese if the attribute `lang` of the document begins with `zh`.
//
// Out of scope: the catalogs. Each script adds its own (catalog.ts, editor/catalog.ts) before it shows anything.

import { FluentBundle, FluentResource } from '@fluent/bundle';

export type Language = 'en' | 'zh';

/** Values of a text by name. Numbers are for plurals; other figures are texts that format.ts makes. */
export type TextArguments = Record<string, string | number>;

const LOCALES: Record<Language, string> = { en: 'en-US', zh: 'zh-CN' };
/** In tests, a text that cannot be shown is an error. */
const IS_STRICT = import.meta.env.MODE === 'test';

const sources: Record<Language, string[]> = { en: [], zh: [] };
const bundles = new Map<Language, FluentBundle>();

/** Adds a catalog in the syntax of Fluent. */
export function addCatalog(catalog: Record<Language, string>): void {
  for (const language of ['en', 'zh'] as const) sources[language].push(catalog[language]);
  bundles.clear();
}

/** Language of the page. */
function pageLanguage(): Language {
  // Unit tests have no document.
  const lang = typeof document === 'undefined' ? '' : document.documentElement.lang;
  return /^zh(-|$)/i.test(lang) ? 'zh' : 'en';
}

/** Locale of dates. */
export const locale = (): string => LOCALES[pageLanguage()];

function bundleOf(language: Language): FluentBundle {
  const existing = bundles.get(language);
  if (existing) return existing;
  // Marks around arguments would be part of copied texts, and both languages are written from left to right.
  const bundle = new FluentBundle(LOCALES[language], { useIsolating: false });
  for (const source of sources[language]) bundle.addResource(new FluentResource(source));
  bundles.set(language, bundle);
  return bundle;
}

/** A text in one language; null if the catalog does not contain it, or if an argument is missing. */
function formatted(language: Language, id: string, values: TextArguments): string | null {
  const bundle = bundleOf(language);
  const pattern = bundle.getMessage(id)?.value;
  const errors: Error[] = [];
  const result = pattern ? bundle.formatPattern(pattern, values, errors) : null;
  if (result !== null && errors.length === 0) return result;
  if (IS_STRICT) throw new Error(`text \`${id}\` in \`${language}\`: ${errors[0]?.message ?? 'not in the catalog'}`);
  return null;
}

/** The text of an id; English if the language of the page does not have it, and the id if no catalog has it. */
export function text(id: string, values: TextArguments = {}): string {
  return formatted(pageLanguage(), id, values) ?? formatted('en', id, values) ?? id;
}
