// Messages of model calls, in the forms of SDKs and instrumentations; what is none stays JSON.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { conversationOf } from '../../services/web/page/engine/conversation.ts'
import type { Message } from '../../services/web/page/engine/message-parts.ts'
import { parsedAsSpelled } from '../../services/web/page/engine/message-parts.ts'

/** One line per part: `role: text`, `role -> name(arguments)`, `role <- text`. */
const lines = (messages: Message[] | null): string[] | null =>
  messages?.flatMap(({ role, parts }) =>
    parts.map((part) => {
      if (part.is === 'call')
        return `${role} -> ${part.name}(${part.arguments.replaceAll(/\s/g, '')}) ${part.id ?? ''}`.trim()
      if (part.is === 'answer') return `${role} <- ${part.text} ${part.id ?? ''}`.trim()
      return part.is === 'text' ? `${role}: ${part.text}` : `${role} ${part.is}: ${part.text}`
    }),
  ) ?? null

const user = { role: 'user', content: 'Where is it?' }
const expected = [
  'user: Where is it?',
  'assistant -> find({"order":8812}) c1',
  'tool <- shipped c1',
  'assistant: On its way.',
]

/** The same conversation as each of them records it. */
const forms: [name: string, inputs: unknown, output: unknown][] = [
  [
    'OpenAI chat completions',
    {
      model: 'gpt-4o',
      messages: [
        user,
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'find', arguments: '{"order":8812}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'shipped' },
      ],
    },
    { choices: [{ index: 0, message: { role: 'assistant', content: 'On its way.' } }] },
  ],
  [
    'OpenAI responses',
    {
      input: [
        { role: 'user', content: [{ type: 'input_text', text: 'Where is it?' }] },
        { type: 'function_call', call_id: 'c1', name: 'find', arguments: '{"order":8812}' },
        { type: 'function_call_output', call_id: 'c1', output: 'shipped' },
      ],
    },
    { output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'On its way.' }] }] },
  ],
  [
    'Anthropic messages',
    {
      messages: [
        user,
        { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'find', input: { order: 8812 } }] },
        {
          role: 'tool',
          content: [{ type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: 'shipped' }] }],
        },
      ],
    },
    { role: 'assistant', type: 'message', content: [{ type: 'text', text: 'On its way.' }] },
  ],
  [
    'OpenTelemetry GenAI',
    {
      'gen_ai.input.messages': [
        { role: 'user', parts: [{ type: 'text', content: 'Where is it?' }] },
        { role: 'assistant', parts: [{ type: 'tool_call', id: 'c1', name: 'find', arguments: { order: 8812 } }] },
        { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c1', response: 'shipped' }] },
      ],
    },
    {
      'gen_ai.output.messages': [
        { role: 'assistant', parts: [{ type: 'text', content: 'On its way.' }], finish_reason: 'stop' },
      ],
    },
  ],
  [
    'Vercel AI SDK, as text',
    {
      prompt: JSON.stringify({
        messages: [
          user,
          {
            role: 'assistant',
            content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'find', args: { order: 8812 } }],
          },
          { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c1', toolName: 'find', result: 'shipped' }] },
        ],
      }),
    },
    'On its way.',
  ],
]

