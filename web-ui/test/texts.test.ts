// Compares the ids and arguments in the source with both catalogs, and finds texts that are in the source.

import { FluentResource } from '@fluent/bundle';
import { readFileSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { text } from '../src/texts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const LANGUAGES = ['en', 'zh'] as const;

type Catalog = Map<string, Set<string>>;

/** Names of the arguments in a pattern: elements of Fluent's syntax tree are nested in variants and options. */
function argumentsIn(pattern: unknown, found = new Set<string>()): Set<string> {
  if (Array.isArray(pattern)) pattern.forEach((element) => argumentsIn(element, found));
  else if (typeof pattern === 'object' && pattern !== null) {
    const { type, name } = pattern as { type?: string; name?: string };
    if (type === 'var' && name) found.add(name);
    Object.values(pattern).forEach((element) => argumentsIn(element, found));
  }
  return found;
}

const catalogSource = (language: string, name: string): string => readFileSync(join(ROOT, 'texts', language, `${name}.ftl`), 'utf8');

function catalog(language: string, name: string): Catalog {
  const { body } = new FluentResource(catalogSource(language, name));
  return new Map(body.map(({ id, value }) => [id, argumentsIn(value)]));
}

/** A call of `text` with its id, and the names of its arguments. */
interface Use {
  place: string;
  id: string | null;
  names: string[] | null;
}

interface SourceFile {
  /** Path from `src`. */
  path: string;
  tree: ts.SourceFile;
}

function sourceFiles(): SourceFile[] {
  const folder = join(ROOT, 'src');
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
  return paths.map((path) => {
    const content = readFileSync(join(folder, path), 'utf8');
    return { path: relative(folder, join(folder, path)), tree: ts.createSourceFile(path, content, ts.ScriptTarget.Latest, true) };
  });
}

const FILES = sourceFiles();
/** Catalog of a file: the script of the editor contains modules of the page, but not their texts. */
const catalogOf = (path: string): string => (path.startsWith('editor') ? 'editor' : 'page');

function visit(node: ts.Node, action: (node: ts.Node) => void): void {
  action(node);
  node.forEachChild((child) => visit(child, action));
}

const placeOf = ({ path, tree }: SourceFile, node: ts.Node): string =>
  `${path}:${tree.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;

const isCallOf = (node: ts.Node, name: string): node is ts.CallExpression =>
  ts.isCallExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === name;

/** Names of an object literal; null for another expression. */
function namesOf(node: ts.Expression | undefined): string[] | null {
  if (!node) return [];
  if (!ts.isObjectLiteralExpression(node)) return null;
  return node.properties.map((property) => property.name?.getText() ?? '…');
}

function usesIn(file: SourceFile): Use[] {
  const uses: Use[] = [];
  visit(file.tree, (node) => {
    if (!isCallOf(node, 'text')) return;
    const [id, values] = node.arguments;
    uses.push({ place: placeOf(file, node), id: id && ts.isStringLiteral(id) ? id.text : null, names: namesOf(values) });
  });
  return uses;
}

/** Ids that the HTML of the page contains. */
function idsInHtml(): string[] {
  const html = readFileSync(join(ROOT, 'index.html'), 'utf8');
  return [...html.matchAll(/<!--TEXT ([a-z-]+)-->/g)].map(([, id]) => id ?? '');
}

const isSame = (a: Iterable<string>, b: Iterable<string>): boolean => [...a].sort().join() === [...b].sort().join();

describe.each(['page', 'editor'])('the catalog %s', (name) => {
  const [en, zh] = LANGUAGES.map((language) => catalog(language, name)) as [Catalog, Catalog];
  const files = FILES.filter(({ path }) => catalogOf(path) === name && path !== 'texts.ts');

  test.each(LANGUAGES)('is completely readable in %s', (language) => {
    const ids = [...catalogSource(language, name).matchAll(/^([\w-]+) *=/gm)].map(([, id]) => id ?? '');
    expect(ids.filter((id, i) => ids.indexOf(id) !== i)).toEqual([]);
    expect([...catalog(language, name).keys()].sort()).toEqual([...ids].sort());
  });

  test('has the same ids and arguments in both languages', () => {
    expect([...zh.keys()]).toEqual([...en.keys()]);
    expect([...en].filter(([id, names]) => !isSame(names, zh.get(id) ?? [])).map(([id]) => id)).toEqual([]);
  });

  test('has each id that the source uses, with its arguments', () => {
    const isRight = ({ id, names }: Use): boolean => {
      const expected = id === null ? undefined : en.get(id);
      return expected !== undefined && names !== null && isSame(names, expected);
    };
    expect(files.flatMap(usesIn).filter((use) => !isRight(use))).toEqual([]);
  });

  test('has no id that the source does not use', () => {
    const used = new Set([...files.flatMap(usesIn).map(({ id }) => id), ...(name === 'page' ? idsInHtml() : [])]);
    expect([...en.keys()].filter((id) => !used.has(id))).toEqual([]);
    expect(idsInHtml().filter((id) => !en.has(id) && name === 'page')).toEqual([]);
  });
});

/** Modules whose strings are locales, styles, keys of the keyboard, or texts of CodeMirror by which the catalog's are found. */
const WITHOUT_TEXTS = ['texts.ts', 'editor/theme.ts', 'editor/phrases.ts', 'editor/tree-keys.ts'];
/** Names and units, which are the same in all languages. */
const NAMES = new Set(['brunt', ' – brunt', 'MTU ', 'UTC', ' UTC', 'MB', 'GB', 'Ctrl+D', 'Ctrl+Z', 'Ctrl+Y', 'Alt+↑', 'Alt+↓', 'Delete']);
/** Attributes of elements whose values users see or hear. */
const SHOWN = /^(title|aria-label|aria-roledescription|aria-description|placeholder|alt|label|textContent|ariaLabel|caption|impossible|cell)$/;
/** Attributes and functions whose values users do not see. */
const HIDDEN = /^(class|className|shortcut|font|labelFont|method)$/;
const HIDDEN_CALLS = /^(querySelector(All)?|matchMedia)$/;

const hasLetters = (content: string): boolean => /\p{L}{2}/u.test(content);
/** True for capitals, except in names such as `moveUp`, and for several words. */
const looksLikeText = (content: string): boolean =>
  (/\p{Lu}/u.test(content) && !/^[a-z]+[A-Z]/.test(content)) || /\p{L} |\p{L}\p{L}: | \p{L}{2}/u.test(content);

const nameOfCall = ({ expression }: ts.CallExpression | ts.NewExpression): string =>
  ts.isPropertyAccessExpression(expression) ? expression.name.text : expression.getText();

/** True for a node whose value is that of one of its children. */
const isTransparent = (node: ts.Node): boolean =>
  ts.isConditionalExpression(node) ||
  ts.isParenthesizedExpression(node) ||
  ts.isTemplateExpression(node) ||
  ts.isTemplateSpan(node) ||
  (ts.isBinaryExpression(node) && node.operatorToken.kind !== ts.SyntaxKind.EqualsToken);

/** Property or attribute to which the value of a node is assigned; empty if there is none. */
function targetOf(node: ts.Node): string {
  const { parent } = node;
  if (ts.isPropertyAssignment(parent)) return parent.name.getText().replace(/^'|'$/g, '');
  const isAssignment = ts.isBinaryExpression(parent) && parent.operatorToken.kind === ts.SyntaxKind.EqualsToken;
  if (isAssignment && parent.right === node) return ts.isPropertyAccessExpression(parent.left) ? parent.left.name.text : '';
  return isTransparent(parent) ? targetOf(parent) : '';
}

/** Call in which a node is an argument, and its index. */
function callOf(node: ts.Node): { name: string; index: number } | null {
  const { parent } = node;
  if ((ts.isCallExpression(parent) || ts.isNewExpression(parent)) && parent.expression !== node) {
    const index = parent.arguments?.indexOf(node as ts.Expression) ?? -1;
    return { name: nameOfCall(parent), index };
  }
  return isTransparent(parent) ? callOf(parent) : null;
}

/** True for types, imports, names of properties, and operands of comparisons. */
function isNoValue(node: ts.Node): boolean {
  const { parent } = node;
  const isKey = ts.isElementAccessExpression(parent) || (ts.isPropertyAssignment(parent) && parent.name === node);
  if (isKey || ts.isLiteralTypeNode(parent) || ts.isImportDeclaration(parent) || ts.isCaseClause(parent)) return true;
  if (!ts.isBinaryExpression(parent)) return false;
  const comparisons = [ts.SyntaxKind.EqualsEqualsEqualsToken, ts.SyntaxKind.ExclamationEqualsEqualsToken, ts.SyntaxKind.InKeyword];
  return comparisons.includes(parent.operatorToken.kind);
}

const isLiteral = (node: ts.Node): node is ts.LiteralLikeNode =>
  ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddle(node) || ts.isTemplateTail(node);

/** True if a literal may be shown to users. */
function isShown(node: ts.LiteralLikeNode): boolean {
  const { text: content } = node;
  if (NAMES.has(content) || !hasLetters(content) || isNoValue(node)) return false;
  const target = targetOf(node);
  const call = callOf(node);
  if (SHOWN.test(target)) return true;
  if (HIDDEN.test(target) || call?.name === 'text' || (call && HIDDEN_CALLS.test(call.name))) return false;
  // Children of an element, and its title.
  if ((call?.name === 'h' && call.index >= 2) || (call?.name === 'section' && call.index >= 1)) return true;
  return looksLikeText(content);
}

function literalsIn(file: SourceFile): string[] {
  const found: string[] = [];
  visit(file.tree, (node) => {
    if (isLiteral(node) && isShown(node)) found.push(`${placeOf(file, node)} ${node.text}`);
  });
  return found;
}

test('the source contains no texts for users', () => {
  const files = FILES.filter(({ path }) => !WITHOUT_TEXTS.includes(path));
  expect(files.flatMap(literalsIn)).toEqual([]);
});

test('a text in the source is found', () => {
  const code = [
    "h('p', { title: 'short' }, 'word', isNew ? 'new' : text('id'));",
    'const hint = `Press ${key} twice.`;',
    "h('p', { class: 'Not Shown' });",
  ].join(' ');
  const file = { path: 'a.ts', tree: ts.createSourceFile('a.ts', code, ts.ScriptTarget.Latest, true) };
  expect(literalsIn(file).map((found) => found.replace('a.ts:1 ', ''))).toEqual(['short', 'word', 'new', 'Press ', ' twice.']);
});

describe('a text', () => {
  afterEach(() => vi.unstubAllGlobals());
  const inLanguage = (lang: string, id: string, values = {}): string => {
    vi.stubGlobal('document', { documentElement: { lang } });
    return text(id, values);
  };

  test('has the language of the page', () => {
    const written = ['', 'en', 'zh', 'zh-CN', 'ZH-Hans', 'de', 'zha'].map((lang) => inLanguage(lang, 'section-trials'));
    expect(written).toEqual(['Trials', 'Trials', '试验', '试验', '试验', 'Trials', 'Trials']);
  });

  test('has plurals and arguments without marks around them', () => {
    expect([1, 1234].map((count) => text('heat-requests', { count }))).toEqual(['1 request', '1,234 requests']);
    expect(inLanguage('zh', 'heat-requests', { count: 1234 })).toBe('1,234 个请求');
    expect(text('trials-of', { contender: '<b>{ $x }' })).toBe('<b>{ $x }：各次试验');
  });

  test('is an error in tests if it or an argument is missing', () => {
    expect(() => text('no-such-text')).toThrow('no-such-text');
    expect(() => text('heading-id')).toThrow('id');
  });

  test('is English or the id in production', async () => {
    vi.stubEnv('MODE', 'production');
    vi.resetModules();
    const { addCatalog, text: shown } = await import('../src/texts');
    addCatalog({ en: 'only-english = Load\nboth = Load of { $name }', zh: 'both = { $other }' });
    vi.stubGlobal('document', { documentElement: { lang: 'zh' } });
    expect(['only-english', 'neither'].map((id) => shown(id))).toEqual(['Load', 'neither']);
    expect(shown('both', { name: 'x' })).toBe('Load of x');
    expect(shown('both')).toBe('both');
    vi.unstubAllEnvs();
  });
});
