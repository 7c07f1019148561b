// tier: deep compat
// The published Python SDK's client makes images and reads them as content.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { answerJson } from '../fixtures/fake-provider.ts'
import { createInferenceWorld, type InferenceWorld } from '../fixtures/inference-world.ts'
import { installSdk, runPython } from '../fixtures/python-sdk.ts'

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
let world: InferenceWorld
const home = mkdtempSync(join(tmpdir(), 'callhouse-compat-'))
beforeAll(async () => {
  await installSdk()
  world = await createInferenceWorld(['--wire-prefix', 'wb', '--allow-private-networks', 'true'])
}, 300_000)
afterAll(async () => {
  await world?.remove()
  rmSync(home, { recursive: true, force: true })
})

it('images that the Python SDK sends are stored as its own content', { timeout: 180_000 }, async () => {
  world.fake.on('dall-e-2', answerJson({ created: 1, data: [{ url: `${world.fake.url}/cat.png` }] }))
  world.fake.on('/v1/cat.png', (response) => void response.writeHead(200).end(png))
  const report = await runPython('images.py', ['compat/images'], { url: world.server.now().url, home })
  expect(report).toEqual({
    type: 'Content',
    size: png.length,
    mimetype: 'image/png',
    whole: true,
    refused: ['Missing secret: GEMINI_API_KEY', null],
    op: 'weave.image_generation_create',
    in_call: ['Content', true],
    usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
  })
})
