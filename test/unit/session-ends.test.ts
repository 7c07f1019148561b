// Sessions that were ended one by one are remembered, up to a bound.
import { expect, it } from 'vitest'
import type { Change } from '../../services/core/directory/directory.ts'
import { applyItem, emptyState } from '../../services/core/directory/state.ts'
import type { KeyHolder } from '../../services/core/http/holder.ts'
import { createSessions } from '../../services/core/http/session.ts'

const via = { isSecure: true, isLocal: false, basePath: '/', port: 443, origin: 'https://here' }

it('beyond a thousand sign-outs of a user one item ends all of his sessions, and those of others count', async () => {
  const state = emptyState()
  let nowMs = Date.parse('2026-03-01T00:00:00Z')
  const sessions = createSessions({
    keys: { findId: (id) => ({ userId: id }) as KeyHolder },
    masterKey: () => Buffer.alloc(32, 1),
    directory: {
      state: () => state,
      async append(changes: readonly Change[], by: string) {
        for (const { key, value } of changes) applyItem(state, { key, value, at: new Date(nowMs).toISOString(), by })
      },
    },
    config: { sessionHours: 24, sessionIdleMinutes: 600 },
    now: () => nowMs,
  })
  const begun = (user: string) => sessions.begin({ userId: user, keyId: user } as KeyHolder, via as never)
  const headersOf = ({ cookie }: { cookie: string }) => ({
    cookie: cookie.split(';')[0],
    'x-callhouse-page': '1',
    'sec-fetch-site': 'same-origin',
  })
  const finds = (one: { cookie: string }) => sessions.find(headersOf(one), 'GET', via as never) !== undefined
  const first = begun('ann')
  const other = begun('ben')
  for (let n = 0; n < 1_000; n++) await sessions.end(begun('ann').session, via as never)
  expect([state.sessionEnds.size, finds(first), finds(other)]).toEqual([1_000, true, true])
  const last = begun('ann')
  await sessions.end(last.session, via as never)
  expect([finds(last), finds(first), finds(other)]).toEqual([false, false, true])
  expect(state.sessionEnds.size).toBe(1)
  expect(state.sessionsEnds.size).toBe(1)
  nowMs += 1_000
  expect(finds(begun('ann'))).toBe(true)
})
