// The prompts of a project by their latest version.
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useRouter, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { json } from '../api/client.ts'
import { mayWrite, useSession } from '../api/session.ts'
import { moment } from '../engine/format.ts'
import { Empty, Loading, ProjectPage, useProject } from '../frame/project-page.tsx'
import { classFilter } from '../objects/classes.ts'
import { FaultBox } from '../parts/fault.tsx'
import { type Column, Grid } from '../parts/grid.tsx'
import { Pager } from '../parts/pager.tsx'
import { T } from '../parts/text.tsx'
import { emptyDraft, keepDraft } from '../playground/draft.ts'
import { useRowHeight, useZone } from '../preferences.ts'
import { versionLabels } from './versions.ts'

const pagePrompts = 100

type Version = Awaited<ReturnType<typeof json<'objects.query'>>>['objs'][number]

export const userOf = (head: Record<string, unknown>): string => {
  const user = head.platform_user_id ?? head.wb_user_id
  return typeof user === 'string' ? user : ''
}

const usePrompts = (project_id: string, page: number) =>
  useQuery({
    queryKey: ['objects', project_id, 'prompts', page],
    async queryFn({ signal }): Promise<Version[]> {
      const filter = { ...classFilter('prompts'), latest_only: true, is_op: false }
      const sort_by = [{ field: 'created_at', direction: 'desc' as const }]
      const cut = { limit: pagePrompts + 1, offset: page * pagePrompts }
      const asked = { project_id, filter, sort_by, ...cut, metadata_only: true, include_tags_and_aliases: true }
      return (await json('objects.query', asked, { signal })).objs
    },
  })

/** Versions that labels are looked for in, of all prompts of a page. */
const maxVersions = 2_000

/** A label may stand at any version: that of the latest alone is not enough. */
const useLabels = (project_id: string, object_ids: readonly string[]) =>
  useQuery({
    queryKey: ['objects', project_id, 'prompt labels', object_ids],
    enabled: object_ids.length > 0,
    async queryFn({ signal }) {
      const filter = { object_ids: [...object_ids], is_op: false }
      const sort_by = [{ field: 'created_at', direction: 'desc' as const }]
      const more = { limit: maxVersions, metadata_only: true, include_tags_and_aliases: true }
      return versionLabels((await json('objects.query', { project_id, filter, sort_by, ...more }, { signal })).objs)
    },
  })

const example = 'weave.publish(weave.MessagesPrompt([{"role": "system", "content": "Be {tone}."}]), name="support")'

function NewPrompt() {
  const { entity, project, projectId } = useProject()
  const { data: session } = useSession()
  const navigate = useNavigate()
  const mayNot = mayWrite(session) ? undefined : "You don't have permission to create prompts"
  const begin = () => {
    keepDraft(projectId, emptyDraft())
    void navigate({ to: '/p/$entity/$project/playground', params: { entity, project }, search: {} })
  }
  return (
    <button type="button" className="line" disabled={mayNot !== undefined} title={mayNot} onClick={begin}>
      New prompt
    </button>
  )
}

export function Prompts() {
  const { entity, project, projectId } = useProject()
  const search = useSearch({ from: '/signed-in/p/$entity/$project/prompts' })
  const navigate = useNavigate({ from: '/p/$entity/$project/prompts' })
  const router = useRouter()
  const zone = useZone(search.tz)
  const height = useRowHeight()
  const [at, setAt] = useState(0)
  const page = Number(search.page ?? 1) - 1
  const { data, error, refetch } = usePrompts(projectId, page)
  const prompts = (data ?? []).slice(0, pagePrompts)
  const { data: labels } = useLabels(
    projectId,
    prompts.map(({ object_id }) => object_id),
  )
  const versionOf = ({ object_id, digest }: Version) => ({
    to: '/p/$entity/$project/prompts/$objectId/$version' as const,
    params: { entity, project, objectId: object_id, version: digest },
    search: { tz: search.tz },
  })
  const columns: Column<Version>[] = [
    {
      name: 'name',
      head: 'Name',
      width: 'minmax(18rem, 2fr)',
      isOwn: true,
      narrow: { line: 1, grows: true },
      cell: (version) => (
        <Link {...versionOf(version)} tabIndex={-1} className="plain">
          <T text={version.object_id} max={120} />
        </Link>
      ),
    },
    {
      name: 'version',
      head: 'Latest version',
      width: '11rem',
      isNumber: true,
      narrow: { line: 2 },
      cell: ({ version_index }) => `v${version_index}`,
    },
    {
      name: 'labels',
      head: 'Tags and aliases',
      width: 'minmax(14rem, 1fr)',
      narrow: { line: 2, grows: true },
      cell: ({ object_id }) => <T text={labels?.get(object_id)?.join(', ') ?? ''} max={120} />,
    },
    {
      name: 'user',
      head: 'By',
      width: 'minmax(10rem, 1fr)',
      narrow: { line: 2 },
      cell: (version) => (
        <span className="second">
          <T text={userOf(version) || '–'} max={60} />
        </span>
      ),
    },
    {
      name: 'created',
      head: 'Updated',
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
    if (data === undefined) return <Loading what="the prompts" />
    if (prompts.length === 0 && page > 0) return <Empty title="Nothing on this page">{null}</Empty>
    if (prompts.length === 0)
      return (
        <Empty title="No prompts yet">
          <p className="second">
            A prompt is a list of messages under a name, in versions. Write one in the playground, or publish one:
          </p>
          <pre>{example}</pre>
          <p>
            <NewPrompt />
          </p>
        </Empty>
      )
    return (
      <>
        <h1 className="hidden">Prompts of {projectId}</h1>
        <Grid
          label="Prompts"
          columns={columns}
          items={prompts}
          minWidth={720}
          height={height}
          at={Math.min(at, prompts.length - 1)}
          onAt={setAt}
          onOpen={(version) => void navigate(versionOf(version))}
          hrefOf={(version) => router.buildLocation(versionOf(version)).href}
        />
      </>
    )
  }
  return (
    <ProjectPage title="Prompts" acts={prompts.length > 0 && <NewPrompt />}>
      {shown()}
      <Pager
        page={page}
        size={pagePrompts}
        shown={prompts.length}
        hasNext={(data?.length ?? 0) > pagePrompts}
        zone={zone}
        onPage={(next) => {
          setAt(0)
          void navigate({ search: (old) => ({ ...old, page: next > 0 ? String(next + 1) : undefined }) })
        }}
      />
    </ProjectPage>
  )
}
