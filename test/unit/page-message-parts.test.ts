// Parts of messages by the table of dialects: each form as its client sends it, and what is of no form stays whole.
import { describe, expect, it } from 'vitest'
import { callOf, type Part, partsIn, saidIn, written } from '../../services/web/page/engine/message-parts.ts'

const bytes = 'iVBORw0KGgoAAAANSUhEUg'
const page = 'https://a.example/x.png'

/** A part in one line; JSON without its spaces. */
function lineOf(part: Part): string {
  const short = (text: string) => (/^[[{].*[\]}]$/s.test(text) ? JSON.stringify(JSON.parse(text)) : text)
  if (part.is === 'call') return `call ${part.id} ${part.name}(${short(part.arguments)})`
  if (part.is === 'answer') return `answer ${part.id} ${part.name}: ${short(part.text)}`
  if (part.is !== 'media') return `${part.is} ${short(part.text)}`
  const { source } = part
  const from = source === null ? 'nowhere' : source.from === 'base64' ? `${source.type} ${source.base64}` : ''
  return `media ${part.text}: ${source?.from === 'address' ? source.address : from}`
}
const lines = (content: unknown) => partsIn(content).map(lineOf)

describe('texts', () => {
  it.each<[dialect: string, part: unknown, ...shown: string[]]>([
    ['openai-chat', { type: 'text', text: 'Hi' }, 'text Hi'],
    ['openai-chat', { type: 'refusal', refusal: 'No' }, 'refusal No'],
    ['openai-responses', { type: 'input_text', text: 'Hi' }, 'text Hi'],
    ['openai-responses', { type: 'output_text', text: 'Hi', annotations: [], logprobs: [] }, 'text Hi'],
    [
      'openai-responses',
      {
        type: 'reasoning',
        id: 'r',
        summary: [
          { type: 'summary_text', text: 'Hm' },
          { type: 'summary_text', text: 'Ah' },
        ],
      },
      'reasoning Hm',
      'reasoning Ah',
    ],
    ['anthropic', { type: 'thinking', thinking: 'Hm', signature: 'x' }, 'reasoning Hm'],
    [
      'anthropic',
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Terms' } },
      'text Terms',
    ],
    [
      'anthropic',
      {
        type: 'document',
        source: {
          type: 'content',
          content: [
            { type: 'text', text: 'a' },
            { type: 'text', text: 'b' },
          ],
        },
      },
      'text a',
      'text b',
    ],
    [
      'anthropic',
      { type: 'search_result', source: 's', title: 't', content: [{ type: 'text', text: 'Found' }] },
      'text Found',
    ],
    ['gemini', { text: 'Hi' }, 'text Hi'],
    ['gemini', { text: 'Hm', thought: true }, 'reasoning Hm'],
    ['gemini', { text: 'Hi', thought: false }, 'text Hi'],
    ['bedrock-converse', { reasoningContent: { reasoningText: { text: 'Hm', signature: 'x' } } }, 'reasoning Hm'],
    ['bedrock-converse', { guardContent: { text: { text: 'Hi', qualifiers: [] } } }, 'text Hi'],
    ['bedrock-converse', { json: { a: 1 } }, 'json {"a":1}'],
    ['genai-parts', { type: 'text', content: 'Hi' }, 'text Hi'],
    ['genai-parts', { type: 'reasoning', content: 'Hm' }, 'reasoning Hm'],
    ['genai-parts', { type: 'compaction', content: 'So far' }, 'compaction So far'],
    ['genai-parts', { type: 'generic', a: 1 }, 'json {"type":"generic","a":1}'],
    ['openinference', { message_content: { type: 'text', text: 'Hi' } }, 'text Hi'],
    ['pydantic-ai', { part_kind: 'thinking', content: 'Hm' }, 'reasoning Hm'],
    ['haystack', { reasoning: { reasoning_text: 'Hm', extra: {} } }, 'reasoning Hm'],
    ['llama-index', { block_type: 'text', text: 'Hi' }, 'text Hi'],
    ['cohere', { type: 'document', document: { id: 'd', data: 'Terms' } }, 'text Terms'],
    ['any', 'Hi', 'text Hi'],
    ['any', ['Hi', { type: 'text', text: 'there' }], 'text Hi', 'text there'],
    ['any, in other letters of joints', { type: 'input-text', text: 'Hi' }, 'text Hi'],
  ])('of %s: %j', (_, part, ...shown) => {
    expect(lines(part)).toEqual(shown)
  })

  it('say whose they are where that is not whose the message is', () => {
    const said = [
      { part_kind: 'system-prompt', content: 'Be kind' },
      { part_kind: 'user-prompt', content: ['Hi', { kind: 'image-url', url: page }] },
      { part_kind: 'retry-prompt', content: 'Again' },
      { part_kind: 'retry-prompt', tool_name: 'find', tool_call_id: 'c', content: 'Again' },
      { part_kind: 'text', content: 'Hello' },
    ]
    expect(saidIn(said).map(({ role, parts }) => [role, parts.map(lineOf)])).toEqual([
      ['system', ['text Be kind']],
      ['user', ['text Hi', `media image-url: ${page}`]],
      ['user', ['text Again']],
      ['tool', ['answer c find: Again']],
      [null, ['text Hello']],
    ])
  })
})

