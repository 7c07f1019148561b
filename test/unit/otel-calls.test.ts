// Calls of spans: name, threads, usage, events, credentials and large content.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createContent } from '../../services/content/extract.ts'
import { createFolderBlobs } from '../../services/core/blobs/blobs.ts'
import {
  aRequest,
  aSpan,
  attributes,
  dump,
  flag,
  inputs,
  integer,
  type Otel,
  output,
  payload,
  rowOf,
  startOtel,
  text,
} from '../fixtures/otel.ts'

const dir = mkdtempSync(join(tmpdir(), 'callhouse-otel-'))
let otel: Otel
beforeAll(async () => {
  const blobs = await createFolderBlobs({ dir, minFreeBytes: 0 })
  otel = await startOtel({ content: (log, clock) => createContent({ log, clock, blobs }) })
})
afterAll(async () => {
  await otel.stop()
  rmSync(dir, { recursive: true, force: true })
})

const withAttributes = (...list: unknown[]) => rowOf(otel, { attributes: list })
const lastLine = () => otel.memory.lines('calls').at(-1) as string

describe('names', () => {
  it('replaces what an op may not be called', async () => {
    expect((await rowOf(otel, { name: 'GET /Ünï(x): 日本.v-1' })).op_name).toMatch(/\/op\/get__ünïx_日本\.v-1:/)
    expect((await rowOf(otel, { name: '???' })).op_name).toMatch(/\/op\/unknown:/)
  })

  it('shortens at delimiters and keeps the full name in the dump', async () => {
    const name = Array(40).fill('segment').join(', ')
    const row = await rowOf(otel, {
      name,
      attributes: [text('wandb.display_name', Array(200).fill('Words').join(', '))],
    })
    const id = String(row.op_name).split('/op/')[1]?.split(':')[0]
    expect(id).toMatch(/^segment(_segment)+[0-9a-f]{4}$/)
    expect(String(row.display_name)).toMatch(/^Words(, Words)+, \.\.\.$/)
    expect(String(row.display_name).length).toBeLessThanOrEqual(1024)
    expect(dump(row).name).toBe(name)
  })

  it('counts code points', async () => {
    const name = '😀'.repeat(1024)
    expect((await withAttributes(text('wandb.display_name', name))).display_name).toBe(name)
    expect((await withAttributes(text('wandb.display_name', `${name}x`))).display_name).toBe(`${'😀'.repeat(1021)}...`)
  })
})

describe('threads and runs', () => {
  it('lets a false turn flag win over the conversation', async () => {
    const conversation = text('gen_ai.conversation.id', 'c')
    expect(await withAttributes(conversation)).toMatchObject({ thread_id: 'c', turn_id: 'b7ad6b7169203331' })
    expect(await withAttributes(conversation, flag('wandb.is_turn', false))).not.toHaveProperty('turn_id')
    expect(await withAttributes(text('wandb.thread_id', 't'))).not.toHaveProperty('turn_id')
    expect(await withAttributes(text('platform.thread_id', 't'), text('wandb.is_turn', 'yes'))).toMatchObject({
      thread_id: 't',
      turn_id: 'b7ad6b7169203331',
    })
  })

  it('takes the run from the header, the resource or the span', async () => {
    expect(await rowOf(otel, {}, { headers: { platform_run_id: 'h' } })).toMatchObject({ run_id: 'ent/proj/h' })
    await otel.postJson(aRequest([aSpan({ attributes: [text('wandb.run_id', 's')] })], [text('wandb.run_id', 'r')]))
    expect(otel.newCalls()[0]?.run_id).toBe('ent/proj/r')
    expect(await withAttributes(text('platform.run_id', 's'))).toMatchObject({ run_id: 'ent/proj/s' })
    expect(await withAttributes(text('wandb.wb_run_id', 'a:b'))).not.toHaveProperty('run_id')
  })

  it('drops steps that are no integers, and 0', async () => {
    const row = await withAttributes(text('wandb.wb_run_step', '3'), integer('wandb.wb_run_step_end', 0))
    expect(Object.keys(row).filter((key) => key.startsWith('run_'))).toEqual([])
  })
})

describe('usage', () => {
  it('fills the columns of its model', async () => {
    const row = await withAttributes(
      text('gen_ai.response.model', 'm'),
      integer('gen_ai.usage.input_tokens', '11'),
      text('gen_ai.usage.output_tokens', ' 7 '),
      integer('gen_ai.usage.cache_read.input_tokens', '2'),
      integer('gen_ai.usage.cache_creation.input_tokens', '1'),
    )
    expect(row).toMatchObject({
      usage_model: ['m'],
      usage_requests: [0],
      usage_input: [11],
      usage_output: [7],
      usage_total: [18],
      usage_cache_read: [2],
      usage_cache_write: [1],
    })
  })

  it('is left out when nothing is known', async () => {
    const row = await withAttributes(text('gen_ai.usage.input_tokens', 'many'), text('gen_ai.request.model', 'm'))
    expect(payload(row, 'summary')).toEqual({ usage: {} })
    expect(row).not.toHaveProperty('usage_model')
  })
})

describe('exceptions', () => {
  const exception = (...parts: unknown[]) =>
    rowOf(otel, { status: { code: 2 }, events: [{ name: 'exception', attributes: parts }] })
  it('fall back to the event', async () => {
    expect((await exception(text('exception.type', 'T'), text('exception.message', 'boom'))).exception).toBe('boom')
    expect((await exception(text('exception.type', 'T'))).exception).toBe('T')
    expect((await exception()).exception).toBe('ERROR')
    expect(await rowOf(otel, { status: { code: 1, message: 'fine' } })).not.toHaveProperty('exception')
  })
})

