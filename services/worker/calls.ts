// Materializes the topic calls: rows in, fold of the touched calls, marks of the touched minutes.
import type { Batch } from '../core/log/log.ts'
import type { Store } from '../core/store/store.ts'
import type { Materializer } from './materializer.ts'
import { statement } from './statements.ts'

/** Above this many finished rows the look for other start times is left to the sweep: it costs a random read per id. */
const lookupRows = 2_000

type Scratch = 'calls_batch' | 'calls_touched' | 'calls_folded'

export type CallMaterializer = Materializer & {
  after(batch: Pick<Batch, 'rowCount' | 'patchCount' | 'lastOffset'>): Promise<void>
  /** Folds calls that arrived whole under two start times in large segments; returns how many. */
  sweep(position: number): Promise<number>
}

export function createCallMaterializer(store: Store): CallMaterializer {
  /** Scratch tables that may hold rows of the previous batch; after a start that is all of them. */
  const filled = new Set<Scratch>(['calls_batch', 'calls_touched', 'calls_folded'])

  const empty = async (): Promise<void> => {
    for (const table of filled) {
      await store.command({ name: `truncate.${table}`, sql: `TRUNCATE TABLE callhouse.${table}`, params: {} })
      filled.delete(table)
    }
  }

  /** Joins the touched calls into `calls_folded`, hides turns that they were; returns how many there are. */
  const fold = async (): Promise<number> => {
    const [row] = await store.rows<{ n: number }>({
      name: 'calls-touched-count',
      sql: 'SELECT toUInt32(count()) AS n FROM callhouse.calls_touched',
      params: {},
    })
    const touched = Number(row?.n ?? 0)
    if (touched > 0) {
      filled.add('calls_folded')
      await store.command(statement('calls-fold'))
      await store.command(statement('calls-fold-turns'))
    }
    return touched
  }

  return {
    topic: 'calls',
    async before() {
      await empty()
      // from here on the insert fills it, also one that fails halfway
      filled.add('calls_batch')
    },
    async after(batch) {
      filled.add('calls_touched')
      await store.command(statement('calls-touched'))
      if (batch.rowCount > batch.patchCount && batch.rowCount <= lookupRows)
        await store.command(statement('calls-touched-again'))
      if ((await fold()) > 0) await store.command(statement('calls-apply-fold'))
      await store.command(statement('call-marks', { position: batch.lastOffset }))
    },
    async sweep(position) {
      await empty()
      filled.add('calls_touched')
      await store.command(statement('calls-touched-sweep'))
      const folded = await fold()
      if (folded === 0) return 0
      // Marks first: no later sweep would find rows that were stored without their marks.
      await store.command(statement('call-marks', { position }))
      await store.command(statement('calls-apply-fold'))
      return folded
    },
  }
}
