// A list without rows: the quick start of a new project, or how to widen what matches nothing.
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useEffect, useRef } from 'react'
import { json } from '../api/client.ts'
import { type CallsSearch, hasText, listRequest, parsedList } from '../engine/calls-search.ts'
import { count, plural } from '../engine/format.ts'
import { widerSearches } from '../engine/wider-searches.ts'
import { Button } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { NoSuchProject, useOtherProjects } from '../parts/no-such-project.tsx'
import { useProject } from '../parts/project.ts'
import { useZone } from '../preferences.ts'

const QuickStart = lazy(() => import('../lazy-routes.tsx').then((module) => ({ default: module.QuickStart })))

type NothingProps = { projectId: string; search: CallsSearch; onChange(search: CallsSearch): void; onArrived(): void }

export function Nothing({ projectId, search, onChange, onArrived }: NothingProps) {
  const { entity, project } = useProject()
  const { data: whole } = useQuery({
    queryKey: ['calls.any', projectId],
    queryFn: ({ signal }) => json('calls.query_stats', { project_id: projectId, limit: 1 }, { signal }),
    // While a new project is looked at its first call shows by itself.
    refetchInterval: (query) => (query.state.data?.count === 0 ? 2_000 : false),
    staleTime: 0,
  })
  const isEmpty = whole?.count === 0
  const { data: retention } = useQuery({
    queryKey: ['calls.hidden', projectId],
    queryFn: ({ signal }) => json('projects.retention_read', undefined, { params: { entity, project }, signal }),
    enabled: isEmpty,
    // Whoever may not read it sees a project without calls.
    retry: false,
  })
  const hidden = retention?.hidden_calls ?? 0
  const wasEmpty = useRef(false)
  useEffect(() => {
    if (isEmpty) wasEmpty.current = true
    else if (wasEmpty.current && whole) {
      // Once: each look begins the list anew.
      wasEmpty.current = false
      onArrived()
    }
  }, [isEmpty, whole, onArrived])
  const others = useOtherProjects(projectId, isEmpty)
  if (whole === undefined || (isEmpty && others === undefined)) return <div className="center" />
  if (isEmpty)
    return (
      <div className="scroll">
        <div className="page">
          {others ? (
            <NoSuchProject projectId={projectId} {...others} />
          ) : (
            <NoCalls projectId={projectId} hidden={hidden} />
          )}
          <Suspense fallback={null}>
            <QuickStart project={projectId} />
          </Suspense>
        </div>
      </div>
    )
  return (
    <div className="center">
      <span className="big">
        <Icon name="search" />
      </span>
      <h2>No calls match</h2>
      <div className="acts">
        {widerSearches(search).map(([name, next]) => (
          <Wider key={name} name={name} projectId={projectId} search={next} onPick={() => onChange(next)} />
        ))}
      </div>
    </div>
  )
}

/** @param hidden number of calls that the retention hides */
function NoCalls({ projectId, hidden }: { projectId: string; hidden: number }) {
  return (
    <>
      <h1>{hidden > 0 ? 'No calls within the retention' : 'No calls yet'}</h1>
      <p className="second" style={{ margin: '4px 0 20px' }}>
        {hidden > 0
          ? `${plural(hidden, 'call')} of ${projectId} ${hidden === 1 ? 'is' : 'are'} hidden by its retention (Settings, Retention).`
          : `The first call of ${projectId} appears here as soon as it arrives.`}
      </p>
    </>
  )
}

function Wider({
  name,
  projectId,
  search,
  onPick,
}: {
  name: string
  projectId: string
  search: CallsSearch
  onPick(): void
}) {
  const { expression, fault } = parsedList(search)
  const zone = useZone(search.tz)
  const minuteS = Math.floor(Date.now() / 60_000) * 60
  const { sort_by: _, ...request } = listRequest(projectId, search, expression, minuteS, () => zone)
  const { data } = useQuery({
    queryKey: ['calls.wider', request],
    queryFn: ({ signal }) => json('calls.query_stats', { ...request, limit: 10_001 }, { signal }),
    enabled: fault === undefined && !hasText(expression),
  })
  return (
    <Button onClick={onPick}>
      {name} {data && <span className="dim">({data.count > 10_000 ? '10,000+' : count(data.count)} match)</span>}
    </Button>
  )
}
