// Fields of call queries whose values lie elsewhere: in feedback, in annotation queues, behind refs of the call's documents.
import { fault } from '../../../core/http/errors.ts'
import { jsonPath, splitPath } from '../../language/path.ts'
import type { Field, JsonField, Segment } from '../../language/types.ts'
import type { FeedbackField, Joins, RefField, Virtual } from './types.ts'

/** The fields of one request. Fields that read the same text share it. */
export type JoinedFields = {
  joins: Joins
  /** @throws Fault 422 for a path that is none of feedback */
  feedback(name: string): Field
  queues(): Field
  /** A field behind refs; `paths` are at least two: where the first ref stands, below it, and so on. */
  behind(ref: JsonField, paths: Segment[][]): Field
}

export const isVirtual = (column: string): column is Virtual => /^(feedback_\d+|ref_\d+|queues)$/.test(column)
export const isFeedback = (name: Virtual): name is FeedbackField['name'] => name.startsWith('feedback_')
export const isRef = (name: Virtual): name is RefField['name'] => name.startsWith('ref_')

/** Distinct texts from elsewhere: each costs an aggregate, or refs to resolve. */
const mostFields = 100

const shape = /^feedback\.\[([^\]]+)\]\.(payload|runnable_ref|trigger_ref)(?:\.(.+))?$/s
/** Types of which a call usually has several, after their first word. */
const manyTypes = new Set(['reaction.1', 'note.1', 'agent_user_feedback'])

/** @param firstWord the configured first word of special feedback types, beside `wandb` */
export function joinedFields(firstWord: string): JoinedFields {
  const joins: Joins = { feedback: [], refs: [], queues: false }
  const names = new Map<string, Virtual>()

  function named<Name extends Virtual>(key: unknown, next: Name, add: (name: Name) => void): Name {
    const text = JSON.stringify(key)
    const known = names.get(text)
    if (known !== undefined) return known as Name
    if (names.size === mostFields) throw fault(400, `The query reads more than ${mostFields} fields of other tables`)
    names.set(text, next)
    add(next)
    return next
  }

  const fromFeedback = (field: Omit<FeedbackField, 'name'>): Virtual =>
    named(['feedback', field], `feedback_${joins.feedback.length}`, (name) => joins.feedback.push({ name, ...field }))

  const isMany = (type: string): boolean =>
    [firstWord, 'wandb'].some((first) => type.startsWith(`${first}.`) && manyTypes.has(type.slice(first.length + 1)))

  return {
    joins,
    feedback(name) {
      const [, type = '', column, below] = shape.exec(name) ?? []
      if (column === undefined || (below !== undefined && column !== 'payload'))
        throw fault(422, `Field ${name} is not allowed: expected feedback.[<type>].<payload|runnable_ref|trigger_ref>`)
      const of = column as FeedbackField['column']
      const path = below === undefined ? [] : jsonPath(splitPath(below), name)
      if (type === '*') {
        const document = fromFeedback({ type: null, column: of, path, pick: 'first' })
        return { is: 'json', json: { document, path: [], untyped: true } }
      }
      if (isMany(type)) {
        const document = fromFeedback({ type, column: of, path, pick: 'all' })
        return { is: 'json', json: { document, path: [0], untyped: true, many: true } }
      }
      return { is: 'json', json: { document: fromFeedback({ type, column: of, path: [], pick: 'oldest' }), path } }
    },
    queues() {
      joins.queues = true
      return { is: 'json', json: { document: 'queues', path: [0], untyped: true, many: true } }
    },
    behind(ref, paths) {
      const document = named(['ref', ref, paths], `ref_${joins.refs.length}`, (name) =>
        joins.refs.push({ name, ref, paths }),
      )
      return { is: 'json', json: { document, path: [], ref } }
    },
  }
}
