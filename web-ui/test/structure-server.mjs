// A server for test/structure.mjs: sends the page `Edit` as the studio does, and implements checks, fields and changes for a small
// language. A line is an element, its indentation is its level: `step name key=value …`; `#` at the beginning disables it.

import { createServer } from 'node:http';

const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'";
const KINDS = ['step', 'data'];
/** Length from which a value is too long for a form. */
const LONG = 2000;

const FIELDS = {
  name: { about: 'Name in the report.', form: 'text' },
  rate: { about: 'Requests per second, such as `500` or `0..500/30s`. A range is a ramp. The load is open: the tool sends requests at this rate, also if the server is slow, and does not wait.', form: 'number', default: '10' },
  method: { about: 'Method of the request.', form: 'choice', words: ['GET', 'POST', 'PUT'], default: 'GET' },
  follow: { about: 'True to follow redirections.', form: 'switch', default: 'true' },
  body: { about: 'Body of the request.', form: 'lines' },
  headers: { about: 'Headers of the request.', form: 'pairs' },
  codes: { about: 'Status codes that are successes.', form: 'list', default: '200' },
  checks: { about: 'Further checks.', form: 'yaml' },
  ...Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`option${i}`, { about: `Option ${i} of the request.`, form: 'text', default: String(i) }])),
};

const encode = (value) => encodeURIComponent(value).replaceAll("'", '%27');

