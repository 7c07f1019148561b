// One thread: its turns as a conversation, one of them in the reader, and turns that come while it is looked at.
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useEffect, useMemo, useState } from 'react'
import { count } from '../engine/format.ts'
import { ProjectPage } from '../frame/project-page.tsx'
import { useKeys } from '../keys.ts'
import { Button } from '../parts/button.tsx'
import { Loading } from '../parts/empty.tsx'
import { ErrorLine, FaultBox } from '../parts/fault.tsx'
import { MarkdownSwitch } from '../parts/markdown.tsx'
import { Split } from '../parts/split.tsx'
import { T } from '../parts/text.tsx'
import { maxFeedback, useFeedback, useGiving } from '../parts/use-feedback.ts'
import { useLive } from '../parts/use-live.ts'
import { useZone } from '../preferences.ts'
import './threads.css'
import type { ThreadSearch } from '../engine/threads-search.ts'
import { pageTurns, threadRequest, turnsQuery } from './thread-query.ts'
import { Turn } from './turn.tsx'
import { TurnList } from './turn-list.tsx'
import { TurnReader } from './turn-reader.tsx'
import { useOutcomes } from './use-outcomes.ts'

const route = '/signed-in/p/$entity/$project/threads/$threadId'

/** Interval between looks at a thread without turns while it is live. */
const emptyMs = 2_000

/** The turns of a page; while it is live and the last one, with those that come. */
function useTurns(projectId: string, threadId: string, page: number, isLive: boolean) {
  const query = useQuery({
    ...turnsQuery(projectId, threadId, page),
    refetchInterval: ({ state }) => (isLive && state.data?.turns.length === 0 ? emptyMs : false),
  })
  const { data, refetch } = query
  useLive({
    request: useMemo(() => threadRequest(projectId, threadId), [projectId, threadId]),
    isOn: isLive && data !== undefined && !data.hasMore,
    newest: data?.newest,
    isFree: true,
    changes: data?.turns.some(({ status }) => status === 'running') ?? false,
    onNew: () => void refetch(),
  })
  return query
}

/** Number of turns that have arrived since somebody looked: they are added below, and nothing else moves. */
function useArrived(pageKey: string, turns: number | undefined) {
  const [known, setKnown] = useState<{ pageKey: string; turns: number }>()
  useEffect(() => {
    if (turns !== undefined) setKnown((before) => (before?.pageKey === pageKey ? before : { pageKey, turns }))
  }, [pageKey, turns])
  const arrived = known?.pageKey === pageKey && turns !== undefined ? Math.max(0, turns - known.turns) : 0
  return { arrived, look: () => turns !== undefined && setKnown({ pageKey, turns }) }
}

