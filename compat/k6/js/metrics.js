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

const metricOf = (kind) =>
  class extends Metric {
    constructor(name, isTime) {
      super(kind, name, isTime);
    }
  };

export const Counter = metricOf('counter');
export const Gauge = metricOf('gauge');
export const Rate = metricOf('rate');
export const Trend = metricOf('trend');

export default { Counter, Gauge, Rate, Trend };
