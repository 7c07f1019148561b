// The three kinds of rebuild: from the log, from the calls, and by recomputing dirty buckets.
import type { Position } from '../../core/log/log.ts'
import type { Store } from '../../core/store/store.ts'
import { createFieldIndex } from '../../derived/field-index/field-index.ts'
import { readHourRanges } from '../../derived/rollups/hours.ts'
import { recomputeDirty } from '../../derived/rollups/recompute.ts'
import { allCountedAgain, type Rollup, rollupTable } from '../../derived/rollups/rollup-table.ts'
import { type DeclaredTable, tables } from '../../tables/registry.ts'
import { createCallMaterializer } from '../../worker/calls/merge-fragments.ts'
import { fromLog } from './from-log.ts'
import type { KindDeps, RebuildKind, RebuildTask } from './kind.ts'
import { copyOfCalls, lineageOf, readSelect } from './lineage.ts'
import { createShadowTables, shadowDatabaseOf } from './shadow-tables.ts'

const hourUs = 3_600_000_000
const aside = { background: true }
/** Partition of a rebuild's own dirty buckets: no log has so many. */
const ownPartition = 2 ** 32 - 1

async function eachWindow(
  store: Store,
  task: RebuildTask,
  work: (window: { fromUs: number; beforeExclusiveUs: number }) => Promise<void>,
): Promise<void> {
  const windows = await readHourRanges(store, task.cursor[0] ?? 0)
  const of = windows.reduce((sum, { rows }) => sum + rows, 0)
  let done = 0
  for (const window of windows) {
    task.signal.throwIfAborted()
    const beganMs = performance.now()
    await work(window)
    done += window.rows
    await task.onProgress({
      cursor: [window.beforeExclusiveUs],
      rows: window.rows,
      tookMs: performance.now() - beganMs,
      done,
      of,
    })
  }
}

function fromCalls({ store, server }: KindDeps, table: string): RebuildKind {
  const shadow = createShadowTables(store, { tables: [table] }, server)
  const shadowDatabase = shadowDatabaseOf(server)
  return {
    shadow,
    async begin(signal) {
      await shadow.mirror(table)
      await shadow.awaitOlderInserts(signal)
    },
    // Fills in order with the batches of this process: some of these tables keep the latest row.
    async fill(task) {
      const select = await readSelect(store, table, server?.database)
      await eachWindow(store, task, (window) =>
        store.command(copyOfCalls(`${shadowDatabase}.${table}`, select, window, server?.database)),
      )
    },
    finish: (_, exchange) => exchange(),
    after: async () => {},
  }
}

/** Tables that a rollup writes, the one of its name first. */
const tablesOfRollup = (name: string): string[] =>
  tables
    .filter(({ rollup }) => rollup === name)
    .map((table) => table.name)
    .toSorted((a, b) => Number(b === name) - Number(a === name))
const rollupOf = (table: string): string | undefined => tables.find(({ name }) => name === table)?.rollup

/** Copies field values that another process wrote before the exchange and noted as indexed after it. */
const straddlingFieldValues = (shadowDatabase: string, sinceUs: number) => ({
  name: 'rebuild.straddling-leaves',
  sql: `INSERT INTO callhouse.payload_leaves SELECT * FROM ${shadowDatabase}.payload_leaves
    WHERE chunk IN (SELECT chunk FROM callhouse.payload_chunks WHERE chunk >= {since:UInt64})
      AND chunk NOT IN (SELECT chunk FROM callhouse.payload_leaves WHERE chunk >= {since:UInt64})`,
  params: { since: sinceUs },
})
/** A group's number is the time at which it was written, in us; clocks of processes differ by less than this. */
const straddlingUs = 600_000_000

