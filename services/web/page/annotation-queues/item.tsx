// Labelling: one call of a queue and the questions about it, all by keys; what was saved can be taken back for a while.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useEffect, useMemo, useRef, useState } from 'react'
import { mayAnnotate, useSession } from '../api/session.ts'
import { plural } from '../engine/format.ts'
import { withKept } from '../engine/kept-answers.ts'
import { answerOfDigit, type OfOthers, othersSeen, type Spec, wrongAnswer } from '../engine/question-specs.ts'
import { answeredBy, isOpen, nextToAnswer } from '../engine/queue-order.ts'
import { opNameOf } from '../engine/rows.ts'
import { ProjectPage } from '../frame/project-page.tsx'
import { useKeys } from '../keys.ts'
import { Button, IconButton } from '../parts/button.tsx'
import { Conversation } from '../parts/conversation.tsx'
import { Loading } from '../parts/empty.tsx'
import { FaultBox } from '../parts/fault.tsx'
import { JsonView } from '../parts/json-view.tsx'
import { MediaList } from '../parts/media.tsx'
import { useProject } from '../parts/project.ts'
import { type AnswerDraft, Question } from '../parts/question.tsx'
import { T } from '../parts/text.tsx'
import { openQuery } from '../parts/trace-query.ts'
import { faultOf, put, takeBack, useOutbox } from './outbox.ts'
import { type Item, useAnnotations, useItems, useQueue } from './use-queues.ts'
import '../parts/reader.css'
import './queues.css'

const route = '/signed-in/p/$entity/$project/queues/$queueId/items/$itemId'
const prefetched = 3

