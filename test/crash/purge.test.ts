// tier: deep crash
// A purge that is killed at each of its statements, while it runs and after it, is finished by those after it: nothing of
// what retention hides is left in any table, everything else is, and the counts are those of what is left.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ChildServer, post, postLines, startChildServer } from '../fixtures/child-server.ts'
import { placesInFolder, runOnStore } from '../fixtures/data-folder.ts'
import { copyMigratedStore } from '../fixtures/setup.ts'

const [aged, other] = ['purged/app', 'purged/other']
const [gone, stays] = ['canary-gone', 'canary-stays']
const calls = 12
const purgeModule = new URL('../../services/removal/purge.ts', import.meta.url).href
let folder: string
/** Statements, and whether it was killed while they ran or after them. */
const killedAt: string[] = []

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'callhouse-purge-'))
  await copyMigratedStore(folder)
  let server = await startChildServer(folder)
  try {
    await fill(server, aged, gone, '2025-03-10T12:00:00Z')
    await fill(server, aged, stays, '2025-03-20T12:00:00Z', calls)
    await fill(server, other, stays, '2025-03-10T12:00:00Z')
    await server.kill()
    // Accepted writes are in the tables once it serves.
    server = await startChildServer(folder)
  } finally {
    await server.stop()
  }
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const idOf = (n: number): string => `0199a0c8-0000-7000-8000-${String(n).padStart(12, '0')}`

async function fill(server: ChildServer, project_id: string, word: string, at: string, from = 0): Promise<void> {
  const send = async (path: string, body: unknown): Promise<void> => {
    const { status, text } = await post(server.url, path, body)
    expect([path, status < 300 ? '' : text]).toEqual([path, ''])
  }
  for (let n = from; n < from + calls; n++) {
    const of = { project_id, id: idOf(n) }
    const start = {
      ...of,
      trace_id: idOf(n),
      op_name: `op ${word}`,
      started_at: at,
      thread_id: word,
      turn_id: idOf(n),
      attributes: { of: word },
      inputs: { text: word },
      display_name: word,
    }
    await send('/call/start', { start })
    await send('/call/end', { end: { ...of, ended_at: at, output: [word], summary: {} } })
    const weave_ref = `weave:///${project_id}/call/${idOf(n)}`
    await send('/feedback/create', { project_id, weave_ref, feedback_type: 'note', payload: { note: word } })
  }
}

/**
 * One purge that is killed at one of its statements: each begins anew with what those before it have not removed.
 * @returns what it printed; undefined = it was killed
 */
function purgeOnce(when: 'while' | 'after', statement: number): string | undefined {
  const beforeUs = Date.parse('2025-03-15T00:00:00Z') * 1_000
  const program = `
    const { createPurge } = await import('${purgeModule}')
    let at = 0
    const die = () => process.kill(process.pid, 'SIGKILL')
    const command = async (query, options) => {
      if (++at < ${statement}) return store.command(query, options)
      console.log(query.sql.slice(0, 120))
      const running = store.command(query, options)
      if (${when === 'while'}) {
        let hasEnded = false
        running.finally(() => { hasEnded = true })
        const active = "SELECT query FROM system.processes WHERE query_kind IN ('Delete', 'Alter')"
        while (!hasEnded && (await rows(active)).length === 0);
        die()
      }
      await running
      die()
      await new Promise(() => {})
    }
    const cutoffs = { callsUs: ${beforeUs}, valuesUs: ${beforeUs} }
    const rules = { cutoffsOf: (id) => (id === '${aged}' ? cutoffs : undefined) }
    const held = { isAny: () => false, of: async () => new Set() }
    const of = { held, derived: async () => new Map() }
    const purge = createPurge({ ...of, store: { rows: store.rows, command }, rules, roundDays: 1 })
    console.log('DONE', JSON.stringify(await purge.run()))`
  try {
    return runOnStore(folder, program)
  } catch (error) {
    killedAt.push(`${when} ${(error as { stdout?: string }).stdout?.trim()}`)
    if ((error as { signal?: string }).signal === 'SIGKILL') return undefined
    throw error
  }
}

/** Rows that stay and can be read, whole and in order; of what was written several times, the one that counts. */
const staying = (): string[] =>
  runOnStore(
    folder,
    `for (const table of ['calls', 'payloads', 'feedback'])
      for (const row of await rows('SELECT * FROM callhouse.' + table + ' FINAL ORDER BY ALL'))
        if (JSON.stringify(row).includes('${stays}')) console.log(table, JSON.stringify(row))`,
  )
    .trimEnd()
    .split('\n')

it('a purge is finished wherever it was killed', async () => {
  const before = staying()
  // Rows of both projects: a call, its two payloads and its feedback.
  expect(before).toHaveLength(2 * calls * 4)
  const tablesOf = (places: readonly string[]) =>
    [...new Set(places.filter((place) => place.startsWith('FOUND')).map((place) => place.split(' ')[1]))].sort()
  const goneBefore = await placesInFolder(folder, gone, calls)
  expect(tablesOf(goneBefore)).toEqual(expect.arrayContaining(['calls', 'feedback', 'payloads', 'turns']))
  let kills = 0
  let output: string | undefined
  while (output === undefined && kills < 40) {
    output = purgeOnce(kills % 3 === 0 ? 'while' : 'after', 1 + (kills % 4))
    if (output === undefined) kills++
  }
  expect(output ?? '', killedAt.join('\n')).toContain('DONE')
  expect(purgeOnce('after', 1)).toContain('DONE {"rows":0,"rewritten":[]}')
  // While rows went, and while they were taken out of the files.
  for (const statement of ['DELETE FROM callhouse.', 'APPLY DELETED MASK'])
    expect(killedAt.filter((one) => one.includes(statement)).length, killedAt.join('\n')).toBeGreaterThan(2)
  expect(tablesOf(await placesInFolder(folder, gone, calls))).toEqual([])
  expect(staying()).toEqual(before)
  const server = await startChildServer(folder)
  try {
    for (const project_id of [aged, other]) {
      const { text } = await post(server.url, '/calls/query_stats', { project_id })
      expect([project_id, JSON.parse(text)]).toMatchObject([project_id, { count: calls }])
      const listed = await postLines<{ display_name: string }>(server.url, '/calls/stream_query', { project_id })
      expect(listed.map(({ display_name }) => display_name)).toEqual(Array(calls).fill(stays))
    }
  } finally {
    await server.stop()
  }
})
