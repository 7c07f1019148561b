// The line of a filter with one more condition.
import { parseQuery, QueryFault } from './query-text.ts'

/** Number of alternatives of a line, whichever of its terms are refused; undefined where it cannot be read. */
function alternativesOf(q: string): number | undefined {
  try {
    return parseQuery(q).length
  } catch (error) {
    if (error instanceof QueryFault) return undefined
    throw error
  }
}

export function narrowedLine(q: string, term: string): string {
  const line = q.trim()
  if (line === '') return term
  const alternatives = alternativesOf(line)
  // Behind a quote that is not closed it would be a part of the text.
  if (alternatives === undefined) return `${term} ${line}`
  return `${alternatives > 1 ? `(${line})` : line} ${term}`
}
