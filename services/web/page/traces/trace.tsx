// A trace: minimap, tree with bars, and the reader of the chosen span.
import { useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { type PointerEvent, type ReactNode, useDeferredValue, useEffect, useMemo, useRef, useState } from 'react'
import { listHref, neighbours } from '../calls/remembered.ts'
import { count, duration, money, tokens } from '../engine/format.ts'
import { spanKinds } from '../engine/rows.ts'
import { matches, type Tree, textOf } from '../engine/tree.ts'
import { Frame, ProjectCrumbs } from '../frame/frame.tsx'
import { useKeys } from '../keys.ts'
import { FaultBox, Stale } from '../parts/fault.tsx'
import { Icon } from '../parts/icon.tsx'
import { T } from '../parts/text.tsx'
import { useZone } from '../preferences.ts'
import type { Window } from './draw.ts'
import { Minimap } from './minimap.tsx'
import { NotHere } from './not-here.tsx'
import { Reader } from './reader.tsx'
import { type TraceSearch, traceSearch } from './search.ts'
import './trace.css'
import { openQuery } from './trace-query.ts'
import { type TreeHandle, TreeView } from './tree-view.tsx'
import { useTrace } from './use-trace.ts'

const route = '/p/$entity/$project/traces/$traceId' as const

export function Trace() {
  const { entity, project, traceId } = useParams({ from: `/signed-in${route}` })
  const search = useSearch({ from: `/signed-in${route}` })
  const navigate = useNavigate()
  const client = useQueryClient()
  const projectId = `${entity}/${project}`
  const zone = useZone(search.tz)
  const { trace, error, refetch } = useTrace(projectId, traceId)
  const tree = trace?.tree
  const handle = useRef<TreeHandle>(null)
  const finder = useRef<HTMLInputElement>(null)
  const [zoom, setZoom] = useState<Window | undefined>()
  const window = useMemo(() => zoom ?? { from: 0, to: Math.max(1, tree?.endUs ?? 1) }, [zoom, tree])
  const find = useDeferredValue(search.find ?? '')

  const change = (next: TraceSearch, replace = true) =>
    void navigate({
      to: route,
      params: { entity, project, traceId },
      search: traceSearch({ ...search, ...next }),
      replace,
    })
  const line = useMemo(() => {
    if (!tree || search.call === undefined) return 0
    const span = tree.spans.ids.indexOf(search.call)
    return span === -1 ? 0 : (tree.lineOf[span] as number)
  }, [tree, search.call])
  const id = search.call ?? (tree && tree.order.length > 0 ? tree.spans.ids[tree.order[0] as number] : undefined)
  const setLine = (one: number) => {
    const span = tree?.order[one]
    if (tree && span !== undefined) change({ call: tree.spans.ids[span] })
  }
  // A link to a span leads to where it stands, once.
  const shown = useRef('')
  useEffect(() => {
    if (!tree || shown.current === traceId || tree.order.length === 0) return
    shown.current = traceId
    if (search.call !== undefined) handle.current?.show(line)
    handle.current?.focus()
  }, [tree, traceId, line, search.call])
  // The neighbours of the chosen span are read ahead.
  useEffect(() => {
    if (!tree) return
    const timer = setTimeout(() => {
      for (const next of [line + 1, line - 1]) {
        const span = tree.order[next]
        if (span !== undefined) void client.prefetchQuery(openQuery(projectId, tree.spans.ids[span] as string))
      }
    }, 150)
    return () => clearTimeout(timer)
  }, [tree, line, client, projectId])

  /** Goes to the next line in some direction that is meant, round the end. */
  const goTo = (by: 1 | -1, isMeant: (span: number) => boolean) => {
    if (!tree) return
    const { length } = tree.order
    for (let step = 1; step <= length; step++) {
      const one = (((line + by * step) % length) + length) % length
      if (isMeant(tree.order[one] as number)) return handle.current?.show(one)
    }
  }
  const isError = (span: number) => tree?.spans.status[span] === 1
  const isMatch = (span: number) => !!tree && find !== '' && matches(tree.spans, span, find.toLowerCase())
  const scaled = (factor: number) => {
    if (!tree) return
    const span = tree.order[line] as number
    const middle = zoom === undefined ? (tree.spans.start[span] as number) : (window.from + window.to) / 2
    const length = Math.min(tree.endUs, (window.to - window.from) * factor)
    const from = Math.min(tree.endUs - length, Math.max(0, middle - length / 2))
    const to = from + length
    setZoom(to - from >= tree.endUs ? undefined : { from, to })
  }
  const { previous, next, place, of } = neighbours(traceId)
  const toTrace = (other: string | undefined) => {
    setZoom(undefined)
    if (other)
      void navigate({
        to: route,
        params: { entity, project, traceId: other },
        search: search.tz ? { tz: search.tz } : {},
      })
  }
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
    previousTrace: () => toTrace(previous),
    nextTrace: () => toTrace(next),
    raw: () => change({ tab: search.tab === 'raw' ? undefined : 'raw' }),
    search: () => finder.current?.focus(),
    filter: () => finder.current?.focus(),
    copy: () => void navigator.clipboard.writeText(location.href),
  })

  const root = tree && tree.order.length > 0 ? (tree.order[0] as number) : undefined
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
      acts={
        of > 0 && (
          <span style={{ display: 'inline-flex', alignItems: 'center' }}>
            <button
              type="button"
              className="icon"
              aria-label="Previous trace"
              title="Previous trace ( [ )"
              disabled={!previous}
              onClick={() => toTrace(previous)}
            >
              <Icon name="left" />
            </button>
            <span className="dim num">
              {place} / {of}
            </span>
            <button
              type="button"
              className="icon"
              aria-label="Next trace"
              title="Next trace ( ] )"
              disabled={!next}
              onClick={() => toTrace(next)}
            >
              <Icon name="right" />
            </button>
          </span>
        )
      }
    >
      <h1 className="hidden">Trace {name.slice(0, 200)}</h1>
      <Stale ms={trace?.staleMs ?? 0} />
      {error && !trace ? (
        <FaultBox error={error} onRetry={() => void refetch()} />
      ) : tree && tree.order.length === 0 ? (
        <NotHere what="trace" onRetry={() => void refetch()} />
      ) : (
        <Split hasReader={id !== undefined}>
          <div className="left">
            {tree && <Minimap tree={tree} window={window} onWindow={setZoom} />}
            <div className="bar" role="search">
              <input
                ref={finder}
                type="search"
                style={{ flex: '1 1 140px', minWidth: 0 }}
                aria-label="Find in this trace"
                placeholder={tree ? `Find in ${count(tree.order.length)} spans   ( / )` : 'Find'}
                value={search.find ?? ''}
                onChange={(event) => change({ find: event.target.value })}
                onKeyDown={(event) => {
                  if (event.key === 'Enter') goTo(1, isMatch)
                  else if (event.key === 'Escape') event.currentTarget.blur()
                }}
              />
              <select
                aria-label="Kind of span"
                value={search.kind ?? ''}
                onChange={(event) => change({ kind: event.target.value as TraceSearch['kind'] })}
              >
                <option value="">all kinds</option>
                {spanKinds.map((kind) => (
                  <option key={kind}>{kind}</option>
                ))}
              </select>
              <button
                type="button"
                className="line"
                aria-pressed={search.min === '2'}
                title="Spans of at least 2 % of the trace"
                onClick={() => change({ min: search.min ? undefined : '2' })}
              >
                &gt; 2 %
              </button>
              <button
                type="button"
                className="line"
                aria-pressed={search.critical === '1'}
                onClick={() => change({ critical: search.critical ? undefined : '1' })}
              >
                critical path
              </button>
            </div>
            {tree && tree.order.length > 0 ? (
              <TreeView
                handle={handle}
                tree={tree}
                nowUs={trace.nowUs}
                view={{
                  query: find,
                  onlyCritical: search.critical === '1',
                  kind: search.kind ?? '',
                  minShare: search.min ? 0.02 : 0,
                }}
                window={window}
                line={line}
                onLine={setLine}
              />
            ) : (
              <div className="spans" role="status">
                <span className="hidden">Loading the trace</span>
              </div>
            )}
            {tree && <Sums tree={tree} runs={trace.runs} />}
          </div>
          {id !== undefined && (
            <Reader
              projectId={projectId}
              id={id}
              zone={zone}
              tab={search.tab}
              onTab={(tab) => change({ tab })}
              tree={tree}
              line={line}
              acts={
                <button
                  type="button"
                  className="icon narrow-only"
                  aria-label="Back to the tree"
                  onClick={() => change({ call: undefined })}
                  hidden={innerWidth > 900}
                >
                  <Icon name="close" />
                </button>
              }
            />
          )}
        </Split>
      )}
    </Frame>
  )
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
  const href = listHref()
  const query = href.includes('?') ? Object.fromEntries(new URLSearchParams(href.slice(href.indexOf('?')))) : {}
  return (
    <Link to="/p/$entity/$project/calls" params={{ entity, project }} search={query}>
      Calls
    </Link>
  )
}

