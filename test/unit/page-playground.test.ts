// The playground's engines: streams of completions put together, drafts as requests, recorded calls as drafts.
// again: property
import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { codeOf } from '../../services/web/page/engine/code-of.ts'
import { createEventReader, emptyAnswer, withChunk } from '../../services/web/page/engine/completion-stream.ts'
import { conversationOf } from '../../services/web/page/engine/conversation.ts'
import { schemaFaults } from '../../services/web/page/engine/json-schema.ts'
import {
  asTheyStand,
  columnOf,
  completionRequestOf,
  draftOf,
  emptyColumn,
  emptyDraft,
  emptyMessage,
  emptyVariables,
  formatOfRequest,
  messagesOf,
  promptOf,
  variablesOf,
} from '../../services/web/page/playground/draft.ts'
import { runs } from '../fixtures/runs.ts'

const delta = (part: object, more: object = {}) => ({ choices: [{ index: 0, delta: part, ...more }] })

describe('a stream', () => {
  it('becomes one answer: text, reasoning, tool calls in pieces, why it ended, usage', () => {
    const chunks = [
      delta({ role: 'assistant', content: '' }),
      delta({ reasoning_content: 'hm' }),
      delta({ content: 'Hel' }),
      delta({ content: 'lo' }),
      delta({ tool_calls: [{ index: 0, id: 'c1', function: { name: 'find', arguments: '{"q"' } }] }),
      delta({ tool_calls: [{ index: 0, function: { arguments: ':1}' } }] }),
      delta({ tool_calls: [{ index: 1, id: 'c2', function: { name: 'stop', arguments: '' } }] }),
      delta({}, { finish_reason: 'tool_calls' }),
      { choices: [], usage: { prompt_tokens: 3, completion_tokens: 5 } },
    ]
    expect(chunks.reduce(withChunk, emptyAnswer())).toEqual({
      text: 'Hello',
      reasoning: 'hm',
      refusal: '',
      finish: 'tool_calls',
      tokensIn: 3,
      tokensOut: 5,
      error: null,
      tokens: [],
      citations: [],
      toolCalls: [
        { id: 'c1', name: 'find', arguments: '{"q":1}' },
        { id: 'c2', name: 'stop', arguments: '' },
      ],
    })
  })

  it('says how likely its parts were and what it rests on, each address once', () => {
    const content = [{ token: 'Hel', logprob: -0.1, top_logprobs: [] }, { token: 7 }, null]
    const annotation = (url: string, title: string) => ({ type: 'url_citation', url_citation: { url, title } })
    const { tokens, citations } = [
      delta({ content: 'Hel' }, { logprobs: { content } }),
      delta({ content: 'lo' }, { logprobs: { content: [{ token: 'lo', logprob: -2 }] } }),
      {
        ...delta({ content: '!' }),
        citations: ['https://a.example/', 7],
        search_results: [{ url: 'https://b.example/' }],
      },
      delta({ annotations: [annotation('https://a.example/', 'A'), { type: 'file' }] }, { logprobs: null }),
    ].reduce(withChunk, emptyAnswer())
    expect(tokens).toEqual([
      { text: 'Hel', logprob: -0.1 },
      { text: 'lo', logprob: -2 },
    ])
    expect(citations).toEqual([
      { address: 'https://b.example/', title: '' },
      { address: 'https://a.example/', title: 'A' },
    ])
    const many = { citations: Array.from({ length: 500 }, (_, n) => `https://${n}.example/`) }
    expect(withChunk(emptyAnswer(), many).citations).toHaveLength(100)
  })

  it('says what the provider said when it failed in the middle', () => {
    expect(withChunk(emptyAnswer(), { error: { message: 'overloaded' } }).error).toBe('overloaded')
  })

  it('takes whatever a provider sends', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), (chunks) => {
        const { toolCalls } = chunks.reduce<ReturnType<typeof emptyAnswer>>(withChunk, emptyAnswer())
        expect(toolCalls.length).toBeLessThan(200)
      }),
      { numRuns: runs(100, 5_000) },
    )
    const far = [1e9, -1, 0.5, 7].map((index) => delta({ tool_calls: [{ index, id: 'x', function: { name: 'y' } }] }))
    expect(far.reduce(withChunk, emptyAnswer()).toolCalls).toEqual([])
  })

  it('is cut into its events, wherever its bytes are parted', () => {
    const text = 'data: {"a":1}\r\n\r\n: note\nevent: x\ndata:{"b":2}\n\ndata: [DONE]\n\n'
    fc.assert(
      fc.property(fc.array(fc.nat({ max: text.length }), { maxLength: 8 }), (cuts) => {
        const read = createEventReader()
        const at = [0, ...cuts.sort((a, b) => a - b), text.length]
        const found = at.slice(1).flatMap((to, n) => read(text.slice(at[n], to)))
        expect(found).toEqual(['{"a":1}', '{"b":2}', '[DONE]'])
      }),
      { numRuns: runs(100, 5_000) },
    )
  })
})

