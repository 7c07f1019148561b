// The dashboards of a project: how much, how fast, how often wrong and at what cost, over a range of time.
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { type FormEvent, useDeferredValue, useMemo, useState } from 'react'
import { Meant, refusalOf } from '../calls/filter-line.tsx'
import { useFirstS } from '../calls/histogram.tsx'
import { type Board, boardNamed, boardNames, boards, type Panel } from '../engine/boards.ts'
import { boundsOf, isOfTraces, listRequest, type Parsed, parsed } from '../engine/calls-search.ts'
import { narrowed } from '../engine/dashboard-filters.ts'
import { type DashboardSearch, usualRange } from '../engine/dashboard-search.ts'
import type { RowsOf } from '../engine/filter-fields.ts'
import { bucketFor, rangeOfBuckets } from '../engine/time-axis.ts'
import { ProjectPage } from '../frame/project-page.tsx'
import { useKeys } from '../keys.ts'
import { Bar } from '../parts/bar.tsx'
import { Button, IconButton } from '../parts/button.tsx'
import { Empty, Loading } from '../parts/empty.tsx'
import { FaultBox } from '../parts/fault.tsx'
import { Input } from '../parts/input.tsx'
import { EmptyOfProject } from '../parts/no-such-project.tsx'
import { useProject } from '../parts/project.ts'
import { RangeMenu } from '../parts/range-menu.tsx'
import { useReorder } from '../parts/reorder.ts'
import { Seg } from '../parts/seg.tsx'
import { T } from '../parts/text.tsx'
import { useZone } from '../preferences.ts'
import { BoardHead, movedPanel, PanelActs } from './board-acts.tsx'
import { BoardMenu } from './board-menu.tsx'
import { BuiltInPanel } from './built-in-panel.tsx'
import { CopyLink } from './copy-link.tsx'
import { counted, type Group, numberOr0, tilesOf } from './figures.ts'
import { ChangeSince, ShownPanel, wholeMetrics } from './panel.tsx'
import type { Shared } from './panel-props.ts'
import { SaveChart } from './save-chart.tsx'
import { Unpriced } from './unpriced.tsx'
import { useAggregate } from './use-aggregate.ts'
import { type OwnBoards, useOwnBoards } from './use-own-boards.ts'
import './dashboards.css'

type TilesProps = { now: Group; before: Group | undefined; rows: RowsOf; range: string }

const Tiles = ({ now, before, rows, range }: TilesProps) => (
  <dl className="tiles">
    {tilesOf(counted[rows]).map(({ label, shownAs, of }) => (
      <div key={label}>
        <dt className="second">{label}</dt>
        <dd className="num">{shownAs(of(now))}</dd>
        <dd>
          <ChangeSince now={of(now)} before={before === undefined ? null : of(before)} range={range} />
        </dd>
      </div>
    ))}
  </dl>
)

/** The time that the address names, and what every request of the page has in common. */
function useTime(projectId: string, zone: string) {
  const { q, range = usualRange } = useSearch({ from: '/signed-in/p/$entity/$project/dashboard' })
  const [nowS, setNowS] = useState(() => Math.ceil(Date.now() / 1000))
  const bounds = boundsOf(range, nowS) ?? {}
  const firstS = useFirstS(projectId, bounds.from === undefined)
  const startS = bounds.from ?? firstS ?? undefined
  const endS = bounds.to ?? nowS
  const query = useMemo(() => parsed(q), [q])
  const requestOf = useMemo(() => {
    if (query.fault || startS === undefined || startS >= endS) return undefined
    return (term?: string) => {
      const { expression } = term === undefined ? query : parsed(narrowed(query.expression, term))
      const { sort_by: _, ...rest } = listRequest(projectId, { view: 'all' }, expression, endS, () => zone)
      return { ...rest, start: startS, end: endS, ...(isOfTraces(rest) && { count: 'traces' as const }) }
    }
  }, [projectId, query, startS, endS, zone])
  // Without a first call there is nothing to ask for.
  const isEmpty = bounds.from === undefined && firstS === null
  return { q, range, query, requestOf, isEmpty, startS, endS, refresh: () => setNowS(Math.ceil(Date.now() / 1000)) }
}

type FilterProps = { projectId: string; q: string; parsed: Parsed; onChange(q: string): void }

