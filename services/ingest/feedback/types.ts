// The rules of the feedback types: what a payload must hold, and which refs and scorer columns an item may carry.
import type { FeedbackCreate } from '../../../schemas/feedback.ts'
import { parseRef, type Ref } from '../../content/refs.ts'
import { fault } from '../../core/http/errors.ts'
import { isLongerThan } from '../../core/json/characters.ts'

type Kind = 'note' | 'reaction' | 'annotation' | 'runnable' | 'agent_monitor' | 'agent_user_feedback' | 'other'

/** An object version whose schema an annotation's value must fit. */
export type AnnotationTarget = Extract<Ref, { kind: 'object' | 'op' }>

export type CheckedFeedback = { kind: Kind; annotation: AnnotationTarget | null }

const longestNote = 1024

/** The type behind `wandb.` or the configured first word; null for types without rules. */
function wordsAfter(type: string, prefix: string): string | null {
  for (const first of ['wandb', prefix]) if (type.startsWith(`${first}.`)) return type.slice(first.length + 1)
  return null
}

function kindOf(words: string | null): Kind {
  if (words === 'note.1') return 'note'
  if (words === 'reaction.1') return 'reaction'
  if (words === 'agent_monitor' || words === 'agent_user_feedback') return words
  if (words?.startsWith('annotation')) return 'annotation'
  return words?.startsWith('runnable') ? 'runnable' : 'other'
}

function checkPayload(kind: Kind, payload: Record<string, unknown>): void {
  const has = (key: string) => Object.hasOwn(payload, key)
  if (kind === 'note') {
    const { note } = payload
    if (typeof note !== 'string' || note === '') throw fault(400, 'payload.note must be a text that is not empty')
    if (isLongerThan(note, longestNote)) throw fault(400, `payload.note is longer than ${longestNote} characters`)
  }
  if (kind === 'reaction' && typeof payload.emoji !== 'string') throw fault(400, 'payload.emoji must be a text')
  if (kind === 'annotation' && !has('value')) throw fault(400, 'payload.value is required')
  if (kind === 'runnable' && !has('output')) throw fault(400, 'payload.output is required')
}

const runnableRefs = ['runnable_ref', 'call_ref', 'trigger_ref'] as const
const scorerColumns = [
  'scorer_tags',
  'scorer_tag_reasons',
  'scorer_rating_reasons',
  'scorer_tag_confidences',
  'scorer_ratings',
  'scorer_rating_confidences',
] as const

type RefField = 'annotation_ref' | (typeof runnableRefs)[number]

const kindsWithRunnableRefs = new Set<Kind>(['annotation', 'runnable', 'agent_monitor'])
const kindsWithScorerColumns = new Set<Kind>(['runnable', 'agent_monitor', 'agent_user_feedback'])
const neededRefs: Partial<Record<Kind, readonly RefField[]>> = {
  annotation: ['annotation_ref'],
  runnable: ['runnable_ref'],
  agent_monitor: runnableRefs,
}

function checkFields(kind: Kind, words: string | null, item: FeedbackCreate): void {
  const shownType = item.feedback_type.slice(0, 200)
  if (item.annotation_ref && kind !== 'annotation')
    throw fault(400, `annotation_ref is not allowed on ${item.feedback_type}`)
  for (const name of runnableRefs)
    if (item[name] && !kindsWithRunnableRefs.has(kind)) throw fault(400, `${name} is not allowed on ${shownType}`)
  const isNamed = kind === 'annotation' || kind === 'runnable'
  if (isNamed && (!words?.startsWith(`${kind}.`) || words.length === kind.length + 1))
    throw fault(400, `feedback_type must be …${kind}.<name>`)
  for (const name of neededRefs[kind] ?? []) if (!item[name]) throw fault(400, `${name} is required on ${shownType}`)
  if (kind === 'agent_user_feedback' && item.scorer_tags.length === 0)
    throw fault(400, `scorer_tags must not be empty on ${item.feedback_type}`)
}

function checkScorerColumns(kind: Kind, item: FeedbackCreate): void {
  if (kindsWithScorerColumns.has(kind)) return
  for (const name of scorerColumns)
    if (Object.keys(item[name]).length > 0)
      throw fault(400, `${name} is not allowed on ${item.feedback_type.slice(0, 200)}`)
}

/** A ref field, null when it is empty. @throws Fault 400 unless it is a ref of one of the kinds */
function refOf<K extends Ref['kind']>(
  item: FeedbackCreate,
  field: RefField,
  ...kinds: K[]
): Extract<Ref, { kind: K }> | null {
  const text = item[field]
  if (!text) return null
  const ref = parseRef(text)
  if (ref === null || !kinds.some((kind) => kind === ref.kind))
    throw fault(400, `${field} must be ${kinds.join(' or ')} ref: ${JSON.stringify(text.slice(0, 200))}`)
  return ref as Extract<Ref, { kind: K }>
}

/** The ref's name must be the last part of the type. */
function checkName(kind: 'annotation' | 'runnable', words: string, ref: { name: string }): void {
  const name = words.slice(kind.length + 1)
  if (ref.name !== name)
    throw fault(
      400,
      `${kind}_ref is named ${JSON.stringify(ref.name.slice(0, 200))}, the type says ${name.slice(0, 200)}`,
    )
}

/**
 * Everything that an item says about itself, in the order of the interface; objects and queues are not read.
 * @param prefix first word of special types, beside `wandb`
 * @throws Fault 400
 */
export function checkFeedback(item: FeedbackCreate, prefix: string): CheckedFeedback {
  const words = wordsAfter(item.feedback_type, prefix)
  const kind = kindOf(words)
  checkPayload(kind, item.payload)
  checkFields(kind, words, item)
  checkScorerColumns(kind, item)
  const annotation = refOf(item, 'annotation_ref', 'object', 'op')
  const runnable = refOf(item, 'runnable_ref', 'op', 'object')
  refOf(item, 'call_ref', 'call')
  refOf(item, 'trigger_ref', 'object')
  if (kind === 'annotation' && annotation) checkName(kind, words as string, annotation)
  if (kind === 'runnable' && runnable) {
    checkName(kind, words as string, runnable)
    if (runnable.kind === 'op' && !item.call_ref)
      throw fault(400, 'call_ref is required when runnable_ref is an op ref')
  }
  return { kind, annotation: kind === 'annotation' ? annotation : null }
}
