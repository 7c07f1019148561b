// Rows of the topic tables: table rows by content, and the lists of row digests that make tables.
import { canonicalJson, oneLine } from './canonical-json.ts'
import { canonicalDigest, tableDigest } from './digest.ts'
import type { ProjectId } from './ids.ts'
import type { RecordInput } from './log/log.ts'
import { quoted } from './object-rows.ts'

/** Digests in one chunk of a list; part of the stored form, because places are found by division. */
export const listChunkRows = 1000

export type TableRow = {
  /** JSON text of an object, on one line. */
  val: string
  digest: string
  /** Bytes of the canonical JSON. */
  sizeBytes: number
}

/** @throws Fault 400 for numbers beyond double range, 413 when nested too deep */
export function tableRow(jsonText: string): TableRow {
  const canonical = canonicalJson(jsonText)
  return { val: oneLine(jsonText), digest: canonicalDigest(canonical), sizeBytes: canonical.length }
}

export type TableCreated = {
  projectId: ProjectId
  /** The table's list, in order; its rows may be stored already or never. */
  digest: string
  rowDigests: readonly string[]
  /** Rows to store. */
  rows: Iterable<TableRow>
  clock: bigint
}

/** Digest of a table and the list it stands for. */
export const tableOf = (rowDigests: readonly string[]): Pick<TableCreated, 'digest' | 'rowDigests'> => ({
  digest: tableDigest(rowDigests),
  rowDigests,
})

/** One record with each distinct row and every chunk of the list. */
export function tableRecord({ projectId, digest, rowDigests, rows, clock }: TableCreated): RecordInput {
  const project = `{"project_id":${quoted(projectId)},"kind":`
  const lines: string[] = []
  const written = new Set<string>()
  for (const row of rows) {
    if (written.has(row.digest)) continue
    written.add(row.digest)
    lines.push(
      `${project}"row","digest":"${row.digest}","clock":${clock},"size_bytes":${row.sizeBytes},"val":${row.val}}\n`,
    )
  }
  const list = `${project}"list","digest":"${digest}","clock":${clock}`
  const count = rowDigests.length > 0 ? `,"row_count":${rowDigests.length}` : ''
  for (let at = 0; at === 0 || at < rowDigests.length; at += listChunkRows) {
    const chunk = rowDigests.slice(at, at + listChunkRows)
    const index = at === 0 ? '' : `,"chunk_index":${at / listChunkRows}`
    const digests = chunk.length > 0 ? `,"row_digests":[${chunk.map(quoted).join(',')}]` : ''
    lines.push(`${list}${index}${count}${digests}}\n`)
  }
  return {
    rows: Buffer.from(lines.join('')),
    rowCount: lines.length,
    patchCount: 0,
    clock,
    key: `${projectId}/${digest}`,
  }
}
