// Deletes calls with everything below them, for whichever route was asked to.

import type { Clock } from '../../core/clock/clock.ts'
import type { RouteContext } from '../../core/http/route.ts'
import type { ProjectId } from '../../core/ids.ts'
import { type Freshness, staleHeader, throwIfStale } from '../../core/log/freshness.ts'
import type { Log, Position, RecordSplit } from '../../core/log/log.ts'
import { formatPositions, positionHeader } from '../../core/log/positions.ts'
import type { Store } from '../../core/store/store.ts'
import { appendCalls, createCallWriter } from '../../events/calls-writer.ts'
import { readTuples } from '../compact-rows.ts'
import { type DeletedTrees, deleteWithDescendants, usualBounds, type WalkBounds } from './descendants.ts'

export type DeleteCallsDeps = {
  store: Pick<Store, 'bytes'>
  log: Pick<Log, 'append'>
  clock: Clock
  freshness: Freshness
  /** One partition and records of any size when absent. */
  split?: RecordSplit
  bounds?: WalkBounds
}

/** Each of them as long as a read waits. */
const maxWaits = 10

/** @param walk.positions of what was appended, further deletes of the request add to it; `begin` runs before each append */
export async function deleteCallTrees(
  { store, log, clock, freshness, split = {}, bounds = usualBounds }: DeleteCallsDeps,
  { signal }: Pick<RouteContext, 'signal'>,
  projectId: ProjectId,
  ids: string[],
  { positions, begin }: { positions: Map<number, Position>; begin(): Promise<void> },
): Promise<DeletedTrees> {
  return deleteWithDescendants(
    {
      read: (query) => readTuples(store, query, { signal }),
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
        const written = formatPositions([...positions.values()])
        const header = (name: string) => (name === positionHeader.toLowerCase() ? written : undefined)
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
}
