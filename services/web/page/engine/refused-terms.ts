// Finds the terms of a filter that a refusal of the server is about.
import { pathsOf } from './filter-fields.ts'
import type { Expression, Term } from './query-text.ts'

/** Whether a text names a field as a whole, not as a part of a longer one. */
function names(text: string, path: string): boolean {
  const isPart = (letter: string | undefined) => letter !== undefined && /[\p{L}\p{N}_.$[\]-]/u.test(letter)
  for (let at = text.indexOf(path); at >= 0; at = text.indexOf(path, at + 1)) {
    // A full stop may end the sentence.
    const [next, afterNext] = [text[at + path.length], text[at + path.length + 1]]
    const isEnd = !isPart(next) || (next === '.' && !isPart(afterNext))
    if (!isPart(text[at - 1]) && isEnd) return true
  }
  return false
}

function isNamed(term: Term, reason: string): boolean {
  if (term.type === 'group') return term.any.some((all) => all.some((one) => isNamed(one, reason)))
  if (term.type !== 'cond' && term.type !== 'has') return false
  // Fields of the summary are named without it.
  const inSummary = /^summary\.(?:weave\.)?(.+)$/
  return [...pathsOf(term.field), ...pathsOf(term.field, 'traces')].some((path) => {
    const [, field] = inSummary.exec(path) ?? []
    return names(reason, path) || (field !== undefined && names(reason, field))
  })
}

/** Terms of the conjunctions that a reason names; a group where it holds one. */
export const refusedTerms = (expression: Expression, reason: string): ReadonlySet<Term> =>
  new Set(expression.flat().filter((term) => isNamed(term, reason)))