/** Elements of a text; null for a text with `error`. */
export function parse(text) {
  if (/^error/m.test(text)) return null;
  const root = { path: '', kind: 'plan', title: 'Shop', line: 1, end_line: text.split('\n').length, enabled: true, type: 'plan', list: null, index: 0, children: [] };
  const open = [{ element: root, indent: -1 }];
  text.split('\n').forEach((line, i) => {
    const match = /^( *)(#?)(\w+) (\S+)(.*)$/.exec(line);
    if (!match) return;
    const [, spaces, hash, type, title] = match;
    while (open.at(-1).indent >= spaces.length) open.pop();
    const parent = open.at(-1).element;
    const index = parent.children.filter((child) => child.type === type).length;
    const list = `${parent.path}/${type}`;
    const element = { path: `${list}[${index}]`, kind: type, title: decodeURIComponent(title), line: i + 1, end_line: i + 1, enabled: hash === '', type, list, index, children: [] };
    parent.children.push(element);
    for (const { element: around } of open) around.end_line = Math.max(around.end_line, i + 1);
    open.push({ element, indent: spaces.length });
  });
  const addLists = (element) => {
    element.lists = element.type === 'data' ? [] : KINDS.map((type) => ({ path: `${element.path}/${type}`, type }));
    element.children.forEach(addLists);
  };
  addLists(root);
  return root;
}

function* walk(element) {
  yield element;
  for (const child of element.children) yield* walk(child);
}

const find = (tree, path) => [...walk(tree)].find((element) => element.path === path);

class Refusal extends Error {}

/** The lines of an edit's result and the paths to select. Lines are objects, so that they are found again after a move. */
function edited(text, edit) {
  const tree = parse(text);
  if (!tree) throw new Refusal('The text has an error.');
  const lines = text.split('\n').map((content) => ({ content }));
  const at = (path) => find(tree, path) ?? refuse(`\`${path}\` does not exist`);
  const refuse = (message) => {
    throw new Refusal(message);
  };
  const block = (element) => lines.slice(element.line - 1, element.end_line);
  const childIndent = (list) => {
    const parent = at(list.slice(0, list.lastIndexOf('/')));
    return parent.path === '' ? '' : ' '.repeat(lines[parent.line - 1].content.search(/\S/) + 2);
  };
  /** The line before which an item of a list with an index begins. */
  const lineAt = (list, index) => {
    const parent = at(list.slice(0, list.lastIndexOf('/')));
    const item = parent.children.find((child) => child.list === list && child.index === index);
    const end = parent.path === '' && lines.at(-1).content === '' ? lines.length - 1 : parent.end_line;
    return lines[item ? item.line - 1 : end] ?? null;
  };
  const insert = (blocks, list, index) => {
    const before = lineAt(list, index);
    const position = before ? lines.indexOf(before) : lines.length;
    lines.splice(position, 0, ...blocks);
  };
  const indented = (part, indent) => {
    const own = part[0].content.search(/\S/);
    return part.map((line) => ({ content: indent + line.content.slice(own) }));
  };
  let selected = [];
  if (edit.op === 'set' || (edit.op === 'remove' && edit.paths[0].includes('.'))) {
    const path = edit.path ?? edit.paths[0];
    const [elementPath, key] = [path.slice(0, path.lastIndexOf('.')), path.slice(path.lastIndexOf('.') + 1)];
    if (edit.value === 'refused') refuse('rate: `refused` is no number; write a number such as `500`');
    const line = lines[at(elementPath).line - 1];
    if (key === 'name') line.content = line.content.replace(/^( *#?\w+) \S+/, (_, start) => `${start} ${encode(edit.value)}`);
    else {
      const rest = line.content.replace(new RegExp(` ${key}=\\S*`), '');
      line.content = edit.op === 'set' ? `${rest} ${key}=${encode(edit.value)}` : rest;
    }
    selected = [line];
  } else if (edit.op === 'remove') {
    const removed = edit.paths.flatMap((path) => block(at(path)));
    for (const line of removed) lines.splice(lines.indexOf(line), 1);
  } else if (edit.op === 'add') {
    const line = { content: `${childIndent(edit.list)}${edit.kind} new` };
    insert([line], edit.list, edit.index);
    selected = [line];
  } else if (edit.op === 'move' || edit.op === 'copy') {
    const blocks = edit.paths.map((path) => block(at(path)));
    const copies = blocks.map((part) => indented(part, childIndent(edit.list)));
    insert(copies.flat(), edit.list, edit.index);
    if (edit.op === 'move') for (const line of blocks.flat()) lines.splice(lines.indexOf(line), 1);
    selected = copies.map(([first]) => first);
  } else if (edit.op === 'enable') {
    selected = edit.paths.map((path) => lines[at(path).line - 1]);
    for (const line of selected) line.content = line.content.replace(/^( *)#?/, edit.enabled ? '$1' : '$1#');
  }
  const result = lines.map(({ content }) => content).join('\n');
  const after = [...walk(parse(result))];
  const select = selected.map((line) => after.find((element) => element.path !== '' && element.line === lines.indexOf(line) + 1).path);
  return { result, select };
}

/** The change between two texts, as one replacement. */
function change(before, after) {
  let from = 0;
  while (from < before.length && before[from] === after[from]) from++;
  let end = 0;
  while (end < Math.min(before.length, after.length) - from && before.at(-1 - end) === after.at(-1 - end)) end++;
  return before === after ? [] : [{ from, to: before.length - end, insert: after.slice(from, after.length - end) }];
}

export class PlanModel {
  texts = new Map();
  revisions = 0;
  /** Requests in order: name and fields. */
  log = [];
  /** Resolves when replies to changes may be sent. */
  released = Promise.resolve();

  /** Holds the replies to changes. Returns the function that releases them. */
  hold() {
    let release;
    this.released = new Promise((resolve) => (release = resolve));
    return release;
  }

  check(text) {
    const revision = `r${++this.revisions}`;
    this.texts.set(revision, text);
    const tree = parse(text);
    const problems = tree ? [] : [{ line: 1, column: 1, severity: 'error', message: 'unexpected `error`' }];
    const curves = [
      { name: 'browse', unit: 'users', points: [[0, 0], [120, 50], [540, 50], [600, 0]] },
      { name: 'buy', unit: 'requests/s', points: [[0, 500], [600, 500]] },
    ];
    return { problems, revision, tree, curves };
  }

  fields(text, path) {
    const element = find(parse(text), path);
    const line = text.split('\n')[element.line - 1];
    const fields = Object.entries(FIELDS).map(([name, field]) => {
      const written = name === 'name' ? element.title : new RegExp(` ${name}=(\\S*)`).exec(line)?.[1];
      const value = written === undefined ? null : decodeURIComponent(written);
      const cut = (value?.length ?? 0) > LONG;
      return { path: `${path}.${name}`, name, words: [], default: null, ...field, value: cut ? value.slice(0, 200) : value, cut, line: element.line, required: name === 'name' };
    });
    const about = { step: 'A step sends one request and checks its reply.', data: 'Rows of a file, one per user.' };
    const kinds = KINDS.map((name) => ({ name, about: about[name] }));
    const lists = element.lists.map((list) => ({ path: list.path, index: element.children.filter((child) => child.list === list.path).length, name: `In ${element.title}: ${list.type}`, kinds: kinds.filter(({ name }) => name === list.type) }));
    if (element.list) lists.push({ path: element.list, index: element.index + 1, name: `After ${element.title}`, kinds: kinds.filter(({ name }) => name === element.type) });
    return { path, kind: element.kind, title: element.title, about: about[element.kind] ?? 'The plan: its load, its steps and `data`.', fields: path === '' ? [] : fields, lists };
  }

  /** Status, type and content of a reply. */
  async reply(name, form) {
    this.log.push([name, Object.fromEntries(form)]);
    if (name === 'check') return [200, 'application/json', this.check(form.get('text').replaceAll('\r\n', '\n'))];
    if (name === 'change') await this.released;
    const text = this.texts.get(form.get('revision'));
    if (text === undefined) return [409, 'text/plain', 'unknown revision'];
    if (name === 'fields') return [200, 'application/json', this.fields(text, form.get('path'))];
    try {
      const [edit] = JSON.parse(form.get('edits'));
      const { result, select } = edited(text, edit);
      return [200, 'application/json', { changes: change(text, result), select, check: this.check(result) }];
    } catch (error) {
      if (error instanceof Refusal) return [400, 'text/plain', error.message];
      throw error;
    }
  }
}

const escaped = (s) => s.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/"/g, '&quot;');

/** The page `Edit`. The tree is before the form or, at the address `/inside`, within it. */
function page(text, address) {
  const structure = '<div id="structure"></div>';
  const area = `<textarea name="text" rows="30" aria-label="Plan">\n${escaped(text)}</textarea>`;
  const isInside = address === '/inside';
  return `<!doctype html><html lang="${address === '/zh' ? 'zh' : 'en'}"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Edit</title><link rel="stylesheet" href="/style.css"><script type="module" blocking="render" src="/editor.js"></script>
<header class="studio"><a class="brand" href="/">brunt studio</a></header><main id="main"><h1>shop.yaml</h1><div class="plan-editor">${isInside ? '' : structure}
<form id="edit" class="edit" data-check="/edit/check" data-fields="/edit/fields" data-change="/edit/change" data-language="${address === '/xml' ? 'xml' : 'yaml'}" method="post" action="/edit/save">
<input type="hidden" name="token" value="secret"><input type="hidden" name="digest" value="">
${isInside ? `<div class="editor">${structure}${area}</div>` : area}<ul id="problems"></ul>
<div class="filter"><label>File <input class="wide" name="file" value="shop.yaml"></label><button>Save</button></div></form></div></main></html>`;
}

/** Starts the server; `text` returns the text of the page. */
export async function serve(model, text, script, styles) {
  const server = createServer(async (request, response) => {
    const answer = (status, type, content) => response.writeHead(status, { 'content-type': `${type}; charset=utf-8`, 'content-security-policy': POLICY }).end(content);
    const [, name] = /^\/edit\/(check|fields|change)$/.exec(request.url) ?? [];
    if (name) {
      const form = new URLSearchParams(Buffer.concat(await request.toArray()).toString());
      const [status, type, content] = await model.reply(name, form);
      answer(status, type, typeof content === 'string' ? content : JSON.stringify(content));
    } else if (request.url === '/edit/save') {
      answer(200, 'text/plain', new URLSearchParams(Buffer.concat(await request.toArray()).toString()).get('text').replaceAll('\r\n', '\n'));
    } else if (request.url === '/editor.js') answer(200, 'text/javascript', script);
    else if (request.url === '/style.css') answer(200, 'text/css', styles);
    else if (['/', '/inside', '/xml', '/zh'].includes(request.url)) answer(200, 'text/html', page(text(), request.url));
    else response.writeHead(204).end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}
