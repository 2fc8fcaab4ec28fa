// Tests the page in a browser: `node test/browser.mjs DIRECTORY [PICTURES]`. DIRECTORY contains the pages that the example
// `made_up` of brunt-report writes. PICTURES receives screenshots. Chromium is Debian's; nothing is downloaded.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { assertNone, checkAccessibility, hasAxe, VIEWS } from './accessibility.mjs';

const [directory = '.', pictures] = process.argv.slice(2);
const path = (name) => join(resolve(directory), name);
const executablePath = process.env.CHROMIUM ?? ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync);
const wanted = JSON.parse(readFileSync(path('study.json'), 'utf8'));
if (pictures) mkdirSync(pictures, { recursive: true });

const three = (x) => {
  const places = Math.max(0, 2 - Math.floor(Math.log10(Number(x.toPrecision(3)))));
  return x.toFixed(places).replace(/\B(?<!\.\d*)(?=(\d{3})+(?!\d))/g, ',');
};

/** Opens a page; any error of the browser and any network request fails the test. */
async function open(browser, name, options = {}) {
  const page = await browser.newPage({ viewport: { width: 1360, height: 900 }, ...options });
  const complaints = [];
  page.on('console', (message) => complaints.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => complaints.push(String(error.stack)));
  page.on('dialog', (dialog) => (complaints.push(`dialog: ${dialog.message()}`), dialog.dismiss()));
  page.on('request', (request) => {
    if (!/^(file|data):/.test(request.url())) complaints.push(`request: ${request.url()}`);
  });
  await page.goto(pathToFileURL(path(name)).href, { waitUntil: 'load' });
  return { page, complaints };
}

const texts = (page, selector) => page.locator(selector).allTextContents();

/** A cell of a table, by the title of its column. */
const column = async (page, section, title) => {
  const titles = (await texts(page, `${section} thead th`)).map((t) => t.trim());
  const at = titles.indexOf(title);
  assert.ok(at >= 0, `${section} has a column ${title}, of ${titles}`);
  return (await page.locator(`${section} tbody tr`).evaluateAll((rows, i) => rows.map((row) => row.children[i].textContent), at));
};

/** Rows of the table of a figure, each with its cells as texts. */
async function rowsOf(figure) {
  await figure.locator('summary').click();
  // The browser reports an opened element asynchronously.
  await figure.locator('.as-table tbody tr').first().waitFor();
  return figure.locator('.as-table tbody tr').evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent)));
}

/** Presses a key until it reads nothing new. Adds the texts that it reads. */
async function readAlong(page, figure, key, texts) {
  const status = figure.locator('[role=status]');
  for (let before = null; ; ) {
    await page.keyboard.press(key);
    const text = await status.textContent();
    texts.add(text);
    if (text === before) return;
    before = text;
  }
}

/** All texts that arrow keys read in a chart. */
async function readByArrows(page, figure, isHeat) {
  const texts = new Set();
  const status = figure.locator('[role=status]');
  await figure.locator('.stage').focus();
  if (!isHeat) await readAlong(page, figure, 'ArrowRight', texts);
  for (let before = null; isHeat; ) {
    await page.keyboard.press('ArrowRight');
    const column = (await status.textContent()).split(': ')[0];
    if (column === before) break;
    before = column;
    await readAlong(page, figure, 'ArrowDown', texts);
    await readAlong(page, figure, 'ArrowUp', texts);
  }
  return texts;
}

/** Arrow keys read each value of the table of a chart. Returns the number of values. */
async function checkReading(page, figure) {
  const { id, title, x, heat } = await figure.evaluate((element) => {
    const { figures = [] } = JSON.parse(document.getElementById('study')?.textContent ?? '{}');
    const charts = [...document.querySelectorAll('script[type="application/json"]')].map((script) => JSON.parse(script.textContent));
    const all = [...figures, ...charts.flatMap((content) => [...(content.figures ?? []), ...(content.sections ?? []).flatMap((section) => section.figures)])];
    return all.find((one) => one.id === element.dataset.figure);
  });
  const rows = await rowsOf(figure);
  const texts = [...(await readByArrows(page, figure, heat !== null))];
  let count = 0;
  for (const [position, ...cells] of rows) {
    const found = texts.filter((text) => text.startsWith(`${x.label} ${position}: `));
    // A line without a value has a dash.
    const values = heat ? [cells.join(' ')] : cells.filter((cell) => cell !== '' && cell !== '–');
    for (const value of values) assert.ok(found.some((text) => text.includes(value)), `${id} (${title}), ${position}: ${value} in ${found}`);
    count += values.length;
  }
  return count;
}

