// tier: deep compat
// The published Python SDK gives feedback to calls, lists it, reads it with the calls and purges it.
import { describe, expect, it } from 'vitest'
import { post } from '../fixtures/child-server.ts'
import { installSdk, runPython, sdkVersion } from '../fixtures/python-sdk.ts'
import { sdkServer } from '../fixtures/sdk-server.ts'

type Listed = { id: string; type: string; payload: Record<string, unknown>; ref: string; user: string }
type Report = {
  ids: string[]
  listed: Listed[]
  ref: string
  reactions: number
  all: number
  one: string[]
  page: number
  included: string[][]
  left: string[]
}

describe(`feedback of the Python SDK ${sdkVersion}`, () => {
  const server = sdkServer(installSdk)

  it('is added, listed, read with calls and purged', { timeout: 180_000 }, async () => {
    const report = await runPython<Report>('feedback.py', ['compat/python-feedback'], server)
    const types = ['wandb.reaction.1', 'wandb.note.1', 'custom']
    expect(report.listed.map(({ id }) => id).sort()).toEqual([...report.ids].sort())
    const listed = new Map(report.listed.map((one) => [one.type, one]))
    expect(types.map((type) => listed.get(type)?.payload)).toEqual([
      {
        emoji: '👍🏽',
        alias: ':thumbs_up_medium_skin_tone:',
        detoned: '👍',
        detoned_alias: ':thumbs_up:',
      },
      { note: 'well done' },
      { score: 1.5, big: JSON.parse('123456789012345678901') },
    ])
    expect(report.listed.every(({ ref, user }) => ref === report.ref && user === 'tester')).toBe(true)
    expect(report).toMatchObject({ reactions: 1, all: 4, one: ['wandb.note.1'], page: 2 })
    expect(report.included.map((of) => of.sort())).toEqual([[...types].sort(), ['wandb.reaction.1']])
    expect(report.left.sort()).toEqual(['custom', 'wandb.reaction.1'])
  })

  it('is created as the Node SDK sends it', async () => {
    const project_id = 'compat/node-feedback'
    const weave_ref = `weave:///${project_id}/call/1`
    const sent = { project_id, weave_ref, creator: null, feedback_type: 'wandb.reaction.1', payload: { emoji: '👍' } }
    const created = await post(server.url, '/feedback/create', sent)
    expect([created.status, JSON.parse(created.text)]).toEqual([
      200,
      {
        id: expect.any(String),
        created_at: expect.stringMatching(/Z$/),
        wb_user_id: 'tester',
        payload: { emoji: '👍', alias: ':thumbs_up:', detoned: '👍', detoned_alias: ':thumbs_up:' },
      },
    ])
    const query = { $expr: { $eq: [{ $getField: 'weave_ref' }, { $literal: weave_ref }] } }
    const read = await post(server.url, '/feedback/query', { project_id, query })
    expect(JSON.parse(read.text)).toMatchObject({ result: [{ weave_ref, wb_user_id: 'tester' }], total_count: 1 })
  })
})
