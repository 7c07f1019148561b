// The annotation queues of a project, with how far each is done; making a new one.
import { Link, useNavigate, useRouter } from '@tanstack/react-router'
import { useDeferredValue, useState } from 'react'
import { mayWrite, noWrite, useSession } from '../api/session.ts'
import { age, count } from '../engine/format.ts'
import { Empty, Loading, ProjectPage, useProject } from '../frame/project-page.tsx'
import { FaultBox } from '../parts/fault.tsx'
import { type Column, Grid } from '../parts/grid.tsx'
import { T } from '../parts/text.tsx'
import { useRowHeight } from '../preferences.ts'
import { NewQueue } from './new-queue.tsx'
import { type Queue, useQueues } from './use-queues.ts'
import './queues.css'

type Listed = Queue & { total_items?: number; completed_items?: number }

export function Queues() {
  const { entity, project, projectId } = useProject()
  const navigate = useNavigate()
  const height = useRowHeight()
  const { data: session } = useSession()
  const [text, setText] = useState('')
  const search = useDeferredValue(text.trim())
  const [at, setAt] = useState(0)
  const [isMaking, setMaking] = useState(false)
  const { data, error, refetch } = useQueues(projectId, search)
  const params = { entity, project }
  const reason = mayWrite(session) ? undefined : noWrite
  const router = useRouter()
  const target = (queueId: string) => ({
    to: '/p/$entity/$project/queues/$queueId' as const,
    params: { ...params, queueId },
  })
  const columns: Column<Listed>[] = [
    {
      name: 'name',
      head: 'Queue',
      width: 'minmax(16rem, 1fr)',
      isOwn: true,
      narrow: { line: 1, grows: true },
      cell: ({ id, name }) => (
        <Link {...target(id)} tabIndex={-1} className="plain">
          <T text={name} />
        </Link>
      ),
    },
    {
      name: 'done',
      head: 'Done',
      width: '22rem',
      narrow: { line: 2 },
      cell: ({ total_items: total = 0, completed_items: done = 0 }) => <Progress done={done} total={total} />,
    },
    {
      name: 'questions',
      head: 'Questions',
      width: '8rem',
      isNumber: true,
      narrow: { line: 2, label: 'Questions' },
      cell: ({ scorer_refs }) => count(scorer_refs.length),
    },
    {
      name: 'description',
      head: 'Description',
      width: 'minmax(16rem, 1.5fr)',
      narrow: { line: 2, grows: true },
      cell: ({ description }) => (
        <span className="second">
          <T text={description} />
        </span>
      ),
    },
    {
      name: 'made',
      head: 'Created',
      width: '16rem',
      narrow: { line: 1 },
      cell: ({ created_at, created_by }) => (
        <span className="second" title={created_at}>
          {age(created_at)} <T text={created_by} max={30} />
        </span>
      ),
    },
  ]
  const make = (
    <button
      type="button"
      className="line"
      disabled={reason !== undefined}
      title={reason}
      onClick={() => setMaking(true)}
    >
      New queue
    </button>
  )
  const body = () => {
    if (error && data === undefined) return <FaultBox error={error} onRetry={() => void refetch()} />
    if (data === undefined) return <Loading what="annotation queues" />
    if (data.length === 0 && search === '')
      return (
        <Empty title="No annotation queues yet">
          <p className="second">
            In an annotation queue, people review calls one by one and answer questions about them. Create a queue, then
            add calls from the list of calls.
          </p>
          <p>{make}</p>
        </Empty>
      )
    if (data.length === 0)
      return (
        <div className="center">
          <p className="second">No queue with this name</p>
        </div>
      )
    return (
      <Grid
        label="Annotation queues"
        columns={columns}
        items={data as Listed[]}
        minWidth={840}
        height={height}
        at={Math.min(at, data.length - 1)}
        onAt={setAt}
        onOpen={({ id }) => void navigate(target(id))}
        hrefOf={({ id }) => router.buildLocation(target(id)).href}
      />
    )
  }
  return (
    <ProjectPage title="Queues">
      <h1 className="hidden">Annotation queues of {projectId}</h1>
      <div className="bar">
        <input
          type="search"
          aria-label="Search queues"
          placeholder="Search queues"
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
        <span className="grow" />
        {make}
      </div>
      {body()}
      {isMaking && <NewQueue onClose={() => setMaking(false)} onMade={(id) => void navigate(target(id))} />}
    </ProjectPage>
  )
}

export function Progress({ done, total }: { done: number; total: number }) {
  return (
    <span className="progress">
      <progress max={Math.max(1, total)} value={done} aria-label={`${done} of ${total} done`} />
      <span className="num">
        {count(done)} of {count(total)}
      </span>
    </span>
  )
}
