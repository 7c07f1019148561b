// Words and flags of a command line.
import { parseArgs } from 'node:util'

/** Flags by name, without dashes; a boolean one may stand alone. */
export type FlagTypes = Readonly<Record<string, 'string' | 'boolean'>>

export type Arguments = {
  words: string[]
  /** Flags in the given order: the last one of a name counts. */
  flags: [name: string, value: string][]
  /** One line per fault. */
  faults: string[]
}

/**
 * Reads `--port 7000`, `--port=7000`, `--reindex`, `--reindex false`; words may stand before, between and after flags.
 * All that follows `--` is words.
 */
export function parseArguments(argv: readonly string[], types: FlagTypes): Arguments {
  const options = Object.fromEntries(Object.entries(types).map(([name, type]) => [name, { type }]))
  const { tokens } = parseArgs({ args: [...argv], options, strict: false, allowPositionals: true, tokens: true })
  const words: string[] = []
  const flags: Arguments['flags'] = []
  const faults: string[] = []
  for (const [n, token] of tokens.entries()) {
    if (token.kind === 'option-terminator') continue
    if (token.kind === 'positional') {
      const before = tokens[n - 1]
      const isValue = /^(?:true|false)$/.test(token.value) && before?.kind === 'option' && before.value === undefined
      if (isValue && types[before.name] === 'boolean') flags.push([before.name, token.value])
      else words.push(token.value)
      continue
    }
    const { name, rawName, value, inlineValue } = token
    const type = Object.hasOwn(types, name) ? types[name] : undefined
    if (type === undefined || !rawName.startsWith('--'))
      faults.push(`Unknown flag ${rawName}; 'callhouse config' lists all settings, 'callhouse help' all commands`)
    else if (type === 'boolean') flags.push([name, value ?? 'true'])
    else if (value === undefined || (!inlineValue && value.startsWith('--'))) faults.push(`${rawName} needs a value`)
    else flags.push([name, value])
  }
  return { words, flags, faults }
}
