// `npm run bench safety`: what access, limits, masking, removal and audit cost, each row with what it must be. Ratios are of
// turns in one run.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Head, type SealedEvent, sealed } from '../../services/core/audit/chain.ts'
import { verifyChains } from '../../services/core/audit/verify.ts'
import { openFileDirectory } from '../../services/core/directory/file.ts'
import { itemKey } from '../../services/core/directory/items.ts'
import { digestOf, newKeyText } from '../../services/core/http/key-text.ts'
import { createKeys } from '../../services/core/http/keys.ts'
import { createSessions } from '../../services/core/http/session.ts'
import { benchEdge } from './safety-edge.ts'
import { benchErasure } from './safety-erasure.ts'
import { figure } from './safety-figures.ts'
import { benchRevocationOverKafka } from './safety-kafka.ts'
import { rewritesPerRow, storedPerByte } from './safety-purge.ts'
import { benchRunningServer } from './safety-server.ts'

const at = '2026-01-01T00:00:00.000Z'

/** A data folder with so many keys, each ten of a user, and their texts. */
function folderOf(count: number): { dataDir: string; texts: string[] } {
  const dataDir = mkdtempSync(join(tmpdir(), 'callhouse-safety-'))
  const lines: string[] = []
  const line = (key: string, value: unknown) => lines.push(JSON.stringify({ key, at, by: 'bench', value }))
  const texts: string[] = []
  for (let n = 0; n < count; n++) {
    const user = `user ${Math.floor(n / 10)}`
    if (n % 10 === 0) {
      line(itemKey('user', user), { kind: 'service', entity: 'acme' })
      line(itemKey('grant', user, 'acme'), { role: 'writer' })
    }
    const { id, text } = newKeyText()
    texts.push(text)
    line(itemKey('key', id), {
      sha256: digestOf(text),
      user,
      name: '',
      scopes: ['acme/app'],
      created_at: at,
      actions: ['read', 'ingest'],
      created_by: 'bench',
    })
  }
  writeFileSync(join(dataDir, 'directory.jsonl'), `${lines.join('\n')}\n`, { mode: 0o600 })
  return { dataDir, texts }
}

const cpuUs = (): number => {
  const { user, system } = process.cpuUsage()
  return user + system
}

/** Microseconds of CPU that a check takes, as the least of some rounds. */
function cost(times: number, work: (n: number) => void): number {
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < 7; round++) {
    const before = cpuUs()
    for (let n = 0; n < times; n++) work(n)
    least = Math.min(least, (cpuUs() - before) / times)
  }
  return least
}

function keyChecks(): void {
  const sizes = [10, 100_000].map((count) => {
    const { dataDir, texts } = folderOf(count)
    const before = cpuUs()
    const directory = openFileDirectory({ dataDir })
    const startMs = (cpuUs() - before) / 1000
    const keys = createKeys(directory, { configured: [] })
    return { dataDir, texts, keys, startMs }
  })
  const [few, many] = sizes as [(typeof sizes)[0], (typeof sizes)[0]]
  const find = ({ keys, texts }: typeof few, n: number) => {
    if (keys.find(texts[n % texts.length] as string) === undefined) throw new Error('a key was not found')
  }
  const cached = cost(100_000, (n) => find(many, n % 10))
  const fewCached = cost(100_000, (n) => find(few, n))
  // Each key comes once in 100,000: none is in the cache of the last 4,096.
  const uncached = (() => {
    const directory = openFileDirectory({ dataDir: many.dataDir })
    let least = Number.POSITIVE_INFINITY
    for (let round = 0; round < 3; round++) {
      const fresh = { ...many, keys: createKeys(directory, { configured: [] }) }
      const before = cpuUs()
      for (let n = 0; n < many.texts.length; n++) find(fresh, n)
      least = Math.min(least, (cpuUs() - before) / many.texts.length)
    }
    return least
  })()
  const again = cost(100_000, (n) => find(many, n))
  const digest = cost(100_000, (n) => digestOf(many.texts[n % many.texts.length] as string))
  process.stdout.write(`the SHA-256 of a key alone, in the same run: ${digest.toFixed(2)} us\n`)
  figure('key check, cached', cached, 'us', 2)
  figure('key check, not cached, first of each of 100,000 keys', uncached, 'us', 6)
  figure('key check, not in the cache of texts, seen before', again, 'us', 6)
  figure('cached check, 100,000 keys against 10', cached / fewCached, '', 1.5)
  figure('start with 10,000 users and 100,000 keys', many.startMs / 1000, 's', 2)
  for (const { dataDir } of sizes) rmSync(dataDir, { recursive: true, force: true })
}

