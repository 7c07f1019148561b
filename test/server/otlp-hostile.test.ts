// tier: deep slow
// OTLP over gRPC and HTTP from senders that mean no good, many at a time: others are answered meanwhile, and nothing of it is
// stored. What it costs of memory and time is measured by test/bars/otlp-hostile.test.ts.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { postLines } from '../fixtures/child-server.ts'
import {
  attack,
  honest,
  hostile,
  type OtlpTarget,
  slowSenders,
  somebodyElse,
  startOtlpTarget,
} from '../fixtures/otlp-attack.ts'

let target: OtlpTarget
beforeAll(async () => {
  target = await startOtlpTarget()
})
afterAll(() => target?.remove())

it('senders that mean no good cost nobody else an answer, and leave nothing', { timeout: 600_000 }, async () => {
  const { server } = target
  const end = Promise.withResolvers<void>()
  let answers = 0
  const others = somebodyElse(target, end.promise, () => {
    answers++
  })
  slowSenders(target, end.promise)
  let [before, during] = [0, 0]
  let faults: string[] = []
  try {
    before = answers
    faults = await attack(target)
    during = answers - before
  } finally {
    end.resolve()
  }
  const sent = await others
  expect(faults).toEqual([])
  expect(during).toBeGreaterThan(1)
  const idsOf = async (project_id: string) =>
    (await postLines<{ id: string }>(server.url, '/calls/stream_query', { project_id, columns: ['id'] })).map(
      ({ id }) => id,
    )
  expect((await idsOf(honest)).sort()).toEqual(sent.sort())
  expect(await idsOf(hostile)).toEqual([])
  expect(server.child.exitCode).toBeNull()
})
