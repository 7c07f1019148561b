// Payloads on their way in: stored as sent, unless redaction, content extraction or repair changes them.
import { describe, expect, test } from 'vitest'
import type { ContentStore } from '../../services/content/content-port.ts'
import { overLimit } from '../../services/core/errors.ts'
import { type CallsRow, createCallsWrite } from '../fixtures/calls-write.ts'

type Texts = { attributes?: string; inputs?: string; otel_dump?: string; output?: string; summary?: string }

/** Sends a whole call with payloads given as JSON text. */
async function send(texts: Texts, deps: { content?: ContentStore } = {}) {
  const edge = createCallsWrite(deps)
  const { attributes = '{}', inputs = '{}', output = 'null', summary = '{}', otel_dump = 'null' } = texts
  const body = `{"batch":[{"project_id":"e/p","id":"0123456789abcdef","trace_id":"0123456789abcdef0123456789abcdef",
    "op_name":"o","started_at":"2026-01-01T00:00:00Z","ended_at":"2026-01-01T00:00:01Z",
    "attributes":${attributes},"inputs" : ${inputs} ,"output":${output},"summary":${summary},"otel_dump":${otel_dump}}]}`
  const answer = await edge.post('/v2/e/p/calls/complete', body, { raw: true })
  return { ...answer, edge, row: edge.rows()[0] as CallsRow, stored: (column: keyof Texts) => edge.stored(0, column) }
}

describe('texts', () => {
  test.each([
    '{"a":1.0,"b":123456789012345678901234567890,"c":1e400,"d":-0,"e":1E5,"f":0.10}',
    '{"spaces" : [ 1 , 2\t, {  } ] }',
    '{"esc":"\\u00e9\\/\\n\\u0000\\ud83d\\ude00","raw":"é😀\u2028"}',
    '{"__proto__":{"a":1},"constructor":1,"":{"":[]}}',
    '{"a":1,"a":2}',
    '{"quote":"\\"}\\\\","{":"]"}',
  ])('are kept as sent: %s', async (text) => {
    const { stored, row } = await send({ attributes: text, inputs: text, output: text, otel_dump: text, summary: text })
    for (const column of ['attributes', 'inputs', 'output', 'summary', 'otel_dump'] as const)
      expect(stored(column)).toBe(text)
    expect(row.start_bytes).toBe(3 * Buffer.byteLength(text))
    expect(row.end_bytes).toBe(2 * Buffer.byteLength(text))
  })

  test.each([
    '"text"',
    '"q\\"\\u00e9 é"',
    '1.0',
    '-0',
    'true',
    'false',
    'null',
    '123456789012345678901',
    '""',
    '[]',
    '{}',
  ])('keep any output: %s', async (output) => {
    expect((await send({ output })).stored('output')).toBe(output)
  })

  test.each([
    ['{\n  "a": [1.0,\r\n 2],\t"b": "x\\ny  z"\n}', '{"a":[1.0,2],"b":"x\\ny  z"}'],
    ['[\n]', '[]'],
  ])('lose line breaks between tokens: %j', async (output, stored) => {
    expect((await send({ output })).stored('output')).toBe(stored)
  })

  test('lose lone surrogates, in keys too', async () => {
    const inputs = '{"\\ud800":"\\udc00 \\ud83d\\ude00","n":1.0,"x":"\\ud83d\\u0041","y":"\\uD83Dz"}'
    expect((await send({ inputs })).stored('inputs')).toBe('{"\ufffd":"\ufffd 😀","n":1.0,"x":"\ufffdA","y":"\ufffdz"}')
  })

  test.each([
    ['9223372036854775807', true],
    ['-9223372036854775809', true],
    ['1e400', true],
    ['1e19', true],
    ['[{"a":12345678901234567890}]', true],
    ['999999999999999999', false],
    ['1e18', false],
    ['"12345678901234567890"', false],
    ['0.1234567890123456789012345', false],
  ])('are marked when the engine cannot read their numbers: %s', async (output, odd) => {
    expect((await send({ output })).row.odd).toBe(odd ? 1 : undefined)
  })
})

