// Limits of keys, projects and entities: exact in one process, told in headers, given back when nothing was appended.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { EntityLimits, KeyLimits, ProjectLimits } from '../../schemas/project-settings.ts'
import type { Fault } from '../../services/core/http/errors.ts'
import { holderOf } from '../../services/core/http/holder.ts'
import { createAccounts, type RequestAccount } from '../../services/core/http/rates/accounts.ts'
import { createBuckets } from '../../services/core/http/rates/buckets.ts'
import { createMeter } from '../../services/core/http/rates/meter.ts'
import { createQuotas } from '../../services/core/http/rates/quotas.ts'
import { parseProjectId } from '../../services/core/ids.ts'

const minute = 60_000
const project = parseProjectId('acme/app')
const other = parseProjectId('acme/other')

type Given = {
  key?: KeyLimits
  projects?: Record<string, ProjectLimits>
  entities?: Record<string, EntityLimits>
  edges?: number
  quotaStatus?: 403 | 429
  dayBytes?: number
  storedBytes?: number
}

function world({ key, projects = {}, entities = {}, edges = 1, quotaStatus = 403, ...figures }: Given = {}) {
  const clock = { ms: 1_800_000_000_000 }
  const now = () => clock.ms
  const near: string[] = []
  const asked: [string, number][] = []
  const meter = createMeter({ now })
  const ofScope = (scope: string) => projects[scope] ?? entities[scope]
  const quotas = createQuotas({
    settings: () => Object.entries({ ...projects, ...entities }),
    ofScope,
    async dayBytes(scope, since) {
      asked.push([scope, since])
      return figures.dayBytes ?? 0
    },
    storedBytes: async () => figures.storedBytes ?? 0,
    onNear: (scope, kind) => near.push(`${scope} ${kind}`),
    onError(error) {
      throw error
    },
    now,
  })
  const settings = {
    ofKey: (id: string) => (id === 'k1' && key !== undefined ? [[id, key] as const] : []),
    ofProject: (id: string) => projects[id],
  }
  const accounts = createAccounts({ settings, quotas, meter, edges, quotaStatus, now, random: () => 0.5 })
  const holder = holderOf({ userId: 'u', entity: 'acme', access: { '*': ['ingest', 'read'] } }, 'k1')
  const begin = (right: 'ingest' | 'read' | 'infer' | 'admin' = 'ingest') => accounts.begin(holder, { right })
  return { clock, accounts, quotas, meter, near, asked, begin, figures }
}

const rows = (bytes: number, calls = 1, id = project) => new Map([[id as string, { bytes, calls }]])
const over = { isRefused: false, bytesIn: 0, bytesOut: 0, ms: 0 }

function faultOf(work: () => unknown): Fault {
  try {
    work()
  } catch (error) {
    return error as Fault
  }
  throw new Error('was not refused')
}

describe('a bucket', () => {
  it('never gives more than its rate and a full one in any time, and a request that waits as told is taken', () => {
    const steps = fc.array(fc.tuple(fc.integer({ min: 0, max: 20_000 }), fc.integer({ min: 1, max: 40 })), {
      maxLength: 200,
    })
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 100 }), (all, perMinute) => {
        let ms = 0
        const buckets = createBuckets({ now: () => ms })
        let taken = 0
        for (const [pause, amount] of all) {
          ms += pause
          const wait = buckets.take('one', perMinute, Math.min(amount, perMinute))
          if (wait === undefined) taken += Math.min(amount, perMinute)
          else if (pause % 2 === 0) {
            ms += wait
            expect(buckets.take('one', perMinute, Math.min(amount, perMinute))).toBeUndefined()
            taken += Math.min(amount, perMinute)
          }
          expect(taken).toBeLessThanOrEqual(perMinute + (perMinute * ms) / minute)
        }
      }),
    )
  })

  it('takes what is more than it holds when it is full, and owes the rest', () => {
    let ms = 0
    const buckets = createBuckets({ now: () => ms })
    expect(buckets.take('one', 100, 300)).toBeUndefined()
    expect(buckets.take('one', 100, 1)).toBe(2 * minute + minute / 100)
    ms = 2 * minute
    expect(buckets.left('one', 100)).toEqual({ amount: 0, fullMs: minute })
  })

  it('is one of as many as were used last', () => {
    const buckets = createBuckets({ now: () => 0, max: 2 })
    for (const name of ['a', 'b', 'a', 'c']) buckets.take(name, 10, 5)
    expect(buckets.left('a', 10).amount).toBe(0)
    expect(buckets.left('b', 10).amount).toBe(10)
  })
})