describe('a draft', () => {
  const draft = {
    ...emptyDraft(),
    messages: [emptyMessage('system', 'Be {tone}. {{no}}'), emptyMessage('user', '{q} {tone}')],
  }

  it('finds its variables and sends their values beside the messages', () => {
    expect(variablesOf(draft.messages)).toEqual(['tone', 'q'])
    expect(emptyVariables({ ...draft, variables: { q: 'Why?' } })).toEqual(['tone'])
    const column = { ...emptyColumn('gpt-4o '), temperature: '0.5', maxTokens: '10', topP: '1', stop: 'END\n\n##' }
    const format = 'json_schema' as const
    const asked = { ...draft, variables: { q: 'Why?' }, tools: '[]', schema: '{"type":"object"}', format }
    const request = completionRequestOf(asked, column)
    expect(request).toMatchObject({
      model: 'gpt-4o',
      temperature: 0.5,
      max_tokens: 10,
      top_p: 1,
      stop: ['END', '##'],
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: { type: 'object' } } },
      tools: [],
      stream: true,
      template_vars: { tone: '', q: 'Why?' },
      messages: [
        { role: 'system', content: 'Be {tone}. {{no}}' },
        { role: 'user', content: '{q} {tone}' },
      ],
    })
    expect(request).not.toHaveProperty('track_llm_call')
    // A schema that is kept for later is not sent.
    expect(completionRequestOf({ ...asked, format: 'text' }, column)).not.toHaveProperty('response_format')
    expect(completionRequestOf({ ...asked, format: 'json_object' }, column).response_format).toEqual({
      type: 'json_object',
    })
    expect(completionRequestOf({ ...draft, keeps: false }, column)).toMatchObject({ track_llm_call: false })
  })

  it('says what is wrong with its JSON and numbers', () => {
    expect(() => completionRequestOf({ ...draft, tools: '[' }, emptyColumn('m'))).toThrow('Tools must be JSON')
    expect(() => completionRequestOf(draft, { ...emptyColumn('m'), temperature: 'warm' })).toThrow(
      'Temperature must be a number',
    )
  })

  it('takes the parameters of a recorded request, and is kept with them and with its prompt', () => {
    const inputs = { temperature: 0, max_completion_tokens: 5, top_p: 0.9, stop: 'END', tools: 'x' }
    const column = columnOf('m', inputs)
    expect(column).toMatchObject({ model: 'm', temperature: '0', maxTokens: '5', topP: '0.9', stop: 'END' })
    expect(columnOf('m', { stop: ['a', 7, 'b'], temperature: 'warm' })).toMatchObject({ stop: 'a\nb', temperature: '' })
    const schema = { type: 'object' }
    const format = formatOfRequest({ response_format: { type: 'json_schema', json_schema: { name: 'n', schema } } })
    expect({ ...format, schema: JSON.parse(format.schema) }).toEqual({ format: 'json_schema', schema })
    for (const none of [{}, { response_format: 7 }, { response_format: { type: 'toString' } }])
      expect(formatOfRequest(none)).toEqual({ format: 'text', schema: '' })
    const kept = { ...draft, ...format, columns: [column], prompt: 'team/kind/abc' }
    const read = draftOf(JSON.parse(JSON.stringify(kept)))
    expect(read).toMatchObject({ ...format, prompt: 'team/kind/abc', columns: [{ topP: '0.9', stop: 'END' }] })
    expect(promptOf(read?.prompt)).toEqual({ objectId: 'team/kind', digest: 'abc' })
    // A draft from before there were formats.
    expect(draftOf({ ...kept, format: undefined, prompt: 7 })).toMatchObject({ format: 'json_schema' })
    expect(draftOf({ ...kept, prompt: '/' })?.prompt).toBeUndefined()
  })

  it('of a recorded call leaves the last answer out, and keeps calls of tools and their answers', () => {
    const recorded = [
      { role: 'user', name: null, parts: [{ is: 'text' as const, text: 'find it' }] },
      { role: 'assistant', name: null, parts: [{ is: 'call' as const, id: 'c1', name: 'find', arguments: '{}' }] },
      { role: 'tool', name: null, parts: [{ is: 'answer' as const, id: 'c1', name: 'find', text: 'found' }] },
      { role: 'assistant', name: null, parts: [{ is: 'text' as const, text: 'Here.' }] },
    ]
    const request = completionRequestOf({ ...emptyDraft(), messages: messagesOf(recorded) }, emptyColumn('m'))
    expect(request.messages).toEqual([
      { role: 'user', content: 'find it' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'find', arguments: '{}' } }],
      },
      { role: 'tool', content: 'found', tool_call_id: 'c1' },
    ])
  })

  it('sends each result of a tool as a message of its own, whatever its provider calls it', () => {
    const blocks = (ids: string[], of: (id: string) => object) => ids.map(of)
    const inputs = {
      messages: [
        { role: 'user', content: 'find both' },
        {
          role: 'assistant',
          content: blocks(['c1', 'c2'], (id) => ({ type: 'tool_use', id, name: 'find', input: {} })),
        },
        {
          role: 'user',
          content: [
            ...blocks(['c1', 'c2'], (tool_use_id) => ({ type: 'tool_result', tool_use_id, content: 'found' })),
            { type: 'text', text: 'Go on' },
          ],
        },
      ],
    }
    const messages = messagesOf(conversationOf(inputs, null) ?? [])
    expect(messages.map(({ role, text, toolCallId }) => [role, text, toolCallId])).toEqual([
      ['user', 'find both', ''],
      ['assistant', '', ''],
      ['tool', 'found', 'c1'],
      ['tool', 'found', 'c2'],
      ['user', 'Go on', ''],
    ])
    const [, called] = messages
    expect(called?.toolCalls).toHaveLength(2)
  })
})

