// Deleting calls with their descendants: POST /calls/delete. Served here, because the descendants are found by reading.
import { callsDeleteRequest, callsDeleteResponse } from '../../../schemas/calls-read.ts'
import type { Audit } from '../../core/audit/audit.ts'
import { auditedOnce, idsOf } from '../../core/audit/audited.ts'
import type { Clock } from '../../core/clock/clock.ts'
import { tooLarge } from '../../core/errors.ts'
import { type Route, route } from '../../core/http/route.ts'
import { type Freshness, staleHeader, throwIfStale } from '../../core/log/freshness.ts'
import type { Log, Position, RecordSplit } from '../../core/log/log.ts'
import { formatPositions, positionHeader } from '../../core/log/positions.ts'
import type { Query, Store } from '../../core/store/store.ts'
import { appendCalls, createCallWriter } from '../../events/calls-writer.ts'
import { deleteWithDescendants, usualBounds, type WalkBounds } from './descendants.ts'
import { compactRows } from './header.ts'

export type CallDeleteDeps = {
  store: Pick<Store, 'bytes'>
  log: Pick<Log, 'append'>
  clock: Clock
  freshness: Freshness
  audit: Pick<Audit, 'begin'>
  /** One partition and records of any size when absent. */
  split?: RecordSplit
  bounds?: WalkBounds
}

const maxIds = 1_000
/** Each of them as long as a read waits. */
const maxWaits = 10

export function createCallDeleteRoutes(deps: CallDeleteDeps): Route[] {
  const { store, log, clock, freshness, audit, split = {}, bounds = usualBounds } = deps
  return [
    route({
      name: 'calls.delete',
      method: 'POST',
      path: '/calls/delete',
      summary: 'Deletes calls and their descendants',
      body: { type: 'json', schema: callsDeleteRequest, check: 'schema' },
      response: callsDeleteResponse,
      topics: ['calls'],
      tables: ['calls', 'call_keys', 'calls_deleted'],
      async handle(context) {
        const { input, signal } = context
        const projectId = context.project(input.project_id)
        if (input.call_ids.length > maxIds) throw tooLarge()
        const ids = [...new Set(input.call_ids)]
        if (ids.length === 0) return { json: { num_deleted: 0 } }
        const headers = await freshness.wait(context, ['calls'])
        // What is not in the tables yet would stay: of the calls that are named, and of their descendants.
        throwIfStale(headers)
        const positions = new Map<number, Position>()
        const written = () => formatPositions([...positions.values()])
        const event = { action: 'calls.deleted', scope: projectId, details: { call_ids: idsOf(ids) } }
        const walk = (begin: () => Promise<void>) =>
          deleteWithDescendants(
            {
              read: async <Row>(query: Query) =>
                compactRows<Row>(await store.bytes(query, 'JSONCompactEachRow', { signal })),
              async append(some) {
                signal.throwIfAborted()
                await begin()
                const writer = createCallWriter({ sizeHintBytes: some.length * 150, ...split })
                for (const id of some) writer.add({ kind: 'delete', projectId, id, clock: clock.next() })
                for (const position of await appendCalls(log, writer.take()))
                  if (position.offset > (positions.get(position.partition)?.offset ?? 0))
                    positions.set(position.partition, position)
              },
              async settled() {
                const header = (name: string) => (name === positionHeader.toLowerCase() ? written() : undefined)
                const asking = { header, query: new URLSearchParams(), signal }
                let said: Record<string, string> = {}
                for (let waits = 0; waits < maxWaits; waits++) {
                  said = await freshness.wait(asking, ['calls'])
                  if (!(staleHeader in said)) return
                }
                throwIfStale(said)
              },
              beganClock: clock.next(),
              bounds,
            },
            projectId,
            ids,
          )
        const num_deleted = await auditedOnce(audit, [event], walk)
        if (positions.size === 0) return { json: { num_deleted }, headers }
        return { json: { num_deleted }, headers: { ...headers, [positionHeader]: written() } }
      },
    }),
  ]
}
