import { describe, expect, it } from 'vitest'
import { emptyAnswer } from '../../services/web/page/engine/completion-stream.ts'
import { emptyMessage, messagesOfPrompt, readPrompt } from '../../services/web/page/playground/draft.ts'
import {
  changedPrompt,
  keptMessages,
  newPrompt,
  promptIdOf,
  promptModel,
  promptTexts,
} from '../../services/web/page/playground/prompt-value.ts'
import { runRefusalOf } from '../../services/web/page/playground/refusal.ts'
import { costOf, figuresOf, rowTotals } from '../../services/web/page/playground/row-figures.ts'

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
      ['user', '7'],
      ['user', ''],
    ])
    // An answer of a tool that stands in it, and what is no message.
    const more = [{ role: 'tool', content: 'found', tool_call_id: 'c1' }, { weight: 1 }]
    expect(messagesOfPrompt({ messages: more })).toMatchObject([
      { role: 'tool', text: 'found', toolCallId: 'c1' },
      { role: 'user', text: '{\n  "weight": 1\n}' },
    ])
    expect(shown({ content: 'Say {what}' })).toEqual([['user', 'Say {what}']])
    for (const value of [null, 'text', [], {}, { messages: {} }, { messages: [] }]) expect(shown(value)).toBeUndefined()
  })
})

describe('a version of a prompt', () => {
  const none = { description: '', model: '' }
  const stored =
    '{"_type":"MessagesPrompt","_class_name":"MessagesPrompt","name":"Kind","description":null,"weight":1.0,' +
    '"messages":[{"role":"system","content":"Be {tone}.","name":"ops","weight":2.0},{"role":"user","content":"Why?"}]}'
  const drafts = readPrompt(JSON.parse(stored))?.map((one) => one.drafts) ?? []
  const kept = keptMessages(stored, drafts)
  const messages = drafts.flat()

  it('changes its messages and description alone: all else stays as it is spelled', () => {
    expect(changedPrompt(stored, none, messages, kept)).toBe(stored)
    const [first, second] = messages as [(typeof messages)[0], (typeof messages)[0]]
    const changed = changedPrompt(
      stored,
      { ...none, description: ' Shorter ' },
      [first, { ...second, text: 'Why not?' }],
      kept,
    )
    expect(changed).toBe(
      stored.replace('"description":null', '"description":"Shorter"').replace('"Why?"', '"Why not?"'),
    )
    const answered = { ...emptyMessage('assistant'), toolCalls: [{ id: 'c1' }] }
    const image = { ...emptyMessage('user'), images: ['data:image/png;base64,AAAA'] }
    const more = JSON.parse(changedPrompt(stored, none, [answered, image, emptyMessage()], kept)) as {
      messages: unknown[]
    }
    // Nothing is left out but what says nothing.
    expect(more.messages).toEqual([
      { role: 'assistant', content: null, tool_calls: [{ id: 'c1' }] },
      { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }] },
    ])
  })

  it('carries a model, or is for any', () => {
    const model = 'openai/gpt-4o'
    const named = changedPrompt(stored, { ...none, model: ` ${model} ` }, messages, kept)
    expect(promptTexts(JSON.parse(named))).toEqual({ description: '', model })
    expect(promptModel(promptTexts(JSON.parse(named)).model)).toBe(model)
    const freed = JSON.parse(changedPrompt(named, none, messages, kept))
    expect(freed).toEqual({ ...JSON.parse(stored), model: null })
    expect(promptTexts(JSON.parse(newPrompt('s', { ...none, model }, messages, kept))).model).toBe(model)
    for (const value of [null, {}, freed, { model: 4 }]) expect(promptTexts(value).model).toBe('')
    for (const value of [undefined, null, '', 4]) expect(promptModel(value)).toBe('any model')
  })

  it('of one text stays one while it is one', () => {
    const text = '{"_type":"StringPrompt","name":"s","content":"Say {what}","temperature":1.0}'
    const unkept = keptMessages(text, [])
    expect(changedPrompt(text, none, [emptyMessage('system'), emptyMessage('user', 'Tell {what}')], unkept)).toBe(
      text.replace('Say', 'Tell'),
    )
    const two = JSON.parse(
      changedPrompt(text, none, [emptyMessage('system', 'Be kind'), emptyMessage('user', 'a')], unkept),
    )
    expect(two).toEqual(
      JSON.parse(newPrompt('s', none, [emptyMessage('system', 'Be kind'), emptyMessage('user', 'a')], unkept)),
    )
    expect(two).toMatchObject({ _type: 'MessagesPrompt', name: 's', description: null })
  })

  it('gets an id from its name', () => {
    expect(promptIdOf(' Support: refunds ')).toBe('Support-refunds')
    expect(promptIdOf('team_1.v2')).toBe('team_1.v2')
  })
})

describe('what a model took', () => {
  const priced = (prompt: number | null, completion: number | null) =>
    ({
      prompt_tokens_total_cost: prompt,
      completion_tokens_total_cost: completion,
      cache_read_input_tokens_total_cost: null,
      cache_creation_input_tokens_total_cost: null,
    }) as never
  const run = (callId: string, totalMs: number, fault: string | null = null) => ({
    answer: { ...emptyAnswer(), tokensIn: 900, tokensOut: 200 },
    isRunning: false,
    fault,
    secret: null,
    callId,
    firstMs: 1,
    totalMs,
  })

  it('is said of each answer and of all that did not fail, with the costs that are known', () => {
    const costs = new Map([['a', 0.01]])
    expect(costOf([priced(0.5, 0.25), priced(null, 1)])).toBe(1.75)
    expect(costOf([priced(null, null)])).toBeUndefined()
    expect(figuresOf(run('a', 1_500), costs)).toBe('1.50 s · 900 → 200 tokens · $0.0100')
    expect(figuresOf(run('b', 1_500), costs)).toBe('1.50 s · 900 → 200 tokens')
    expect(rowTotals([run('a', 1_000), run('b', 3_000), run('c', 9, 'no')], costs)).toBe(
      'average 2.00 s · 1,800 → 400 tokens · $0.0100 · 1 failed',
    )
    expect(rowTotals([], costs)).toBe('')
  })

  it('is what a refusal says, and which key the server lacks', () => {
    const error = { message: 'Missing secret: OPENAI_API_KEY', code: 'missing_secret' }
    const secret = 'OPENAI_API_KEY'
    expect(runRefusalOf(JSON.stringify({ error, api_key: secret }))).toEqual({ message: error.message, secret })
    expect(runRefusalOf(JSON.stringify({ error: { message: 'no' }, api_key: secret }))).toEqual({
      message: 'no',
      secret: null,
    })
    expect(runRefusalOf('{"detail":[{"msg":"bad"}]}').message).toBe('bad')
    for (const text of ['plain', 'null', '7']) expect(runRefusalOf(text)).toEqual({ message: text, secret: null })
  })
})
