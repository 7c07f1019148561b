// Tickets of exports: a sealed request, by which a browser that sends no headers gets its file from any process.
import { z } from 'zod'
import { fault } from '../../../core/http/errors.ts'
import { type Seal, sealWith } from '../../../core/process/master-key.ts'

const lifeMs = 60_000

const content = z.object({
  /** The request as it was sent: numbers in it keep their spelling. */
  body: z.string(),
  format: z.enum(['jsonl', 'csv']),
  columns: z.array(z.string()),
  /** The id by which the asking key is found again, or the user who signed in. */
  key: z.string(),
  untilMs: z.number(),
})

export type Ticket = z.output<typeof content>

export type Tickets = {
  /** @throws Fault 409 where there is no master key */
  make(asked: Omit<Ticket, 'untilMs'>): { ticket: string; untilMs: number }
  /** @throws Fault 404 for what is none, 410 for one whose time is over */
  read(ticket: string): Ticket
}

export function createTickets(masterKey: () => Buffer | undefined, now: () => number = Date.now): Tickets {
  let known: Seal | undefined
  const seal = (): Seal => {
    const master = known === undefined ? masterKey() : undefined
    // Sessions are sealed by the same master key, and neither opens as the other.
    if (master !== undefined) known = sealWith(master, 'session', 'export')
    if (known === undefined) throw fault(409, 'Exports need CALLHOUSE_MASTER_KEY where the roles are apart')
    return known
  }
  return {
    make(asked) {
      const untilMs = now() + lifeMs
      return { ticket: seal().seal(JSON.stringify({ ...asked, untilMs })), untilMs }
    },
    read(ticket) {
      const opened = seal().open(ticket)
      const parsed = opened === undefined ? undefined : content.safeParse(JSON.parse(opened))
      if (!parsed?.success) throw fault(404, 'Export not found')
      if (parsed.data.untilMs < now()) throw fault(410, 'This address has expired. Request the export again')
      return parsed.data
    },
  }
}
