// The threads of a project: conversations by their last turn, with how long turns take and how each began.
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useRouter, useSearch } from '@tanstack/react-router'
import { useMemo, useRef, useState } from 'react'
import { baseUrl } from '../api/client.ts'
import { count, duration, moment } from '../engine/format.ts'
import { Frame, ProjectCrumbs } from '../frame/frame.tsx'
import { useKeys } from '../keys.ts'
import { FaultBox } from '../parts/fault.tsx'
import { Icon } from '../parts/icon.tsx'
import { Rows, type RowsHandle } from '../parts/rows.tsx'
import { T } from '../parts/text.tsx'
import { useRowHeight, useZone } from '../preferences.ts'
import { ask } from '../worker/client.ts'
import { pageThreads, sorts, type ThreadRow, type ThreadSort, threadsQuery } from './thread-query.ts'

const route = '/signed-in/p/$entity/$project/threads'
const table = {
  gridTemplateColumns: 'minmax(160px, 1fr) minmax(200px, 2fr) 72px 120px 120px 96px 96px',
  minWidth: 900,
}

export function Threads() {
  const { entity, project } = useParams({ from: route })
  const search = useSearch({ from: route })
  const navigate = useNavigate()
  const router = useRouter()
  const zone = useZone(search.tz)
  const height = useRowHeight()
  const projectId = `${entity}/${project}`
  const page = Number(search.page ?? 1) - 1
  const sort = (search.sort ?? 'last_updated') as ThreadSort
  const [at, setAt] = useState(0)
  const rows = useRef<RowsHandle>(null)
  const { data, error, refetch } = useQuery(threadsQuery(projectId, sort, page))
  const threads = useMemo(() => (data ?? []).slice(0, pageThreads), [data])
  const ids = useMemo(() => threads.map(({ first_turn_id }) => first_turn_id), [threads])
  const { data: previews } = useQuery({
    queryKey: ['previews', projectId, ids],
    queryFn: ({ signal }) => ask('previews', [baseUrl, projectId, ids], { signal }),
    enabled: ids.length > 0,
    staleTime: 60_000,
  })
  const target = ({ thread_id }: ThreadRow) => ({
    to: '/p/$entity/$project/threads/$threadId' as const,
    params: { entity, project, threadId: thread_id },
    search: search.tz ? { tz: search.tz } : {},
  })
  const open = (thread: ThreadRow | undefined) => thread && void navigate(target(thread))
  const change = (next: { sort?: ThreadSort; page?: number }) =>
    void navigate({
      to: '/p/$entity/$project/threads',
      params: { entity, project },
      search: {
        ...search,
        ...(next.sort && { sort: next.sort, page: undefined }),
        ...(next.page !== undefined && { page: next.page > 0 ? String(next.page + 1) : undefined }),
      },
    })
  useKeys({
    newTab: () => {
      const thread = threads[at]
      if (thread) window.open(router.buildLocation(target(thread)).href, '_blank', 'noopener')
    },
  })
  const head = (name: ThreadSort) => (
    <span key={name} role="columnheader" className="num" aria-sort={sort === name ? 'descending' : 'none'}>
      <button type="button" onClick={() => change({ sort: name })}>
        {sorts[name]}
        {sort === name && <Icon name="down" />}
      </button>
    </span>
  )
  const shown = (ms: number | null) => (ms === null ? <span className="dim">–</span> : duration(ms))
  return (
    <Frame
      title={`Threads of ${projectId}`}
      crumbs={
        <ProjectCrumbs entity={entity} project={project}>
          <span className="sep">/</span>
          <span className="at">Threads</span>
        </ProjectCrumbs>
      }
    >
      <h1 className="hidden">Threads of {projectId}</h1>
      {error ? (
        <FaultBox error={error} onRetry={() => void refetch()} />
      ) : data === undefined ? (
        <div className="center">
          <span className="hidden" role="status">
            Loading threads
          </span>
        </div>
      ) : threads.length === 0 ? (
        <div className="center">
          <h2>No threads {page > 0 ? 'on this page' : 'yet'}</h2>
          <p className="second">Calls that carry a thread id show here as conversations.</p>
        </div>
      ) : (
        <Rows
          handle={rows}
          label="Threads"
          count={threads.length}
          height={height}
          at={at}
          onAt={setAt}
          onKey={(event) => {
            if (event.key !== 'Enter' || (event.target as HTMLElement).closest('button, a')) return false
            open(threads[at])
            return true
          }}
          headHeight={29}
          head={
            <div role="rowgroup" className="head">
              <div role="row" aria-rowindex={1} className="line-of-cells" style={{ ...table, height: 28 }}>
                <span role="columnheader">Thread</span>
                <span role="columnheader">Began with</span>
                {(Object.keys(sorts) as ThreadSort[]).map(head)}
              </div>
            </div>
          }
          render={(index, isAt) => {
            const thread = threads[index] as ThreadRow
            return (
              <div
                role="row"
                aria-rowindex={index + 2}
                aria-selected={isAt}
                className={`row line-of-cells${isAt ? ' at' : ''}`}
                style={{ ...table, height }}
                onDoubleClick={() => open(thread)}
              >
                <span role="cell" className="name">
                  <a
                    href={router.buildLocation(target(thread)).href}
                    tabIndex={-1}
                    style={{ color: 'inherit' }}
                    onClick={(event) => {
                      if (event.metaKey || event.ctrlKey || event.shiftKey) return
                      event.preventDefault()
                      open(thread)
                    }}
                  >
                    <T text={thread.thread_id} max={120} />
                  </a>
                </span>
                <span role="cell" className="second">
                  <T text={previews?.[thread.first_turn_id]?.inputs ?? ''} />
                </span>
                <span role="cell" className="num">
                  {count(thread.turn_count)}
                </span>
                <span role="cell" className="num second" title={thread.start_time}>
                  {moment(thread.start_time, zone)}
                </span>
                <span role="cell" className="num second" title={thread.last_updated}>
                  {moment(thread.last_updated, zone)}
                </span>
                <span role="cell" className="num">
                  {shown(thread.p50_turn_duration_ms)}
                </span>
                <span role="cell" className="num">
                  {shown(thread.p99_turn_duration_ms)}
                </span>
              </div>
            )
          }}
        />
      )}
      <footer className="foot">
        <button type="button" className="line" disabled={page === 0} onClick={() => change({ page: page - 1 })}>
          Previous
        </button>
        <span className="num" role="status">
          {threads.length > 0 &&
            `${count(page * pageThreads + 1)}–${count(page * pageThreads + threads.length)}, times in ${zone}`}
        </span>
        <button
          type="button"
          className="line"
          disabled={(data?.length ?? 0) <= pageThreads}
          onClick={() => change({ page: page + 1 })}
        >
          Next
        </button>
      </footer>
    </Frame>
  )
}
