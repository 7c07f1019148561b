// Runs the commands `export`, `import` and `backup` inside the process that has the engines.
import { join } from 'node:path'
import type { Audit } from '../../core/audit/audit.ts'
import { betweenEvents } from '../../core/audit/audited.ts'
import type { Blobs } from '../../core/blobs/blobs.ts'
import { parseProjectId } from '../../core/ids.ts'
import type { Log } from '../../core/log/log.ts'
import type { CommandTable } from '../../core/process/services.ts'
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

export function moveCommands(deps: MoveDeps): CommandTable {
  const { config, store, log, blobs, deadLetters, tasks, audit, onClock, applies, backup } = deps
  type Work = (task: Task) => Promise<void>
  const begin = (noun: 'export' | 'import' | 'backup', [folder, project]: [string, string], work: Work) => {
    const event = { scope: project === '' ? '*' : project, target: folder, actor: 'command' }
    return tasks.begin(`${noun} ${folder}`, (task) => betweenEvents(audit, noun, event, () => work(task), task.rows))
  }
  return {
    'move.status': () => tasks.status(),
    'move.export'([folder = '', project = '']) {
      const only = project === '' ? null : parseProjectId(project)
      const from = { store, log, blobs, deadLetters }
      return begin('export', [folder, project], (task) => exportTo(from, { folder, project: only }, task))
    },
    'move.import'([folder = '', project = '']) {
      const stateFile = join(config.dataDir, 'import.json')
      const into = { log, blobs, deadLetters, stateFile, onClock, waits: applies }
      return begin('import', [folder, project], (task) => importFrom(into, folder, task))
    },
    'move.backup'([folder = '', project = '']) {
      if (!backup)
        throw new Error(
          'callhouse backup copies the data folder of one machine; back up Kafka and the ClickHouse server with their own tools (docs/operate/backup.md)',
        )
      return begin('backup', [folder, project], (task) => backup(folder, task))
    },
  }
}
