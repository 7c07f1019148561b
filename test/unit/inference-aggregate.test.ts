// The chunks of streams, in every way that providers write them, as the answer that is not streamed.
import { describe, expect, it } from 'vitest'
import { createAggregate } from '../../services/inference/aggregate.ts'

// biome-ignore lint/suspicious/noExplicitAny: an answer is read at many depths
type Json = any

function answerOf(chunks: readonly unknown[], model: string | undefined = 'm'): Json {
  const aggregate = createAggregate(1_000_000)
  for (const chunk of chunks) {
    const text = JSON.stringify(chunk)
    aggregate.add(JSON.parse(text), text.length)
  }
  const usage = aggregate.usage()
  const result = aggregate.result(model)
  return { result, usage, choice: (result as Json)?.choices?.[0], message: (result as Json)?.choices?.[0]?.message }
}

const of = (delta: object, more: object = {}) => ({ choices: [{ index: 0, delta, finish_reason: null, ...more }] })
const last = (reason = 'stop') => of({}, { finish_reason: reason })
const messageOf = (deltas: readonly object[]): Json => answerOf([...deltas.map((delta) => of(delta)), last()]).message

type Piece = { index?: number; id?: string | number | null; type?: string | null; name?: string; args?: unknown }
const piece = ({ name, args, ...more }: Piece) => ({
  ...more,
  function: { ...(name === undefined ? {} : { name }), ...(args === undefined ? {} : { arguments: args }) },
})
const toolsOf = (deltas: readonly Piece[][]): unknown[] =>
  (messageOf(deltas.map((list) => ({ tool_calls: list.map(piece) }))).tool_calls ?? []).map(
    ({ id, function: { name, arguments: args } }: Json) => [id, name, args],
  )

