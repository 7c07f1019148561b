// The command line: reads the settings and runs one command.
import { mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Config, describeConfig, loadConfig } from './config.ts'
import { askServer } from './core/control-socket.ts'
import { openKeys, type Role, roles } from './core/http/keys.ts'
import type { Log } from './core/log/log.ts'
import { createLogger } from './core/logger.ts'
import { umaskOf } from './core/process/private-folder.ts'
import { packageVersion } from './core/version.ts'
import { explainedText } from './cost-commands.ts'
import { deadLetterCommands } from './deadletter-commands.ts'
import { examineMachine, examineStore, type Finding, findingsText } from './doctor.ts'
import { examineKafka, examineMatch } from './doctor-kafka.ts'
import { hasEmbeddedStore, hasSharedLog, openGroup, openLog, openStore, reachOf, surveyLog } from './engines.ts'
import { followMove, withEngines } from './move-commands.ts'
import { exporterLines } from './otlp-ports.ts'
import type { ExplainedCost } from './query/costs/explain.ts'
import { follow } from './rebuild-commands.ts'
import { withRebuilds } from './rebuild-engines.ts'
import { startCallhouse } from './serve.ts'
import { backupOnServer, restoreOnServer } from './server-backup-commands.ts'
import { type ServerRole, serverRoles } from './server-role.ts'
import { restore } from './worker/backup/restore.ts'
import { createTableDeadLetters } from './worker/deadletters-table.ts'

const help = `callhouse: trace, evaluation and inference server

  callhouse serve                       every role in one process (npm start)
  callhouse ingest | worker | query     one role, beside others that share a Kafka log and a ClickHouse server
  callhouse config                      every setting, its value and its meaning
  callhouse keys list
  callhouse keys create <user> [role] [entity-or-project ...]    role: ${roles.join(', ')}; default write
  callhouse keys revoke <id>
  callhouse doctor [--json]             what is wrong with this machine, its settings and its engines
  callhouse deadletters list            rows that the store refused
  callhouse deadletters show <id>
  callhouse deadletters replay <id>|all
  callhouse explain-cost <call id> [project] [--json]    which usage, which price, which arithmetic
  callhouse rebuild                     the tables that can be made anew, and whether a rebuild is unfinished
  callhouse rebuild <table> [--rows-per-second 20000]    makes a table anew while everything goes on; goes on after a kill
  callhouse rebuild abandon             gives an unfinished rebuild up: the old table stays
  callhouse replay --from <position> [--rows-per-second 20000]    applies kept records again; a position is calls=12, calls.2=12 or 12
  callhouse export <folder> [--project <entity/project>]    everything, or one project, as files that other programs read
  callhouse import <folder>             checks an export and writes it into this installation; may be repeated
  callhouse backup <folder>             a copy of the data folder while the server goes on
  callhouse restore <folder>            checks a backup and makes a data folder of it
  callhouse backup <folder> --to <destination>    with Kafka and a ClickHouse server: the server writes the backup, for instance
                                        to "Disk('backups', '2026-01-31')", and the folder gets its manifest
  callhouse restore <folder> [--from <destination>]    the same back into an empty database
  callhouse version

Settings are flags (--port 7000) or variables (CALLHOUSE_PORT=7000).
`

class UsageError extends Error {}

const print = (line: string): void => void process.stdout.write(`${line}\n`)

async function serve(config: Config, role: ServerRole): Promise<void> {
  const output = createLogger({ level: config.logLevel })
  const callhouse = await startCallhouse(config, output, role)
  callhouse.shutdown.onSignals()
  print(`callhouse ${role === 'serve' ? '' : `${role} `}${await packageVersion()} listens on ${callhouse.url}`)
  const { grpc, http } = callhouse.otlp ?? {}
  const ports = [grpc && `${grpc} (gRPC)`, http && `${http} (HTTP)`].filter(Boolean)
  if (ports.length > 0) print(`OTLP: ${ports.join(', ')}, and ${callhouse.url}/v1/traces`)
  print(`data folder: ${config.dataDir}`)
  if (callhouse.firstKey && grpc !== undefined) {
    print('an OpenTelemetry exporter sends its spans here with:')
    for (const line of exporterLines(grpc, 'grpc')) print(`  ${line}`)
  }
  if (callhouse.firstKey) print(`first API key (shown once, keep it): ${callhouse.firstKey}`)
}

