// Limits of `sort_by` in any request: a field counts once, and there are not too many.
import { fault } from '../core/http/errors.ts'

const maxFields = 50

/** The terms without those of fields that stand before: they change no order. @throws Fault 400 when they are too many */
export function distinctTerms<Term extends { field: string }>(terms: readonly Term[]): Term[] {
  const byField = new Map<string, Term>()
  for (const term of terms) if (!byField.has(term.field)) byField.set(term.field, term)
  if (byField.size > maxFields) throw fault(400, `sort_by has ${byField.size} fields, at most ${maxFields} are taken`)
  return [...byField.values()]
}
