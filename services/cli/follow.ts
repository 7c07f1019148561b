// Long tasks of a server: begins one and shows its progress until it ends.
import { setTimeout as sleep } from 'node:timers/promises'
import { quantity } from '../core/quantity.ts'
import type { RebuildStatus } from '../operations/rebuild/rebuild.ts'
import type { TaskStatus } from '../operations/tasks.ts'
import type { Ask } from './ask.ts'

type Status = TaskStatus | RebuildStatus

/** Short tasks are over soon, long ones need no line every moment. */
const firstMs = 50
const maxMs = 2_000

function lineOf(status: Status): string {
  const { task, phase, rows } = status
  if ('of' in status) {
    const { of, doing } = status
    return `${task}: ${phase}${doing ? `, ${doing}` : ''}, ${of > 0 ? `${rows} of ${quantity(of, 'row')}` : quantity(rows, 'row')}`
  }
  const { progress, rowsPerSecond, at } = status
  return `${task}: ${phase}, ${Math.floor(progress * 100)} %, ${quantity(rows, 'row')}, ${rowsPerSecond} rows/s${at ? `, at ${at}` : ''}`
}

/**
 * @param command of a noun that also answers `<noun>.status`
 * @throws Error when it was refused or failed
 */
export async function follow(ask: Ask, command: string, args: string[], print: (line: string) => void): Promise<void> {
  const [noun] = command.split('.')
  let status = (await ask(command, args)) as Status
  if ('isResumed' in status && status.isResumed)
    print(`${status.task}: goes on from ${quantity(status.rows, 'row')}, begun at ${status.startedAt}`)
  let shownNotes = 0
  let shownLine = ''
  for (let waitMs = firstMs; ; waitMs = Math.min(waitMs * 1.2, maxMs)) {
    for (; shownNotes < status.notes.length; shownNotes++) print(`${status.task}: ${status.notes[shownNotes]}`)
    const line = lineOf(status)
    if (line !== shownLine) print(line)
    shownLine = line
    if (status.phase !== 'working' && status.phase !== 'exchanging') break
    await sleep(waitMs)
    status = (await ask(`${noun}.status`, [])) as Status
  }
  if (status.phase !== 'done') throw new Error(`${status.task}: ${status.phase}: ${status.reason}`)
}
