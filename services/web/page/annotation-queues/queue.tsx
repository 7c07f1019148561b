// One queue: its items, what was answered by question, how far annotators agree, and the way into labelling.
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { mayAnnotate, mayWrite, noWrite, useSession } from '../api/session.ts'
import { AddToDataset } from '../datasets/add-to-dataset.tsx'
import { type Agreement, agreementOf, disagreedOn } from '../engine/agreement.ts'
import { count, plural } from '../engine/format.ts'
import { withKept } from '../engine/kept-answers.ts'
import { type Annotation, labelsOf, ratingsOf, type Spec, scaleOf } from '../engine/question-specs.ts'
import { answeredBy, isOpen, nextToAnswer, startWords } from '../engine/queue-order.ts'
import { opNameOf } from '../engine/rows.ts'
import { figure } from '../evaluations/figures.tsx'
import { ProjectPage } from '../frame/project-page.tsx'
import { Button } from '../parts/button.tsx'
import { Loading } from '../parts/empty.tsx'
import { FaultBox } from '../parts/fault.tsx'
import { type Column, ListGrid } from '../parts/grid.tsx'
import { useProject } from '../parts/project.ts'
import { saveFile } from '../parts/save-file.ts'
import { ShortTable } from '../parts/short-table.tsx'
import { Moment, Second, T } from '../parts/text.tsx'
import { useZone } from '../preferences.ts'
import { EditQueue } from './edit-queue.tsx'
import { useOutbox } from './outbox.ts'
import { Progress } from './queues.tsx'
import { type Item, maxAnnotations, useAnnotations, useItems, useQueue } from './use-queues.ts'
import './queues.css'

const route = '/signed-in/p/$entity/$project/queues/$queueId'

const stateNames: Record<Item['annotation_state'], string> = {
  unstarted: 'open',
  in_progress: 'begun',
  completed: 'done',
  skipped: 'skipped',
}

/** The item at which the person who looks at a queue goes on. */
function useNext(all: readonly Item[], specs: readonly Spec[], said: readonly Annotation[]): Item | undefined {
  const { data: session } = useSession()
  const { waiting } = useOutbox()
  const isAsked = mayAnnotate(session) && specs.length > 0
  return all[nextToAnswer(all, isAsked ? answeredBy(session?.user_id, said, waiting) : null)]
}

