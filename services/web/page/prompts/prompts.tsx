// The prompts of a project by their latest version.
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { json } from '../api/client.ts'
import { mayWrite, useSession } from '../api/session.ts'
import { classFilter } from '../engine/object-classes.ts'
import { ProjectPage } from '../frame/project-page.tsx'
import { Button } from '../parts/button.tsx'
import { Empty } from '../parts/empty.tsx'
import { type Column, ListGrid } from '../parts/grid.tsx'
import { EmptyOfProject } from '../parts/no-such-project.tsx'
import { Pager, usePage } from '../parts/pager.tsx'
import { useProject } from '../parts/project.ts'
import { Moment, Second, T } from '../parts/text.tsx'
import { type ListQuestion, useList } from '../parts/use-list.ts'
import { emptyDraft, keepDraft } from '../playground/draft.ts'
import { promptModel } from '../playground/prompt-value.ts'
import { useZone } from '../preferences.ts'
import { versionLabels } from './versions.ts'

const pagePrompts = 100

type Version = Awaited<ReturnType<typeof json<'objects.query'>>>['objs'][number]

export const userOf = (head: Record<string, unknown>): string => {
  const user = head.platform_user_id ?? head.wb_user_id
  return typeof user === 'string' ? user : ''
}

const promptsQuestion = (project_id: string, page: number): ListQuestion<Version> => ({
  key: ['objects', project_id, 'prompts'],
  pages: { by: 'page', size: pagePrompts, page },
  async read({ limit, offset, signal }) {
    const filter = { ...classFilter('prompts'), latest_only: true, is_op: false }
    const sort_by = [{ field: 'created_at', direction: 'desc' as const }]
    const more = { metadata_only: true, include_tags_and_aliases: true }
    return (await json('objects.query', { project_id, filter, sort_by, limit, offset, ...more }, { signal })).objs
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

/** Models that the latest versions name, by the id of the prompt. */
const useModels = (project_id: string, prompts: readonly Version[]) => {
  const refs = prompts.map(({ object_id, digest }) => `weave:///${project_id}/object/${object_id}:${digest}`)
  return useQuery({
    queryKey: ['objects', project_id, 'prompt models', refs],
    enabled: refs.length > 0,
    async queryFn({ signal }) {
      const { vals } = await json('refs.read_batch', { refs: refs.map((ref) => `${ref}/attr/model`) }, { signal })
      return new Map(prompts.map(({ object_id }, n) => [object_id, vals[n]]))
    },
  })
}

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
    <Button whyNot={mayNot} onClick={begin}>
      New prompt
    </Button>
  )
}

export function Prompts() {
  const { entity, project, projectId } = useProject()
  const search = useSearch({ from: '/signed-in/p/$entity/$project/prompts' })
  const zone = useZone(search.tz)
  const page = usePage()
  const list = useList(promptsQuestion(projectId, page))
  const prompts = list.items ?? []
  const { data: labels } = useLabels(
    projectId,
    prompts.map(({ object_id }) => object_id),
  )
  const { data: models } = useModels(projectId, prompts)
  const versionOf = ({ object_id, digest }: Version) => ({
    to: '/p/$entity/$project/prompts/$objectId/$version' as const,
    params: { entity, project, objectId: object_id, version: digest },
    search: { tz: search.tz },
  })
  const columns: Column<Version>[] = [
    {
      head: 'Name',
      width: 'minmax(18rem, 2fr)',
      isName: true,
      narrow: { line: 1, grows: true },
      cell: ({ object_id }) => <T text={object_id} max={120} />,
    },
    {
      head: 'Latest version',
      width: '11rem',
      isNumber: true,
      narrow: { line: 2 },
      cell: ({ version_index }) => `v${version_index}`,
    },
    {
      head: 'Model',
      width: 'minmax(10rem, 1fr)',
      narrow: { line: 2 },
      cell: ({ object_id }) => (
        <Second text={models?.has(object_id) ? promptModel(models.get(object_id)) : ''} max={60} />
      ),
    },
    {
      head: 'Tags and aliases',
      width: 'minmax(14rem, 1fr)',
      narrow: { line: 2, grows: true },
      cell: ({ object_id }) => <T text={labels?.get(object_id)?.join(', ') ?? ''} max={120} />,
    },
    {
      head: 'By',
      width: 'minmax(10rem, 1fr)',
      narrow: { line: 2 },
      cell: (version) => <Second text={userOf(version) || '–'} max={60} />,
    },
    {
      head: 'Updated',
      width: '13.6rem',
      isNumber: true,
      narrow: { line: 1 },
      cell: ({ created_at }) => <Moment at={created_at} zone={zone} />,
    },
  ]
  const none =
    page > 0 ? (
      <Empty title="Nothing on this page">{null}</Empty>
    ) : (
      <EmptyOfProject title="No prompts yet">
        <p className="second">
          A prompt is a list of messages under a name, in versions. Write one in the playground, or publish one:
        </p>
        <pre>{example}</pre>
        <p>
          <NewPrompt />
        </p>
      </EmptyOfProject>
    )
  return (
    <ProjectPage title="Prompts" acts={prompts.length > 0 && <NewPrompt />}>
      {prompts.length > 0 && <h1 className="hidden">Prompts of {projectId}</h1>}
      <ListGrid
        list={list}
        what="the prompts"
        none={none}
        label="Prompts"
        columns={columns}
        minWidth={820}
        to={versionOf}
      />
      <Pager list={list} zone={zone} />
    </ProjectPage>
  )
}
