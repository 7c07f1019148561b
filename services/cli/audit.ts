// `callhouse audit`: who changed or was refused what, as lines, as a file, and whether all of it is there.
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'
import { type AuditLine, auditRequest } from '../../schemas/audit.ts'
import type { Config } from '../app/config.ts'
import { auditCommands } from '../app/control/audit.ts'
import type { Verified } from '../core/audit/verify.ts'
import { quantity } from '../core/quantity.ts'
import { type Ask, askingStore } from './ask.ts'
import { print, UsageError } from './command.ts'

type Flag = (name: string) => string

const asking = <T>(config: Config, work: (ask: Ask) => Promise<T>): Promise<T> =>
  askingStore(config, auditCommands, work)

const filters = ['scope', 'from', 'to', 'actor', 'action', 'target'] as const

/** @throws UsageError */
function askedBy(flag: Flag): object {
  const given = filters.map((name) => [name, flag(name)]).filter(([, value]) => value !== '')
  return Object.fromEntries(given)
}

function limitFrom(text: string): number {
  if (text === '') return 100
  const { success } = auditRequest.shape.limit.safeParse(Number(text))
  if (!success) throw new UsageError('limit must be a whole number from 1 to 1000')
  return Number(text)
}

/** The newest last, as it is read on a terminal. */
export async function listAudit(config: Config, flag: Flag): Promise<void> {
  const asked = { ...askedBy(flag), limit: limitFrom(flag('limit')) }
  const lines = (await asking(config, (ask) => ask('audit.list', [JSON.stringify(asked)]))) as AuditLine[]
  for (const { at, actor, actor_kind, action, target, scope, outcome, address, details } of lines.toReversed())
    print(
      [at, actor || actor_kind, action, target || '-', scope, outcome, address || '-', JSON.stringify(details)].join(
        '  ',
      ),
    )
}

const pageLines = 1_000

/** Every event that fits, the newest first, as lines of a new file that its owner alone may read. */
export async function exportAudit(config: Config, file: string, flag: Flag): Promise<void> {
  const asked = askedBy(flag)
  const handle = openSync(file, 'wx', 0o600)
  let count = 0
  try {
    await asking(config, async (ask) => {
      for (let after: string | undefined; ; ) {
        const page = { ...asked, limit: pageLines, ...(after !== undefined && { after }) }
        const lines = (await ask('audit.list', [JSON.stringify(page)])) as AuditLine[]
        writeSync(handle, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
        count += lines.length
        after = lines.at(-1)?.id
        if (lines.length < pageLines) return
      }
    })
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
  print(quantity(count, 'event'))
}

/** Exit code 1 when something is wrong. */
export async function verifyAudit(config: Config, flag: Flag): Promise<void> {
  const { events, chains, gone, faults, faultCount } = (await asking(config, (ask) =>
    ask('audit.verify', [flag('anchor')]),
  )) as Verified
  for (const { fault, chain, seq } of faults)
    print(fault === 'unknown anchor' ? 'no event has this hash' : `${fault}: event ${seq} of chain ${chain}`)
  if (faultCount > faults.length) print(`and ${faultCount - faults.length} more`)
  const days = gone.days.map((one) => quantity(one, 'day'))
  if (gone.events > 0) print(`${quantity(gone.events, 'event')} went by age, after ${days.join(', ')}`)
  const found = faultCount === 0 ? 'whole' : quantity(faultCount, 'fault')
  print(`${quantity(events, 'event')} in ${quantity(chains, 'chain')}: ${found}`)
  if (faultCount > 0) process.exitCode = 1
}
