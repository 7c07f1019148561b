// Evaluation runs in the worker: their rows are read once and stay here, the page gets what it shows of them.
import { eachLine } from '../api/lines.ts'
import { send, staleMsOf } from '../api/send.ts'
import { type Comparison, compare } from '../engine/comparison.ts'
import { exampleTexts, type RunHead, type RunRow, runHeadOf, runRowOf } from '../engine/evaluation-rows.ts'
import type { ListPage } from '../engine/lists.ts'
import { opNameOf } from '../engine/rows.ts'

type Context = { signal: AbortSignal }

const opNames = (projectId: string, ...names: string[]): string[] =>
  names.flatMap((name) => [name, `weave:///${projectId}/op/${name}:*`])

const headColumns = [
  'id',
  'trace_id',
  'op_name',
  'display_name',
  'started_at',
  'ended_at',
  'exception',
  'summary',
  'inputs',
  'output',
  'attributes',
]

/** @param ids only these; null = the latest */
export async function evaluationRuns(
  { signal }: Context,
  base: string,
  project_id: string,
  ids: string[] | null,
  limit: number,
): Promise<ListPage<RunHead>> {
  const heads: RunHead[] = []
  const filter = ids === null ? { op_names: opNames(project_id, 'Evaluation.evaluate') } : { call_ids: ids }
  const sort_by = [{ field: 'started_at', direction: 'desc' }]
  const body = { project_id, filter, sort_by, limit, columns: headColumns }
  const response = await send(base, 'calls.stream_query', body, { signal })
  await eachLine(response, (record) => heads.push(runHeadOf(record)))
  return { rows: heads, staleMs: staleMsOf(response) }
}

const rowOps = new Set(['Evaluation.predict_and_score', 'Evaluation.predictAndScore'])
/** Runs whose rows are kept; the one that was asked for longest ago goes first. */
const maxKept = 8
const keptMs = 60_000
const kept = new Map<string, { rows: RunRow[]; readMs: number }>()

const rowColumns = ['id', 'trace_id', 'parent_id', 'op_name', 'started_at', 'ended_at', 'exception', 'inputs', 'output']

/** Rows by run, of all runs that are not kept in one request. */
async function readRows(
  { signal }: Context,
  base: string,
  project_id: string,
  runIds: readonly string[],
): Promise<RunRow[][]> {
  const keyOf = (runId: string): string => `${project_id} ${runId}`
  const found = new Map<string, RunRow[]>()
  for (const runId of runIds) {
    const one = kept.get(keyOf(runId))
    if (one !== undefined && Date.now() - one.readMs < keptMs) found.set(runId, one.rows)
  }
  const missing = runIds.filter((runId) => !found.has(runId))
  if (missing.length > 0) {
    for (const runId of missing) found.set(runId, [])
    const sort_by = [{ field: 'started_at', direction: 'asc' }]
    const body = { project_id, filter: { parent_ids: missing }, sort_by, columns: rowColumns }
    await eachLine(await send(base, 'calls.stream_query', body, { signal }), (record) => {
      if (rowOps.has(opNameOf(String(record.op_name)))) found.get(String(record.parent_id))?.push(runRowOf(record))
    })
    for (const runId of missing) keep(keyOf(runId), found.get(runId) ?? [])
  }
  return runIds.map((runId) => found.get(runId) ?? [])
}

function keep(key: string, rows: RunRow[]): void {
  kept.delete(key)
  // Rows that still run are read again.
  if (!rows.some(({ runs }) => runs)) kept.set(key, { rows, readMs: Date.now() })
  for (const oldest of kept.keys()) {
    if (kept.size <= maxKept) break
    kept.delete(oldest)
  }
}

export async function evaluationRows(context: Context, base: string, projectId: string, runId: string) {
  const [rows = []] = await readRows(context, base, projectId, [runId])
  return rows
}

export async function comparison(
  context: Context,
  base: string,
  projectId: string,
  runIds: string[],
  lower: string[],
  chosen: string[],
): Promise<Comparison> {
  const runs = await readRows(context, base, projectId, runIds)
  return compare(runs, { lower: new Set(lower), chosen: new Set(chosen) })
}

/** The values of refs of examples, for the rows in view. */
export async function examples({ signal }: Context, base: string, refs: string[]) {
  const response = await send(base, 'refs.read_batch', { refs }, { signal })
  const { vals } = (await response.json()) as { vals: unknown[] }
  return new Map(refs.map((ref, place) => [ref, exampleTexts(vals[place])]))
}
