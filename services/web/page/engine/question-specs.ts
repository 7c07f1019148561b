// The questions of a queue: `AnnotationSpec` objects, what their JSON Schema lets people answer, and answers as they are read.
import type { Rating, Scale, Value } from './agreement.ts'

type Members = Record<string, unknown>
const asObject = (value: unknown): Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {}

/** Kind of answer to a question. */
export type Answering =
  | { is: 'boolean' }
  | { is: 'choice'; choices: Value[] }
  | { is: 'number'; min: number | undefined; max: number | undefined; isInteger: boolean }
  | { is: 'text'; maxLength: number | undefined }

export type Spec = { ref: string; name: string; label: string; description: string; answering: Answering }

const asNumber = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)

/** An answer that is no boolean, choice or number is text. */
export function answeringOf(schema: unknown): Answering {
  const { type, enum: choices, minimum, maximum, maxLength } = asObject(schema)
  if (Array.isArray(choices) && choices.length > 0)
    return { is: 'choice', choices: choices.filter((one): one is Value => typeof one !== 'object').slice(0, 100) }
  if (type === 'boolean') return { is: 'boolean' }
  if (type === 'integer' || type === 'number')
    return { is: 'number', min: asNumber(minimum), max: asNumber(maximum), isInteger: type === 'integer' }
  return { is: 'text', maxLength: asNumber(maxLength) }
}

const nameForm = /\/object\/([^:/]+):/

/** @param val the object that the ref stands for */
export function specOf(ref: string, val: unknown): Spec {
  const name = decodeURIComponent(nameForm.exec(ref)?.[1] ?? '')
  const { name: label, description, field_schema } = asObject(val)
  return {
    ref,
    name,
    answering: answeringOf(field_schema),
    label: typeof label === 'string' && label !== '' ? label : name,
    description: typeof description === 'string' ? description : '',
  }
}

/** Numbers are apart by their distance, everything else by being another one. */
export const scaleOf = ({ answering }: Spec): Scale => (answering.is === 'number' ? 'interval' : 'nominal')

/** The answer of a typed text to a question; undefined when it is none. */
export function answerOf(typed: string, answering: Answering): Value | undefined {
  if (answering.is !== 'number') return typed === '' ? undefined : typed
  const value = Number(typed)
  if (typed.trim() === '' || !Number.isFinite(value)) return undefined
  return value
}

/** The reason why an answer is none that the question takes; undefined where it is, and where there is none yet. */
export function wrongAnswer(value: unknown, answering: Answering): string | undefined {
  if (answering.is !== 'number' || value === undefined) return undefined
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY, isInteger } = answering
  const isNumber = typeof value === 'number' && (!isInteger || Number.isInteger(value))
  if (isNumber && value >= min && value <= max) return undefined
  const bounds = [answering.min !== undefined && `at least ${min}`, answering.max !== undefined && `at most ${max}`]
  return [isInteger ? 'Enter a whole number' : 'Enter a number', bounds.filter(Boolean).join(' and ')]
    .filter(Boolean)
    .join(', ')
}

/** The answer that a key from 1 to 9 gives; undefined where the question has none for it. */
export function answerOfDigit(digit: number, answering: Answering): Value | undefined {
  if (answering.is === 'choice') return answering.choices[digit - 1]
  return answering.is === 'number' && wrongAnswer(digit, answering) === undefined ? digit : undefined
}

export type Annotation = {
  id: string
  callId: string
  spec: string
  by: string
  userId: string
  value: unknown
  at: string
}

/** Answers of others that a person sees, and how many wait until this person has answered the same question. */
export type OfOthers = { shown: Annotation[]; hidden: number }

/**
 * Whoever has still to answer is not told what others think, whatever became of the item: it may be done by another one.
 * @param answered questions that the person has answered; null = somebody who cannot answer sees all
 */
export function othersSeen(others: readonly Annotation[], answered: ReadonlySet<string> | null): OfOthers {
  const shown = others.filter(({ spec }) => answered === null || answered.has(spec))
  return { shown, hidden: others.length - shown.length }
}

const annotationForm = /^\w+\.annotation\.(.+)$/
const callForm = /\/call\/([^/?#]+)$/

/** Feedback as annotations; what is none is left out. */
export function annotationsOf(rows: readonly Members[]): Annotation[] {
  return rows.flatMap((row) => {
    const spec = annotationForm.exec(String(row.feedback_type))?.[1]
    const callId = callForm.exec(String(row.weave_ref))?.[1]
    if (spec === undefined || callId === undefined) return []
    const userId = String(row.platform_user_id ?? row.wb_user_id ?? '')
    const by = typeof row.creator === 'string' && row.creator !== '' ? row.creator : userId
    return [
      { id: String(row.id), callId, spec, by, userId, at: String(row.created_at), value: asObject(row.payload).value },
    ]
  })
}

/** The most frequent answer to each question about a call, as JSON; of equally frequent ones the first. */
export function labelsOf(annotations: readonly Annotation[]): Map<string, [name: string, text: string][]> {
  const byCall = new Map<string, Map<string, Map<string, string>>>()
  for (const { callId, spec, by, value } of annotations) {
    const specs = byCall.get(callId) ?? new Map<string, Map<string, string>>()
    byCall.set(callId, specs)
    // A later answer of the same person counts.
    specs.set(spec, (specs.get(spec) ?? new Map<string, string>()).set(by, JSON.stringify(value ?? null)))
  }
  const commonest = (answers: Iterable<string>): string => {
    const counts = new Map<string, number>()
    for (const answer of answers) counts.set(answer, (counts.get(answer) ?? 0) + 1)
    return [...counts].reduce((best, one) => (one[1] > best[1] ? one : best))[0]
  }
  return new Map(
    [...byCall].map(([callId, specs]) => [
      callId,
      [...specs].map(([spec, answers]): [string, string] => [spec, commonest(answers.values())]),
    ]),
  )
}

export const ratingsOf = (annotations: readonly Annotation[], spec: string): Rating[] =>
  annotations.flatMap(({ spec: of, callId, by, value }) =>
    of === spec && (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
      ? { item: callId, by, value }
      : [],
  )
