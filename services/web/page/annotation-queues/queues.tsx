// The annotation queues of a project, with how far each is done; making a new one.
import { useNavigate } from '@tanstack/react-router'
import { useDeferredValue, useState } from 'react'
import { mayWrite, noWrite, useSession } from '../api/session.ts'
import { age, count } from '../engine/format.ts'
import { ProjectPage } from '../frame/project-page.tsx'
import { Button } from '../parts/button.tsx'
import { type Column, ListGrid } from '../parts/grid.tsx'
import { Input } from '../parts/input.tsx'
import { EmptyOfProject } from '../parts/no-such-project.tsx'
import { useProject } from '../parts/project.ts'
import { Second, T } from '../parts/text.tsx'
import { NewQueue } from './new-queue.tsx'
import { type ListedQueue, useQueues } from './use-queues.ts'
import './queues.css'

export function Queues() {
  const { entity, project, projectId } = useProject()
  const navigate = useNavigate()
  const { data: session } = useSession()
  const [text, setText] = useState('')
  const search = useDeferredValue(text.trim())
  const [isMaking, setMaking] = useState(false)
  const list = useQueues(projectId, search)
  const reason = mayWrite(session) ? undefined : noWrite
  const target = (queueId: string) => ({
    to: '/p/$entity/$project/queues/$queueId' as const,
    params: { entity, project, queueId },
  })
  const columns: Column<ListedQueue>[] = [
    {
      head: 'Queue',
      width: 'minmax(16rem, 1fr)',
      isName: true,
      narrow: { line: 1, grows: true },
      cell: ({ name }) => <T text={name} />,
    },
    {
      head: 'Done',
      width: '22rem',
      narrow: { line: 2 },
      cell: ({ total_items: total = 0, completed_items: done = 0 }) => <Progress done={done} total={total} />,
    },
    {
      head: 'Questions',
      width: '8rem',
      isNumber: true,
      narrow: { line: 2, label: 'Questions' },
      cell: ({ scorer_refs }) => count(scorer_refs.length),
    },
    {
      head: 'Description',
      width: 'minmax(16rem, 1.5fr)',
      narrow: { line: 2, grows: true },
      cell: ({ description }) => <Second text={description} />,
    },
    {
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
    <Button whyNot={reason} onClick={() => setMaking(true)}>
      New queue
    </Button>
  )
  const none =
    search === '' ? (
      <EmptyOfProject title="No annotation queues yet">
        <p className="second">
          In an annotation queue, people review calls one by one and answer questions about them. Create a queue, then
          add calls from the list of calls.
        </p>
        <p>{make}</p>
      </EmptyOfProject>
    ) : (
      <div className="center">
        <p className="second">No queue with this name</p>
      </div>
    )
  return (
    <ProjectPage title="Queues">
      <h1 className="hidden">Annotation queues of {projectId}</h1>
      <div className="bar">
        <Input type="search" aria-label="Search queues" placeholder="Search queues" value={text} onText={setText} />
        <span className="grow" />
        {make}
      </div>
      <ListGrid
        list={list}
        what="annotation queues"
        none={none}
        label="Annotation queues"
        columns={columns}
        minWidth={840}
        to={({ id }) => target(id)}
      />
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