describe('tool calls', () => {
  const one = ['a', 'add', '{"x":1}']
  const two = ['b', 'mul', '{"y":{"z":"}"}}']
  const add = { id: 'a', name: 'add', args: one[2] }
  const mul = { id: 'b', name: 'mul', args: two[2] }
  const without = <Key extends keyof Piece>(given: Piece, ...names: Key[]): Piece =>
    Object.fromEntries(Object.entries(given).filter(([name]) => !names.includes(name as Key)))

  it.each<[string, Piece[][], unknown[]]>([
    ['with one index for all', [[{ index: 0, ...add }], [{ index: 0, ...mul }]], [one, two]],
    ['with no index', [[add], [mul]], [one, two]],
    ['all in one chunk', [[add, mul]], [one, two]],
    [
      'in pieces, with one index',
      [
        [{ index: 0, id: 'a', name: 'add', args: '{"x"' }],
        [{ index: 0, args: ':1}' }],
        [{ index: 0, id: 'b', name: 'mul', args: '' }],
        [{ index: 0, args: '{"y":{"z":"}"' }],
        [{ index: 0, args: '}}' }],
      ],
      [one, two],
    ],
    ['in pieces, with no index', [[{ ...add, args: '{"x"' }], [{ args: ':1}' }], [mul]], [one, two]],
    [
      'in pieces of both, by place',
      [
        [
          { ...add, args: '{"x"' },
          { ...mul, args: '{"y":{"z"' },
        ],
        [{ args: ':1}' }, { args: ':"}"}}' }],
      ],
      [one, two],
    ],
    [
      'in pieces of both, by id',
      [
        [{ index: 0, ...add, args: '{"x"' }],
        [{ index: 0, ...mul, args: '{"y":{"z"' }],
        [{ index: 0, id: 'a', args: ':1}' }],
        [{ index: 0, id: 'b', args: ':"}"}}' }],
      ],
      [one, two],
    ],
    [
      'with an id in every piece',
      [[{ index: 0, ...add, args: '{"x"' }], [{ index: 0, ...add, args: ':1}' }], [{ index: 1, ...mul }]],
      [one, two],
    ],
    [
      'with another id in every piece',
      [[{ index: 0, ...add, args: '{"x"' }], [{ index: 0, id: 'c', args: ':1' }], [{ index: 0, id: 'd', args: '}' }]],
      [one],
    ],
    [
      'with empty ids',
      [[{ index: 0, ...add, id: '' }], [{ index: 0, ...mul, id: '' }]],
      [
        ['', ...one.slice(1)],
        ['', ...two.slice(1)],
      ],
    ],
    [
      'with no ids',
      [[{ index: 0, ...without(add, 'id') }], [{ index: 0, ...without(mul, 'id') }]],
      [
        [undefined, ...one.slice(1)],
        [undefined, ...two.slice(1)],
      ],
    ],
    [
      'of one function, with no ids',
      [[{ ...without(add, 'id') }], [{ name: 'add', args: '{"x":2}' }]],
      [
        [undefined, 'add', '{"x":1}'],
        [undefined, 'add', '{"x":2}'],
      ],
    ],
    [
      'of one function, with ids',
      [[{ index: 0, ...add }], [{ index: 0, ...add, id: 'b' }]],
      [one, ['b', 'add', '{"x":1}']],
    ],
    [
      'with its name in every piece',
      [[{ index: 0, ...add, args: '{"x"' }], [{ index: 0, name: 'add', args: ':1}' }]],
      [one],
    ],
    [
      'with one id for all',
      [[{ index: 0, ...add }], [{ index: 0, ...mul, id: 'a' }], [{ index: 1, name: 'neg', id: 'a', args: '{}' }]],
      [one, ['a', 'mul', two[2]], ['a', 'neg', '{}']],
    ],
    ['that come twice', [[{ index: 0, ...add }], [{ index: 0, ...add }]], [one]],
    [
      'with arguments as objects',
      [[{ index: 0, ...add, args: { x: 1 } }], [{ ...mul, args: { y: { z: '}' } } }]],
      [one, two],
    ],
    [
      'with arguments that are null',
      [[{ index: 0, id: 'a', type: null, name: 'add', args: null }], [{ index: 0, args: '{}' }]],
      [['a', 'add', '{}']],
    ],
    [
      'with numbers as ids',
      [[{ ...add, id: 1 }], [{ ...mul, id: 2 }]],
      [
        ['1', ...one.slice(1)],
        ['2', ...two.slice(1)],
      ],
    ],
    ['whose indexes come in another order', [[{ index: 1, ...mul }], [{ index: 0, ...add }]], [one, two]],
    ['that are never named', [[{ index: 0, args: '{}' }], [{ index: 1, ...add }]], [one]],
  ])('%s', (_, deltas, expected) => {
    expect(toolsOf(deltas)).toEqual(expected)
  })

  it('keep what else is said of them', () => {
    const signed = { ...piece({ index: 0, ...add }), extra_content: { google: { thought_signature: 's' } } }
    const own = { index: 1, id: 'c', type: 'custom', custom: { name: 'shell', input: 'ls' } }
    const rest = { index: 1, custom: { input: ' -l' } }
    expect(messageOf([{ tool_calls: [signed] }, { tool_calls: [own] }, { tool_calls: [rest] }])).toEqual({
      role: 'assistant',
      content: null,
      tool_calls: [
        {
          id: 'a',
          type: 'function',
          function: { name: 'add', arguments: '{"x":1}' },
          extra_content: { google: { thought_signature: 's' } },
        },
        { id: 'c', type: 'custom', custom: { name: 'shell', input: 'ls -l' } },
      ],
    })
  })

  it('with arguments that are nested too deep to be written have none', () => {
    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
    const aggregate = createAggregate(1_000_000)
    const call = `{"id":"a","function":{"name":"f","arguments":${deep}}}`
    aggregate.add(JSON.parse(`{"choices":[{"delta":{"tool_calls":[${call}]}}]}`), 1)
    expect(aggregate.result('m')).toMatchObject({
      choices: [{ message: { tool_calls: [{ id: 'a', function: { name: 'f', arguments: '' } }] } }],
    })
  })

  it('of the older form', () => {
    expect(
      messageOf([{ function_call: { name: 'add', arguments: '{"x"' } }, { function_call: { arguments: ':1}' } }]),
    ).toEqual({ role: 'assistant', content: null, function_call: { name: 'add', arguments: '{"x":1}' } })
  })
})

