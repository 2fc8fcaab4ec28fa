// Tests the editor in a browser: `node test/editor.mjs [PICTURES]`. A server within this file sends a page as the studio does, with
// its content policy, and finds a problem in each line with `wrong`. PICTURES receives screenshots. Chromium is Debian's.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const [pictures] = process.argv.slice(2);
if (pictures) mkdirSync(pictures, { recursive: true });
const executablePath = process.env.CHROMIUM ?? ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync);
const file = (path) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const script = process.env.EDITOR_JS ? readFileSync(process.env.EDITOR_JS, 'utf8') : file('crates/web/src/editor.js');
const styles = file('web-ui/src/style.css') + file('crates/web/src/studio.css');
const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'";

const plan = `# Shop: browse and buy.
name: shop
about: "Users browse, then buy"
vars: {scale: full, host: "😀 wrong"}
load:
  rate: 0..500/30s,500/2m
  wrong: 5
scenario: &browse
  base: http://127.0.0.1:\${port.http}
  steps:
  - {get: /1k, name: page}
  - post: /buy
    check: {status: "200,302"}
server:
  start: |
    sh servers/\${server}.sh
    exit 1 # wrong
checks:
  same_length: true
`;
/** 5 MB with one line of 600 kB. */
const large = `name: large\nvars: {a: "${'x, y: '.repeat(100_000)}"}\nscenario:\n  steps:\n${'  - {get: /a/path/to/a/page, name: page}\n'.repeat(110_000)}`;

let text = plan;
let status = 200;
const checks = [];

const escaped = (s) => s.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/"/g, '&quot;');

const page = () => `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Edit</title><link rel="stylesheet" href="/style.css"><script type="module" blocking="render" src="/editor.js"></script><main><h1>Edit</h1>
<form id="edit" data-check="/edit/check" data-schema="/edit/schema.json" method="post" action="/edit/save">
<input type="hidden" name="token" value="secret"><input type="hidden" name="file" value="plans/shop.yaml">
<textarea name="text" rows="30" aria-label="Plan">\n${escaped(text)}</textarea><ul id="problems"></ul><button>Save</button></form></main></html>`;

function problems(body) {
  const found = [{ line: 0, column: 0, severity: 'warning', message: 'The plan has no objectives.' }];
  body.get('text').split(/\r?\n/).forEach((line, i) => {
    const at = line.indexOf('wrong');
    const column = [...line.slice(0, at)].length + 1;
    const severity = line.includes('#') ? 'warning' : 'error';
    if (at >= 0) found.push({ line: i + 1, column, severity, message: 'unknown key `wrong` <b>; expected one of `rate`, `users`' });
  });
  return found;
}

const read = async (request) => new URLSearchParams(Buffer.concat(await request.toArray()).toString());

