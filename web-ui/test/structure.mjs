// Tests the tree and the form of the editor in a browser: `node test/structure.mjs [PICTURES]`. EDITOR_JS is the script to test, by
// default the one of the crate `web`. PICTURES receives screenshots. Chromium is Debian's.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { PlanModel, serve } from './structure-server.mjs';

const [pictures] = process.argv.slice(2);
if (pictures) mkdirSync(pictures, { recursive: true });
const executablePath = process.env.CHROMIUM ?? ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync);
const file = (path) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const script = process.env.EDITOR_JS ? readFileSync(process.env.EDITOR_JS, 'utf8') : file('crates/web/src/editor.js');
const styles = ['web-ui/src/style.css', 'crates/web/src/studio.css', 'crates/web/src/structure.css'].map(file).join('');

const plan = `step browse rate=500 body=a%0Ab
  step login method=POST
  step search
  step logout
data users
step buy
`;

let text = plan;
let model = new PlanModel();
const server = await serve({ reply: (name, form) => model.reply(name, form) }, () => text, script, styles);
const origin = `http://127.0.0.1:${server.address().port}`;
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
const complaints = [];

async function open(content = plan, options = {}, address = '/') {
  text = content;
  model = new PlanModel();
  const context = await browser.newContext({ viewport: { width: 1360, height: 1000 }, ...options });
  const opened = await context.newPage();
  // The status 409 and 400 of a reply are messages, too.
  opened.on('console', (message) => message.text().includes('Failed to load resource') || complaints.push(`${message.type()}: ${message.text()}`));
  opened.on('pageerror', (error) => complaints.push(String(error.stack)));
  await opened.goto(origin + address);
  await opened.locator('[role=treeitem]').first().waitFor();
  return opened;
}

const value = (opened) => opened.locator('textarea[name=text]').inputValue();
const shoot = async (opened, name) => pictures && opened.screenshot({ path: join(pictures, `structure-${name}.png`), fullPage: true });
const row = (opened, title) => opened.locator('[role=treeitem]', { has: opened.locator('.plan-title', { hasText: new RegExp(`^${title}$`) }) });
const selected = (opened) => opened.locator('[role=treeitem][aria-selected=true] .plan-title').allTextContents();
const field = (opened, name) => opened.locator('.setting', { has: opened.locator('label', { hasText: new RegExp(`^${name}`) }) }).locator('input, select, textarea').first();
const count = (name) => model.log.filter(([request]) => request === name).length;

