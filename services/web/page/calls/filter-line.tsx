// The line of text that filters, and its terms as chips: two views of what stands in `?q=`.
import { type FormEvent, type KeyboardEvent, lazy, Suspense, useEffect, useRef, useState } from 'react'
import { ApiFault } from '../api/send.ts'
import { useSession } from '../api/session.ts'
import { hasText, type Parsed, parsed as readable } from '../engine/calls-search.ts'
import { completed, offeredAt, type Suggestion, tabbedAt, type Written, writtenAt } from '../engine/completion.ts'
import type { Problem } from '../engine/filter-checks.ts'
import { type Expression, type QueryFault, queryText, type Term, termText } from '../engine/query-text.ts'
import { refusedTerms } from '../engine/refused-terms.ts'
import { useKeys } from '../keys.ts'
import { Icon } from '../parts/icon.tsx'
import { T } from '../parts/text.tsx'
import { Suggestions } from './suggestions.tsx'
import { useCompletion } from './use-completion.ts'

const Fixes = lazy(() => import('../lazy-routes.tsx').then(({ Fixes }) => ({ default: Fixes })))

/** Round and round; from none to the first or the last. */
const stepped = (at: number, step: number, count: number): number =>
  at < 0 && step < 0 ? count - 1 : (at + step + count) % count

/** Whether a filter goes through payloads, on a server without an index of words. */
function useIsSlow(text: string): boolean {
  const { data: session } = useSession()
  return session?.server.has?.word_index === false && hasText(readable(text).shown)
}

/** What is wrong with a filter, its terms that are meant, and the first problem of the line itself. */
export type Refusal = { reason: string; terms: ReadonlySet<Term>; problem?: Problem }

export function refusalOf({ expression, problems }: Parsed, error: unknown): Refusal | undefined {
  const [first] = problems
  if (first) return { reason: first.message, terms: new Set(problems.map(({ term }) => term)), problem: first }
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
  const { suggestions, counted } = useCompletion(project, written, parsed.rows)
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
  const search = () => {
    close()
    // What stands in the line, whether or not it was drawn again since.
    onChange((field.current?.value ?? text).trim())
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    search()
  }
  // What shows as taken is what Enter and Tab take: chosen by an arrow, or the first one that goes on with what is written.
  const shownAt = at >= 0 ? at : offeredAt(written, suggestions)
  const pick = (suggestion: Suggestion | undefined, isLast = false) => {
    const input = field.current
    if (suggestion === undefined || written === undefined || input === null) return
    if (suggestion.isSearch) return search()
    const next = completed(text, written, suggestion.value)
    setText(next.text)
    input.focus()
    if (isLast) {
      close()
      return onChange(next.text.trim())
    }
    requestAnimationFrame(() => {
      input.setSelectionRange(next.caret, next.caret)
      look(input)
    })
  }
  const isOpen = suggestions.length > 0
  const move = (event: KeyboardEvent<HTMLInputElement>, step: 1 | -1) => {
    event.preventDefault()
    if (written === undefined) look(event.currentTarget)
    else if (isOpen) setAt(stepped(at, step, suggestions.length))
  }
  const take = (event: KeyboardEvent<HTMLInputElement>) => {
    const takenAt = at < 0 && event.key === 'Tab' ? tabbedAt(written, suggestions) : shownAt
    if (!isOpen || takenAt < 0 || event.shiftKey) return
    event.preventDefault()
    // A value ends its condition: there is nothing left to write.
    pick(suggestions[takenAt], event.key === 'Enter' && written?.of === 'value')
  }
  const leave = (event: KeyboardEvent<HTMLInputElement>) => {
    // Who writes comes back to the line first, so that Enter searches; what was not asked for goes with the line.
    if (!isOpen && (written === undefined || text === q)) {
      setText(q)
      event.currentTarget.blur()
    }
    close()
  }
  const keys: Record<string, (event: KeyboardEvent<HTMLInputElement>) => void> = {
    ArrowDown: (event) => move(event, 1),
    ArrowUp: (event) => move(event, -1),
    Enter: take,
    Tab: take,
    Escape: leave,
  }
  const { fault } = parsed
  const isSlow = useIsSlow(text)
  return (
    <form role="search" className="filter" onSubmit={submit}>
      <input
        ref={field}
        type="text"
        role="combobox"
        aria-expanded={isOpen}
        aria-controls="filter-suggestions"
        aria-autocomplete="list"
        aria-activedescendant={suggestions[shownAt] && `filter-suggestion-${shownAt}`}
        aria-label="Filter calls"
        aria-invalid={fault !== undefined || refusal !== undefined}
        aria-describedby={refusal && refusal.terms.size > 0 ? 'filter-refused' : fault ? 'filter-fault' : undefined}
        placeholder="Filter:  status:error  latency>2s  model:gpt-4o  words…   ( / )"
        spellCheck={false}
        autoComplete="off"
        value={text}
        onFocus={(event) => look(event.currentTarget)}
        onBlur={close}
        onChange={(event) => {
          setText(event.target.value)
          look(event.target)
        }}
        onKeyDown={(event) => keys[event.key]?.(event)}
      />
      {isSlow && (
        <span className="slow" role="status" title="This server has no full-text index">
          Full-text search: may be slow over long ranges
        </span>
      )}
      <Suggestions suggestions={suggestions} at={shownAt} counted={counted} onPick={pick} />
    </form>
  )
}