describe('a request as code', () => {
  const draft = { ...emptyDraft(), messages: [emptyMessage('user', `it's "$HOME" {who}`)] }
  const body = completionRequestOf(draft, { ...emptyColumn('m'), temperature: '0.5' })
  const asked = { base: 'http://server/obs/', projectId: 'acme/demo', body }

  it('is a line that a shell takes as it was sent', () => {
    const script = `KEY=secret; curl() { printf '%s\\0' "$@"; }; ${codeOf('curl', asked)}`
    const given = execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\0')
    expect(given[3]).toBe('http://server/obs/inference/v1/chat/completions')
    expect(JSON.parse(given[given.indexOf('-d') + 1] ?? '')).toEqual(
      Object.fromEntries(Object.entries(body).filter(([name]) => !name.startsWith('stream'))),
    )
    expect(given).toContain('OpenAI-Project: acme/demo')
  })

  it('is a program of Python, with its words, and one of Node', () => {
    const keeping = { ...body, track_llm_call: false, tools: [null, true] }
    const python = codeOf('python', { ...asked, body: keeping })
    expect(python).toContain(
      'base_url="http://server/obs/inference/v1", api_key=os.environ["KEY"], project="acme/demo"',
    )
    expect(python).toContain('    tools=[None, True],')
    expect(python).toContain('    extra_body={"template_vars": {"who": ""}, "track_llm_call": False},')
    expect(codeOf('node', asked)).toContain('"content": "it\'s \\"$HOME\\" {who}"')
  })
})

it('images of a message are parts of it, and kept with the draft', () => {
  const url = 'data:image/png;base64,AAAA'
  const message = { ...emptyMessage('user', 'What is it?'), images: [url] }
  const { messages } = completionRequestOf({ ...emptyDraft(), messages: [message] }, emptyColumn('m'))
  expect(messages).toEqual([
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is it?' },
        { type: 'image_url', image_url: { url } },
      ],
    },
  ])
  const kept = {
    ...emptyDraft(),
    messages: [{ ...message, images: [url, 'data:image/svg+xml;base64,AA', 'https://x/y.png', 'javascript:a()'] }],
  }
  // An image at another address is sent to the provider and not loaded.
  expect(draftOf(JSON.parse(JSON.stringify(kept)))?.messages[0]?.images).toEqual([url, 'https://x/y.png'])
})

