// A record of the log whose rows all belong to one project.
import type { RecordInput } from '../core/log/log.ts'

type Rows = Pick<RecordInput, 'rows' | 'rowCount' | 'clock' | 'key'>

/** @param rows none of them a patch */
export const projectRecord = (projectId: string, rows: Rows): RecordInput => ({
  ...rows,
  patchCount: 0,
  projects: new Map([[projectId, rows.rows.length]]),
})