const tests = {
  async 'the figures are those of the document'({ page }) {
    assert.equal(await page.locator('h1').textContent(), wanted.name);
    const throughput = await column(page, '#trials', 'Throughput');
    assert.deepEqual(throughput, wanted.trials.map((t) => `${three(t.throughput_per_second)} /s`));
    const errors = await column(page, '#trials', 'Errors');
    assert.deepEqual(errors.map((e) => Number(e.replaceAll(',', ''))), wanted.trials.map((t) => t.requests.errors));
    const seconds = (text) => Number.parseFloat(text.replace(/[≥,]/g, '')) * { s: 1, ms: 1e-3, µs: 1e-6 }[text.split(' ').at(-1)];
    (await column(page, '#trials', 'p99')).forEach((text, i) => {
      const { p99 } = wanted.trials[i].response_time_seconds;
      assert.ok(Math.abs(seconds(text) / p99 - 1) < 0.006, `${text} is ${p99}`);
    });
    const limits = await texts(page, '#limits > .scroll tbody tr td b');
    const known = wanted.analysis.contenders[0].limits.flatMap((_, i) => wanted.analysis.contenders.map((c) => c.limits[i].at?.value)).filter((v) => v !== undefined);
    assert.deepEqual(limits, known.map((v) => `${v} /s`));
    for (const finding of wanted.analysis.findings) assert.ok((await page.locator('#findings').textContent()).includes(finding.sentence));
    assert.equal((await page.locator('#curve tbody tr').count()), wanted.analysis.contenders.reduce((n, c) => n + c.curve.length, 0));
    assert.equal(await page.locator('#plan pre').textContent(), wanted.experiment.source.trim());
  },

  async 'verdicts that are not OK stand first'({ page }) {
    const banner = await page.locator('.banner').textContent();
    for (const state of new Set(wanted.trials.map((t) => t.verdict.state))) {
      if (state !== 'ok') assert.ok(banner.includes(state.toUpperCase()), `${state} in ${banner}`);
    }
    assert.ok(await page.locator('.banner.invalid').isVisible());
  },

  async 'names are text'({ page }) {
    const name = wanted.experiment.contenders[1].name;
    assert.ok(name.includes('<script>'), 'the made-up study tries it');
    assert.ok((await texts(page, '#limits thead th')).includes(name));
    assert.equal(await page.locator('#page script, #page b script').count(), 0);
  },

  async 'tables sort by click and by key'({ page }) {
    await page.locator('#trials summary').click();
    const head = page.locator('#trials thead th', { hasText: 'Throughput' });
    const values = async () => (await column(page, '#trials', 'Throughput')).map((t) => Number.parseFloat(t.replaceAll(',', '')));
    await head.getByRole('button').click();
    assert.equal(await head.getAttribute('aria-sort'), 'ascending');
    const up = await values();
    assert.deepEqual(up, [...up].sort((a, b) => a - b));
    await head.getByRole('button').focus();
    await page.keyboard.press('Enter');
    assert.equal(await head.getAttribute('aria-sort'), 'descending');
    assert.deepEqual(await values(), [...up].reverse().sort((a, b) => b - a));
    assert.equal(await page.locator('#trials th[aria-sort=ascending]').count(), 0);
  },

  async 'a zoom is seen in all charts of its group, and summed'({ page }) {
    const stage = page.locator('#time .stage').first();
    await stage.scrollIntoViewIfNeeded();
    await stage.locator('.u-over').waitFor();
    const box = await stage.locator('.u-over').boundingBox();
    const rows = page.locator('#time .sums tbody tr');
    assert.equal(await rows.count(), 1);
    await page.mouse.move(box.x + box.width * 0.3, box.y + 40);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.6, box.y + 60, { steps: 5 });
    await page.mouse.up();
    assert.equal(await rows.count(), 2);
    const [whole, part] = await rows.evaluateAll((all) => all.map((row) => Number(row.children[3].textContent.replaceAll(',', ''))));
    const index = Number(await page.locator('#trial-choice').inputValue());
    assert.ok(Math.abs(whole / (wanted.trials[index].throughput_per_second * wanted.trials[index].measured_seconds) - 1) < 0.01, `${whole}`);
    assert.ok(part > whole * 0.2 && part < whole * 0.45, `${part} of ${whole}`);
    // The axis of the histogram is no time.
    const resets = page.locator('#time [data-group^=time] .reset');
    assert.equal(await resets.count(), await page.locator('#time .reset:not([hidden])').count());
    assert.equal(await page.locator('#charts .reset:not([hidden])').count(), 0);
    await stage.locator('.u-over').dblclick();
    assert.equal(await rows.count(), 1);
  },

  async 'the pointer tells values, here and in the legends of the others'({ page }) {
    const stage = page.locator('#charts .stage').first();
    await stage.scrollIntoViewIfNeeded();
    await stage.locator('.u-over').waitFor();
    await stage.locator('.u-over').hover({ position: { x: 200, y: 60 } });
    await stage.locator('.tip').waitFor();
    assert.match(await stage.locator('.tip').textContent(), /nginx.*\/s/);
    const others = await texts(page, '#charts figure:nth-child(2) .legend .value');
    assert.ok(others.some((t) => / m?s$/.test(t)), `${others}`);
    await page.mouse.move(5, 5);
    assert.ok(await stage.locator('.tip').isHidden());
  },

  async 'charts are used by keys'({ page }) {
    const figure = page.locator('#charts figure').first();
    await figure.locator('.stage').focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    const said = await figure.locator('[role=status]').textContent();
    assert.match(said, /20 \/s|40 \/s|60 \/s/);
    await page.keyboard.press('+');
    assert.ok(await figure.locator('.reset').isVisible());
    await page.keyboard.press('Escape');
    assert.ok(await figure.locator('.reset').isHidden());
    const line = figure.locator('.legend button').first();
    await line.focus();
    await page.keyboard.press('Space');
    assert.equal(await line.getAttribute('aria-pressed'), 'false');
    await line.click();
  },

  async 'every chart is a table too, and says what it is'({ page }) {
    const figures = page.locator('figure');
    for (const figure of (await figures.all()).slice(0, 12)) {
      await figure.locator('summary').click();
      // The browser reports an opened element asynchronously.
      await figure.locator('.as-table tbody tr').first().waitFor();
      const stage = figure.locator('.stage');
      const about = await stage.getAttribute('aria-describedby');
      assert.ok((await page.locator(`[id="${about}"]`).textContent()).length > 20);
      await figure.locator('summary').click();
    }
  },

  async 'a trial is chosen by list, by key and from the table'({ page }) {
    const choice = page.locator('#trial-choice');
    await choice.selectOption('7');
    const { contender, load } = wanted.trials[7];
    assert.ok((await page.locator('#time .facts').textContent()).includes(`${contender} · ${load} /s`));
    await page.getByRole('button', { name: 'Next' }).click();
    assert.equal(await choice.inputValue(), '8');
    await page.locator('#trials summary').click();
    await page.locator('#trials tbody tr .link', { hasText: /^121$/ }).click();
    assert.equal(await choice.inputValue(), '120');
    await page.waitForFunction(() => document.querySelector('#time canvas'));
  },

  async 'a link opens its section'({ page }) {
    const plan = page.locator('#plan pre');
    assert.ok(await plan.isHidden());
    await page.locator('.bar a[href="#plan"]').click();
    await plan.waitFor();
    assert.deepEqual(await texts(page, '#main > div section h2, #main > section h2').then((all) => all.slice(-5)), ['Evidence', 'Plan', 'Environment', 'Method', 'Licenses']);
  },

  async 'the theme follows the system, and the button'({ page }) {
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await ground();
    await page.locator('.theme').click();
    assert.notEqual(await ground(), light);
    await page.locator('.theme').click();
    assert.equal(await ground(), light);
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.waitForFunction(() => document.documentElement.dataset.theme === 'dark');
    await page.emulateMedia({ colorScheme: 'light' });
  },

  async 'on paper all charts are drawn, and nothing is to be pressed'({ page }) {
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
    await page.emulateMedia({ media: 'print' });
    const bare = await page.locator('figure').evaluateAll((all) => all.filter((f) => !f.querySelector('canvas')).length);
    assert.equal(bare, 0);
    const shown = await page.locator('button:visible').evaluateAll((all) => all.filter((b) => !b.closest('table, .legend')).length);
    assert.equal(shown, 0);
    await page.emulateMedia({ media: 'screen' });
    await page.evaluate(() => dispatchEvent(new Event('afterprint')));
  },
};

