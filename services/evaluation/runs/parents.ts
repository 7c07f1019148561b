// Finds the run of predictions and scores.
import type { RouteContext } from '../../core/http/route.ts'
import type { ProjectId } from '../../core/ids.ts'
import { type CallTexts, type EvaluationCalls, evaluationAttributes, isRow, textAt } from './calls.ts'

/**
 * Ids of the runs of some calls, at most a thousand: what the attributes say, else the call above the one of
 * predict_and_score, else null.
 */
export async function runIdsOf(
  calls: EvaluationCalls,
  context: RouteContext<unknown>,
  projectId: ProjectId,
  some: readonly CallTexts[],
): Promise<(string | null)[]> {
  const said = some.map((call) => textAt(evaluationAttributes(call), 'evaluation_run_id'))
  const parents = new Set(some.flatMap(({ parentId }, n) => (said[n] === null && parentId !== null ? [parentId] : [])))
  const runOfRow = new Map<string, string | null>()
  if (parents.size > 0) {
    const query = { filter: { call_ids: [...parents] }, columns: ['op_name' as const, 'parent_id' as const] }
    for await (const row of calls.list(context, projectId, query))
      if (isRow(row.opName)) runOfRow.set(row.id, row.parentId)
  }
  return some.map(({ parentId }, n) => said[n] ?? runOfRow.get(parentId ?? '') ?? null)
}
