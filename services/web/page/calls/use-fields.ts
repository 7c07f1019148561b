// Fields that the latest calls of a project have, by the names that the line of a filter has for them.
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { json } from '../api/client.ts'
import type { Shapes } from '../routes.gen.ts'

type Fields = Shapes['calls.fields']['out']

const keptMs = 30_000
/** Names of new calls are looked up in an index that follows them: until it has any, it is asked again. */
const soonMs = 3_000
const isBehind = (data: Fields | undefined): boolean =>
  data !== undefined && data.sampled_calls > 0 && data.fields.length === 0

export function useFields(project: string, prefix: string, isOn: boolean) {
  return useQuery({
    queryKey: ['calls.fields', project, prefix],
    queryFn: ({ signal }) =>
      json(
        'calls.fields',
        { project_id: project, prefix, limit: 1_000, span_attributes: true },
        { signal, fresh: 'any' },
      ),
    enabled: isOn,
    meta: { isAside: true },
    staleTime: ({ state }) => (isBehind(state.data) ? 0 : keptMs),
    refetchInterval: ({ state }) => (isBehind(state.data) ? soonMs : false),
    placeholderData: keepPreviousData,
  })
}
