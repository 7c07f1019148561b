// Evaluation runs in the worker: their rows are read once and stay here, the page gets what it shows of them.
import { eachLine } from '../api/lines.ts'
import { send, staleMsOf } from '../api/send.ts'
import { type Comparison, compare } from '../engine/comparison.ts'
import { exampleTexts, type RunHead, type RunRow, runHeadOf, runRowOf } from '../engine/evaluation-rows.ts'
import { opNameOf } from '../engine/rows.ts'

type Context = { signal: AbortSignal }
export type RunsAnswer = { heads: RunHead[]; staleMs: number }

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
): Promise<RunsAnswer> {
  const heads: RunHead[] = []
  const filter = ids === null ? { op_names: opNames(project_id, 'Evaluation.evaluate') } : { call_ids: ids }
  const sort_by = [{ field: 'started_at', direction: 'desc' }]
  const body = { project_id, filter, sort_by, limit, columns: headColumns }
  const response = await send(base, 'calls.stream_query', body, { signal })
  await eachLine(response, (record) => heads.push(runHeadOf(record)))
  return { heads, staleMs: staleMsOf(response) }
}

const rowOps = new Set(['Evaluation.predict_and_score', 'Evaluation.predictAndScore'])
/** Runs whose rows are kept; the one that was asked for longest ago goes first. */
const maxKept = 8
const keptMs = 60_000
const kept = new Map<string, { rows: RunRow[]; readMs: number }>()

const rowColumns = ['id', 'trace_id', 'op_name', 'started_at', 'ended_at', 'exception', 'inputs', 'output', 'summary']

async function readRows({ signal }: Context, base: string, project_id: string, runId: string): Promise<RunRow[]> {
  const key = `${project_id} ${runId}`
  const found = kept.get(key)
  if (found !== undefined && Date.now() - found.readMs < keptMs) return found.rows
  const rows: RunRow[] = []
  const sort_by = [{ field: 'started_at', direction: 'asc' }]
  const body = { project_id, filter: { parent_ids: [runId] }, sort_by, columns: rowColumns }
  await eachLine(await send(base, 'calls.stream_query', body, { signal }), (record) => {
    if (rowOps.has(opNameOf(String(record.op_name)))) rows.push(runRowOf(record))
  })
  kept.delete(key)
  // What still runs is read anew.
  if (!rows.some(({ runs }) => runs)) kept.set(key, { rows, readMs: Date.now() })
  for (const oldest of kept.keys()) {
    if (kept.size <= maxKept) break
    kept.delete(oldest)
  }
  return rows
}

export const evaluationRows = (context: Context, base: string, projectId: string, runId: string) =>
  readRows(context, base, projectId, runId)

export async function comparison(
  context: Context,
  base: string,
  projectId: string,
  runIds: string[],
  lower: string[],
  chosen: string[],
): Promise<Comparison> {
  const runs = await Promise.all(runIds.map((id) => readRows(context, base, projectId, id)))
  return compare(runs, { lower: new Set(lower), chosen: new Set(chosen) })
}

/** What refs of examples stand for, for the rows in view. */
export async function examples({ signal }: Context, base: string, refs: string[]) {
  const response = await send(base, 'refs.read_batch', { refs }, { signal })
  const { vals } = (await response.json()) as { vals: unknown[] }
  return new Map(refs.map((ref, place) => [ref, exampleTexts(vals[place])]))
}
