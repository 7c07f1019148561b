// `callhouse doctor`: looks at the machine, the settings and the engines, and says what an operator should change.
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { access, constants, statfs } from 'node:fs/promises'
import { arch, platform, totalmem } from 'node:os'
import { dirname } from 'node:path'
import { createSecureContext } from 'node:tls'
import { directoryFile, openFileDirectory } from '../core/directory/file.ts'
import { comfortableFreeBytes, requiredFreeBytes } from '../core/files/free-space.ts'
import { openToOthers } from '../core/files/private-folder.ts'
import { keysFileOf, readKeysFile } from '../core/http/keys-file.ts'
import { connectionsFor, enoughFiles, openFilesLimit } from '../core/process/file-limit.ts'
import { quantity } from '../core/quantity.ts'
import { statement } from '../core/store/statements.ts'
import type { Store } from '../core/store/store.ts'
import { openProviders } from '../inference/providers.ts'
import { ageOfPrices, staleAfterDays, stalePricesText } from '../query/costs/price-age.ts'
import { missingText, readApplied } from '../worker/applied/table.ts'
import { declaredViews, missingViews } from '../worker/views.ts'
import type { Config } from './config.ts'
import { databaseOf, hasEmbeddedStore, hasSharedLog, reachOf } from './drivers.ts'

type Verdict = 'ok' | 'warn' | 'fail'
export type Finding = { check: string; verdict: Verdict; says: string }

export const ok = (check: string, says: string): Finding => ({ check, verdict: 'ok', says })
export const warn = (check: string, says: string): Finding => ({ check, verdict: 'warn', says })
export const fail = (check: string, says: string): Finding => ({ check, verdict: 'fail', says })

const gib = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(1)} GiB`

/** Instructions that the engine's build for x86 uses. */
const neededCpu = ['ssse3', 'sse4_1', 'sse4_2', 'popcnt', 'pclmulqdq']

function cpu(): Finding {
  if (platform() !== 'linux' || arch() !== 'x64') return ok('cpu', arch())
  const flags = new Set(/^flags\s*: (.*)$/m.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1]?.split(' '))
  const missing = neededCpu.filter((flag) => !flags.has(flag))
  return missing.length === 0
    ? ok('cpu', 'x64 with what the engine needs')
    : fail('cpu', `the embedded engine needs ${missing.join(', ')}, which this processor or virtual machine lacks`)
}

function machine(config: Config): Finding[] {
  const name = `${platform()}-${arch()}`
  const known = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64']
  const embedded = hasEmbeddedStore(config)
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } }
  const isMusl = platform() === 'linux' && header.glibcVersionRuntime === undefined
  const findings = [
    !embedded || known.includes(name)
      ? ok('platform', name)
      : fail('platform', `there is no embedded engine for ${name}; a ClickHouse server works`),
  ]
  if (embedded && isMusl)
    findings.push(fail('libc', 'the embedded engine needs glibc: use an image of Debian or the like'))
  if (embedded) findings.push(cpu())
  const [major = 0] = process.versions.node.split('.').map(Number)
  findings.push(
    major >= 24
      ? ok('node', process.versions.node)
      : fail('node', `${process.versions.node}; Node 24 runs the sources`),
  )
  const threads = Number(process.env.UV_THREADPOOL_SIZE ?? 4)
  if (embedded)
    findings.push(
      threads >= 16
        ? ok('threads', `UV_THREADPOOL_SIZE=${threads}`)
        : warn(
            'threads',
            `UV_THREADPOOL_SIZE=${threads}: engine connections wait for each other below 16 (npm start sets it)`,
          ),
    )
  return findings
}

function openFiles({ maxConnections }: Config): Finding {
  const limit = openFilesLimit()
  if (limit === null) return ok('open files', 'the system does not say how many there may be')
  const says = `${limit} at most, of which connections may take ${maxConnections}`
  if (maxConnections > connectionsFor(limit))
    return warn('open files', `${says}: log and engine may find none left (CALLHOUSE_MAX_CONNECTIONS, ulimit -n)`)
  if (limit >= enoughFiles) return ok('open files', says)
  return warn('open files', `${says}: a busy server needs ${enoughFiles} (ulimit -n)`)
}

function memory(config: Config): Finding {
  const limit = process.constrainedMemory()
  const total = limit > 0 ? Math.min(limit, totalmem()) : totalmem()
  const { memoryCapBytes: cap } = config
  const says = `engine ${gib(cap)} of ${gib(total)}`
  if (!hasEmbeddedStore(config)) return ok('memory', `${gib(total)}; the engine is a server`)
  if (cap > total * 0.8)
    return fail('memory', `${says}: leave a fifth for the process itself (CALLHOUSE_MEMORY_CAP_BYTES)`)
  return cap < 2 ** 29 ? warn('memory', `${says}: large queries will be refused`) : ok('memory', says)
}

async function folder(config: Config): Promise<Finding[]> {
  const { dataDir } = config
  const there = await access(dataDir).then(
    () => dataDir,
    () => dirname(dataDir),
  )
  const mayWrite = await access(there, constants.W_OK | constants.R_OK).then(
    () => true,
    () => false,
  )
  if (!mayWrite) return [fail('data folder', `${there} cannot be written by this user`)]
  const { bavail, blocks, bsize } = await statfs(there)
  const [free, total] = [bavail * bsize, blocks * bsize]
  const least = requiredFreeBytes(total, config.minFreeBytes)
  const says = `${gib(free)} free of ${gib(total)}; writes stop below ${gib(least)}`
  return [
    ok('data folder', dataDir),
    ...(there === dataDir ? [await accessFinding(config)] : []),
    (free < least ? fail : free < comfortableFreeBytes(total, config.minFreeBytes) ? warn : ok)('disk', says),
  ]
}

function keyFile({ dataDir }: Config): Finding {
  try {
    const { keys, revoked } = openFileDirectory({ dataDir }).state()
    const left = [...keys.keys()].filter((id) => !revoked.has(id)).length
    return ok(directoryFile, quantity(left + readKeysFile(keysFileOf(dataDir)).length, 'key'))
  } catch (error) {
    return fail(directoryFile, (error as Error).message)
  }
}

/** Calls hold what people and programs said: nobody else on the machine may read them. */
async function accessFinding(config: Config): Promise<Finding> {
  const reach = reachOf(config)
  const [folder, ...inside] = await openToOthers(config.dataDir, reach)
  if (folder === undefined) return ok('access', `only its ${reach} can enter the data folder`)
  const says = `others can enter ${[folder, ...inside.slice(0, 5)].join(', ')}; a start closes what is its user's own`
  // A mounted volume may belong to somebody else: its names can be seen then, and nothing of what it holds.
  return inside.length === 0 ? warn('access', says) : fail('access', says)
}

