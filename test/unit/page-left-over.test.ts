// The rest of a recorded value that the messages read from it do not show: all of it, and nothing else.
import { describe, expect, it } from 'vitest'
import { leftBeside } from '../../services/web/page/engine/left-over.ts'
import type { Message, Part } from '../../services/web/page/engine/message-parts.ts'
import { written } from '../../services/web/page/engine/message-parts.ts'

const leftOver = (value: unknown, messages: Message[]): unknown => leftBeside(messages).of(value)

const said = (...parts: (string | Part)[]): Message[] => [
  {
    role: 'user',
    name: 'ann',
    parts: parts.map((part): Part => (typeof part === 'string' ? { is: 'text', text: part } : part)),
  },
]

describe('what is shown leaves nothing', () => {
  it.each<[name: string, value: unknown]>([
    ['nothing', null],
    ['nothing either', undefined],
    ['empty things', { a: '', b: [], c: {}, d: null, e: [[], {}, '', null] }],
    ['the text', 'Hello'],
    ['the text in members of any name', { deep: [{ deeper: { __proto__x: 'Hello' } }] }],
    ['the text twice', ['Hello', { text: 'Hello' }]],
    ['who said it', { role: 'user', name: 'ann', content: 'Hello' }],
    ['words for roles and kinds', { role: 'Assistant', type: 'text', text: 'Hello', kind: 'message' }],
    ['words of another dialect', { type: 'constructor', lc: 1, id: ['langchain', 'schema', 'HumanMessage'] }],
    ['the text in JSON in a text', '{"messages":[{"role":"user","content":"Hello"}]}'],
    ['JSON in JSON', JSON.stringify({ a: JSON.stringify(['Hello']) })],
  ])('%s', (_, value) => {
    expect(leftOver(value, said('Hello'))).toBeUndefined()
  })

  it('of calls and of their results, of media, and of what is shown as JSON', () => {
    const shown = said(
      { is: 'call', id: 'c1', name: 'find', arguments: '{"order":8812}' },
      { is: 'answer', id: 'c1', name: 'find', text: 'shipped' },
      { is: 'media', text: 'image', source: { from: 'base64', type: 'image/png', base64: 'AAAA', name: 'image' } },
      { is: 'json', text: written({ odd: { form: [1] } }) },
      { is: 'json', text: written([1, 2]) },
    )
    const value = {
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'find', arguments: '{"order":8812}' } }],
      result: 'shipped',
      image: 'data:image/png;base64,AAAA',
      more: { odd: { form: [1] } },
      list: [1, 2],
    }
    expect(leftOver(value, shown)).toBeUndefined()
  })
})

describe('what is not shown is left', () => {
  it.each<[name: string, value: unknown, left: unknown]>([
    ['another text', 'Bye', 'Bye'],
    ['a text of which a part is shown', { text: 'Hello, and more' }, { text: 'Hello, and more' }],
    ['a text in other letters', 'hello', 'hello'],
    ['spaces', ' Hello', ' Hello'],
    ['numbers and words of JSON', { n: 0, f: false, t: true }, { n: 0, f: false, t: true }],
    ['a number beside the text', { text: 'Hello', n: 5 }, { n: 5 }],
    ['items of a list', ['Hello', 'Bye', 5], ['Bye', 5]],
    ['a role that is no word for one', { role: 'janitor', content: 'Hello' }, { role: 'janitor' }],
    ['a type that is none', { type: 'sarcasm', text: 'Hello' }, { type: 'sarcasm' }],
    ['a word for a role in another member', { tone: 'assistant' }, { tone: 'assistant' }],
    ['names of classes elsewhere', { path: ['langchain', 'HumanMessage'] }, { path: ['langchain', 'HumanMessage'] }],
    ['a class of another program', { id: ['acme', 'HumanMessage'] }, { id: ['acme', 'HumanMessage'] }],
    ['another version of a form', { lc: 2, text: 'Hello' }, { lc: 2 }],
    ['JSON in a text', '{"text":"Hello","top_p":1}', { top_p: 1 }],
    ['a text that only begins as JSON', '{"text":"Hello"', '{"text":"Hello"'],
    ['settings whole, though names in them are shown', { tools: [{ name: 'ann' }] }, { tools: [{ name: 'ann' }] }],
    ['settings that are texts', { metadata: 'Hello' }, { metadata: 'Hello' }],
    ['settings that are empty', { tools: [], metadata: {}, text: 'Bye' }, { text: 'Bye' }],
    ['members that every object has', { constructor: 'x', toString: ['y'] }, { constructor: 'x', toString: ['y'] }],
  ])('%s', (_, value, left) => {
    expect(leftOver(value, said('Hello'))).toEqual(left)
  })

  it('is all of it where there are no messages', () => {
    const value = { a: 'x', b: [1, { c: 'y' }] }
    expect(leftOver(value, [])).toEqual(value)
    expect(leftOver('x', [{ role: 'user', name: null, parts: [] }])).toBe('x')
  })

  it('is an object that has only begun as one that is shown', () => {
    const shown = said({ is: 'json', text: written({ a: 1 }) })
    expect(leftOver({ x: { a: 2 } }, shown)).toEqual({ x: { a: 2 } })
    expect(leftOver({ x: { a: 1, b: 1 } }, shown)).toEqual({ x: { a: 1, b: 1 } })
    expect(leftOver({ x: { a: 1 } }, shown)).toBeUndefined()
  })

  it('leaves the value that was recorded as it was', () => {
    const value = { tools: [1], messages: [{ role: 'user', content: 'Hello' }], n: [1, null] }
    const before = structuredClone(value)
    leftOver(value, said('Hello'))
    expect(value).toEqual(before)
  })
})
