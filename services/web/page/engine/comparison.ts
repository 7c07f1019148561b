// Up to five evaluation runs side by side: rows matched by their examples, changes against the first run, worst first.
import { isSameMean, type RunRow, scoreNames } from './evaluation-rows.ts'
import { plural } from './format.ts'

/** The results of one run for one example: its trials combined. */
export type ComparedCell = {
  id: string
  traceId: string
  output: string
  error: string | null
  latencyMs: number | null
  trials: number
  /** Scores by metric, in the order of the comparison's metrics; null = not scored. */
  scores: (number | null)[]
  /** Largest less smallest score over the trials. */
  spread: (number | null)[]
  reasons: [name: string, text: string][]
}

const verdicts = ['regressed', 'error', 'improved', 'unscored', 'same', 'partly'] as const
/** The verdict on a row: unscored = a run has no score to compare, partly = some runs do not have the row. */
export type Verdict = (typeof verdicts)[number]

export type ComparedRow = {
  key: string
  number: number
  exampleRef: string | null
  input: string
  expected: string
  /** Cells by run. */
  cells: (ComparedCell | null)[]
  verdict: Verdict
  /** The worst change of a candidate, as a share of the metric's range; below 0 = worse. */
  worst: number
  differs: boolean
}

/** A metric in one run, and its changes against the first run in the rows that both have. */
export type MetricHead = {
  /** Rows that failed without a score count as 0. */
  mean: number | null
  /** Rows that count in the mean. */
  count: number
  /** Rows of the run, those with a score, and the mean of these. */
  rows: number
  scored: number
  meanScored: number | null
  change: {
    mean: number
    /** 95 % of the mean change; null with too few rows. */
    interval: readonly [low: number, high: number] | null
    pairs: number
    /** Rows with a score in both runs. */
    better: number
    worse: number
    same: number
    /** Path in a square of `scatterSide`: for each row a point, the first run's score to the right, the other's up. */
    points: string
  } | null
}

export type Comparison = {
  metrics: string[]
  /** Heads by metric, then by run. */
  heads: MetricHead[][]
  latency: (number | null)[]
  errors: number[]
  rows: ComparedRow[]
}

const meanOf = (values: readonly number[]): number | null =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length

/** Quantile 0.975 of Student's t for few degrees of freedom, from tables. */
const fewFreedoms = [12.706, 4.303, 3.182, 2.776]

