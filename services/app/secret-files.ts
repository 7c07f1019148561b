// Settings that are secret may stand in files: CALLHOUSE_ENGINE_KEY_FILE names the file whose text is CALLHOUSE_ENGINE_KEY.
import { readFileSync, statSync } from 'node:fs'

export type Environment = Readonly<Record<string, string | undefined>>

const ending = '_FILE'
/** The longest secrets are credentials of clouds, a few KiB. */
const maxBytes = 1024 * 1024

/** The text without the line break that editors and tools put behind it. @throws Error with a reason, which quotes nothing of it */
function textOf(path: string): string {
  try {
    const found = statSync(path)
    if (!found.isFile()) throw new Error('it is no file')
    if (found.size > maxBytes) throw new Error(`it is longer than ${maxBytes} bytes`)
    const text = readFileSync(path, 'utf8').replace(/\r?\n$/, '')
    if (text === '') throw new Error('it is empty')
    return text
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new Error(`${path} cannot be used: ${code ?? message}`)
  }
}

/**
 * The variables with the contents of files in the place of their names.
 * @param isSecret whether a variable is one that may stand in a file
 * @param isSetting whether a variable is a setting itself, whatever it ends with
 * @returns also a line for each file that cannot be used, and each variable that is given twice
 */
export function withSecretFiles(
  env: Environment,
  isSecret: (name: string) => boolean,
  isSetting: (name: string) => boolean,
): { env: Environment; lines: string[] } {
  const read: Record<string, string | undefined> = { ...env }
  const lines: string[] = []
  for (const [name, path] of Object.entries(env)) {
    const base = name.slice(0, -ending.length)
    if (!name.endsWith(ending) || isSetting(name) || !isSecret(base)) continue
    delete read[name]
    if (path === undefined || path === '') continue
    if (env[base]) {
      lines.push(`${base} and ${name} are both given: one of them is enough`)
      continue
    }
    try {
      read[base] = textOf(path)
    } catch (error) {
      lines.push(`${name}: ${(error as Error).message}`)
    }
  }
  return { env: read, lines }
}
