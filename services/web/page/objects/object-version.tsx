// One version of an object or an op: what it is, and its value as it was stored.
import { useQuery } from '@tanstack/react-query'
import { Link, useParams, useSearch } from '@tanstack/react-router'
import { baseUrl } from '../api/client.ts'
import { ApiFault } from '../api/send.ts'
import { bytes, moment } from '../engine/format.ts'
import { isOfKind } from '../engine/object-classes.ts'
import { Frame, ProjectCrumbs } from '../frame/frame.tsx'
import { Code } from '../parts/code.tsx'
import { Facts } from '../parts/facts.tsx'
import { FaultBox } from '../parts/fault.tsx'
import { JsonView } from '../parts/json-view.tsx'
import { useProject } from '../parts/project.ts'
import { T } from '../parts/text.tsx'
import { useZone } from '../preferences.ts'
import { ask } from '../worker/client.ts'
import { Labels } from './labels.tsx'
import { VersionActs } from './version-acts.tsx'
import { Versions } from './versions.tsx'
import '../parts/reader.css'
import './objects.css'

const route = '/signed-in/p/$entity/$project/objects/$objectId/$version'

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
const listOf = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [])

export function ObjectVersion() {
  const { entity, project, objectId, version } = useParams({ from: route })
  const search = useSearch({ from: route })
  const zone = useZone(search.tz)
  const projectId = `${entity}/${project}`
  const { data, error, refetch } = useQuery({
    queryKey: ['object', projectId, objectId, version],
    queryFn: ({ signal }) => ask('object', [baseUrl, projectId, objectId, version], { signal }),
    staleTime: 60_000,
    gcTime: 120_000,
  })
  const isGone = error instanceof ApiFault && error.values.status === 404
  const deletedAt = isGone ? error.values.deletedAt : undefined
  const facts: [name: string, value: string][] =
    data === undefined
      ? []
      : [
          ['Version', `v${String(data.head.version_index ?? '?')}${data.head.is_latest === 1 ? ', the latest' : ''}`],
          ['Class', textOf(data.head.base_object_class)],
          ['Created', moment(textOf(data.head.created_at), zone)],
          ['By', textOf(data.head.platform_user_id ?? data.head.wb_user_id)],
          ['Size', bytes(data.bytes)],
          ['Digest', textOf(data.head.digest)],
        ]
  return (
    <Frame
      title={`${search.op ? 'Op' : 'Object'} of ${projectId}`}
      crumbs={
        <ProjectCrumbs entity={entity} project={project}>
          <span className="sep">/</span>
          <span className="at">
            <T text={objectId} max={80} />
          </span>
        </ProjectCrumbs>
      }
    >
      {isGone ? (
        <div className="object-page">
          <Versions projectId={projectId} objectId={objectId} version={version} search={search} />
          <div className="center" role="status">
            <h1>{deletedAt === undefined ? 'Version not found' : 'This version was deleted'}</h1>
            <p className="second">
              <T text={error.message} />
              {deletedAt !== undefined && (
                <>
                  , <time dateTime={deletedAt}>{moment(deletedAt, zone)}</time>
                </>
              )}
            </p>
          </div>
        </div>
      ) : error ? (
        <FaultBox error={error} onRetry={() => void refetch()} />
      ) : (
        <div className="object-page">
          <Versions projectId={projectId} objectId={objectId} version={version} search={search} />
          <article className="reader object-version" aria-label="Object">
            <header>
              <h1 className="name">
                <T text={objectId} />
              </h1>
              <Facts facts={facts} />
              {data && (
                <Labels
                  projectId={projectId}
                  objectId={objectId}
                  digest={textOf(data.head.digest)}
                  tags={listOf(data.head.tags)}
                  aliases={listOf(data.head.aliases)}
                />
              )}
              {data && (
                <VersionActs
                  projectId={projectId}
                  objectId={objectId}
                  digest={textOf(data.head.digest)}
                  bytes={data.bytes}
                  key={textOf(data.head.digest)}
                  isOp={search.op === '1'}
                  isLatest={data.head.is_latest === 1}
                />
              )}
              <LinksOf
                objectId={objectId}
                digest={textOf(data?.head.digest)}
                kind={textOf(data?.head.base_object_class)}
                search={search}
              />
            </header>
            {data?.head.kind === 'op' && (
              <section aria-label="Code">
                <h3>Code</h3>
                <Code projectId={projectId} op={{ objectId, digest: textOf(data.head.digest) }} withLink={false} />
              </section>
            )}
            {data?.value && (
              <section aria-label="Value">
                <h3>Value</h3>
                <JsonView root={data.value} label="Value" name="val" />
              </section>
            )}
            {data === undefined && (
              <span className="hidden" role="status">
                Loading object
              </span>
            )}
          </article>
        </div>
      )}
    </Frame>
  )
}

type LinksProps = {
  objectId: string
  digest: string
  /** Its class. */
  kind: string
  search: { op?: '1' | undefined; tz?: string | undefined }
}

/** Links to the pages that show the version's content in a form of their own. */
function LinksOf({ objectId, digest, kind, search }: LinksProps) {
  const { entity, project } = useProject()
  return (
    <>
      {isOfKind('prompts', kind) && (
        <Link
          to="/p/$entity/$project/prompts/$objectId/$version"
          params={{ entity, project, objectId, version: digest }}
          search={search.tz ? { tz: search.tz } : {}}
        >
          Messages of this prompt
        </Link>
      )}
      {kind === 'Dataset' && (
        <Link
          to="/p/$entity/$project/datasets/$objectId/$version"
          params={{ entity, project, objectId, version: digest }}
          search={search.tz ? { tz: search.tz } : {}}
        >
          Rows of this dataset
        </Link>
      )}
      {search.op && (
        <Link
          to="/p/$entity/$project/calls"
          params={{ entity, project }}
          search={{ view: 'all', q: `op:${JSON.stringify(objectId)}` }}
        >
          Calls of this op
        </Link>
      )}
    </>
  )
}
