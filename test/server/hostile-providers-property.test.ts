// tier: deep property
// Property: whatever a provider answers, the client gets a whole answer or an honest end, and nothing unexpected is logged.
// HOSTILE_RUNS sets how many answers are tried, HOSTILE_SEED which ones.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { chunk, completion } from '../fixtures/fake-provider.ts'
import { damagedBytes, damagedValue } from '../fixtures/hostile.ts'
import { textOf } from '../fixtures/hostile-text.ts'
import { createInferenceWorld, eventsOf, type InferenceWorld } from '../fixtures/inference-world.ts'
import { createRandom, type Random } from '../fixtures/random.ts'
import { limitMs, runs } from '../fixtures/runs.ts'

const requests = Number(process.env.HOSTILE_RUNS ?? runs(240, 1_600))
const seed = Number(process.env.HOSTILE_SEED ?? 13)

let world: InferenceWorld
beforeAll(async () => {
  world = await createInferenceWorld()
})
afterAll(() => world.remove())

const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
const call = { index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }
const chunks = [
  chunk('m', { role: 'assistant', content: 'x', reasoning: 'y', tool_calls: [call] }),
  { ...chunk('m', {}, 'stop'), usage: { total_tokens: 1 } },
]
const odd = [
  'null',
  '3',
  '"x"',
  '[]',
  '{}',
  deep,
  `{"choices":[],"usage":${deep}}`,
  `{"error":${deep}}`,
  '{"error":{}}',
  '',
]
const frames = [
  '\n',
  ':\n\n',
  'data\n\n',
  'event: error\n',
  'data: [DONE]\n\n',
  '\r\r',
  '\ufeff',
  'retry: 1\n\n',
  'data:\n\n',
]
const types = [
  'text/event-stream',
  'text/event-stream;charset=utf-8',
  'application/json',
  'text/html',
  '',
  'TEXT/EVENT-STREAM',
]

/** A stream with one thing wrong, seldom none. */
function streamOf(random: Random): Buffer {
  const at = random.below(chunks.length + 1)
  const texts = chunks.map((one) => textOf(one))
  const how = random.below(5)
  if (how === 0) texts.splice(at, 0, random.pick(odd))
  if (how === 1) texts[0] = textOf(damagedValue(random, chunks[0]).value)
  const events = [...texts, '[DONE]'].map((text) => `data: ${text.replaceAll('\n', ' ')}\n\n`)
  if (how === 2) events.splice(at, 0, random.pick(frames))
  const bytes = Buffer.from(events.join(''))
  return how === 3 ? damagedBytes(random, bytes) : bytes
}

function wholeOf(random: Random): Buffer {
  if (random.chance(0.3)) return Buffer.from(random.pick(odd))
  const bytes = Buffer.from(textOf(damagedValue(random, completion('m')).value))
  return random.chance(0.3) ? damagedBytes(random, bytes) : bytes
}

const statuses = new Map<number, number>()

async function tryOne(random: Random, n: number): Promise<string> {
  const isStream = random.chance(0.6)
  const body = isStream ? streamOf(random) : wholeOf(random)
  const status = random.chance(0.75) ? 200 : random.pick([201, 204, 301, 400, 401, 429, 500, 599])
  const usual = isStream ? 'text/event-stream' : 'application/json'
  const type = random.chance(0.85) ? usual : random.pick(types)
  const isCut = random.chance(0.1)
  world.fake.on(`m${n}`, (response) => {
    response.writeHead(status, { 'content-type': type, 'retry-after': random.pick(['1', '', 'é', '-']) })
    if (isCut) response.write(body, () => response.destroy())
    else response.end(status === 204 ? undefined : body)
  })
  const path = random.pick(['/v1/chat/completions', '/inference/v1/chat/completions', '/completions/create_stream'])
  const model = path.startsWith('/v1') ? `m${n}` : `mine/m${n}`
  const inputs = { model, messages: [{ role: 'user', content: 'x' }], stream: isStream }
  const isLines = path.startsWith('/completions')
  const answer = await world.post(path, isLines ? { project_id: 'ent/proj', inputs } : inputs)
  statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
  const shown = `${answer.status} ${answer.text.slice(0, 200)} for ${status} ${type}: ${body.subarray(0, 300)}`
  if (answer.status >= 400) return answer.status !== 500 && typeof answer.json?.error?.message === 'string' ? '' : shown
  if (isLines) return answer.text.endsWith('\n') ? '' : shown
  if (isStream) return eventsOf(answer.text).at(-1) === '[DONE]' ? '' : shown
  return answer.json === undefined ? shown : ''
}

it('whatever a provider answers is passed on, or reported as its failure', { timeout: limitMs(300_000) }, async () => {
  const random = createRandom(seed)
  const failed: string[] = []
  for (let n = 0; n < requests; n += 8) {
    const some = Array.from({ length: 8 }, (_, k) => tryOne(random, n + k).catch((error: unknown) => String(error)))
    failed.push(...(await Promise.all(some)).filter((text) => text !== ''))
  }
  expect(failed).toEqual([])
  for (const status of [200, 502]) expect(statuses.get(status), `${status}`).toBeGreaterThan(requests / 10)
  expect(world.server.lines.filter((line) => /"level":(50|60)/.test(line))).toEqual([])
  expect(await world.calls()).not.toEqual([])
})