export function QueueItem() {
  const { entity, project, projectId } = useProject()
  const { queueId, itemId } = useParams({ from: route })
  const navigate = useNavigate()
  const client = useQueryClient()
  const { data: session } = useSession()
  const queue = useQueue(projectId, queueId)
  const items = useItems(projectId, queueId)
  const annotations = useAnnotations(projectId, queueId)
  const outbox = useOutbox()
  const all = useMemo(() => withKept(items.items ?? [], outbox.waiting), [items.items, outbox.waiting])
  const place = all.findIndex(({ id }) => id === itemId)
  const item = all[place]
  const specs = queue.data?.specs ?? []
  const own =
    annotations.data?.filter(
      ({ callId, userId, by }) => callId === item?.call_id && userId === session?.user_id && by === userId,
    ) ?? []
  const onTheirWay = outbox.waiting.filter((one) => one.itemId === itemId).flatMap(({ answers }) => answers)
  const before = new Map([...own, ...onTheirWay].map(({ spec, value, id }) => [spec, { value, id }]))
  const others =
    annotations.data?.filter(
      ({ callId, userId, by }) => callId === item?.call_id && (userId !== session?.user_id || by !== userId),
    ) ?? []
  const [draft, setDraft] = useState<{ item: string; values: AnswerDraft; at: number }>({
    item: itemId,
    values: {},
    at: 0,
  })
  const values = draft.item === itemId ? draft.values : {}
  const at = draft.item === itemId ? draft.at : 0
  const set = (part: Partial<{ values: AnswerDraft; at: number }>) => setDraft({ item: itemId, values, at, ...part })
  const lastOwn = useRef<string>(undefined)
  const [missing, setMissing] = useState<{ item: string; spec: Spec }>()
  const reason = session !== undefined && !mayAnnotate(session) ? 'You have read-only access' : undefined
  const params = { entity, project, queueId }
  const go = (to: number) => {
    const target = all[to]
    if (target !== undefined)
      void navigate({
        to: '/p/$entity/$project/queues/$queueId/items/$itemId',
        params: { ...params, itemId: target.id },
        replace: true,
      })
  }
  /** To the next one that is left; else to the overview, as after the last open one. */
  const goOn = () => {
    const mine = answeredBy(session?.user_id, annotations.data ?? [], outbox.waiting)
    const next = nextToAnswer(all, item === undefined || isOpen(item) ? null : mine, place)
    if (next === -1) void navigate({ to: '/p/$entity/$project/queues/$queueId', params })
    else go(next)
  }
  useEffect(() => {
    for (const one of all.slice(place + 1, place + 1 + prefetched))
      void client.prefetchQuery(openQuery(projectId, one.call_id))
  }, [all, place, client, projectId])

  const answer = (spec: Spec): unknown => values[spec.name] ?? before.get(spec.name)?.value
  const isWrong = ({ name, answering }: Spec): boolean => wrongAnswer(values[name], answering) !== undefined
  const move = (by: number) => set({ at: Math.max(0, Math.min(specs.length - 1, at + by)) })
  const choose = (value: unknown) => {
    const spec = specs[at]
    if (spec === undefined || reason !== undefined) return
    set({ values: { ...values, [spec.name]: value }, at: Math.min(specs.length - 1, at + 1) })
  }
  const pressChoice = (digit: number) => {
    const spec = specs[at]
    const value = spec && answerOfDigit(digit, spec.answering)
    if (value !== undefined) choose(value)
  }
  const save = (state: 'completed' | 'skipped') => {
    if (item === undefined || reason !== undefined) return
    const answers = specs.flatMap((spec) => {
      const value = values[spec.name]
      if (state === 'skipped' || value === undefined || value === before.get(spec.name)?.value) return []
      return [{ id: crypto.randomUUID(), spec: spec.name, ref: spec.ref, value, earlier: before.get(spec.name)?.id }]
    })
    const open = specs.find((spec) => answer(spec) === undefined || isWrong(spec))
    setMissing(state === 'completed' && open ? { item: itemId, spec: open } : undefined)
    if (state === 'completed' && open) {
      set({ at: specs.indexOf(open) })
      return
    }
    lastOwn.current = item.id
    // A returning annotator begins with the first question.
    set({ at: 0 })
    put(client, {
      userId: session?.user_id ?? '',
      prefix: session?.server.feedback_prefix ?? 'wandb',
      projectId,
      queueId,
      itemId: item.id,
      callId: item.call_id,
      position: item.position_in_queue ?? null,
      state,
      answers,
    })
    goOn()
  }
  const isMissing = (spec: Spec): boolean =>
    missing?.item === itemId && missing.spec === spec && (answer(spec) === undefined || isWrong(spec))
  const faultAt = (spec: Spec): string | undefined => {
    const draft = values[spec.name]
    if (draft === undefined && isMissing(spec)) return 'Not answered yet'
    return wrongAnswer(draft, spec.answering) ?? faultOf(outbox, item?.id ?? '', spec.name, draft)
  }
  const isTruth = specs[at]?.answering.is === 'boolean'
  useKeys({
    ...Object.fromEntries(digits.map((digit) => [`choose${digit}`, () => pressChoice(digit)])),
    ...(isTruth && { answerYes: () => choose(true), answerNo: () => choose(false) }),
    questionDown: () => move(1),
    questionUp: () => move(-1),
    save: () => save('completed'),
    skip: () => save('skipped'),
    previousItem: () => go(place - 1),
    nextItem: () => go(place + 1),
    lastOwn: () => go(all.findIndex(({ id }) => id === lastOwn.current)),
    itemTrace: () =>
      item &&
      void navigate({
        to: '/p/$entity/$project/traces/$traceId',
        params: { entity, project, traceId: item.call_trace_id },
        search: { call: item.call_id },
      }),
  })
  const fault = queue.error ?? items.error
  const body = () => {
    if (fault) return <FaultBox error={fault} onRetry={() => void Promise.all([queue.refetch(), items.refetch()])} />
    if (queue.data === undefined || items.items === undefined || annotations.data === undefined)
      return <Loading what="the item" />
    if (item === undefined)
      return (
        <div className="center" role="status">
          <h2>Item not found</h2>
          <p className="second">Its call may have been deleted.</p>
        </div>
      )
    return (
      <div className="labelling">
        <Shown key={item.id} projectId={projectId} id={item.call_id} fields={item.display_fields} />
        <Questions
          key={`answers of ${item.id}`}
          {...{ specs, values, at, reason, answer, set }}
          others={othersSeen(others, reason === undefined ? new Set(before.keys()) : null)}
          onSave={save}
          faultOf={faultAt}
          missing={missing && isMissing(missing.spec) ? missing.spec : undefined}
        />
      </div>
    )
  }
  return (
    <ProjectPage
      title={place === -1 ? 'Item' : `Item ${place + 1} of ${all.length}`}
      crumb={
        <Link to="/p/$entity/$project/queues/$queueId" params={params}>
          <T text={queue.data?.queue.name ?? 'Queue'} max={60} />
        </Link>
      }
    >
      <h1 className="hidden">Item of an annotation queue</h1>
      <ItemBar {...{ item, place, outbox, queueId }} count={all.length} onGo={go} onUndo={() => takeBack(client)} />
      {outbox.failed && (
        <p className="notice bad" role="alert">
          {outbox.failed}
        </p>
      )}
      {body()}
    </ProjectPage>
  )
}

type BarProps = {
  item: Item | undefined
  place: number
  count: number
  outbox: ReturnType<typeof useOutbox>
  queueId: string
  onGo(place: number): void
  onUndo(): void
}

