const native = globalThis.__brunt;

const refuse = () => {
  throw new TypeError('a SharedArray cannot be changed: all users read it');
};

const frozen = (value) => {
  if (typeof value === 'object' && value !== null) {
    Object.values(value).forEach(frozen);
    Object.freeze(value);
  }
  return value;
};

/** An array that is stored once for all users, outside of their JavaScript. */
export class SharedArray {
  constructor(name, make) {
    native.requireInit('new SharedArray()');
    const key = String(name);
    if (native.sharedLength(key) < 0) {
      const elements = make();
      if (!Array.isArray(elements)) throw new TypeError(`SharedArray \`${key}\`: its function must return an array`);
      native.share(key, elements.map((element) => JSON.stringify(element) ?? 'null'));
    }
    const length = native.sharedLength(key);
    return new Proxy([], {
      get(target, property, receiver) {
        if (property === 'length') return length;
        const index = typeof property === 'string' ? Number(property) : NaN;
        if (!Number.isInteger(index)) return Reflect.get(target, property, receiver);
        return index >= 0 && index < length ? frozen(JSON.parse(native.sharedAt(key, index))) : undefined;
      },
      has: (target, property) => (Number.isInteger(Number(property)) ? Number(property) < length : Reflect.has(target, property)),
      set: refuse,
      defineProperty: refuse,
      deleteProperty: refuse,
    });
  }
}

export default { SharedArray };