type ChipsProps = { project: string; expression: Expression; refusal: Refusal | undefined; onChange(q: string): void }

function Refused({ reason }: { reason: string }) {
  return (
    <>
      <Icon name="error" />
      <span id="filter-refused" className="hidden">
        {' '}
        not accepted: <T text={reason} />
      </span>
    </>
  )
}

type MeantProps = { project: string; refusal: Refusal | undefined; onChange(q: string): void }

export const Meant = ({ project, refusal, onChange }: MeantProps) =>
  refusal?.problem && (
    <Suspense fallback={null}>
      <Fixes project={project} problem={refusal.problem} onChange={onChange} />
    </Suspense>
  )

/** The terms, each with a way to take it out. Alternatives stand together. */
export function Chips({ project, expression, refusal, onChange }: ChipsProps) {
  if (expression.length === 0) return null
  const isRefused = (term: Term): boolean =>
    refusal?.terms.has(term) === true || (term.type === 'group' && term.any.flat().some(isRefused))
  const firstRefused = expression.flat().find(isRefused)
  if (expression.length > 1)
    return (
      <div className="chips">
        <span className={firstRefused ? 'chip wrong' : 'chip'} title={firstRefused && refusal?.reason}>
          <T text={queryText(expression)} />
          {firstRefused && refusal && <Refused reason={refusal.reason} />}
          <button type="button" aria-label="Clear filter" onClick={() => onChange('')}>
            <Icon name="close" />
          </button>
        </span>
        <Meant project={project} refusal={refusal} onChange={onChange} />
      </div>
    )
  const terms = expression[0] ?? []
  return (
    <div className="chips">
      {terms.map((term, place) => (
        <span
          // biome-ignore lint/suspicious/noArrayIndexKey: the same term may stand twice
          key={place}
          className={isRefused(term) ? 'chip wrong' : 'chip'}
          title={isRefused(term) ? refusal?.reason : undefined}
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
      <Meant project={project} refusal={refusal} onChange={onChange} />
      {terms.length > 1 && (
        <button type="button" className="dim" onClick={() => onChange('')}>
          Clear filter
        </button>
      )}
    </div>
  )
}

/** @property isPlaced unless a chip shows what is meant. */
export const UnreadableFilter = ({ fault, isPlaced }: { fault: QueryFault; isPlaced: boolean }) => (
  <div className="center" role="alert" id="filter-fault">
    <h2>Invalid filter</h2>
    <p className="second">
      {fault.message}
      {isPlaced && `, at character ${fault.at + 1}`}
    </p>
  </div>
)
