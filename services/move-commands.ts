// The commands `export`, `import` and `backup`: what they do inside the process that has the engines, and how they show progress.
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from './config.ts'
import type { Blobs } from './core/blobs.ts'
import type { ControlHandler } from './core/control-socket.ts'
import { parseProjectId } from './core/ids.ts'
import type { Log } from './core/log/log.ts'
import { createLogger } from './core/logger.ts'
import type { Store } from './core/store/store.ts'
import { matchEngines, openLog, openStore } from './engines.ts'
import { openBlobs } from './open-blobs.ts'
import type { DeadLetters } from './worker/deadletters.ts'
import { createTableDeadLetters } from './worker/deadletters-table.ts'
import { exportTo } from './worker/move/export.ts'
import { importFrom } from './worker/move/import.ts'
import { createMoveTasks, type MoveStatus, type MoveTask, type MoveTasks } from './worker/move/tasks.ts'

type MoveDeps = {
  config: Pick<Config, 'dataDir'>
  store: Store
  log: Log
  blobs: Blobs
  deadLetters: DeadLetters
  tasks: MoveTasks
  onClock(clock: bigint): void
  /** Whether this process applies what it imports. */
  applies: boolean
  /** Absent where the tables are not files of this machine. */
  backup?: ((folder: string, task: MoveTask) => Promise<void>) | undefined
}

export const moveCommands =
  ({ config, store, log, blobs, deadLetters, tasks, onClock, applies, backup }: MoveDeps): ControlHandler =>
  async ({ command, args: [folder = '', project = ''] }) => {
    if (command === 'move.status') return tasks.status()
    if (command === 'move.export') {
      const only = project === '' ? null : parseProjectId(project)
      const deps = { store, log, blobs, deadLetters }
      return tasks.begin(`export ${folder}`, (task) => exportTo(deps, { folder, project: only }, task))
    }
    if (command === 'move.import') {
      const stateFile = join(config.dataDir, 'import.json')
      const deps = { log, blobs, deadLetters, stateFile, onClock, waits: applies }
      return tasks.begin(`import ${folder}`, (task) => importFrom(deps, folder, task))
    }
    if (command === 'move.backup') {
      if (!backup)
        throw new Error(
          'callhouse backup copies the data folder of one machine; back up Kafka and the ClickHouse server with their own tools (docs/operate.md)',
        )
      return tasks.begin(`backup ${folder}`, (task) => backup(folder, task))
    }
    throw new Error(`Unknown command ${command}`)
  }

type Ask = (command: string, args: string[]) => Promise<unknown>

/** Runs the work with a way to ask the engines themselves, where any process may use them. */
export async function withEngines<T>(config: Config, work: (ask: Ask) => Promise<T>): Promise<T> {
  const { log: logger } = createLogger({ level: 'error' })
  const store = await openStore(config, logger, { statement() {} })
  let log: Log | undefined
  const tasks = createMoveTasks(() => undefined)
  try {
    await store.migrate()
    log = await openLog(config, 'query', logger)
    await matchEngines({ log, store }, config, logger, false)
    const blobs = await openBlobs(config, 'query', logger)
    const deadLetters = createTableDeadLetters(store)
    const handle = moveCommands({ config, store, log, blobs, deadLetters, tasks, onClock() {}, applies: false })
    return await work((command, args) => handle({ command, args }))
  } finally {
    await tasks.stop()
    await log?.close()
    await store.close()
  }
}

const lineOf = ({ task, phase, rows, of, doing }: MoveStatus): string =>
  `${task}: ${phase}${doing ? `, ${doing}` : ''}, ${rows}${of > 0 ? ` of ${of}` : ''} rows`

const firstMs = 50
const mostMs = 2_000

/**
 * Begins a task and tells its progress until it ends.
 * @throws Error when it was refused or failed
 */
export async function followMove(ask: Ask, command: string, args: string[], print: (line: string) => void) {
  let status = (await ask(command, args)) as MoveStatus
  let told = 0
  let last = ''
  for (let waitMs = firstMs; ; waitMs = Math.min(waitMs * 2, mostMs)) {
    for (; told < status.notes.length; told++) print(`${status.task}: ${status.notes[told]}`)
    const line = lineOf(status)
    if (line !== last) print(line)
    last = line
    if (status.phase !== 'working') break
    await sleep(waitMs)
    status = (await ask('move.status', [])) as MoveStatus
  }
  if (status.phase !== 'done') throw new Error(`${status.task}: ${status.reason}`)
}
