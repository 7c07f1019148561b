// `npm run bench safety`: what access costs: key checks by the number of keys, and the start with a large directory.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openFileDirectory } from '../../services/core/directory/file.ts'
import { itemKey } from '../../services/core/directory/items.ts'
import { digestOf, newKeyText } from '../../services/core/http/key-text.ts'
import { createKeys } from '../../services/core/http/keys.ts'

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
      ...{ sha256: digestOf(text), user, name: '', scopes: ['acme/app'], created_at: at },
      ...{ actions: ['read', 'ingest'], created_by: 'bench' },
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

const figure = (name: string, value: number, unit: string, must: number): void => {
  const verdict = value <= must ? 'ok' : 'MISSED'
  process.stdout.write(
    `${name.padEnd(58)} ${value.toFixed(2).padStart(9)} ${unit.padEnd(3)} must ${must}  ${verdict}\n`,
  )
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

export async function benchSafety(): Promise<void> {
  keyChecks()
}
