// One turn of a thread: the messages that are new in it, what was said of it, and the ways to its call and its trace.
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { type FeedbackItem, summaryOf } from '../engine/feedback.ts'
import { count, duration, moment, plural, tokens } from '../engine/format.ts'
import type { Message } from '../engine/message-parts.ts'
import type { Row } from '../engine/rows.ts'
import type { Outcome } from '../engine/trace-totals.ts'
import { costText, costTitle } from '../engine/unpriced.ts'
import { Conversation } from '../parts/conversation.tsx'
import { FaultBox } from '../parts/fault.tsx'
import { Icon } from '../parts/icon.tsx'
import { Reactions, signs } from '../parts/reactions.tsx'
import { T } from '../parts/text.tsx'
import { openQuery } from '../parts/trace-query.ts'
import type { Giving } from '../parts/use-feedback.ts'
import { newMessages, previewsQuery } from './thread-query.ts'

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

/** The first characters of inputs and output of a turn without messages, such as the run of an agent. */
function Payloads({ projectId, row }: { projectId: string; row: Row }) {
  const { data, error, refetch } = useQuery(previewsQuery(projectId, [row.id]))
  useReadOnceEnded(row.status, refetch)
  if (error) return <FaultBox error={error} onRetry={() => void refetch()} />
  const preview = data?.[row.id]
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

/** Reads again what was read while the call ran, once it has ended. */
function useReadOnceEnded(status: Row['status'], refetch: () => unknown): void {
  const before = useRef(status)
  const again = useRef(refetch)
  again.current = refetch
  useEffect(() => {
    if (before.current === 'running' && status !== 'running') again.current()
    before.current = status
  }, [status])
}

/** Messages that earlier turns had already, once somebody asks for them. */
function Earlier({ projectId, messages }: { projectId: string; messages: readonly Message[] }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary className="dim">{count(messages.length)} earlier messages</summary>
      {isOpen && <Conversation projectId={projectId} messages={messages} />}
    </details>
  )
}

/** More values are counted. */
const shownValues = 4

/** Reactions to give, and what else was said in short; all of it is in the reader. */
function Said({ id, items, giving, onMore }: Pick<TurnProps, 'giving'> & Said) {
  const { reactions, values, notes } = summaryOf(items)
  const others = reactions.filter(([sign]) => !signs.some(({ emoji }) => emoji === sign))
  return (
    <div className="turn-said">
      <Reactions id={id} items={items} giving={giving} />
      {[...others.map(([sign, times]) => [sign, count(times)] as const), ...values]
        .slice(0, shownValues)
        .map(([name, text]) => (
          <span key={name} className="chip plain">
            <T text={name} max={40} /> <T text={text} max={40} />
          </span>
        ))}
      {notes > 0 && <span className="second num">{plural(notes, 'note')}</span>}
      <button type="button" onClick={onMore}>
        Feedback {items.length > 0 && <span className="num">{count(items.length)}</span>}
      </button>
    </div>
  )
}
type Said = { id: string; items: readonly FeedbackItem[]; onMore(): void }

type TurnProps = {
  projectId: string
  row: Row
  outcome: Outcome
  before: Row | undefined
  place: number
  zone: string
  link: ReactNode
  items: readonly FeedbackItem[]
  giving: Giving
  /** Whether it is in the reader. */
  isOpen: boolean
  onOpen(tab?: 'feedback'): void
}

export function Turn({ projectId, row, outcome, before, place, zone, link, items, giving, isOpen, onOpen }: TurnProps) {
  const { box, isSeen } = useSeen()
  const { data, error, refetch } = useQuery({ ...openQuery(projectId, row.id), enabled: isSeen })
  const earlier = useQuery({ ...openQuery(projectId, before?.id ?? ''), enabled: isSeen && before !== undefined })
  useReadOnceEnded(row.status, () => isSeen && void refetch())
  const isReady = data !== undefined && (before === undefined || !earlier.isLoading)
  const messages: Message[] = data?.conversation ?? []
  const { earlier: known, shown } = newMessages(earlier.data?.conversation ?? [], messages)
  return (
    <li
      ref={box}
      id={`turn-${place}`}
      className={isOpen ? 'turn open' : 'turn'}
      aria-current={isOpen ? 'true' : undefined}
      tabIndex={-1}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || event.target !== event.currentTarget) return
        event.preventDefault()
        onOpen()
      }}
    >
      <header>
        <h2>
          <Icon name={outcome.status} label={outcome.label} className={`s-${outcome.status}`} />
          <span>
            {place}. <T text={row.name} max={120} />
          </span>
        </h2>
        <span className="second num" title={row.startedAt}>
          {moment(row.startedAt, zone)}
        </span>
        {outcome.status === 'descendant_error' && <span className="s-descendant_error">{outcome.label}</span>}
        <span className="num">{row.latencyMs === null ? 'running' : duration(row.latencyMs)}</span>
        {row.tokensIn !== null && (
          <span className="num second">
            {tokens(row.tokensIn)}→{tokens(row.tokensOut)} tok
          </span>
        )}
        {row.cost !== null && (
          <span className="num second" title={costTitle(row)}>
            {costText(row)}
          </span>
        )}
        <button type="button" aria-pressed={isOpen} onClick={() => onOpen()}>
          Details
        </button>
        {link}
      </header>
      {error && <FaultBox error={error} onRetry={() => void refetch()} />}
      {!isReady && !error && <div className="ghost" style={{ height: 40 }} />}
      {isReady && known > 0 && <Earlier projectId={projectId} messages={messages.slice(0, known)} />}
      {isReady && messages.length > 0 && <Conversation projectId={projectId} messages={shown} foldsTools />}
      {isReady && messages.length === 0 && <Payloads projectId={projectId} row={row} />}
      {row.exception !== null && (
        <p className="s-error">
          <T text={row.exception} max={2_000} />
        </p>
      )}
      <Said id={row.id} items={items} giving={giving} onMore={() => onOpen('feedback')} />
    </li>
  )
}
