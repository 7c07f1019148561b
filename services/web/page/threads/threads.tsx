// The threads of a project: conversations by their last turn, with how long turns take and how each began.
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { count, duration } from '../engine/format.ts'
import { sorts, type ThreadSort, type ThreadsSearch, threadsSearch } from '../engine/threads-search.ts'
import { ProjectPage } from '../frame/project-page.tsx'
import { Button } from '../parts/button.tsx'
import { type Column, ListGrid } from '../parts/grid.tsx'
import { Icon } from '../parts/icon.tsx'
import type { NarrowPlace } from '../parts/narrow-lines.tsx'
import { EmptyOfProject } from '../parts/no-such-project.tsx'
import { Pager, usePage } from '../parts/pager.tsx'
import { useProject } from '../parts/project.ts'
import { RangeMenu } from '../parts/range-menu.tsx'
import { Moment, Second, T } from '../parts/text.tsx'
import { useList } from '../parts/use-list.ts'
import { useZone } from '../preferences.ts'
import { Views } from '../views/views.tsx'
import { ViewsMenu } from '../views/views-menu.tsx'
import { beginningsQuery, type ThreadRow, threadsQuestion } from './thread-query.ts'

const route = '/signed-in/p/$entity/$project/threads'

export function Threads() {
  const { entity, project, projectId } = useProject()
  const search = useSearch({ from: route })
  const navigate = useNavigate({ from: '/p/$entity/$project/threads' })
  const zone = useZone(search.tz)
  const page = usePage()
  const sort = search.sort ?? 'last_updated'
  const list = useList(threadsQuestion(projectId, sort, search.range, page))
  const threads = list.items ?? []
  const { data: began } = useQuery(
    beginningsQuery(
      projectId,
      threads.map(({ first_turn_id }) => first_turn_id),
    ),
  )
  const target = ({ thread_id }: ThreadRow) => ({
    to: '/p/$entity/$project/threads/$threadId' as const,
    params: { entity, project, threadId: thread_id },
    search: search.tz ? { tz: search.tz } : {},
  })
  const change = (next: ThreadsSearch) =>
    void navigate({ search: threadsSearch({ ...search, ...next, page: undefined }) })
  const sorted = (
    name: ThreadSort,
    width: string,
    cell: Column<ThreadRow>['cell'],
    narrow?: NarrowPlace,
  ): Column<ThreadRow> => ({
    head: sorts[name],
    width,
    cell,
    ...(narrow && { narrow }),
    isNumber: true,
    sorted: sort === name ? 'descending' : 'none',
    shownHead: (
      <button type="button" onClick={() => change({ sort: name })}>
        {sorts[name]}
        {sort === name && <Icon name="down" />}
      </button>
    ),
  })
  const when = (time: string) => <Moment at={time} zone={zone} />
  const took = (ms: number | null) => (ms === null ? <span className="dim">–</span> : duration(ms))
  const columns: Column<ThreadRow>[] = [
    {
      head: 'Thread',
      width: 'minmax(16rem, 1fr)',
      isName: true,
      narrow: { line: 1, grows: true },
      cell: ({ thread_id }) => <T text={thread_id} max={120} />,
    },
    {
      head: 'First input',
      width: 'minmax(20rem, 2fr)',
      narrow: { line: 2, grows: true },
      cell: ({ first_turn_id }) => <Second text={began?.get(first_turn_id) ?? ''} />,
    },
    sorted('turn_count', '7.2rem', ({ turn_count }) => count(turn_count), { line: 2, label: sorts.turn_count }),
    sorted('start_time', '12rem', ({ start_time }) => when(start_time)),
    sorted('last_updated', '12rem', ({ last_updated }) => when(last_updated), { line: 1 }),
    sorted('p50_turn_duration_ms', '10.4rem', ({ p50_turn_duration_ms }) => took(p50_turn_duration_ms), {
      line: 2,
      label: sorts.p50_turn_duration_ms,
    }),
    sorted('p99_turn_duration_ms', '9.6rem', ({ p99_turn_duration_ms }) => took(p99_turn_duration_ms)),
  ]
  const none =
    search.range !== undefined ? (
      <div className="center" role="status">
        <h2>No threads in this range</h2>
        <Button onClick={() => change({ range: undefined })}>All time</Button>
      </div>
    ) : (
      <EmptyOfProject title={page > 0 ? 'No threads on this page' : 'No threads yet'}>
        <p className="second">Calls in a thread appear here as conversations:</p>
        <pre>{`with weave.thread("support-8812"):
    answer("Where is my order?")`}</pre>
      </EmptyOfProject>
    )
  return (
    <ProjectPage title="Threads">
      {(threads.length > 0 || search.range !== undefined) && <h1 className="hidden">Threads of {projectId}</h1>}
      <div className="bar">
        <RangeMenu range={search.range} zone={zone} onChange={(range) => change({ range })} />
        <span className="grow" />
        <ViewsMenu
          projectId={projectId}
          search={search}
          Views={Views}
          page="threads"
          onOpen={(found) => {
            const { sort, range, saved } = threadsSearch(found)
            change({ sort, range, saved })
          }}
        />
      </div>
      <ListGrid list={list} what="threads" none={none} label="Threads" columns={columns} minWidth={920} to={target} />
      <Pager list={list} zone={zone} />
    </ProjectPage>
  )
}