function showConfig(config: Config): void {
  for (const { name, flag, value, help: text } of describeConfig(config))
    print(`${name}${flag ? ` (${flag})` : ''} = ${value}\n    ${text}`)
}

function manageKeys(config: Config, [verb, ...args]: string[]): void {
  mkdirSync(config.dataDir, { recursive: true })
  const keys = openKeys({ dataDir: config.dataDir, configured: config.keys })
  if (verb === 'list')
    for (const { id, userId, role, grants, createdAt } of keys.list())
      print(`${id}  ${userId}  ${role}  ${grants === '*' ? '*' : grants.join(',')}  ${createdAt}`)
  else if (verb === 'create' && args[0]) {
    const [userId, role = 'write', ...grants] = args
    if (!roles.includes(role as Role)) throw new UsageError(`Unknown role ${role}; one of ${roles.join(', ')}`)
    const { id, text } = keys.create({ userId, role: role as Role, grants: grants.length > 0 ? grants : '*' })
    print(`key ${id} (shown once): ${text}`)
  } else if (verb === 'revoke' && args[0]) {
    if (!keys.revoke(args[0])) throw new UsageError(`There is no key ${args[0]}`)
    print('revoked')
  } else throw new UsageError('usage: callhouse keys list | create <user> [role] [entity-or-project ...] | revoke <id>')
}

/** A server that nobody but this command talks to. */
const ownPort = { host: '127.0.0.1', port: 0, otlpGrpcPort: undefined, otlpHttpPort: undefined }

type Ask = (command: string, args: string[]) => Promise<unknown>

/** Over the socket of the running server; without one, inside a server that is started for the work alone. */
async function withServer<T>(config: Config, work: (ask: Ask) => Promise<T>): Promise<T> {
  const isServed = (await askServer(config.dataDir, { command: 'ping', args: [] })) !== undefined
  const own = isServed ? undefined : await startCallhouse({ ...config, ...ownPort }, createLogger({ level: 'error' }))
  own?.shutdown.onSignals()
  try {
    return await work(async (command, args) => {
      const reply = await askServer(config.dataDir, { command, args })
      if (!reply) throw new Error('the server does not answer on its socket')
      if (!reply.ok) throw new UsageError(reply.reason)
      return reply.result
    })
  } finally {
    await own?.shutdown.run('command done')
  }
}

const ask = (config: Config, command: string, args: string[]): Promise<unknown> =>
  withServer(config, (one) => one(command, args))

/** Without a server in between, where log and store are engines that any process may use. */
async function askEngines(config: Config, command: string, args: string[]): Promise<unknown> {
  const { log: logger } = createLogger({ level: 'error' })
  const store = await openStore(config, logger, { statement() {} })
  let log: Promise<Log> | undefined
  const append: Log['append'] = async (...record) => {
    log ??= openLog(config, 'ingest', logger)
    return (await log).append(...record)
  }
  try {
    return await deadLetterCommands({ deadLetters: createTableDeadLetters(store), log: { append } })({ command, args })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  } finally {
    await (await log)?.close()
    await store.close()
  }
}

async function deadLetters(config: Config, [verb, ...args]: string[]): Promise<void> {
  if (!verb || !['list', 'show', 'replay'].includes(verb) || (verb !== 'list' && !args[0]))
    throw new UsageError('usage: callhouse deadletters list | show <id> | replay <id>|all')
  const result = await (isShared(config) ? askEngines : ask)(config, `deadletters.${verb}`, args)
  print(JSON.stringify(result, null, 2))
}

async function explainCost(config: Config, [callId, project]: string[], asJson: boolean): Promise<void> {
  if (!callId) throw new UsageError('usage: callhouse explain-cost <call id> [project] [--json]')
  const args = project === undefined ? [callId] : [callId, project]
  const explained = (await ask(config, 'costs.explain', args)) as ExplainedCost
  print(asJson ? JSON.stringify(explained, null, 2) : explainedText(explained))
}