describe('a conversation', () => {
  it.each(forms)('is read from %s', (_, inputs, output) => {
    expect(lines(conversationOf(inputs, output))).toEqual(expected)
  })

  it('is read from Gemini and LangChain, by their own roles', () => {
    const contents = [
      { role: 'user', parts: [{ text: 'Hi' }] },
      { role: 'model', parts: [{ functionCall: { name: 'find', args: { a: 1 } } }] },
    ]
    const candidates = [{ content: { role: 'model', parts: [{ text: 'Yes.' }] } }]
    expect(lines(conversationOf({ contents, system_instruction: { parts: [] } }, { candidates }))?.slice(-3)).toEqual([
      'user: Hi',
      'assistant -> find({"a":1})',
      'assistant: Yes.',
    ])
    const lc = (name: string, kwargs: object) => ({
      lc: 1,
      type: 'constructor',
      id: ['langchain', 'schema', name],
      kwargs,
    })
    const messages = [
      lc('SystemMessage', { content: 'Be short' }),
      lc('HumanMessage', { content: 'Hi' }),
      { type: 'ai', content: 'Yes' },
    ]
    expect(lines(conversationOf({ input: { messages } }, null))).toEqual([
      'system: Be short',
      'user: Hi',
      'assistant: Yes',
    ])
  })

  it('has system prompts beside the messages, reasoning, refusals and media', () => {
    const content = [{ type: 'image_url', image_url: { url: 'https://evil.example/x.png' } }]
    const inputs = { system: 'Be kind', messages: [{ role: 'user', content }] }
    const output = { role: 'assistant', reasoning_content: 'Hm', content: null, refusal: 'No' }
    expect(lines(conversationOf(inputs, output))).toEqual([
      'system: Be kind',
      'user media: image_url',
      'assistant reasoning: Hm',
      'assistant refusal: No',
    ])
  })

  it('is none where inputs hold no messages', () => {
    for (const inputs of [
      null,
      'text',
      5,
      [],
      {},
      { question: 'Why?' },
      { messages: 'none' },
      { messages: [{ a: 1 }] },
      [1, user],
    ])
      expect(conversationOf(inputs, 'x')).toBe(null)
  })

  it('does not repeat what the output repeats, and spells numbers as they were sent', () => {
    expect(
      lines(conversationOf({ messages: [user] }, { messages: [user, { role: 'assistant', content: 'x' }] })),
    ).toEqual(['user: Where is it?', 'assistant: x'])
    const text =
      '{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"n","input":{"a":12345678901234567890,"b":1.0}}]}'
    const [, call] = lines(conversationOf({ messages: [user] }, parsedAsSpelled(text))) ?? []
    expect(call).toBe('assistant -> n({"a":12345678901234567890,"b":1.0}) c')
  })

  it('has instructions that stand elsewhere in the call, where its messages have none', () => {
    const told = [{ type: 'text', content: 'Be brief.' }]
    expect(lines(conversationOf({ messages: [user] }, null, told))).toEqual(['system: Be brief.', 'user: Where is it?'])
    expect(lines(conversationOf({ system: 'Be kind.', messages: [user] }, null, told))?.[0]).toBe('system: Be kind.')
  })

  it('is none of a tool, though it was asked and answers in messages', () => {
    const event = { event: 'gen_ai.tool.message', role: 'tool', content: '{"city":"Oslo"}', id: 'c1' }
    const choice = { message: '[{"text":"7 degrees"}]', id: 'c1' }
    expect(conversationOf({ 'gen_ai.events': [event] }, { 'gen_ai.choice': [choice] })).toBe(null)
    const answer = { type: 'tool', content: '7 degrees', tool_call_id: 'c1' }
    expect(conversationOf({ 'input.value': 'Oslo' }, { 'output.value': answer })).toBe(null)
  })

  it('has what stands beside the messages at the first and the last of them', () => {
    const tools = [{ type: 'function', function: { name: 'find' } }]
    const inputs = { model: 'm', messages: [user, { role: 'assistant', content: 'Here.' }], tools }
    const output = { choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'There.' } }] }
    const messages = conversationOf(inputs, output) ?? []
    expect(messages.map(({ others }) => (others === undefined ? undefined : JSON.parse(others)))).toEqual([
      { model: 'm', tools },
      undefined,
      { choices: [{ index: 0, finish_reason: 'stop' }] },
    ])
  })

  it.each([
    ['a list', (list: object[]) => list],
    ['JSON in a text', (list: object[]) => JSON.stringify(list)],
  ])('has what else a message of %s holds at that message', (_, form) => {
    const asked = [
      { role: 'system', parts: [{ type: 'text', content: 'Be short.' }] },
      { role: 'user', parts: [{ type: 'text', content: 'Where?' }] },
      { role: 'assistant', parts: [{ type: 'text', content: 'Wait.' }], finish_reason: 'tool_calls', index: 1 },
    ]
    const messages = conversationOf({ 'gen_ai.input.messages': form(asked), model: 'm' }, 'There.') ?? []
    expect(messages.map(({ others }) => (others === undefined ? undefined : JSON.parse(others)))).toEqual([
      { model: 'm' },
      undefined,
      { finish_reason: 'tool_calls', index: 1 },
      undefined,
    ])
  })

  it('never fails, whatever is in its place', () => {
    const key = fc.constantFrom(
      'role',
      'content',
      'messages',
      'parts',
      'type',
      'tool_calls',
      'kwargs',
      'id',
      '__proto__',
      'text',
    )
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 5 },
        fc.constantFrom(null, 'user', 'text', 'tool_call', 'tool_result', '[{"role":"user"}]', 7, true),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(key, tie('value'), { maxKeys: 4 }),
      ),
    }))
    fc.assert(
      fc.property(value, value, (inputs, output) => {
        for (const message of conversationOf(inputs, output) ?? []) {
          expect(typeof message.role).toBe('string')
          for (const part of message.parts) expect(typeof ('text' in part ? part.text : part.arguments)).toBe('string')
        }
      }),
      { numRuns: 500 },
    )
  })
})

