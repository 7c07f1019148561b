// A trace: minimap, tree with bars, and the reader of the chosen span.
import { useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { type ComponentProps, type RefObject, useDeferredValue, useEffect, useMemo, useRef } from 'react'
import { count, duration, moment, money, plural, tokens } from '../engine/format.ts'
import { idAt, numberAt, textOf } from '../engine/span-columns.ts'
import {
  nextMode,
  type SpansMode,
  type TraceSearch,
  traceSearch,
  treeMode,
  zoomOf,
  zoomText,
} from '../engine/trace-search.ts'
import { lastChange, lineOf, matchesOf, type Tree, type View } from '../engine/tree.ts'
import { tokensOfSpan } from '../engine/tree-totals.ts'
import { Frame, ProjectCrumbs } from '../frame/frame.tsx'
import { isTyping, useKeys } from '../keys.ts'
import { Button, IconButton } from '../parts/button.tsx'
import { FaultBox, Stale } from '../parts/fault.tsx'
import { NotHere } from '../parts/not-here.tsx'
import { listHref, neighbours } from '../parts/remembered.ts'
import { Split } from '../parts/split.tsx'
import { T } from '../parts/text.tsx'
import { useZone } from '../preferences.ts'
import { ByPath } from './by-path.tsx'
import type { Window } from './draw.ts'
import { FindBar } from './find-bar.tsx'
import { FlameView } from './flame-view.tsx'
import { Minimap } from './minimap.tsx'
import { OtherTraces } from './other-traces.tsx'
import { Reader } from './reader.tsx'
import './trace.css'
import { openQuery } from '../parts/trace-query.ts'
import { type TreeHandle, TreeView } from './tree-view.tsx'
import { usePayloadSearch } from './use-payload-search.ts'
import { type LoadedTrace, useTrace } from './use-trace.ts'

/** A running trace of which nothing has come for so long says so. */
const quietUs = 60_000_000

const route = '/p/$entity/$project/traces/$traceId' as const

export function Trace() {
  const { entity, project, traceId } = useParams({ from: `/signed-in${route}` })
  const search = useSearch({ from: `/signed-in${route}` })
  const navigate = useNavigate()
  const projectId = `${entity}/${project}`
  const zone = useZone(search.tz)
  const { trace: latest, error, refetch, watch } = useTrace(projectId, traceId)
  // Drawn in slices, so that what is tapped meanwhile is seen.
  const trace = useDeferredValue(latest)
  const tree = trace?.tree
  const handle = useRef<TreeHandle>(null)
  const finder = useRef<HTMLInputElement>(null)
  const zoom = useMemo(() => zoomOf(search.zoom), [search.zoom])
  const window = useMemo(() => zoom ?? { from: 0, to: Math.max(1, tree?.endUs ?? 1) }, [zoom, tree])
  const find = search.find ?? ''

  const change = (next: TraceSearch, replace = true) =>
    void navigate({
      to: route,
      params: { entity, project, traceId },
      search: traceSearch({ ...search, ...next }),
      replace,
    })
  const setZoom = (next: Window | undefined) => change({ zoom: zoomText(next, tree?.endUs) })
  const line = useMemo(() => lineOf(tree, search.call), [tree, search.call])
  const root = tree?.order[0]
  const id = search.call ?? (tree && root !== undefined ? idAt(tree.spans.ids, root) : undefined)
  const setLine = (one: number, shown?: Window) => {
    const span = tree?.order[one]
    if (!tree || span === undefined) return
    change({ call: idAt(tree.spans.ids, span), ...(shown && { zoom: zoomText(shown, tree.endUs) }) })
  }
  useShownOnce(handle, tree, traceId, search.call === undefined ? null : line)
  useReadAhead(projectId, tree, line)

  const goTo = (by: 1 | -1, isMeant: (span: number) => boolean) => handle.current?.step(by, isMeant)
  const isError = (span: number) => tree?.spans.status[span] === 1
  const payloads = usePayloadSearch(projectId, traceId, search.in === 'payloads' ? find : '')
  const isNamed = useMemo(() => (tree ? matchesOf(tree.spans, find.toLowerCase()) : () => false), [tree, find])
  const isMatch = (span: number) =>
    find !== '' && (isNamed(span) || (tree !== undefined && payloads.found?.has(idAt(tree.spans.ids, span)) === true))
  const scaled = (factor: number) => {
    if (tree) setZoom(scaledWindow(tree, window, zoom === undefined ? line : null, factor))
  }
  const toTrace = (other: string | undefined) => {
    if (other)
      void navigate({
        to: route,
        params: { entity, project, traceId: other },
        search: search.tz ? { tz: search.tz } : {},
      })
  }
  const beside = neighbours(projectId, traceId)
  const view = viewOf(search, find, payloads.found)
  useKeys({
    next: () => goTo(1, isMatch),
    previous: () => goTo(-1, isMatch),
    nextError: () => goTo(1, isError),
    previousError: () => goTo(-1, isError),
    critical: () => goTo(1, (span) => tree?.critical[span] === 1),
    slowest: () => tree && handle.current?.show(slowestChild(tree, line)),
    zoomIn: () => scaled(0.5),
    zoomOut: () => scaled(2),
    zoomAll: () => setZoom(undefined),
    previousTrace: () => toTrace(beside.previous),
    nextTrace: () => toTrace(beside.next),
    mode: () => change({ mode: nextMode(search.mode) }),
    raw: () => change({ tab: search.tab === 'raw' ? undefined : 'raw' }),
    search: () => finder.current?.focus(),
    filter: () => finder.current?.focus(),
    copy: () => void navigator.clipboard.writeText(location.href),
  })

  const name = tree && root !== undefined ? textOf(tree.spans.names, root) : traceId
  return (
    <Frame
      title="Trace"
      crumbs={
        <ProjectCrumbs entity={entity} project={project}>
          <span className="sep">/</span>
          <BackToList entity={entity} project={project} />
          <span className="sep">/</span>
          <span className="at">
            <T text={name} max={80} />
          </span>
        </ProjectCrumbs>
      }
      acts={<OtherTraces of={beside} onTrace={toTrace} />}
    >
      <h1 className="hidden">Trace {name.slice(0, 200)}</h1>
      <Stale ms={trace?.staleMs ?? 0} />
      {error && !trace ? (
        <FaultBox error={error} onRetry={() => void refetch()} />
      ) : tree && tree.order.length === 0 ? (
        <NotHere what="trace" onRetry={() => void refetch()} />
      ) : (
        <Split
          label="Span"
          isChosen={search.call !== undefined}
          reader={
            id !== undefined && (
              <Reader
                projectId={projectId}
                id={id}
                zone={zone}
                tab={search.tab}
                onTab={(tab) => change({ tab })}
                tree={tree}
                line={line}
                onDeleted={() => {
                  change({ call: undefined })
                  void refetch()
                }}
                acts={
                  <IconButton
                    icon="close"
                    className="icon narrow-only"
                    label="Back to the tree"
                    onClick={() => change({ call: undefined })}
                  />
                }
              />
            )
          }
        >
          {tree && <Minimap tree={tree} window={window} onWindow={setZoom} />}
          <FindBar
            finder={finder}
            tree={tree}
            search={search}
            view={view}
            payloads={payloads}
            onChange={change}
            onEnter={() => goTo(1, isMatch)}
          />
          <Spans
            trace={trace}
            handle={handle}
            window={window}
            line={line}
            mode={search.mode}
            onSpan={(span) => change({ call: tree && idAt(tree.spans.ids, span), mode: undefined })}
            view={view}
            onLine={setLine}
          />
          {tree && <Sums tree={tree} zone={zone} watch={watch} runs={trace?.runs ?? false} nowUs={trace?.nowUs ?? 0} />}
        </Split>
      )}
    </Frame>
  )
}

type SpansProps = Omit<ComponentProps<typeof FlameView>, 'tree' | 'nowUs' | 'isByPath'> & {
  /** Undefined while it is on its way. */
  trace: LoadedTrace | undefined
  mode: SpansMode | undefined
  onSpan(span: number): void
}

function Spans({ trace, mode, onSpan, ...rest }: SpansProps) {
  if (trace === undefined)
    return (
      <div className="spans" role="status">
        <span className="hidden">Loading the trace</span>
      </div>
    )
  const { tree, nowUs } = trace
  if (mode === 'flame' || mode === 'flame-paths')
    return <FlameView key={mode} tree={tree} nowUs={nowUs} {...rest} isByPath={mode === 'flame-paths'} />
  return mode === 'paths' ? <ByPath tree={tree} onSpan={onSpan} /> : <TreeView tree={tree} nowUs={nowUs} {...rest} />
}

/** View of the tree: its visible spans. */
const viewOf = (
  { critical, kind, min, status, model, mode }: TraceSearch,
  query: string,
  inPayloads: View['inPayloads'],
): Omit<View, 'collapsed'> => ({
  query,
  inPayloads,
  status,
  model,
  mode: treeMode(mode),
  onlyCritical: critical === '1',
  kind: kind ?? '',
  minShare: min ? 0.02 : 0,
})

/** A link to a span leads to where it stands, once. @param line of the span in the link, null = it names none */
function useShownOnce(
  handle: RefObject<TreeHandle | null>,
  tree: Tree | undefined,
  traceId: string,
  line: number | null,
): void {
  const shown = useRef('')
  useEffect(() => {
    if (!tree || shown.current === traceId || tree.order.length === 0) return
    shown.current = traceId
    if (line !== null) handle.current?.show(line)
    // A reader who has begun to type a note or a search keeps the focus.
    if (!isTyping(document.activeElement)) handle.current?.focus()
  }, [handle, tree, traceId, line])
}

/** Reads the neighbours of the chosen span ahead. */
function useReadAhead(projectId: string, tree: Tree | undefined, line: number): void {
  const client = useQueryClient()
  useEffect(() => {
    if (!tree) return
    const timer = setTimeout(() => {
      for (const next of [line + 1, line - 1]) {
        const span = tree.order[next]
        if (span !== undefined) void client.prefetchQuery(openQuery(projectId, idAt(tree.spans.ids, span)))
      }
    }, 150)
    return () => clearTimeout(timer)
  }, [tree, line, client, projectId])
}

/**
 * The window made longer or shorter by a factor, around its middle or, when a line is given, the start of that line's
 * span; undefined when it would be the whole trace.
 */
function scaledWindow(tree: Tree, window: Window, line: number | null, factor: number): Window | undefined {
  const middle =
    line === null ? (window.from + window.to) / 2 : (tree.spans.start[tree.order[line] as number] as number)
  const length = Math.min(tree.endUs, (window.to - window.from) * factor)
  const from = Math.min(tree.endUs - length, Math.max(0, middle - length / 2))
  return length >= tree.endUs ? undefined : { from, to: from + length }
}

function slowestChild(tree: Tree, line: number): number {
  let slowest = line
  let longest = -1
  for (let child = line + 1; child < (tree.end[line] as number); child = tree.end[child] as number) {
    const took = tree.spans.duration[tree.order[child] as number] as number
    if (took > longest) {
      longest = took
      slowest = child
    }
  }
  return slowest
}

function BackToList({ entity, project }: { entity: string; project: string }) {
  const href = listHref(`${entity}/${project}`)
  const query = href.includes('?') ? Object.fromEntries(new URLSearchParams(href.slice(href.indexOf('?')))) : {}
  return (
    <Link to="/p/$entity/$project/calls" params={{ entity, project }} search={query}>
      Calls
    </Link>
  )
}

/** Shows that the trace runs, the time without news, and a button once it is not read again by itself. */
function Running({ tree, nowUs, zone, watch }: Omit<SumsProps, 'runs'>) {
  const lastUs = useMemo(() => lastChange(tree.spans), [tree])
  const isQuiet = nowUs - lastUs > quietUs
  return (
    <>
      <span className="s-running">
        running
        {isQuiet && `; no updates since ${moment(new Date((tree.spans.baseUs + lastUs) / 1000).toISOString(), zone)}`}
      </span>
      {watch.isOver && (
        <Button onClick={watch.again} title="Automatic refresh stops after 10 minutes">
          Refresh
        </Button>
      )}
    </>
  )
}

type SumsProps = { tree: Tree; runs: boolean; nowUs: number; zone: string; watch: ReturnType<typeof useTrace>['watch'] }

function Sums({ tree, runs, nowUs, zone, watch }: SumsProps) {
  const { spans } = tree
  const sums = useMemo(() => {
    const all = { errors: 0, tokens: 0, cost: 0, unpriced: 0 }
    for (let span = 0; span < spans.count; span++) {
      if (spans.status[span] === 1) all.errors++
      if (tokensOfSpan(spans, span) > 0 && Number.isNaN(numberAt(spans.counted?.cost ?? spans.cost, span)))
        all.unpriced++
      if ((tree.depth[tree.lineOf[span] as number] as number) > 0) continue
      all.tokens += tree.total.tokens[span] || 0
      all.cost += tree.total.cost[span] || 0
    }
    return all
  }, [tree, spans])
  return (
    <footer className="foot num">
      <span>{plural(spans.count, 'span')}</span>
      <span>{duration(tree.endUs / 1000)}</span>
      {sums.errors > 0 && <span className="s-error">{plural(sums.errors, 'error')}</span>}
      {sums.tokens > 0 && <span>{tokens(sums.tokens)} tokens</span>}
      {sums.cost > 0 && <span>{money(sums.cost)}</span>}
      {sums.unpriced > 0 && (
        <span title="Add prices for their models under Settings, Prices">
          {plural(sums.unpriced, 'span')} without a price
        </span>
      )}
      {tree.orphans > 0 && <span className="s-descendant_error">{count(tree.orphans)} without their parent</span>}
      <span className="grow" />
      {spans.isCut && <span role="status">showing the first {plural(spans.count, 'span')}</span>}
      {runs && <Running tree={tree} nowUs={nowUs} zone={zone} watch={watch} />}
    </footer>
  )
}