function ItemBar({ item, place, count, outbox, queueId, onGo, onUndo }: BarProps) {
  const { entity, project } = useProject()
  return (
    <div className="bar">
      <IconButton
        icon="left"
        className="icon line"
        label="Previous item"
        disabled={place <= 0}
        onClick={() => onGo(place - 1)}
      />
      <IconButton
        icon="right"
        className="icon line"
        label="Next item"
        disabled={place === -1 || place >= count - 1}
        onClick={() => onGo(place + 1)}
      />
      <b>{item && <T text={opNameOf(item.call_op_name)} max={80} />}</b>
      <span className="grow" />
      <span role="status" className="second">
        {outbox.waiting.length > 0 ? `Saving ${outbox.waiting.length}…` : outbox.stored ? 'Saved' : ''}
      </span>
      {outbox.stored?.queueId === queueId && (
        // While others are saved it would take back those before them.
        <Button disabled={outbox.waiting.length > 0} onClick={onUndo}>
          Undo
        </Button>
      )}
      {item && (
        <Link
          className="line-link"
          to="/p/$entity/$project/traces/$traceId"
          params={{ entity, project, traceId: item.call_trace_id }}
          search={{ call: item.call_id }}
        >
          Trace
        </Link>
      )}
    </div>
  )
}

type QuestionsProps = {
  specs: readonly Spec[]
  values: AnswerDraft
  /** The question at hand. */
  at: number
  reason: string | undefined
  /** The question without which the item cannot be saved. */
  missing: Spec | undefined
  others: OfOthers
  answer(spec: Spec): unknown
  faultOf(spec: Spec): string | undefined
  set(part: Partial<{ values: AnswerDraft; at: number }>): void
  onSave(state: 'completed' | 'skipped'): void
}

function Questions(props: QuestionsProps) {
  const { specs, values, at, reason, missing, others, answer, faultOf, set, onSave } = props
  return (
    <form
      aria-label="Questions"
      onSubmit={(event) => {
        event.preventDefault()
        onSave('completed')
      }}
    >
      {specs.map((spec, n) => (
        <Question
          key={spec.ref}
          spec={spec}
          reason={reason}
          isAt={n === at}
          value={answer(spec)}
          fault={faultOf(spec)}
          onFocus={() => n !== at && set({ at: n })}
          onAnswer={(value) => set({ values: { ...values, [spec.name]: value }, at: n })}
          others={others.shown.filter((one) => one.spec === spec.name)}
        />
      ))}
      {specs.length === 0 && <p className="second">This queue has no questions.</p>}
      <div className="acts">
        <button type="submit" className="first" disabled={reason !== undefined} title={reason ?? 'Enter'}>
          Save and next <kbd>Enter</kbd>
        </button>
        <Button whyNot={reason} onClick={() => onSave('skipped')}>
          Skip <kbd>u</kbd>
        </Button>
      </div>
      {others.hidden > 0 && (
        <p className="second">
          {plural(others.hidden, 'answer')} by others {others.hidden === 1 ? 'is' : 'are'} hidden until you save yours.
        </p>
      )}
      {reason && <p className="second">{reason}</p>}
      {missing && (
        <p className="s-error" role="alert">
          Answer <T text={missing.label} max={80} /> first, or skip the item.
        </p>
      )}
      <p className="dim">
        <kbd>↑</kbd> <kbd>↓</kbd> question · <kbd>1</kbd>–<kbd>9</kbd> choice · <kbd>y</kbd> <kbd>n</kbd> yes, no (moves
        to the next question) · <kbd>←</kbd> <kbd>→</kbd> item · <kbd>b</kbd> back · <kbd>t</kbd> trace
      </p>
    </form>
  )
}

const digits = [1, 2, 3, 4, 5, 6, 7, 8, 9] as const

/** The call as annotators see it: its conversation where there is one, else the named fields as JSON. */
function Shown({ projectId, id, fields }: { projectId: string; id: string; fields: readonly string[] }) {
  const { data, error, refetch } = useQuery(openQuery(projectId, id))
  if (error) return <FaultBox error={error} onRetry={() => void refetch()} />
  if (data === undefined) return <Loading what="the call" />
  if (data === null)
    return (
      <div className="center" role="status">
        <h2>Call not found</h2>
        <p className="second">It was deleted, or has not arrived yet.</p>
      </div>
    )
  const wanted = new Set(fields.map((field) => field.split('.', 1)[0]))
  const sections = Object.entries(data.sections).filter(([name]) =>
    wanted.size === 0 ? name === 'inputs' || name === 'output' : wanted.has(name),
  )
  return (
    <div className="shown reader">
      {data.row.exception && (
        <div className="thrown" tabIndex={0} role="group" aria-label="Exception">
          <T text={data.row.exception} max={20_000} />
        </div>
      )}
      {data.conversation ? (
        <Conversation projectId={projectId} messages={data.conversation} />
      ) : (
        <div className="body">
          {data.media.length > 0 && <MediaList projectId={projectId} found={data.media} />}
          {sections.map(([name, node]) => (
            <section key={name} aria-label={name}>
              <h3>{name}</h3>
              <JsonView root={node} label={name} name={name} />
            </section>
          ))}
        </div>
      )}
    </div>
  )
}