describe('calls of tools', () => {
  it.each<[dialect: string, part: unknown, shown: string]>([
    [
      'openai-chat',
      { id: 'c', type: 'function', function: { name: 'find', arguments: '{"a":1}' } },
      'call c find({"a":1})',
    ],
    ['openai-chat', { id: 'c', type: 'custom', custom: { name: 'run', input: 'ls' } }, 'call c run(ls)'],
    [
      'openai-responses',
      { type: 'function_call', id: 'fc', call_id: 'c', name: 'find', arguments: '{}' },
      'call c find({})',
    ],
    ['openai-responses', { type: 'custom_tool_call', call_id: 'c', name: 'run', input: 'ls' }, 'call c run(ls)'],
    [
      'openai-responses',
      { type: 'web_search_call', id: 'w', action: { type: 'search', query: 'q' } },
      'call w web_search({"type":"search","query":"q"})',
    ],
    ['openai-responses', { type: 'file_search_call', id: 'f', queries: ['q'] }, 'call f file_search(["q"])'],
    ['openai-responses', { type: 'code_interpreter_call', id: 'i', code: '1+1' }, 'call i code_interpreter(1+1)'],
    ['openai-responses', { type: 'mcp_call', id: 'm', name: 'find', arguments: '{}' }, 'call m find({})'],
    ['anthropic', { type: 'tool_use', id: 'c', name: 'find', input: { a: 1 } }, 'call c find({"a":1})'],
    ['anthropic', { type: 'tool_use', id: 'c', name: 'find', input: {} }, 'call c find()'],
    ['anthropic', { type: 'server_tool_use', id: 's', name: 'web_search', input: 'q' }, 'call s web_search(q)'],
    ['gemini', { functionCall: { id: 'c', name: 'find', args: { a: 1 } } }, 'call c find({"a":1})'],
    ['gemini in Python', { function_call: { name: 'find', args: { a: 1 } } }, 'call null find({"a":1})'],
    ['gemini', { executableCode: { language: 'PYTHON', code: '1+1' } }, 'call null tool(1+1)'],
    ['bedrock-converse', { toolUse: { toolUseId: 'c', name: 'find', input: { a: 1 } } }, 'call c find({"a":1})'],
    ['genai-parts', { type: 'tool_call', id: 'c', name: 'find', arguments: { a: 1 } }, 'call c find({"a":1})'],
    [
      'openinference',
      { tool_call: { id: 'c', function: { name: 'find', arguments: '{"a":1}' } } },
      'call c find({"a":1})',
    ],
    ['langchain', { type: 'tool_call', id: 'c', name: 'find', args: { a: 1 } }, 'call c find({"a":1})'],
    ['langchain', { type: 'invalid_tool_call', id: 'c', name: 'find', args: '{"a"' }, 'call c find({"a")'],
    ['vercel-ai', { type: 'tool-call', toolCallId: 'c', toolName: 'find', input: { a: 1 } }, 'call c find({"a":1})'],
    ['pydantic-ai', { part_kind: 'tool-call', tool_call_id: 'c', tool_name: 'find', args: '{}' }, 'call c find({})'],
    ['haystack', { tool_call: { id: 'c', tool_name: 'find', arguments: { a: 1 } } }, 'call c find({"a":1})'],
    [
      'llama-index',
      { block_type: 'tool_call', tool_call_id: 'c', tool_name: 'find', tool_kwargs: { a: 1 } },
      'call c find({"a":1})',
    ],
    ['mistral', { type: 'function.call', tool_call_id: 'c', name: 'find', arguments: '{}' }, 'call c find({})'],
    ['nobody: no name', { type: 'tool_use' }, 'call null tool()'],
    ['nobody: a number', { type: 'tool_use', id: 5, name: 7, input: 0 }, 'call null 7(0)'],
  ])('of %s: %j', (_, part, shown) => {
    expect(lines(part)).toEqual([shown])
  })

  it('whose name is no text keep what it is', () => {
    expect(callOf({ type: 'function', function: { name: { first: 'find' }, arguments: '{}' } })).toEqual({
      is: 'call',
      id: null,
      name: written({ first: 'find' }),
      arguments: '{}',
    })
    expect(callOf({ type: 'function', function: { name: ['a', 'b'] } })).toMatchObject({ name: written(['a', 'b']) })
  })
})

