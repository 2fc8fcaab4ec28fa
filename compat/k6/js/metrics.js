const native = globalThis.__brunt;

class Metric {
  #id;

  constructor(kind, name, isTime) {
    this.#id = native.declareMetric(kind, String(name), Boolean(isTime));
    this.name = String(name);
  }

  add(value, tags) {
    const number = typeof value === 'boolean' ? Number(value) : Number(value ?? NaN);
    if (Number.isNaN(number)) {
      native.log('warning', `${this.name}.add(): ${String(value)} is no number; it was not added`);
      return false;
    }
    native.record(this.#id, number, tags);
    return true;
  }
}

export class Counter extends Metric {
  constructor(name, isTime) {
    super('counter', name, isTime);
  }
}

export class Gauge extends Metric {
  constructor(name, isTime) {
    super('gauge', name, isTime);
  }
}

export class Rate extends Metric {
  constructor(name, isTime) {
    super('rate', name, isTime);
  }
}

export class Trend extends Metric {
  constructor(name, isTime) {
    super('trend', name, isTime);
  }
}

export default { Counter, Gauge, Rate, Trend };