function Sums({ tree, runs }: { tree: Tree; runs: boolean }) {
  const { spans } = tree
  const sums = useMemo(() => {
    const all = { errors: 0, tokens: 0, cost: 0 }
    for (let span = 0; span < spans.count; span++) {
      if (spans.status[span] === 1) all.errors++
      // Parents of the Weave SDKs carry the sums of their children: only leaves of usage are counted.
      const line = tree.lineOf[span] as number
      if ((tree.end[line] as number) > line + 1) continue
      all.tokens += (spans.tokensIn[span] || 0) + (spans.tokensOut[span] || 0)
      all.cost += spans.cost[span] || 0
    }
    return all
  }, [tree, spans])
  return (
    <footer className="foot num">
      <span>
        {count(spans.count)} {spans.count === 1 ? 'span' : 'spans'}
      </span>
      <span>{duration(tree.endUs / 1000)}</span>
      {sums.errors > 0 && (
        <span className="s-error">
          {count(sums.errors)} {sums.errors === 1 ? 'error' : 'errors'}
        </span>
      )}
      {sums.tokens > 0 && <span>{tokens(sums.tokens)} tokens</span>}
      {sums.cost > 0 && <span>{money(sums.cost)}</span>}
      {tree.orphans > 0 && <span className="s-descendant_error">{count(tree.orphans)} without their parent here</span>}
      <span className="grow" />
      {spans.isCut && <span role="status">the first {count(spans.count)} spans; it has more</span>}
      {runs && <span className="s-running">running</span>}
    </footer>
  )
}

