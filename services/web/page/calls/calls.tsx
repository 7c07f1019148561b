// The list of calls: what the address says, in rows that are read as they come into view.
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams, useRouter, useSearch } from '@tanstack/react-router'
import { useDeferredValue, useMemo, useState } from 'react'
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
} from '../engine/calls-search.ts'
import type { Row } from '../engine/rows.ts'
import { ProjectPage } from '../frame/project-page.tsx'
import { useKeys } from '../keys.ts'
import { Button } from '../parts/button.tsx'
import { FaultBox, Stale } from '../parts/fault.tsx'
import { callsOf } from '../parts/range-menu.tsx'
import { rememberList } from '../parts/remembered.ts'
import { useList } from '../parts/use-list.ts'
import { useLive } from '../parts/use-live.ts'
import { useZone } from '../preferences.ts'
import { openedS } from '../read-ahead.ts'
import { scaled } from '../text-scale.ts'
import { CallsTable } from './calls-table.tsx'
import { keepWidths, placedColumns, readWidths } from './columns.ts'
import { Chips, refusalOf, UnreadableFilter } from './filter-line.tsx'
import { Histogram } from './histogram.tsx'
import { ListBar, ListFoot, MarkedBar } from './list-bar.tsx'
import { ListDialogs, type OpenedDialog } from './list-dialogs.tsx'
import { Nothing } from './nothing.tsx'
import { searchingOf, useStoppable } from './searching.tsx'
import { allOf, callsQuestion, countBound, loadedRows } from './use-calls.ts'
import { useMarks } from './use-marks.ts'
import { useShown } from './use-shown.ts'

/** Opens rows, and remembers the list for the trace's way back and its neighbours. */
function useOpening(
  projectId: string,
  tz: string | undefined,
  list: () => { rows: readonly Row[]; before: number; total: number | undefined; ofTraces: boolean },
) {
  const router = useRouter()
  const navigate = useNavigate()
  const [entity = '', project = ''] = projectId.split('/')
  const target = ({ traceId, parentId, id }: Row) => ({
    to: '/p/$entity/$project/traces/$traceId' as const,
    params: { entity, project, traceId },
    search: { ...(parentId !== null && { call: id }), ...(tz && { tz }) },
  })
  return {
    hrefOf: (row: Row): string => router.buildLocation(target(row)).href,
    open(row: Row | undefined) {
      if (row === undefined) return
      const { rows, ...about } = list()
      const traceIds = rows.map(({ traceId }) => traceId)
      rememberList(projectId, { traceIds, ...about }, router.state.location.href, row.traceId)
      void navigate(target(row))
    },
  }
}