/** Any process may use the log and the store. */
const isShared = (config: Config): boolean => hasSharedLog(config) && !hasEmbeddedStore(config)

const oneMachineOnly = (config: Config, what: string): void => {
  if (hasSharedLog(config) || !hasEmbeddedStore(config))
    throw new UsageError(`${what} works on one machine, or with Kafka and a ClickHouse server, not with one of the two`)
}

async function rebuild(config: Config, [table, ...more]: string[], rowsPerSecond: string): Promise<void> {
  if (more.length > 0) throw new UsageError('usage: callhouse rebuild [<table>|abandon] [--rows-per-second <n>]')
  await (isShared(config) ? withRebuilds : withServer)(config, async (one) => {
    if (table === undefined) {
      const { tables, unfinished } = (await one('rebuild.list', [])) as { tables: string[]; unfinished: string | null }
      print(tables.join('\n'))
      if (unfinished !== null) print(`unfinished: ${unfinished}`)
    } else if (table === 'abandon') print(`given up: ${await one('rebuild.abandon', [])}`)
    else await follow(one, 'rebuild.start', [table, rowsPerSecond], print)
  })
}

async function replay(config: Config, from: string, rowsPerSecond: string): Promise<void> {
  if (from === '') throw new UsageError('usage: callhouse replay --from <position> [--rows-per-second <n>]')
  await (isShared(config) ? withRebuilds : withServer)(config, (one) =>
    follow(one, 'replay.start', [from, rowsPerSecond], print),
  )
}

/** Over the engines themselves where any process may use them, else in the server that has them. */
async function move(config: Config, name: string, [folder, ...more]: string[], project: string): Promise<void> {
  if (folder === undefined || more.length > 0)
    throw new UsageError(`usage: callhouse ${name} <folder>${name === 'export' ? ' [--project <entity/project>]' : ''}`)
  const args = project === '' ? [resolve(folder)] : [resolve(folder), project]
  await (isShared(config) ? withEngines : withServer)(config, (one) => followMove(one, `move.${name}`, args, print))
}

const destinationUsage =
  "--to <destination> names where the ClickHouse server puts the backup, for instance \"Disk('backups', '2026-01-31')\""

async function backup(config: Config, words: string[], to: string): Promise<void> {
  const [folder, ...more] = words
  if (folder === undefined || more.length > 0)
    throw new UsageError('usage: callhouse backup <folder> [--to <destination>]')
  if (!isShared(config)) {
    oneMachineOnly(config, 'callhouse backup')
    if (to !== '') throw new UsageError(`${destinationUsage}; on one machine the folder is the backup`)
    return move(config, 'backup', words, '')
  }
  if (to === '') throw new UsageError(destinationUsage)
  await backupOnServer(config, resolve(folder), to, print)
}

async function restoreBackup(config: Config, [folder, ...more]: string[], from: string): Promise<void> {
  const { dataDir } = config
  if (folder === undefined || more.length > 0)
    throw new UsageError('usage: callhouse restore <folder> [--from <destination>]')
  if (isShared(config)) return restoreOnServer(config, resolve(folder), from, print)
  oneMachineOnly(config, 'callhouse restore')
  if (from !== '') throw new UsageError('--from is for the backup of a ClickHouse server')
  await restore(resolve(folder), dataDir, print)
}

/** The engines are looked at where they are in use or may be shared; a folder that nobody uses is not opened for it. */
async function findStoreFindings(config: Config): Promise<Finding[]> {
  const reply = await askServer(config.dataDir, { command: 'doctor', args: [] })
  if (reply) return reply.ok ? (reply.result as Finding[]) : [{ check: 'engine', verdict: 'fail', says: reply.reason }]
  if (hasEmbeddedStore(config))
    return [
      { check: 'engine', verdict: 'ok', says: 'no server runs on the data folder: its tables were not looked at' },
    ]
  const { log: logger } = createLogger({ level: 'error' })
  try {
    const store = await openStore(config, logger, { statement() {} })
    try {
      const match = hasSharedLog(config) ? [await examineMatch(store, () => openGroup(config, logger))] : []
      return [...match, ...(await examineStore(config, store))]
    } finally {
      await store.close()
    }
  } catch (error) {
    return [{ check: 'engine', verdict: 'fail', says: error instanceof Error ? error.message : String(error) }]
  }
}

