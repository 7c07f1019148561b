// Every setting of the server: its name, its default, its one-line help; read from CALLHOUSE_* variables and flags.

import { isIP } from 'node:net'
import { totalmem } from 'node:os'
import { resolve } from 'node:path'
import { z } from 'zod'
import { parseBucketUrl } from '../core/blobs/bucket-url.ts'
import { type FlagTypes, parseArguments } from '../core/process/arguments.ts'
import { connectionsFor, openFilesLimit } from '../core/process/file-limit.ts'
import { keptSettings } from './kept-settings.ts'
import { maskFloor } from './mask-settings.ts'
import { otelSettings } from './otel-settings.ts'
import { sealSettings } from './seal-settings.ts'
import { type Environment, withSecretFiles } from './secret-files.ts'
import { type About, about, choice, integer, list, path, secret, setting, text, truth } from './setting-kinds.ts'
import { signInSettings } from './sign-in-settings.ts'

const mebibyte = 1024 * 1024
const gibibyte = 1024 * mebibyte

/** 60 % of what this process may use, at most 8 GiB. */
function engineMemory(): number {
  const limit = process.constrainedMemory()
  const available = limit > 0 ? Math.min(limit, totalmem()) : totalmem()
  return Math.min(8 * gibibyte, Math.floor(available * 0.6))
}

const proxyNames = new Set(['loopback', 'linklocal', 'uniquelocal'])
function isAddressRange(entry: string): boolean {
  const [address = '', bits, ...rest] = entry.split('/')
  const version = isIP(address)
  if (version === 0) return proxyNames.has(entry)
  if (bits === undefined) return true
  return rest.length === 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128)
}

const isProject = (entry: string): boolean => /^[^/\s]+\/[^/\s]+$/.test(entry)

function isOrigin(entry: string): boolean {
  if (entry === '*') return true
  const url = URL.parse(entry)
  return url !== null && url.origin === entry
}

