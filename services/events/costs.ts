// The topic costs: prices of models, and what every writer of them appends.
import type { ProjectId } from '../core/ids.ts'
import type { RecordInput } from '../core/log/log.ts'
import { always, choice, clock, declareTopic, key, number, recordOfRows, text } from './declaration.ts'

export const costsTopic = declareTopic({
  name: 'costs',
  about: 'Prices of models: created or purged.',
  version: 1,
  landing: 'costs_in',
  columns: {
    project_id: key,
    id: key,
    clock,
    event: choice('created', 'purged'),
    user_id: text,
    llm_id: always(text),
    provider_id: always(text),
    effective_us: always(number('Int64')),
    prompt_token_cost: always(number('Float64')),
    completion_token_cost: always(number('Float64')),
    cache_read_input_token_cost: number('Float64'),
    cache_creation_input_token_cost: number('Float64'),
    prompt_token_cost_unit: always(text),
    completion_token_cost_unit: always(text),
  },
})

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

/** @param costs at least one, in the order of their clocks */
export const costsRecord = (projectId: ProjectId, costs: readonly CostCreated[]): RecordInput =>
  recordOfRows(
    costsTopic,
    costs.map((cost) => ({
      project_id: projectId,
      id: cost.id,
      clock: cost.clock,
      event: 'created',
      user_id: cost.userId,
      llm_id: cost.llmId,
      provider_id: cost.providerId,
      effective_us: cost.effectiveUs,
      prompt_token_cost: cost.promptPrice,
      completion_token_cost: cost.completionPrice,
      cache_read_input_token_cost: cost.cacheReadPrice,
      cache_creation_input_token_cost: cost.cacheWritePrice,
      prompt_token_cost_unit: cost.promptUnit,
      completion_token_cost_unit: cost.completionUnit,
    })),
  )

/** Names the prices that go by their ids, at least one: it means the same before and after their creation, once or often. */
export const costsPurgedRecord = (projectId: ProjectId, ids: readonly string[], clock: bigint): RecordInput =>
  recordOfRows(
    costsTopic,
    ids.map((id) => ({ project_id: projectId, id, clock, event: 'purged' })),
  )
