// The objects or ops of a project by their latest version, or all versions of one of them.
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useRouter, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { json } from '../api/client.ts'
import { mayWrite, noWrite, useSession } from '../api/session.ts'
import { NewDataset } from '../datasets/new-dataset.tsx'
import { bytes, moment } from '../engine/format.ts'
import { Empty, Loading, ProjectPage, useProject } from '../frame/project-page.tsx'
import { FaultBox } from '../parts/fault.tsx'
import { type Column, Grid } from '../parts/grid.tsx'
import { intoView } from '../parts/into-view.ts'
import { Pager } from '../parts/pager.tsx'
import { T } from '../parts/text.tsx'
import { useRowHeight, useZone } from '../preferences.ts'
import { classFilter, isOfKind, kindLabel, type ObjectKind, objectKinds } from './classes.ts'

const pageObjects = 100

type Version = Awaited<ReturnType<typeof json<'objects.query'>>>['objs'][number]

const objectsQuery = (
  project_id: string,
  objectId: string | undefined,
  isOp: boolean,
  kind: ObjectKind | undefined,
  page: number,
) => ({
  queryKey: ['objects', project_id, objectId, isOp, kind, page],
  async queryFn({ signal }: { signal: AbortSignal }): Promise<Version[]> {
    const latest = { latest_only: true, ...(kind && !isOp && classFilter(kind)) }
    const filter = objectId === undefined ? latest : { object_ids: [objectId] }
    const sort_by = [{ field: 'created_at', direction: 'desc' as const }]
    // One more tells whether there is another page.
    const cut = { limit: pageObjects + 1, offset: page * pageObjects }
    const more = { metadata_only: true, include_storage_size: true, include_tags_and_aliases: true }
    const body = { project_id, filter: { ...filter, is_op: isOp }, sort_by, ...cut, ...more }
    return (await json('objects.query', body, { signal })).objs
  },
})

/** @param title where others may be: on an earlier page, or of another name */
function Nothing({ isOp, kind, title }: { isOp: boolean; kind: ObjectKind | undefined; title: string | undefined }) {
  if (title)
    return (
      <Empty title={title}>
        <p className="second">It may have been deleted, or have another name.</p>
      </Empty>
    )
  return (
    <Empty title={isOp ? 'No ops yet' : kind ? 'No objects of this kind yet' : 'No objects yet'}>
      <p className="second">
        {isOp ? 'Traced functions appear here:' : 'Published objects appear here with all their versions:'}
      </p>
      <pre>
        {isOp ? '@weave.op\ndef answer(question): …' : 'weave.publish({"system": "Be brief."}, name="my-prompt")'}
      </pre>
    </Empty>
  )
}

/** Links to the objects of each kind, and to ops. */
function Kinds({ kind, isOp, tz }: { kind: ObjectKind | undefined; isOp: boolean; tz: string | undefined }) {
  const { entity, project } = useProject()
  const kept = { ...(tz && { tz }) }
  const all: [label: string, isAt: boolean, search: object][] = [
    ['All', !isOp && kind === undefined, {}],
    ...objectKinds.map((one): [string, boolean, object] => [kindLabel(one), one === kind, { class: one }]),
    ['Ops', isOp, { op: '1' }],
  ]
  return (
    <nav className="bar kinds" aria-label="Kinds of objects">
      {all.map(([label, isAt, search]) => (
        <Link
          key={label}
          to="/p/$entity/$project/objects"
          params={{ entity, project }}
          search={{ ...kept, ...search }}
          activeOptions={{ exact: true, explicitUndefined: true }}
          {...(isAt && { 'aria-current': 'page' })}
          ref={isAt ? intoView : undefined}
          className={isAt ? 'at' : ''}
        >
          {label}
        </Link>
      ))}
    </nav>
  )
}

