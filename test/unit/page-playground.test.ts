// The playground's engines: streams of completions put together, drafts as requests, recorded calls as drafts.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createEventReader, emptyAnswer, withChunk } from '../../services/web/page/engine/completion-stream.ts'
import {
  completionRequestOf,
  emptyColumn,
  emptyDraft,
  emptyMessage,
  messagesOf,
  messagesOfPrompt,
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
      ...{ text: 'Hello', reasoning: 'hm', refusal: '', finish: 'tool_calls', tokensIn: 3, tokensOut: 5, error: null },
      toolCalls: [
        { id: 'c1', name: 'find', arguments: '{"q":1}' },
        { id: 'c2', name: 'stop', arguments: '' },
      ],
    })
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
    const column = { ...emptyColumn('gpt-4o '), temperature: '0.5', maxTokens: '10' }
    const request = completionRequestOf({ ...draft, variables: { q: 'Why?' }, tools: '[]', schema: '{}' }, column)
    expect(request).toMatchObject({
      ...{ model: 'gpt-4o', temperature: 0.5, max_tokens: 10, tools: [], stream: true },
      template_vars: { tone: '', q: 'Why?' },
      messages: [
        { role: 'system', content: 'Be {tone}. {{no}}' },
        { role: 'user', content: '{q} {tone}' },
      ],
    })
    expect(request).not.toHaveProperty('track_llm_call')
    expect(completionRequestOf({ ...draft, keeps: false }, column)).toMatchObject({ track_llm_call: false })
  })

  it('says what is wrong with its JSON and numbers', () => {
    expect(() => completionRequestOf({ ...draft, tools: '[' }, emptyColumn('m'))).toThrow(
      'The list of tools is no JSON',
    )
    expect(() => completionRequestOf(draft, { ...emptyColumn('m'), temperature: 'warm' })).toThrow(
      'Temperature is no number',
    )
  })

  it('of a recorded call leaves the last answer out, and keeps calls of tools and their answers', () => {
    const recorded = [
      { role: 'user', name: null, parts: [{ is: 'text' as const, text: 'find it' }] },
      {
        ...{ role: 'assistant', name: null },
        parts: [{ is: 'call' as const, id: 'c1', name: 'find', arguments: '{}' }],
      },
      { role: 'tool', name: null, parts: [{ is: 'answer' as const, id: 'c1', name: 'find', text: 'found' }] },
      { role: 'assistant', name: null, parts: [{ is: 'text' as const, text: 'Here.' }] },
    ]
    const request = completionRequestOf({ ...emptyDraft(), messages: messagesOf(recorded) }, emptyColumn('m'))
    expect(request.messages).toEqual([
      { role: 'user', content: 'find it' },
      {
        ...{ role: 'assistant', content: null },
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'find', arguments: '{}' } }],
      },
      { role: 'tool', content: 'found', tool_call_id: 'c1' },
    ])
  })
})

describe('a prompt', () => {
  const shown = (value: unknown) => messagesOfPrompt(value)?.map(({ role, text }) => [role, text])

  it('becomes messages, whichever way it was published, and nothing else does', () => {
    const messages = [
      { role: 'system', content: 'Be {tone}.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Why' },
          { type: 'text', text: 'not?' },
        ],
      },
      { role: 'narrator', content: 7 },
      null,
    ]
    expect(shown({ messages })).toEqual([
      ['system', 'Be {tone}.'],
      ['user', 'Why\nnot?'],
      ['user', ''],
      ['user', ''],
    ])
    expect(shown({ content: 'Say {what}' })).toEqual([['user', 'Say {what}']])
    for (const value of [null, 'text', [], {}, { messages: {} }, { messages: [] }]) expect(shown(value)).toBeUndefined()
  })
})
