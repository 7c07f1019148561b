// Limits as words of a command: `calls_per_minute=600`.
import { type KeyLimits, keyLimits } from '../../schemas/project-settings.ts'
import { UsageError } from './command.ts'

/**
 * @param others names that the command takes besides, which a mistake tells too
 * @throws UsageError for a word that is not `name=number` with one of the names
 */
export function limitsFrom(
  words: readonly string[],
  names: readonly string[],
  others: readonly string[] = [],
): Record<string, number> {
  return Object.fromEntries(
    words.map((word) => {
      const [, name = '', number = ''] = /^(\w+)=(\d{1,15})$/.exec(word) ?? []
      if (!names.includes(name))
        throw new UsageError(
          `${JSON.stringify(word)} is not <name>=<number> with one of ${[...others, ...names].join(', ')}`,
        )
      return [name, Number(number)]
    }),
  )
}

export const keyLimitsFrom = (text: string): KeyLimits | undefined =>
  text === '' ? undefined : limitsFrom(text.split(','), Object.keys(keyLimits.shape))
