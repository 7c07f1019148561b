// The bar above the tree: text to find, and which spans are shown.
import type { RefObject } from 'react'
import { count, plural } from '../engine/format.ts'
import { spanKinds, statusNames } from '../engine/rows.ts'
import { plainOf } from '../engine/safe-text.ts'
import { modeNames, nextMode, type TraceSearch } from '../engine/trace-search.ts'
import { statuses, type Tree } from '../engine/tree.ts'
import { Bar } from '../parts/bar.tsx'
import { Button } from '../parts/button.tsx'
import { Input } from '../parts/input.tsx'
import type { PayloadSearch } from './use-payload-search.ts'

type FindBarProps = {
  finder: RefObject<HTMLInputElement | null>
  tree: Tree | undefined
  search: TraceSearch
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
      <select
        aria-label="Status of span"
        value={search.status ?? ''}
        onChange={({ target }) => onChange({ status: target.value as TraceSearch['status'] })}
      >
        <option value="">any status</option>
        {statuses.map((status) => (
          <option key={status} value={status}>
            {statusNames[status]}
          </option>
        ))}
      </select>
      {(models.length > 0 || search.model !== undefined) && (
        <select
          aria-label="Model of span"
          value={search.model ?? ''}
          onChange={({ target }) => onChange({ model: target.value })}
        >
          <option value="">all models</option>
          {[...new Set([...models, ...(search.model ? [search.model] : [])])].map((model) => (
            <option key={model} value={model}>
              {plainOf(model, 60)}
            </option>
          ))}
        </select>
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

/** The search in the trace, and the choice of the spans in the tree. */
export function FindBar({ finder, tree, search, onChange, onEnter, payloads }: FindBarProps) {
  return (
    <Bar role="search">
      <Input
        ref={finder}
        type="search"
        style={{ flex: '1 1 140px', minWidth: 0 }}
        aria-label="Find in this trace"
        placeholder={tree ? `Find in ${plural(tree.order.length, 'span')}   ( / )` : 'Find'}
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
      <span role="status">{search.in === 'payloads' && <PayloadsState {...payloads} />}</span>
      <select
        aria-label="Kind of span"
        value={search.kind ?? ''}
        onChange={(event) => onChange({ kind: event.target.value as TraceSearch['kind'] })}
      >
        <option value="">all kinds</option>
        {spanKinds.map((kind) => (
          <option key={kind}>{kind}</option>
        ))}
      </select>
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
