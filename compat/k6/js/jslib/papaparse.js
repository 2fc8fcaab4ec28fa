// parse() and unparse() of papaparse, by its documentation: without streams, workers and downloads.

const rows = (text, delimiter, quote, newline) => {
  const all = [];
  let row = [];
  let cell = '';
  let i = 0;
  const end = () => {
    row.push(cell);
    cell = '';
  };
  while (i < text.length) {
    if (text[i] === quote && cell === '') {
      i += 1;
      for (;;) {
        const close = text.indexOf(quote, i);
        if (close < 0) {
          cell += text.slice(i);
          i = text.length;
          break;
        }
        cell += text.slice(i, close);
        i = close + 1;
        if (text[i] !== quote) break;
        cell += quote;
        i += 1;
      }
    } else if (text.startsWith(delimiter, i)) {
      end();
      i += delimiter.length;
    } else if (text.startsWith(newline, i)) {
      end();
      all.push(row);
      row = [];
      i += newline.length;
    } else {
      cell += text[i];
      i += 1;
    }
  }
  end();
  return [...all, row];
};

const typed = (cell) => {
  if (cell === 'true' || cell === 'TRUE') return true;
  if (cell === 'false' || cell === 'FALSE') return false;
  return /^\s*-?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*$/i.test(cell) ? Number(cell) : cell;
};

const likelyDelimiter = (text) => {
  const [line] = text.split(/\r?\n/, 1);
  const counts = [',', '\t', '|', ';'].map((delimiter) => [line.split(delimiter).length, delimiter]);
  return counts.reduce((best, one) => (one[0] > best[0] ? one : best))[1];
};

function parse(input, settings = {}) {
  if (typeof input !== 'string') throw new TypeError('papaparse.parse(): only texts are supported; pass the text of open()');
  const text = input.replace(/^\ufeff/, '');
  const newline = settings.newline || (text.includes('\r\n') ? '\r\n' : text.includes('\n') ? '\n' : '\r');
  const delimiter = settings.delimiter || likelyDelimiter(text);
  let lines = text === '' ? [] : rows(text, delimiter, settings.quoteChar ?? '"', newline);
  if (settings.comments) lines = lines.filter(([first]) => !first.startsWith(settings.comments === true ? '#' : settings.comments));
  if (settings.skipEmptyLines) {
    const isEmpty = (row) => (settings.skipEmptyLines === 'greedy' ? row.every((cell) => cell.trim() === '') : row.length === 1 && row[0] === '');
    lines = lines.filter((row) => !isEmpty(row));
  }
  const errors = [];
  const meta = { delimiter, linebreak: newline, aborted: false, truncated: false, cursor: input.length };
  const value = (cell, name) => {
    const wants = typeof settings.dynamicTyping === 'object' ? settings.dynamicTyping[name] : settings.dynamicTyping;
    const changed = settings.transform ? settings.transform(cell, name) : cell;
    return wants ? typed(changed) : changed;
  };
  let data;
  if (settings.header) {
    const [first = [], ...rest] = lines;
    const names = settings.transformHeader ? first.map((name, i) => settings.transformHeader(name, i)) : first;
    meta.fields = names;
    data = rest.map((row, number) => {
      const record = {};
      row.forEach((cell, i) => {
        if (i < names.length) record[names[i]] = value(cell, names[i]);
        else (record.__parsed_extra ??= []).push(value(cell, i));
      });
      if (row.length !== names.length) {
        const code = row.length < names.length ? 'TooFewFields' : 'TooManyFields';
        errors.push({ type: 'FieldMismatch', code, message: `${code}: expected ${names.length} fields but parsed ${row.length}`, row: number });
      }
      return record;
    });
  } else data = lines.map((row) => row.map(value));
  if (settings.preview > 0) data = data.slice(0, settings.preview);
  return { data, errors, meta };
}

function unparse(input, settings = {}) {
  const delimiter = settings.delimiter ?? ',';
  const list = typeof input === 'string' ? JSON.parse(input) : input;
  const fields = list.fields ?? (Array.isArray(list[0]) || list.length === 0 ? null : Object.keys(list[0]));
  const data = (list.data ?? list).map((row) => (Array.isArray(row) ? row : fields.map((name) => row[name])));
  const cellText = (cell) => {
    const text = cell === null || cell === undefined ? '' : String(cell);
    const mustQuote = settings.quotes === true || text.includes(delimiter) || /["\r\n]/.test(text) || /^ | $/.test(text);
    return mustQuote ? `"${text.replace(/"/g, '""')}"` : text;
  };
  const lines = fields && settings.header !== false ? [fields, ...data] : data;
  return lines.map((row) => row.map(cellText).join(delimiter)).join(settings.newline ?? '\r\n');
}

const papaparse = { parse, unparse };
export { parse, unparse };
export default papaparse;
