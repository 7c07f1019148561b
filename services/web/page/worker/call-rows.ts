// Calls as rows of cells, for files and datasets.
import { send } from '../api/send.ts'
import { type CellsWith, callCells } from '../engine/call-cells.ts'
import { skipSpace } from '../engine/json-index.ts'
import type { Member } from '../engine/json-texts.ts'

const newline = 10

export async function callRows(
  { signal }: { signal: AbortSignal },
  base: string,
  project_id: string,
  call_ids: readonly string[],
  more?: CellsWith,
): Promise<Member[][]> {
  const asked = { project_id, filter: { call_ids }, include_costs: more === 'usage' }
  const response = await send(base, 'calls.stream_query', asked, { signal })
  const bytes = new Uint8Array(await response.arrayBuffer())
  const rows: Member[][] = []
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(newline, at)
    const line = bytes.subarray(at, end === -1 ? bytes.length : end)
    if (line.length > 0) rows.push(callCells(line, skipSpace(line, 0), more))
    at = end === -1 ? bytes.length : end + 1
  }
  return rows
}
