// Removes rows and files for good: retention, and the pieces of erasures. Both leave out what is held.
import type { ProcessAudit } from '../core/audit/audit.ts'
import type { StoredBlobs } from '../core/blobs/blobs.ts'
import type { HeldKeys } from '../core/directory/holds.ts'
import type { Log } from '../core/log/log.ts'
import type { Store } from '../core/store/store.ts'
import type { Budget } from '../derived/budget.ts'
import { createFileRemoval } from '../removal/files.ts'
import { createHeldCalls } from '../removal/held-calls.ts'
import { createPurge, type PurgeRules } from '../removal/purge.ts'
import { createDerivedPurge } from '../removal/purge-derived.ts'
import { createRowRemoval, type RowRemovalDeps } from '../removal/rows.ts'
import type { Worker } from '../worker/run.ts'

export type RemovalRules = {
  purgeRules: PurgeRules
  /** Holds of a project. */
  heldOf(projectId: string): HeldKeys
}

export function createRemovals(
  deps: RemovalRules & {
    store: Store
    log: Log
    blobs: StoredBlobs
    audit: Pick<ProcessAudit, 'record'>
    config: { purgeDays: number; otelVendorNamespaces: readonly string[] }
    budget: Budget
    /** Whether the tables hold everything that the log held just now. */
    settled(): Promise<boolean>
    worker(): Pick<Worker, 'fieldIndexRollups' | 'recount'>
  },
) {
  const { store, log, blobs, budget, worker } = deps
  const deriving: RowRemovalDeps = {
    store,
    budget,
    betweenDerivations: (job) => worker().fieldIndexRollups.exclusive(job),
    recount: (range) => worker().recount(range),
  }
  const removal = createRowRemoval(deriving)
  const held = createHeldCalls({ store, heldOf: deps.heldOf, vendors: deps.config.otelVendorNamespaces })
  const fileRemoval = createFileRemoval({ store, budget, log, held, blobs, removeRows: removal.remove })
  const purge = createPurge({
    store,
    budget,
    held,
    rules: deps.purgeRules,
    roundDays: deps.config.purgeDays,
    derived: createDerivedPurge({ ...deriving, remove: removal.remove }),
    async removeOldFiles(projectId, beforeMs) {
      // A call that is not applied yet may name them.
      if (!(await deps.settled())) return 0
      return (await fileRemoval.removeOld(projectId, beforeMs)).length
    },
    record: (events) => Promise.all(events.map(deps.audit.record)),
  })
  return { held, removal, fileRemoval, purge }
}