describe('a message', () => {
  const thinking = (text: string) => ({ type: 'thinking', thinking: [{ type: 'text', text }] })
  const detail = (text: string, more: object = {}) => ({ type: 'reasoning.text', text, index: 0, ...more })
  const cited = (url: string) => ({ type: 'url_citation', url_citation: { url } })
  const image = (url: string) => ({ type: 'image_url', image_url: { url }, index: 0 })

  it.each<[string, object[], object]>([
    [
      'with content as a list',
      [
        { content: '' },
        { content: [thinking('Let me ')] },
        { content: [thinking('think')] },
        { content: 'So ' },
        { content: '42' },
      ],
      { content: [thinking('Let me think'), { type: 'text', text: 'So 42' }] },
    ],
    [
      'with content as a list of texts',
      [{ content: 'So' }, { content: [{ type: 'text', text: ' 4' }] }, { content: [{ type: 'text', text: '2' }] }],
      { content: [{ type: 'text', text: 'So 42' }] },
    ],
    [
      'with references between its texts',
      [{ content: 'a' }, { content: [{ type: 'reference', reference_ids: [1] }] }, { content: 'b' }],
      {
        content: [
          { type: 'text', text: 'a' },
          { type: 'reference', reference_ids: [1] },
          { type: 'text', text: 'b' },
        ],
      },
    ],
    [
      'with details of its reasoning',
      [
        { reasoning: 'thi', reasoning_details: [detail('thi', { format: 'f', signature: null })] },
        { reasoning: 'nk', reasoning_details: [detail('nk')] },
        { reasoning_details: [detail('', { signature: 's' })] },
        { reasoning_details: [{ type: 'reasoning.encrypted', data: 'AA', index: 1 }] },
        { reasoning_details: [{ type: 'reasoning.summary', summary: 'x', index: 2 }] },
        { content: 'ok' },
      ],
      {
        content: 'ok',
        reasoning: 'think',
        reasoning_details: [
          detail('think', { format: 'f', signature: 's' }),
          { type: 'reasoning.encrypted', data: 'AA', index: 1 },
          { type: 'reasoning.summary', summary: 'x', index: 2 },
        ],
      },
    ],
    [
      'with blocks of thinking',
      [
        { thinking_blocks: [{ type: 'thinking', thinking: 'a', signature: '' }] },
        { thinking_blocks: [{ type: 'thinking', thinking: 'b', signature: 's' }] },
      ],
      { content: '', thinking_blocks: [{ type: 'thinking', thinking: 'ab', signature: 's' }] },
    ],
    [
      'with annotations and images',
      [
        { content: 'x', annotations: [cited('u')] },
        { annotations: [cited('v')], images: [image('1')] },
        { images: [image('2')] },
      ],
      { content: 'x', annotations: [cited('u'), cited('v')], images: [image('1'), image('2')] },
    ],
    [
      'that is heard',
      [
        { audio: { id: 'a', transcript: 'Hel' } },
        { audio: { id: 'a', transcript: 'lo', data: 'AAAA' } },
        { audio: { data: 'BBBB', expires_at: 5 } },
      ],
      { content: null, audio: { id: 'a', transcript: 'Hello', data: 'AAAABBBB', expires_at: 5 } },
    ],
    ['that refuses', [{ refusal: 'I ca' }, { refusal: 'nnot' }], { content: '', refusal: 'I cannot' }],
    [
      'with members of a kind of its own',
      [
        { reasoning_text: 'a', own: { n: 1 } },
        { reasoning_text: 'b', own: { n: 2 } },
      ],
      { content: '', reasoning_text: 'ab', own: { n: 2 } },
    ],
  ])('%s', (_, deltas, expected) => {
    expect(messageOf(deltas)).toEqual({ role: 'assistant', ...expected })
  })

  it('that comes whole, and again in the last chunk', () => {
    const whole = { role: 'assistant', content: 'Hello' }
    expect(answerOf([{ choices: [{ index: 0, message: whole }] }]).message).toEqual(whole)
    const both = { choices: [{ index: 0, delta: { content: 'Hello' }, message: whole }] }
    expect(answerOf([both, last()]).message).toEqual(whole)
  })
})

