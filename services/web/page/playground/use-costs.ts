// Costs of recorded calls, in one request.
import { useQuery } from '@tanstack/react-query'
import { json } from '../api/client.ts'
import { type Costs, costOf } from './row-figures.ts'

const againMs = 1_500
const maxTries = 6

/** @param ids of calls that are over; records may come a moment after the answers */
export function useCosts(project_id: string, ids: readonly string[]): Costs {
  const { data } = useQuery({
    queryKey: ['playground costs', project_id, ids],
    enabled: ids.length > 0,
    async queryFn({ signal }) {
      const { call_usage } = await json(
        'calls.usage',
        { project_id, call_ids: [...ids], include_costs: true },
        { signal },
      )
      return new Map(Object.entries(call_usage).map(([id, models]) => [id, costOf(Object.values(models))]))
    },
    refetchInterval: ({ state }) =>
      state.dataUpdateCount < maxTries && ids.some((id) => state.data?.get(id) === undefined) ? againMs : false,
    retry: false,
  })
  return new Map([...(data ?? [])].flatMap(([id, cost]) => (cost === undefined ? [] : [[id, cost] as const])))
}
