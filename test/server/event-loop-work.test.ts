// tier: deep slow
// Nothing holds the event loop of a server, counted, while providers of inference answer and evaluations run over large
// rows. Milliseconds are in test/bars/event-loop-work.test.ts.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { eventually } from '../fixtures/eventually.ts'
import { answerStream, chunk, completion } from '../fixtures/fake-provider.ts'
import { createInferenceWorld, type InferenceWorld, project } from '../fixtures/inference-world.ts'
import { type LoopWork, watchLoop } from '../fixtures/loop-work.ts'

const mib = 2 ** 20
/** JSON that the event loop parses and writes in one round: twice an answer that is read there. */
const maxAtOnce = 2 * mib
/** Node reads no more of a socket at once. */
const maxPieceBytes = 64 * 1024

// biome-ignore lint/suspicious/noExplicitAny: parsed answers are read at many depths
type Json = any

let world: InferenceWorld
beforeAll(async () => {
  world = await createInferenceWorld()
})
afterAll(() => world.remove())

let seen: () => LoopWork
beforeEach(() => {
  seen = watchLoop()
})

const headers = { authorization: 'Bearer test-key', 'content-type': 'application/json', project_id: project }

type Answered = { status: number; bytes: Buffer }

const ask = async (path: string, body?: unknown, signal?: AbortSignal): Promise<Answered> => {
  const answer = await fetch(world.server.now().url + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  })
  return { status: answer.status, bytes: Buffer.from(await answer.arrayBuffer()) }
}

const during = async (work: () => Promise<unknown>): Promise<LoopWork> => {
  seen()
  await work()
  return seen()
}

/** Turns at least while so many bytes come: of four pieces one, and some looks fall into other work. */
const turnsOf = (bytes: number) => bytes / maxPieceBytes / 6

const letters = (bytes: number) => '\\"\\n\\u00e9x'.repeat(bytes / 11)
const list = (bytes: number) => `[${'{"a":0},'.repeat(bytes / 8)}0]`
/** A completion with this JSON text at its end. */
const ended = (model: string, more: string) => Buffer.from(`${JSON.stringify(completion(model)).slice(0, -1)},${more}}`)
const sent = (bytes: Buffer, status = 200) =>
  world.fake.on('m', (response) => void response.writeHead(status, { 'content-type': 'application/json' }).end(bytes))
const messages = [{ role: 'user', content: 'Hi' }]

