// The bar above the tree: text to find, and which spans are shown.
import { type RefObject, useMemo } from 'react'
import { count, plural } from '../engine/format.ts'
import { spanKinds, statusNames } from '../engine/rows.ts'
import { plainOf } from '../engine/safe-text.ts'
import { spanCounts } from '../engine/span-counts.ts'
import { modeNames, nextMode, type TraceSearch } from '../engine/trace-search.ts'
import { statuses, type Tree, type View } from '../engine/tree.ts'
import { Bar } from '../parts/bar.tsx'
import { Button } from '../parts/button.tsx'
import { Input } from '../parts/input.tsx'
import { Select } from '../parts/select.tsx'
import type { PayloadSearch } from './use-payload-search.ts'

type FindBarProps = {
  finder: RefObject<HTMLInputElement | null>
  tree: Tree | undefined
  search: TraceSearch
  view: Omit<View, 'collapsed'>
  onChange: (next: TraceSearch) => void
  onEnter: () => void
  payloads: PayloadSearch
}

/** Models that a menu holds; a trace with more is filtered by text. */
const maxModels = 500

type Change = FindBarProps['onChange']

/** Choices of spans by status and model, and of their order. */
function Choices({ tree, search, onChange }: { tree: Tree | undefined; search: TraceSearch; onChange: Change }) {
  const models = tree?.spans.models.texts.slice(0, maxModels) ?? []
  return (
    <>
      <Select
        aria-label="Status of span"
        value={search.status ?? ''}
        of={[['', 'any status'], ...statuses.map((status) => [status, statusNames[status]] as const)]}
        onValue={(value) => onChange({ status: value as TraceSearch['status'] })}
      />
      {(models.length > 0 || search.model !== undefined) && (
        <Select
          aria-label="Model of span"
          value={search.model ?? ''}
          of={[
            ['', 'all models'],
            ...[...new Set([...models, ...(search.model ? [search.model] : [])])].map(
              (model) => [model, plainOf(model, 60)] as const,
            ),
          ]}
          onValue={(value) => onChange({ model: value })}
        />
      )}
      <Button
        title="View: tree, timeline order, LLM calls, grouped by path, flame graph (v)"
        onClick={() => onChange({ mode: nextMode(search.mode) })}
      >
        {modeNames[search.mode ?? 'tree']}
      </Button>
    </>
  )
}

/** State of the search in payloads. */
function PayloadsState({ found, isLooking, isCut, fault }: PayloadSearch) {
  if (fault !== '') return <span className="s-error">{fault}</span>
  if (isLooking) return <span className="dim">searching…</span>
  if (found === undefined) return null
  return <span className="dim num">{`${count(found.size)}${isCut ? '+' : ''} by input or output`}</span>
}

/** Number of spans that the view has, in words, and of those of them that match. */
function useCounts(tree: Tree | undefined, view: FindBarProps['view']) {
  const { query, onlyCritical, kind, status, model, minShare, inPayloads, mode } = view
  return useMemo(() => {
    if (tree === undefined) return undefined
    const asked = { query, onlyCritical, kind, status, model, minShare, inPayloads, mode }
    const { all, matching } = spanCounts(tree, asked)
    return { all: plural(all, mode === 'messages' ? 'LLM call' : 'span'), matching }
  }, [tree, query, onlyCritical, kind, status, model, minShare, inPayloads, mode])
}

/** The search in the trace, and the choice of the spans in the tree. */
export function FindBar({ finder, tree, search, view, onChange, onEnter, payloads }: FindBarProps) {
  const counts = useCounts(tree, view)
  return (
    <Bar role="search">
      <Input
        ref={finder}
        type="search"
        style={{ flex: '1 1 140px', minWidth: 0 }}
        aria-label="Find in this trace"
        placeholder={counts ? `Find in ${counts.all}   ( / )` : 'Find'}
        value={search.find ?? ''}
        onText={(text) => onChange({ find: text })}
        onKeyDown={(event) => {
          if (event.key === 'Enter') onEnter()
          else if (event.key === 'Escape') event.currentTarget.blur()
        }}
      />
      <Button
        aria-pressed={search.in === 'payloads'}
        title="Search inputs and outputs, too"
        onClick={() => onChange({ in: search.in ? undefined : 'payloads' })}
      >
        Search inputs and outputs
      </Button>
      <span role="status">
        {counts?.matching !== undefined && (
          <span className="dim num">
            {count(counts.matching)}
            {/* Payloads of some were not looked at. */}
            {payloads.isCut && '+'} of {counts.all}
          </span>
        )}
        {search.in === 'payloads' && <PayloadsState {...payloads} />}
      </span>
      <Select
        aria-label="Kind of span"
        value={search.kind ?? ''}
        of={[['', 'all kinds'], ...spanKinds.map((kind) => [kind, kind] as const)]}
        onValue={(value) => onChange({ kind: value as TraceSearch['kind'] })}
      />
      <Button
        aria-pressed={search.min === '2'}
        title="Hide spans shorter than 2 % of the trace"
        onClick={() => onChange({ min: search.min ? undefined : '2' })}
      >
        Hide spans under 2 %
      </Button>
      <Choices tree={tree} search={search} onChange={onChange} />
      <Button
        aria-pressed={search.critical === '1'}
        onClick={() => onChange({ critical: search.critical ? undefined : '1' })}
      >
        critical path
      </Button>
    </Bar>
  )
}
