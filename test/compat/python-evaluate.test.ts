// tier: deep compat
// The server runs objects that the published Python SDK publishes: an evaluation, a completion model and a judge.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { answerJson, completion } from '../fixtures/fake-provider.ts'
import { createInferenceWorld, type InferenceWorld } from '../fixtures/inference-world.ts'
import { installSdk, runPython } from '../fixtures/python-sdk.ts'

let world: InferenceWorld
const home = mkdtempSync(join(tmpdir(), 'callhouse-compat-'))
beforeAll(async () => {
  await installSdk()
  world = await createInferenceWorld(['--wire-prefix', 'wb'])
}, 300_000)
afterAll(async () => {
  await world?.remove()
  rmSync(home, { recursive: true, force: true })
})

it('runs the SDK’s own evaluation', { timeout: 180_000 }, async () => {
  world.fake.on('answerer', answerJson(completion('answerer', 'an answer')))
  world.fake.on('judging', answerJson(completion('judging', '{"right":true,"points":4}')))
  const report = await runPython('evaluate.py', ['compat/evaluate'], { url: world.server.now().url, home })
  expect(report).toEqual({
    status: {
      code: 'complete',
      output: {
        good: { right: { true_count: 2, true_fraction: 1 }, points: { mean: 4 } },
        model_latency: { mean: expect.any(Number) },
      },
    },
    op: 'Evaluation.evaluate',
    children: 3,
    exception: null,
  })
  const messages = world.fake.asked.flatMap(({ json }) => (json?.model === 'answerer' ? [json.messages] : []))
  expect(messages).toContainEqual([
    { role: 'system', content: 'Speak X.' },
    { role: 'user', content: 'a' },
  ])
  const judged = world.fake.asked.find(({ json }) => json?.model === 'judging')?.json
  expect(judged.messages).toEqual([{ role: 'user', content: 'Is an answer right?' }])
})
