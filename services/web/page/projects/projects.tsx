// The projects that the key may read; one alone opens by itself.
import { Link, Navigate, useNavigate, useSearch } from '@tanstack/react-router'
import { type FormEvent, lazy, Suspense, useDeferredValue, useState } from 'react'
import { json } from '../api/client.ts'
import { mayRead, mayWrite, type Session, useSession } from '../api/session.ts'
import { age, count } from '../engine/format.ts'
import { Frame } from '../frame/frame.tsx'
import { FaultBox } from '../parts/fault.tsx'
import { Input } from '../parts/input.tsx'
import { T } from '../parts/text.tsx'
import { useList } from '../parts/use-list.ts'
import { Sparkline } from './sparkline.tsx'
import { Storage } from './storage.tsx'

const QuickStart = lazy(() => import('../lazy-routes.tsx').then((module) => ({ default: module.QuickStart })))

/** Cards with a picture of their day: each asks for it. */
const drawnCards = 24

export function Projects() {
  const [text, setText] = useState('')
  const search = useDeferredValue(text.trim())
  const { all } = useSearch({ strict: false }) as { all?: string }
  const { data: session } = useSession()
  const list = useList<Entry>({
    key: ['projects', 'page', search],
    keeps: 'projects',
    async read({ signal }) {
      const { projects: rows, total } = await json('projects.query', { search, limit: 200 }, { signal })
      return { rows, total }
    },
  })
  const { items = [], total = 0, isOld } = list
  const [only] = items
  if (all === undefined && search === '' && total === 1 && !isOld && only) {
    const [entity = '', project = ''] = only.project_id.split('/')
    return <Navigate to="/p/$entity/$project/calls" params={{ entity, project }} search={{}} replace />
  }
  const isNone = list.items?.length === 0 && !isOld
  const isEmpty = isNone && search === ''
  return (
    <Frame title="Projects" crumbs={<span className="at">Projects</span>}>
      {list.error && list.items === undefined ? (
        <FaultBox error={list.error} onRetry={list.refetch} />
      ) : (
        <div className="scroll">
          <div className="page">
            <h1>Projects</h1>
            {!mayRead(session) && (
              <p className="notice" role="status">
                This key can send calls but not read them. To create one that can:{' '}
                <code>npx callhouse keys create me read</code>.
              </p>
            )}
            {!isEmpty && (
              <p style={{ marginTop: 12 }}>
                <Input
                  type="search"
                  aria-label="Search projects"
                  placeholder="Search projects"
                  value={text}
                  onText={setText}
                />
              </p>
            )}
            {items.length > 0 && (
              <ul className={isOld ? 'projects pale' : 'projects'}>
                {items.map((one, place) => (
                  <Card key={one.project_id} {...one} hasSparkline={place < drawnCards && one.calls_24h > 0} />
                ))}
              </ul>
            )}
            {total > items.length && !isOld && (
              <p className="dim">
                {count(items.length)} of {count(total)} shown. Search to find others.
              </p>
            )}
            {isNone && search !== '' && (
              <p className="second" style={{ margin: '16px 0' }}>
                No project with this name
              </p>
            )}
            {isEmpty && session && mayRead(session) && <NoProject session={session} />}
            <OpenProject />
          </div>
        </div>
      )}
    </Frame>
  )
}

type Entry = { project_id: string; calls: number; calls_24h: number; errors_24h: number; last_call_at: string | null }

function Card({
  project_id,
  calls,
  calls_24h,
  errors_24h,
  last_call_at,
  hasSparkline,
}: Entry & { hasSparkline: boolean }) {
  const [entity = '', project = ''] = project_id.split('/')
  return (
    <li>
      <Link to="/p/$entity/$project/calls" params={{ entity, project }} search={{}}>
        <h2>
          <span className="dim">
            <T text={entity} />/
          </span>
          <T text={project} />
        </h2>
        <dl className="figures">
          <div>
            <dt>Calls</dt>
            <dd>{count(calls)}</dd>
          </div>
          <div>
            <dt>Last 24 h</dt>
            <dd>{count(calls_24h)}</dd>
          </div>
          <div>
            <dt>Errors 24 h</dt>
            <dd className={errors_24h > 0 ? 's-error' : ''}>{count(errors_24h)}</dd>
          </div>
        </dl>
        {hasSparkline ? <Sparkline projectId={project_id} /> : <div className="spark" />}
        <span className="dim">{last_call_at === null ? 'No calls yet' : `Last call ${age(last_call_at)}`}</span>
      </Link>
      <Storage projectId={project_id} />
    </li>
  )
}

/** A reader who may send creates the first project; others see whom to ask. */
function NoProject({ session }: { session: Session }) {
  const { user_id, grants, entity, role } = session
  const scopes = Array.isArray(grants) ? grants : undefined
  if (scopes?.length === 0)
    return (
      <div role="status" className="second" style={{ margin: '8px 0 16px' }}>
        <h2>No access to any project</h2>
        <p>
          You are signed in as {user_id}. Ask whoever administers Callhouse for you to give {user_id} a role on a
          project (Settings, Users), then reload this page.
        </p>
      </div>
    )
  if (!mayWrite(session))
    return (
      <div role="status" className="second" style={{ margin: '8px 0 16px' }}>
        <h2>Nothing to read yet</h2>
        <p>
          Your role is {role} on {scopes?.join(', ') ?? 'everything'}, where no calls have been sent yet. If you
          expected some, ask an admin for a role on the project that has them. Sending calls needs a key with the role
          ingest or writer.
        </p>
      </div>
    )
  return (
    <>
      <p className="second" style={{ margin: '8px 0 16px' }}>
        Projects are created automatically when you send the first call.
      </p>
      <Suspense fallback={null}>
        <QuickStart project={`${entity ?? 'acme'}/demo`} />
      </Suspense>
    </>
  )
}

function OpenProject() {
  const [name, setName] = useState('')
  const navigate = useNavigate()
  const parts = /^([^/]+)\/([^/]+)$/.exec(name.trim())
  const open = (event: FormEvent) => {
    event.preventDefault()
    if (parts?.[1] && parts[2])
      void navigate({ to: '/p/$entity/$project/calls', params: { entity: parts[1], project: parts[2] }, search: {} })
  }
  return (
    <form onSubmit={open} style={{ display: 'flex', gap: 8, marginTop: 24 }}>
      <Input aria-label="Open a project by its name" placeholder="entity/project" value={name} onText={setName} />
      <button type="submit" className="line" disabled={parts === null}>
        Open project
      </button>
    </form>
  )
}
