// Makes metrics in a registry, each in a line: its name, what it tells, and the names of its labels.
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

export function metricsIn(registry: Registry) {
  const registers = [registry]

  /** A gauge that is set whenever somebody looks. */
  function looked<Label extends string = never>(
    name: string,
    help: string,
    set: (gauge: Gauge<Label>) => void | Promise<void>,
    ...labelNames: Label[]
  ): void {
    new Gauge({
      name,
      help,
      labelNames,
      registers,
      collect() {
        return set(this)
      },
    })
  }

  return {
    looked,
    counter: <Label extends string = never>(name: string, help: string, ...labelNames: Label[]): Counter<Label> =>
      new Counter({ name, help, labelNames, registers }),
    gauge: <Label extends string = never>(name: string, help: string, ...labelNames: Label[]): Gauge<Label> =>
      new Gauge({ name, help, labelNames, registers }),
    /** @param buckets upper bounds, as what is observed: seconds */
    histogram: <Label extends string = never>(
      name: string,
      help: string,
      buckets: number[],
      ...labelNames: Label[]
    ): Histogram<Label> => new Histogram({ name, help, labelNames, buckets, registers }),
    /** A gauge without labels whose value is read whenever somebody looks. */
    value: (name: string, help: string, read: () => number): void => looked(name, help, (gauge) => gauge.set(read())),
  }
}
