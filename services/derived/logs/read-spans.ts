// Reads the stored calls of spans whole: what is needed to map them once more.

import { statement } from '../../core/store/statements.ts'
import type { QueryOptions, Store } from '../../core/store/store.ts'
import type { JoinedRow, SpanCallRow, SpanPayloadRow, SpanRow } from './span-rows.ts'

export type SpanIds = { project_id: string; trace_id: string; id: string }

export const spanKeyOf = (project: string, trace: string, span: string): string => `${project}\n${trace}\n${span}`

/** The results of all; rejects when the last has ended. */
export async function allResults<T extends readonly unknown[] | []>(
  ...works: T
): Promise<{ -readonly [N in keyof T]: Awaited<T[N]> }> {
  await Promise.allSettled(works)
  return Promise.all(works)
}

/** Projects, traces and ids as the statements take them. */
export const wantedParams = (wanted: readonly SpanIds[]) => {
  const of = <Key extends keyof SpanIds>(key: Key) => wanted.map((one) => one[key])
  return { projects: of('project_id'), traces: of('trace_id'), ids: of('id') }
}

const versionOf = (row: { project_id: string; id: string; started_us: string; clock: string }): string =>
  `${row.project_id}\n${row.id}\n${row.started_us}\n${row.clock}`

const notJoined = { base: '0', joined_clock: '0' }

/**
 * Calls by `spanKeyOf`. Three statements side by side: the engine takes longer to join them than to read them.
 * @param onlySpans without calls that were not sent as spans
 * @returns null for a call whose payload has not come into the tables yet
 */
export async function readSpans(
  store: Pick<Store, 'rows'>,
  wanted: readonly SpanIds[],
  onlySpans: boolean,
  as: Pick<QueryOptions, 'pool' | 'timeoutMs'>,
): Promise<Map<string, SpanRow | null>> {
  const ids = wantedParams(wanted)
  const [calls, payloads, joins] = await allResults(
    store.rows<SpanCallRow>(statement('log-joins-spans', ids), as),
    store.rows<SpanPayloadRow>(statement('log-joins-payloads', { ...ids, dumps: onlySpans ? 1 : 0 }), as),
    store.rows<JoinedRow>(statement('log-joins-joined', ids), as),
  )
  const payloadOf = new Map(payloads.map((row) => [versionOf(row), row]))
  const joinedOf = new Map(joins.map((row) => [spanKeyOf(row.project_id, row.trace_id, row.span_id), row]))
  const spans = new Map<string, SpanRow | null>()
  for (const call of calls) {
    const key = spanKeyOf(call.project_id, call.trace_id, call.id)
    const payload = payloadOf.get(versionOf(call))
    if (payload === undefined) spans.set(key, null)
    else if (Number(payload.wanted) === 1) {
      const { base, joined_clock } = joinedOf.get(key) ?? notJoined
      spans.set(key, { ...payload, ...call, base, joined_clock })
    }
  }
  return spans
}
