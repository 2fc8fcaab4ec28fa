// Tests the page and the editor in Chinese in a browser: `node test/languages.mjs DIRECTORY [PICTURES]`. DIRECTORY contains the pages
// that the example `made_up` of brunt-report writes. A text in English must come from the data, which the server translates.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { PlanModel, serve } from './structure-server.mjs';

const [directory = '.', pictures] = process.argv.slice(2);
if (pictures) mkdirSync(pictures, { recursive: true });
const executablePath = process.env.CHROMIUM ?? ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync);
const file = (path) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const WIDTHS = [1280, 400];
/** Names and units that are the same in Chinese. */
const NAMES = /\b(brunt|OK|true|false|CPU|YAML|JSON|UTC|MTU|Ctrl|Alt|Delete|Enter|Tab|Esc|p\d+(\.\d+)?|k?B|[MG]B|[mµ]?s|min|[hdkMGENX])\b/g;

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
const complaints = [];

async function open(address, width) {
  const opened = await browser.newPage({ viewport: { width, height: 900 } });
  opened.on('console', (message) => complaints.push(`${message.type()}: ${message.text()}`));
  opened.on('pageerror', (error) => complaints.push(String(error.stack)));
  await opened.goto(address);
  return opened;
}

/** All texts and names of elements, also in shadow roots, without those within elements of `excluded`. */
const textsOf = (opened, excluded) =>
  opened.evaluate((selector) => {
    const found = new Set();
    const visit = (node) => {
      if (node.nodeType === Node.TEXT_NODE) found.add(node.textContent.trim());
      if (node.nodeType === Node.ELEMENT_NODE) {
        if (node.matches(`script, style, noscript, ${selector}`)) return;
        for (const name of ['title', 'aria-label', 'aria-roledescription', 'placeholder', 'label', 'alt']) found.add(node.getAttribute(name) ?? '');
      }
      if (node.shadowRoot) visit(node.shadowRoot);
      node.childNodes.forEach(visit);
    };
    visit(document.documentElement);
    return [...found].filter(Boolean);
  }, excluded);

/** Texts with English words that are not in the data. A text with Chinese words may contain names. */
function englishTexts(texts, { values, keys }) {
  const parts = [...values].filter((value) => /[A-Za-z]{2}/.test(value)).sort((a, b) => b.length - a.length);
  const rest = (text) => parts.reduce((left, part) => left.replaceAll(part, ''), text).replace(NAMES, '');
  return texts.filter((text) => !keys.has(text) && !values.has(text) && !/\p{Script=Han}/u.test(text) && /[A-Za-z]{2}/.test(rest(text)));
}

/** Strings of data: values, and names of keys, of which some are names of readings. */
function stringsOf(data) {
  const values = new Set();
  const keys = new Set();
  const visit = (value) => {
    // A description has an element of its own for each `code`.
    if (typeof value === 'string') [value, ...value.split('`')].forEach((part) => values.add(part.trim()));
    else if (typeof value === 'object' && value !== null) Object.entries(value).forEach(([key, item]) => (keys.add(key), visit(item)));
  };
  visit(data);
  return { values, keys };
}

/** Labels that do not fit into their elements, and elements that are wider than the page. */
const cutLabels = (opened) =>
  opened.evaluate(() => {
    const labels = [...document.querySelectorAll('button, summary, label, th, h1, h2, h3, h4, .hint')].filter((element) => element.checkVisibility());
    const cut = labels.filter(({ scrollWidth, clientWidth }) => clientWidth > 0 && scrollWidth > clientWidth + 1).map(({ textContent }) => textContent);
    const { scrollWidth, clientWidth } = document.documentElement;
    return scrollWidth > clientWidth ? [...cut, `the page: ${scrollWidth} px`] : cut;
  });

const shoot = async (opened, name) => pictures && opened.screenshot({ path: join(pictures, `zh-${name}.png`), fullPage: true });

/** The data in a page. */
const dataOf = async (opened) =>
  (await opened.locator('script[type="application/json"]').allTextContents()).map((content) => JSON.parse(content));

