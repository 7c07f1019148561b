// A value within the bounds of a request is also stored where a feature sends it on inside a body of its own.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createInferenceWorld, type InferenceWorld, project } from '../fixtures/inference-world.ts'

const maxDepth = 60
const maxBytes = 100_000
let world: InferenceWorld
beforeAll(async () => {
  world = await createInferenceWorld(['--max-json-depth', String(maxDepth), '--max-body-bytes', String(maxBytes)])
})
afterAll(() => world.remove())

const place = '"VALUE"'

/** The body with lists at its place that make it as deep as this. */
function deep(body: string, levels: number): string {
  const before = body.slice(0, body.indexOf(place))
  const around = before.replaceAll(/[^[{]/g, '').length - before.replaceAll(/[^\]}]/g, '').length
  return body.replace(place, '['.repeat(levels - around) + ']'.repeat(levels - around))
}

/** The body with a text at its place that makes it as long as this. */
const long = (body: string, bytes: number): string =>
  body.replace(place, `"${'x'.repeat(bytes - Buffer.byteLength(body) + place.length - 2)}"`)

const evaluated = `/v2/${project}`
const ref = `weave:///${project}/object/d:latest`
const bodies: [string, () => Promise<object> | object][] = [
  [`${evaluated}/predictions`, () => ({ model: 'm', inputs: { a: 'VALUE' }, output: 1 })],
  [`${evaluated}/predictions`, () => ({ model: 'm', inputs: {}, output: 'VALUE' })],
  [
    `${evaluated}/scores`,
    async () => {
      const { json } = await world.post(`${evaluated}/predictions`, { model: 'm', inputs: {}, output: 1 })
      return { prediction_id: json.prediction_id, scorer: `weave:///${project}/object/s:latest`, value: 'VALUE' }
    },
  ],
  [`${evaluated}/datasets`, () => ({ name: 'd', rows: [{ a: 'VALUE' }] })],
  [`${evaluated}/models`, () => ({ name: 'm', source_code: 'x', attributes: { a: 'VALUE' } })],
  [`${evaluated}/evaluations`, () => ({ name: 'e', dataset: ref, eval_attributes: { a: 'VALUE' } })],
]

describe.each(bodies)('%s %#', (path, make) => {
  it('takes a body at the bounds, and none beyond', async () => {
    const body = JSON.stringify(await make())
    for (const [sent, status] of [
      [deep(body, maxDepth), 200],
      [deep(body, maxDepth + 1), 413],
      [long(body, maxBytes), 200],
      [long(body, maxBytes + 1), 413],
    ] as const) {
      const answer = await world.post(path, sent)
      expect([sent.length, answer.status], answer.text.slice(0, 300)).toEqual([sent.length, status])
    }
  })
})

describe.each([
  ['/v1/chat/completions', 'm1'],
  ['/inference/v1/chat/completions', 'mine/m1'],
])('%s', (path, model) => {
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }], own: 'VALUE' })
  it.each([
    ['deep', () => deep(body, maxDepth)],
    ['long', () => long(body, maxBytes)],
  ])('records a request that is as %s as may be', async (_, sent) => {
    const answer = await world.post(path, sent())
    expect(answer.status, answer.text).toBe(200)
    const { inputs } = await world.callOf(answer)
    expect(inputs.own).toEqual(JSON.parse(sent()).own)
  })
})
