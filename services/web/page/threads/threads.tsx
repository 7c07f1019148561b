// The threads of a project: conversations by their last turn, with how long turns take and how each began.
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useRouter, useSearch } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { RangeMenu } from '../calls/range-menu.tsx'
import { count, duration, moment } from '../engine/format.ts'
import { Empty, Loading, ProjectPage, useProject } from '../frame/project-page.tsx'
import { FaultBox } from '../parts/fault.tsx'
import { type Column, Grid } from '../parts/grid.tsx'
import { Icon } from '../parts/icon.tsx'
import type { NarrowPlace } from '../parts/narrow-lines.tsx'
import { Pager } from '../parts/pager.tsx'
import { T } from '../parts/text.tsx'
import { useRowHeight, useZone } from '../preferences.ts'
import { Views } from '../views/views.tsx'
import { ViewsMenu } from '../views/views-menu.tsx'
import { sorts, type ThreadSort, type ThreadsSearch, threadsSearch } from './search.ts'
import { beginningsQuery, pageThreads, type ThreadRow, threadsQuery } from './thread-query.ts'

const route = '/signed-in/p/$entity/$project/threads'

export function Threads() {
  const { entity, project, projectId } = useProject()
  const search = useSearch({ from: route })
  const navigate = useNavigate({ from: '/p/$entity/$project/threads' })
  const router = useRouter()
  const zone = useZone(search.tz)
  const height = useRowHeight()
  const page = Number(search.page ?? 1) - 1
  const sort = search.sort ?? 'last_updated'
  const [at, setAt] = useState(0)
  const { data, error, refetch } = useQuery(threadsQuery(projectId, sort, search.range, page))
  const threads = useMemo(() => (data ?? []).slice(0, pageThreads), [data])
  const ids = useMemo(() => threads.map(({ first_turn_id }) => first_turn_id), [threads])
  const { data: began } = useQuery(beginningsQuery(projectId, ids))
  const target = ({ thread_id }: ThreadRow) => ({
    to: '/p/$entity/$project/threads/$threadId' as const,
    params: { entity, project, threadId: thread_id },
    search: search.tz ? { tz: search.tz } : {},
  })
  const to = (next: number) => {
    setAt(0)
    void navigate({ search: (old) => ({ ...old, page: next > 0 ? String(next + 1) : undefined }) })
  }
  const change = (next: ThreadsSearch) => {
    setAt(0)
    void navigate({ search: threadsSearch({ ...search, ...next, page: undefined }) })
  }
  const sorted = (
    name: ThreadSort,
    width: string,
    cell: Column<ThreadRow>['cell'],
    narrow?: NarrowPlace,
  ): Column<ThreadRow> => ({
    name,
    width,
    cell,
    ...(narrow && { narrow }),
    isNumber: true,
    sorted: sort === name ? 'descending' : 'none',
    head: (
      <button type="button" onClick={() => change({ sort: name })}>
        {sorts[name]}
        {sort === name && <Icon name="down" />}
      </button>
    ),
  })
  const when = (time: string) => (
    <span className="second" title={time}>
      {moment(time, zone)}
    </span>
  )
  const took = (ms: number | null) => (ms === null ? <span className="dim">–</span> : duration(ms))
  const columns: Column<ThreadRow>[] = [
    {
      name: 'thread',
      head: 'Thread',
      width: 'minmax(16rem, 1fr)',
      isOwn: true,
      narrow: { line: 1, grows: true },
      cell: (thread) => (
        <Link {...target(thread)} tabIndex={-1} className="plain">
          <T text={thread.thread_id} max={120} />
        </Link>
      ),
    },
    {
      name: 'began',
      head: 'First input',
      width: 'minmax(20rem, 2fr)',
      narrow: { line: 2, grows: true },
      cell: ({ first_turn_id }) => (
        <span className="second">
          <T text={began?.get(first_turn_id) ?? ''} />
        </span>
      ),
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
  const shown = () => {
    if (error) return <FaultBox error={error} onRetry={() => void refetch()} />
    if (data === undefined) return <Loading what="threads" />
    if (threads.length === 0 && search.range !== undefined)
      return (
        <div className="center" role="status">
          <h2>No threads in this range</h2>
          <button type="button" className="line" onClick={() => change({ range: undefined })}>
            All time
          </button>
        </div>
      )
    if (threads.length === 0)
      return (
        <Empty title={page > 0 ? 'No threads on this page' : 'No threads yet'}>
          <p className="second">Calls in a thread appear here as conversations:</p>
          <pre>{`with weave.thread("support-8812"):
    answer("Where is my order?")`}</pre>
        </Empty>
      )
    return (
      <Grid
        label="Threads"
        columns={columns}
        items={threads}
        minWidth={920}
        height={height}
        at={Math.min(at, threads.length - 1)}
        onAt={setAt}
        onOpen={(thread) => void navigate(target(thread))}
        hrefOf={(thread) => router.buildLocation(target(thread)).href}
      />
    )
  }
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
      {shown()}
      <Pager
        page={page}
        size={pageThreads}
        shown={threads.length}
        hasNext={(data?.length ?? 0) > pageThreads}
        zone={zone}
        onPage={to}
      />
    </ProjectPage>
  )
}