async function checkPages() {
  const folder = mkdtempSync(join(tmpdir(), 'brunt-languages-'));
  try {
    for (const [name, texts] of Object.entries({
      study: ['诊断结果', '极限', '吞吐量', '对比对象', '生成器受限', '上一次', '重置缩放', '许可证'],
      run: ['响应时间', '随时间变化', '测量时间', '图表范围', '环境'],
      dashboard: ['概要', '文字说明与数据表', '7月1日'],
    })) {
      const html = readFileSync(join(directory, `${name}.html`), 'utf8').replace('<html lang="en">', '<html lang="zh">');
      writeFileSync(join(folder, `${name}.html`), html);
      for (const width of WIDTHS) {
        const opened = await open(pathToFileURL(join(folder, `${name}.html`)).href, width);
        await opened.locator('#page main').waitFor();
        await opened.evaluate(() => document.querySelectorAll('details').forEach((details) => (details.open = true)));
        await opened.locator('.as-table tbody tr').first().waitFor();
        const stage = opened.locator('.stage').first();
        await stage.focus();
        await opened.keyboard.press('ArrowRight');
        const shown = await textsOf(opened, '#overview, #licences pre, #plan pre');
        for (const text of texts) assert.ok(shown.some((line) => line.includes(text)), `${name}: ${text}`);
        assert.deepEqual(englishTexts(shown, stringsOf(await dataOf(opened))), [], name);
        assert.deepEqual(await cutLabels(opened), [], `${name}, ${width} px`);
        await opened.evaluate(() => document.querySelectorAll('details').forEach((details) => (details.open = false)));
        await shoot(opened, `${name}-${width}`);
        await opened.close();
      }
    }
    const page = await browser.newPage({ javaScriptEnabled: false });
    for (const [lang, hint] of [['zh', '脚本已禁用'], ['zh-CN', '脚本已禁用'], ['en', 'Scripts are off']]) {
      const html = readFileSync(join(directory, 'study.html'), 'utf8').replace('<html lang="en">', `<html lang="${lang}">`);
      writeFileSync(join(folder, 'plain.html'), html);
      await page.goto(pathToFileURL(join(folder, 'plain.html')).href);
      assert.match(await page.locator('noscript').innerText(), new RegExp(`^${hint}[^\n]*$`));
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const PLAN = 'step browse rate=500 body=a%0Ab\n  step login method=POST\n  step search\ndata users\nstep buy\n';

async function checkEditor() {
  const script = process.env.EDITOR_JS ? readFileSync(process.env.EDITOR_JS, 'utf8') : file('crates/web/src/editor.js');
  const styles = ['web-ui/src/style.css', 'crates/web/src/studio.css', 'crates/web/src/structure.css'].map(file).join('');
  const model = new PlanModel();
  const server = await serve({ reply: (name, form) => model.reply(name, form) }, () => PLAN, script, styles);
  try {
    for (const width of WIDTHS) await checkEditorAt(`http://127.0.0.1:${server.address().port}/zh`, model, width);
  } finally {
    server.close();
  }
}

async function checkEditorAt(address, model, width) {
  const opened = await open(address, width);
  const item = (title) => opened.locator('[role=treeitem]', { hasText: title }).first();
  const shown = new Set();
  const look = async (...texts) => {
    const all = await textsOf(opened, '.cm-content, textarea, .plan-row, header, h1, #problems, .filter');
    for (const text of all) shown.add(text);
    for (const text of texts) assert.ok(all.some((line) => line.includes(text)), text);
    assert.deepEqual(await cutLabels(opened), [], `editor, ${width} px`);
  };
  await item('browse').click();
  await opened.locator('.plan-heading h2', { hasText: 'browse' }).waitFor();
  await opened.locator('.further summary').click();
  await look('添加…', '上移（Alt+↑）', '其他 55 项设置', '筛选设置', '必填', '默认值：10', '每行一个值');
  await look('Tab 缩进', '负载', '展开', 'users，时长 10 min：0 至 50');
  await shoot(opened, `editor-${width}`);
  await item('browse').click();
  await opened.keyboard.press('+');
  await opened.locator('.plan-add').waitFor();
  await look('添加元素', '筛选元素种类');
  await shoot(opened, `editor-add-${width}`);
  await opened.keyboard.press('Escape');
  await opened.keyboard.press('Control+c');
  await look('已复制 1 个元素');
  await opened.keyboard.press('Control+a');
  await look('已选择 3 个元素。');
  await opened.keyboard.press('Control+f');
  await opened.locator('.cm-search').waitFor();
  await look('查找', '替换', '区分大小写', '正则表达式', '关闭');
  await shoot(opened, `editor-search-${width}`);
  await opened.locator('.cm-content').click();
  await opened.keyboard.press('Control+Home');
  await opened.keyboard.type('error\n');
  await opened.locator('.plan-outdated:visible').waitFor();
  await look('文本有错误；元素树显示的是最近一个可解析的版本。');
  const forms = ['', '/step[0]', '/step[0]/step[0]', '/step[1]'].map((path) => model.fields(PLAN, path));
  const data = stringsOf([forms, model.check(PLAN), 'Edit', 'Plan']);
  assert.deepEqual(englishTexts([...shown], data), [], `editor, ${width} px`);
  await opened.close();
}

try {
  await checkPages();
  await checkEditor();
  assert.deepEqual(complaints, []);
  console.log('the page and the editor are Chinese where the document is');
} finally {
  await browser.close();
}
