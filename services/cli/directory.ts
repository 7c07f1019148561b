// `callhouse directory`: users, grants, keys, settings and rules as a file, for a copy or another installation.
import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import type { Config } from '../app/config.ts'
import { openKeysOf } from '../app/keys.ts'
import type { Directory } from '../core/directory/directory.ts'
import { type Item, parseItem } from '../core/directory/items.ts'
import { RefusedChange } from '../core/http/key-changes.ts'
import { createLogger } from '../core/process/logger.ts'
import { quantity } from '../core/quantity.ts'
import { print, UsageError } from './command.ts'

/** A refusal by the directory is a mistake of the person who typed the command. */
export async function withDirectory<T>(config: Config, work: (directory: Directory) => T | Promise<T>): Promise<T> {
  const { directory, close } = await openKeysOf(config, createLogger({ level: 'error' }).log)
  try {
    return await work(directory)
  } catch (error) {
    throw error instanceof RefusedChange ? new UsageError(error.message) : error
  } finally {
    await close()
  }
}

/** Its items as lines, readable by its owner alone. @returns how many */
export async function writeDirectory(config: Config, file: string): Promise<number> {
  const items = await withDirectory(config, (directory) => [...directory.state().items.values()])
  const handle = openSync(file, 'wx', 0o600)
  try {
    writeSync(handle, items.map((item) => `${JSON.stringify(item)}\n`).join(''))
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
  return items.length
}

/** @throws UsageError that names the line which cannot be used; nothing is taken over then */
function itemsOf(file: string): Item[] {
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
  return lines.map((line, index) => {
    try {
      return parseItem(JSON.parse(line))
    } catch (error) {
      const reason = error instanceof SyntaxError ? 'not JSON' : (error as Error).message
      throw new UsageError(`${file}: line ${index + 1}: ${reason}`)
    }
  })
}

const itemsAtOneTime = 1_000

/**
 * Adds the items of a file and puts them in the place of those of the same names. Other items stay, so that nothing
 * which was revoked or ended since counts again.
 * @returns how many differed; undefined, and nothing is done, when only an empty directory is to be filled and it is not
 */
export async function readDirectory(config: Config, file: string, isForEmpty = false): Promise<number | undefined> {
  const items = itemsOf(file)
  return withDirectory(config, async (directory) => {
    const known = directory.state().items
    if (isForEmpty && known.size > 0) return undefined
    const changed = items.filter(({ key, value }) => JSON.stringify(known.get(key)?.value) !== JSON.stringify(value))
    for (let at = 0; at < changed.length; at += itemsAtOneTime)
      await directory.append(changed.slice(at, at + itemsAtOneTime), 'import')
    return changed.length
  })
}

export async function exportDirectory(config: Config, file: string): Promise<void> {
  print(quantity(await writeDirectory(config, file), 'item'))
}

export async function importDirectory(config: Config, file: string): Promise<void> {
  const changed = (await readDirectory(config, file)) ?? 0
  print(`${quantity(changed, 'item was', 'items were')} new or different`)
}
