// Rows of the topic costs: what every writer of prices appends.
import type { ProjectId } from '../core/ids.ts'
import type { RecordInput } from '../core/log/log.ts'
import { quoted } from './objects.ts'
import { projectRecord } from './project-record.ts'

/** A price of a project; prices are per single token. */
export type CostCreated = {
  id: string
  clock: bigint
  userId: string
  llmId: string
  providerId: string
  effectiveUs: number
  promptPrice: number
  completionPrice: number
  cacheReadPrice: number
  cacheWritePrice: number
  promptUnit: string
  completionUnit: string
}

const record = (projectId: ProjectId, lines: string[], clock: bigint): RecordInput =>
  projectRecord(projectId, { rows: Buffer.from(lines.join('')), rowCount: lines.length, clock, key: projectId })

/** One line of the topic costs, columns in the order of topics.ts, defaults left out. */
function createdRow(project: string, cost: CostCreated): string {
  let row = `{"project_id":${project},"id":${quoted(cost.id)},"clock":${cost.clock},"event":"created"`
  if (cost.userId) row += `,"user_id":${quoted(cost.userId)}`
  row += `,"llm_id":${quoted(cost.llmId)},"provider_id":${quoted(cost.providerId)},"effective_us":${cost.effectiveUs}`
  row += `,"prompt_token_cost":${cost.promptPrice},"completion_token_cost":${cost.completionPrice}`
  if (cost.cacheReadPrice) row += `,"cache_read_input_token_cost":${cost.cacheReadPrice}`
  if (cost.cacheWritePrice) row += `,"cache_creation_input_token_cost":${cost.cacheWritePrice}`
  row += `,"prompt_token_cost_unit":${quoted(cost.promptUnit)}`
  return `${row},"completion_token_cost_unit":${quoted(cost.completionUnit)}}\n`
}

/** @param costs at least one, in the order of their clocks */
export function costsRecord(projectId: ProjectId, costs: readonly CostCreated[]): RecordInput {
  const project = quoted(projectId)
  const clock = costs.at(-1)?.clock ?? 0n
  return record(
    projectId,
    costs.map((cost) => createdRow(project, cost)),
    clock,
  )
}

/** Names the prices that go by their ids: it means the same before and after their creation, once or often. */
export function costsPurgedRecord(projectId: ProjectId, ids: readonly string[], clock: bigint): RecordInput {
  const project = quoted(projectId)
  const lines = ids.map((id) => `{"project_id":${project},"id":${quoted(id)},"clock":${clock},"event":"purged"}\n`)
  return record(projectId, lines, clock)
}
