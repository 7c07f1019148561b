// Fields of the line of a filter: the paths of their values, the names that come near, and how near those are.
// again: property
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  editDistance,
  fieldFault,
  fieldsOfRows,
  filterFields,
  isOfTrace,
  isOfTracesAlone,
  kindOfField,
  nearest,
  pathOf,
  pathsOf,
  statusValues,
  statusWords,
} from '../../services/web/page/engine/filter-fields.ts'
import { parseQuery } from '../../services/web/page/engine/query-text.ts'
import { runs } from '../fixtures/runs.ts'

const memberNames = ['__proto__', 'constructor', 'toString', 'valueOf', 'hasOwnProperty', 'isPrototypeOf']

describe('the paths of a field', () => {
  it.each<[name: string, ...paths: string[]]>([
    ['op', 'op_name'],
    ['model', 'summary.weave.models'],
    ['session.id', 'thread_id'],
    ['gen_ai.conversation.id', 'thread_id'],
    ['enduser.id', 'attributes.end_user'],
    ['feedback.quality', 'feedback.[wandb.annotation.quality].payload.value'],
    ['feedback.größe', 'feedback.[wandb.annotation.größe].payload.value'],
    // More points are a path that somebody wrote whole.
    ['feedback.[wandb.reaction.1].payload.emoji', 'feedback.[wandb.reaction.1].payload.emoji'],
    ['scorer.judge', 'feedback.[wandb.runnable.judge].payload.output'],
    ['scorer.judge.score.mean', 'feedback.[wandb.runnable.judge].payload.output.score.mean'],
    ['inputs', 'inputs'],
    ['inputs.a.0.b', 'inputs.a.0.b'],
    ['output.__proto__', 'output.__proto__'],
    ['summary.usage', 'summary.usage'],
    ['word', 'word'],
    ['a.b', 'attributes.a.b', 'attributes.otel_span.attributes.a.b'],
    // Names that only begin as a payload does.
    ['inputs_x.y', 'attributes.inputs_x.y', 'attributes.otel_span.attributes.inputs_x.y'],
    ['constructor.name', 'attributes.constructor.name', 'attributes.otel_span.attributes.constructor.name'],
  ])('%s', (name, ...paths) => {
    expect(pathsOf(name)).toEqual(paths)
    expect(pathOf(name)).toBe(paths[0])
  })

  it('are those of the whole trace where rows are traces, of the fields that a trace has', () => {
    expect(pathOf('model', 'traces')).toBe('trace.models')
    expect(pathOf('tokens', 'traces')).toBe('trace.total_tokens')
    expect(pathOf('duration', 'traces')).toBe('trace.duration_ms')
    for (const name of ['op', 'status', 'latency', 'end_user', 'a.b'])
      expect(pathsOf(name, 'traces')).toEqual(pathsOf(name))
    expect(['tokens', 'errors', 'op'].map((name) => isOfTrace(name, 'traces'))).toEqual([true, true, false])
    expect(isOfTrace('tokens', 'calls')).toBe(false)
    expect(['errors', 'spans', 'duration', 'cost', 'op'].map(isOfTracesAlone)).toEqual([true, true, true, false, false])
  })

  it.each(memberNames)('of %s, which every object has as a member, are those of an unknown name', (name) => {
    expect(pathsOf(name)).toEqual([name])
    expect(pathsOf(name, 'traces')).toEqual([name])
    expect(kindOfField(name)).toBeUndefined()
    expect([isOfTrace(name, 'traces'), isOfTracesAlone(name)]).toEqual([false, false])
    expect(fieldFault(name)).toEqual({ meant: undefined })
    expect(fieldFault(`${name}.x`)).toBeUndefined()
  })
})

