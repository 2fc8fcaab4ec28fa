const native = globalThis.__brunt;

const inIteration = (name) => native.requireIteration(name);

export function sleep(seconds) {
  inIteration('sleep()');
  native.sleep(Number(seconds));
}

export function fail(message) {
  throw new Error(message === undefined ? '' : String(message));
}

const isPromise = (value) => typeof value === 'object' && value !== null && typeof value.then === 'function';

export function group(name, body) {
  inIteration('group()');
  if (typeof body !== 'function') throw new TypeError('group() needs a name and a function');
  native.beginGroup(String(name));
  try {
    const value = body();
    if (isPromise(value)) throw new TypeError('group() takes no async function; call group() within the async function instead');
    return value;
  } finally {
    native.endGroup();
  }
}

export function check(value, sets, tags) {
  inIteration('check()');
  if (sets === null || typeof sets !== 'object') throw new TypeError('check() needs a value and an object of named checks');
  let allPass = true;
  for (const [name, test] of Object.entries(sets)) {
    let passes = false;
    try {
      const result = typeof test === 'function' ? test(value) : test;
      if (isPromise(result)) throw new TypeError(`check \`${name}\` is async; await its value before check()`);
      passes = Boolean(result);
    } finally {
      native.check(name, passes, tags);
    }
    allPass &&= passes;
  }
  return allPass;
}

export function randomSeed(seed) {
  // A linear congruential generator with 2^48 states.
  let state = BigInt.asUintN(48, BigInt(Math.trunc(Number(seed))) ^ 0x5deece66dn);
  Math.random = () => {
    state = BigInt.asUintN(48, state * 0x5deece66dn + 11n);
    return Number(state) / 2 ** 48;
  };
}

export default { sleep, fail, group, check, randomSeed };
