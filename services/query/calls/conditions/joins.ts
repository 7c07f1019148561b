// Fields of call queries whose values lie elsewhere: in feedback, in annotation queues, in whole traces, behind refs of the call's documents.
import { fault } from '../../../core/http/errors.ts'
import type { FeedbackText } from '../../feedback/call-texts.ts'
import { jsonPath, splitPath } from '../../language/path.ts'
import type { Field, JsonField, PathSegment } from '../../language/types.ts'
import { isTraceField, traceFields } from './trace-fields.ts'
import type { DerivedField, DerivedFields, RefField } from './types.ts'

/** The fields of one request. Fields that read the same text share it. */
export type DerivedFieldFactory = {
  fields: DerivedFields
  /** @throws Fault 422 for a path that is none of feedback */
  feedback(name: string): Field
  queues(): Field
  /** @throws Fault 422 for a name that is none of whole traces */
  ofTrace(name: string): Field
  /** A field behind refs; `paths` are at least two: where the first ref stands, below it, and so on. */
  behind(ref: JsonField, paths: PathSegment[][]): Field
}

export const isDerived = (column: string): column is DerivedField =>
  /^(feedback_\d+|ref_\d+|queues)$/.test(column) || isTraceField(column)
export const isFeedback = (name: DerivedField): name is FeedbackText['name'] => name.startsWith('feedback_')
export const isRefField = (name: DerivedField): name is RefField['name'] => name.startsWith('ref_')

/** Distinct texts from elsewhere: each costs an aggregate, or refs to resolve. */
const maxFields = 100

const shape = /^feedback\.\[([^\]]+)\]\.(payload|runnable_ref|trigger_ref)(?:\.(.+))?$/s
/** Types of which a call usually has several, after their first word. */
const manyTypes = new Set(['reaction.1', 'note.1', 'agent_user_feedback'])

/** @param firstWord the configured first word of special feedback types, beside `wandb` */
export function derivedFieldFactory(firstWord: string): DerivedFieldFactory {
  const fields: DerivedFields = { feedback: [], refs: [], queues: false, traces: { columns: new Set(), rows: null } }
  const names = new Map<string, DerivedField>()

  function named<Name extends DerivedField>(key: unknown, next: Name, add: (name: Name) => void): Name {
    const text = JSON.stringify(key)
    const known = names.get(text)
    if (known !== undefined) return known as Name
    if (names.size === maxFields) throw fault(400, `The query reads more than ${maxFields} fields of other tables`)
    names.set(text, next)
    add(next)
    return next
  }

  const fromFeedback = (field: Omit<FeedbackText, 'name'>): DerivedField =>
    named(['feedback', field], `feedback_${fields.feedback.length}`, (name) => fields.feedback.push({ name, ...field }))

  const isMany = (type: string): boolean =>
    [firstWord, 'wandb'].some((first) => type.startsWith(`${first}.`) && manyTypes.has(type.slice(first.length + 1)))

  return {
    fields,
    feedback(name) {
      const [, type = '', column, below] = shape.exec(name) ?? []
      if (column === undefined || (below !== undefined && column !== 'payload'))
        throw fault(422, `Field ${name} is not allowed: expected feedback.[<type>].<payload|runnable_ref|trigger_ref>`)
      const of = column as FeedbackText['column']
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
      fields.queues = true
      return { is: 'json', json: { document: 'queues', path: [0], untyped: true, many: true } }
    },
    ofTrace(name) {
      const field = traceFields.get(name)
      if (field === undefined)
        throw fault(
          422,
          `Field ${name} is not allowed: of whole traces there are ${[...traceFields.keys()].join(', ')}`,
        )
      for (const column of field.is === 'list' ? [field.list.column] : field.column.reads)
        if (isTraceField(column)) fields.traces.columns.add(column)
      return field
    },
    behind(ref, paths) {
      const document = named(['ref', ref, paths], `ref_${fields.refs.length}`, (name) =>
        fields.refs.push({ name, ref, paths }),
      )
      return { is: 'json', json: { document, path: [], ref } }
    },
  }
}