export function Calls() {
  const { entity, project } = useParams({ from: '/signed-in/p/$entity/$project/calls' })
  const search = useSearch({ from: '/signed-in/p/$entity/$project/calls' })
  const navigate = useNavigate()
  const client = useQueryClient()
  const projectId = `${entity}/${project}`
  const zone = useZone(search.tz)
  const [looks, setLooks] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: each address, and each look at it, is asked for as of now
  const nowS = useMemo(openedS, [search, looks])
  const [opened, setOpened] = useState<OpenedDialog>()
  const [widths, setWidths] = useState(readWidths)
  const [valued, setValued] = useState<Row>()
  const query = useMemo(() => parsedList({ q: search.q, view: search.view }), [search.q, search.view])
  const request = useMemo(
    () => (query.fault ? undefined : listRequest(projectId, search, query.expression, nowS, () => zone)),
    [projectId, search, query, nowS, zone],
  )
  const stoppable = useStoppable(request)
  const isText = hasText(query.expression)
  const question = JSON.stringify([search.q, search.view, search.range, search.sort])
  const calls = useList(callsQuestion(request, isText, question, !stoppable.isStopped))
  const counted = calls.isOld ? undefined : calls.total
  const isBounded = isText && counted === countBound
  const refusal = refusalOf(query, calls.error)
  // The first rows are drawn in slices, so that what is tapped meanwhile is seen.
  const showsGhosts = useDeferredValue(calls.isFirst) || calls.isFirst
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
  const columns = useMemo(() => columnsOf(search.cols), [search.cols])
  const ofTraces = isOfTraces(request)
  const shown = useShown({ projectId, calls, request, columns, zone, isLive: search.live === '1', looks })
  const { startedLetters } = shown
  const placed = useMemo(
    () => placedColumns(columns, { left: search.left, right: search.right }, widths, scaled, startedLetters, ofTraces),
    [columns, search.left, search.right, widths, startedLetters, ofTraces],
  )
  const marks = useMarks(request, (index) => (calls.isOfOther ? undefined : calls.rowAt(index)?.id), calls)
  const waiting = useLive({
    request,
    isOn: search.live === '1' && sort === usualSort && !calls.isFirst,
    newest: calls.rowAt(0),
    isFree: calls.range.from === 0 && marks.ids.size === 0 && !calls.isLoading && !calls.isPart,
    changes: shown.visible.some(({ status }) => status === 'running') || saysOfTraces(query.expression, query.rows),
    onNew: refresh,
  })

  const { hrefOf, open } = useOpening(projectId, search.tz, () =>
    calls.isKept
      ? { rows: shown.visible, before: 0, total: undefined, ofTraces: false }
      : { ...loadedRows(client, request, calls.at), total: isBounded ? undefined : counted, ofTraces },
  )
  useKeys({
    live: () => change({ live: search.live ? undefined : '1' }),
    mark: () => marks.toggle(calls.at),
    markRange: () => marks.range(calls.at),
    markAll: () => void marks.all(),
    newTab: () => {
      const row = calls.rowAt(calls.at)
      if (row) window.open(hrefOf(row), '_blank', 'noopener')
    },
    acts: () => setValued(calls.rowAt(calls.at)),
    copy: () => {
      const row = calls.rowAt(calls.at)
      if (row) void navigator.clipboard.writeText(new URL(hrefOf(row), location.href).href)
    },
  })

  const searching = searchingOf(stoppable, calls, search.q, isText, callsOf(search.range, zone))
  const body = () => {
    if (query.fault) return <UnreadableFilter fault={query.fault} isPlaced={refusal === undefined} />
    if (calls.error && calls.count === 0) return <FaultBox error={calls.error} onRetry={calls.refetch} />
    if (!calls.isLoading && calls.count === 0)
      return <Nothing projectId={projectId} search={search} onChange={change} onArrived={refresh} />
    return (
      <CallsTable
        {...{ projectId, calls, shown, marks, zone, sort, showsGhosts, hrefOf }}
        columns={placed}
        cols={search.cols}
        onSort={(next) => change({ sort: next })}
        onOpen={open}
        onValues={setValued}
      />
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
      <Chips project={projectId} expression={query.shown} refusal={refusal} onChange={(q) => change({ q })} />
      {(calls.isFirst || calls.count > 0) && (
        <Histogram
          question={JSON.stringify([projectId, search.q, search.view, search.range])}
          request={request}
          all={allOf(calls)}
          nowS={nowS}
          looks={looks}
          zone={zone}
          range={search.range}
          isOn={calls.isDrawn && !calls.isPart}
          isOld={calls.isOld}
          onRange={(next) => change({ range: next })}
          acts={
            search.range !== undefined && (
              <Button onClick={() => change({ differs: '1' })}>Compare with the rest</Button>
            )
          }
        />
      )}
      <MarkedBar
        projectId={projectId}
        marks={marks}
        search={search}
        nowS={nowS}
        total={counted}
        onChanged={refresh}
        onFilter={(q) => change({ q })}
      />
      <Stale ms={calls.staleMs} />
      {(searching === undefined || calls.isPart) && body()}
      {searching}
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
        valued={valued && { row: valued, totals: shown.totalsOf(valued.traceId) }}
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
        range={calls.range}
        rows={calls.isFirst ? 0 : calls.count}
        total={isBounded ? null : counted}
        waiting={waiting}
        onNew={refresh}
      />
    </ProjectPage>
  )
}