async function examine(config: Config, asJson: boolean): Promise<void> {
  const { log: logger } = createLogger({ level: 'silent' })
  const findings = [
    ...(await examineMachine(config)),
    ...(hasSharedLog(config) ? await examineKafka(config, () => surveyLog(config, logger)) : []),
    ...(await findStoreFindings(config)),
  ]
  print(asJson ? JSON.stringify(findings, null, 2) : findingsText(findings))
  if (findings.some(({ verdict }) => verdict === 'fail')) process.exitCode = 1
}

const [command = 'help', ...rest] = process.argv.slice(2)
/** Words of the command come first, then flags: the first flag ends the words. */
const firstFlag = rest.findIndex((word) => word.startsWith('--'))
const words = firstFlag === -1 ? rest : rest.slice(0, firstFlag)
const given = firstFlag === -1 ? [] : rest.slice(firstFlag)
/** Flags of single commands; all others are settings. */
const asJson = ['explain-cost', 'doctor'].includes(command) && given.includes('--json')
const flags = asJson ? given.filter((flag) => flag !== '--json') : given
/** Takes a flag that is no setting, and its value, out of the flags. */
function taken(flag: string): string {
  const at = flags.findIndex((word) => word === flag || word.startsWith(`${flag}=`))
  if (at === -1) return ''
  const [word = ''] = flags.splice(at, 1)
  return word === flag ? (flags.splice(at, 1)[0] ?? '') : word.slice(flag.length + 1)
}
const isRebuild = command === 'rebuild' || command === 'replay'
const rowsPerSecond = isRebuild ? taken('--rows-per-second') : ''
const from = command === 'replay' || command === 'restore' ? taken('--from') : ''
const to = command === 'backup' ? taken('--to') : ''
const project = command === 'export' ? taken('--project') : ''

async function run(): Promise<void> {
  if (command === 'help' || command === '--help' || command === '-h') return print(help)
  if (command === 'version' || command === '--version') return print(await packageVersion())
  const loaded = loadConfig({ env: process.env, argv: flags })
  if (!loaded.ok) throw new UsageError(loaded.lines.join('\n'))
  const { config } = loaded
  process.umask(umaskOf(reachOf(config)))
  const role = serverRoles.find((one) => one === command)
  if (words.length > 0 && (role || command === 'config'))
    throw new UsageError(`Unexpected argument ${JSON.stringify(words[0])}`)
  if (role) return serve(config, role)
  if (command === 'config') return showConfig(config)
  if (command === 'keys') return manageKeys(config, words)
  if (command === 'deadletters') return deadLetters(config, words)
  if (command === 'doctor') return examine(config, asJson)
  if (command === 'explain-cost') return explainCost(config, words, asJson)
  if (command === 'rebuild') return rebuild(config, words, rowsPerSecond)
  if (command === 'export' || command === 'import') return move(config, command, words, project)
  if (command === 'backup') return backup(config, words, to)
  if (command === 'restore') return restoreBackup(config, words, from)
  if (command === 'replay' && words.length === 0) return replay(config, from, rowsPerSecond)
  throw new UsageError(`Unknown command ${command}\n\n${help}`)
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code, address, port } = error as NodeJS.ErrnoException & { address?: string; port?: number }
  if (code === 'EADDRINUSE')
    return `port ${port} of ${address} is in use by another process; --port chooses another one`
  if (code === 'EACCES' && port !== undefined)
    return `this user may not listen on port ${port}; --port chooses another one`
  return error.message
}

// The reader of the output may leave early (`| head`); nobody is left to tell.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})
run().catch((error: unknown) => {
  process.stderr.write(`callhouse: ${reasonOf(error)}\n`)
  process.exitCode = error instanceof UsageError ? 2 : 1
})
