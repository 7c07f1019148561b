// Audit events of processes that cannot reach the log, as files in the data folder until a server takes them over.
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import type { AuditSink } from './audit.ts'
import type { SealedEvent } from './chain.ts'

const folderOf = (dataDir: string): string => join(dataDir, 'audit')

function sync(path: string): void {
  const handle = openSync(path, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/** A file for each append: nobody else writes or takes one that is not whole. */
export function createOutbox(dataDir: string): AuditSink {
  const folder = folderOf(dataDir)
  return async (events) => {
    const [event] = events
    if (event === undefined) return
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const path = join(folder, `${event.chain}-${String(event.seq).padStart(10, '0')}.json`)
    const handle = openSync(`${path}.new`, 'wx', 0o600)
    try {
      writeSync(handle, JSON.stringify(events))
      fsyncSync(handle)
    } finally {
      closeSync(handle)
    }
    renameSync(`${path}.new`, path)
    sync(folder)
    sync(dataDir)
  }
}

/** Hands over what lies in the data folder; what was handed over twice replaces itself in the tables. */
export async function takeOutbox(dataDir: string, sink: AuditSink): Promise<number> {
  const folder = folderOf(dataDir)
  let names: string[]
  try {
    names = readdirSync(folder).filter((name) => name.endsWith('.json'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0
    throw error
  }
  for (const name of names.sort()) {
    const path = join(folder, name)
    await sink(JSON.parse(readFileSync(path, 'utf8')) as SealedEvent[])
    rmSync(path)
  }
  return names.length
}
