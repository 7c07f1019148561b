// A link to a call: leads to its trace, with the call in the reader.
import { useQuery } from '@tanstack/react-query'
import { Navigate, useParams } from '@tanstack/react-router'
import { baseUrl } from '../api/client.ts'
import { eachLine } from '../api/lines.ts'
import { send } from '../api/send.ts'
import { Frame, ProjectCrumbs } from '../frame/frame.tsx'
import { FaultBox } from '../parts/fault.tsx'
import { NotHere } from '../parts/not-here.tsx'

export function CallLink() {
  const { entity, project, id } = useParams({ from: '/signed-in/p/$entity/$project/calls/$id' })
  const { data, error, refetch } = useQuery({
    queryKey: ['call.trace', entity, project, id],
    queryFn: async ({ signal }) => {
      const filter = { call_ids: [id] }
      const asked = { project_id: `${entity}/${project}`, filter, columns: ['id'] }
      let traceId: string | null = null
      await eachLine(await send(baseUrl, 'calls.stream_query', asked, { signal }), (call) => {
        traceId = String(call.trace_id)
      })
      return traceId as string | null
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