const server = createServer(async (request, response) => {
  const answer = (type, content) => response.writeHead(status, { 'content-type': `${type}; charset=utf-8`, 'content-security-policy': POLICY }).end(content);
  if (request.url === '/edit/check') {
    const body = await read(request);
    checks.push(body);
    answer('application/json', JSON.stringify({ problems: problems(body) }));
  } else if (request.url === '/edit/save') {
    answer('text/plain', JSON.stringify(Object.fromEntries(await read(request))));
  } else if (request.url === '/edit/schema.json') answer('application/json', file('docs/plan.schema.json'));
  else if (request.url === '/editor.js') answer('text/javascript', script);
  else if (request.url === '/style.css') answer('text/css', styles);
  else if (request.url === '/') answer('text/html', page());
  else response.writeHead(204).end();
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const origin = `http://127.0.0.1:${server.address().port}`;

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
const complaints = [];

async function open(options = {}) {
  const context = await browser.newContext({ viewport: { width: 1360, height: 1000 }, ...options });
  const opened = await context.newPage();
  opened.on('console', (message) => complaints.push(`${message.type()}: ${message.text()}`));
  opened.on('pageerror', (error) => complaints.push(String(error.stack)));
  await opened.goto(origin);
  await opened.locator('.cm-content').waitFor();
  return opened;
}

const value = (opened) => opened.locator('textarea[name=text]').inputValue();
const shoot = async (opened, name) => pictures && opened.screenshot({ path: join(pictures, `${name}.png`), fullPage: true });
const setText = (opened, detail) =>
  opened.evaluate((text) => document.getElementById('edit').dispatchEvent(new CustomEvent('brunt-text', { detail: text })), detail);

/** Sets the cursor to the end of a line. */
async function cursorAfter(opened, line) {
  await opened.locator('.cm-line', { hasText: line }).first().click();
  await opened.keyboard.press('End');
}

async function checkDiagnostics(opened) {
  await opened.locator('#problems li').nth(3).waitFor();
  assert.deepEqual(Object.fromEntries(checks[0]), { token: 'secret', file: 'plans/shop.yaml', text: plan });
  assert.deepEqual(await opened.locator('#problems li').allTextContents(), [
    'The plan has no objectives.',
    '4:30 unknown key `wrong` <b>; expected one of `rate`, `users`',
    '7:3 unknown key `wrong` <b>; expected one of `rate`, `users`',
    '17:14 unknown key `wrong` <b>; expected one of `rate`, `users`',
  ]);
  assert.deepEqual(await opened.locator('.cm-lintRange').allTextContents(), ['wrong"', 'wrong', 'wrong']);
  assert.equal(await opened.locator('.cm-lint-marker').count(), 3);
  await opened.locator('#problems button').nth(1).click();
  assert.match(await opened.locator('.cm-activeLine').textContent(), /wrong: 5/);
}

async function checkCompletion(opened) {
  await cursorAfter(opened, 'rate: 0..500');
  await opened.keyboard.press('Enter');
  await opened.keyboard.type('dur');
  await opened.locator('.cm-tooltip-autocomplete li').first().waitFor();
  assert.equal(await opened.locator('.cm-tooltip-autocomplete li').first().textContent(), 'duration');
  await opened.locator('.cm-completionInfo').waitFor();
  await shoot(opened, `completion-${opened.viewportSize().width}`);
  // The menu ignores keys for a moment after it opens.
  await opened.waitForTimeout(150);
  await opened.keyboard.press('Enter');
  await opened.keyboard.type('10s');
  assert.match(await value(opened), /500\/2m\n {2}duration: 10s\n {2}wrong/);
}

async function checkValues(opened) {
  await cursorAfter(opened, 'same_length');
  await opened.keyboard.press('Enter');
  await opened.keyboard.press('Shift+Tab');
  await opened.keyboard.type('ord');
  await opened.locator('.cm-tooltip-autocomplete li', { hasText: /^order$/ }).waitFor();
  await opened.waitForTimeout(150);
  await opened.keyboard.press('Enter');
  await opened.locator('.cm-tooltip-autocomplete li', { hasText: 'interleaved' }).waitFor();
  await opened.waitForTimeout(150);
  await opened.keyboard.press('Enter');
  assert.match(await value(opened), /true\norder: interleaved\n$/);
  await opened.keyboard.type('\nhooks');
  await opened.waitForTimeout(300);
  await opened.keyboard.press('Enter');
  await opened.waitForTimeout(300);
  assert.match(await value(opened), /interleaved\nhooks:\n {2}\n$/);
  assert.deepEqual(await opened.locator('.cm-tooltip-autocomplete li').allTextContents(), ['before', 'after']);
  await opened.keyboard.press('Escape');
}

async function checkHover(opened) {
  await opened.locator('.cm-line', { hasText: 'rate: 0..500' }).getByText('rate', { exact: true }).hover();
  await opened.locator('.description', { hasText: 'requests per second' }).waitFor();
  await shoot(opened, 'hover');
  await opened.locator('.cm-lintRange').nth(1).hover();
  await opened.locator('.cm-tooltip-lint').waitFor();
  await shoot(opened, 'problem');
  await opened.mouse.move(0, 0);
}

async function checkKeys(opened) {
  await opened.locator('.cm-content').focus();
  await opened.keyboard.press('Control+End');
  const before = await value(opened);
  await opened.keyboard.type('load:\nx');
  assert.match(await value(opened), /load:\n {2}x$|load:\n {4}x$/);
  await opened.keyboard.press('Escape');
  for (let i = 0; i < 10 && (await value(opened)) !== before; i++) await opened.keyboard.press('Control+z');
  assert.equal(await value(opened), before);
  await opened.keyboard.press('Control+f');
  await opened.locator('.cm-search').waitFor();
  await opened.keyboard.type('wrong');
  assert.equal(await opened.locator('.cm-searchMatch').count(), 3);
  await shoot(opened, `search-${opened.viewportSize().width}`);
  await opened.keyboard.press('Escape');
  await opened.waitForTimeout(2100);
  await opened.keyboard.press('Escape');
  await opened.keyboard.press('Tab');
  assert.notEqual(await opened.evaluate(() => document.activeElement?.className), 'editor', 'Escape and Tab leave the editor');
}

async function checkEvent(opened) {
  await setText(opened, 'name: a\nload:\n  rate: 5\n');
  await cursorAfter(opened, 'rate');
  await setText(opened, 'name: abc\nload:\n  rate: 5\n');
  await opened.locator('.cm-content').focus();
  await opened.keyboard.type('0');
  assert.equal(await value(opened), 'name: abc\nload:\n  rate: 50\n');
  await opened.keyboard.press('Control+z');
  await opened.keyboard.press('Control+z');
  assert.equal(await value(opened), 'name: a\nload:\n  rate: 5\n');
}

async function checkFailure(opened) {
  status = 403;
  await setText(opened, 'name: x\n');
  await opened.locator('#problems li', { hasText: 'status 403' }).waitFor();
  assert.equal(await opened.locator('#problems li').count(), 1);
  status = 200;
  await opened.locator('button', { hasText: 'Save' }).click();
  assert.deepEqual(JSON.parse(await opened.locator('body').textContent()), { token: 'secret', file: 'plans/shop.yaml', text: 'name: x\r\n' });
}

async function checkSizesAndThemes() {
  const narrow = { viewport: { width: 400, height: 800 } };
  const dark = { colorScheme: 'dark' };
  for (const [name, options] of Object.entries({ dark, narrow, 'narrow-dark': { ...narrow, ...dark } })) {
    const opened = await open(options);
    await opened.locator('#problems li').nth(3).waitFor();
    await cursorAfter(opened, 'rate: 0..500');
    await opened.keyboard.press('Enter');
    await opened.keyboard.press('Control+Space');
    await opened.locator('.cm-completionInfo').waitFor();
    await shoot(opened, name);
    const width = await opened.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(width <= opened.viewportSize().width, 'the page does not scroll sideways');
    await opened.context().close();
  }
}

async function checkLarge() {
  text = large;
  const opened = await open();
  const { parsed, ready } = await opened.evaluate(() => {
    const [navigation] = performance.getEntriesByType('navigation');
    return { parsed: navigation.domInteractive, ready: navigation.domContentLoadedEventEnd };
  });
  const times = `parsed after ${Math.round(parsed)} ms, editor ready after ${Math.round(ready)} ms`;
  console.log(`${(large.length / 1e6).toFixed(1)} MB: ${times}`);
  await opened.locator('#problems li').first().waitFor();
  await opened.locator('.cm-line').first().click();
  await opened.keyboard.press('End');
  const start = Date.now();
  await opened.keyboard.type('abcdefghij');
  console.log(`typing: ${(Date.now() - start) / 10} ms per key`);
  const submitted = await opened.evaluate(() => new FormData(document.getElementById('edit')).get('text').slice(0, 22));
  assert.equal(submitted, 'name: largeabcdefghij\n');
  await opened.keyboard.press('ArrowDown');
  await opened.keyboard.press('End');
  await opened.keyboard.press('Control+End');
  await shoot(opened, 'large');
  await opened.evaluate(() => (document.querySelector('textarea').value = 'name: small\r\n'));
  assert.equal(await opened.locator('.cm-line').first().textContent(), 'name: small');
  assert.equal(await value(opened), 'name: small\n');
}

try {
  const wide = await open();
  await checkDiagnostics(wide);
  await shoot(wide, 'light');
  await checkCompletion(wide);
  await checkValues(wide);
  await checkHover(wide);
  await checkKeys(wide);
  await checkEvent(wide);
  await checkSizesAndThemes();
  assert.deepEqual(complaints, []);
  await checkFailure(wide);
  complaints.length = 0;
  await checkLarge();
  assert.deepEqual(complaints, []);
  console.log('the editor works in Chromium');
} finally {
  await browser.close();
  server.close();
}
