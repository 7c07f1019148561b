// Two texts as one, with what was taken out and put in.
import { diffWordsWithSpace } from 'diff'
import { T } from './text.tsx'
import './words.css'

/** Edits up to which words are compared; the work grows with the square of them. */
const maxEdits = 400

type WordsProps = {
  before: string
  now: string
  max: number
  /** Whether texts with little in common are both read. */
  isWhole?: boolean
}

/** The second text with what was taken out and put in against the first. */
export function Words({ before, now, max, isWhole = false }: WordsProps) {
  const changes = diffWordsWithSpace(before.slice(0, max), now.slice(0, max), { maxEditLength: maxEdits })
  const kept = changes?.reduce(
    (sum, { value, added, removed }) => sum + (added || removed ? 0 : value.trim().length),
    0,
  )
  // When the texts have little in common, only the second one is readable.
  if (changes === undefined || (kept ?? 0) * 3 < Math.min(now.length, max)) {
    if (!isWhole) return <T text={now} max={max} />
    return (
      <span className="words">
        {before !== '' && (
          <>
            <del>
              <T text={before} max={max} />
            </del>
            {'\n'}
          </>
        )}
        <ins>
          <T text={now} max={max} />
        </ins>
      </span>
    )
  }
  return (
    <span className="words">
      {changes.map(({ value, added, removed }, place) => {
        const Tag = added ? 'ins' : removed ? 'del' : 'span'
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one text never move
          <Tag key={place}>
            <T text={value} max={max} />
          </Tag>
        )
      })}
    </span>
  )
}
