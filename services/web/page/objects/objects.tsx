// The objects or ops of a project by their latest version, or all versions of one of them.
import { Link, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { json } from '../api/client.ts'
import { mayWrite, noWrite, useSession } from '../api/session.ts'
import { NewDataset } from '../datasets/new-dataset.tsx'
import { bytes, count } from '../engine/format.ts'
import { classFilter, isOfKind, kindLabel, type ObjectKind, objectKinds } from '../engine/object-classes.ts'
import { ProjectPage } from '../frame/project-page.tsx'
import { Button } from '../parts/button.tsx'
import { Empty } from '../parts/empty.tsx'
import { type Column, ListGrid } from '../parts/grid.tsx'
import { intoView } from '../parts/into-view.ts'
import { EmptyOfProject } from '../parts/no-such-project.tsx'
import { Pager, usePage } from '../parts/pager.tsx'
import { useProject } from '../parts/project.ts'
import { Moment, Second, T } from '../parts/text.tsx'
import { type ListQuestion, useList } from '../parts/use-list.ts'
import { useZone } from '../preferences.ts'
import { useRowCounts } from './use-row-counts.ts'

const pageObjects = 100

type Version = Awaited<ReturnType<typeof json<'objects.query'>>>['objs'][number]

type Listed = { project_id: string; objectId: string | undefined; isOp: boolean; kind: ObjectKind | undefined }

function askedOf({ project_id, objectId, isOp, kind }: Listed) {
  const latest = { latest_only: true, ...(kind && !isOp && classFilter(kind)) }
  const filter = { ...(objectId === undefined ? latest : { object_ids: [objectId] }), is_op: isOp }
  return { project_id, filter, sort_by: [{ field: 'created_at', direction: 'desc' as const }] }
}

const objectsQuestion = (listed: Listed, page: number): ListQuestion<Version> => ({
  key: ['objects', listed.project_id, listed.objectId, listed.isOp, listed.kind],
  pages: { by: 'page', size: pageObjects, page },
  async read({ limit, offset, signal }) {
    const more = { metadata_only: true, include_storage_size: true, include_tags_and_aliases: true }
    return (await json('objects.query', { ...askedOf(listed), limit, offset, ...more }, { signal })).objs
  },
})

function titleOf({ objectId, isOp, kind }: Listed): string {
  if (objectId !== undefined) return objectId
  if (isOp) return 'Ops'
  return kind ? kindLabel(kind) : 'Objects'
}

const isDataset = ({ base_object_class }: Version): boolean => isOfKind('datasets', base_object_class)

/** @param title where others may be: on an earlier page, or of another name */
function Nothing({ isOp, kind, title }: { isOp: boolean; kind: ObjectKind | undefined; title: string | undefined }) {
  if (title)
    return (
      <Empty title={title}>
        <p className="second">It may have been deleted, or have another name.</p>
      </Empty>
    )
  return (
    <EmptyOfProject title={isOp ? 'No ops yet' : kind ? 'No objects of this kind yet' : 'No objects yet'}>
      <p className="second">
        {isOp ? 'Traced functions appear here:' : 'Published objects appear here with all their versions:'}
      </p>
      <pre>
        {isOp ? '@weave.op\ndef answer(question): …' : 'weave.publish({"system": "Be brief."}, name="my-prompt")'}
      </pre>
    </EmptyOfProject>
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

const rowCounts = (rowsOf: ReturnType<typeof useRowCounts>): Column<Version> => ({
  head: 'Rows',
  width: '8.8rem',
  isNumber: true,
  narrow: { line: 2, label: 'Rows' },
  cell(version) {
    const rows = rowsOf(version)
    return rows === undefined ? '' : rows === null ? <span className="dim">–</span> : count(rows)
  },
})

export function Objects() {
  const { entity, project, projectId } = useProject()
  const { objectId } = useParams({ strict: false }) as { objectId?: string }
  const search = useSearch({ strict: false }) as { op?: '1'; class?: ObjectKind; tz?: string }
  const zone = useZone(search.tz)
  const [makes, setMakes] = useState(false)
  const { data: session } = useSession()
  const page = usePage()
  const isOp = search.op === '1'
  const kind = isOp ? undefined : search.class
  const kept = { ...(isOp && { op: '1' as const }), ...(kind && { class: kind }), ...(search.tz && { tz: search.tz }) }
  const listed = { project_id: projectId, objectId, isOp, kind }
  const list = useList(objectsQuestion(listed, page))
  const { items = [] } = list
  const hasRows = items.length > 0 && items.every(isDataset)
  const rowsOf = useRowCounts(
    hasRows ? { ...askedOf(listed), limit: pageObjects, offset: page * pageObjects } : undefined,
  )
  const title = titleOf(listed)
  const versionOf = ({ object_id, digest, base_object_class }: Version) => {
    const params = { entity, project, objectId: object_id, version: digest }
    if (isOfKind('datasets', base_object_class))
      return { to: '/p/$entity/$project/datasets/$objectId/$version' as const, params, search: { tz: search.tz } }
    if (isOfKind('prompts', base_object_class))
      return { to: '/p/$entity/$project/prompts/$objectId/$version' as const, params, search: { tz: search.tz } }
    return { to: '/p/$entity/$project/objects/$objectId/$version' as const, params, search: kept }
  }
  const numbers: Column<Version> = {
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
      head: objectId === undefined ? 'Name' : 'Digest',
      width: 'minmax(18rem, 2fr)',
      isName: true,
      narrow: { line: 1, grows: true },
      cell: ({ object_id, digest }) => <T text={objectId === undefined ? object_id : digest} max={120} />,
    },
    numbers,
    {
      head: 'Class',
      width: 'minmax(12rem, 1fr)',
      narrow: { line: 2, grows: true },
      cell: ({ base_object_class, kind }) => (
        <Second text={base_object_class ?? (kind === 'op' ? 'Op' : '–')} max={80} />
      ),
    },
    {
      head: 'Tags and aliases',
      width: 'minmax(14rem, 1fr)',
      narrow: { line: 2, grows: true },
      cell: ({ tags, aliases }) => <T text={[...(tags ?? []), ...(aliases ?? [])].join(', ')} max={120} />,
    },
    ...(hasRows ? [rowCounts(rowsOf)] : []),
    {
      head: 'Size',
      width: '8.8rem',
      isNumber: true,
      narrow: { line: 2 },
      cell: ({ size_bytes }) => (size_bytes === null ? <span className="dim">–</span> : bytes(size_bytes)),
    },
    {
      head: 'Created',
      width: '13.6rem',
      isNumber: true,
      narrow: { line: 1 },
      cell: ({ created_at }) => <Moment at={created_at} zone={zone} />,
    },
  ]
  const none = (
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
    <ProjectPage
      title={title}
      crumb={
        objectId !== undefined && (
          <Link to="/p/$entity/$project/objects" params={{ entity, project }} search={kept}>
            {isOp ? 'Ops' : 'Objects'}
          </Link>
        )
      }
      acts={
        objectId === undefined && (
          <Button
            disabled={!mayWrite(session)}
            title={mayWrite(session) ? undefined : noWrite}
            onClick={() => setMakes(true)}
          >
            New dataset…
          </Button>
        )
      }
    >
      {list.items !== undefined && list.items.length > 0 && (
        <h1 className="hidden">
          <T text={title} /> of {projectId}
        </h1>
      )}
      {objectId === undefined && <Kinds kind={kind} isOp={isOp} tz={search.tz} />}
      <ListGrid
        list={list}
        what="objects"
        none={none}
        label={title}
        columns={columns}
        minWidth={hasRows ? 888 : 800}
        to={versionOf}
      />
      <Pager list={list} zone={zone} />
      {makes && <NewDataset onClose={() => setMakes(false)} />}
    </ProjectPage>
  )
}