export function Objects() {
  const { entity, project, projectId } = useProject()
  const { objectId } = useParams({ strict: false }) as { objectId?: string }
  const search = useSearch({ strict: false }) as { op?: '1'; class?: ObjectKind; page?: string; tz?: string }
  const navigate = useNavigate()
  const router = useRouter()
  const zone = useZone(search.tz)
  const height = useRowHeight()
  const [at, setAt] = useState(0)
  const [makes, setMakes] = useState(false)
  const { data: session } = useSession()
  const page = Number(search.page ?? 1) - 1
  const isOp = search.op === '1'
  const kind = isOp ? undefined : search.class
  const kept = { ...(isOp && { op: '1' as const }), ...(kind && { class: kind }), ...(search.tz && { tz: search.tz }) }
  const { data, error, refetch } = useQuery(objectsQuery(projectId, objectId, isOp, kind, page))
  const versions = (data ?? []).slice(0, pageObjects)
  const title = objectId ?? (isOp ? 'Ops' : kind ? kindLabel(kind) : 'Objects')
  const address = (next: number) => ({
    ...(objectId === undefined
      ? { to: '/p/$entity/$project/objects' as const, params: { entity, project } }
      : { to: '/p/$entity/$project/objects/$objectId' as const, params: { entity, project, objectId } }),
    search: { ...kept, page: next > 0 ? String(next + 1) : undefined },
  })
  const versionOf = ({ object_id, digest, base_object_class }: Version) => {
    const params = { entity, project, objectId: object_id, version: digest }
    if (base_object_class === 'Dataset')
      return { to: '/p/$entity/$project/datasets/$objectId/$version' as const, params, search: { tz: search.tz } }
    if (isOfKind('prompts', base_object_class))
      return { to: '/p/$entity/$project/prompts/$objectId/$version' as const, params, search: { tz: search.tz } }
    return { to: '/p/$entity/$project/objects/$objectId/$version' as const, params, search: kept }
  }
  const to = (next: number) => {
    setAt(0)
    void navigate(address(next))
  }
  const numbers: Column<Version> = {
    name: 'version',
    head: objectId === undefined ? 'Versions' : 'Version',
    width: '8.8rem',
    isNumber: true,
    narrow: { line: 2 },
    isOwn: objectId === undefined,
    cell: (version) =>
      objectId === undefined ? (
        <Link
          to="/p/$entity/$project/objects/$objectId"
          params={{ entity, project, objectId: version.object_id }}
          search={kept}
          tabIndex={-1}
        >
          v{version.version_index}
        </Link>
      ) : (
        `v${version.version_index}`
      ),
  }
  const columns: Column<Version>[] = [
    {
      name: 'name',
      head: objectId === undefined ? 'Name' : 'Digest',
      width: 'minmax(18rem, 2fr)',
      isOwn: true,
      narrow: { line: 1, grows: true },
      cell: (version) => (
        <Link {...versionOf(version)} tabIndex={-1} className="plain">
          <T text={objectId === undefined ? version.object_id : version.digest} max={120} />
        </Link>
      ),
    },
    numbers,
    {
      name: 'class',
      head: 'Class',
      width: 'minmax(12rem, 1fr)',
      narrow: { line: 2, grows: true },
      cell: ({ base_object_class, kind }) => (
        <span className="second">
          <T text={base_object_class ?? (kind === 'op' ? 'Op' : '–')} max={80} />
        </span>
      ),
    },
    {
      name: 'tags',
      head: 'Tags and aliases',
      width: 'minmax(14rem, 1fr)',
      narrow: { line: 2, grows: true },
      cell: ({ tags, aliases }) => <T text={[...(tags ?? []), ...(aliases ?? [])].join(', ')} max={120} />,
    },
    {
      name: 'size',
      head: 'Size',
      width: '8.8rem',
      isNumber: true,
      narrow: { line: 2 },
      cell: ({ size_bytes }) => (size_bytes === null ? <span className="dim">–</span> : bytes(size_bytes)),
    },
    {
      name: 'made',
      head: 'Created',
      width: '13.6rem',
      isNumber: true,
      narrow: { line: 1 },
      cell: ({ created_at }) => (
        <span className="second" title={created_at}>
          {moment(created_at, zone)}
        </span>
      ),
    },
  ]
  const shown = () => {
    if (error) return <FaultBox error={error} onRetry={() => void refetch()} />
    if (data === undefined) return <Loading what="objects" />
    if (versions.length === 0)
      return (
        <Nothing
          isOp={isOp}
          kind={kind}
          title={
            page > 0
              ? 'Nothing on this page'
              : objectId && 'This object has no versions: none was saved, or all were deleted'
          }
        />
      )
    return (
      <Grid
        label={title}
        columns={columns}
        items={versions}
        minWidth={800}
        height={height}
        at={Math.min(at, versions.length - 1)}
        onAt={setAt}
        onOpen={(version) => void navigate(versionOf(version))}
        hrefOf={(version) => router.buildLocation(versionOf(version)).href}
      />
    )
  }
  return (
    <ProjectPage
      title={title}
      crumbs={
        objectId !== undefined && (
          <>
            <span className="sep">/</span>
            <Link to="/p/$entity/$project/objects" params={{ entity, project }} search={kept}>
              {isOp ? 'Ops' : 'Objects'}
            </Link>
          </>
        )
      }
      acts={
        objectId === undefined && (
          <button
            type="button"
            className="line"
            disabled={!mayWrite(session)}
            title={mayWrite(session) ? undefined : noWrite}
            onClick={() => setMakes(true)}
          >
            New dataset…
          </button>
        )
      }
    >
      {versions.length > 0 && (
        <h1 className="hidden">
          <T text={title} /> of {projectId}
        </h1>
      )}
      {objectId === undefined && <Kinds kind={kind} isOp={isOp} tz={search.tz} />}
      {shown()}
      <Pager
        page={page}
        size={pageObjects}
        shown={versions.length}
        hasNext={(data?.length ?? 0) > pageObjects}
        zone={zone}
        onPage={to}
      />
      {makes && <NewDataset onClose={() => setMakes(false)} />}
    </ProjectPage>
  )
}