describe('refs', () => {
  const ref = 'weave:///e/p/object/docs:Xa1'
  test('are listed once each, in order, from values only', async () => {
    const { row } = await send({
      inputs: `{"${ref}":"weave:///e/p/table/t1","a":["${ref}",{"b":"${ref}"}],"c":"see ${ref}","d":"weave:\\/\\/\\/e/p/call/c1"}`,
      output: `"${ref}/attr/rows/index/0"`,
      attributes: `{"a":"${ref}"}`,
      summary: `{"a":"${ref}"}`,
    })
    expect(row.input_refs).toEqual(['weave:///e/p/table/t1', ref, 'weave:///e/p/call/c1'])
    expect(row.output_refs).toEqual([`${ref}/attr/rows/index/0`])
  })

  test.each([
    'weave:///e/p/op/f:v1',
    'weave:///e/p/object/o:v/attr/a/key/b%2Fc/index/-1/id/X',
    'weave:///e/p/agent_span/s1',
    'wandb-artifact:///e/p/art:v0',
  ])('are refs: %s', async (text) => {
    expect((await send({ output: JSON.stringify(text) })).row.output_refs).toEqual([text])
  })

  test.each([
    'weave:///e/p/object/o',
    'weave:///e/p/object/o:v/',
    'weave:///e/p/object/o:v/attr',
    'weave:///e/p/object/o:v/attr/a b',
    'weave:///e/p/object/o:v/attr/%2f',
    'weave:///e/p/object/o:v/attr/%41',
    'weave:///e/p/object/o:v/attr/%ff',
    'weave:///e/p/object/o:v/index/x',
    'weave:///e/p/object/a:b:c',
    'weave:///e/p/thing/o:v',
    'weave:///e/p/table/a/b',
    'weave:///e//object/o:v',
    'weave-trace-internal:///int1/object/x:abc',
    'Weave:///e/p/op/f:v1',
  ])('are not: %s', async (text) => {
    expect((await send({ output: JSON.stringify(text) })).row.output_refs).toBeUndefined()
  })
})

describe('redaction', () => {
  test.each([
    'authHeaders',
    'Authorization',
    'auth_token',
    'AWS_ACCESS_KEY',
    'aws-access-key-id',
    'bearer_token',
    'cloud_credentials',
    'vertexCredentials',
    'webhook_key',
    'webhook_secret',
    'OPENAI_API_KEY',
    'x-api-key-',
    'my_access_token',
    'a_p_i_t_o_k_e_n',
    'client-secret',
    'privateKey',
    'refresh_token',
    'SECRET_ACCESS_KEY',
    'mysecretkey',
    'session__token',
    'api\\u005fkey',
    'api\u212aey',
  ])('hides %s', async (key) => {
    const text = `{"n":1.0,"l":[{"${key}":"hush"}],"${key}" : "hush"}`
    const hidden = JSON.stringify([{ [JSON.parse(`"${key}"`)]: 'REDACTED' }])
    const { stored } = await send({ inputs: text, attributes: text, otel_dump: text, output: text, summary: text })
    for (const column of ['inputs', 'attributes', 'otel_dump'] as const) {
      expect(stored(column)).not.toContain('hush')
      expect(stored(column)).toContain('"n":1.0')
      expect(JSON.stringify(JSON.parse(stored(column) as string).l)).toBe(hidden)
    }
    expect(stored('output')).toBe(text)
    expect(stored('summary')).toBe(text)
  })

  test.each([
    '{"api_key":""}',
    '{"api_key":null,"api_token":5,"session_token":["a"],"client_secret":{"a":"b"}}',
    '{"key":"a","token":"b","tokens":"c","max_tokens":"d","api_key_id":"e","authorizations":"f"}',
    '["api_key","x"]',
    '{"a":"api_key"}',
  ])('leaves %s alone', async (text) => {
    const inputs = `{"x":${text}}`
    expect((await send({ inputs })).stored('inputs')).toBe(inputs)
  })

  test('looks inside values that it leaves, and comes before the search for refs', async () => {
    const { stored, row } = await send({
      inputs: '{"api_key":{"api_key":"x"},"secret_key":"weave:///e/p/op/f:v1","a":"weave:///e/p/op/g:v1"}',
    })
    expect(stored('inputs')).toBe(
      '{"api_key":{"api_key":"REDACTED"},"secret_key":"REDACTED","a":"weave:///e/p/op/g:v1"}',
    )
    expect(row.input_refs).toEqual(['weave:///e/p/op/g:v1'])
  })
})