describe('requests of a minute', () => {
  it('of a key: the next one is 429 with when to come back, and is taken then', () => {
    const { begin, clock } = world({ key: { requests_per_minute: 6 } })
    const accounts = Array.from({ length: 6 }, () => begin())
    const empty = '"key";r=0;t=60'
    expect(accounts.map((account) => account.headers()?.RateLimit)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      empty,
      empty,
    ])
    const refused = faultOf(() => begin())
    expect([refused.status, refused.body, refused.headers, refused.policy]).toEqual([
      429,
      {
        reason: 'Too many requests per minute for this key',
        type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
        'violated-policies': ['key'],
      },
      // 10 s and a tenth
      { 'Retry-After': '11', 'RateLimit-Policy': '"key";q=6;w=60', RateLimit: '"key";r=0;t=60' },
      'key',
    ])
    clock.ms += 10_000
    begin()
    expect(faultOf(() => begin()).status).toBe(429)
  })

  it('of a project count once per request, and other projects do not feel them', () => {
    const { begin, meter } = world({ projects: { [project]: { requests_per_minute: 2 } } })
    const [one, two, three] = [begin(), begin(), begin()] as [RequestAccount, RequestAccount, RequestAccount]
    for (const account of [one, one, two]) account.open(project)
    expect(faultOf(() => three.open(project)).policy).toBe('project')
    three.open(other)
    expect(meter.take()).toMatchObject([{ projectId: project, keyId: 'k1', refused: 1 }])
  })

  it('that set limits are not limited', () => {
    const { begin } = world({ key: { requests_per_minute: 1 }, projects: { [project]: { requests_per_minute: 1 } } })
    begin().open(project)
    for (let n = 0; n < 2; n++) begin('admin').open(project)
    expect(faultOf(() => begin()).policy).toBe('key')
  })

  it('are shared by the edges', () => {
    const { begin } = world({ key: { requests_per_minute: 10 }, edges: 4 })
    begin()
    begin()
    expect(faultOf(() => begin()).headers['RateLimit-Policy']).toBe('"key";q=2;w=60')
  })
})

describe('rows of a minute', () => {
  it.each([
    ['key-bytes', { key: { bytes_per_minute: 100 } }],
    ['key-calls', { key: { calls_per_minute: 3 } }],
    ['project-bytes', { projects: { [project]: { bytes_per_minute: 100 } } }],
    ['project-calls', { projects: { [project]: { calls_per_minute: 3 } } }],
  ])('%s: all of a batch are taken or none', (policy, given) => {
    const { begin } = world(given)
    begin().append(rows(60, 2))(true)
    expect(faultOf(() => begin().append(rows(60, 2))).policy).toBe(policy)
    begin().append(rows(40, 1))
  })

  it('that were not appended are given back, those of the limits that did not refuse too', () => {
    const { begin } = world({ key: { bytes_per_minute: 50 }, projects: { [project]: { bytes_per_minute: 100 } } })
    const refused = faultOf(() => {
      begin().append(rows(40))(true)
      begin().append(rows(40))
    })
    expect(refused.policy).toBe('key-bytes')
    begin().append(rows(10))(false)
    begin().append(rows(10))(true)
    const { begin: again } = world({ projects: { [project]: { bytes_per_minute: 100 } } })
    for (let n = 0; n < 5; n++) again().append(rows(90))(false)
    again().append(rows(90))(true)
    expect(faultOf(() => again().append(rows(90))).policy).toBe('project-bytes')
  })

  it('of inference are charged and never refused', () => {
    const { begin } = world({ projects: { [project]: { bytes_per_minute: 100 } } })
    for (let n = 0; n < 3; n++) begin('infer').append(rows(90))(true)
    expect(faultOf(() => begin().append(rows(20))).policy).toBe('project-bytes')
  })
})