const widthKey = 'callhouse.reader'

/** Tree and reader side by side; the border moves by drag or by arrow keys. */
function Split({ hasReader, children }: { hasReader: boolean; children: ReactNode[] }) {
  const [width, setWidth] = useState(() => Number(localStorage.getItem(widthKey)) || 42)
  const box = useRef<HTMLDivElement>(null)
  const [left, reader] = children
  const set = (share: number) => {
    const next = Math.min(60, Math.max(24, share))
    setWidth(next)
    localStorage.setItem(widthKey, String(next))
  }
  const drag = (event: PointerEvent<HTMLElement>) => {
    const bounds = box.current?.getBoundingClientRect()
    if (event.buttons !== 1 || !bounds) return
    set(((bounds.right - event.clientX) / bounds.width) * 100)
  }
  return (
    <div ref={box} className={hasReader ? 'trace' : 'trace alone'} style={{ ['--reader' as string]: `${width}%` }}>
      {left}
      {hasReader && (
        <aside className="reader" aria-label="Span">
          <div
            className="grip"
            role="separator"
            aria-orientation="vertical"
            aria-label="Width of the reader"
            aria-valuenow={Math.round(width)}
            aria-valuemin={24}
            aria-valuemax={60}
            tabIndex={0}
            onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
            onPointerMove={drag}
            onKeyDown={(event) => {
              if (event.key === 'ArrowLeft') set(width + 2)
              else if (event.key === 'ArrowRight') set(width - 2)
            }}
          />
          {reader}
        </aside>
      )}
    </div>
  )
}