export function QueueOverview() {
  const { entity, project, projectId } = useProject()
  const { queueId } = useParams({ from: route })
  const navigate = useNavigate()
  const zone = useZone(undefined)
  const [dialog, setDialog] = useState<'edit' | 'dataset'>()
  const { data: session } = useSession()
  const reason = mayWrite(session) ? undefined : noWrite
  const queue = useQueue(projectId, queueId)
  const items = useItems(projectId, queueId)
  const annotations = useAnnotations(projectId, queueId)
  const outbox = useOutbox()
  const all = withKept(items.items ?? [], outbox.waiting)
  const said = annotations.data ?? []
  const specs = queue.data?.specs ?? []
  const fault = queue.error ?? items.error ?? annotations.error
  const params = { entity, project, queueId }
  const target = ({ id }: Item) => ({
    to: '/p/$entity/$project/queues/$queueId/items/$itemId' as const,
    params: { ...params, itemId: id },
  })
  const toAnswer = useNext(all, specs, said)
  const next = toAnswer ?? all[0]
  const byCall = new Map<string, Set<string>>()
  for (const { callId, by } of said) byCall.set(callId, (byCall.get(callId) ?? new Set()).add(by))
  const agreements = specs.map((spec) => ({ spec, found: agreementOf(ratingsOf(said, spec.name), scaleOf(spec)) }))
  const disagreed = disagreedOn(agreements)
  // Items on which people disagree come first.
  const sorted = all.toSorted(
    (a, b) => (disagreed.get(b.call_id)?.length ?? 0) - (disagreed.get(a.call_id)?.length ?? 0),
  )
  const columns: Column<Item>[] = [
    {
      head: '#',
      width: '4.8rem',
      isNumber: true,
      narrow: { line: 1 },
      cell: ({ position_in_queue: place }) => <span className="dim">{place}</span>,
    },
    {
      head: 'State',
      width: '7.6rem',
      narrow: { line: 2 },
      cell: ({ annotation_state: state }) => <span className={`state-${state}`}>{stateNames[state]}</span>,
    },
    {
      head: 'Call',
      width: 'minmax(16rem, 1fr)',
      isName: true,
      narrow: { line: 1, grows: true },
      cell: ({ call_op_name }) => <T text={opNameOf(call_op_name)} />,
    },
    {
      head: 'Started',
      width: '12rem',
      narrow: { line: 1 },
      cell: ({ call_started_at: iso }) => <Moment at={iso} zone={zone} />,
    },
    {
      head: 'Annotators',
      width: 'minmax(12rem, 0.8fr)',
      narrow: { line: 2, grows: true },
      cell: ({ call_id }) => <Second text={[...(byCall.get(call_id) ?? [])].join(', ')} />,
    },
    {
      head: 'Disagreed on',
      width: 'minmax(12rem, 0.8fr)',
      narrow: { line: 2, grows: true },
      cell: ({ call_id }) => (
        <span className="s-descendant_error">
          <T text={disagreed.get(call_id)?.join(', ') ?? ''} />
        </span>
      ),
    },
  ]
  const body = () => {
    if (fault)
      return (
        <FaultBox
          error={fault}
          onRetry={() => void Promise.all([queue.refetch(), items.refetch(), annotations.refetch()])}
        />
      )
    if (queue.data === undefined || items.items === undefined) return <Loading what="the queue" />
    return (
      <>
        <section className="answers" aria-label="Answers" tabIndex={0}>
          {agreements.map(({ spec, found }) => (
            <Answers key={spec.ref} spec={spec} of={said} agreement={found} />
          ))}
          <People of={said} />
          {specs.length === 0 && (
            <p className="second">This queue has no questions: items can only be viewed and skipped.</p>
          )}
        </section>
        <ListGrid
          list={items}
          items={sorted}
          what="the queue"
          none={
            <div className="center">
              <p className="second">This queue is empty. Add calls from the list of calls.</p>
            </div>
          }
          label="Items"
          columns={columns}
          minWidth={760}
          to={target}
        />
      </>
    )
  }
  const done = all.filter((item) => !isOpen(item)).length
  return (
    <ProjectPage
      title={queue.data?.queue.name.slice(0, 80) ?? 'Queue'}
      crumb={
        <Link to="/p/$entity/$project/queues" params={{ entity, project }} search={{}}>
          Queues
        </Link>
      }
    >
      <h1 className="hidden">Annotation queue</h1>
      <div className="bar">
        <Progress done={done} total={all.length} />
        {outbox.waiting.length > 0 && (
          <span role="status" className="second">
            Saving {outbox.waiting.length}…
          </span>
        )}
        <Second text={queue.data?.queue.description ?? ''} />
        <span className="grow" />
        {said.length === maxAnnotations && <span className="dim">of the latest {count(maxAnnotations)} answers</span>}
        <Button whyNot={reason} disabled={queue.data === undefined} onClick={() => setDialog('edit')}>
          Edit…
        </Button>
        <Button whyNot={reason} disabled={all.length === 0} onClick={() => setDialog('dataset')}>
          Add to dataset…
        </Button>
        <Button disabled={said.length === 0} onClick={() => download(all, said)}>
          Export
        </Button>
        <button
          type="button"
          className="first"
          disabled={next === undefined}
          onClick={() => next && void navigate(target(next))}
        >
          {startWords(toAnswer)}
        </button>
      </div>
      {outbox.failed && (
        <p className="notice bad" role="alert">
          {outbox.failed}
        </p>
      )}
      {body()}
      {dialog === 'edit' && queue.data && (
        <EditQueue projectId={projectId} {...queue.data} onClose={() => setDialog(undefined)} />
      )}
      {dialog === 'dataset' && (
        <AddToDataset
          projectId={projectId}
          ids={all.map(({ call_id }) => call_id)}
          labels={labelsOf(said)}
          onClose={() => setDialog(undefined)}
        />
      )}
    </ProjectPage>
  )
}