const dashboardTests = {
  async 'a dashboard sorts its tables, the total first'({ page }) {
    assert.equal(await page.locator('h1').textContent(), 'Shop <b>dashboard</b>');
    const head = page.locator('#statistics thead th', { hasText: 'Average' });
    const values = async () => (await column(page, '#statistics', 'Average')).map(Number);
    const [total, ...unsorted] = await values();
    for (const direction of ['ascending', 'descending']) {
      await head.getByRole('button').click();
      assert.equal(await head.getAttribute('aria-sort'), direction);
      const [first, ...rest] = await values();
      assert.equal(first, total);
      const sign = direction === 'ascending' ? 1 : -1;
      assert.deepEqual(rest, [...unsorted].sort((a, b) => (a - b) * sign));
    }
    assert.equal((await column(page, '#statistics', 'Label'))[0], 'Total');
  },

  async 'its charts zoom together over all sections, and say the time of day'({ page }) {
    const stage = page.locator('#overview .stage').first();
    await stage.scrollIntoViewIfNeeded();
    await stage.locator('.u-over').waitFor();
    await stage.locator('.u-over').hover({ position: { x: 150, y: 60 } });
    await stage.locator('.tip').waitFor();
    assert.match(await stage.locator('.tip').textContent(), /Time of day, UTC Jul 1 12:0[0-5]:\d\d/);
    const box = await stage.locator('.u-over').boundingBox();
    await page.mouse.move(box.x + box.width * 0.3, box.y + 40);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.6, box.y + 60, { steps: 5 });
    await page.mouse.up();
    assert.equal(await page.locator('.reset:not([hidden])').count(), 3);
    await stage.locator('.u-over').dblclick();
    assert.equal(await page.locator('.reset:not([hidden])').count(), 0);
  },

  async 'a click on a name hides its line'({ page }) {
    const figure = page.locator('#over-time figure').first();
    await figure.scrollIntoViewIfNeeded();
    const name = figure.locator('.legend button').first();
    await name.click();
    assert.equal(await name.getAttribute('aria-pressed'), 'false');
    const over = figure.locator('.u-over');
    await over.waitFor();
    await over.hover({ position: { x: 150, y: 60 } });
    await figure.locator('.tip').waitFor();
    const tip = await figure.locator('.tip').textContent();
    assert.ok(!tip.includes('page 0') && tip.includes('page 1'), tip);
  },

  async 'the pie has a slice for passes and one for failures'({ page }) {
    assert.deepEqual(await texts(page, '#shares .pie title'), ['PASS: 930 (93.0 %)', 'FAIL: 70 (7.00 %)']);
    assert.equal(await page.locator('#shares .bars .share').count(), 4);
  },
};