/** Waits for a value, for up to 30 s: as long as Chromium's own waits. */
async function until(read, expected, message) {
  let actual;
  for (let i = 0; i < 600; i++) {
    actual = await read();
    if (JSON.stringify(actual) === JSON.stringify(expected)) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.deepEqual(actual, expected, message);
}

async function press(opened, ...keys) {
  for (const key of keys) await opened.keyboard.press(key);
}

/** Waits until the text and the tree are as at the beginning. */
async function untilUnchanged(opened) {
  await until(() => value(opened), plan);
  await until(() => opened.locator('.plan-title').allTextContents(), ['Shop', 'browse', 'login', 'search', 'logout', 'users', 'buy']);
}

async function select(opened, title) {
  await row(opened, title).click();
  await opened.locator('.plan-heading h2', { hasText: title }).waitFor();
}

async function checkFields() {
  const opened = await open();
  await select(opened, 'browse');
  await opened.locator('.cm-activeLine', { hasText: 'step browse' }).waitFor();
  assert.equal(await opened.locator('.cm-focused').count(), 0, 'selecting does not focus the text');
  await until(() => field(opened, 'body').inputValue(), 'a\nb');
  await until(() => opened.locator('.settings').first().locator('.setting').count(), 3);
  await opened.locator('.further summary').click();
  await opened.locator('.further .plan-filter').fill('follow');
  await until(() => opened.locator('.further .setting:visible').count(), 1);
  await shoot(opened, 'filter');
  await field(opened, 'rate').fill('750');
  assert.equal(count('change'), 0, 'typing sends nothing');
  await press(opened, 'Enter');
  const changed = plan.replace('rate=500 body=a%0Ab', 'body=a%0Ab rate=750');
  await until(() => value(opened), changed, 'a field changes the text');
  await field(opened, 'body').fill('x\ny');
  await press(opened, 'Control+Enter');
  await until(() => value(opened), plan.replace('rate=500 body=a%0Ab', 'rate=750 body=x%0Ay'));
  await field(opened, 'follow').selectOption('false');
  await until(async () => (await value(opened)).includes('follow=false'), true);
  await press(opened, 'Control+z', 'Control+z');
  await until(() => value(opened), changed, 'each edit is one step of the history');
  await press(opened, 'Control+z');
  await until(() => value(opened), plan, 'undo restores the text');
  await until(() => field(opened, 'rate').inputValue(), '500', 'the form follows the text');
  await press(opened, 'Control+Shift+z');
  await until(() => value(opened), changed);
  await until(() => field(opened, 'rate').inputValue(), '750');
  await field(opened, 'rate').fill('');
  await press(opened, 'Enter');
  await until(async () => (await value(opened)).includes('rate='), false, 'an empty field is removed');
  await until(() => field(opened, 'rate').getAttribute('placeholder'), 'default: 10');
  await field(opened, 'rate').fill('refused');
  await press(opened, 'Enter');
  await opened.locator('[role=alert]', { hasText: 'is no number' }).waitFor();
  assert.equal(await field(opened, 'rate').inputValue(), 'refused', 'a refused value remains in the form');
  await shoot(opened, 'refused');
  await field(opened, 'rate').fill('20');
  await press(opened, 'Enter');
  await until(() => opened.locator('[role=alert]').isVisible(), false);
  await press(opened, 'Control+f');
  await opened.locator('.cm-search').waitFor();
  await opened.context().close();
}

/** Prints the time between the reply with a form and the form in the page. */
async function measureForm() {
  const opened = await open();
  await select(opened, 'browse');
  await opened.evaluate(() => {
    new MutationObserver(() => (window.shown = performance.now())).observe(document.querySelector('.plan-form-body'), { childList: true });
  });
  await select(opened, 'login');
  const delay = await opened.evaluate(() => window.shown - performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('/edit/fields')).at(-1).responseEnd);
  console.log(`form with 58 settings: ${delay.toFixed(1)} ms after the reply`);
  await opened.context().close();
}

async function checkRaces() {
  const opened = await open();
  await select(opened, 'buy');
  const before = count('change');
  let release = model.hold();
  await field(opened, 'name').fill('pay');
  await press(opened, 'Enter');
  await until(() => count('change') - before, 1);
  await opened.locator('.cm-line').first().click();
  await press(opened, 'Home');
  await opened.keyboard.type('step first\n');
  release();
  const expected = `step first\n${plan.replace('step buy', 'step pay')}`;
  await until(() => value(opened), expected, 'the edit is repeated for the newer text and element');
  await until(() => count('change') - before > 1, true);
  // The user types in a second field while a request for the first one is pending.
  await select(opened, 'browse');
  release = model.hold();
  await field(opened, 'rate').fill('1');
  await press(opened, 'Tab');
  await field(opened, 'body').fill('unsaved');
  release();
  await until(async () => (await value(opened)).includes('rate=1 ') || (await value(opened)).includes('rate=1\n'), true);
  await opened.waitForTimeout(200);
  assert.equal(await field(opened, 'body').inputValue(), 'unsaved');
  assert.equal(await opened.evaluate(() => document.activeElement.value), 'unsaved');
  // The server has been restarted.
  model.texts.clear();
  await press(opened, 'Control+Enter');
  await until(async () => (await value(opened)).includes('body=unsaved'), true, 'a revision that the server does not know is checked again');
  model.texts.clear();
  await row(opened, 'users').click();
  await opened.locator('.plan-heading h2', { hasText: 'users' }).waitFor();
  await opened.context().close();
}