export function Thread() {
  const { entity, project, threadId } = useParams({ from: route })
  const search = useSearch({ from: route })
  const navigate = useNavigate()
  const zone = useZone(search.tz)
  const projectId = `${entity}/${project}`
  const page = Number(search.page ?? 1) - 1
  const isLive = search.live === '1'
  const { data, error, refetch } = useTurns(projectId, threadId, page, isLive)
  const turns = useMemo(() => data?.turns ?? [], [data])
  const { data: feedback } = useFeedback(
    projectId,
    useMemo(() => turns.map(({ id }) => id), [turns]),
  )
  const outcomeOf = useOutcomes(projectId, turns, isLive)
  const giving = useGiving(projectId)
  const { arrived, look } = useArrived(`${projectId} ${threadId} ${page}`, data && turns.length)
  const [at, setAt] = useState(0)
  const first = page * pageTurns + 1
  const change = (next: ThreadSearch, replace = true) =>
    void navigate({
      to: '/p/$entity/$project/threads/$threadId',
      params: { entity, project, threadId },
      search: { ...search, ...next },
      replace,
    })
  const to = (next: number) => {
    setAt(0)
    change({ page: next > 0 ? String(next + 1) : undefined, turn: undefined, call: undefined }, false)
  }
  const chosen = turns.find(({ id }) => id === search.turn)
  const openTurn = (index: number, tab?: 'feedback') => {
    setAt(index)
    change({ turn: turns[index]?.id, call: undefined, tab }, chosen !== undefined)
  }
  const jumpTo = (index: number) => {
    const next = Math.max(0, Math.min(turns.length - 1, index))
    setAt(next)
    if (next === turns.length - 1) look()
    if (chosen !== undefined) change({ turn: turns[next]?.id, call: undefined })
    const element = document.getElementById(`turn-${first + next}`)
    element?.scrollIntoView({ block: 'start' })
    element?.focus({ preventScroll: true })
  }
  useKeys({
    down: () => jumpTo(at + 1),
    up: () => jumpTo(at - 1),
    first: () => jumpTo(0),
    last: () => jumpTo(turns.length),
    live: () => change({ live: isLive ? undefined : '1' }),
    copy: () => void navigator.clipboard.writeText(location.href),
  })
  return (
    <ProjectPage
      title="Thread"
      crumb={
        <Link to="/p/$entity/$project/threads" params={{ entity, project }} search={{}}>
          Threads
        </Link>
      }
    >
      <div className="bar">
        <h1>
          <T text={threadId} max={200} />
        </h1>
        <span className="grow" />
        <MarkdownSwitch />
        <Button
          aria-pressed={isLive}
          title="Live updates (l)"
          onClick={() => change({ live: isLive ? undefined : '1' })}
        >
          Live
        </Button>
      </div>
      <ErrorLine text={giving.fault?.message} />
      {error ? (
        <FaultBox error={error} onRetry={() => void refetch()} />
      ) : data === undefined ? (
        <Loading what="the thread" />
      ) : turns.length === 0 ? (
        <div className="center" role="status">
          <h2>This thread has no turns</h2>
          <p className="second">They were deleted, or have not arrived yet.</p>
        </div>
      ) : (
        <Split
          label="Turn"
          isChosen={chosen !== undefined}
          reader={
            chosen !== undefined && (
              <TurnReader
                projectId={projectId}
                search={search}
                zone={zone}
                turn={chosen.id}
                traceId={chosen.traceId}
                onChange={change}
              />
            )
          }
        >
          <div className="thread">
            {turns.length > 1 && chosen === undefined && (
              <TurnList {...{ projectId, turns, outcomeOf, at, first, zone }} onJump={jumpTo} />
            )}
            <section className="scroll" tabIndex={0} aria-label="Turns">
              <ol className="turns">
                {turns.map((row, n) => (
                  <Turn
                    key={row.id}
                    projectId={projectId}
                    row={row}
                    outcome={outcomeOf(row)}
                    zone={zone}
                    giving={giving}
                    before={turns[n - 1] ?? data.before}
                    place={first + n}
                    items={feedback?.of(row.id) ?? []}
                    isOpen={row === chosen}
                    onOpen={(tab) => openTurn(n, tab)}
                    link={
                      <Link
                        to="/p/$entity/$project/traces/$traceId"
                        params={{ entity, project, traceId: row.traceId }}
                        search={{ call: row.id }}
                      >
                        Trace
                      </Link>
                    }
                  />
                ))}
              </ol>
            </section>
          </div>
        </Split>
      )}
      <footer className="foot">
        <Button disabled={page === 0} onClick={() => to(page - 1)}>
          Earlier turns
        </Button>
        <span className="num" role="status">
          {turns.length > 0 && `Turns ${count(first)}–${count(first + turns.length - 1)}, times in ${zone}`}
          {feedback?.isCut && `, the first ${maxFeedback} of their feedback`}
        </span>
        {arrived > 0 && <Button onClick={() => jumpTo(turns.length - arrived)}>{count(arrived)} new</Button>}
        <Button disabled={!data?.hasMore} onClick={() => to(page + 1)}>
          Later turns
        </Button>
      </footer>
    </ProjectPage>
  )
}