describe('a thread reads', () => {
  it.each([
    ['a long text', () => ended('m', `"more":"${letters(4 * mib)}"`)],
    ['many objects', () => ended('m', `"more":${list(3 * mib)}`)],
    ['a text as long as may be', () => ended('m', `"more":"${'é'.repeat(3 * mib)}"`)],
    ['much usage', () => Buffer.from(`{"id":"a","model":"m","usage":{"a":${list(3 * mib)}}}`)],
    ['what lacks members', () => Buffer.from(`{"choices":${list(3 * mib)}}`)],
  ])('a completion of %s', async (_, bytes) => {
    const answer = bytes()
    sent(answer)
    for (const [path, body] of [
      ['/v1/chat/completions', { model: 'm', messages }],
      ['/inference/v1/chat/completions', { model: 'mine/m', messages }],
      ['/completions/create', { project_id: project, inputs: { model: 'mine/m', messages } }],
    ] as const) {
      const before = world.fake.asked.length
      const { moved, turns, mostAtOnce, at } = await during(async () => {
        const { status, bytes } = await ask(path, body)
        expect(status).toBe(200)
        expect(bytes.length).toBeGreaterThanOrEqual(answer.length)
        // The worker has applied the recorded calls by then.
        expect((await ask('/calls/query_stats', { project_id: project })).status).toBe(200)
      })
      expect.soft(moved, path).toHaveLength(1)
      expect.soft(turns['inference/complete'], path).toBeGreaterThan(turnsOf(answer.length))
      expect.soft(mostAtOnce, `${path} in ${at}`).toBeLessThan(maxAtOnce)
      expect(world.fake.asked.length - before).toBe(1)
    }
  })

  it('an answer that is no JSON', async () => {
    sent(Buffer.from(`${list(4 * mib)}x`))
    const { moved, mostAtOnce, at } = await during(async () => {
      expect((await ask('/v1/chat/completions', { model: 'm', messages })).status).toBe(502)
    })
    expect(moved).toHaveLength(1)
    expect(mostAtOnce, at).toBeLessThan(maxAtOnce)
  })

  it('images', async () => {
    const b64_json = Buffer.alloc(3 * mib, 7).toString('base64')
    world.fake.on(
      'gpt-image-1',
      (response) => void response.end(JSON.stringify({ created: 1, data: [{ b64_json }, { b64_json }] })),
    )
    const { moved, mostAtOnce, at } = await during(async () => {
      const inputs = { model: 'gpt-image-1', prompt: 'p', n: 2 }
      const { status, bytes } = await ask('/image/create', { project_id: project, inputs })
      expect([status, bytes.length < 2000 && bytes.includes('"error"') ? bytes.toString() : '']).toEqual([200, ''])
    })
    expect(moved).toHaveLength(1)
    expect(mostAtOnce, at).toBeLessThan(maxAtOnce)
  })

  it('lists of models', async () => {
    const data = Array.from({ length: 40_000 }, (_, n) => ({ id: `m${n}`, a: { b: [n, {}, {}, {}, {}, {}, {}] } }))
    world.fake.on('/v1/models', (response) => void response.end(JSON.stringify({ data })))
    for (const path of ['/inference/router/mine/models', '/inference/v1/models']) {
      const { moved, mostAtOnce, at } = await during(async () => expect((await ask(path)).status).toBe(200))
      expect.soft(moved, path).toHaveLength(1)
      expect.soft(mostAtOnce, `${path} in ${at}`).toBeLessThan(maxAtOnce)
    }
  })
})