/** A value in the form is in the text that is saved. */
async function checkSaving() {
  const opened = await open();
  await select(opened, 'buy');
  const release = model.hold();
  await field(opened, 'name').fill('pay');
  await opened.locator('button', { hasText: 'Save' }).click();
  release();
  await opened.waitForURL('**/edit/save');
  assert.equal(await opened.locator('body').textContent(), plan.replace('step buy', 'step pay'));
  await opened.context().close();
  const refused = await open();
  await select(refused, 'browse');
  await field(refused, 'rate').fill('refused');
  await refused.locator('button', { hasText: 'Save' }).click();
  await refused.locator('[role=alert]', { hasText: 'is no number' }).waitFor();
  assert.equal(new URL(refused.url()).pathname, '/', 'a text without a refused value is not saved');
  await refused.context().close();
}

/** The tree may be within the form of the page. */
async function checkInside() {
  const opened = await open(plan, {}, '/inside');
  await select(opened, 'browse');
  await field(opened, 'rate').fill('5');
  await press(opened, 'Enter');
  await until(async () => (await value(opened)).includes('rate=5'), true);
  await field(opened, 'name').fill('renamed');
  await press(opened, 'Tab', 'Tab');
  await until(async () => (await value(opened)).includes('renamed'), true);
  assert.equal(new URL(opened.url()).pathname, '/inside', 'Enter does not submit the form');
  await shoot(opened, 'inside');
  if (pictures) await opened.screenshot({ path: join(pictures, 'structure-inside-view.png') });
  await opened.context().close();
}

