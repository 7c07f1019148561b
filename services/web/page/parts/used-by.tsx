// Links to the calls that used an object, with their number.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { json } from '../api/client.ts'
import { count } from '../engine/format.ts'

/** Calls above are said to be more. */
const maxCounted = 10_001

export const useGivenTo = (project_id: string, input_refs: readonly string[]) =>
  useQuery({
    queryKey: ['object-users', project_id, ...input_refs],
    queryFn: ({ signal }) =>
      json('calls.query_stats', { project_id, filter: { input_refs: [...input_refs] }, limit: maxCounted }, { signal }),
    enabled: input_refs.length > 0,
    staleTime: 60_000,
  })

export const callsText = (calls: number) => (calls === maxCounted ? '10,000+' : count(calls))

/** Nothing where there are none. */
export function UsedBy({ projectId, refs }: { projectId: string; refs: readonly string[] }) {
  const [entity = '', project = ''] = projectId.split('/')
  const { data } = useGivenTo(projectId, refs)
  if (data === undefined || data.count === 0) return null
  const named = refs.map((ref) => JSON.stringify(ref))
  return (
    <Link
      to="/p/$entity/$project/calls"
      params={{ entity, project }}
      search={{ view: 'all', range: 'all', q: `ref:${named.length === 1 ? named[0] : `(${named.join(', ')})`}` }}
    >
      Used by {callsText(data.count)} {data.count === 1 ? 'call' : 'calls'}
    </Link>
  )
}
