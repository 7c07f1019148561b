// `callhouse erasures`: what was asked to be removed for good, the receipts of it, and a file of it for restores.
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'
import type { Config } from '../app/config.ts'
import { deletesAtOnce, erasureCommands } from '../app/control/erasures.ts'
import { quantity } from '../core/quantity.ts'
import type { DeletedCall, DeletedLog } from '../operations/backup/erased.ts'
import type { receiptOfRow } from '../query/erasures/receipts.ts'
import { type Ask, askingStore } from './ask.ts'
import { print, UsageError } from './command.ts'
import { withDirectory } from './directory.ts'

type Receipt = ReturnType<typeof receiptOfRow>

const asking = <T>(config: Config, work: (ask: Ask) => Promise<T>): Promise<T> =>
  askingStore(config, erasureCommands, work)

/** The newest last, as it is read on a terminal. @param project '' for all */
export async function listErasures(config: Config, project: string): Promise<void> {
  const receipts = (await asking(config, (ask) => ask('erasures.list', [project]))) as Receipt[]
  for (const {
    erasure_id,
    project_id,
    status,
    requested_at,
    requested_by,
    done_at,
    deadline,
    counts,
  } of receipts.toReversed())
    print(
      [
        erasure_id,
        project_id,
        requested_at,
        requested_by,
        quantity(counts.calls ?? 0, 'call'),
        status,
        done_at === null ? `until ${deadline}` : done_at,
      ].join('  '),
    )
}

export async function showErasure(config: Config, id: string): Promise<void> {
  const [receipt] = (await asking(config, (ask) => ask('erasures.show', [id]))) as Receipt[]
  if (receipt === undefined) throw new UsageError(`Erasure ${id} not found`)
  print(JSON.stringify(receipt, null, 2))
}

/** Deleted calls, log records deleted by themselves and removed projects as lines of a new file that its owner alone may read, for `restore --erasures`. */
export async function exportErased(config: Config, file: string): Promise<void> {
  const handle = openSync(file, 'wx', 0o600)
  const write = (lines: readonly object[]) =>
    writeSync(handle, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  let calls = 0
  let records = 0
  try {
    const removed = await withDirectory(config, (directory) =>
      [...directory.state().removedProjects].map(([project_id, { at }]) => ({ project_id, removed_at: at })),
    )
    write(removed)
    await asking(config, async (ask) => {
      for (let after: Pick<DeletedCall, 'project_id' | 'id'> = { project_id: '', id: '' }; ; ) {
        const lines = (await ask('erasures.deletes', [after.project_id, after.id])) as DeletedCall[]
        write(lines)
        calls += lines.length
        if (lines.length < deletesAtOnce) break
        after = lines.at(-1) as DeletedCall
      }
      for (let after: Omit<DeletedLog, 'clock'> = { project_id: '', log_id: '', at: '0' }; ; ) {
        const lines = (await ask('erasures.deleted_logs', [after.project_id, after.log_id, after.at])) as DeletedLog[]
        write(lines)
        records += lines.length
        if (lines.length < deletesAtOnce) break
        after = lines.at(-1) as DeletedLog
      }
    })
    fsyncSync(handle)
    const all = [
      quantity(calls, 'deleted call'),
      quantity(records, 'deleted log record'),
      quantity(removed.length, 'removed project'),
    ]
    print(all.join(', '))
  } finally {
    closeSync(handle)
  }
}
