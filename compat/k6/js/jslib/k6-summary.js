// The exports of https://jslib.k6.io/k6-summary, by their documentation.
const native = globalThis.__brunt;

export function textSummary(data, { indent = '', enableColors = false } = {}) {
  return native.textSummary(JSON.stringify(data), String(indent), Boolean(enableColors));
}

export function humanizeValue(value, metric, timeUnit) {
  return native.humanize(Number(value), metric.type, metric.contains, timeUnit ?? '');
}

const escaped = (text) => String(text).replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;').replace(/'/g, '&apos;');

export function jUnit(data, { name = 'k6 thresholds', classname = 'Unnamed folder' } = {}) {
  const cases = Object.entries(data.metrics).flatMap(([metric, { thresholds }]) =>
    Object.entries(thresholds ?? {}).map(([text, { ok }]) => {
      const title = `name="${escaped(`${metric} - ${text}`)}" classname="${escaped(classname)}"`;
      return { ok, text: ok ? `<testcase ${title} />` : `<testcase ${title}><failure message="failed" /></testcase>` };
    }),
  );
  const failures = cases.filter(({ ok }) => !ok).length;
  return `<?xml version="1.0"?>\n<testsuites tests="${cases.length}" failures="${failures}">\n<testsuite name="${escaped(name)}" tests="${cases.length}" failures="${failures}">\n${cases.map(({ text }) => text).join('\n')}\n</testsuite >\n</testsuites >`;
}
