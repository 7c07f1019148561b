// The bar above the tree: text to find, and which spans are shown.
import type { RefObject } from 'react'
import { count } from '../engine/format.ts'
import { spanKinds } from '../engine/rows.ts'
import type { Tree } from '../engine/tree.ts'
import type { TraceSearch } from './search.ts'

type FindBarProps = {
  finder: RefObject<HTMLInputElement | null>
  tree: Tree | undefined
  search: TraceSearch
  onChange: (next: TraceSearch) => void
  onEnter: () => void
}

/** What is looked for in the trace, and which spans the tree shows. */
export function FindBar({ finder, tree, search, onChange, onEnter }: FindBarProps) {
  return (
    <div className="bar" role="search">
      <input
        ref={finder}
        type="search"
        style={{ flex: '1 1 140px', minWidth: 0 }}
        aria-label="Find in this trace"
        placeholder={tree ? `Find in ${count(tree.order.length)} spans   ( / )` : 'Find'}
        value={search.find ?? ''}
        onChange={(event) => onChange({ find: event.target.value })}
        onKeyDown={(event) => {
          if (event.key === 'Enter') onEnter()
          else if (event.key === 'Escape') event.currentTarget.blur()
        }}
      />
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
      <button
        type="button"
        className="line"
        aria-pressed={search.min === '2'}
        title="Spans of at least 2 % of the trace"
        onClick={() => onChange({ min: search.min ? undefined : '2' })}
      >
        &gt; 2 %
      </button>
      <button
        type="button"
        className="line"
        aria-pressed={search.critical === '1'}
        onClick={() => onChange({ critical: search.critical ? undefined : '1' })}
      >
        critical path
      </button>
    </div>
  )
}
