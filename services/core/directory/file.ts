// The directory of one machine: a file of lines in the data folder, appended and synced, and rewritten when it is mostly old.
import {
  closeSync,
  existsSync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { unavailable } from '../errors.ts'
import { type Change, type Directory, itemsOf } from './directory.ts'
import { withLock } from './file-lock.ts'
import { type Item, parseItem } from './items.ts'
import { applyItem, type DirectoryState, emptyState } from './state.ts'

export const directoryFile = 'directory.jsonl'

export type FileOptions = {
  dataDir: string
  /** Called once for each change of the file that cannot be used, with a line that quotes no value. */
  onBroken?(reason: string): void
  onMended?(): void
  now?: () => number
  /** Takes what no longer counts out of the file when it is opened, and once a day. */
  rewrites?: boolean
  rewriteEveryMs?: number
  /** Least size of a file that is rewritten while it is used. */
  rewriteBytes?: number
}

export type FileDirectory = Directory & {
  /** @throws Error with a line when the file cannot be written, or has still to be mended */
  appendNow(changes: readonly Change[], by: string): void
}

/** Interval between looks at the file while requests come. */
const lookMs = 500
const dayMs = 86_400_000
/** Bytes before the new lines that must be as they were read: otherwise the file is another one. */
const seamBytes = 64

const lineOf = (item: Item): string => `${JSON.stringify(item)}\n`

function readFrom(handle: number, from: number, to: number): Buffer {
  const bytes = Buffer.alloc(Math.max(0, to - from))
  let got = 0
  while (got < bytes.length) {
    const count = readSync(handle, bytes, got, bytes.length - got, from + got)
    if (count === 0) break
    got += count
  }
  return bytes.subarray(0, got)
}

/** @throws Error that names the line */
function itemsIn(text: string, firstLine: number): Item[] {
  return text
    .split('\n')
    .slice(0, -1)
    .map((line, index) => {
      let value: unknown
      try {
        value = JSON.parse(line)
      } catch {
        throw new Error(`line ${firstLine + index} is not JSON`)
      }
      try {
        return parseItem(value)
      } catch (error) {
        throw new Error(`line ${firstLine + index}: ${(error as Error).message}`)
      }
    })
}

function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/** The contents that were read of the file, and their end. */
type Read = { state: DirectoryState; ino: number; bytes: number; lines: number; seam: Buffer }

const nothing = (): Read => ({ state: emptyState(), ino: 0, bytes: 0, lines: 0, seam: Buffer.alloc(0) })

/** @throws Error when what was not read yet holds a line that cannot be used; nothing of it counts then */
function readMore(path: string, before: Read): Read {
  let handle: number
  try {
    handle = openSync(path, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    if (before.ino === 0) return before
    throw new Error('it is gone')
  }
  try {
    const { ino, size } = fstatSync(handle)
    const isGrown =
      ino === before.ino &&
      size >= before.bytes &&
      readFrom(handle, before.bytes - before.seam.length, before.bytes).equals(before.seam)
    // A process that drops older items writes a new file.
    if (ino === before.ino && !isGrown)
      throw new Error('it was changed in place; put it back, or start anew to take it as it is')
    const from = isGrown ? before : nothing()
    const added = readFrom(handle, from.bytes, size)
    // A line that has no end yet is being written, or was when its process died: nobody was told that it counts.
    const whole = added.subarray(0, added.lastIndexOf(10) + 1)
    const items = itemsIn(whole.toString(), from.lines + 1)
    if (before.ino !== 0 && !isGrown && items.length === 0) throw new Error('it is empty')
    const { state } = from
    for (const item of items) applyItem(state, item)
    const bytes = from.bytes + whole.length
    const seam = readFrom(handle, Math.max(0, bytes - seamBytes), bytes)
    return { state, ino, bytes, lines: from.lines + items.length, seam }
  } finally {
    closeSync(handle)
  }
}

/**
 * Opens the directory of a data folder. A file that breaks or goes away leaves what was read before.
 * @throws Error with one line when there is a file that cannot be read: everybody would be refused
 */
export function openFileDirectory(options: FileOptions): FileDirectory {
  const { dataDir, now = Date.now, rewriteBytes = 2 ** 20 } = options
  const path = join(dataDir, directoryFile)
  const lock = `${path}.lock`
  let read = nothing()
  let stamp = ''
  let version = 0
  let lookedAt = Number.NEGATIVE_INFINITY
  let broken: string | undefined

  const stampOf = (): string => {
    const found = statSync(path, { throwIfNoEntry: false, bigint: true })
    return found === undefined ? '' : `${found.ino} ${found.size} ${found.mtimeNs} ${found.ctimeNs}`
  }

  const load = (): void => {
    const seen = stampOf()
    if (seen === stamp) return
    const before = read
    read = readMore(path, before)
    stamp = seen
    if (before.state !== read.state || before.bytes !== read.bytes) version++
  }

  const look = (): void => {
    lookedAt = now()
    try {
      load()
      if (broken !== undefined) options.onMended?.()
      broken = undefined
    } catch (error) {
      const reason = `${path}: ${(error as Error).message}`
      if (broken !== reason) options.onBroken?.(reason)
      broken = reason
    }
  }

  /** @throws Error when the file has still to be mended: it is not written over */
  const throwIfBroken = (): void => {
    look()
    if (broken !== undefined) throw unavailable(broken)
  }

  /** Only what counts, in a new file that takes the place of the old one. */
  function rewrite(): void {
    const fresh = `${path}.new`
    rmSync(fresh, { force: true })
    const handle = openSync(fresh, 'wx', 0o600)
    try {
      writeSync(handle, [...read.state.items.values()].map(lineOf).join(''))
      fsyncSync(handle)
    } finally {
      closeSync(handle)
    }
    renameSync(fresh, path)
    syncFolder(dataDir)
    throwIfBroken()
  }

  const liveBytes = (): number => [...read.state.items.values()].reduce((sum, item) => sum + lineOf(item).length, 0)

  function write(items: readonly Item[]): void {
    const isNew = !existsSync(path)
    const handle = openSync(path, isNew ? 'wx+' : 'r+', 0o600)
    try {
      // The line of a process that died before its end of line is cut off.
      if (fstatSync(handle).size > read.bytes) ftruncateSync(handle, read.bytes)
      writeSync(handle, items.map(lineOf).join(''), read.bytes)
      fdatasyncSync(handle)
    } finally {
      closeSync(handle)
    }
    if (isNew) syncFolder(dataDir)
  }

  function appendNow(changes: readonly Change[], by: string): void {
    if (changes.length === 0) return
    const items = itemsOf(read.state, changes, by, now())
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    withLock(lock, () => {
      throwIfBroken()
      write(items)
      throwIfBroken()
      if (read.bytes > rewriteBytes && read.bytes > 2 * liveBytes()) rewrite()
    })
  }

  try {
    load()
  } catch (error) {
    throw new Error(`${path}: ${(error as Error).message}; mend the file or take it from a backup`)
  }
  const tidy = (): void => {
    if (read.lines > read.state.items.size) withLock(lock, rewrite)
  }
  if (options.rewrites === true) tidy()
  /** A file that is broken, or written by another process at the moment, is looked at tomorrow. */
  const tidyLater = (): void => {
    try {
      look()
      if (broken === undefined) tidy()
    } catch (error) {
      options.onBroken?.(`${path} was not rewritten: ${(error as Error).message}`)
    }
  }
  const timer = options.rewrites === true ? setInterval(tidyLater, options.rewriteEveryMs ?? dayMs).unref() : undefined
  return {
    state() {
      if (now() - lookedAt > lookMs) look()
      return read.state
    },
    version: () => version,
    look,
    appendNow,
    append: async (changes, by) => appendNow(changes, by),
    problem() {
      look()
      return broken
    },
    isStale: () => false,
    close: async () => clearInterval(timer),
  }
}
