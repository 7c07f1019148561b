// The line of text that filters, and its terms as chips: two views of what stands in `?q=`.
import { type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { useSession } from '../api/session.ts'
import { completed, type Written, writtenAt } from '../engine/completion.ts'
import { count } from '../engine/format.ts'
import { type Expression, queryText, termText } from '../engine/query-text.ts'
import { useKeys } from '../keys.ts'
import { Icon } from '../parts/icon.tsx'
import { T } from '../parts/text.tsx'
import { hasText, type Parsed, parsed as readable } from './search.ts'
import { type Suggestion, useCompletion } from './use-completion.ts'

/** Round and round; from none to the first or the last. */
const stepped = (at: number, step: number, count: number): number =>
  at < 0 && step < 0 ? count - 1 : (at + step + count) % count

/** Whether a filter goes through payloads, on a server without an index of words. */
function useIsSlow(text: string): boolean {
  const { data: session } = useSession()
  return session?.server.has?.word_index === false && hasText(readable(text).expression)
}

type FilterProps = { project: string; q: string; parsed: Parsed; onChange(q: string): void }

export function FilterLine({ project, q, parsed, onChange }: FilterProps) {
  const [text, setText] = useState(q)
  const [written, setWritten] = useState<Written>()
  const [at, setAt] = useState(-1)
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => setText(q), [q])
  const suggestions = useCompletion(project, written)
  const focus = () => {
    field.current?.focus()
    field.current?.select()
  }
  useKeys({ search: focus, filter: focus })
  const close = () => {
    setWritten(undefined)
    setAt(-1)
  }
  const look = ({ value, selectionStart }: HTMLInputElement) => {
    setWritten(writtenAt(value, selectionStart ?? value.length))
    setAt(-1)
  }
  const pick = (suggestion: Suggestion | undefined) => {
    const input = field.current
    if (suggestion === undefined || written === undefined || input === null) return
    const next = completed(text, written, suggestion.value)
    setText(next.text)
    input.focus()
    requestAnimationFrame(() => {
      input.setSelectionRange(next.caret, next.caret)
      look(input)
    })
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    close()
    // What stands in the line, whether or not it was drawn again since.
    onChange((field.current?.value ?? text).trim())
  }
  const onKey = (event: KeyboardEvent<HTMLInputElement>) => {
    const isOpen = suggestions.length > 0
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0) {
      event.preventDefault()
      if (written === undefined) look(event.currentTarget)
      else if (isOpen) setAt(stepped(at, step, suggestions.length))
    } else if ((event.key === 'Enter' || event.key === 'Tab') && isOpen && at >= 0) {
      event.preventDefault()
      pick(suggestions[at])
    } else if (event.key === 'Escape') {
      // Who has gone into the suggestions comes back to the line first.
      if (at < 0) event.currentTarget.blur()
      close()
    }
  }
  const { fault } = parsed
  const isSlow = useIsSlow(text)
  return (
    <form role="search" className="filter" onSubmit={submit}>
      <input
        ref={field}
        type="text"
        role="combobox"
        aria-expanded={suggestions.length > 0}
        aria-controls="filter-suggestions"
        aria-autocomplete="list"
        aria-activedescendant={suggestions[at] && `filter-suggestion-${at}`}
        aria-label="Filter calls"
        aria-invalid={fault !== undefined}
        aria-describedby={fault && 'filter-fault'}
        placeholder="Filter:  status:error  latency>2s  inputs.model:gpt-4o  words…   ( / )"
        spellCheck={false}
        autoComplete="off"
        value={text}
        onFocus={(event) => look(event.currentTarget)}
        onBlur={close}
        onChange={(event) => {
          setText(event.target.value)
          look(event.target)
        }}
        onKeyDown={onKey}
      />
      {isSlow && (
        <span className="slow" role="status" title="This server has no index of words">
          reads every text of the range
        </span>
      )}
      <div id="filter-suggestions" role="listbox" aria-label="Suggestions" hidden={suggestions.length === 0}>
        {suggestions.map((one, place) => (
          <button
            key={`${one.shown} ${typeof one.value}`}
            id={`filter-suggestion-${place}`}
            type="button"
            role="option"
            aria-selected={place === at}
            tabIndex={-1}
            className="item"
            // The line keeps the focus.
            onPointerDown={(event) => event.preventDefault()}
            onClick={() => pick(one)}
          >
            <T text={one.shown} max={120} />
            {one.calls !== null && <span className="dim num">{count(one.calls)}</span>}
          </button>
        ))}
      </div>
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
