// A JSON file that operators change while the server runs: what could be read of it last counts, and what is wrong is told.
import { readFileSync, statSync } from 'node:fs'
import type { z } from 'zod'

export type WatchedFile<T> = {
  /** The contents of the file, or the last ones that could be read. Looks whether it has changed. */
  current(): T
  /** The reason why its contents do not count, undefined when they do. Looks whether it has changed. */
  problem(): string | undefined
}

export type WatchedFileOptions<Content, T> = {
  path: string
  schema: z.ZodType<Content>
  /** Content while there has been no file yet. Left out: there must be one. A file that goes away is broken. */
  absent?: Content | undefined
  /** Makes what is kept of the content. @throws Error that says what is wrong with it */
  use(content: Content): T
  /** Called once for each change that cannot be used, with the path and the reason. */
  onBroken?(reason: string): void
  /** Called when the file can be used again. */
  onMended?(): void
}

/** A line about the file that quotes nothing of it but the names of members. */
function reading<Content, T>({ path, schema, absent, use }: WatchedFileOptions<Content, T>): T {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' && absent !== undefined) return use(absent)
    throw new Error(code === 'ENOENT' ? `${path} is gone` : `${path}: ${message}`)
  }
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    throw new Error(`${path}: not JSON`)
  }
  const result = schema.safeParse(parsed)
  if (!result.success) {
    const [issue] = result.error.issues
    throw new Error(`${path}: ${[issue?.path.join('.'), issue?.message].filter(Boolean).join(' ')}`)
  }
  try {
    return use(result.data)
  } catch (error) {
    throw new Error(`${path}: ${(error as Error).message}`)
  }
}

/** @throws Error with one line when the file cannot be used from the start */
export function watchFile<Content, T>(options: WatchedFileOptions<Content, T>): WatchedFile<T> {
  const stampOf = (): string => {
    try {
      const { ino, size, mtimeMs, ctimeMs } = statSync(options.path)
      // Changed rights change the last of these alone.
      return `${ino} ${size} ${mtimeMs} ${ctimeMs}`
    } catch (error) {
      return String((error as NodeJS.ErrnoException).code)
    }
  }
  // The stamp is taken before the file is read: a change meanwhile is seen the next time.
  let stamp = stampOf()
  let current = reading(options)
  let problem: string | undefined
  const look = (): void => {
    const now = stampOf()
    if (now === stamp) return
    stamp = now
    try {
      current = reading({ ...options, absent: undefined })
      if (problem !== undefined) options.onMended?.()
      problem = undefined
    } catch (error) {
      problem = (error as Error).message
      options.onBroken?.(problem)
    }
  }
  return {
    current() {
      look()
      return current
    },
    problem() {
      look()
      return problem
    },
  }
}