function fromDirtyBuckets({ store, log, worker, server }: KindDeps, name: string): RebuildKind {
  const plan = { tables: tablesOfRollup(name), helpers: ['call_marks'] }
  const shadow = createShadowTables(store, plan, server)
  const isFieldIndex = name === 'payload_leaves'
  const rollups = isFieldIndex ? worker.fieldIndexRollups : worker.rollups
  const marker = createCallMaterializer(shadow.store)
  let covered = new Map<number, number>()

  const recompute = async (
    task: RebuildTask,
    due: { partition: number; covered: number; upTo: number }[],
    through: Store = shadow.store,
  ): Promise<void> => {
    const fieldIndex = isFieldIndex ? createFieldIndex({ store: through }) : undefined
    const rollup = (fieldIndex?.rollup ?? rollupTable.find((one) => one.name === name)) as Rollup
    const range = {
      partitions: due.map(({ partition }) => partition),
      covered: due.map((one) => one.covered),
      upTo: due.map(({ upTo }) => upTo),
      minCovered: Math.min(...due.map((one) => one.covered)),
      revision: Date.now() * 1_000,
      slots: [],
      ...allCountedAgain,
    }
    const stop = () => fieldIndex?.stop()
    task.signal.addEventListener('abort', stop)
    try {
      if (rollup.recomputed) await recomputeDirty(through, rollup.recomputed, range)
      await rollup.derive?.(range)
    } finally {
      task.signal.removeEventListener('abort', stop)
    }
  }

  /** Recomputes what became dirty since the rebuild began, also by batches that are not committed yet. */
  const catchUp = async (task: RebuildTask, through?: Store): Promise<void> => {
    const committed: Position[] = await log.committed('calls')
    const due = committed.map(({ partition, offset }) => ({
      partition,
      covered: covered.get(partition) ?? -1,
      upTo: offset,
    }))
    if (due.length > 0) await recompute(task, due, through)
    covered = new Map(due.map(({ partition, upTo }) => [partition, upTo]))
  }

  return {
    shadow,
    async begin(signal) {
      await shadow.mirror('call_marks')
      await shadow.awaitOlderInserts(signal)
    },
    async fill(task) {
      await eachWindow(store, task, async ({ fromUs, beforeExclusiveUs }) => {
        // Hours since 1970 as positions: they grow, and are the same when a batch is repeated.
        const position = Math.max(1, fromUs / hourUs)
        await marker.markRangeDirty({ partition: ownPartition, offset: position }, { fromUs, beforeExclusiveUs })
        await recompute(task, [{ partition: ownPartition, covered: position - 1, upTo: position }])
      })
      await catchUp(task)
    },
    finish: (task, exchange) =>
      rollups.exclusive(async () => {
        await catchUp(task)
        const before = covered
        await exchange(aside)
        if (!server) return
        // Another process may have counted into the old table since.
        await shadow.awaitOlderInserts(task.signal)
        const since = Date.now() * 1_000 - straddlingUs
        if (isFieldIndex) await store.command(straddlingFieldValues(shadowDatabaseOf(server), since), aside)
        covered = before
        await catchUp(task, store)
      }),
    after: async () => {},
  }
}

/** The kind of rebuild of a table. @throws Error when it cannot be rebuilt */
export function rebuildKindOf(deps: KindDeps, table: string): RebuildKind {
  const origin = lineageOf(table)
  if (origin?.from === 'log') return fromLog(deps, table, origin.topic)
  if (origin?.from === 'calls') return fromCalls(deps, table)
  const rollup = rollupOf(table)
  if (rollup) return fromDirtyBuckets(deps, rollup)
  throw new Error(`${table} cannot be rebuilt: nothing else holds its rows`)
}

const isRebuildable = ({ name, kind, rollup }: DeclaredTable): boolean =>
  kind !== 'scratch' && (rollup !== undefined || ['log', 'calls'].includes(lineageOf(name)?.from ?? ''))

export const rebuildableTables: readonly string[] = tables
  .filter(isRebuildable)
  .map(({ name }) => name)
  .toSorted()