const reachable = ['127.0.0.1', '::1', 'localhost']

function settings(config: Config): Finding[] {
  const isOpen = !reachable.includes(config.host)
  const short = config.keys.filter((pair) => pair.slice(pair.indexOf(':') + 1).length < 16).length
  return [
    isOpen && short > 0
      ? warn(
          'keys',
          `${quantity(short, 'key of CALLHOUSE_KEYS is', 'keys of CALLHOUSE_KEYS are')} shorter than 16 characters, and the server is reachable from outside`,
        )
      : ok('keys', `${config.keys.length} in CALLHOUSE_KEYS`),
    keyFile(config),
    config.kafkaBrokers.length > 0 && config.kafkaReplication < 2
      ? warn('kafka', 'topics are created with one replica: a lost disk loses records')
      : ok('log', config.kafkaBrokers.length > 0 ? `Kafka at ${config.kafkaBrokers.join(', ')}` : 'embedded'),
    config.kafkaBrokers.length > 0 && config.fileBucket === ''
      ? warn('files', 'no CALLHOUSE_FILE_BUCKET: every role must see the same data folder')
      : ok('files', config.fileBucket === '' ? 'in the data folder' : 'in a bucket'),
  ]
}

/** Only where it is said that something is missing: most installations make their master key themselves. */
function signIn(config: Config): Finding[] {
  const { page, masterKey, masterKeyFile } = config
  if (!page || !hasSharedLog(config) || masterKey !== '' || masterKeyFile !== undefined) return []
  return [warn('web page', 'nobody can sign in: where the log is Kafka, give every role the same CALLHOUSE_MASTER_KEY')]
}

