// Asks the log before a long body becomes rows: what it would refuse costs others no time.
import type { EdgeLog } from './log.ts'

/** Shorter bodies are worked on before the log is asked. */
const longBytes = 64 * 1024

/** @throws Refusal when the log takes no more of the project, as its append would */
export function refuseEarly(log: Pick<EdgeLog, 'refusal'>, project: string, bodyBytes: number): void {
  // Rows are rarely much shorter than what they are made from.
  const refusal = bodyBytes >= longBytes ? log.refusal?.(new Map([[project, bodyBytes / 2]])) : null
  if (refusal) throw refusal
}