function FilterLine({ projectId, q, parsed: query, onChange }: FilterProps) {
  const { fault } = query
  const refusal = refusalOf(query, undefined)
  const [written, setWritten] = useState(q)
  useKeys({ filter: () => document.getElementById('dashboard-filter')?.focus() })
  return (
    <form
      className="dashboard-filter"
      onSubmit={(event: FormEvent) => {
        event.preventDefault()
        onChange(written.trim())
      }}
    >
      <Input
        id="dashboard-filter"
        aria-label="Filter the dashboard"
        aria-invalid={fault !== undefined}
        placeholder="Filter:  op:answer  latency>2s  end_user:ann"
        spellCheck={false}
        value={written}
        onText={setWritten}
      />
      {refusal ? (
        <Meant project={projectId} refusal={refusal} onChange={onChange} />
      ) : (
        fault !== undefined && <span className="s-error">{fault.message}</span>
      )}
    </form>
  )
}

type PanelsProps = Shared & {
  board: Board
  boardId: string
  own: OwnBoards
  onGone(): void
  onAdd(panel: Panel): void
}

/** Charts before tables; those of a project's own in the order that it has given them. */
function Panels({ board, boardId, own, onGone, onAdd, ...shared }: PanelsProps) {
  const mine = own.boards?.find(({ id }) => id === boardId)
  const reordered = useReorder((from, to) => {
    if (mine && !own.isBusy) own.save({ ...mine, panels: movedPanel(mine.panels, from, to) }, () => undefined)
  })
  if (mine !== undefined)
    return (
      <>
        <BoardHead key={mine.id} own={own} onGone={onGone} board={mine} />
        {mine.panels.length === 0 && mine.others.length === 0 && <p className="second">No charts yet.</p>}
        <div className="charts">
          {mine.panels.map((panel, place) => {
            // Within a panel the pointer takes ranges: it is dragged by a handle.
            const { draggable, onDragStart, onDragEnd, ...over } = reordered(place)
            const handle = { draggable, onDragStart, onDragEnd }
            return (
              // biome-ignore lint/suspicious/noArrayIndexKey: two panels may be alike
              <div key={`${place} ${panel.title}`} className="panel-place" {...over}>
                <ShownPanel
                  {...shared}
                  panel={panel}
                  acts={<PanelActs own={own} place={place} handle={handle} board={mine} />}
                />
              </div>
            )
          })}
        </div>
      </>
    )
  const isTable = ({ type }: Board['panels'][number]) => type === 'table'
  const [charts, tables] = [board.panels.filter((panel) => !isTable(panel)), board.panels.filter(isTable)]
  return [charts, tables].map((panels, place) => (
    <div key={place === 0 ? 'charts' : 'tables'} className="charts">
      {panels.map((panel) => (
        <BuiltInPanel key={panel.title} {...shared} panel={panel} reason={own.reason} onAdd={onAdd} />
      ))}
    </div>
  ))
}