describe('what an answer rests on, and how likely it was', () => {
  const tokens = [{ text: 'Yes', logprob: -0.00001 }]
  const citations = [{ address: 'https://a.example/', title: 'A' }]
  const logprobs = [{ token: 'Yes', logprob: -1e-5, top_logprobs: [] }]
  const page = { url: 'https://a.example/', title: 'A' }
  const block = (more: object) => ({ content: [{ text: 'Yes', ...more }] })
  const model = { role: 'model', parts: [{ text: 'Yes' }] }
  const web = { uri: page.url, title: page.title }
  const chosenCandidates = [{ token: 'Yes', logProbability: -1e-5 }]
  const recorded: [name: string, output: unknown, tokens: boolean][] = [
    [
      'OpenAI chat completions',
      {
        choices: [
          {
            message: { role: 'assistant', content: 'Yes', annotations: [{ type: 'url_citation', url_citation: page }] },
            logprobs: { content: logprobs },
          },
        ],
      },
      true,
    ],
    [
      'OpenAI responses',
      {
        output: [
          {
            type: 'message',
            role: 'assistant',
            ...block({ type: 'output_text', annotations: [{ type: 'url_citation', ...page }], logprobs }),
          },
        ],
      },
      true,
    ],
    ['Anthropic', { role: 'assistant', ...block({ type: 'text', citations: [{ type: 'web', ...page }] }) }, false],
    [
      'Gemini',
      {
        candidates: [
          { content: model, groundingMetadata: { groundingChunks: [{ web }] }, logprobsResult: { chosenCandidates } },
        ],
      },
      true,
    ],
    [
      'answers with a list of addresses',
      { choices: [{ message: { role: 'assistant', content: 'Yes' } }], citations: [page.url], search_results: [page] },
      false,
    ],
  ]

  it.each(recorded)('of %s', (_, output, hasTokens) => {
    // As Python spells the number, and as the page keeps such.
    const text = JSON.stringify(output).replaceAll('0.00001', '1e-05')
    const grounds = conversationOf({ messages: [user] }, parsedAsSpelled(text))?.at(-1)?.grounds
    expect(grounds).toEqual({ tokens: hasTokens ? tokens : [], citations })
  })

  it('is of each choice its own, and nothing where nothing is said', () => {
    const choice = (content: string, title: string) => ({
      message: { role: 'assistant', content, citations: [{ title }] },
    })
    const output = { choices: [choice('a', 'A'), choice('b', 'B')] }
    expect(conversationOf({ messages: [user] }, output)?.map(({ grounds }) => grounds?.citations[0]?.title)).toEqual([
      undefined,
      'A',
      'B',
    ])
    expect(conversationOf({ messages: [user] }, 'Yes')?.at(-1)).not.toHaveProperty('grounds')
  })
})
