// tier: deep compat
// The published Node SDK publishes a dataset and reads it back.
import { expect, it } from 'vitest'
import { runNode } from '../fixtures/node-sdk.ts'
import { sdkServer } from '../fixtures/sdk-server.ts'

type Report = { refs: [string, string]; back: unknown[] }

const server = sdkServer()

it('the Node SDK reads back the rows that it published, and the same digest for the same rows', async () => {
  const { refs, back } = await runNode<Report>('dataset.mjs', ['compat/node-objects'], server)
  expect(back).toEqual(Array.from({ length: 12 }, (_, i) => ({ i, half: i / 2, text: `row ${i} é` })))
  expect(refs[0]).toMatch(/^weave:\/\/\/compat\/node-objects\/object\/set:\w{43}$/)
  expect(refs[1]).toBe(refs[0])
})