describe('results of tools', () => {
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: bytes } }
  it.each<[dialect: string, part: unknown, ...shown: string[]]>([
    ['openai-responses', { type: 'function_call_output', call_id: 'c', output: 'shipped' }, 'answer c null: shipped'],
    [
      'openai-responses',
      { type: 'computer_call_output', call_id: 'c', output: { type: 'computer_screenshot', image_url: page } },
      'answer c null: ',
      `media computer_screenshot: ${page}`,
    ],
    [
      'openai-responses',
      { type: 'mcp_approval_response', approval_request_id: 'c', approve: true },
      'answer c null: true',
    ],
    ['anthropic', { type: 'tool_result', tool_use_id: 'c', content: 'shipped' }, 'answer c null: shipped'],
    [
      'anthropic',
      {
        type: 'tool_result',
        tool_use_id: 'c',
        content: [{ type: 'text', text: 'a' }, image, { type: 'text', text: 'b' }],
      },
      'answer c null: a',
      `media image: image/png ${bytes}`,
      'text b',
    ],
    [
      'anthropic',
      { type: 'tool_result', tool_use_id: 'c', content: [image] },
      'answer c null: ',
      `media image: image/png ${bytes}`,
    ],
    ['anthropic', { type: 'tool_result', tool_use_id: 'c', is_error: true }, 'answer c null: '],
    ['gemini', { functionResponse: { name: 'find', response: { a: 1 } } }, 'answer null find: {"a":1}'],
    ['gemini', { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '2' } }, 'answer null null: 2'],
    [
      'bedrock-converse',
      { toolResult: { toolUseId: 'c', content: [{ json: { a: 1 } }, { text: 'b' }], status: 'success' } },
      'answer c null: {"a":1}',
      'text b',
    ],
    ['genai-parts', { type: 'tool_call_response', id: 'c', response: { a: 1 } }, 'answer c null: {"a":1}'],
    [
      'vercel-ai',
      { type: 'tool-result', toolCallId: 'c', toolName: 'find', output: { type: 'json', value: { a: 1 } } },
      'answer c find: {"a":1}',
    ],
    ['vercel-ai', { type: 'tool-error', toolCallId: 'c', toolName: 'find', error: 'late' }, 'answer c find: late'],
    [
      'pydantic-ai',
      { part_kind: 'tool-return', tool_name: 'find', tool_call_id: 'c', content: [1] },
      'answer c find: [1]',
    ],
    [
      'haystack',
      { tool_call_result: { result: 'shipped', origin: { id: 'c', tool_name: 'find', arguments: {} }, error: false } },
      'answer c find: shipped',
    ],
    ['mistral', { type: 'function.result', tool_call_id: 'c', result: 'shipped' }, 'answer c null: shipped'],
    ['nobody: a number', { type: 'tool_result', tool_use_id: 'c', content: 0 }, 'answer c null: 0'],
    ['nobody: false', { type: 'tool_result', tool_use_id: 'c', content: false }, 'answer c null: false'],
    ['nobody: an odd list', { type: 'tool_result', tool_use_id: 'c', content: ['a', 5] }, 'answer c null: ["a",5]'],
  ])('of %s: %j', (_, part, ...shown) => {
    expect(lines(part)).toEqual(shown)
    expect(saidIn(part)[0]?.role).toBe('tool')
  })
})

