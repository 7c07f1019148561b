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

it.each<[q: string, reason: string, ...terms: string[]]>([
  // A field is named as a whole, in any script.
  ['has:gr', 'Field größe is not allowed'],
  ['has:größe', 'Field größe is not allowed', 'has:größe'],
  ['has:ße', 'Field größe is not allowed'],
  ['has:名', 'Field 名前 is not allowed'],
  ['has:x', 'Field xx is not allowed, xx2 and 2x neither'],
  ['has:x', 'Field xx is not allowed, nor is x', 'has:x'],
  ['has:x', 'Field x-y is not allowed'],
  ['has:x', 'Field a.x is not allowed'],
  ['has:x', 'Field x[0] is not allowed'],
  ['has:x', 'Field "x" is not allowed', 'has:x'],
  ['has:x', "Field 'x', of a call, is not allowed", 'has:x'],
  ['has:x', 'Not allowed: x.', 'has:x'],
  ['has:x', 'x', 'has:x'],
  ['has:x', 'x...'],
  ['has:x', 'X is not allowed'],
  ['has:x', ''],
  // By the path of its values, in lists of calls and of traces.
  ['model:a', 'Field summary.weave.models is not allowed', 'model:a'],
  ['model:a', 'Field trace.models is not allowed', 'model:a'],
  ['tokens>1', "Summary field 'tokens' is not allowed", 'tokens>1'],
  ['op:a', 'Field op_name is not allowed', 'op:a'],
  ['op:a', 'Field op is not allowed'],
  ['a.b:1', 'Field attributes.otel_span.attributes.a.b is not allowed', 'a.b:1'],
  ['feedback.q:1', 'Field feedback.[wandb.annotation.q].payload.value is not allowed', 'feedback.q:1'],
  ['inputs.__proto__:1', 'Field inputs.__proto__ is not allowed', 'inputs.__proto__:1'],
  ['summary.usage.x:1', 'Field usage.x is not allowed', 'summary.usage.x:1'],
  // Words, and what is no field, are never the reason.
  ['needle "op_name" is:root', 'Field op_name, needle or root is not allowed'],
  // Several terms, each once, in their order.
  ['has:y has:x -has:x OR has:x', 'Field x is not allowed', 'has:x', '-has:x', 'has:x'],
  ['(op:a (has:x OR name:b)) -(has:y)', 'Field x or y is not allowed', '(op:a (has:x OR name:b))', '-(has:y)'],
])('%s, refused for %j', (q, reason, ...terms) => {
  expect(refused(q, reason)).toEqual(terms)
})

it('a long reason and a long filter end', () => {
  const q = Array.from({ length: 300 }, (_, n) => `has:f${n}`).join(' ')
  expect(refused(q, `${'f7x '.repeat(5_000)}f7 is not allowed`)).toEqual(['has:f7'])
})