describe('events', () => {
  const message = (name: string, ...parts: unknown[]) => ({
    timeUnixNano: '1700000000500000001',
    name,
    attributes: parts,
  })
  it('become inputs and output when the attributes hold none', async () => {
    const row = await rowOf(otel, {
      events: [
        message('gen_ai.system.message', text('content', 'be nice')),
        message('other'),
        message('gen_ai.user.message', text('content', '{"a":1}'), text('tool.0', 'x')),
        message('gen_ai.choice', integer('index', 0), text('message', '{"content":"hi"}')),
      ],
    })
    expect(inputs(row)).toEqual({
      'gen_ai.events': [
        { event: 'gen_ai.system.message', content: 'be nice' },
        { event: 'gen_ai.user.message', content: { a: 1 }, tool: ['x'] },
      ],
    })
    expect(output(row)).toEqual({ 'gen_ai.choice': [{ index: 0, message: { content: 'hi' } }] })
    expect(lastLine()).toContain('"timestamp":1700000000500000001')
  })

  it('bring prompts and completions', async () => {
    const row = await rowOf(otel, {
      attributes: [text('input.value', 'first')],
      events: [
        message('gen_ai.content.prompt', text('gen_ai.prompt', '[1]')),
        message('gen_ai.content.completion', text('gen_ai.completion', 'c')),
      ],
    })
    expect(inputs(row)).toEqual({ 'input.value': 'first' })
    expect(output(row)).toEqual({ 'gen_ai.completion': 'c' })
  })

  it('stay events when that is switched off', async () => {
    const off = await startOtel({ flags: ['--otel-events-as-io', 'false'] })
    try {
      await off.postJson(aRequest([aSpan({ events: [message('gen_ai.user.message', text('content', 'x'))] })]))
      expect(inputs(off.newCalls()[0])).toEqual({})
    } finally {
      await off.stop()
    }
  })
})

describe('the path of agents', () => {
  it('takes weave keys before gen_ai keys', async () => {
    const attributes = [
      text('gen_ai.conversation.id', 'g'),
      text('weave.conversation.id', 'w'),
      text('weave.input.messages', '[{"role":"user"}]'),
      integer('weave.usage.input_tokens', 3),
      text('gen_ai.request.model', 'm'),
    ]
    const row = await rowOf(otel, { attributes }, { path: '/agents/otel/v1/traces' })
    expect(row).toMatchObject({ thread_id: 'w', usage_model: ['m'], usage_input: [3] })
    expect(inputs(row)).toEqual({ 'gen_ai.input.messages': [{ role: 'user' }] })
    expect(await rowOf(otel, { attributes })).toMatchObject({ thread_id: 'g' })
  })
})

describe('credentials', () => {
  it('are redacted in inputs, attributes and dump, not in the output', async () => {
    const secret = 's3cret'
    const row = await rowOf(otel, {
      attributes: [
        text('inputs', `{"api_key":"${secret}","n":{"Authorization":"${secret}","api_key":1.0}}`),
        text('outputs', `{"api_key":"${secret}"}`),
        text('gen_ai.request.api-key', secret),
        text('wandb.attributes', `{"x":"y","client_secret":"${secret}","client_secret":5}`),
      ],
      events: [{ name: 'e', attributes: [text('http.access_token', secret)] }],
    })
    expect(inputs(row)).toEqual({ api_key: 'REDACTED', n: { Authorization: 'REDACTED', api_key: 1 } })
    expect(output(row)).toEqual({ api_key: secret })
    expect(attributes(row)).toMatchObject({ x: 'y', model_parameters: { 'api-key': 'REDACTED' } })
    expect(lastLine().split(secret)).toHaveLength(2)
  })
})

describe('content and refs', () => {
  const png = Buffer.concat([Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), Buffer.alloc(9000, 7)])
  const uri = `data:image/png;base64,${png.toString('base64')}`

  it('stores large content and refers to it everywhere', async () => {
    const row = await withAttributes(
      text('input.value', JSON.stringify({ image: uri, text: 'x' })),
      text('output.value', png.toString('base64')),
    )
    const image = (inputs(row) as { 'input.value': { image: string } })['input.value'].image
    expect(image).toMatch(/^weave:\/\/\/ent\/proj\/object\/image-[0-9a-f]{4}\.png:[A-Za-z0-9]{43}$/)
    expect(row.input_refs).toEqual([image])
    expect(output(row)).toEqual({ 'output.value': expect.stringMatching(/^weave:\/\/\/ent\/proj\/object\/image-/) })
    expect(dump(row).attributes).toMatchObject({ input: { value: { image, text: 'x' } } })
    expect(JSON.stringify(row).length).toBeLessThan(3000)
  })

  it('leaves credentials and short texts alone', async () => {
    const row = await withAttributes(text('inputs.api_key', uri), text('inputs.short', uri.slice(0, 4000)))
    expect(inputs(row)).toEqual({ api_key: 'REDACTED', short: uri.slice(0, 4000) })
  })

  it('lists the refs of inputs and output', async () => {
    const ref = 'weave:///acme/bot/object/docs:XaXa'
    const row = await withAttributes(text('input.value', JSON.stringify([ref, `see ${ref}`])), text('outputs', ref))
    expect(row).toMatchObject({ input_refs: [ref], output_refs: [ref] })
  })
})

describe('wandb.attributes', () => {
  it('replace mapped attributes of the same path', async () => {
    const row = await withAttributes(
      text('gen_ai.system', 'openai'),
      text('wandb.attributes', '{"system":"own","n":1.50}'),
    )
    expect(attributes(row)).toEqual({ system: 'own', n: 1.5 })
  })
})
