// Takes out the op objects that were made for the names of erased calls and that nothing else names: what the sender of a
// span called it stands in them.
import { placeholderOpDigest as digest } from '../content/op-objects.ts'
import type { Log } from '../core/log/log.ts'
import { statement } from '../core/store/statements.ts'
import type { Query, Store } from '../core/store/store.ts'
import type { Budget } from '../derived/budget.ts'
import type { HeldCalls } from './held-calls.ts'
import type { RowRemoval } from './remove-rows.ts'
import { LogNotRewritten, rewriteFilesInLog } from './rewrite-log.ts'

const background = { pool: 'background', timeoutMs: 600_000 } as const
/** Refs that one look at texts searches for. */
const refsAtOnce = 200

export type OpRemovalDeps = {
  store: Pick<Store, 'rows'>
  budget: Budget
  log: Pick<Log, 'rewrite'>
  removeRows: RowRemoval['remove']
  held: HeldCalls
}

type Op = { object: string; ref: string }

/** @returns how many op objects went */
export type OpRemoval = (projectId: string, calls: readonly { id: string; deleteVer: bigint }[]) => Promise<number>

export function createOpRemoval(deps: OpRemovalDeps): OpRemoval {
  const { store, budget, log, removeRows, held } = deps
  const read = <Row>(query: Query): Promise<Row[]> => budget.run(() => store.rows<Row>(query, background))

  /** Those that nothing names which stays. */
  async function unnamed(projectId: string, ops: readonly Op[], ids: ReadonlySet<string>): Promise<Op[]> {
    const params = { project: projectId, lead: `weave:///${projectId}/op/`, digest, ids: [...ids] }
    const stays = statement('erasure.stays').sql
    const free: Op[] = []
    for (let i = 0; i < ops.length; i += refsAtOnce) {
      const some = ops.slice(i, i + refsAtOnce)
      const refs = some.map(({ ref }) => ref)
      const named = await read<{ ref: string }>(statement('erasure.ops-of-calls', { ...params, refs }, { stays }))
      const kept = new Set(named.map(({ ref }) => ref))
      const rest = refs.filter((ref) => !kept.has(ref))
      if (rest.length === 0) continue
      for (const { ref } of await read<{ ref: string }>(statement('erasure.ops-in-texts', { ...params, refs: rest })))
        kept.add(ref)
      free.push(...some.filter(({ ref }) => !kept.has(ref)))
    }
    return free
  }

  return async (projectId, calls) => {
    const ids = await held.of(projectId)
    if (ids === 'all') return 0
    const params = { project: projectId, lead: `weave:///${projectId}/op/`, digest, ids: calls.map(({ id }) => id) }
    let latest = 0n
    for (const { deleteVer } of calls) if (deleteVer > latest) latest = deleteVer
    const found = await read<Op & { ver: string }>(statement('erasure.ops-named', params))
    // An op that came once more after the deletes is named by a call that may not be applied yet.
    const older = found.filter(({ ver }) => BigInt(ver) < latest)
    const ops = older.length === 0 ? [] : await unnamed(projectId, older, ids)
    if (ops.length === 0) return 0
    const names = ops.map(({ object }) => object)
    const gone = { files: new Set<string>(), objects: new Set<string>(), ops: new Set(names) }
    const places = await rewriteFilesInLog(log, new Map([[projectId, gone]]))
    if (places.length > 0) throw new LogNotRewritten(places)
    const where = `kind = 'op' AND digest IN {digests:Array(String)} AND object_id IN {names:Array(String)}`
    for (const table of ['object_events', 'objects'])
      await removeRows({ table, where }, projectId, { digests: [digest], names })
    return ops.length
  }
}
