// The code of an op, as it was published: of the one that a span ran, or of a version.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { json } from '../api/client.ts'
import { codePieces } from '../engine/code-pieces.ts'
import { bytes } from '../engine/format.ts'
import type { OpVersion } from '../engine/refs.ts'
import { FaultBox } from './fault.tsx'
import { Copy } from './forms.tsx'
import { T } from './text.tsx'
import './code.css'

/** Characters that are shown; all of them can be copied. */
const maxShown = 65_536
/** Longer code has no colours: each piece is an element. */
const maxColoured = 32_768

function Coloured({ code }: { code: string }) {
  const pieces = useMemo(() => (code.length > maxColoured ? undefined : codePieces(code)), [code])
  if (pieces === undefined) return <T text={code} max={maxShown} />
  return pieces.map(({ is, text }, place) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one text never move
    <span key={place} className={is === 'plain' ? undefined : `code-${is}`}>
      <T text={text} max={maxColoured} />
    </span>
  ))
}

/** @param withLink to the version, where the code stands elsewhere */
export function Code({ projectId, op, withLink }: { projectId: string; op: OpVersion; withLink: boolean }) {
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
        {withLink && (
          <Link
            to="/p/$entity/$project/objects/$objectId/$version"
            params={{ entity, project, objectId: op.objectId, version: op.digest }}
            search={{ op: '1' }}
          >
            <T text={op.objectId} max={80} />
          </Link>
        )}
        {code !== '' && <Copy text={code} label="Copy code" />}
      </p>
      {data && code === '' && <p className="second">It was published without its code.</p>}
      {code !== '' && (
        <pre>
          <Coloured code={code} />
        </pre>
      )}
      {code.length > maxShown && <p className="dim">Truncated; it has {bytes(code.length)}.</p>}
    </div>
  )
}
