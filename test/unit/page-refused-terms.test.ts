// The terms of a filter that the server refuses: found by the field that its answer names.
import { expect, it } from 'vitest'
import { parseQuery, termText } from '../../services/web/page/engine/query-text.ts'
import { refusedTerms } from '../../services/web/page/engine/refused-terms.ts'

const refused = (q: string, reason: string) => [...refusedTerms(parseQuery(q), reason)].map(termText)

it('a term is refused when the answer names its field, and no other one is', () => {
  const q = 'status:error has:strange summary.weave.foo>1 feedback.a.b:1 has:strange.more'
  expect(refused(q, 'Field strange is not allowed in queries of calls')).toEqual(['has:strange'])
  expect(refused(q, 'Field attributes.strange.more is not allowed.')).toEqual(['has:strange.more'])
  expect(refused(q, "Summary field 'foo' is not allowed")).toEqual(['summary.weave.foo>1'])
  expect(refused(q, 'Field feedback.a.b is not allowed: expected feedback.[<type>].<payload>')).toEqual([
    'feedback.a.b:1',
  ])
  expect(refused(q, 'The query is too deep')).toEqual([])
})

it('a group is refused for what it holds, also among alternatives', () => {
  expect(refused('op:a (has:x OR has:y)', 'Field y is not allowed')).toEqual(['(has:x OR has:y)'])
  expect(refused('op:a OR -has:y', 'Field y is not allowed')).toEqual(['-has:y'])
})