export function Dashboard() {
  const { entity, project, projectId } = useProject()
  const search = useSearch({ from: '/signed-in/p/$entity/$project/dashboard' })
  const navigate = useNavigate({ from: '/p/$entity/$project/dashboard' })
  const zone = useZone(search.tz)
  const { q, range, query, requestOf, isEmpty, startS = 0, endS, refresh } = useTime(projectId, zone)
  const [at, setAt] = useState<number>()
  const spanS = endS - startS
  const bucket = bucketFor(spanS, 90)
  const own = useOwnBoards(projectId)
  const [copied, setCopied] = useState<Panel>()
  const [savedTo, setSavedTo] = useState<{ id: string; title: string }>()
  const boardId = search.board ?? 'overview'
  const board = boardNamed(boardId) ?? own.boards?.find(({ id }) => id === boardId)
  const compare = startS >= spanS ? { start: startS - spanS, end: startS } : undefined
  const whole = useAggregate(
    requestOf && { ...requestOf(), timezone: zone, bucket, metrics: [...wholeMetrics], ...(compare && { compare }) },
  )
  // Drawn in slices, so that what is tapped meanwhile is seen.
  const data = useDeferredValue(whole.data)
  const [group] = data?.groups ?? []
  const change = (next: DashboardSearch) => {
    setAt(undefined)
    void navigate({ search: (old) => ({ ...old, ...next }) })
  }
  const within = (term: string) => narrowed(query.expression, term)
  const onTake = (from: number, to: number, filter: string | undefined) => {
    const asked = filter === undefined ? q : within(filter)
    const taken = rangeOfBuckets(data?.buckets ?? [], from, to, endS)
    // One instant leads to its calls, several are looked at more closely.
    if (from === to)
      void navigate({
        to: '/p/$entity/$project/calls',
        params: { entity, project },
        search: { view: 'all', range: taken, ...(asked && { q: asked }) },
      })
    else change({ range: taken })
  }
  const shown = () => {
    if (whole.error) return <FaultBox error={whole.error} onRetry={() => void whole.refetch()} />
    if (query.fault) return null
    if (board === undefined && own.boards !== undefined)
      return (
        <Empty title="Dashboard not found">
          <p className="second">
            This project has no dashboard <T text={boardId} max={120} />. It may have been deleted, or the address is
            misspelled.
          </p>
          <p>
            <Button onClick={() => change({ board: undefined })}>{boards.overview.title}</Button>
          </p>
        </Empty>
      )
    if (board === undefined || (data === undefined && !isEmpty)) return <Loading what="the dashboard" />
    if (data === undefined || !requestOf || group === undefined || numberOr0(group.total['calls.sum']) === 0)
      return (
        <EmptyOfProject title="No calls in this time range">
          <p className="second">Try a longer time range or another filter.</p>
        </EmptyOfProject>
      )
    const shared = { requestOf, zone, bucket, whole: data, compare, range, within, at, onTake, onAt: setAt }
    const onAdd = (panel: Panel) =>
      setCopied({ ...panel, filter: q === undefined ? panel.filter : within(panel.filter ?? '') })
    const opened = { board, boardId, own, onGone: () => change({ board: undefined }), onAdd }
    return (
      <div className="scroll">
        <div className="dashboard">
          <h1 className="hidden">
            {board.title} of {projectId}
          </h1>
          <Tiles now={group} before={data.previous?.groups[0]} rows={query.rows} range={range} />
          <Unpriced models={data.unpriced_models} />
          <Panels {...shared} {...opened} showsBefore={search.vs === 'before'} />
        </div>
      </div>
    )
  }
  return (
    <ProjectPage title="Dashboard">
      <Bar>
        <FilterLine
          key={q ?? ''}
          projectId={projectId}
          q={q ?? ''}
          parsed={query}
          onChange={(next) => change({ q: next || undefined })}
        />
        <Seg
          label="Dashboards"
          value={boardId}
          of={boardNames.map((name) => [name, boards[name].title])}
          onValue={(name) => change({ board: name === 'overview' ? undefined : name })}
        />
        {board !== undefined && (
          <BoardMenu own={own} shownId={boardId} shown={board} onOpen={(id) => change({ board: id })} />
        )}
        <RangeMenu
          range={range === 'all' ? undefined : range}
          zone={zone}
          onChange={(next) => change({ range: next ?? 'all' })}
        />
        <Button
          aria-pressed={search.vs === 'before'}
          title="Compare with the previous period (dashed lines)"
          onClick={() => change({ vs: search.vs === 'before' ? undefined : 'before' })}
        >
          Compare
        </Button>
        <IconButton icon="refresh" className="icon line" label="Refresh" onClick={refresh} />
        <CopyLink key={location.href} />
      </Bar>
      {savedTo && (
        <p className="saved-to second" role="status">
          Saved to{' '}
          <Link
            to="/p/$entity/$project/dashboard"
            params={{ entity, project }}
            search={{ board: savedTo.id, range: search.range }}
            onClick={() => setSavedTo(undefined)}
          >
            <T text={savedTo.title} max={80} />
          </Link>
        </p>
      )}
      {shown()}
      {(copied ?? search.add) && (
        <SaveChart
          own={own}
          panel={copied ?? { title: '', type: 'lines', measure: 'calls', filter: q }}
          onClose={() => {
            setCopied(undefined)
            change({ add: undefined })
          }}
          onSaved={(saved) => {
            setCopied(undefined)
            // The chart has the filter of the list that it was made of.
            if (search.add) change({ add: undefined, q: undefined, board: saved.id })
            else setSavedTo(saved)
          }}
        />
      )}
    </ProjectPage>
  )
}
