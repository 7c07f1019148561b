// Asks the log before a long batch of several projects becomes rows.
import { asFault } from '../../core/http/errors.ts'
import type { ProjectId } from '../../core/ids.ts'
import { refuseEarly } from '../../core/log/early-refusal.ts'
import type { EdgeLog } from '../../core/log/log.ts'
import type { OpenProject } from './items.ts'

/** How the SDKs of Python and Node begin a batch: no other place is looked at, which could be a payload's. */
const batchStart = /^\{"batch": ?\[\{"mode": ?"(start|end)", ?"req": ?\{"\1": ?\{"project_id": ?"([^"\\]+)"/

/**
 * Of a batch whose first item names its project where SDKs do; who may not write there is told by items.
 * @throws Refusal
 */
export function refuseEarlyBatch(log: Pick<EdgeLog, 'refusal'>, open: OpenProject, bytes: Buffer): void {
  const first = batchStart.exec(bytes.toString('latin1', 0, 512))?.[2]
  if (first === undefined) return
  let project: ProjectId
  try {
    project = open(first)
  } catch (error) {
    if (asFault(error) === undefined) throw error
    return
  }
  refuseEarly(log, project, bytes.length)
}