describe('quotas', () => {
  it('of a day: 403 that lasts, from what the tables tell and what was accepted here since', async () => {
    const { begin, quotas, asked, clock, near } = world({
      projects: { [project]: { bytes_per_day: 1_000 } },
      dayBytes: 700,
    })
    await quotas.refresh()
    expect(near).toEqual([])
    begin().append(rows(200))(true)
    await quotas.refresh()
    expect(near).toEqual([`${project} day`])
    begin().append(rows(200))(true)
    const refused = faultOf(() => begin().append(rows(1)))
    expect([refused.status, refused.headers]).toEqual([
      403,
      {
        'X-Should-Retry': 'false',
        'RateLimit-Policy': '"project-day";q=1000;qu="content-bytes";w=86400',
        RateLimit: '"project-day";r=0;t=86400',
      },
    ])
    expect(asked.at(-1)).toEqual([project, clock.ms - (clock.ms % minute) - 2 * minute])
    // Bytes that are in the tables by then are not counted twice.
    clock.ms += 10 * minute
    await quotas.refresh()
    begin().append(rows(200))(true)
    expect(near).toHaveLength(1)
  })

  it("of an entity bind all of its projects; the status is the operator's", async () => {
    const { begin, quotas, figures } = world({ entities: { acme: { stored_bytes: 500 } }, quotaStatus: 429 })
    await quotas.refresh()
    begin().append(rows(500, 1, other))(true)
    const refused = faultOf(() => begin().append(rows(1)))
    expect([refused.status, refused.headers['Retry-After'], refused.headers.RateLimit]).toEqual([
      429,
      '3600',
      '"entity-stored";r=0',
    ])
    // Deleted bytes give room.
    figures.storedBytes = 100
    await quotas.refresh()
    begin().append(rows(1))
  })
})

describe('reads at one time', () => {
  it('of a project: one more is 429 until one has ended; statements of one request have one place', () => {
    const { begin } = world({ projects: { [project]: { concurrent_reads: 1, concurrent_exports: 1 } } })
    const [one, two] = [begin('read'), begin('read')]
    one.read(project, 'interactive')
    one.read(project, 'interactive')
    const refused = faultOf(() => two.read(project, 'interactive'))
    expect([refused.status, refused.policy, refused.headers['Retry-After']]).toEqual([429, 'project-reads', '1'])
    two.read(project, 'export')
    two.read(project, 'background')
    two.read(other, 'interactive')
    one.end(over)
    begin('read').read(project, 'interactive')
  })
})

describe('what is counted', () => {
  it('is the whole of a minute whenever it is taken, by project and key', () => {
    const { begin, meter, clock, accounts } = world()
    const write = begin()
    write.open(project)
    write.append(rows(70, 2))(true)
    write.end({ isRefused: false, bytesIn: 50, bytesOut: 9, ms: 3 })
    write.end({ isRefused: false, bytesIn: 50, bytesOut: 9, ms: 3 })
    const [first] = meter.take()
    const at = clock.ms - (clock.ms % minute)
    const counts = {
      requests: 1,
      refused: 0,
      calls: 2,
      bytesIn: 50,
      bytesStored: 70,
      reads: 0,
      readMs: 0,
      readBytes: 0,
      masked: 0,
    }
    expect(first).toEqual({ projectId: project, keyId: 'k1', minuteMs: at, ...counts })
    expect(meter.take()).toEqual([])
    const read = begin('read')
    read.open(project)
    read.end({ isRefused: false, bytesIn: 1, bytesOut: 1000, ms: 7.4 })
    accounts.appended(rows(5, 1))
    expect(meter.take()).toEqual([
      { ...first, requests: 2, bytesIn: 51, reads: 1, readMs: 7, readBytes: 1000 },
      { ...first, keyId: '', requests: 0, calls: 1, bytesIn: 0, bytesStored: 5 },
    ])
  })

  it('is taken again when it was not written, and what came meanwhile with it', () => {
    const { begin, meter, clock } = world()
    const write = (bytes: number) => begin().append(rows(bytes))(true)
    write(1)
    meter.putBack(meter.take())
    write(2)
    expect(meter.take()).toMatchObject([{ bytesStored: 3 }])
    write(4)
    clock.ms += 2 * minute
    const late = meter.take()
    meter.putBack(late)
    expect(meter.take()).toEqual(late)
    expect(late).toMatchObject([{ bytesStored: 7 }])
  })

  it('of more pairs than are told apart is that of one key', () => {
    const meter = createMeter({ now: () => 0, maxPairs: 2 })
    for (const key of ['a', 'b', 'c', 'd']) meter.of('p', key).calls++
    expect(meter.take().map(({ keyId, calls }) => [keyId, calls])).toEqual([
      ['a', 1],
      ['b', 1],
      ['other', 2],
    ])
  })
})