/** Time to open the page: the minimum of several, which is least affected by other processes. */
async function opening(browser) {
  const times = [];
  for (let i = 0; i < 5; i++) {
    const { page } = await open(browser, 'study.html');
    times.push(await page.evaluate(() => performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd));
    await page.close();
  }
  const { page } = await open(browser, 'study.html');
  const elements = await page.evaluate(() => document.querySelectorAll('*').length);
  await page.close();
  const sorted = times.sort((a, b) => a - b).map(Math.round);
  const kilobytes = Math.round(statSync(path('study.html')).size / 1000);
  console.log(`opened in ${sorted[0]} ms (of five: ${sorted.join(', ')}), ${kilobytes} kB, ${elements} elements`);
  assert.ok(sorted[0] < 5000, 'the page opens in seconds');
  assert.ok(elements < 20_000, 'charts and tables are made when they are needed');
}

async function shoot(browser) {
  for (const colorScheme of ['light', 'dark']) {
    const { page } = await open(browser, 'study.html', { colorScheme });
    const height = await page.evaluate(() => document.documentElement.scrollHeight);
    for (let y = 0, i = 1; y < height; y += 820, i++) {
      await page.evaluate((top) => scrollTo(0, top), y);
      await page.waitForTimeout(120);
      await page.screenshot({ path: join(pictures, `${colorScheme}-${String(i).padStart(2, '0')}.png`) });
    }
    if (colorScheme === 'light') await page.pdf({ path: join(pictures, 'print.pdf'), format: 'A4' });
    await page.close();
  }
  const { page } = await open(browser, 'study.html', { viewport: { width: 390, height: 844 } });
  await page.screenshot({ path: join(pictures, 'narrow.png') });
  const dashboard = await open(browser, 'dashboard.html');
  await dashboard.page.screenshot({ path: join(pictures, 'dashboard.png'), fullPage: true });
  const run = await open(browser, 'run.html');
  await run.page.screenshot({ path: join(pictures, 'run.png'), fullPage: true });
  for (const [name, options] of [
    ['run-400', { viewport: { width: 400, height: 800 } }],
    ['run-dark', { colorScheme: 'dark' }],
    ['run-still', { javaScriptEnabled: false }],
  ]) {
    const { page } = await open(browser, 'run.html', options);
    await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true });
  }
}

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
let failed = 0;
try {
  await opening(browser);
  const all = [...Object.entries(tests).map((test) => ['study.html', ...test]), ...Object.entries(dashboardTests).map((test) => ['dashboard.html', ...test])];
  for (const [file, name, test] of all) {
    const opened = await open(browser, file);
    try {
      await test(opened);
      assert.deepEqual(opened.complaints, []);
      console.log(`ok   ${name}`);
    } catch (error) {
      failed += 1;
      console.log(`FAIL ${name}\n${error.stack}`);
    }
    await opened.page.close();
  }
  for (const [file, heats] of [['study.html', true], ['dashboard.html', false], ['run.html', true]]) {
    const { page, complaints } = await open(browser, file);
    const counts = { lines: 0, heats: 0 };
    const groups = new Set();
    for (const figure of await page.locator('figure[data-figure]').all()) {
      const { group, isHeat } = await figure.evaluate((element) => ({
        group: element.closest('.charts').dataset.group,
        isHeat: /heat/.test(element.dataset.figure),
      }));
      // Charts of a group have the same axis.
      const kind = `${group} ${isHeat}`;
      if (groups.has(kind)) continue;
      groups.add(kind);
      counts[isHeat ? 'heats' : 'lines'] += await checkReading(page, figure);
    }
    assert.deepEqual(complaints, []);
    assert.ok(counts.lines > 0 && counts.heats > 0 === heats, JSON.stringify(counts));
    console.log(`ok   arrow keys read each value of ${groups.size} charts in ${file}: ${counts.lines} of lines, ${counts.heats} of heat maps`);
  }
  const run = await open(browser, 'run.html');
  assert.deepEqual(run.complaints, []);
  assert.ok((await run.page.locator('#time figure').count()) > 0);
  assert.deepEqual(await texts(run.page, '.tile dt'), ['Throughput', 'p50', 'p95', 'p99', 'Errors']);
  // All charts are drawn before anyone scrolls.
  await run.page.waitForFunction(() => document.querySelector('figure:not(:has(canvas))') === null);
  assert.deepEqual([await run.page.locator('.banner').count(), await run.page.locator('#still').count()], [1, 0]);
  // The charts of a label replace those of the run; each fact of the run is there once.
  const choice = run.page.locator('#part-choice');
  assert.deepEqual(await texts(run.page, '#part-choice option'), ['the whole run', 'pay <b>', 'log in']);
  const whole = await rowsOf(run.page.locator('#time figure').first());
  await choice.selectOption({ label: 'pay <b>' });
  const ofLabel = await rowsOf(run.page.locator('#time figure').first());
  const sum = (rows) => rows.reduce((total, row) => total + Number.parseFloat(row[1].replace(',', '')), 0);
  assert.ok(sum(ofLabel) > 0 && sum(ofLabel) < sum(whole) * 0.8, `${sum(ofLabel)} of ${sum(whole)}`);
  assert.equal(await run.page.locator('#time .sums tbody tr').count(), 1);
  await choice.selectOption('0');
  assert.deepEqual(await rowsOf(run.page.locator('#time figure').first()), whole);
  assert.deepEqual([await run.page.locator('#time .sums tbody tr').count(), await run.page.locator('#time .state').count()], [0, 0]);
  await run.page.locator('#figure-histogram').scrollIntoViewIfNeeded();
  await run.page.locator('#figure-histogram canvas').waitFor();
  assert.deepEqual(run.complaints, []);
  console.log('ok   a single run is a page too');
  for (const [name, javaScriptEnabled] of [
    ['dashboard.html', true],
    ['dashboard.html', false],
    ['run.html', true],
    ['run.html', false],
  ]) {
    const { page } = await open(browser, name, { javaScriptEnabled, viewport: { width: 400, height: 800 } });
    const wide = await page.locator('html').evaluate((html) => html.scrollWidth);
    assert.ok(wide <= 400, `${name}: ${wide} px`);
    if (javaScriptEnabled || name !== 'run.html') continue;
    const charts = await page.locator('svg[role=img]:visible').count();
    assert.ok(charts > 3 && (await page.locator('svg[role=img] > title').count()) === charts, `${charts} charts`);
  }
  console.log('ok   a single run fits a telephone, and needs no script');
  if (hasAxe) {
    const found = [];
    for (const name of ['study.html', 'run.html', 'dashboard.html']) {
      const { page } = await open(browser, name);
      // Opened tables of 120 trials would take minutes.
      found.push(...(await checkAccessibility(page, name, VIEWS, { isOpened: name !== 'study.html' })));
    }
    assertNone(found);
    console.log('ok   axe-core finds no violation');
  }
  if (pictures) await shoot(browser);
} finally {
  await browser.close();
}
process.exitCode = failed === 0 ? 0 : 1;
