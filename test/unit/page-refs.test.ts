// Refs that are pasted into the page: what they name, and that nothing else is taken for one.
import { expect, it } from 'vitest'
import { placeholderOpDigest } from '../../services/content/op-objects.ts'
import { digestWithoutSource, opVersionOf, parsedRef } from '../../services/web/page/engine/refs.ts'

const of = { entity: 'acme', project: 'demo' }

it('a ref names a call, a table, or a version of an object or an op, whatever stands behind it', () => {
  expect(parsedRef('weave:///acme/demo/call/0190-a')).toEqual({ ...of, kind: 'call', name: '0190-a' })
  expect(parsedRef('weave:///acme/demo/object/my%20set:abc/attr/rows/id/def')).toEqual({
    ...of,
    kind: 'object',
    name: 'my set',
    version: 'abc',
  })
  expect(parsedRef('weave:///acme/demo/op/ask:latest')).toMatchObject({ kind: 'op', version: 'latest' })
  expect(parsedRef('weave:///acme/demo/op/a:b:*')).toMatchObject({ name: 'a:b', version: undefined })
  expect(parsedRef('weave:///acme/demo/object/plain')).toMatchObject({ name: 'plain', version: undefined })
  expect(parsedRef('weave:///acme/demo/table/d1')).toMatchObject({ kind: 'table', name: 'd1' })
  expect(parsedRef('weave:///acme/demo/object/%E0%A4%A:v')).toMatchObject({ name: '%E0%A4%A' })
})

it('no other text is a ref', () => {
  for (const text of [
    '',
    'weave:///',
    'weave:///a/b',
    'weave:///a/b/object/',
    'weave:///a/b/object/:v',
    'weave:///a/b/secret/x:1',
    'weave://a/b/object/x:1',
    ' weave:///a/b/object/x:1',
    'weave:///a/b/object/x y:1',
    'javascript:weave:///a/b/op/x',
  ])
    expect(parsedRef(text)).toBeUndefined()
})

it('an op without recorded source has no source to show', () => {
  expect(digestWithoutSource).toBe(placeholderOpDigest)
  const refOf = (digest: string) => `weave:///acme/demo/op/answer:${digest}`
  expect(opVersionOf('acme/demo', refOf(placeholderOpDigest))).toBeUndefined()
  expect(opVersionOf('acme/demo', refOf('x'.repeat(43)))).toEqual({ objectId: 'answer', digest: 'x'.repeat(43) })
})