function tls({ tlsCert: certFile, tlsKey: keyFile }: Config): Finding[] {
  if (certFile === undefined && keyFile === undefined) return []
  if (certFile === undefined || keyFile === undefined)
    return [fail('tls', 'CALLHOUSE_TLS_CERT and CALLHOUSE_TLS_KEY belong together: only one is set')]
  try {
    const { cert, key } = { cert: readFileSync(certFile), key: readFileSync(keyFile) }
    createSecureContext({ cert, key })
    const untilMs = Date.parse(new X509Certificate(cert).validTo)
    const says = `${certFile}, valid until ${new Date(untilMs).toISOString()}`
    return [
      untilMs < Date.now()
        ? fail('tls', says)
        : untilMs < Date.now() + 14 * 86_400_000
          ? warn('tls', says)
          : ok('tls', says),
    ]
  } catch (error) {
    return [fail('tls', `${certFile} and ${keyFile}: ${(error as Error).message}`)]
  }
}

function providers({ providersFile, secrets }: Config): Finding {
  try {
    const known = openProviders({ file: providersFile }).current().secretNames()
    const idle = Object.keys(secrets).filter((name) => !known.has(name))
    return idle.length > 0
      ? warn('secrets', `${idle.join(', ')}: of no provider and not bound in the providers file, so they serve nobody`)
      : ok('secrets', `${Object.keys(secrets).length}, each of a provider or bound`)
  } catch (error) {
    return fail('providers file', (error as Error).message)
  }
}

function prices(nowMs: number): Finding {
  const age = ageOfPrices(nowMs)
  return age.days > staleAfterDays
    ? warn('prices', stalePricesText(age))
    : ok(
        'prices',
        `${age.prices} of ${quantity(age.providers, 'provider')}, read on ${age.read}, ${quantity(age.days, 'day')} ago`,
      )
}

/** Findings about the machine and the settings: nothing is opened, so it may run beside a server. */
export const examineMachine = async (config: Config, nowMs = Date.now()): Promise<Finding[]> => [
  ...machine(config),
  openFiles(config),
  memory(config),
  ...(await folder(config)),
  ...settings(config),
  ...signIn(config),
  ...tls(config),
  providers(config),
  prices(nowMs),
]

/** Settings that every table of rows must have, so that acknowledged writes survive a power cut. */
const synced = ['fsync_after_insert = 1', 'fsync_part_directory = 1', 'min_rows_to_fsync_after_merge = 1']
const clockToleranceMs = 2_000

/** The version that the tests run with. */
const testedVersion = [26, 7] as const

function engineVersion(version: string, zone: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const says = `ClickHouse ${version}, time zone ${zone}`
  const isOlder = major < testedVersion[0] || (major === testedVersion[0] && minor < testedVersion[1])
  return isOlder
    ? warn('engine', `${says}: older than ${testedVersion.join('.')}, which is tested`)
    : ok('engine', says)
}

/** Disks of the engine, which may be on another machine. */
async function disks(store: Pick<Store, 'rows'>): Promise<Finding[]> {
  const found = await store.rows<{ name: string; free: number; total: number }>(statement('doctor.disks'))
  return found
    .filter(({ total }) => total > 0 && total < 2 ** 60)
    .map(({ name, free, total }) => {
      const says = `${name}: ${gib(free)} free of ${gib(total)}; merges need as much as the largest part`
      const verdict = free < requiredFreeBytes(total, 0) ? fail : free < comfortableFreeBytes(total, 0) ? warn : ok
      return verdict('engine disk', says)
    })
}

/** Checks the logs in tables and the memory of a ClickHouse server. */
async function serverSettings(config: Config, store: Pick<Store, 'rows'>): Promise<Finding[]> {
  const [about] = await store.rows<{ logs: string[]; cap: string; ratio: string }>(statement('doctor.settings'))
  const { logs = [], cap = '', ratio = '' } = about ?? {}
  const findings = [
    logs.length > 0
      ? warn(
          'engine logs',
          `the server writes logs of its own (${logs.slice(0, 5).join(', ')}); see deploy/clickhouse.xml`,
        )
      : ok('engine logs', 'none in tables'),
    Number(cap) === 0 && Number(ratio) > 0.8
      ? warn('engine memory', `the server may use ${ratio} of the memory; 0.6 leaves room for the page cache`)
      : ok('engine memory', Number(cap) > 0 ? gib(Number(cap)) : `${ratio} of the machine`),
  ]
  if (config.clickhouseCluster === '') return findings
  const plain = await store.rows<{ name: string }>(
    statement('doctor.replicated', { database: config.clickhouseDatabase }),
  )
  const names = plain.map(({ name }) => name)
  return [
    ...findings,
    names.length > 0 ? fail('cluster', `not replicated: ${names.join(', ')}`) : ok('cluster', config.clickhouseCluster),
  ]
}

