// Writing prices of models: POST /cost/create.
import { costCreateRequest, costCreateResponse } from '../../../schemas/costs.ts'
import type { Audit } from '../../core/audit/audit.ts'
import { audited, idsOf } from '../../core/audit/audited.ts'
import type { Clock } from '../../core/clock/clock.ts'
import { parseTimestamp } from '../../core/clock/timestamps.ts'
import { fault, invalid } from '../../core/http/errors.ts'
import { type Route, route } from '../../core/http/route.ts'
import { uuidv7 } from '../../core/ids.ts'
import type { Log } from '../../core/log/log.ts'
import { formatPositions, positionHeader } from '../../core/log/positions.ts'
import { type CostCreated, costsRecord } from '../../events/costs.ts'

export type CostWriteDeps = {
  log: Pick<Log, 'append'>
  clock: Clock
  audit: Pick<Audit, 'begin'>
}

/** Times that the store's type can hold: the years 1900 to 2299. */
const earliestUs = Date.UTC(1900, 0) * 1000
const beyondUs = Date.UTC(2300, 0) * 1000

/** @throws Fault 422 when it is not a time, 400 when no such time can be stored */
function effectiveUs(sent: string | number, llmId: string): number {
  const us = parseTimestamp(sent)
  if (us === null) {
    const loc = ['body', 'costs', llmId, 'effective_date']
    throw invalid({ loc, msg: 'Input should be a valid datetime', type: 'datetime_parsing' })
  }
  if (us < earliestUs || us >= beyondUs) throw fault(400, `effective_date of ${llmId} lies outside the years 1900-2299`)
  return us
}

/** @throws Fault 400 */
function checkedPrice(value: number, name: string, llmId: string): number {
  if (value < 0) throw fault(400, `${name} of ${llmId} must be a finite number that is not negative`)
  return value
}

export function createCostWriteRoutes({ log, clock, audit }: CostWriteDeps): Route[] {
  return [
    route({
      name: 'costs.create',
      method: 'POST',
      path: '/cost/create',
      summary:
        'Adds prices of models to a project. Earlier prices are kept; the effective date decides which one applies',
      body: { type: 'json', schema: costCreateRequest, check: 'schema' },
      response: costCreateResponse,
      topics: ['costs'],
      async handle({ input, caller, project }) {
        const projectId = project(input.project_id)
        const created = Object.entries(input.costs).map(([llmId, cost]): CostCreated => {
          const price = (name: keyof typeof cost & `${string}_cost`) => checkedPrice(cost[name], name, llmId)
          const at = clock.next()
          return {
            id: uuidv7(),
            clock: at,
            userId: caller.userId,
            llmId,
            providerId: cost.provider_id || 'default',
            effectiveUs:
              cost.effective_date === undefined ? Number(at / 1024n) : effectiveUs(cost.effective_date, llmId),
            promptPrice: price('prompt_token_cost'),
            completionPrice: price('completion_token_cost'),
            cacheReadPrice: price('cache_read_input_token_cost'),
            cacheWritePrice: price('cache_creation_input_token_cost'),
            promptUnit: cost.prompt_token_cost_unit,
            completionUnit: cost.completion_token_cost_unit,
          }
        })
        if (created.length === 0) return { json: { ids: [] } }
        const details = {
          price_ids: idsOf(created.map(({ id }) => id)),
          models: idsOf(created.map(({ llmId }) => llmId)),
        }
        const event = { action: 'price.created', scope: projectId, details }
        const position = await audited(audit, [event], () => log.append('costs', [costsRecord(projectId, created)]))
        return {
          json: { ids: created.map(({ id, llmId }) => [id, llmId]) },
          headers: { [positionHeader]: formatPositions([position]) },
        }
      },
    }),
  ]
}
