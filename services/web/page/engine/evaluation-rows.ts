// Evaluation runs as the page shows them: heads of runs, and the rows that a run's calls around predictions are.
import { type Row, rowBasicsOf, rowOf } from './rows.ts'

type Members = Record<string, unknown>
const asObject = (value: unknown): Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {}
const own = (members: Members, key: string): unknown => (Object.hasOwn(members, key) ? members[key] : undefined)

/** Longer texts of a row are cut: its trace has all of them. */
const maxText = 2_000
/** Columns of scores that a run may have. */
const maxScores = 60

type Score = number | boolean
type Scores = Map<string, Score>

export type RunHead = {
  id: string
  traceId: string
  name: string
  evaluation: string
  model: string
  status: Row['status']
  startedAt: string
  latencyMs: number | null
  /** The reason why the run as a whole failed. */
  error: string | null
  /** Means of the scores, as the run itself has summed them up. */
  scores: [name: string, mean: number][]
  /** Mean time of a prediction, in milliseconds. */
  predictionMs: number | null
}

/** One prediction of a run with its scores; trials of one example have the same key. */
export type RunRow = {
  id: string
  traceId: string
  key: string
  /** Ref of the example, when it stands elsewhere. */
  exampleRef: string | null
  input: string
  expected: string
  output: string
  scores: Scores
  /** Texts that judges wrote beside their scores. */
  reasons: [name: string, text: string][]
  latencyMs: number | null
  error: string | null
  runs: boolean
}

const refForm = /^weave:\/\/\/([^/]+)\/([^/]+)\/(object|op)\/([^:/]+):([^/]+)/
const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

export type ObjectRef = { projectId: string; kind: 'object' | 'op'; name: string; digest: string }
export function objectRefOf(text: string): ObjectRef | undefined {
  const [, entity = '', project = '', kind = '', name = '', digest = ''] = refForm.exec(text) ?? []
  if (kind === '') return undefined
  return { projectId: `${entity}/${project}`, kind: kind as 'object' | 'op', name: decoded(name), digest }
}

/** A ref as people read it: the name, and the beginning of the digest. */
export function refLabel(text: string): string {
  const ref = objectRefOf(text)
  return ref === undefined ? text : `${ref.name}:${ref.digest.slice(0, 6)}`
}

const short = (value: unknown): string =>
  (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).slice(0, maxText)

/** Two independent hashes of 32 bits each (FNV-1a with two seeds): a key of an example that is written out. */
function hashOf(text: string): string {
  let one = 0x811c9dc5
  let two = 0x9747b28c
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    one = Math.imul(one ^ unit, 0x01000193)
    two = Math.imul(two ^ unit, 0x5bd1e995) ^ (two >>> 13)
  }
  return `${(one >>> 0).toString(36)}-${(two >>> 0).toString(36)}-${text.length}`
}

/** The same text for the same value, whatever the order of its keys. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, one]) => `${JSON.stringify(key)}:${canonical(one)}`).join(',')}}`
}

const rowDigest = /\/attr\/rows\/id\/([^/]+)$/
/** Words by which data sets call them, the surest first; how a name parts its words does not matter. */
const exampleNames = {
  expected: [
    'expected',
    'expected_output',
    'expected_answer',
    'expected_response',
    'expected_result',
    'target',
    'ground_truth',
    'reference',
    'reference_answer',
    'reference_output',
    'ideal',
    'gold',
    'label',
    'correct_answer',
    'answer',
    // As rows that are made from calls have it.
    'output',
  ],
  input: ['question', 'input', 'prompt', 'query', 'text', 'user_input', 'messages'],
}
const wordsOf = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')
const exampleWords = { expected: exampleNames.expected.map(wordsOf), input: exampleNames.input.map(wordsOf) }

/** The member of an example that goes by the first of the names that it has. */
function memberNamed(members: Members, words: readonly string[]): string | undefined {
  const byWords = new Map(Object.keys(members).map((name) => [wordsOf(name), name]))
  return byWords.get(words.find((one) => byWords.has(one)) ?? '')
}