async function checkKeyboard() {
  const opened = await open();
  await opened.locator('[role=treeitem]').first().focus();
  await press(opened, 'Home', 'ArrowDown');
  await until(() => selected(opened), ['browse']);
  await press(opened, 'ArrowLeft');
  await until(() => row(opened, 'login').count(), 0, 'ArrowLeft collapses');
  await press(opened, 'ArrowRight', 'ArrowRight');
  await until(() => selected(opened), ['login']);
  await press(opened, 'Alt+ArrowDown', 'Alt+ArrowDown');
  await until(async () => (await value(opened)).split('\n')[3], '  step login method=POST', 'Alt+ArrowDown moves by one place each');
  await until(() => selected(opened), ['login']);
  await press(opened, 'Control+z', 'Control+z');
  await untilUnchanged(opened);
  await until(() => selected(opened), ['login'], 'the selection follows an element that undo moves');
  await press(opened, 's');
  await until(() => selected(opened), ['search']);
  await press(opened, 'Control+d');
  await until(() => value(opened), plan.replace('  step search\n', '  step search\n  step search\n'));
  await press(opened, 'Delete');
  await untilUnchanged(opened);
  await press(opened, 'Home', 'End');
  await until(() => selected(opened), ['buy']);
  await press(opened, 'e');
  await until(() => value(opened), plan.replace('step buy', '#step buy'));
  await until(() => opened.locator('.plan-row.is-disabled .sr').textContent(), 'disabled');
  await press(opened, 'Control+z');
  await untilUnchanged(opened);
  await press(opened, '+');
  await opened.locator('.plan-add').waitFor();
  await shoot(opened, 'add');
  await opened.keyboard.type('step');
  await press(opened, 'ArrowDown', 'Enter');
  await until(() => value(opened), `${plan}step new\n`);
  await until(() => selected(opened), ['new']);
  await press(opened, 'Enter');
  await until(() => opened.evaluate(() => document.activeElement.value), 'new', 'Enter focuses the form');
  await opened.keyboard.type('ship');
  await press(opened, 'Enter', 'Escape');
  await until(() => value(opened), `${plan}step ship\n`);
  await until(() => selected(opened), ['ship']);
  await press(opened, 'Control+x', 'Home', 'ArrowDown', 'ArrowDown', 'Control+v');
  await until(() => value(opened), plan.replace('  step search', '  step ship\n  step search'));
  await press(opened, 'Control+y');
  await press(opened, 'Control+c', 'End', 'Control+v');
  await until(async () => (await value(opened)).split('\n').at(-2), 'step ship');
  await press(opened, 'Control+z', 'Control+z', 'Control+z', 'Control+z');
  await untilUnchanged(opened);
  // Several elements.
  await press(opened, 'Home', 'ArrowDown', 'ArrowDown', 'Shift+ArrowDown', 'Shift+ArrowDown');
  await until(() => selected(opened), ['login', 'search', 'logout']);
  await shoot(opened, 'multiple');
  await press(opened, 'ArrowDown', 'Control+a');
  await until(() => selected(opened), ['browse', 'users', 'buy'], 'Ctrl+A selects the siblings');
  await press(opened, 'Control+a');
  await until(() => selected(opened), ['browse', 'login', 'search', 'logout', 'users', 'buy'], 'and then all elements');
  await opened.locator('.plan-note', { hasText: /^6 elements are selected/ }).waitFor();
  await press(opened, 'Home', 'ArrowDown', 'ArrowDown', 'Shift+ArrowDown', 'Shift+ArrowDown');
  await until(() => selected(opened), ['login', 'search', 'logout']);
  await press(opened, 'e');
  await until(async () => (await value(opened)).match(/#/g)?.length, 3);
  await row(opened, 'buy').click();
  await row(opened, 'search').click({ modifiers: ['Control'] });
  await until(() => selected(opened), ['search', 'buy']);
  await press(opened, 'Delete');
  await until(async () => (await value(opened)).split('\n').length, plan.split('\n').length - 2);
  await opened.locator('button', { hasText: '↶' }).click();
  await until(async () => (await value(opened)).includes('buy'), true);
  await opened.context().close();
}

async function checkMouse() {
  const opened = await open();
  await row(opened, 'buy').dragTo(row(opened, 'login'), { targetPosition: { x: 60, y: 3 } });
  await until(() => value(opened), plan.replace('step buy\n', '').replace('  step login', '  step buy\n  step login'));
  await row(opened, 'buy').dragTo(row(opened, 'search'), { targetPosition: { x: 60, y: 14 } });
  await until(() => value(opened), plan.replace('step buy\n', '').replace('  step search', '  step search\n    step buy'));
  await until(() => selected(opened), ['buy']);
  await row(opened, 'logout').hover();
  await opened.mouse.down();
  const { x, y } = await row(opened, 'browse').boundingBox();
  for (const offset of [10, 20, 24, 26]) await opened.mouse.move(x + 80, y + offset);
  await until(() => opened.locator('.drop-after .plan-title').allTextContents(), ['browse']);
  if (pictures) await opened.screenshot({ path: join(pictures, 'structure-drag.png') });
  await press(opened, 'Escape');
  await opened.mouse.up();
  await opened.context().close();
}

async function checkText() {
  const opened = await open();
  await opened.locator('.cm-line', { hasText: 'step search' }).click();
  await until(() => selected(opened), ['search'], 'the tree follows the cursor');
  await opened.locator('.plan-heading h2', { hasText: 'search' }).waitFor();
  await opened.keyboard.press('Home');
  await opened.keyboard.type('step a\n  ');
  await until(() => selected(opened), ['search'], 'the selection follows its element');
  await press(opened, 'Control+Home');
  await opened.keyboard.type('error');
  await opened.locator('.plan-outdated').waitFor();
  await until(() => opened.locator('[role=tree]').getAttribute('aria-disabled'), 'true');
  assert.ok((await opened.locator('[role=treeitem]').count()) > 5, 'the last readable elements remain');
  await shoot(opened, 'outdated');
  for (let i = 0; i < 5; i++) await press(opened, 'Backspace');
  await until(() => opened.locator('.plan-outdated').isVisible(), false);
  await until(() => opened.locator('[role=img]').first().getAttribute('aria-label'), 'browse: users over 10 min: 0 to 50');
  await opened.context().close();
  const cut = await open(`step big body=${'x'.repeat(5000)}\n`);
  await select(cut, 'big');
  await until(() => field(cut, 'body').getAttribute('readonly'), '');
  await shoot(cut, 'cut');
  await cut.locator('button', { hasText: 'Edit in the text' }).click();
  await until(() => cut.locator('.cm-focused').count(), 1);
  await cut.context().close();
  const xml = await open(`${plan}<a b="c"><d/></a>\n`, {}, '/xml');
  await select(xml, 'browse');
  await until(() => xml.locator('.cm-line', { hasText: '<a' }).locator('span', { hasText: /^a$/ }).count(), 2, 'tags are highlighted');
  await xml.context().close();
}

async function checkSizesAndThemes() {
  const narrow = { viewport: { width: 800, height: 1000 } };
  const dark = { colorScheme: 'dark' };
  const phone = { viewport: { width: 400, height: 800 } };
  for (const [name, options] of Object.entries({ light: {}, dark, narrow, 'narrow-dark': { ...narrow, ...dark }, phone })) {
    const opened = await open(plan, options);
    await select(opened, 'browse');
    await press(opened, 'e');
    await until(() => opened.locator('.plan-row.is-disabled').count(), 1);
    await opened.waitForTimeout(100);
    await shoot(opened, name);
    const width = await opened.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(width <= opened.viewportSize().width, `${name}: the page does not scroll sideways`);
    await opened.context().close();
  }
}

async function checkLarge() {
  const requests = Array.from({ length: 2500 }, (_, i) => `  step request${i} rate=${i}\n`).join('');
  const opened = await open(`step all\n${requests}data end\n`);
  await opened.evaluate(() => {
    window.tasks = [];
    new PerformanceObserver((list) => window.tasks.push(...list.getEntries().map(({ duration }) => Math.round(duration)))).observe({ type: 'longtask', buffered: true });
  });
  const report = async (name) => console.log(`2,500 siblings, ${name}: tasks over 50 ms: [${(await opened.evaluate(() => window.tasks.splice(0))).join(', ')}]`);
  await report('load');
  await select(opened, 'all');
  await press(opened, 'ArrowRight');
  await row(opened, 'request5').waitFor();
  await report('expansion');
  assert.ok((await opened.locator('[role=treeitem]').count()) < 100);
  await opened.locator('[role=tree]').evaluate(async (tree) => {
    for (let i = 0; i < 40; i++) {
      tree.scrollTop = i * 1700;
      await new Promise((resolve) => requestAnimationFrame(resolve));
    }
  });
  await report('scrolling');
  await press(opened, 'End', 'ArrowUp');
  await until(() => selected(opened), ['request2499']);
  await press(opened, 'Shift+Home');
  await until(async () => (await opened.locator('.plan-note', { hasText: 'elements are selected' }).textContent()).split(' ')[0], '2,502');
  await report('selection of all');
  await press(opened, 'End', 'ArrowUp', 'Alt+ArrowUp');
  await until(async () => (await value(opened)).split('\n').slice(2499, 2501), ['  step request2499 rate=2499', '  step request2498 rate=2498']);
  await until(() => selected(opened), ['request2499']);
  await report('move');
  const start = Date.now();
  await field(opened, 'rate').waitFor();
  await field(opened, 'rate').fill('7');
  await press(opened, 'Enter');
  await until(async () => (await value(opened)).includes('request2499 rate=7\n'), true);
  console.log(`2,500 siblings, edit of a field: ${Date.now() - start} ms`);
  await report('edit of a field');
  await opened.locator('.cm-line').last().click();
  await opened.keyboard.type('\nstep last\n');
  await opened.waitForTimeout(700);
  await report('typing in the text');
  await shoot(opened, 'large');
  await opened.context().close();
}

try {
  for (const check of [checkFields, measureForm, checkRaces, checkSaving, checkInside, checkKeyboard, checkMouse, checkText, checkSizesAndThemes, checkLarge]) {
    await check();
    assert.deepEqual(complaints, []);
  }
  console.log('the tree and the form work in Chromium');
} finally {
  await browser.close();
  server.close();
}
