// Buckets of a chart: how long they are for a span of time, and where the brush of a reader cuts them.

export type Bucket = number | 'day' | 'week' | 'month'

const lengths = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200]
const days: readonly [Bucket, seconds: number][] = [
  ['day', 86_400],
  ['week', 604_800],
  ['month', 2_592_000],
]

/** The shortest bucket of which a span has at most `max`. */
export function bucketFor(spanS: number, max = 120): Bucket {
  const length = lengths.find((one) => spanS / one <= max)
  return length ?? (days.find(([, seconds]) => spanS / seconds <= max) ?? ['month' as const])[0]
}

const millis = (time: string): number => Date.parse(time)

/** The range of the address that some buckets of a chart cover, first and last included. */
export function rangeOfBuckets(buckets: readonly string[], from: number, to: number, endS: number): string {
  const [first, last] = [Math.min(from, to), Math.max(from, to)]
  const end = buckets[last + 1]
  const iso = (ms: number) => new Date(ms).toISOString().replace('.000Z', 'Z')
  return `${iso(millis(buckets[first] ?? ''))}~${iso(end === undefined ? endS * 1000 : millis(end))}`
}
