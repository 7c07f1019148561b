// An installation whose statistics know costs, but no ops and users: charts by op are right at once, and come from the
// statistics once all are recounted.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { baseUs, type CallWorld, complete, createCallWorld } from '../fixtures/call-world.ts'

let world: CallWorld
const usage = [{ model: 'm1', requests: 1, input: 40, output: 0, total: 40, cacheRead: 0, cacheWrite: 0 }]

beforeAll(async () => {
  world = await createCallWorld()
  const run = (sql: string) => world.store.command({ name: 'test', sql, params: {} })
  await world.apply(['a', 'b'].map((opName) => complete(opName, { startedUs: baseUs, opName, userId: 'ada', usage })))
  // As the release before made them. A wrong sum, to tell them from the calls.
  for (const [unit, seconds] of [
    ['Minute', 60],
    ['Hour', 3600],
  ])
    await run(`INSERT INTO callhouse.call_stats (project_id, seconds, bucket, root, revision, calls, usage_model, usage_top,
        usage_points, usage_input_sum)
      SELECT project_id, ${seconds}, toStartOf${unit}(started_at), 1, 1, 2, ['m1'], [1], [2], [81]
      FROM callhouse.calls FINAL LIMIT 1`)
  await run(`INSERT INTO callhouse.rollups (name, partition, position, revision)
    SELECT arrayJoin(['call_stats', 'call_counts', 'call_stats_billed']), 0, 1, 1`)
})
afterAll(() => world.remove())

async function ask(group: string) {
  world.statements.length = 0
  const { json } = await world.ask('/calls/aggregate', {
    start: baseUs / 1e6,
    end: baseUs / 1e6 + 3600,
    group_by: [group],
    metrics: [{ field: 'input_tokens', as: 'sum' }],
  })
  const { groups } = json as { groups: { keys: string[]; total: Record<string, number> }[] }
  return {
    isRolled: world.statements.includes('calls.aggregate-usage-rolled'),
    groups: Object.fromEntries(groups.map(({ keys, total }) => [keys[0], total['input_tokens.sum']])),
  }
}

async function calls() {
  world.statements.length = 0
  const times = { start: baseUs / 1e6, end: baseUs / 1e6 + 3600 }
  const { json } = await world.ask('/calls/aggregate', {
    ...times,
    group_by: ['op_name'],
    metrics: [{ field: 'calls', as: 'sum' }],
  })
  const { groups } = json as { groups: { keys: string[]; total: Record<string, number> }[] }
  return {
    isRolled: world.statements.includes('calls.aggregate-rolled'),
    groups: Object.fromEntries(groups.map(({ keys, total }) => [keys[0], total['calls.sum']])),
  }
}

it('calls and tokens by op are read from the calls before anything is recounted, those by model from the statistics', async () => {
  expect(await calls()).toEqual({ isRolled: false, groups: { a: 1, b: 1 } })
  expect(await ask('op_name')).toEqual({ isRolled: false, groups: { a: 40, b: 40 } })
  expect(await ask('user')).toEqual({ isRolled: false, groups: { ada: 80 } })
  expect(await ask('model')).toEqual({ isRolled: true, groups: { m1: 81 } })
})

it('calls and tokens by op come from the statistics once all of them are recounted', async () => {
  await world.refresh()
  expect(await calls()).toEqual({ isRolled: true, groups: { a: 1, b: 1 } })
  expect(await ask('op_name')).toEqual({ isRolled: true, groups: { a: 40, b: 40 } })
  expect(await ask('user')).toEqual({ isRolled: true, groups: { ada: 80 } })
  expect(await ask('model')).toEqual({ isRolled: true, groups: { m1: 80 } })
})