describe('the fields that a list offers', () => {
  it('have a kind each, are no fault, and are once in a list', () => {
    for (const rows of ['calls', 'traces'] as const) {
      const names = fieldsOfRows(rows).map(([name]) => name)
      expect(new Set(names).size).toBe(names.length)
      for (const [name, kind] of fieldsOfRows(rows)) {
        expect([name, kindOfField(name)]).toEqual([name, kind])
        expect([name, fieldFault(name, rows)]).toEqual([name, undefined])
      }
    }
    const extra = fieldsOfRows('traces').slice(Object.keys(filterFields).length)
    expect(extra.map(([name]) => name)).toEqual(['errors', 'spans', 'duration'])
  })

  it('have words of other products that belong to one field alone and are no fields themselves', () => {
    const words = Object.values(filterFields).flatMap(({ also = [] }) => also)
    expect(new Set(words).size).toBe(words.length)
    expect(words.filter((word) => Object.hasOwn(filterFields, word))).toEqual([])
    for (const [name, { also = [] }] of Object.entries(filterFields))
      for (const word of also)
        expect([word, word.includes('.') ? pathOf(word) : fieldFault(word)?.meant]).toEqual([
          word,
          word.includes('.') ? filterFields[name]?.path : name,
        ])
  })

  it('know words for each status', () => {
    expect(new Set(Object.values(statusWords))).toEqual(new Set(statusValues))
    for (const word of Object.keys(statusWords)) expect(statusValues).not.toContain(word)
  })

  it.each<[typed: string, meant: string | undefined]>([
    ['Status', 'status'],
    ['TOKENS', 'tokens'],
    ['tokns', 'tokens'],
    ['toekns', 'tokens'],
    ['stat', 'status'],
    ['lat', 'latency'],
    ['prompt_token', 'input_tokens'],
    ['inpts', 'inputs'],
    ['outputs', 'output'],
    ['x', undefined],
    ['', undefined],
    ['qqqqqqqqqqqq', undefined],
    ['x'.repeat(10_000), undefined],
  ])('%s means %s', (typed, meant) => {
    const fault = fieldFault(typed)
    expect(fault).toEqual({ meant })
  })

  it.each(['a.b', 'metadata.x', 'gen_ai.usage.input_tokens', 'http.status_code', 'größe.höhe', 'a.b.c.d.e.f'])(
    'leave names that programs send as they are: %s',
    (name) => {
      expect(fieldFault(name)).toBeUndefined()
    },
  )

  it.each<[typed: string, meant: string]>([
    ['input.q', 'inputs.q'],
    ['inptus.q.0', 'inputs.q.0'],
    ['ATTRS.x', 'attributes.x'],
    ['feedbacks.quality', 'feedback.quality'],
    ['sumary.usage', 'summary.usage'],
    ['meta.tenant', 'metadata.tenant'],
  ])('mean a payload by %s', (typed, meant) => {
    expect(fieldFault(typed)).toEqual({ meant })
  })
})

describe('how far two words are apart', () => {
  it.each<[a: string, b: string, far: number]>([
    ['', '', 0],
    ['', 'abc', 3],
    ['abc', '', 3],
    ['model', 'model', 0],
    ['modle', 'model', 1],
    ['mdel', 'model', 1],
    ['models', 'model', 1],
    ['mobel', 'model', 1],
    ['kitten', 'sitting', 3],
    ['ca', 'abc', 3],
  ])('%j and %j: %i', (a, b, far) => {
    expect(editDistance(a, b)).toBe(far)
  })

  it('is the same in both directions, 0 for the same alone, and no more than the longer one has letters', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'é', '😀'), maxLength: 8 })
    fc.assert(
      fc.property(word, word, (a, b) => {
        const far = editDistance(a, b)
        expect(far).toBe(editDistance(b, a))
        expect(far === 0).toBe(a === b)
        expect(far).toBeLessThanOrEqual(Math.max(a.length, b.length))
        expect(far).toBeGreaterThanOrEqual(Math.abs(a.length - b.length))
      }),
      { numRuns: runs(200, 5_000) },
    )
  })

  it('chooses the nearest, then one that begins so, and none that is far away', () => {
    const words = ['success', 'error', 'running', 'errors_below']
    expect(nearest('eror', words)).toBe('error')
    expect(nearest('ERR', words)).toBe('error')
    expect(nearest('errors', words)).toBe('error')
    expect(nearest('errors_', words)).toBe('errors_below')
    expect(nearest('r', words)).toBeUndefined()
    expect(nearest('anything', words)).toBeUndefined()
    expect(nearest('error', [])).toBeUndefined()
    expect(nearest('e'.repeat(41), words)).toBeUndefined()
  })
})

it.each<[q: string, value: unknown]>([
  ['tokens>5k', 5_000],
  ['tokens>2M', 2_000_000],
  ['latency>250ms', 250],
  ['latency>2H', 7_200_000],
  ['cost>$0.5', 0.5],
  // Units that no field of this kind has stay text: they are refused, and are never a number that is none.
  ['tokens>5constructor', '5constructor'],
  ['latency>5constructor', '5constructor'],
  ['latency>5k', '5k'],
  ['cost>5k', '5k'],
  ['model:5k', '5k'],
  ['inputs.x:5k', '5k'],
])('the value of %s is %j', (q, value) => {
  expect(parseQuery(q)).toEqual([[expect.objectContaining({ values: [value] })]])
})