function Answers({ spec, of, agreement }: { spec: Spec; of: readonly Annotation[]; agreement: Agreement | undefined }) {
  const counts = new Map<string, number>()
  for (const { value } of ratingsOf(of, spec.name)) counts.set(String(value), (counts.get(String(value)) ?? 0) + 1)
  const shown = [...counts].sort(([, a], [, b]) => b - a).slice(0, 6)
  const most = shown[0]?.[1] ?? 1
  return (
    <figure className="answer">
      <figcaption>
        <b>
          <T text={spec.label} max={60} />
        </b>
      </figcaption>
      {shown.length === 0 && <p className="dim">No answers yet</p>}
      <dl>
        {shown.map(([value, times]) => (
          <div key={value}>
            <dt>
              <T text={value} max={30} />
            </dt>
            <dd>
              <i style={{ width: `${(times / most) * 7.2}rem` }} /> {times}
            </dd>
          </div>
        ))}
      </dl>
      {counts.size > shown.length && <p className="dim">and {plural(counts.size - shown.length, 'other answer')}</p>}
      {agreement && (
        <p className="agreement">
          <b>{figure(agreement.percent)} %</b> agreement on {plural(agreement.items, 'item')}
          {agreement.kappa !== null && (
            <>
              {' · '}
              <abbr title="Cohen’s kappa: agreement of two annotators beyond chance. 1 is full agreement.">κ</abbr>{' '}
              {figure(agreement.kappa)}
            </>
          )}
          {agreement.alpha !== null && (
            <>
              {' · '}
              <abbr title="Krippendorff’s alpha: agreement of any number of annotators beyond chance. 1 is full agreement.">
                α
              </abbr>{' '}
              {figure(agreement.alpha)}
            </>
          )}
        </p>
      )}
    </figure>
  )
}

function People({ of }: { of: readonly Annotation[] }) {
  const days = new Map<string, Map<string, number>>()
  for (const { by, at } of of) {
    const day = days.get(at.slice(0, 10)) ?? new Map<string, number>()
    days.set(at.slice(0, 10), day.set(by, (day.get(by) ?? 0) + 1))
  }
  if (days.size === 0) return null
  const people = [...new Set(of.map(({ by }) => by))].slice(0, 6)
  const shown = [...days].sort(([a], [b]) => (a < b ? 1 : -1)).slice(0, 5)
  return (
    <figure className="answer">
      <figcaption>
        <b>Answers by day (UTC)</b>
      </figcaption>
      <ShortTable
        columns={[
          { head: 'Day', isRowHead: true, cell: ([day]) => day },
          ...people.map((person) => ({
            key: `by ${person}`,
            head: person,
            shownHead: <T text={person} max={20} />,
            isNumber: true,
            cell: ([, by]: (typeof shown)[number]) => by.get(person) ?? 0,
          })),
        ]}
        items={shown}
        idOf={([day]) => day}
      />
    </figure>
  )
}

/** Items with their answers as JSON Lines, made in the page. */
function download(items: readonly Item[], said: readonly Annotation[]): void {
  const lines = items.map((item) =>
    JSON.stringify({
      item_id: item.id,
      call_id: item.call_id,
      trace_id: item.call_trace_id,
      state: item.annotation_state,
      annotations: said
        .filter(({ callId }) => callId === item.call_id)
        .map(({ spec, by, value, at }) => ({ name: spec, by, value, at })),
    }),
  )
  saveFile(new Blob([`${lines.join('\n')}\n`], { type: 'application/jsonl' }), 'annotations.jsonl')
}
