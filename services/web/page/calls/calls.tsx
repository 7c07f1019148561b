// The list of calls: what the address says, in rows that are read as they come into view.
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams, useRouter, useSearch } from '@tanstack/react-router'
import { type KeyboardEvent, useDeferredValue, useMemo, useRef, useState } from 'react'
import type { Row } from '../engine/rows.ts'
import { ProjectPage } from '../frame/project-page.tsx'
import { useKeys } from '../keys.ts'
import { Button } from '../parts/button.tsx'
import { FaultBox, Stale } from '../parts/fault.tsx'
import { Rows, type RowsHandle } from '../parts/rows.tsx'
import { useList } from '../parts/use-list.ts'
import { useZone } from '../preferences.ts'
import { openedS } from '../read-ahead.ts'
import { scaled } from '../text-scale.ts'
import { useFeedback } from '../traces/use-feedback.ts'
import { keepWidths, placedColumns, readWidths } from './columns.ts'
import { Chips, refusalOf, UnreadableFilter } from './filter-line.tsx'
import { Histogram } from './histogram.tsx'
import { ListBar, ListFoot } from './list-bar.tsx'
import { ListDialogs, type OpenedDialog } from './list-dialogs.tsx'
import { MarkBar, useMarks } from './marking.tsx'
import { useCallLayout } from './narrow-row.tsx'
import { Nothing } from './nothing.tsx'
import { callsOf } from './range-menu.tsx'
import { rememberList } from './remembered.ts'
import { CallRow, GhostRow, Head } from './row.tsx'
import {
  type CallsSearch,
  callsSearch,
  columnsOf,
  hasText,
  isOfTraces,
  listRequest,
  parsedList,
  saysOfTraces,
  sortOf,
  usualSort,
} from './search.ts'
import { searchingOf, useStoppable } from './searching.tsx'
import { callsQuestion, countBound, loadedRows, useCells, usePreviews, useVisible } from './use-calls.ts'
import { useLive } from './use-live.ts'
import { useTotals } from './use-totals.ts'

const ghostRows = 30