describe('beside the message', () => {
  const token = (text: string) => ({ token: text, logprob: -0.1, bytes: [1], top_logprobs: [] })

  it('choices tell of probabilities, filters and reasons of the end', () => {
    const { choice } = answerOf([
      of(
        { content: 'a' },
        { logprobs: { content: [token('a')], refusal: null }, content_filter_results: { hate: { severity: 'safe' } } },
      ),
      of(
        { content: 'b' },
        { logprobs: { content: [token('b')] }, content_filter_results: { hate: { severity: 'safe' } }, token_ids: [1] },
      ),
      of({}, { finish_reason: 'stop', native_finish_reason: 'end_turn', logprobs: null, token_ids: [2] }),
    ])
    expect(choice).toEqual({
      index: 0,
      message: { role: 'assistant', content: 'ab' },
      logprobs: { content: [token('a'), token('b')], refusal: null },
      content_filter_results: { hate: { severity: 'safe' } },
      token_ids: [1, 2],
      native_finish_reason: 'end_turn',
      finish_reason: 'stop',
    })
  })

  it('chunks tell of citations, providers and filters', () => {
    const filters = [{ prompt_index: 0 }]
    const { result } = answerOf([
      { id: '', model: '', object: '', created: 0, choices: [], prompt_filter_results: filters },
      { id: 'c', created: 5, ...of({ content: 'x' }), citations: ['u'], provider: 'p', obfuscation: 'zz' },
      { id: 'd', ...last(), citations: ['u', 'v'], search_results: [{ url: 'u' }] },
    ])
    expect(result).toMatchObject({ id: 'c', provider: 'p', citations: ['u', 'v'], search_results: [{ url: 'u' }] })
    expect(result).toMatchObject({ prompt_filter_results: filters, object: 'chat.completion', model: 'm' })
    expect(result).not.toHaveProperty('obfuscation')
  })
})

describe('usage', () => {
  const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }
  it.each<[string, object]>([
    ['of its own', { choices: [], usage }],
    ['in a choice', { choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage }] }],
    ['in a delta', { choices: [{ index: 0, delta: { usage }, finish_reason: 'stop' }] }],
    ['in a member of a vendor', { ...last(), x_groq: { id: 'r', usage }, usage: null }],
    ['behind an empty one', { ...last(), x_vendor: { usage }, usage: {} }],
    ['of the response of an event', { type: 'response.completed', response: { usage } }],
  ])('%s', (_, chunk) => {
    expect(answerOf([of({ content: 'x' }), chunk, { choices: [], usage: null }]).usage).toEqual(usage)
  })
})

it('a completion of plain text', () => {
  const chunk = (text: string, more: object = {}) => ({
    id: 'c',
    object: 'text_completion',
    choices: [{ index: 0, text, finish_reason: null, logprobs: { tokens: [text] }, ...more }],
  })
  expect(answerOf([chunk('a'), chunk('b'), chunk('', { finish_reason: 'stop', logprobs: null })]).result).toEqual({
    id: 'c',
    object: 'text_completion',
    model: 'm',
    choices: [{ index: 0, text: 'ab', logprobs: { tokens: ['a', 'b'] }, finish_reason: 'stop' }],
  })
})

it('texts beyond the bound are left out, and the end is told', () => {
  const aggregate = createAggregate(100)
  for (const chunk of [of({ content: 'kept' }), of({ content: 'x'.repeat(200) }), { ...last(), x_own: 1 }])
    aggregate.add(chunk, JSON.stringify(chunk).length)
  expect(aggregate.result('m')).toMatchObject({ choices: [{ message: { content: 'kept' }, finish_reason: 'stop' }] })
})
