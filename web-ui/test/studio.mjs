// Tests the studio in a browser: `node test/studio.mjs LINK RUN RUN URL [PICTURES]`. LINK admits the browser; the runs are stored,
// the older one first; URL is a server to load. PICTURES receives screenshots. Chromium is Debian's; nothing is downloaded.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const [link, older, newer, url, pictures] = process.argv.slice(2);
const origin = new URL(link).origin;
const executablePath = process.env.CHROMIUM ?? ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync);
if (pictures) mkdirSync(pictures, { recursive: true });

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
const complaints = [];
try {
  const context = await browser.newContext({ viewport: { width: 1360, height: 900 } });
  const page = await context.newPage();
  page.on('console', (message) => complaints.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => complaints.push(String(error.stack)));
  page.on('request', (request) => {
    if (!request.url().startsWith(origin) && !request.url().startsWith('data:')) complaints.push(`request: ${request.url()}`);
  });
  const shoot = async (name) => pictures && page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true });
  /** Moves the focus with the key Tab to an element, as users without a mouse do. */
  const tabTo = async (selector, key = 'Tab') => {
    for (let i = 0; i < 60; i++) {
      await page.keyboard.press(key);
      if (await page.evaluate((wanted) => document.activeElement?.matches(wanted) ?? false, selector)) return;
    }
    assert.fail(`no key leads to ${selector}`);
  };

  /** The texts of a report page without those of charts, and the links to its sections. */
  const contentOf = (tab) =>
    tab.evaluate(() => {
      const copy = document.getElementById('page').cloneNode(true);
      copy.querySelectorAll('figure, .sums, .legend').forEach((part) => part.remove());
      const blocks = [...copy.querySelectorAll('.links a, h1, h2, .facts, .conclusion, .banner, .objectives, .tile, tr, li, dt, dd')];
      return blocks.map((block) => block.textContent.replace(/\s+/g, ' ').trim());
    });
  /** Fails unless a page that was renewed has the same content as the page that is loaded anew. */
  const assertLikeAnew = async (tab) => {
    const anew = await context.newPage();
    await anew.goto(tab.url());
    await anew.locator('#page main').waitFor();
    assert.deepEqual(await contentOf(tab), await contentOf(anew));
    await anew.close();
  };

  await page.goto(link);
  await page.waitForURL(`${origin}/`);
  assert.equal(await page.locator('.runs tbody tr').count(), 2);
  const opened = await page.evaluate(() => performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd);
  console.log(`the list opened in ${Math.round(opened)} ms`);
  await shoot('list');

  // The keyboard only: search, select both, compare.
  await tabTo('input[name=q]');
  await page.keyboard.type('delay');
  await page.keyboard.press('Enter');
  await page.waitForURL(/q=delay/);
  await tabTo(`input[value="${newer}"]`);
  await page.keyboard.press('Space');
  await tabTo(`input[value="${older}"]`);
  await page.keyboard.press('Space');
  await tabTo('form[action="/compare"] button');
  await page.keyboard.press('Enter');
  await page.waitForURL(/compare/);
  await page.locator('#page main').waitFor();
  assert.match(await page.locator('.differences').textContent(), /what is asked/);
  assert.ok((await page.locator('figure canvas').count()) > 0, 'charts are drawn under the content policy');
  await shoot('comparison');

  await page.goto(`${origin}/runs/${older}`);
  await page.locator('#page main').waitFor();
  assert.ok((await page.locator('figure canvas').count()) > 0);
  await page.getByLabel('new tag').fill('first');
  await page.getByRole('button', { name: 'Tag', exact: true }).click();
  await page.getByRole('button', { name: 'remove the tag first' }).waitFor();
  await page.getByLabel('note').fill('<b>quick</b>');
  await page.getByRole('button', { name: 'Save the note' }).click();
  await page.getByRole('button', { name: 'Pin', exact: true }).click();
  await page.getByRole('button', { name: 'Unpin' }).waitFor();
  assert.equal(await page.getByLabel('note').inputValue(), '<b>quick</b>');
  await shoot('run');
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByText('Share as a file').click()]);
  assert.equal(file.suggestedFilename(), `brunt-${older}.html`);

  await page.goto(origin);
  assert.match(await page.locator('.runs').textContent(), /pinned.*first.*<b>quick<\/b>/);
  for (const [name, options] of [
    ['narrow', { viewport: { width: 400, height: 800 } }],
    ['dark', { colorScheme: 'dark' }],
  ]) {
    const other = await browser.newContext({ ...options, storageState: await context.storageState() });
    const narrow = await other.newPage();
    for (const path of ['/', `/runs/${older}`, `/compare?id=${older}&id=${newer}`]) {
      await narrow.goto(origin + path);
      const wide = await narrow.locator('html').evaluate((html) => html.scrollWidth);
      if (name === 'narrow') assert.ok(wide <= 400, `${path}: ${wide} px`);
      if (pictures) await narrow.screenshot({ path: join(pictures, `${name}${path.replaceAll(/\W/g, '-').slice(0, 8)}.png`) });
    }
  }
  // A run is started, followed, marked and stopped.
  await page.goto(`${origin}/start`);
  await page.getByLabel('URL or plan file').fill(url);
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByLabel('Arrivals per second').fill('200');
  await page.getByLabel('Time', { exact: true }).fill('60s');
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await page.waitForURL(/\/runs\/\w+/);
  const figure = page.locator('#time figure').first();
  await figure.waitFor();
  const followed = page.url();
  await figure.locator('summary').click();
  const rows = figure.locator('.as-table tbody tr');
  await rows.first().waitFor();
  const [before, state] = [await rows.count(), await page.locator('#live-state').textContent()];
  const stage = figure.locator('.stage');
  await stage.focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('+');
  await page.locator('#overview .tile').first().evaluate((tile) => (tile.isKept = true));
  await page.waitForFunction(([wanted]) => document.querySelectorAll('#time figure .as-table tbody tr').length > wanted, [before]);
  assert.notEqual(await page.locator('#live-state').textContent(), state);
  assert.ok(await figure.locator('.reset').isVisible(), 'a zoom stays');
  assert.ok(await page.locator('#overview .tile').first().evaluate((tile) => tile.isKept), 'the overview stays');
  assert.ok(await stage.evaluate((element) => element === document.activeElement), 'the focus stays');
  await shoot('live');
  await page.getByLabel('mark').fill('deployed <b>1.2</b>');
  await Promise.all([page.waitForEvent('load'), page.getByRole('button', { name: 'Mark this instant' }).click()]);
  assert.equal(page.url(), followed);
  await page.waitForFunction(() => /\d/.test(document.getElementById('live-age')?.textContent ?? ''));
  const errors = page.locator('#overview .tile').filter({ hasText: 'errors' }).first();
  assert.match(await errors.textContent(), /\b0 of [\d,]+/i, 'requests in flight are no errors');
  // While the studio does not answer, the age of the figures grows.
  await page.route('**/live*', (route) => route.abort());
  const ageOf = async () => Number(/[\d.]+/.exec(await page.locator('#live-age').textContent())[0]);
  await page.waitForFunction(() => Number(/[\d.]+/.exec(document.getElementById('live-age').textContent)?.[0]) > 3);
  const firstAge = await ageOf();
  await page.waitForFunction((first) => Number(/[\d.]+/.exec(document.getElementById('live-age').textContent)[0]) > first + 1, firstAge);
  await page.unroute('**/live*');
  complaints.splice(0, complaints.length, ...complaints.filter((text) => !text.includes('ERR_FAILED')));
  const other = await context.newPage();
  await other.goto(followed);
  await other.getByRole('button', { name: 'Stop the run' }).click();
  await page.getByText('The run is over').waitFor();
  await assertLikeAnew(page);
  await other.close();
  await page.goto(followed);
  await shoot('stopped');

  // It is replayed, and the charts of a moment are those of a part of it.
  await page.getByRole('link', { name: 'Replay' }).click();
  await page.waitForURL(/at=0/);
  const slider = page.getByLabel('instant of the replay');
  await slider.focus();
  await page.keyboard.press('End');
  await page.waitForFunction(() => /^at (.+) of \1$/.test(document.getElementById('live-state')?.textContent ?? ''));
  await page.keyboard.press('Home');
  await page.waitForURL(/at=0\.000/);
  for (const key of ['End', 'PageDown', 'ArrowRight']) {
    await slider.focus();
    await page.keyboard.press(key);
    await page.waitForLoadState('networkidle');
    await assertLikeAnew(page);
  }
  await page.keyboard.press('Home');
  await page.waitForURL(/at=0\.000/);
  await page.getByLabel('speed of the replay').selectOption('20');
  await page.getByRole('button', { name: 'Play' }).click();
  await page.waitForFunction(() => Number(new URL(location.href).searchParams.get('at')) > 0.5);
  await shoot('replay');

  // A plan is written, checked, saved and tried; a piece of a reply becomes an extractor.
  const plan = join(mkdtempSync(join(tmpdir(), 'brunt-plan-')), 'plan.yaml');
  writeFileSync(plan, `# A comment.\nload: {users: 1, requests: 3}\nscenario:\n  steps:\n  - get: ${url}\n    name: home\n`);
  await page.goto(`${origin}/start`);
  await page.getByLabel('URL or plan file').fill(plan);
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByRole('link', { name: 'Edit the plan' }).click();
  const text = page.locator('.cm-content');
  await text.waitFor();
  await text.click();
  await page.keyboard.press('Control+End');
  await page.keyboard.type('lod: 3');
  await page.locator('#problems li.error').first().waitFor();
  await shoot('editor');
  for (let i = 0; i < 6; i++) await page.keyboard.press('Backspace');
  await page.locator('#problems li.error').first().waitFor({ state: 'detached' });
  await page.keyboard.type('# The end.');
  await page.getByRole('button', { name: 'Save, and try once' }).click();
  await page.waitForURL(/\/tries\/\d+/);
  const body = page.locator('pre.body');
  await body.waitFor();
  const word = await body.evaluate((element) => {
    const node = element.firstChild;
    const [found] = /\w+/.exec(node.textContent);
    const at = node.textContent.indexOf(found);
    getSelection().setBaseAndExtent(node, at, node, at + found.length);
    return found;
  });
  await page.waitForFunction((wanted) => document.querySelector('form.body').elements.selected.value === wanted, word);
  await page.getByRole('button', { name: 'Propose extractors' }).click();
  await page.locator('#proposals tbody tr').first().waitFor();
  await shoot('try');
  await page.getByLabel('variable').first().fill('word');
  await page.getByRole('button', { name: 'Add to the plan' }).first().click();
  await page.waitForURL(/\/edit\?file=/);
  const saved = readFileSync(plan, 'utf8');
  assert.match(saved, /^# A comment\.\n[^]*word[^]*# The end\./);

  // Tree and form, with the keyboard only: a value, a new step, a move; undo restores the text exactly.
  const shown = await page.locator('.cm-content').textContent();
  const item = (name) => page.getByRole('treeitem', { name });
  await item(/home/).first().waitFor();
  await tabTo('[role=treeitem]');
  await page.keyboard.type('scenario');
  await page.keyboard.press('ArrowDown');
  await page.getByLabel(/^name/).first().waitFor();
  await shoot('tree');
  // Until its form has come, that of the other element is shown.
  const copyForm = page.waitForResponse((response) => /\bpath=[^&]*steps%5B1%5D/.test(response.request().postData() ?? ''));
  await page.keyboard.press('Control+d');
  await item(/home/).nth(1).waitFor();
  await copyForm;
  await page.keyboard.press('Enter');
  await page.getByLabel(/^name/).first().fill('copy');
  await page.keyboard.press('Tab');
  await item(/copy/).waitFor();
  // Forward, the text editor would take the key.
  await tabTo('[role=treeitem]', 'Shift+Tab');
  await page.keyboard.press('Alt+ArrowUp');
  await page.waitForFunction(() => /copy[^]*home/.test(document.querySelector('[role=tree]').textContent));
  for (let i = 0; i < 3; i++) await page.keyboard.press('Control+z');
  await item(/copy/).waitFor({ state: 'detached' });
  await page.waitForFunction((text) => document.querySelector('textarea[name=text]').value === text, readFileSync(plan, 'utf8'));
  assert.equal(await page.locator('.cm-content').textContent(), shown);

  // A tab without the cookie sees nothing.
  const stranger = await (await browser.newContext()).newPage();
  assert.equal((await stranger.goto(origin)).status(), 401);
  assert.deepEqual(complaints, []);
} finally {
  await browser.close();
}
