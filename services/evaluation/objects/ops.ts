// Ops that exist by their name only: placeholder objects, and the refs that calls and objects name them by.

import { createOpObjects, placeholderOpDigest } from '../../content/op-objects.ts'
import type { Clock } from '../../core/clock/clock.ts'
import type { ProjectId } from '../../core/ids.ts'
import type { Log, Position } from '../../core/log/log.ts'
import { checkObjectId, safeName } from './names.ts'

type NamedOps = {
  /** Refs in the order of the names, which they hold as they were written. */
  refs: string[]
  /** Positions of the writes; [] when nothing was missing. */
  positions: Position[]
}

/**
 * Makes the placeholder op of each name unless this process has made it before; its object id is `safeName(name)`.
 * @throws Fault 400 for a name that gives no object id
 */
export type EnsureOps = (projectId: ProjectId, userId: string, names: readonly string[]) => Promise<NamedOps>

type OpDeps = {
  log: Pick<Log, 'append'>
  clock: Clock
}

export function createEnsureOps(deps: OpDeps): EnsureOps {
  const ops = createOpObjects(deps)
  return async (projectId, userId, names) => {
    const writes = ops.begin()
    for (const name of names) writes.ref(projectId, userId, checkObjectId(safeName(name)))
    const refs = names.map((name) => `weave:///${projectId}/op/${name}:${placeholderOpDigest}`)
    return { refs, positions: await writes.append() }
  }
}

/** Writes the placeholder ops of these object ids, whether they are there or not: deleted ones live again. */
export type WriteOps = (projectId: ProjectId, userId: string, objectIds: readonly string[]) => Promise<NamedOps>

export function createWriteOps(deps: OpDeps): WriteOps {
  const ops = createOpObjects({ ...deps, recentLimit: 0 })
  return async (projectId, userId, objectIds) => {
    const writes = ops.begin()
    const refs = objectIds.map((objectId) => writes.ref(projectId, userId, objectId))
    return { refs, positions: await writes.append() }
  }
}