describe('images, sound and files', () => {
  const png = `image/png ${bytes}`
  it.each<[dialect: string, part: unknown, shown: string]>([
    ['openai-chat', { type: 'image_url', image_url: { url: page, detail: 'low' } }, `media image_url: ${page}`],
    [
      'openai-chat',
      { type: 'image_url', image_url: { url: `data:image/png;base64,${bytes}` } },
      `media image_url: ${png}`,
    ],
    ['openai-responses', { type: 'input_image', image_url: page }, `media input_image: ${page}`],
    ['anthropic', { type: 'image', source: { type: 'url', url: page } }, `media image: ${page}`],
    ['anthropic', { type: 'document', source: { type: 'url', url: page } }, `media document: ${page}`],
    ['gemini', { inlineData: { mimeType: 'image/png', data: bytes } }, `media inlineData: ${png}`],
    ['gemini', { fileData: { mimeType: 'image/png', fileUri: page } }, `media fileData: ${page}`],
    ['bedrock-converse', { image: { format: 'png', source: { bytes } } }, `media image: ${png}`],
    ['genai-parts', { type: 'blob', mime_type: 'image/png', content: bytes }, `media blob, image/png: ${png}`],
    ['genai-parts', { type: 'uri', uri: page }, `media uri: ${page}`],
    ['pydantic-ai', { kind: 'binary', data: bytes, media_type: 'image/png' }, `media binary, image/png: ${png}`],
    ['mistral', { type: 'document_url', document_url: page }, `media document_url: ${page}`],
    // Only that there was one is known.
    ['nobody', { type: 'image' }, 'media image: nowhere'],
    ['nobody', { type: 'blob', mime_type: 'image/png' }, 'media blob, image/png: nowhere'],
    // What says more than that, and not where it is, stays whole.
    ['nobody', { type: 'image', note: 'lost' }, 'json {"type":"image","note":"lost"}'],
    ['nobody', { type: 'image_url', image_url: 5 }, 'json {"type":"image_url","image_url":5}'],
  ])('of %s: %j', (_, part, shown) => {
    expect(lines(part)).toEqual([shown])
  })
})

describe('what is of no form stays whole', () => {
  it.each<unknown>([
    5,
    0,
    true,
    false,
    { a: 1 },
    { type: 'sarcasm', words: { a: 1 } },
    { type: '__proto__', a: 1 },
    { type: 'constructor', a: 1 },
    { type: 5, a: 1 },
    { type: 'text' },
    { type: 'text', words: 'Hi' },
    { type: 'reasoning', encrypted_content: 'x' },
    { type: 'redacted_thinking', data: 'x' },
    { toString: 'x' },
    JSON.parse('{"__proto__":{"type":"text","text":"Hi"}}'),
  ])('%j', (part) => {
    expect(partsIn(part)).toEqual([{ is: 'json', text: written(part) }])
  })

  it.each([
    null,
    undefined,
    '',
    {},
    [],
    [null, '', {}],
    { type: 'text', text: '' },
    { type: 'reasoning', summary: [] },
  ])('%j says nothing', (part) => {
    expect(partsIn(part)).toEqual([])
  })

  it('however deep it lies: the rest is JSON', () => {
    const nested = (depth: number) => {
      let part: unknown = { type: 'text', text: 'deepest' }
      for (let n = 0; n < depth; n++) part = { type: 'tool_result', tool_use_id: `t${n}`, content: [part] }
      return part
    }
    for (const depth of [1, 5, 6, 7, 8, 50]) {
      const parts = partsIn(nested(depth))
      expect(JSON.stringify(parts)).toContain('deepest')
      expect(parts[0]).toMatchObject({ is: 'answer', id: `t${depth - 1}` })
    }
    const texts = (depth: number): unknown => (depth === 0 ? 'deepest' : { type: 'text', text: texts(depth - 1) })
    for (const depth of [1, 6, 7, 30]) expect(JSON.stringify(partsIn(texts(depth)))).toContain('deepest')
  })
})
