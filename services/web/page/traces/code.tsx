// The code of the op that a span ran, as it was published.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { json } from '../api/client.ts'
import { bytes } from '../engine/format.ts'
import { FaultBox } from '../parts/fault.tsx'
import { T } from '../parts/text.tsx'
import { Copy } from '../settings/parts.tsx'

export type OpVersion = { objectId: string; digest: string }

/** Characters that are shown; all of them can be copied. */
const maxShown = 65_536

/** The version of an op of this project that a call names; undefined for plain names and ops of other projects. */
export function opVersionOf(projectId: string, opName: string): OpVersion | undefined {
  const [, project, objectId, digest] = /^weave:\/\/\/([^/]+\/[^/]+)\/op\/([^/:]+):(\w+)$/.exec(opName) ?? []
  if (project !== projectId || objectId === undefined || digest === undefined) return undefined
  try {
    return { objectId: decodeURIComponent(objectId), digest }
  } catch {
    return undefined
  }
}

export function Code({ projectId, op }: { projectId: string; op: OpVersion }) {
  const [entity = '', project = ''] = projectId.split('/')
  const params = { entity, project, object_id: op.objectId, digest: op.digest }
  const { data, error, refetch } = useQuery({
    queryKey: ['op-code', projectId, op.objectId, op.digest],
    queryFn: ({ signal }) => json('ops.read', undefined, { params, signal }),
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (error) return <FaultBox error={error} onRetry={() => void refetch()} />
  const code = data?.code ?? ''
  return (
    <div className="scroll code" tabIndex={0} role="group" aria-label="Code of the op" aria-busy={data === undefined}>
      <p className="acts">
        <Link
          to="/p/$entity/$project/objects/$objectId/$version"
          params={{ entity, project, objectId: op.objectId, version: op.digest }}
          search={{ op: '1' }}
        >
          <T text={op.objectId} max={80} />
        </Link>
        {code !== '' && <Copy text={code} label="Copy the code" />}
      </p>
      {data && code === '' && <p className="second">It was published without its code.</p>}
      {code !== '' && (
        <pre>
          <T text={code} max={maxShown} />
        </pre>
      )}
      {code.length > maxShown && <p className="dim">Cut here; it has {bytes(code.length)}.</p>}
    </div>
  )
}