describe('content', () => {
  const image = 'A'.repeat(8193)
  const ref = 'weave:///e/p/object/image-3efc.png:D1'
  const contentStore = (append: () => Promise<never[]> = async () => []) => {
    const asked: [string, string, number][] = []
    const store: ContentStore = {
      begin: () => ({
        extract(projectId, userId, text) {
          asked.push([projectId, userId, text.length])
          return text.startsWith('A') ? ref : null
        },
        append,
      }),
    }
    return { store, asked }
  }

  test('is replaced by its ref in inputs and output alone, and the ref is listed', async () => {
    const { store, asked } = contentStore()
    const text = `{"img":"${image}","n":1.0,"l":["${image}"]}`
    const { stored, row } = await send(
      { inputs: text, output: `"${image}"`, attributes: text, summary: text, otel_dump: text },
      { content: store },
    )
    expect(stored('inputs')).toBe(`{"img":"${ref}","n":1.0,"l":["${ref}"]}`)
    expect(stored('output')).toBe(`"${ref}"`)
    expect([row.input_refs, row.output_refs]).toEqual([[ref], [ref]])
    for (const column of ['attributes', 'summary', 'otel_dump'] as const) expect(stored(column)).toBe(text)
    expect(asked).toEqual(Array(3).fill(['e/p', 'ada', 8193]))
  })

  test('is asked for texts longer than 8192 characters that may be content', async () => {
    const { store, asked } = contentStore()
    const uri = `DATA:image/png;base64,${'B'.repeat(9000)}`
    const inputs = JSON.stringify({ short: 'A'.repeat(8192), long: 'B'.repeat(8193), uri })
    const output = `{"escaped":"\\u0041${'A'.repeat(9000)}"}`
    await send({ inputs, output }, { content: store })
    await send({ inputs: JSON.stringify({ prose: 'word '.repeat(3000) }) }, { content: store })
    expect(asked.map(([, , length]) => length)).toEqual([8193, uri.length, 9001])
  })

  test('stays inline when it cannot be stored, and the call is stored', async () => {
    const { store } = contentStore(() => Promise.reject(new Error('disk')))
    const { status, stored } = await send({ output: `"${image}"` }, { content: store })
    expect([status, stored('output')]).toEqual([200, `"${image}"`])
  })

  test('is sent again when the log is full', async () => {
    const { store } = contentStore(() => Promise.reject(overLimit('log', 'full')))
    const { status, edge } = await send({ output: `"${image}"` }, { content: store })
    expect([status, edge.rows()]).toEqual([429, []])
  })
})

describe('summary', () => {
  const usage = (entry: string) => `{"usage":{"m":${entry}},"x":1.0}`

  test('counts are read per model', async () => {
    const { row } = await send({
      summary: `{"usage":{"m":{"prompt_tokens":1,"input_tokens":2,"completion_tokens":3,"output_tokens":4,"requests":5,
        "total_tokens":6,"cache_creation_input_tokens":7,"cache_read_input_tokens":8,"prompt_tokens_details":{"a":"b"}},
        "__proto__":{"requests":9}, "none":{"requests":null}},
        "status_counts":{"success":1,"error":2,"running":3,"descendant_error":4},"weave":{"k":1}}`,
    })
    expect(row).toMatchObject({
      error_count: 2,
      usage_model: ['m', '__proto__', 'none'],
      usage_requests: [5, 9, 0],
      usage_input: [3, 0, 0],
      usage_output: [7, 0, 0],
      usage_total: [6, 0, 0],
      usage_cache_read: [8, 0, 0],
      usage_cache_write: [7, 0, 0],
    })
    expect(row.summary).toMatchObject({ weave: { k: 1 } })
  })

  test.each([
    ['{"requests":"3"}', '{"requests":3}', 3],
    ['{"requests":" +3.0 "}', '{"requests":3}', 3],
    ['{"requests":true,"total_tokens":false}', '{"requests":1,"total_tokens":0}', 1],
    ['{"requests":3.0,"other":"3"}', '{"requests":3.0,"other":"3"}', 3],
    ['{"requests":"12345678901234567","x":1.50}', '{"requests":12345678901234567,"x":1.50}', 12345678901234568n],
    ['{"requests":1e30}', '{"requests":1e30}', 9223372036854775807n],
  ])('counts become integers: %s', async (entry, storedEntry, requests) => {
    const { stored, edge } = await send({ summary: usage(entry) })
    expect(stored('summary')).toBe(usage(storedEntry))
    expect(edge.log.lines('calls')[0]).toContain(`"usage_requests":[${requests}]`)
  })

  test('status counts become integers', async () => {
    const { stored, row } = await send({ summary: '{"status_counts":{"error":"2"},"a":1.0}' })
    expect(stored('summary')).toBe('{"status_counts":{"error":2},"a":1.0}')
    expect(row.error_count).toBe(2)
  })

  test.each([
    ['{"usage":null}', ['usage']],
    ['{"usage":[]}', ['usage']],
    ['{"usage":{"m":null}}', ['usage', 'm']],
    ['{"usage":{"m":5}}', ['usage', 'm']],
    ['{"usage":{"m":{"total_tokens":3.5}}}', ['usage', 'm', 'total_tokens']],
    ['{"usage":{"m":{"total_tokens":"x"}}}', ['usage', 'm', 'total_tokens']],
    ['{"usage":{"m":{"total_tokens":{}}}}', ['usage', 'm', 'total_tokens']],
    ['{"status_counts":null}', ['status_counts']],
    ['{"status_counts":{"failed":1}}', ['status_counts', 'failed']],
    ['{"status_counts":{"error":true}}', ['status_counts', 'error']],
    ['{"status_counts":{"error":null}}', ['status_counts', 'error']],
    ['{"status_counts":{"error":1.5}}', ['status_counts', 'error']],
  ])('is refused: %s', async (summary, path) => {
    const { status, json } = await send({ summary })
    const { detail } = json as { detail: { loc: unknown[] }[] }
    expect([status, detail.map(({ loc }) => loc)]).toEqual([422, [['body', 'batch', 0, 'summary', ...path]]])
  })
})
