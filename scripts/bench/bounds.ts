// Every bound that `npm run bars` holds a figure against. A bound is tightened when its figure improves by more than a
// tenth, and never widened without a line in CHANGELOG.md that says why. Each is the worst of what two cores in quiet came
// to, and a quarter more.

/** A figure may be `most` at the most or `least` at the least, in `unit`. */
export type Bound = { unit: string; most: number } | { unit: string; least: number }

/** Bounds by `<bar>/<figure>`: the bar is the file of test/bars that measures it. */
export const bounds = {
  /** Beyond what the same time without an attack adds. */
  'otlp-hostile/growth': { unit: 'MiB', most: 32 },
  'otlp-hostile/longest-answer': { unit: 'ms', most: 1_000 },

  /** Slow-down of an answer, a read by id and a list beside a busy project; medians. */
  'fairness/acknowledged': { unit: 'x', most: 3.5 },
  'fairness/read': { unit: 'x', most: 6 },
  'fairness/listed': { unit: 'x', most: 7.5 },
  'fairness/longest': { unit: 'ms', most: 1_300 },

  /**
   * Ratios to the frozen reference: CPU of a call of 3.0 KB until it can be read, and calls that can be read each
   * second.
   */
  'ingest/cpu': { unit: 'of the reference', most: 1.75 },
  'ingest/rate': { unit: 'of the reference', least: 0.54 },
  'ingest/visible-p99': { unit: 'ms', most: 850 },

  'memory/resident': { unit: 'MiB', most: 1_180 },

  /** Ratio to the frozen reference, which needs about 1.6 times as much per span as the prototype. */
  'otlp/cpu': { unit: 'of the reference', most: 4.1 },
  /** Per hundred requests of 1.2 MB, of all threads. */
  'otlp/mark-compacts': { unit: 'per 100', most: 8 },
  'otlp/rate': { unit: 'of the reference', least: 0.32 },

  /** An empty server until the page shows; the first call until its trace shows by itself, which is looked for every 2 s. */
  'page-first-trace/started': { unit: 'ms', most: 11_000 },
  'page-first-trace/shown': { unit: 'ms', most: 3_200 },

  /** 15,000 calls a second are asked for; statistics and field index are to be 5 and 30 s behind at most. */
  'sustained/rate': { unit: 'calls/s', least: 14_500 },
  'sustained/counters-lag': { unit: 's', most: 15 },
  'sustained/trace-parts-lag': { unit: 's', most: 50 },
  'sustained/field-index-lag': { unit: 's', most: 20 },

  /** An upload of 64 MiB in parts, two at a time, with the server that takes them. */
  'blobs/parts': { unit: 'MiB', most: 40 },

  /** The longest that the event loop is held, in time of its processor; least of three. */
  'event-loop/description': { unit: 'ms', most: 22 },
  'event-loop/routes': { unit: 'ms', most: 50 },
  'event-loop/bodies': { unit: 'ms', most: 14 },
  'event-loop/grpc': { unit: 'ms', most: 25 },
  'event-loop/bursts': { unit: 'ms', most: 40 },
  'event-loop/batches': { unit: 'ms', most: 38 },
  'event-loop/scorers': { unit: 'ms', most: 44 },
  'event-loop/reads': { unit: 'ms', most: 40 },
  'event-loop-work/completions': { unit: 'ms', most: 50 },
  'event-loop-work/streams': { unit: 'ms', most: 44 },
  'event-loop-work/images': { unit: 'ms', most: 14 },
  'event-loop-work/models': { unit: 'ms', most: 12 },
  'event-loop-work/evaluation': { unit: 'ms', most: 22 },

  /**
   * CPU of ten times as much text, and of 200 KB of what a detector or the colours of code look for. Work that grows with
   * the text comes to 10 and what larger memory costs; work that grows with its square comes to 100.
   */
  'hostile-text/growth': { unit: 'x', most: 14 },
  'hostile-text/detector': { unit: 'ms', most: 320 },
  'hostile-text/code': { unit: 'ms', most: 40 },
} as const satisfies Record<`${string}/${string}`, Bound>

export type BarFigure = keyof typeof bounds
