// Builds one HTML file with scripts and styles, in the folder from which the crate `report` includes it.

import { readFileSync } from 'node:fs';
import { defineConfig, type Plugin } from 'vite';

/** Bundled packages; the page contains their licenses. */
const BUNDLED = ['uplot'];

const licences = (): string =>
  BUNDLED.map((name) => {
    const of = (file: string) => readFileSync(new URL(`./node_modules/${name}/${file}`, import.meta.url), 'utf8');
    const { version, license } = JSON.parse(of('package.json')) as { version: string; license: string };
    return `${name} ${version}, ${license}\n\n${of('LICENSE').trim()}\n`;
  }).join('\n');

/** A script within a page ends at the first `</script`. */
const safe = (code: string): string => code.replace(/<\/(script)/gi, '<\\/$1').replace(/<!--/g, '<\\!--');

/** Embeds scripts and styles in the page, the script at its end, after the data. */
const oneFile = (): Plugin => ({
  name: 'one-file',
  enforce: 'post',
  generateBundle(_options, bundle) {
    const page = bundle['index.html'];
    if (page?.type !== 'asset') throw new Error('vite made no index.html');
    let html = String(page.source).replace(/\s*<(script|link)\b[^>]*(src|href)="\/[^>]*>(<\/script>)?/g, '');
    for (const [file, part] of Object.entries(bundle)) {
      if (part === page) continue;
      const into: [string, string] =
        part.type === 'chunk'
          ? ['</body>', `<script type="module">${safe(part.code.trim())}</script>\n  </body>`]
          : ['</head>', `  <style>${String(part.source).trim()}</style>\n  </head>`];
      html = html.replace(into[0], () => into[1]);
      delete bundle[file];
    }
    html = html.replace('</head>', () => `  <script type="text/plain" id="licences">\n${licences()}</script>\n  </head>`);
    page.source = html;
    page.fileName = 'page.html';
  },
});

export default defineConfig({
  plugins: [oneFile()],
  build: {
    outDir: '../crates/report/src/html',
    emptyOutDir: false,
    target: 'es2022',
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
});
