// Uses the studio with the keyboard only, in one language: `node test/keyboard.mjs LINK URL DIRECTORY LANGUAGE [PICTURES]`. LINK
// admits the browser; URL is a server to load, whose reply has a word; DIRECTORY contains `shop.jmx` and receives plans. All labels
// that the test looks for come from the texts of the language. PICTURES receives screenshots. Chromium is Debian's.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const [link, url, directory, language, pictures] = process.argv.slice(2);
const origin = new URL(link).origin;
const executablePath = process.env.CHROMIUM ?? ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync);
if (pictures) mkdirSync(pictures, { recursive: true });

const file = (path) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const catalog = ['crates/web/texts', 'web-ui/texts'].flatMap((folder) =>
  (folder.startsWith('web-ui') ? ['page', 'editor'] : ['studio']).map((name) => file(`${folder}/${language}/${name}.ftl`)),
);

/** Text of a message without arguments. */
function text(id) {
  const found = catalog.map((content) => new RegExp(`^${id} = (.*)$`, 'm').exec(content)?.[1]).find(Boolean);
  assert.ok(found, `the texts have no ${id}`);
  return found;
}

const locale = { en: 'en-US', zh: 'zh-CN' }[language];
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
const complaints = [];
const context = await browser.newContext({ viewport: { width: 1360, height: 900 }, locale });
const page = await context.newPage();
// The machine may be busy with other tests.
page.setDefaultTimeout(60_000);
page.on('console', (message) => message.text().includes('Failed to load resource') || complaints.push(`${message.type()}: ${message.text()}`));
page.on('pageerror', (error) => complaints.push(String(error.stack)));
// Nothing may need a mouse: its functions are not used below, and neither are `click`, `fill`, `focus` and `selectOption`.
const { keyboard } = page;

const shoot = async (name) => pictures && page.screenshot({ path: join(pictures, `keyboard-${language}-${name}.png`), fullPage: true });
const hasFocus = (locator) =>
  locator.evaluateAll((elements) => elements.some((element) => element.getRootNode().activeElement === element));

/** Moves the focus with the key Tab to one of these elements. The editor of texts is left with Escape. */
async function tabTo(locator, key = 'Tab') {
  await locator.first().waitFor();
  for (let i = 0; i < 250; i++) {
    if (await hasFocus(locator)) return;
    const isText = await page.evaluate(() => document.activeElement?.shadowRoot !== null && document.activeElement !== document.body);
    if (isText) await keyboard.press('Escape');
    await keyboard.press(key);
  }
  assert.fail(`no key leads to ${locator}`);
}

/** The element that has the focus is visible, and so is its outline. */
async function checkOutline() {
  const { outline, isVisible } = await page.evaluate(() => {
    const element = document.activeElement;
    const style = getComputedStyle(element);
    return { outline: `${style.outlineStyle} ${style.outlineWidth}`, isVisible: element.checkVisibility() };
  });
  assert.ok(isVisible && !/^none|^\S+ 0px/.test(outline), `the focus is not visible: ${outline}`);
}

const button = (id) => page.getByRole('button', { name: text(id), exact: true });
const anchor = (id) => page.getByRole('link', { name: text(id), exact: true });

/** Activates a button or a link. */
async function press(locator) {
  await tabTo(locator);
  await checkOutline();
  await keyboard.press('Enter');
}

/** Replaces the value of a field. */
async function type(locator, value) {
  await tabTo(locator);
  await keyboard.press('Control+a');
  await keyboard.type(value);
}

/** Selects an element of a plan in the tree with a key, and moves to its form. */
async function openForm(key, heading) {
  await tabTo(page.locator('[role=treeitem]'));
  await keyboard.press(key);
  await page.locator('.plan-heading h2', { hasText: heading }).waitFor();
  await keyboard.press('Enter');
}

const plan = join(directory, `shop-${language}.yaml`);

/** A command of curl becomes a plan, whose step gets a name. */
async function makePlan() {
  await press(anchor('strip-import'));
  await page.waitForURL(/import/);
  await type(page.getByLabel(text('import-input'), { exact: true }), `curl ${url}`);
  await type(page.getByLabel(text('import-plan-file')), plan);
  await keyboard.press('Enter');
  await page.locator('[role=treeitem]').first().waitFor();
  await shoot('import');
  await openForm('End', /get/);
  await press(page.locator('.further summary'));
  await type(page.getByLabel(/^name/).first(), 'home');
  await keyboard.press('Enter');
  await page.locator('.plan-title', { hasText: /^home$/ }).waitFor();
  await press(button('edit-save-and-try'));
  await page.waitForURL(/\/tries\/\d+/);
  assert.match(readFileSync(plan, 'utf8'), /name: home/);
}

/** A word of a reply becomes an extractor. */
async function debug() {
  const body = page.locator('pre.body');
  await body.waitFor();
  await press(page.locator('.samples a', { hasText: 'home' }));
  await page.waitForURL(/sample=1/);
  const [word] = /\w+/.exec(await body.textContent());
  await type(page.locator('form.body input[name=selected]'), word);
  await keyboard.press('Enter');
  await page.locator('#proposals tbody tr').first().waitFor();
  await shoot('try');
  await type(page.getByLabel(text('extract-variable')).first(), 'word');
  await press(button('extract-add'));
  await page.waitForURL(/\/edit\?file=/);
  assert.match(readFileSync(plan, 'utf8'), /word:/);
}

/** Starts the plan, and waits for its page. Returns its id. */
async function start() {
  await press(page.locator('form#edit').getByRole('link', { name: text('strip-start') }));
  await page.waitForURL(/start\?target/);
  await type(page.getByLabel(text('start-options')), '--set load.users=2 --set load.duration=60s');
  await press(button('start-run'));
  await page.waitForURL(/\/runs\/\w+/);
  await page.locator('#time figure').first().waitFor();
  return /runs\/(\w+)/.exec(page.url())[1];
}

