// Globals of a script: what k6 has in addition to ECMAScript. It runs once, before the script's modules.
(() => {
  const native = globalThis.__brunt;
  const hidden = (name, value) => Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });

  const seen = (key, value) => {
    if (typeof value === 'bigint') return `${value}n`;
    return value instanceof Error ? `${value.name}: ${value.message}` : value;
  };
  const text = (value) => {
    if (typeof value === 'string') return value;
    if (value instanceof Error) return value.stack ? `${value.name}: ${value.message}\n${value.stack}` : `${value.name}: ${value.message}`;
    if (typeof value === 'object' && value !== null) {
      try {
        return JSON.stringify(value, seen);
      } catch {
        return String(value);
      }
    }
    return String(value);
  };
  const printer = (level) => (...values) => native.log(level, values.map(text).join(' '));
  hidden('console', {
    log: printer('info'),
    info: printer('info'),
    debug: printer('debug'),
    warn: printer('warning'),
    error: printer('error'),
  });

  hidden('__ENV', native.env());
  hidden('open', (path, mode) => native.open(String(path), mode === 'b'));
  Object.defineProperty(globalThis, '__VU', { get: () => native.number('vu'), configurable: true });
  Object.defineProperty(globalThis, '__ITER', { get: () => native.number('iteration'), configurable: true });

  // Timers: their list, and the functions that the event loop of an iteration calls.
  let timers = [];
  let lastTimer = 0;
  const add = (action, delay, interval, values) => {
    if (typeof action !== 'function') throw new TypeError('a timer needs a function');
    lastTimer += 1;
    const wait = Math.max(0, Number(delay) || 0);
    timers.push({ id: lastTimer, due: native.now() + wait, interval: interval ? Math.max(1, wait) : 0, action, values });
    return lastTimer;
  };
  const remove = (id) => {
    timers = timers.filter((timer) => timer.id !== id);
  };
  hidden('setTimeout', (action, delay, ...values) => add(action, delay, false, values));
  hidden('setInterval', (action, delay, ...values) => add(action, delay, true, values));
  hidden('clearTimeout', remove);
  hidden('clearInterval', remove);
  native.timers = {
    // Milliseconds until the next timer; below 0 without timers.
    next: () => (timers.length ? Math.max(0, Math.min(...timers.map(({ due }) => due)) - native.now()) : -1),
    fire: () => {
      const now = native.now();
      const [timer] = timers.filter(({ due }) => due <= now).sort((a, b) => a.due - b.due || a.id - b.id);
      if (!timer) return;
      if (timer.interval) timer.due = now + timer.interval;
      else remove(timer.id);
      timer.action(...timer.values);
    },
    clear: () => {
      timers = [];
    },
  };

  // The bytes of a buffer as a text with a character each: the only safe way to read them from outside of JavaScript.
  native.characters = (buffer) => {
    const bytes = new Uint8Array(buffer.buffer ?? buffer, buffer.byteOffset ?? 0, buffer.byteLength);
    let characters = '';
    for (let i = 0; i < bytes.length; i += 8192) characters += String.fromCharCode.apply(null, bytes.subarray(i, i + 8192));
    return characters;
  };

  const random = (count) => new Uint8Array(native.randomBytes(count));
  hidden('crypto', {
    getRandomValues: (array) => {
      new Uint8Array(array.buffer, array.byteOffset, array.byteLength).set(random(array.byteLength));
      return array;
    },
    randomUUID: () => {
      const bytes = random(16);
      bytes[6] = (bytes[6] & 0x0f) | 0x40;
      bytes[8] = (bytes[8] & 0x3f) | 0x80;
      const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
      return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
    },
  });
})();