export function Calls() {
  const { entity, project } = useParams({ from: '/signed-in/p/$entity/$project/calls' })
  const search = useSearch({ from: '/signed-in/p/$entity/$project/calls' })
  const router = useRouter()
  const navigate = useNavigate()
  const client = useQueryClient()
  const projectId = `${entity}/${project}`
  const zone = useZone(search.tz)
  const { height, layout } = useCallLayout(search.cols)
  const [looks, setLooks] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: each address, and each look at it, is asked for as of now
  const nowS = useMemo(openedS, [search, looks])
  const [opened, setOpened] = useState<OpenedDialog>()
  const [widths, setWidths] = useState(readWidths)
  const [valued, setValued] = useState<Row>()
  const rows = useRef<RowsHandle>(null)
  const query = useMemo(() => parsedList({ q: search.q, view: search.view }), [search.q, search.view])
  const whole = useMemo(
    () => (query.fault ? undefined : listRequest(projectId, search, query.expression, nowS)),
    [projectId, search, query, nowS],
  )
  const { request, ...stoppable } = useStoppable(whole)
  const isText = hasText(query.expression)
  const question = JSON.stringify([search.q, search.view, search.range, search.sort])
  const calls = useList(callsQuestion(request, isText, question))
  const { at, range } = calls
  const counted = calls.isOld ? undefined : calls.total
  const isBounded = isText && counted === countBound
  const refusal = refusalOf(query, calls.error)
  // The first rows are drawn in slices, so that what is tapped meanwhile is seen.
  const showsGhosts = useDeferredValue(calls.isFirst) || calls.isFirst
  const total = showsGhosts ? ghostRows : calls.count
  const sort = sortOf(search.sort, query.rows)

  const refresh = () => {
    setLooks((before) => before + 1)
    calls.refetch()
  }
  const change = (next: CallsSearch) => {
    calls.onAt(0)
    const found = callsSearch({ ...search, ...next })
    if (JSON.stringify(found) === JSON.stringify(callsSearch(search))) return refresh()
    void navigate({ to: '/p/$entity/$project/calls', params: { entity, project }, search: found })
  }
  const visible = useVisible(calls, request)
  const columns = useMemo(() => columnsOf(search.cols), [search.cols])
  const ofTraces = isOfTraces(request)
  const placed = useMemo(
    () => placedColumns(columns, { left: search.left, right: search.right }, widths, scaled, ofTraces),
    [columns, search.left, search.right, widths, ofTraces],
  )
  const isShown = calls.isDrawn && !calls.isLoading
  const previews = usePreviews(projectId, visible, isShown)
  const cellOf = useCells(projectId, visible, columns, isShown)
  const totalsOf = useTotals({
    projectId,
    rows: visible,
    ofTraces,
    isOn: isShown,
    isLive: search.live === '1',
    looks,
  })
  const said = useFeedback(projectId, columns.includes('feedback') ? visible.map(({ id }) => id) : [])
  const longestMs = useMemo(() => {
    const known = visible.flatMap(({ latencyMs }) => (latencyMs === null ? [] : [latencyMs])).sort((a, b) => a - b)
    return Math.max(1, known[Math.floor(known.length * 0.95)] ?? known.at(-1) ?? 1)
  }, [visible])

  const marks = useMarks(request, (index) => (calls.isOfOther ? undefined : calls.rowAt(index)?.id))
  const waiting = useLive({
    request,
    isOn: search.live === '1' && sort === usualSort && !calls.isFirst,
    newest: calls.rowAt(0),
    isFree: range.from === 0 && marks.ids.size === 0 && !calls.isLoading,
    changes: visible.some(({ status }) => status === 'running') || saysOfTraces(query.expression, query.rows),
    onNew: refresh,
  })

  const target = (row: Row) => ({
    to: '/p/$entity/$project/traces/$traceId' as const,
    params: { entity, project, traceId: row.traceId },
    search: { ...(row.parentId !== null && { call: row.id }), ...(search.tz && { tz: search.tz }) },
  })
  const hrefOf = (row: Row): string => router.buildLocation(target(row)).href
  const open = (row: Row | undefined) => {
    if (row === undefined) return
    const rows = calls.isKept ? visible : loadedRows(client, request, at)
    const ids = rows.map(({ traceId }) => traceId)
    rememberList(projectId, ids, router.state.location.href, row.traceId)
    void navigate(target(row))
  }
  const onKey = (event: KeyboardEvent): boolean => {
    if (event.key !== 'Enter' || (event.target as HTMLElement).closest('button')) return false
    open(calls.rowAt(at))
    return true
  }
  useKeys({
    live: () => change({ live: search.live ? undefined : '1' }),
    mark: () => marks.toggle(at),
    markRange: () => marks.range(at),
    markAll: () => void marks.all(),
    newTab: () => {
      const row = calls.rowAt(at)
      if (row) window.open(hrefOf(row), '_blank', 'noopener')
    },
    acts: () => setValued(calls.rowAt(at)),
    copy: () => {
      const row = calls.rowAt(at)
      if (row) void navigator.clipboard.writeText(new URL(hrefOf(row), location.href).href)
    },
  })

  const searching = searchingOf(stoppable, calls.isLate, search.q, isText, callsOf(search.range, zone))
  const body = () => {
    if (query.fault) return <UnreadableFilter fault={query.fault} isPlaced={refusal === undefined} />
    if (calls.error && calls.count === 0) return <FaultBox error={calls.error} onRetry={calls.refetch} />
    if (!calls.isLoading && calls.count === 0)
      return <Nothing projectId={projectId} search={search} onChange={change} onArrived={refresh} />
    return (
      <>
        {calls.isFirst && (
          <span className="hidden" role="status">
            Loading calls
          </span>
        )}
        <Rows
          handle={rows}
          isMain
          label="Calls"
          count={total}
          height={height}
          at={showsGhosts ? -1 : at}
          onAt={calls.onAt}
          onRange={calls.onRange}
          onKey={onKey}
          className={`${layout}${calls.isLoading && !calls.isFirst ? 'pale' : ''}`}
          headHeight={scaled(28) + 1}
          head={<Head columns={placed} sort={sort} onSort={(next) => change({ sort: next })} />}
          render={(index, isAt) => {
            const row = showsGhosts ? undefined : calls.rowAt(index)
            if (row === undefined) return <GhostRow height={height} index={index} columns={placed} />
            return (
              <div
                role="presentation"
                onClick={(event) => {
                  const link = (event.target as HTMLElement).closest('a')
                  if (link === null || event.metaKey || event.ctrlKey || event.shiftKey) return
                  event.preventDefault()
                  open(row)
                }}
              >
                <CallRow
                  projectId={projectId}
                  row={row}
                  index={index}
                  isAt={isAt}
                  zone={zone}
                  longestMs={longestMs}
                  height={height}
                  cellOf={cellOf}
                  columns={placed}
                  feedbackOf={(id) => said.data?.of(id)}
                  totals={totalsOf(row.traceId)}
                  isMarked={marks.ids.has(row.id)}
                  onMark={(isRange) => (isRange ? marks.range(index) : marks.toggle(index))}
                  onValues={() => setValued(row)}
                  preview={previews.get(row.id)}
                  href={hrefOf(row)}
                />
              </div>
            )
          }}
        />
      </>
    )
  }

  return (
    <ProjectPage title="Calls">
      <h1 className="hidden">Calls of {projectId}</h1>
      <ListBar
        projectId={projectId}
        search={search}
        zone={zone}
        parsed={query}
        refusal={refusal}
        mayExport={request !== undefined && calls.count > 0}
        onChange={change}
        onOpen={setOpened}
        onRefresh={refresh}
      />
      <Chips expression={query.shown} refusal={refusal} onChange={(q) => change({ q })} />
      {(calls.isFirst || calls.count > 0) && (
        <Histogram
          question={JSON.stringify([projectId, search.q, search.view, search.range])}
          request={request}
          nowS={nowS}
          looks={looks}
          zone={zone}
          range={search.range}
          isOn={calls.isDrawn}
          isOld={calls.isOld}
          onRange={(next) => change({ range: next })}
          acts={
            search.range !== undefined && (
              <Button onClick={() => change({ differs: '1' })}>Compare with the rest</Button>
            )
          }
        />
      )}
      <MarkBar
        projectId={projectId}
        marks={marks}
        search={search}
        nowS={nowS}
        total={counted}
        onChanged={refresh}
        onFilter={(q) => change({ q })}
      />
      <Stale ms={calls.staleMs} />
      {searching ?? body()}
      <ListDialogs
        projectId={projectId}
        search={search}
        nowS={nowS}
        request={request}
        columns={columns}
        placed={placed}
        widths={widths}
        total={counted}
        isBounded={isBounded}
        opened={opened}
        valued={valued && { row: valued, totals: totalsOf(valued.traceId) }}
        onChange={change}
        onWidths={(next) => {
          setWidths(next)
          keepWidths(next)
        }}
        onClose={() => {
          setOpened(undefined)
          setValued(undefined)
        }}
      />
      <ListFoot
        range={range}
        rows={calls.isFirst ? 0 : calls.count}
        total={isBounded ? null : counted}
        waiting={waiting}
        onNew={refresh}
      />
    </ProjectPage>
  )
}
