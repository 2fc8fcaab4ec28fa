const native = globalThis.__brunt;

const from = (names) => Object.defineProperties({}, Object.fromEntries(Object.entries(names).map(([name, get]) => [name, { get, enumerable: true }])));
const number = (name) => () => native.number(name);
const text = (name) => () => native.text(name);

export const scenario = from({
  name: text('scenario'),
  executor: text('executor'),
  startTime: number('startTime'),
  progress: number('progress'),
  iterationInInstance: number('iterationInInstance'),
  iterationInTest: number('iterationInTest'),
});

export const instance = from({
  vusActive: number('activeUsers'),
  vusInitialized: number('users'),
  currentTestRunDuration: number('elapsed'),
  iterationsCompleted: number('iterationsCompleted'),
  iterationsInterrupted: number('iterationsInterrupted'),
});

export const test = {
  abort(message) {
    native.abort(message === undefined ? '' : String(message));
  },
  fail(message) {
    native.markFailed(message === undefined ? '' : String(message));
  },
  get options() {
    return JSON.parse(native.text('options'));
  },
};

const tags = new Proxy(
  {},
  {
    get: (_, name) => (typeof name === 'string' ? native.userTag(name) : undefined),
    set: (_, name, value) => {
      if (!['string', 'number', 'boolean'].includes(typeof value)) throw new TypeError(`tag \`${String(name)}\`: a text, a number or a boolean is needed`);
      native.setUserTag(String(name), String(value));
      return true;
    },
    deleteProperty: (_, name) => native.setUserTag(String(name), null) ?? true,
    has: (_, name) => native.userTag(String(name)) !== undefined,
    ownKeys: () => native.userTags(),
    getOwnPropertyDescriptor: (_, name) => ({ value: native.userTag(String(name)), enumerable: true, configurable: true, writable: true }),
  },
);

export const vu = Object.defineProperties(
  { metrics: { tags, metadata: {} } },
  Object.getOwnPropertyDescriptors(
    from({
      idInTest: number('vu'),
      idInInstance: number('vuInInstance'),
      iterationInScenario: number('iteration'),
      iterationInInstance: number('iteration'),
      tags: () => tags,
    }),
  ),
);

export default { scenario, instance, test, vu };
