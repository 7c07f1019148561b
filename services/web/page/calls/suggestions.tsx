// What the line that filters could go on with, below it.
import type { Suggestion } from '../engine/completion.ts'
import { count, plural } from '../engine/format.ts'
import { T } from '../parts/text.tsx'

type SuggestionsProps = {
  suggestions: readonly Suggestion[]
  /** The one that shows as taken; -1 for none. */
  at: number
  /** Of how many calls the numbers are. */
  counted: number | undefined
  onPick(suggestion: Suggestion): void
}

export const Suggestions = ({ suggestions, at, counted, onPick }: SuggestionsProps) => (
  <div className="suggestions" hidden={suggestions.length === 0}>
    <div id="filter-suggestions" role="listbox" aria-label="Suggestions">
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
          onClick={() => onPick(one)}
        >
          <T text={one.shown} max={120} />
          {one.calls !== null && <span className="dim num">{count(one.calls)}</span>}
        </button>
      ))}
    </div>
    {counted !== undefined && <p className="dim">Counts of the latest {plural(counted, 'call')}</p>}
  </div>
)
