import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { type LabelOf, metricCatalogue, type MetricName, type NameOf } from "./catalogue.js";

/** Creates the metrics of the catalogue, which alone has their names, labels and help texts. */
export class DeclaredMetrics {
  readonly #registry: Registry;

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  counter<Name extends NameOf<"counter">>(name: Name): Counter<LabelOf<Name>> {
    return new Counter<LabelOf<Name>>(this.#configuration(name));
  }

  gauge<Name extends NameOf<"gauge">>(name: Name): Gauge<LabelOf<Name>> {
    return new Gauge<LabelOf<Name>>(this.#configuration(name));
  }

  histogram<Name extends NameOf<"histogram">>(name: Name): Histogram<LabelOf<Name>> {
    const { buckets = [] } = metricCatalogue[name];
    return new Histogram<LabelOf<Name>>({ ...this.#configuration(name), buckets: [...buckets] });
  }

  /** A gauge that `set` updates at each scrape. */
  watch<Name extends NameOf<"gauge">>(name: Name, set: (gauge: Gauge<LabelOf<Name>>) => void): void {
    const gauge = new Gauge<LabelOf<Name>>({
      ...this.#configuration(name),
      registers: [],
      collect() {
        set(this);
      },
    });
    this.#registry.registerMetric(gauge);
  }

  /** A counter whose `total` is kept elsewhere and read at each scrape. */
  follow(name: NameOf<"counter">, total: () => number): void {
    let last = 0;
    const counter = new Counter({
      ...this.#configuration(name),
      registers: [],
      collect() {
        const now = total();
        this.inc(now - last);
        last = now;
      },
    });
    this.#registry.registerMetric(counter);
  }

  #configuration<Name extends MetricName>(name: Name) {
    const { help, labels } = metricCatalogue[name];
    return { name, help, labelNames: labels as readonly LabelOf<Name>[], registers: [this.#registry] };
  }
}