/** The input of an example, and its expected output. */
export function exampleTexts(example: unknown): { input: string; expected: string } {
  const members = asObject(example)
  const expectedName = memberNamed(members, exampleWords.expected)
  const inputName = memberNamed(members, exampleWords.input)
  const others = Object.entries(members).filter(([name]) => name !== expectedName)
  const whole = others.length === 1 ? others[0]?.[1] : Object.keys(members).length > 0 ? members : example
  return {
    input: short(inputName === undefined ? whole : members[inputName]),
    expected: expectedName === undefined ? '' : short(members[expectedName]),
  }
}

/** Numbers and truth values of what scorers said, by scorer and path; texts beside them are reasons. */
function readScores(value: unknown, name: string, into: Pick<RunRow, 'scores' | 'reasons'>, depth = 0): void {
  if (into.scores.size >= maxScores) return
  if (typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) into.scores.set(name, value)
  else if (typeof value === 'string') {
    if (into.reasons.length < maxScores) into.reasons.push([name, value.slice(0, maxText)])
  } else if (depth < 4)
    for (const [key, one] of Object.entries(asObject(value)))
      readScores(one, name === '' ? key : `${name}.${key}`, into, depth + 1)
}

/** The reason why a row lacks its prediction, or scores. */
function failuresText(failures: Members): string | null {
  const prediction = own(failures, 'prediction')
  const texts = [['', prediction], ...Object.entries(asObject(own(failures, 'scores')))].flatMap(([name, text]) =>
    typeof text === 'string' ? [name === '' ? text : `${name}: ${text}`] : [],
  )
  return texts.length === 0 ? null : short(texts.join('; '))
}

/** A call around one prediction and its scores. */
export function runRowOf(record: Members): RunRow {
  const { id, traceId, exception, endedUs, latencyMs } = rowBasicsOf(record)
  const example = own(asObject(own(record, 'inputs')), 'example')
  const exampleRef = typeof example === 'string' && example.startsWith('weave:///') ? example : null
  const result = asObject(own(record, 'output'))
  const seconds = own(result, 'model_latency')
  const found: Pick<RunRow, 'scores' | 'reasons'> = { scores: new Map(), reasons: [] }
  readScores(own(result, 'scores'), '', found)
  const output = own(result, 'output')
  const texts = exampleRef === null ? exampleTexts(example) : { input: '', expected: '' }
  return {
    id,
    traceId,
    exampleRef,
    ...texts,
    ...found,
    key: exampleRef === null ? hashOf(canonical(example)) : (rowDigest.exec(exampleRef)?.[1] ?? exampleRef),
    output: output === undefined || output === null ? '' : short(output),
    latencyMs: typeof seconds === 'number' ? seconds * 1000 : latencyMs,
    error:
      exception ??
      failuresText(asObject(own(result, 'failures'))) ??
      (endedUs !== null && (output === undefined || output === null) ? 'No output' : null),
    runs: endedUs === null,
  }
}

/** Means in what a run has summed up: `mean` of numbers, `true_fraction` of truth values. */
function readMeans(value: unknown, name: string, into: [string, number][], depth = 0): void {
  const members = asObject(value)
  for (const key of ['mean', 'true_fraction']) {
    const mean = own(members, key)
    if (typeof mean === 'number' && Number.isFinite(mean)) {
      if (into.length < maxScores) into.push([name, mean])
      return
    }
  }
  if (depth < 4) for (const [key, one] of Object.entries(members)) readMeans(one, `${name}.${key}`, into, depth + 1)
}