/** Finds records that neither the tables nor the log hold. */
async function records(store: Pick<Store, 'rows'>, tables: readonly { name: string }[]): Promise<Finding> {
  if (!tables.some(({ name }) => name === 'missing_records'))
    return ok('records', 'the tables are of an older version, or not made yet')
  const missing = await missingText(store, await readApplied(store))
  return missing === undefined ? ok('records', 'none is known to be missing') : fail('records', missing)
}

/** Finds data that should have been removed by now. */
async function erasures(store: Pick<Store, 'rows'>, tables: readonly { name: string }[]): Promise<Finding> {
  if (!tables.some(({ name }) => name === 'erasures')) return ok('erasures', 'the tables are of an older version')
  const [row] = await store.rows<{ failed: number; overdue: number; why: string }>(statement('doctor.erasures'))
  const { failed = 0, overdue = 0, why = '' } = row ?? {}
  if (failed > 0)
    return fail('erasures', `${failed} failed and are tried again each hour: ${why} (callhouse erasures list)`)
  return overdue > 0
    ? warn('erasures', `${overdue} are not done by their deadline (callhouse erasures list)`)
    : ok('erasures', 'none is overdue')
}

/** Views without which rows do not reach every table. */
async function views(store: Pick<Store, 'rows'>, tables: readonly unknown[]): Promise<Finding> {
  if (tables.length === 0) return ok('views', 'not made yet')
  const declared = [...declaredViews().values()].flat()
  const gone = await missingViews(store, declared)
  return gone.length === 0
    ? ok('views', `${declared.length}, all there`)
    : fail(
        'views',
        `missing: ${gone.join(', ')}; rows wait until they are made again (docs/operate/troubleshooting.md)`,
      )
}

/** Findings about the store, inside a process that has it open. */
export async function examineStore(config: Config, store: Pick<Store, 'rows'>): Promise<Finding[]> {
  const database = databaseOf(config)
  const beganMs = Date.now()
  const [about] = await store.rows<{ version: string; now: string; zone: string }>(statement('doctor.server'))
  const tookMs = Date.now() - beganMs
  const skewMs = Math.abs(Number(about?.now) - (beganMs + tookMs / 2))
  const tables = await store.rows<{ name: string; engine: string; full: string }>(
    statement('doctor.tables', { database }),
  )
  const loose = tables.filter(({ full }) => synced.some((setting) => !full.includes(setting))).map(({ name }) => name)
  const [parts] = await store.rows<{ parts: string; most: string; broken: string }>(
    statement('doctor.parts', { database }),
  )
  return [
    await records(store, tables),
    await views(store, tables),
    await erasures(store, tables),
    engineVersion(about?.version ?? '', about?.zone ?? ''),
    ...(await disks(store)),
    ...(hasEmbeddedStore(config) ? [] : await serverSettings(config, store)),
    skewMs > clockToleranceMs + tookMs
      ? fail(
          'clock',
          `the engine's clock differs by ${Math.round(skewMs)} ms: the newest write would not win; run NTP on both`,
        )
      : ok('clock', 'agrees with the engine'),
    loose.length > 0
      ? fail('tables', `not synced to disk on insert or merge: ${loose.join(', ')}`)
      : ok('tables', `${tables.length}, synced to disk`),
    Number(parts?.most) > 1_000
      ? warn('parts', `${parts?.most} in one partition: merges do not keep up`)
      : ok('parts', `${parts?.parts}, at most ${parts?.most} in one partition`),
    Number(parts?.broken) > 0
      ? fail('broken parts', `${parts?.broken}; they are rebuilt from the log while it holds their rows`)
      : ok('broken parts', 'none'),
  ]
}

const signs: Record<Verdict, string> = { ok: 'ok  ', warn: 'WARN', fail: 'FAIL' }

export const findingsText = (findings: readonly Finding[]): string =>
  findings.map(({ check, verdict, says }) => `${signs[verdict]}  ${check.padEnd(12)}  ${says}`).join('\n')
