// The line of a filter with one more condition.
import { parsed } from './search.ts'

export function narrowedLine(q: string, term: string): string {
  const { expression } = parsed(q)
  if (expression.length === 0 || q.trim() === '') return term
  return `${expression.length > 1 ? `(${q.trim()})` : q.trim()} ${term}`
}