/** A session is opened and parsed at each request: nothing of it is kept. */
function sessionChecks(): void {
  const { dataDir, texts } = folderOf(10)
  const directory = openFileDirectory({ dataDir })
  const keys = createKeys(directory, { configured: [] })
  const config = { sessionHours: 24, sessionIdleMinutes: 60 }
  const sessions = createSessions({ keys, directory, config, masterKey: () => Buffer.alloc(32, 7) })
  const via = { origin: 'http://127.0.0.1:1', isSecure: false, isLocal: true, port: '1', basePath: '/' }
  const cookies = texts.map((text) => {
    const holder = keys.find(text)
    if (holder === undefined) throw new Error('a key was not found')
    return sessions.begin(holder, via).cookie.split(';')[0] as string
  })
  const us = cost(10_000, (n) => {
    const headers = { cookie: cookies[n % cookies.length], 'x-callhouse-page': '1' }
    if (sessions.find(headers, 'GET', via) === undefined) throw new Error('a session was not found')
  })
  figure('session check, not cached', us, 'us', 20)
  rmSync(dataDir, { recursive: true, force: true })
}

const verified = 100_000

async function auditChecks(): Promise<void> {
  let head: Head = { chain: 'chain', seq: 0, hash: '' }
  const events: SealedEvent[] = []
  const details = JSON.stringify({ before: { role: 'reader' }, after: { role: 'writer' } })
  for (let n = 0; n < verified; n++) {
    const event = sealed(head, {
      scope: 'acme/app',
      at_us: n,
      actor: 'ann',
      actor_kind: 'user',
      key_id: 'key',
      address: '127.0.0.1',
      action: 'grant.set',
      target: `user ${n}`,
      outcome: 'done',
      request_id: `request ${n}`,
      details,
      ends_from: 0,
      ends_to: 0,
    })
    events.push(event)
    head = { chain: event.chain, seq: event.seq, hash: event.hash }
  }
  async function* pieces() {
    for (let at = 0; at < events.length; at += 1_000) yield events.slice(at, at + 1_000)
  }
  const began = performance.now()
  const found = await verifyChains([], pieces())
  if (found.faultCount > 0 || found.events !== verified) throw new Error('the chain is not whole')
  const seconds = ((performance.now() - began) / 1000) * (1e6 / verified)
  figure('verify of 1 M audit events, in memory, without reading them', seconds, 's', 20)
}

async function retentionRewrites(): Promise<void> {
  const [rewrites, stored] = [rewritesPerRow(35), await storedPerByte()]
  process.stdout.write(
    `rows are rewritten ${rewrites.toFixed(2)} times, and a sent byte takes ${stored.toFixed(2)} in the files\n`,
  )
  figure('retention, fifty projects: bytes rewritten per byte sent', rewrites * stored, '', 2)
}

/** @param calls that are stored beside those that are erased @param only one part of them; all when it is absent */
export async function benchSafety(calls: number, only?: string): Promise<void> {
  const parts: Record<string, () => Promise<void> | void> = {
    keys: keyChecks,
    sessions: sessionChecks,
    edge: benchEdge,
    server: benchRunningServer,
    kafka: benchRevocationOverKafka,
    erasure: () => benchErasure(calls),
    retention: retentionRewrites,
    audit: auditChecks,
  }
  const named = Object.entries(parts).filter(([name]) => only === undefined || name === only)
  if (named.length === 0) throw new Error(`${only} is none of ${Object.keys(parts).join(', ')}`)
  for (const [, part] of named) await part()
}
