// Every bound that `npm run bars` holds a figure against. A bound is tightened when its figure improves by more than a
// tenth, and never widened without a line in CHANGELOG.md that says why.

/** A figure may be `most` at the most or `least` at the least, in `unit`. */
export type Bound = { unit: string; most: number } | { unit: string; least: number }

/** By `<bar>/<figure>`: the bar is the file of test/bars that measures it. */
export const bounds = {
  /** Beyond what the same time without an attack adds. */
  'otlp-hostile/growth': { unit: 'MiB', most: 64 },
  'otlp-hostile/longest_answer': { unit: 'ms', most: 5_000 },
} as const satisfies Record<`${string}/${string}`, Bound>

export type Figure = keyof typeof bounds
