// Runs the commands `export`, `import` and `backup` inside the process that has the engines.
import { join } from 'node:path'
import type { Audit } from '../../core/audit/audit.ts'
import { betweenEvents } from '../../core/audit/audited.ts'
import type { Blobs } from '../../core/blobs/blobs.ts'
import { parseProjectId } from '../../core/ids.ts'
import type { Log } from '../../core/log/log.ts'
import type { ControlHandler } from '../../core/process/control-socket.ts'
import type { Store } from '../../core/store/store.ts'
import type { Task, Tasks } from '../../operations/tasks.ts'
import { exportTo } from '../../operations/transfer/export.ts'
import { importFrom } from '../../operations/transfer/import.ts'
import type { DeadLetters } from '../../worker/dead-letters/dead-letters.ts'
import type { Config } from '../config.ts'

type MoveDeps = {
  config: Pick<Config, 'dataDir'>
  store: Store
  log: Log
  blobs: Blobs
  deadLetters: DeadLetters
  tasks: Tasks
  audit: Pick<Audit, 'record'>
  onClock(clock: bigint): void
  /** Whether this process applies what it imports. */
  applies: boolean
  /** Absent where the tables are not files of this machine. */
  backup?: ((folder: string, task: Task) => Promise<void>) | undefined
}

export const moveCommands =
  ({ config, store, log, blobs, deadLetters, tasks, audit, onClock, applies, backup }: MoveDeps): ControlHandler =>
  async ({ command, args: [folder = '', project = ''] }) => {
    const event = { scope: project === '' ? '*' : project, target: folder, actor: 'command' }
    const begin = (noun: 'export' | 'import' | 'backup', work: (task: Task) => Promise<void>) =>
      tasks.begin(`${noun} ${folder}`, (task) => betweenEvents(audit, noun, event, () => work(task), task.rows))
    if (command === 'move.status') return tasks.status()
    if (command === 'move.export') {
      const only = project === '' ? null : parseProjectId(project)
      const deps = { store, log, blobs, deadLetters }
      return begin('export', (task) => exportTo(deps, { folder, project: only }, task))
    }
    if (command === 'move.import') {
      const stateFile = join(config.dataDir, 'import.json')
      const deps = { log, blobs, deadLetters, stateFile, onClock, waits: applies }
      return begin('import', (task) => importFrom(deps, folder, task))
    }
    if (command === 'move.backup') {
      if (!backup)
        throw new Error(
          'callhouse backup copies the data folder of one machine; back up Kafka and the ClickHouse server with their own tools (docs/operate/backup.md)',
        )
      return begin('backup', (task) => backup(folder, task))
    }
    throw new Error(`Unknown command ${command}`)
  }