/** A call of `Evaluation.evaluate`. */
export function runHeadOf(record: Members): RunHead {
  const row = rowOf(record)
  const inputs = asObject(own(record, 'inputs'))
  const attributes = asObject(own(asObject(own(record, 'attributes')), 'weave'))
  const text = (...values: unknown[]) => String(values.find((value) => typeof value === 'string') ?? '')
  const scores: [string, number][] = []
  const summary = asObject(own(record, 'output'))
  for (const [name, value] of Object.entries(summary)) if (name !== 'model_latency') readMeans(value, name, scores)
  const latency = own(asObject(own(summary, 'model_latency')), 'mean')
  return {
    id: row.id,
    traceId: row.traceId,
    name: row.name,
    status: row.status,
    startedAt: row.startedAt,
    evaluation: text(own(attributes, 'evaluation'), own(inputs, 'self'), own(inputs, 'this')),
    model: text(own(attributes, 'model'), own(inputs, 'model')),
    latencyMs: row.latencyMs,
    error: row.exception,
    scores,
    predictionMs: typeof latency === 'number' ? latency * 1000 : null,
  }
}

/** The mean of a score as the run itself has summed it up. */
export const meanReported = (head: RunHead | undefined, name: string): number | undefined =>
  head?.scores.find(([one]) => one === name)?.[1]

/** The distribution of a score over rows: ten bins of numbers, or the share of what is true. */
export type Distribution = {
  name: string
  isTruth: boolean
  count: number
  /** Rows that failed and have no such score. */
  failed: number
  mean: number
  /** Rows that count in the mean: those with a score, and those that failed, as 0, unless the run leaves these out. */
  over: number
  min: number
  max: number
  quartiles: [number, number, number]
  bins: number[]
}

export const scoreNames = (rows: readonly Pick<RunRow, 'scores'>[]): string[] => {
  const names = new Set<string>()
  for (const { scores } of rows) for (const name of scores.keys()) names.add(name)
  return [...names].slice(0, maxScores)
}

const binCount = 10
/** The number of the bin, one of ten, for a value. */
export const binOf = (value: number, { min, max }: Pick<Distribution, 'min' | 'max'>): number =>
  max === min ? 0 : Math.min(binCount - 1, Math.floor(((value - min) / (max - min)) * binCount))

function quantile(sorted: readonly number[], share: number): number {
  const at = (sorted.length - 1) * share
  const below = sorted[Math.floor(at)] as number
  return below + ((sorted[Math.ceil(at)] as number) - below) * (at - Math.floor(at))
}

/** Whether two means are the same, but for how they were added up. */
export const isSameMean = (one: number, other: number): boolean =>
  Math.abs(one - other) <= 1e-6 * Math.max(1, Math.abs(other))

/** @param reported the mean as the run has summed it up: it is shown wherever the run is */
export function distributionOf(
  name: string,
  rows: readonly Pick<RunRow, 'scores' | 'error'>[],
  reported?: number,
): Distribution | undefined {
  const found = rows.flatMap(({ scores }) => scores.get(name) ?? [])
  if (found.length === 0) return undefined
  const isTruth = found.every((value) => typeof value === 'boolean')
  const sorted = found.map(Number).sort((a, b) => a - b)
  const range = { min: isTruth ? 0 : (sorted[0] as number), max: isTruth ? 1 : (sorted.at(-1) as number) }
  const failed = rows.filter(({ scores, error }) => error !== null && !scores.has(name)).length
  const bins = Array.from({ length: isTruth ? 2 : binCount }, () => 0)
  for (const value of sorted) {
    const bin = isTruth ? value : binOf(value, range)
    bins[bin] = (bins[bin] ?? 0) + 1
  }
  const sum = sorted.reduce((all, value) => all + value, 0)
  const all = sorted.length + failed
  const mean = reported ?? sum / all
  return {
    name,
    isTruth,
    count: sorted.length,
    failed,
    ...range,
    bins,
    mean,
    over: isSameMean(sum / all, mean) ? all : sorted.length,
    quartiles: [quantile(sorted, 0.25), quantile(sorted, 0.5), quantile(sorted, 0.75)],
  }
}
