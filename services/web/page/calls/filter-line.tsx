// The line of text that filters, and its terms as chips: two views of what stands in `?q=`.
import { type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { ApiFault } from '../api/send.ts'
import { useSession } from '../api/session.ts'
import { completed, type Written, writtenAt } from '../engine/completion.ts'
import { count } from '../engine/format.ts'
import { type Expression, type QueryFault, queryText, type Term, termText } from '../engine/query-text.ts'
import { refusedTerms } from '../engine/refused-terms.ts'
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

/** What the server does not take of a filter, and its terms that are meant. */
export type Refusal = { reason: string; terms: ReadonlySet<Term> }

export function refusalOf(expression: Expression, error: unknown): Refusal | undefined {
  if (!(error instanceof ApiFault) || error.values.status !== 422) return undefined
  const { reason } = error.values
  return { reason, terms: refusedTerms(expression, reason) }
}

type FilterProps = {
  project: string
  q: string
  parsed: Parsed
  refusal: Refusal | undefined
  onChange(q: string): void
}

export function FilterLine({ project, q, parsed, refusal, onChange }: FilterProps) {
  const [text, setText] = useState(q)
  const [written, setWritten] = useState<Written>()
  const [at, setAt] = useState(-1)
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => setText(q), [q])
  const suggestions = useCompletion(project, written)
  const focus = () => {
    field.current?.focus()
    field.current?.select()
    // The term that was refused, as it stands in the line.
    const [term] = refusal?.terms ?? []
    const from = term === undefined ? -1 : text.indexOf(termText(term))
    if (term !== undefined && from >= 0) field.current?.setSelectionRange(from, from + termText(term).length)
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
        aria-invalid={fault !== undefined || refusal !== undefined}
        aria-describedby={fault ? 'filter-fault' : refusal && refusal.terms.size > 0 ? 'filter-refused' : undefined}
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

type ChipsProps = { expression: Expression; refusal: Refusal | undefined; onChange(q: string): void }

function Refused({ reason }: { reason: string }) {
  return (
    <>
      <Icon name="error" />
      <span id="filter-refused" className="hidden">
        {' '}
        refused: <T text={reason} />
      </span>
    </>
  )
}

/** The terms, each with a way to take it out. Alternatives stand together. */
export function Chips({ expression, refusal, onChange }: ChipsProps) {
  if (expression.length === 0) return null
  const [firstRefused] = refusal?.terms ?? []
  if (expression.length > 1)
    return (
      <div className="chips">
        <span className={firstRefused ? 'chip wrong' : 'chip'} title={firstRefused && refusal?.reason}>
          <T text={queryText(expression)} />
          {firstRefused && refusal && <Refused reason={refusal.reason} />}
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
        <span
          // biome-ignore lint/suspicious/noArrayIndexKey: the same term may stand twice
          key={place}
          className={refusal?.terms.has(term) ? 'chip wrong' : 'chip'}
          title={refusal?.terms.has(term) ? refusal.reason : undefined}
        >
          <T text={termText(term)} />
          {refusal && term === firstRefused && <Refused reason={refusal.reason} />}
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

export const UnreadableFilter = ({ fault }: { fault: QueryFault }) => (
  <div className="center" role="alert" id="filter-fault">
    <h2>The filter cannot be read</h2>
    <p className="second">
      {fault.message}, at character {fault.at + 1}
    </p>
  </div>
)
