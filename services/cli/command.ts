// The type of a command of the command line.
import type { Config } from '../app/config.ts'

/** A mistake of who typed it: printed alone, exit code 2. */
export class UsageError extends Error {}

type Given = {
  config: Config
  /** Words, as many as the command declares. */
  words: string[]
  /** A flag of the command; absent = '', one that stands alone = 'true'. */
  flag(name: string): string
}

export type Command = {
  /** One or two words. */
  name: string
  /** `<needed> [optional] [any number ...]` */
  words?: string
  /** Flags by name, without dashes; the value's placeholder, '' for one that stands alone. */
  flags?: Readonly<Record<string, string>>
  help: string
  run(given: Given): Promise<void>
}

export const print = (line: string): void => void process.stdout.write(`${line}\n`)
export const printJson = (value: unknown): void => print(JSON.stringify(value, null, 2))

/** `export <folder> [--project <entity/project>]` */
export function commandUsage({ name, words, flags = {} }: Command): string {
  const shown = Object.entries(flags).map(([flag, value]) => (value === '' ? `[--${flag}]` : `[--${flag} ${value}]`))
  return [name, words, ...shown].filter(Boolean).join(' ')
}

/** Whether a command takes so many words. */
export function takes({ words = '' }: Command, count: number): boolean {
  const least = words.match(/<[^>]*>/g)?.length ?? 0
  const most = words.includes('...') ? Number.POSITIVE_INFINITY : least + (words.match(/\[[^\]]*\]/g)?.length ?? 0)
  return count >= least && count <= most
}
