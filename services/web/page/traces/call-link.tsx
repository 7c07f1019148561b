// A link to a call: leads to its trace, with the call in the reader.
import { useQuery } from '@tanstack/react-query'
import { Navigate, useParams } from '@tanstack/react-router'
import { json } from '../api/client.ts'
import { Frame, ProjectCrumbs } from '../frame/frame.tsx'
import { FaultBox } from '../parts/fault.tsx'
import { NotHere } from './not-here.tsx'

export function CallLink() {
  const { entity, project, id } = useParams({ from: '/signed-in/p/$entity/$project/calls/$id' })
  const { data, error, refetch } = useQuery({
    queryKey: ['call.trace', entity, project, id],
    queryFn: async ({ signal }) => {
      const { call } = await json('calls.read', { project_id: `${entity}/${project}`, id }, { signal })
      return call?.trace_id ?? null
    },
  })
  if (typeof data === 'string')
    return (
      <Navigate
        to="/p/$entity/$project/traces/$traceId"
        params={{ entity, project, traceId: data }}
        search={{ call: id }}
        replace
      />
    )
  return (
    <Frame title="Call" crumbs={<ProjectCrumbs entity={entity} project={project} />}>
      {error ? (
        <FaultBox error={error} onRetry={() => void refetch()} />
      ) : data === null ? (
        <NotHere what="call" onRetry={() => void refetch()} />
      ) : (
        <div className="center" />
      )}
    </Frame>
  )
}
