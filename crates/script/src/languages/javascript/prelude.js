// The objects that scripts see, over the functions of `host`; makes what runs a script. Evaluated once for each engine.
(function (host) {
  "use strict";
  const text = (value) => (value === null || value === undefined ? null : String(value));

  // Time and chance are those of the run.
  const RealDate = Date;
  RealDate.now = host.now;
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, given, as) => Reflect.construct(target, given.length ? given : [host.now()], as),
    apply: () => new RealDate(host.now()).toString(),
  });
  RealDate.prototype.constructor = globalThis.Date;
  Math.random = host.random;
  delete globalThis.performance;

  // Native functions loop without a look at the engine's counter, so that their elements are counted before they run.
  const { apply } = Reflect;
  let elementsSinceCount = 0;
  const charge = (elements) => {
    elementsSinceCount += elements + 4;
    if (elementsSinceCount < 1e4) return;
    const isOver = host.charge(elementsSinceCount);
    elementsSinceCount = 0;
    if (isOver) throw new RangeError("the script used up its operations");
  };
  // An array of more elements than the memory holds has gaps, and each gap is looked up.
  const cost = (list) => {
    const length = list === null || list === undefined ? 0 : Number(list.length) || 0;
    return length > 4e6 ? length : length / 16;
  };
  const costOfAll = (list, given) => {
    let sum = cost(list);
    for (let i = 0; i < given.length; i++) if (typeof given[i] === "object") sum += cost(given[i]);
    return sum;
  };
  const count = (owner, names, elements) => {
    for (const name of names) {
      const native = Object.getOwnPropertyDescriptor(owner, name)?.value;
      if (typeof native !== "function") continue;
      const counted = {
        [name](...given) {
          charge(elements(this, given));
          return apply(native, this, given);
        },
      }[name];
      Object.defineProperty(counted, "length", { value: native.length, configurable: true });
      Object.defineProperty(owner, name, { value: counted, writable: true, configurable: true });
    }
  };
  // Those that visit one element, or that are written below.
  const uncounted = new Set(["constructor", "push", "pop", "at", "keys", "values", "entries", "toString", "flat"]);
  for (const owner of [Array.prototype, Object.getPrototypeOf(Int8Array.prototype)]) {
    count(owner, Object.getOwnPropertyNames(owner).filter((name) => !uncounted.has(name)), costOfAll);
  }
  count(Array, ["from"], costOfAll);
  count(String, ["raw"], (text, [parts]) => Number(parts?.raw?.length) || 0);
  // An array that holds another one twice, which holds another one twice, and so on, is short and endless.
  const append = (flattened, list, depth) => {
    charge(cost(list));
    for (let i = 0; i < list.length; i++) {
      if (!(i in list)) continue;
      if (depth >= 1 && Array.isArray(list[i])) append(flattened, list[i], depth - 1);
      else flattened.push(list[i]);
    }
    return flattened;
  };
  const { flat } = { flat(depth = 1) { return append([], this, Number(depth) || 0); } };
  Object.defineProperty(Array.prototype, "flat", { value: flat, writable: true, configurable: true });
  // The worst text has each of its places compared with all that is looked for.
  count(String.prototype, ["indexOf", "lastIndexOf", "includes", "split", "replace", "replaceAll"], (text, [wanted]) =>
    (text?.length || 0) * (1 / 16 + (typeof wanted === "string" ? wanted.length / 256 : 0)));

  const vars = Object.freeze({
    get: (name) => host.variable(String(name)) ?? null,
    put: (name, value) => host.setVariable(String(name), String(value)),
    remove: (name) => host.removeVariable(String(name)),
  });
  const props = Object.freeze({
    get: (name, otherwise) => host.property(String(name)) ?? text(otherwise),
    getProperty: (name, otherwise) => host.property(String(name)) ?? text(otherwise),
    put: (name, value) => host.setProperty(String(name), String(value)),
    setProperty: (name, value) => host.setProperty(String(name), String(value)),
    remove: (name) => host.removeProperty(String(name)),
  });
  const prev = Object.freeze({
    get status() { return host.status(); },
    get body() { return host.body(); },
    get elapsed() { return host.elapsed(); },
    get url() { return host.url(); },
    get label() { return host.label(); },
    get success() { return host.success(); },
    header: (name) => host.header(String(name)) ?? null,
    getResponseCode: () => String(host.status()),
    getResponseDataAsString: () => host.body(),
    getResponseHeaders: () => host.headers(),
    getResponseMessage: () => host.message(),
    getSampleLabel: () => host.label(),
    getTime: () => host.elapsed(),
    getURL: () => host.url(),
    getUrlAsString: () => host.url(),
    isResponseCodeOK: () => host.status() >= 200 && host.status() < 400,
    isSuccessful: () => host.success(),
    setSuccessful: (success) => host.setSuccess(Boolean(success)),
  });
  const write = (line) => host.log(String(line));
  const log = Object.freeze({ trace: write, debug: write, info: write, warn: write, error: write });
  const out = Object.freeze({ print: write, println: write });
  globalThis.print = (...words) => write(words.join(" "));
  globalThis.OUT = out;
  const ctx = Object.freeze({
    getThreadNum: () => host.user(),
    getVariables: () => vars,
    getPreviousResult: () => (host.hasReply() ? prev : null),
  });
  const assertion = Object.freeze({
    setFailure: (failed) => host.setFailure(Boolean(failed)),
    setFailureMessage: (message) => host.setMessage(String(message)),
  });
  const fail = (message) => {
    host.setFailure(true);
    host.setMessage(text(message) ?? "");
  };
  const stop = (what) => {
    if (!host.stop(String(what))) throw new RangeError("stop takes iteration, round, loop, user or run");
  };

  // The classes of Java that scripts for JMeter use most.
  const number = (read) => (value) => {
    const of = read(String(value).trim());
    if (Number.isNaN(of)) throw new TypeError(`For input string: "${value}"`);
    return of;
  };
  const whole = number((value) => (/^[-+]?[0-9]+$/.test(value) ? Number(value) : NaN));
  const frozen = (classes) => Object.freeze(classes);
  globalThis.java = frozen({
    lang: frozen({
      Double: frozen({ parseDouble: number(Number) }),
      Integer: frozen({ parseInt: whole }),
      Long: frozen({ parseLong: whole }),
      Math,
      System: frozen({ currentTimeMillis: host.now, nanoTime: () => host.now() * 1e6, out }),
    }),
    util: frozen({
      UUID: frozen({ randomUUID: host.uuid }),
    }),
  });

  const known = new Set(Reflect.ownKeys(globalThis));
  return (script) => {
    const reply = host.hasReply() ? prev : null;
    const parameters = host.parameters();
    const args = parameters.split(/\s+/).filter(Boolean);
    try {
      return text(script(vars, props, reply, reply, reply, ctx, log, fail, stop, assertion, host.name(), parameters, args));
    } finally {
      // What a script leaves behind is not for the next one.
      for (const key of Reflect.ownKeys(globalThis)) {
        if (!known.has(key)) delete globalThis[key];
      }
    }
  };
})
