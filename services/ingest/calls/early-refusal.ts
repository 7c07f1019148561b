// Asks the log before a long batch of several projects becomes rows.
import { asFault } from '../../core/http/errors.ts'
import type { ProjectId } from '../../core/ids.ts'
import { refuseEarly } from '../../core/log/early-refusal.ts'
import type { EdgeLog } from '../../core/log/log.ts'
import type { OpenProject } from './items.ts'

/** First bytes of a batch of the Python and Node SDKs: no other place is read, since it could be a payload's. */
const batchStart = /^\{"batch": ?\[\{"mode": ?"(start|end)", ?"req": ?\{"\1": ?\{"project_id": ?"([^"\\]+)"/

/**
 * Refuses a batch early whose first item names its project where SDKs do; a caller without rights gets the answer item
 * by item.
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
