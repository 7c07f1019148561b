// Figures of a server as `/metrics` tells them: lines of a name, labels and a number.

type Sample = { labels: Readonly<Record<string, string>>; value: number }
/** By name; names that are not there have no samples. */
export type Metrics = ReadonlyMap<string, readonly Sample[]>

const line = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)(?: \d+)?$/
const label = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g
const escapes: Record<string, string> = { '\\n': '\n', '\\"': '"', '\\\\': '\\' }

export function parseMetrics(text: string): Metrics {
  const all = new Map<string, Sample[]>()
  for (const one of text.split('\n')) {
    const found = one.startsWith('#') ? null : line.exec(one)
    if (found === null) continue
    const [, name = '', inside = '', value = ''] = found
    const labels = Object.fromEntries(
      [...inside.matchAll(label)].map(([, key = '', quoted = '']) => [
        key,
        quoted.replaceAll(/\\[n"\\]/g, (pair) => escapes[pair] ?? pair),
      ]),
    )
    const samples = all.get(name) ?? []
    samples.push({ labels, value: value === '+Inf' ? Number.POSITIVE_INFINITY : Number(value) })
    all.set(name, samples)
  }
  return all
}

const fits = ({ labels }: Sample, wanted: Readonly<Record<string, string>>): boolean =>
  Object.entries(wanted).every(([name, value]) => labels[name] === value)

/** The sum of the samples with these labels; undefined where there is none. */
export function sumOf(
  metrics: Metrics,
  name: string,
  wanted: Readonly<Record<string, string>> = {},
): number | undefined {
  const found = (metrics.get(name) ?? []).filter((sample) => fits(sample, wanted))
  return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0)
}

/** Values that a label has, in their order. */
export const labelsOf = (metrics: Metrics, name: string, label_: string): string[] => [
  ...new Set((metrics.get(name) ?? []).flatMap(({ labels }) => labels[label_] ?? [])),
]

/** The bound under which so large a share of a histogram lies: infinite above its last one, undefined without values. */
export function boundOf(
  metrics: Metrics,
  name: string,
  share: number,
  wanted: Readonly<Record<string, string>> = {},
): number | undefined {
  const counts = new Map<number, number>()
  for (const sample of metrics.get(`${name}_bucket`) ?? []) {
    if (!fits(sample, wanted)) continue
    const { le = '' } = sample.labels
    const bound = le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le)
    counts.set(bound, (counts.get(bound) ?? 0) + sample.value)
  }
  const sorted = [...counts].sort(([a], [b]) => a - b)
  const total = sorted.at(-1)?.[1] ?? 0
  return total === 0 ? undefined : sorted.find(([, count]) => count >= share * total)?.[0]
}