describe('others have their turn while', () => {
  it('a long stream comes', async () => {
    const text = 'x"é\n'.repeat(10_000)
    const chunks = Array.from({ length: 200 }, () => chunk('m', { content: text }))
    world.fake.on('m', answerStream([...chunks, chunk('m', {}, 'stop')]))
    let size = 0
    const { moved, turns, mostAtOnce, at } = await during(async () => {
      const { status, bytes } = await ask('/v1/chat/completions', { model: 'm', messages, stream: true })
      expect(status).toBe(200)
      size = bytes.length
    })
    // While it comes, and when its pieces are put together for the thread that records it.
    expect(turns['inference/upstream']).toBeGreaterThan(turnsOf(size))
    expect(turns['inference/complete']).toBeGreaterThan(turnsOf(size))
    expect(moved).toHaveLength(1)
    expect(mostAtOnce, at).toBeLessThan(maxAtOnce)
  })

  it('a stream of long chunks comes', async () => {
    const text = `{"choices":[{"index":0,"delta":{"content":"a"},"logprobs":${list(5 * mib)}}]}`
    world.fake.on('m', answerStream([text, chunk('m', {}, 'stop')]))
    const { moved, turns, mostAtOnce, at } = await during(async () => {
      expect((await ask('/v1/chat/completions', { model: 'm', messages, stream: true })).status).toBe(200)
    })
    expect(turns['inference/upstream']).toBeGreaterThan(turnsOf(text.length))
    // The long chunk, and what all of them are together.
    expect(moved).toHaveLength(2)
    expect(mostAtOnce, at).toBeLessThan(maxAtOnce)
  })

  it('an evaluation runs over large rows', { timeout: 180_000 }, async () => {
    const post = async (path: string, body: Json): Promise<Json> => {
      const { status, bytes } = await ask(path, body)
      expect([path, status]).toEqual([path, 200])
      return JSON.parse(bytes.toString())
    }
    const refOf = (id: string, digest: string) => `weave:///${project}/object/${id}:${digest}`
    const put = async (id: string, val: Json) =>
      refOf(id, (await post('/obj/create', { obj: { project_id: project, object_id: id, val } })).digest)
    const ofClass = (name: string, fields: object) => ({
      _type: name,
      _class_name: name,
      _bases: ['Object'],
      ...fields,
    })
    const text = 'x"é\n'.repeat(mib / 16)
    const rows = Array.from({ length: 2 }, (_, n) => ({ user_input: `${n}${text}`, more: JSON.parse(list(mib / 8)) }))
    const dataset = await post(`/v2/${project}/datasets`, { name: 'd', rows })
    const model = { name: 'm', llm_model_id: 'mine/echo', default_params: {} }
    const model_ref = await put('model', ofClass('LLMStructuredCompletionModel', model))
    const judge = await put(
      'judge',
      ofClass('LLMAsAJudgeScorer', {
        name: 'q',
        model: ofClass('LLMStructuredCompletionModel', model),
        column_map: {},
        scoring_prompt: 'Is {output} like {inputs}?',
      }),
    )
    const evaluation_ref = await put(
      'e',
      ofClass('Evaluation', {
        name: 'e',
        dataset: refOf(dataset.object_id, dataset.digest),
        scorers: [judge],
        trials: 1,
      }),
    )
    world.fake.on(
      'echo',
      (response, { json }) => void response.end(JSON.stringify(completion('echo', json.messages.at(-1).content))),
    )
    const { moved, mostAtOnce, at } = await during(async () => {
      const { call_id } = await post('/evaluations/evaluate_model', { project_id: project, evaluation_ref, model_ref })
      await eventually(
        async () => {
          const { status } = await post('/evaluations/status', { project_id: project, call_id })
          expect(status.code, JSON.stringify(status).slice(0, 300)).toBe('complete')
        },
        { withinMs: 160_000, everyMs: 200 },
      )
    })
    // Whoever goes over the rows, and reads what the judge says of one.
    expect(moved).toContain('evaluations.run')
    expect(mostAtOnce, at).toBeLessThan(mib / 8)
  })
})

describe('a caller that goes away while a thread reads the answer', () => {
  const gauge = async (name: string): Promise<number> => {
    const { bytes } = await ask('/metrics')
    return Number(new RegExp(`^${name} (\\S+)`, 'm').exec(bytes.toString())?.[1])
  }

  it('leaves nothing that runs, waits or is asked again', async () => {
    sent(ended('m', `"more":${list(4 * mib)}`))
    const before = world.fake.asked.length
    seen()
    // More than there are threads: some of them wait for one.
    const callers = Array.from({ length: 8 }, () => {
      const controller = new AbortController()
      const answered = ask('/v1/chat/completions', { model: 'm', messages }, controller.signal).then(
        () => 'answered',
        () => 'aborted',
      )
      return { controller, answered }
    })
    let moved = 0
    const hasBegun = () => {
      moved += seen().moved.length
      expect(moved).toBeGreaterThan(0)
    }
    await eventually(hasBegun, { everyMs: 1 })
    for (const { controller } of callers) controller.abort()
    expect(await Promise.all(callers.map(({ answered }) => answered))).toContain('aborted')
    const left = async () => [
      await gauge('callhouse_request_threads_running'),
      await gauge('callhouse_request_threads_waiting'),
    ]
    await eventually(async () => expect(await left()).toEqual([0, 0]), { withinMs: 100_000, everyMs: 100 })
    expect(world.fake.asked.length - before).toBeLessThanOrEqual(callers.length)
    sent(ended('m', '"more":1'))
    expect((await ask('/v1/chat/completions', { model: 'm', messages })).status).toBe(200)
  })
})