/** Arrow keys read a chart of an active run, which keeps the focus; a mark, and the end. */
async function watch() {
  const figure = page.locator('#time figure').first();
  const rows = figure.locator('.as-table tbody tr');
  await press(figure.locator('summary'));
  await rows.first().waitFor();
  const stage = figure.locator('.stage');
  await tabTo(stage, 'Shift+Tab');
  await checkOutline();
  await keyboard.press('ArrowRight');
  assert.match(await figure.locator('[role=status]').textContent(), /\d/);
  const count = await rows.count();
  await page.waitForFunction((before) => document.querySelectorAll('#time figure .as-table tbody tr').length > before, count);
  assert.ok(await hasFocus(stage), 'the focus stays');
  await shoot('live');
  await tabTo(page.getByLabel(text('live-mark'), { exact: true }), 'Shift+Tab');
  await keyboard.type('deployed');
  await keyboard.press('Enter');
  await page.waitForLoadState();
  await press(button('live-stop'));
  await page.waitForFunction(() => !document.getElementById('live')?.querySelector('form'));
  await page.reload();
  assert.match(await page.locator('body').textContent(), /deployed/);
}

async function share(id) {
  const saved = page.waitForEvent('download');
  await press(anchor('share'));
  assert.equal((await saved).suggestedFilename(), `brunt-${id}.html`);
}

async function compare() {
  await press(page.locator('header .brand').first());
  await page.waitForURL(`${origin}/`);
  const boxes = page.locator('.runs tbody input[type=checkbox]');
  for (let i = 0; i < 2; i++) {
    await tabTo(boxes.nth(i));
    await keyboard.press('Space');
  }
  await press(button('runs-compare'));
  await page.waitForURL(/compare/);
  await page.locator('.differences').waitFor();
  await shoot('comparison');
}

/** A recording with a proxy, and one of a browser without a window. */
async function record() {
  for (const [kind, arrows] of [['proxy', 2], ['headless', 1]]) {
    await press(anchor('strip-record'));
    await page.waitForURL(/record$/);
    await type(page.getByLabel(text('record-url'), { exact: true }), url);
    await tabTo(page.locator('input[name=kind]'));
    for (let i = 0; i < arrows; i++) await keyboard.press('ArrowDown');
    assert.ok(await page.locator(`input[value=${kind}]`).isChecked());
    await type(page.getByLabel(text('record-file')), join(directory, `${kind}-${language}.yaml`));
    if (kind === 'proxy') await type(page.getByLabel(text('record-address')), '127.0.0.1:0');
    await press(button('record-start'));
    await page.waitForURL(/record\/\d+/);
    await shoot(kind);
    // The page is loaded again each second, and its button has the focus again. A key between two pages has no effect. A browser
    // without a window may have ended already.
    const ended = page.locator('form#edit, p.problem').first();
    const isEnded = () => ended.isVisible().catch(() => false);
    let presses = 0;
    for (let i = 0; i < 100 && !(await isEnded()); i++) {
      const isFocused = await hasFocus(button('recording-end')).catch(() => false);
      if (isFocused && i >= 30 * presses) {
        await keyboard.press('Enter');
        presses += 1;
      }
      await page.waitForTimeout(100);
    }
    assert.ok(presses > 0 || kind === 'headless', 'no key ends the recording');
    await ended.waitFor();
    await shoot(`${kind}-ended`);
  }
}

/** A value of a plan of JMeter changes, and no other byte. */
async function editJmeter() {
  const jmx = join(directory, 'shop.jmx');
  const before = readFileSync(jmx, 'utf8');
  await press(anchor('strip-start').first());
  await page.waitForURL(/start/);
  await type(page.getByLabel(text('start-target')), jmx);
  await keyboard.press('Enter');
  await page.waitForURL(/target=/);
  await press(anchor('start-edit'));
  await page.waitForURL(/\/edit/);
  await openForm('Home', 'counts');
  await type(page.locator('.setting input').first(), `changed ${language}`);
  await keyboard.press('Enter');
  await page.locator('.plan-title', { hasText: `changed ${language}` }).waitFor();
  await shoot('jmeter');
  const isSaved = page.waitForResponse((response) => response.url().endsWith('/edit/save'));
  await press(button('edit-save'));
  assert.equal((await isSaved).status(), 303);
  const after = readFileSync(jmx, 'utf8');
  assert.notEqual(after, before);
  assert.equal(after.replace(`changed ${language}`, 'counts'), before);
}

/** Performs a step of the test, and prints its time. */
async function perform(name, step) {
  const start = Date.now();
  const result = await step();
  console.log(`ok   ${language}: ${name}, ${((Date.now() - start) / 1000).toFixed(1)} s`);
  return result;
}

try {
  await page.goto(link);
  await page.waitForURL(`${origin}/`);
  assert.equal(await page.locator('html').getAttribute('lang'), language);
  await perform('make a plan', makePlan);
  await perform('try and debug it', debug);
  await perform('run it', start);
  await perform('watch and stop it', watch);
  await page.goto(`${origin}/edit?file=${encodeURIComponent(plan)}`);
  const id = await perform('run it again', start);
  await perform('watch and stop it again', watch);
  await perform('share it as a file', () => share(id));
  await perform('compare both', compare);
  await perform('record', record);
  await perform('edit a plan of JMeter', editJmeter);
  assert.deepEqual(complaints, []);
} catch (error) {
  await shoot('failed');
  throw error;
} finally {
  await browser.close();
}
