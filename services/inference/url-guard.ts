// Limits the addresses that the server connects to for a project: a name is resolved once, checked, and that address is
// used.
import { type LookupAddress, type LookupOptions, lookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { isOpenAddress } from '../core/http/public-url.ts'

/** The name leads to an address that no project may reach. */
export class ForbiddenAddress extends Error {}

type Resolve = (
  name: string,
  options: LookupOptions & { all: true },
  done: (error: NodeJS.ErrnoException | null, found: LookupAddress[]) => void,
) => void

/**
 * Looks a name up for a socket and refuses it when any of its addresses is closed. The socket connects to what was
 * checked, so that a name cannot change its mind in between.
 */
export const createGuardedLookup =
  (options: { allowPrivate: boolean }, resolve: Resolve = lookup): LookupFunction =>
  (name, asked, done) => {
    resolve(name, { ...asked, all: true }, (error, found) => {
      const [first] = found ?? []
      if (error !== null) return done(error, '', 0)
      if (first === undefined || found.some(({ address }) => !isOpenAddress(address, options)))
        return done(new ForbiddenAddress('must be a public address'), '', 0)
      if (asked.all === true) done(null, found)
      else done(null, first.address, first.family)
    })
  }
