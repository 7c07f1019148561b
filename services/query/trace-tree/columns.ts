// The spans of a trace as columns: texts that come again stand in a list once, and columns hold their places there.
import type { z } from 'zod'
import type { traceTreeResponse } from '../../../schemas/trace-tree.ts'
import { formatTimestamp } from '../../core/clock/timestamps.ts'
import { createCounted, jsonNumber, type Reported } from './counted.ts'

type Answer = z.output<typeof traceTreeResponse>

/** A span as it was read; texts '' = none, `endedUs` null = it runs. */
export type Span = {
  id: string
  parentId: string
  name: string
  op: string
  kind: string
  model: string
  user: string
  thread: string
  turn: string
  error: string
  startedUs: number
  endedUs: number | null
  hasFailed: boolean
  hasFailedBelow: boolean
  tokensIn: number | null
  tokensOut: number | null
  cost: number | null
  /** null = none. */
  reported: Reported | null
  feedback: number
  size: number
}

const lists = {
  name: 'names',
  op: 'ops',
  kind: 'kinds',
  model: 'models',
  user: 'users',
  thread: 'threads',
  turn: 'turns',
  error: 'errors',
} as const
type Listed = keyof typeof lists

const numbers = ['tokens_in', 'tokens_out', 'cost', 'feedback', 'size', 'start_us', 'duration_us', 'status'] as const

function statusOf({ hasFailed, endedUs, hasFailedBelow }: Span): number {
  if (hasFailed) return 1
  if (endedUs === null) return 2
  return hasFailedBelow ? 3 : 0
}

/** Takes spans in the order of the answer, and gives its JSON text. */
export function createColumns(traceId: string) {
  const places = new Map<Listed, Map<string, number>>()
  const columns = {} as Record<Listed | (typeof numbers)[number], (number | null)[]>
  for (const name of Object.keys(lists) as Listed[]) {
    places.set(name, new Map())
    columns[name] = []
  }
  for (const name of numbers) columns[name] = []
  const ids: string[] = []
  const parentIds: string[] = []
  const counted = createCounted()
  let baseUs: number | null = null

  const placeOf = (name: Listed, text: string): number => {
    if (text === '') return -1
    const known = places.get(name) as Map<string, number>
    const place = known.get(text)
    if (place !== undefined) return place
    known.set(text, known.size)
    return known.size - 1
  }

  const add = (span: Span): void => {
    baseUs ??= span.startedUs
    if (span.reported) counted.add(ids.length, span.reported)
    ids.push(span.id)
    parentIds.push(span.parentId)
    for (const name of Object.keys(lists) as Listed[]) columns[name].push(placeOf(name, span[name]))
    columns.start_us.push(span.startedUs - baseUs)
    columns.duration_us.push(span.endedUs === null ? -1 : Math.max(0, span.endedUs - span.startedUs))
    columns.status.push(statusOf(span))
    columns.tokens_in.push(jsonNumber(span.tokensIn))
    columns.tokens_out.push(jsonNumber(span.tokensOut))
    columns.cost.push(jsonNumber(span.cost))
    columns.feedback.push(span.feedback)
    columns.size.push(span.size)
  }

  /** Places of parents; a span that names itself or what is not here has none. */
  const parents = (): Pick<Answer, 'parent' | 'orphans'> => {
    const placeOfId = new Map(ids.map((id, place) => [id, place]))
    const orphans: number[] = []
    const parent = parentIds.map((id, place) => {
      if (id === '') return -1
      const found = placeOfId.get(id)
      if (found !== undefined && found !== place) return found
      orphans.push(place)
      return -1
    })
    return { parent, orphans }
  }

  const answer = (isCut: boolean, above = parents()): Answer =>
    ({
      trace_id: traceId,
      started_at: baseUs === null ? null : formatTimestamp(baseUs),
      is_cut: isCut,
      ...Object.fromEntries(
        (Object.keys(lists) as Listed[]).map((name) => [lists[name], [...(places.get(name)?.keys() ?? [])]]),
      ),
      id: ids,
      ...above,
      ...columns,
      counted: counted.answer(above.parent),
    }) as Answer

  return { add, answer }
}

/** Elements that are written at once. */
const written = 5_000

/** The answer as JSON, bit by bit. */
export function* answerTexts(answer: Answer): Generator<string> {
  let before = '{'
  for (const [name, value] of Object.entries(answer)) {
    yield `${before}${JSON.stringify(name)}:`
    before = ','
    if (!Array.isArray(value)) {
      yield JSON.stringify(value)
      continue
    }
    for (let from = 0; from < value.length; from += written)
      yield `${from === 0 ? '[' : ','}${JSON.stringify(value.slice(from, from + written)).slice(1, -1)}`
    yield value.length === 0 ? '[]' : ']'
  }
  yield '}'
}
