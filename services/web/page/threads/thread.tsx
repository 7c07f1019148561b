// One thread: its turns as a conversation, each with the messages that are new in it and a link to its trace.
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import type { Message } from '../engine/conversation.ts'
import { count, duration, moment, money, tokens } from '../engine/format.ts'
import type { Row } from '../engine/rows.ts'
import { Loading, ProjectPage } from '../frame/project-page.tsx'
import { useKeys } from '../keys.ts'
import { FaultBox } from '../parts/fault.tsx'
import { Icon } from '../parts/icon.tsx'
import { MarkdownSwitch } from '../parts/markdown.tsx'
import { T } from '../parts/text.tsx'
import { useZone } from '../preferences.ts'
import { Conversation } from '../traces/conversation.tsx'
import { openQuery } from '../traces/trace-query.ts'
import '../traces/trace.css'
import './threads.css'
import { statusNames } from '../calls/row.tsx'
import { newMessages, pageTurns, previewsQuery, turnsQuery } from './thread-query.ts'
import { TurnList } from './turn-list.tsx'

const route = '/signed-in/p/$entity/$project/threads/$threadId'

/** True once the element has been near the window: turns further down are not read before. */
function useSeen() {
  const box = useRef<HTMLLIElement>(null)
  const [isSeen, setSeen] = useState(false)
  useEffect(() => {
    const element = box.current
    if (element === null || isSeen) return
    const observer = new IntersectionObserver(
      (entries) => entries.some(({ isIntersecting }) => isIntersecting) && setSeen(true),
      { rootMargin: '600px' },
    )
    observer.observe(element)
    return () => observer.disconnect()
  }, [isSeen])
  return { box, isSeen }
}

/** Of a turn without messages, such as the run of an agent: how its inputs and its output begin. */
function Payloads({ projectId, id }: { projectId: string; id: string }) {
  const { data, error, refetch } = useQuery(previewsQuery(projectId, [id]))
  if (error) return <FaultBox error={error} onRetry={() => void refetch()} />
  const preview = data?.[id]
  if (preview === undefined) return null
  return (
    <dl className="payloads">
      <dt>Inputs</dt>
      <dd className="said" dir="auto">
        <T text={preview.inputs} />
      </dd>
      <dt>Output</dt>
      <dd className="said" dir="auto">
        <T text={preview.output} />
      </dd>
    </dl>
  )
}

/** Messages that earlier turns had already, once somebody asks for them. */
function Earlier({ projectId, messages }: { projectId: string; messages: readonly Message[] }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary className="dim">{count(messages.length)} earlier messages</summary>
      {isOpen && <Conversation {...{ projectId, messages }} />}
    </details>
  )
}

type TurnProps = { projectId: string; row: Row; before: Row | undefined; place: number; zone: string; link: ReactNode }

function Turn({ projectId, row, before, place, zone, link }: TurnProps) {
  const { box, isSeen } = useSeen()
  const { data, error, refetch } = useQuery({ ...openQuery(projectId, row.id), enabled: isSeen })
  const earlier = useQuery({ ...openQuery(projectId, before?.id ?? ''), enabled: isSeen && before !== undefined })
  const isReady = data !== undefined && (before === undefined || !earlier.isLoading)
  const messages: Message[] = data?.conversation ?? []
  const { earlier: known, shown } = newMessages(earlier.data?.conversation ?? [], messages)
  return (
    <li ref={box} id={`turn-${place}`} className="turn" tabIndex={-1}>
      <header>
        <h2>
          <Icon name={row.status} label={statusNames[row.status]} className={`s-${row.status}`} />
          <span>
            {place}. <T text={row.name} max={120} />
          </span>
        </h2>
        <span className="second num" title={row.startedAt}>
          {moment(row.startedAt, zone)}
        </span>
        <span className="num">{row.latencyMs === null ? 'running' : duration(row.latencyMs)}</span>
        {row.tokensIn !== null && (
          <span className="num second">
            {tokens(row.tokensIn)}→{tokens(row.tokensOut)} tok
          </span>
        )}
        {row.cost !== null && <span className="num second">{money(row.cost)}</span>}
        {link}
      </header>
      {error && <FaultBox error={error} onRetry={() => void refetch()} />}
      {!isReady && !error && <div className="ghost" style={{ height: 40 }} />}
      {isReady && known > 0 && <Earlier {...{ projectId }} messages={messages.slice(0, known)} />}
      {isReady && messages.length > 0 && <Conversation {...{ projectId }} messages={shown} />}
      {isReady && messages.length === 0 && <Payloads projectId={projectId} id={row.id} />}
      {row.exception !== null && (
        <p className="s-error">
          <T text={row.exception} max={2_000} />
        </p>
      )}
    </li>
  )
}

export function Thread() {
  const { entity, project, threadId } = useParams({ from: route })
  const search = useSearch({ from: route })
  const navigate = useNavigate()
  const zone = useZone(search.tz)
  const projectId = `${entity}/${project}`
  const page = Number(search.page ?? 1) - 1
  const { data, error, refetch } = useQuery(turnsQuery(projectId, threadId, page))
  const turns = data?.turns ?? []
  const [at, setAt] = useState(0)
  const to = (next: number) => {
    setAt(0)
    void navigate({
      to: '/p/$entity/$project/threads/$threadId',
      params: { entity, project, threadId },
      search: { ...search, page: next > 0 ? String(next + 1) : undefined },
    })
  }
  const jumpTo = (index: number) => {
    const next = Math.max(0, Math.min(turns.length - 1, index))
    setAt(next)
    const element = document.getElementById(`turn-${page * pageTurns + next + 1}`)
    element?.scrollIntoView({ block: 'start' })
    element?.focus({ preventScroll: true })
  }
  useKeys({
    down: () => jumpTo(at + 1),
    up: () => jumpTo(at - 1),
    first: () => jumpTo(0),
    last: () => jumpTo(turns.length),
  })
  return (
    <ProjectPage
      title="Thread"
      crumbs={
        <>
          <span className="sep">/</span>
          <Link to="/p/$entity/$project/threads" params={{ entity, project }} search={{}}>
            Threads
          </Link>
        </>
      }
    >
      <div className="bar">
        <h1>
          <T text={threadId} max={200} />
        </h1>
        <span className="grow" />
        <MarkdownSwitch />
      </div>
      {error ? (
        <FaultBox error={error} onRetry={() => void refetch()} />
      ) : data === undefined ? (
        <Loading what="the thread" />
      ) : turns.length === 0 ? (
        <div className="center" role="status">
          <h2>This thread has no turns here</h2>
          <p className="second">They were deleted, or have not arrived.</p>
        </div>
      ) : (
        <div className="thread">
          {turns.length > 1 && <TurnList {...{ turns, at }} first={page * pageTurns + 1} onJump={jumpTo} />}
          <section className="scroll" tabIndex={0} aria-label="Turns">
            <ol className="turns">
              {turns.map((row, n) => (
                <Turn
                  key={row.id}
                  {...{ projectId, row, zone, before: turns[n - 1] ?? data.before, place: page * pageTurns + n + 1 }}
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
      )}
      <footer className="foot">
        <button type="button" className="line" disabled={page === 0} onClick={() => to(page - 1)}>
          Earlier turns
        </button>
        <span className="num" role="status">
          {turns.length > 0 &&
            `Turns ${count(page * pageTurns + 1)}–${count(page * pageTurns + turns.length)}, times in ${zone}`}
        </span>
        <button type="button" className="line" disabled={!data?.hasMore} onClick={() => to(page + 1)}>
          Later turns
        </button>
      </footer>
    </ProjectPage>
  )
}
