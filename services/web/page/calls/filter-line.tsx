// The line of text that filters, and its terms as chips: two views of what stands in `?q=`.
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { type Expression, queryText, termText } from '../engine/query-text.ts'
import { useKeys } from '../keys.ts'
import { Icon } from '../parts/icon.tsx'
import { T } from '../parts/text.tsx'
import type { Parsed } from './search.ts'

const hints = ['status:error', 'latency>2s', 'op:', 'thread:', 'has:', 'error~', 'is:running']

type FilterProps = { q: string; parsed: Parsed; onChange(q: string): void }

export function FilterLine({ q, parsed, onChange }: FilterProps) {
  const [text, setText] = useState(q)
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => setText(q), [q])
  const focus = () => {
    field.current?.focus()
    field.current?.select()
  }
  useKeys({ search: focus, filter: focus })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onChange(text.trim())
  }
  const { fault } = parsed
  return (
    <form role="search" onSubmit={submit} style={{ flex: '1 1 260px', minWidth: 0 }}>
      <input
        ref={field}
        type="search"
        style={{ width: '100%', fontFamily: 'var(--mono)', fontSize: 12 }}
        aria-label="Filter calls"
        aria-invalid={fault !== undefined}
        aria-describedby={fault && 'filter-fault'}
        placeholder="Filter:  status:error  latency>2s  inputs.model:gpt-4o  words…   ( / )"
        list="filter-hints"
        spellCheck={false}
        autoComplete="off"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => event.key === 'Escape' && event.currentTarget.blur()}
      />
      <datalist id="filter-hints">
        {hints.map((hint) => (
          <option key={hint} value={text === '' ? hint : `${text} ${hint}`} />
        ))}
      </datalist>
    </form>
  )
}

/** The terms, each with a way to take it out. Alternatives stand together. */
export function Chips({ expression, onChange }: { expression: Expression; onChange(q: string): void }) {
  if (expression.length === 0) return null
  if (expression.length > 1)
    return (
      <div className="chips">
        <span className="chip">
          <T text={queryText(expression)} />
          <button type="button" aria-label="Remove the filter" onClick={() => onChange('')}>
            <Icon name="close" />
          </button>
        </span>
      </div>
    )
  const terms = expression[0] ?? []
  return (
    <div className="chips">
      {terms.map((term, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the same term may stand twice
        <span key={place} className="chip">
          <T text={termText(term)} />
          <button
            type="button"
            aria-label={`Remove ${termText(term).slice(0, 60)}`}
            onClick={() => onChange(queryText([terms.filter((_, n) => n !== place)]))}
          >
            <Icon name="close" />
          </button>
        </span>
      ))}
      {terms.length > 1 && (
        <button type="button" className="dim" onClick={() => onChange('')}>
          clear
        </button>
      )}
    </div>
  )
}