/** Quantile 0.975 of Student's t; from five degrees on by the expansion of Abramowitz and Stegun 26.7.5. */
export function tQuantile(freedom: number): number {
  const known = fewFreedoms[freedom - 1]
  if (known !== undefined) return known
  const z = 1.959964
  const terms = [
    z,
    (z ** 3 + z) / 4,
    (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96,
    (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384,
  ]
  return terms.reduce((sum, term, power) => sum + term / freedom ** power, 0)
}

function cellOf(trials: readonly RunRow[], metrics: readonly string[]): ComparedCell {
  const [first] = trials as [RunRow]
  const scores: (number | null)[] = []
  const spread: (number | null)[] = []
  for (const name of metrics) {
    const values: number[] = []
    for (const trial of trials) {
      const score = trial.scores.get(name)
      if (score !== undefined) values.push(Number(score))
    }
    scores.push(meanOf(values))
    spread.push(values.length === 0 ? null : Math.max(...values) - Math.min(...values))
  }
  return {
    id: first.id,
    traceId: first.traceId,
    output: first.output,
    trials: trials.length,
    reasons: first.reasons,
    error: trials.find(({ error }) => error !== null)?.error ?? null,
    latencyMs: meanOf(trials.flatMap(({ latencyMs }) => latencyMs ?? [])),
    scores,
    spread,
  }
}

export const scatterSide = 96
const margin = 4
/** More than a square has tenths from side to side. */
const placesApart = 10 * scatterSide + 1

function pointsOf(pairs: readonly (readonly [before: number, now: number])[]): string {
  let low = Number.POSITIVE_INFINITY
  let high = Number.NEGATIVE_INFINITY
  for (const pair of pairs)
    for (const value of pair) {
      low = Math.min(low, value)
      high = Math.max(high, value)
    }
  const tenths = (value: number): number =>
    Math.round(10 * (margin + (high === low ? 0.5 : (value - low) / (high - low)) * (scatterSide - 2 * margin)))
  const places = new Set<number>()
  for (const [before, now] of pairs) places.add(tenths(before) * placesApart + tenths(low + high - now))
  const shown = (tenth: number): string => (tenth / 10).toFixed(1)
  let path = ''
  for (const place of places) path += `M${shown(Math.floor(place / placesApart))} ${shown(place % placesApart)}h0`
  return path
}

/** Rows below which no interval is told. */
export const leastPairs = 5

/** Changes of scores that are all within 0 and 1 leave that range no more than the scores. */
function intervalOf(pairs: readonly (readonly [before: number, now: number])[], mean: number) {
  if (pairs.length < leastPairs) return null
  const squares = pairs.reduce((sum, [before, now]) => sum + (now - before - mean) ** 2, 0)
  const half = tQuantile(pairs.length - 1) * Math.sqrt(squares / (pairs.length - 1) / pairs.length)
  const isShare = pairs.flat().every((value) => value >= 0 && value <= 1)
  const before = pairs.reduce((sum, [first]) => sum + first, 0) / pairs.length
  const [least, most] = isShare ? [-before, 1 - before] : [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]
  return [Math.max(least, mean - half), Math.min(most, mean + half)] as const
}

/** @property why the reason why there is no interval */
export type ShownChange = { value: number; interval: readonly [number, number] | null; why: string | undefined }

/**
 * The change of a metric: the difference of the means that are shown. Its interval is that of the rows that both runs
 * have, where these rows make the same difference.
 */
export function changeOf(
  { change, count: rows }: Pick<MetricHead, 'change' | 'count'>,
  before: number | null,
  now: number | null,
): ShownChange | undefined {
  if (before === null || now === null) return undefined
  const value = now - before
  const told = (why: string): ShownChange => ({ value, interval: null, why })
  if (change === null) return told('no row in both')
  if (change.interval === null) return told('too few rows')
  const tolerance = 1e-6 * Math.max(1, Math.abs(before), Math.abs(now))
  if (Math.abs(change.mean - value) > tolerance)
    // A run may leave rows that failed out of its mean.
    return told(change.pairs < rows ? `only ${change.pairs} rows in both` : 'the runs leave out different rows')
  return { value, interval: change.interval, why: undefined }
}

/** Tells over which rows of a run the mean that is shown is: those with a score, or those that failed as well, as 0. */
export function rowsText({ rows, count, scored, mean, meanScored }: MetricHead, shown: number | null): string {
  const all = plural(rows, 'row')
  if (scored === rows) return all
  const isOf = (value: number | null): boolean => value !== null && shown !== null && isSameMean(value, shown)
  const countFailed = isOf(mean) && !isOf(meanScored)
  return `${scored} of ${all} scored${countFailed ? `, ${count - scored} failed as 0` : ''}`
}

/** The scores of a metric in one run by row; null = it has none. */
type RunScores = {
  /** Rows that the run has. */
  rows: number
  scores: readonly (number | null)[]
  /** The same, with 0 for rows that failed. */
  counted: readonly (number | null)[]
}

const scoresIn = (values: readonly (number | null)[]): number[] => values.filter((value) => value !== null)

const pairsOf = (before: readonly (number | null)[], now: readonly (number | null)[]) =>
  now.flatMap((value, row): [number, number][] => {
    const first = before[row] ?? null
    return value === null || first === null ? [] : [[first, value]]
  })

function headOf(before: RunScores, now: RunScores, sign: number): MetricHead {
  const [scores, all] = [scoresIn(now.scores), scoresIn(now.counted)]
  const counts = { rows: now.rows, count: all.length, scored: scores.length }
  const means = { mean: meanOf(all), meanScored: meanOf(scores) }
  const pairs = pairsOf(before.counted, now.counted)
  const mean = meanOf(pairs.map(([first, value]) => value - first))
  if (mean === null) return { ...means, ...counts, change: null }
  const scored = pairsOf(before.scores, now.scores)
  const better = scored.filter(([first, value]) => (value - first) * sign > 0).length
  const worse = scored.filter(([first, value]) => (value - first) * sign < 0).length
  const changes = { pairs: pairs.length, better, worse, same: scored.length - better - worse }
  const change = { mean, interval: intervalOf(pairs, mean), ...changes, points: pointsOf(scored) }
  return { ...means, ...counts, change }
}

/** Largest less smallest value of a metric; 1 where all are the same. */
function rangeOf(rows: readonly { cells: (ComparedCell | null)[] }[], metric: number): number {
  let min = Number.POSITIVE_INFINITY
  let max = Number.NEGATIVE_INFINITY
  for (const { cells } of rows)
    for (const cell of cells) {
      const value = cell?.scores[metric]
      if (value === null || value === undefined) continue
      min = Math.min(min, value)
      max = Math.max(max, value)
    }
  return max > min ? max - min : 1
}

/**
 * Changes of the candidates' scores against the first run, as shares of each metric's range: the worst and the best.
 * `areScored`: each candidate has a score that the first run has, too.
 */
function changesOf(cells: readonly (ComparedCell | null)[], weights: readonly number[]) {
  let worst = 0
  let best = 0
  let areScored = true
  const first = cells[0]?.scores
  for (let run = 1; run < cells.length; run++) {
    const scores = cells[run]?.scores
    let isScored = false
    for (let metric = 0; metric < weights.length; metric++) {
      const weight = weights[metric] ?? 0
      const [before, now] = [first?.[metric], scores?.[metric]]
      if (before === null || before === undefined || now === null || now === undefined || weight === 0) continue
      const change = (now - before) * weight
      worst = Math.min(worst, change)
      best = Math.max(best, change)
      isScored = true
    }
    areScored &&= isScored
  }
  return { worst, best, areScored }
}

type Options = {
  /** Metrics of which less is better. */
  lower?: ReadonlySet<string>
  /** Metrics that decide what is worse; none = all. */
  chosen?: ReadonlySet<string>
}

/** @param runs rows by run; the first run is the one that the others are compared with */
export function compare(
  runs: readonly (readonly RunRow[])[],
  { lower = new Set(), chosen = new Set() }: Options = {},
): Comparison {
  const metrics = scoreNames(runs.flat())
  const byKey = new Map<string, RunRow[][]>()
  for (const [run, rows] of runs.entries())
    for (const row of rows) {
      const found = byKey.get(row.key) ?? runs.map((): RunRow[] => [])
      found[run]?.push(row)
      byKey.set(row.key, found)
    }
  const rows = [...byKey].map(([key, trials], place) => {
    const [any] = trials.flat() as [RunRow]
    const cells = trials.map((all) => (all.length === 0 ? null : cellOf(all, metrics)))
    return { key, cells, number: place + 1, exampleRef: any.exampleRef, input: any.input, expected: any.expected }
  })
  const signs = metrics.map((name) => (lower.has(name) ? -1 : 1))
  const weights = metrics.map((name, metric) =>
    chosen.size === 0 || chosen.has(name) ? (signs[metric] as number) / rangeOf(rows, metric) : 0,
  )
  const compared = rows.map((row): ComparedRow => {
    const { worst, best, areScored } = changesOf(row.cells, weights)
    const [first, ...others] = row.cells
    const met: Record<Verdict, boolean> = {
      partly: row.cells.includes(null),
      regressed: worst < 0,
      error: others.some((cell) => cell?.error) && !first?.error,
      improved: best > 0,
      unscored: !areScored,
      same: true,
    }
    const verdict = (Object.keys(met) as Verdict[]).find((one) => met[one]) as Verdict
    return { ...row, worst, verdict, differs: others.some((cell) => cell !== null && cell.output !== first?.output) }
  })
  const order = new Map(verdicts.map((verdict, place) => [verdict, place]))
  compared.sort(
    (a, b) =>
      (order.get(a.verdict) as number) - (order.get(b.verdict) as number) || a.worst - b.worst || a.number - b.number,
  )
  const scoresOf = (metric: number, run: number): RunScores => {
    const cells = rows.map((row) => row.cells[run] ?? null)
    const scores = cells.map((cell) => cell?.scores[metric] ?? null)
    const isScored = scores.some((score) => score !== null)
    return {
      rows: cells.filter((cell) => cell !== null).length,
      scores,
      counted: scores.map((score, row) => score ?? (isScored && cells[row]?.error ? 0 : null)),
    }
  }
  return {
    metrics,
    heads: metrics.map((_, metric) =>
      runs.map((_run, run) => {
        const head = headOf(scoresOf(metric, 0), scoresOf(metric, run), signs[metric] as number)
        return run === 0 ? { ...head, change: null } : head
      }),
    ),
    latency: runs.map((all) => meanOf(all.flatMap(({ latencyMs }) => latencyMs ?? []))),
    errors: runs.map((all) => all.filter(({ error }) => error !== null).length),
    rows: compared,
  }
}