const configSchema = z.object({
  port: integer(6400, 'port of HTTP; 0 = any free port', 0, 65535),
  host: text('127.0.0.1', 'address to listen on'),
  page: truth(true, 'serve the web page at /'),
  basePath: setting(
    '',
    'path prefix that a proxy removes, such as /obs/callhouse; empty = /',
    z.string().regex(/^(?:\/[\w~-][\w.~-]*)*$/, { error: 'must be a path such as /obs/callhouse' }),
  ),
  ...signInSettings,
  ...sealSettings,
  maskFloor,
  dataDir: setting(
    '.callhouse',
    'data folder',
    z
      .string()
      .min(1, { error: 'must not be empty' })
      .transform((value) => resolve(value)),
  ),
  logLevel: choice('info', 'log level', ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']),
  logFormat: choice('auto', 'log format; auto = text on a terminal (warnings, errors, slow requests), json otherwise', [
    'auto',
    'json',
    'text',
  ]),
  wirePrefix: choice('platform', 'prefix of user and run fields in the API', ['platform', 'wb']),
  wireAliases: truth(true, 'accept wb_* fields in written calls under any prefix; queries always accept both'),
  edgeWasm: truth(true, 'parse batches of calls in WebAssembly if the CPU has SIMD'),
  feedbackPrefix: text(
    'wandb',
    'prefix of the feedback types that the server writes',
    /^[A-Za-z0-9_-]+$/,
    'must be one word of letters, digits, _ and -',
  ),
  keys: secret(
    list(
      '',
      'API keys with all permissions, as user:key pairs',
      (entry) => /^[^:]+:.+$/.test(entry),
      'user:key pairs, both parts non-empty',
    ),
  ),
  keyMaxDays: integer(0, 'maximum lifetime of new keys in days; 0 = no limit', 0, 36_500),
  denyKeys: list('', 'IDs of keys that are always refused', (id) => /^[\w-]+$/.test(id), 'ids'),
  edges: integer(1, 'number of processes that accept requests; each allows its share of per-minute limits', 1, 1000),
  quotaStatus: choice('403', 'status of writes over a byte quota', ['403', '429']),
  metricsProjects: list('', 'projects with metrics of their own, at most 50', isProject, 'projects such as acme/app'),
  directoryStaleSeconds: integer(3600, 'seconds without the shared directory after which keys are refused', 1),
  corsOrigins: list('', 'allowed CORS origins, or *', isOrigin, 'origins such as https://example.com, or *'),
  allowedHosts: list(
    '',
    'allowed Host names besides loopback names; needed behind a proxy on loopback',
    (entry) => /^[A-Za-z0-9._-]+$|^\[[0-9A-Fa-f:.]+\]$/.test(entry),
    'host names without port',
  ),
  trustProxy: list(
    '',
    'addresses of proxies whose X-Forwarded-For is trusted',
    isAddressRange,
    'addresses or ranges (10.0.0.0/8)',
  ),
  geoRanges: path('CSV file of address ranges: first, last, country code, country name'),
  geoBlock: list(
    '',
    'country codes that /geolocate reports as not allowed',
    (entry) => /^[A-Za-z]{2}$/.test(entry),
    'two-letter country codes',
  ),
  minPythonVersion: text(
    '0.51.0',
    'minimum Python SDK version; older clients stop tracing',
    /^\d+(\.\d+)*([.-]?[A-Za-z0-9]+)*$/,
    'must be a version such as 0.51.0',
  ),
  maxBodyBytes: integer(32 * mebibyte, 'maximum decompressed size of a JSON or OTLP body', 1024, gibibyte),
  maxFileBytes: integer(256 * mebibyte, 'maximum file upload size', 1024),
  fileBucket: setting(
    '',
    'bucket for large files, s3://bucket/prefix?endpoint=…&region=…; empty = data folder',
    z.string().refine((value) => value === '' || parseBucketUrl(value) !== null, {
      error: 'must be s3://bucket/prefix with endpoint (an http or https address) and region as its only parameters',
    }),
  ),
  maxJsonDepth: integer(512, 'maximum nesting depth of a JSON body', 8, 1000),
  maxInflightBytes: integer(256 * mebibyte, 'maximum bytes of concurrent request bodies; more get 429', 1024),
  allowPrivateNetworks: truth(false, 'allow private addresses for providers of projects'),
  wordIndex: truth(false, 'full-text index of inputs and outputs, for fast search of rare words'),
  pricesFile: path('price file that overrides built-in prices'),
  usageOwnOnly: truth(false, 'count usage that parents also report only once in rollups'),
  orphanSeconds: integer(
    30,
    'seconds without new calls after which the topmost calls of a trace are shown in place of a missing root',
    10,
    86_400,
  ),
  ...otelSettings,
  tlsCert: path('certificate chain in PEM; enables TLS on all ports; reloaded when it changes'),
  tlsKey: path('private key of the certificate, in PEM'),
  tlsClientCa: path('certificate authorities in PEM; clients must present a certificate signed by one of them'),
  memoryCapBytes: integer(engineMemory(), 'memory limit of the embedded engine', 256 * mebibyte),
  freshnessMs: integer(2000, 'maximum wait of a read for accepted writes that are not visible yet', 0, 60_000),
  staleCounts: truth(
    false,
    'accept writes faster than they are applied, and return counts and sums without the newest instead of 503',
  ),
  maxUnappliedBytes: integer(512 * mebibyte, 'maximum accepted bytes not yet in the tables; more get 429', mebibyte),
  adoptLog: truth(false, 'adopt the tables of another log, for one start; see docs/operate/lost-log-or-tables.md'),
  ...keptSettings,
  minFreeBytes: integer(gibibyte, 'free disk space below which writes get 503; at least 5 % of the disk, up to 16 GiB'),
  maxConnections: integer(
    connectionsFor(openFilesLimit()),
    'maximum connections of all ports; default depends on the open file limit',
    4,
    1_000_000,
  ),
  requestTimeoutMs: integer(60_000, 'timeout until the first byte of a response; then 504', 100, 3_600_000),
  queryTimeoutMs: integer(30_000, 'timeout of a database query; then 504', 100, 3_600_000),
  queryMemoryBytes: integer(2 * gibibyte, 'memory limit of a database query; then 502', 16 * mebibyte),
  queryRows: integer(0, 'maximum rows that a database query of a project reads; more get 400; 0 = no limit', 0),
  edgeNumber: integer(
    0,
    'unique number of this process among all that share a log; 0 = assigned through the brokers with Kafka',
    0,
    1023,
  ),
  kafkaBrokers: list(
    '',
    'Kafka brokers of the log; empty = embedded log in the data folder',
    (entry) => /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]):\d{1,5}$/.test(entry),
    'host:port pairs',
  ),
  kafkaTopicPrefix: text(
    'callhouse.',
    'prefix of topic names',
    /^[A-Za-z0-9._-]{1,100}$/,
    'must be up to 100 letters, digits, ., _ and -',
  ),
  kafkaGroup: text('callhouse-workers', 'consumer group of the workers'),
  kafkaPartitions: integer(6, 'partitions of new topics', 1, 1000),
  kafkaReplication: integer(1, 'replicas of new topics', 1, 10),
  kafkaCompression: choice('none', 'compression of records in Kafka', ['none', 'gzip']),
  kafkaSessionTimeoutMs: integer(
    7_000,
    'session timeout of workers: without a heartbeat a worker loses its partitions',
    1_000,
    1_800_000,
  ),
  kafkaDeliveryTimeoutMs: integer(10_000, 'timeout for the acknowledgement of a write; then 503', 1_000, 600_000),
  kafkaTls: truth(false, 'TLS to the brokers'),
  kafkaSasl: choice('none', 'SASL mechanism of the brokers: none, plain, scram-sha-256 or scram-sha-512', [
    'none',
    'plain',
    'scram-sha-256',
    'scram-sha-512',
  ]),
  kafkaUser: setting('', 'SASL user', z.string()),
  kafkaPassword: secret(setting('', 'SASL password', z.string())),
  workerId: setting(
    '',
    'unique name of this worker, stable over restarts; empty = a new one at each start',
    z.string(),
  ),
  clickhouseUrl: setting(
    '',
    'ClickHouse server (http://host:8123); empty = embedded engine in the data folder',
    z
      .string()
      .refine((value) => value === '' || /^https?:$/.test(URL.parse(value)?.protocol ?? ''), {
        error: 'must be an http or https address',
      })
      .transform((value) => (value === '' ? undefined : value)),
  ),
  clickhouseUser: setting('default', 'user of the ClickHouse server', z.string()),
  clickhousePassword: secret(setting('', 'password of the ClickHouse server', z.string())),
  clickhouseDatabase: text('callhouse', 'database of the ClickHouse server', /^\w+$/, 'must be one word'),
  clickhouseCluster: setting(
    '',
    'cluster of the ClickHouse server; empty = a single server',
    z.string().regex(/^\w*$/, { error: 'must be one word' }),
  ),
  evaluateDispatch: truth(true, 'run evaluations of /evaluations/evaluate_model; otherwise 503'),
  engineUrl: setting(
    '',
    'base URL of the default inference engine, an OpenAI-compatible server (http://host:8000/v1); empty = 501',
    z
      .string()
      .refine(
        (value) => value === '' || (/^https?:\/\/[^/]/.test(value) && !/[?#]/.test(value) && URL.canParse(value)),
        {
          error: 'must be an http or https address without query and fragment',
        },
      )
      .transform((value) => (value === '' ? undefined : value)),
  ),
  engineKey: secret(setting('', 'API key of the default engine; empty = no Authorization header', z.string())),
  enginePrefix: text('coreweave/', 'name prefix of models of the default engine'),
  enginePriority: truth(false, 'the default engine supports priorities; otherwise only 0 is accepted'),
  engineGetPaths: list(
    '',
    'paths of GET /inference/v1 that are forwarded to the default engine with its key, besides models; * is one segment',
    (entry) => /^[\w-][\w.~-]*(?:\/(?:\*|[\w-][\w.~-]*))*$/.test(entry),
    'paths such as batches or batches/*',
  ),
  providersFile: path('JSON file of inference providers, models and secret bindings; reloaded when it changes'),
  inferenceConcurrency: setting(
    'off',
    'maximum concurrent inference requests per project; more get 429',
    z
      .string()
      .regex(/^(?:off|[1-9]\d{0,5})$/, { error: 'must be off or an integer from 1' })
      .transform((value) => (value === 'off' ? undefined : Number(value))),
  ),
})

/** Settings after parsing, plus the secrets of CALLHOUSE_SECRET_<NAME>. */
export type Config = z.output<typeof configSchema> & {
  secrets: Record<string, string>
  /** Settings that the operator gave; the others have their default. */
  given: ReadonlySet<string>
}

const secretPrefix = 'CALLHOUSE_SECRET_'
const snake = (key: string) => key.replace(/[A-Z]/g, (letter) => `_${letter}`)
const envOf = (key: string) => `CALLHOUSE_${snake(key).toUpperCase()}`
const flagOf = (key: string) => `--${snake(key).replaceAll('_', '-').toLowerCase()}`

/** Name, flag, default and help of every setting, in a fixed order. */
export const settings = Object.entries(configSchema.shape).map(([key, schema]) => {
  const { fallback, help, secret: isSecret = false } = about.get(schema) as About
  return {
    key,
    env: envOf(key),
    flag: flagOf(key),
    fallback,
    help,
    isSecret,
    isBoolean: /^(true|false)$/.test(fallback),
  }
})
const byEnv = new Map(settings.map((one) => [one.env, one]))
const byFlag = new Map(settings.map((one) => [one.flag, one]))

type Given = Map<string, { value: string; from: string }>

const isProviderSecret = (name: string): boolean => name.startsWith(secretPrefix) && name.length > secretPrefix.length
const mayBeInFile = (name: string): boolean => byEnv.get(name)?.isSecret === true || isProviderSecret(name)

function readEnv(given: Environment, into: Given, secrets: Record<string, string>, lines: string[]): void {
  const { env, lines: faults } = withSecretFiles(given, mayBeInFile, (name) => byEnv.has(name))
  lines.push(...faults)
  for (const [name, value] of Object.entries(env)) {
    if (!name.startsWith('CALLHOUSE_') || value === undefined) continue
    const known = byEnv.get(name)
    if (known !== undefined) into.set(known.key, { value, from: name })
    else if (isProviderSecret(name)) secrets[name.slice(secretPrefix.length)] = value
    else lines.push(`Unknown setting ${name}; 'callhouse config' lists all settings`)
  }
}

/** Flags of all settings. */
const flagTypes: FlagTypes = Object.fromEntries(
  settings.map(({ flag, isBoolean }) => [flag.slice(2), isBoolean ? 'boolean' : 'string']),
)

export type LoadedConfig =
  | { ok: true; config: Config; words: string[]; flags: ReadonlyMap<string, string> }
  | { ok: false; lines: string[] }

/**
 * Reads the settings; flags win over variables, and an empty variable counts as not set. On failure there is one line
 * per fault; values that are secret are never repeated in it.
 * @param argv words and flags (`--port 6401`, `--port=6401`)
 * @param commandFlags flags that are no settings
 * @returns the settings, the words, and the flags that are no settings
 */
export function loadConfig({
  env,
  argv,
  commandFlags = {},
}: {
  env: NodeJS.ProcessEnv
  argv: readonly string[]
  commandFlags?: FlagTypes
}): LoadedConfig {
  const lines: string[] = []
  const given: Given = new Map()
  const secrets: Record<string, string> = {}
  const flags = new Map<string, string>()
  readEnv(env, given, secrets, lines)
  for (const [key, { value }] of given) if (value === '') given.delete(key)
  const { words, flags: all, faults } = parseArguments(argv, { ...flagTypes, ...commandFlags })
  lines.push(...faults)
  for (const [name, value] of all) {
    const known = byFlag.get(`--${name}`)
    if (known === undefined) flags.set(name, value)
    else given.set(known.key, { value, from: known.flag })
  }
  const input = Object.fromEntries(settings.map(({ key, fallback }) => [key, given.get(key)?.value ?? fallback]))
  const parsed = configSchema.safeParse(input)
  for (const issue of parsed.error?.issues ?? []) {
    const key = String(issue.path[0])
    const one = settings.find((candidate) => candidate.key === key)
    const shown = one?.isSecret ? '' : `, not ${JSON.stringify(given.get(key)?.value)}`
    lines.push(`${given.get(key)?.from ?? key} ${issue.message}${shown}`)
  }
  if (parsed.success && parsed.data.maxInflightBytes < parsed.data.maxBodyBytes)
    lines.push('CALLHOUSE_MAX_INFLIGHT_BYTES must not be below CALLHOUSE_MAX_BODY_BYTES')
  if (given.has('masterKey') && given.has('masterKeyFile'))
    lines.push('CALLHOUSE_MASTER_KEY and CALLHOUSE_MASTER_KEY_FILE are both given: one of them is enough')
  if (!parsed.success || lines.length > 0) return { ok: false, lines }
  return { ok: true, config: { ...parsed.data, secrets, given: new Set(given.keys()) }, words, flags }
}

/** One row per setting, its value as text; keys, secrets and what stands before the `@` of an address are masked. */
export function describeConfig(config: Config) {
  const values: Record<string, unknown> = config
  const rows = settings.map(({ key, env, flag, help, isSecret }) => {
    const value = values[key]
    const masked = (entry: unknown) => (isSecret && entry !== '' ? '***' : entry)
    const shown = String((Array.isArray(value) ? value.map(masked).join(',') : masked(value)) ?? '')
    const isDefault = !config.given.has(key)
    return { key, name: env, flag, value: shown.replaceAll(/\/\/[^/@\s]*@/g, '//***@'), help, isSecret, isDefault }
  })
  const ofSecret = { flag: '', value: '***', help: 'secret', isSecret: true, isDefault: false }
  const secrets = Object.keys(config.secrets).map((key) => ({ ...ofSecret, key, name: `${secretPrefix}${key}` }))
  return [...rows, ...secrets]
}