describe('the schema of an answer', () => {
  const schema = {
    type: 'object',
    required: ['name', 'tags'],
    additionalProperties: false,
    properties: {
      name: { type: 'string', minLength: 2 },
      tags: { type: 'array', items: { enum: ['a', 'b'] }, maxItems: 2 },
      age: { type: ['integer', 'null'], minimum: 0 },
      next: { $ref: '#' },
      kind: { anyOf: [{ const: 1 }, { type: 'number', exclusiveMinimum: 5 }] },
    },
  }
  it.each([
    [{ name: 'Ann', tags: ['a'], age: null, kind: 1 }, []],
    [{ name: 'Ann', tags: [], next: { name: 'Bob', tags: ['b'] } }, []],
    [3, ['it is integer, not object']],
    [
      { name: 'A', tags: ['a', 'c', 'b'] },
      ['name has fewer than 2 characters', 'tags has more than 2 elements', 'tags[1] is not one of the allowed values'],
    ],
    [{ name: 'Ann' }, ['it is missing tags']],
    [{ name: 'Ann', tags: [], age: -1, more: 1 }, ['age is less than 0', 'more is not allowed']],
    [{ name: 'Ann', tags: [], age: 1.5 }, ['age is number, not integer or null']],
    [{ name: 'Ann', tags: [], next: { name: 'B' } }, ['next is missing tags', 'next.name has fewer than 2 characters']],
    [{ name: 'Ann', tags: [], kind: 4 }, ['kind matches none of the alternatives']],
  ])('%j', (answer, faults) => {
    expect(schemaFaults(answer, schema).map(({ path, reason }) => `${path || 'it'} ${reason}`)).toEqual(faults)
  })

  it('of any form never throws, and tells a bounded number of faults', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (answer, any) => {
        expect(schemaFaults(answer, any).length).toBeLessThanOrEqual(20)
      }),
      { numRuns: runs(200, 5_000) },
    )
    expect(
      schemaFaults(
        Array.from({ length: 100 }, () => 'x'),
        { items: { type: 'number' } },
      ),
    ).toHaveLength(20)
    expect(schemaFaults({}, { $ref: '#' })).toEqual([])
  })
})

it('PDFs of a message are sent as files and kept with the draft, whatever else was kept is not', () => {
  const data = 'data:application/pdf;base64,JVBERi0='
  const message = { ...emptyMessage('user', 'Read it'), documents: [{ name: 'a.pdf', data }] }
  const draft = { ...emptyDraft(), messages: [message], likely: true }
  expect(completionRequestOf(draft, emptyColumn('m'))).toMatchObject({
    logprobs: true,
    messages: [
      {
        content: [
          { type: 'text', text: 'Read it' },
          { type: 'file', file: { filename: 'a.pdf', file_data: data } },
        ],
      },
    ],
  })
  const kept = JSON.parse(JSON.stringify(draft)) as { messages: { documents: unknown[] }[] }
  expect(draftOf(kept)).toMatchObject({ likely: true, messages: [{ documents: [{ name: 'a.pdf', data }] }] })
  kept.messages[0]?.documents.splice(0, 1, { name: 'x', data: 'data:text/html;base64,PGI+' }, null, 'x')
  expect(draftOf(kept)?.messages[0]?.documents).toBeUndefined()
})

it('what was recorded is sent again as it stands, also where it has braces', () => {
  const messages = [emptyMessage('user', 'Fill {city}, and keep {{x}} and {"a": {b}}')]
  const variables = asTheyStand(messages)
  expect({ ...variables }).toEqual({ city: '{city}' })
  const draft = { ...emptyDraft(), messages, variables, columns: [emptyColumn('m')] }
  expect(emptyVariables(draft)).toEqual([])
  expect(completionRequestOf(draft, emptyColumn('m')).template_vars).toEqual({ city: '{city}' })
})
