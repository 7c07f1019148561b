// The path of every change of the directory by a route: one change at a time, within the rights of its caller.
import { createSerialQueue } from '../core/concurrency/serial-queue.ts'
import type { Change, Directory } from '../core/directory/directory.ts'
import { type Access, allowsOn, isWithin } from '../core/directory/roles.ts'
import type { DirectoryState } from '../core/directory/state.ts'
import { unavailable } from '../core/errors.ts'
import { fault } from '../core/http/errors.ts'
import { throwUnlessScope } from '../core/http/key-changes.ts'
import type { KeyUses } from '../core/http/key-uses.ts'
import { appendFor } from '../core/http/room.ts'
import type { Caller, RouteContext } from '../core/http/route.ts'

export type AccessDeps = {
  directory: Directory
  config: { keys: readonly string[]; keyMaxDays: number }
  /** Last uses of keys. */
  keyUses: Pick<KeyUses, 'lastMs'>
  now?: () => number
}

/** @throws Fault 403 unless the caller may administer the whole of the scope, 422 for a text that is no scope */
export function throwUnlessAdminOn({ access = {} }: Caller, scope: string): void {
  throwUnlessScope(scope)
  if (!allowsOn(access, 'admin', scope)) throw fault(403, `Key has no right to admin on ${scope}`)
}

/** @throws Fault 403: nobody gives what he does not hold */
export function throwUnlessHeldBy({ access = {} }: Caller, wanted: Access): void {
  if (!isWithin(wanted, access)) throw fault(403, 'Your key does not have these permissions')
}

/** Makes the changes of routes, each worked out from the state that those before have left. */
export function createChanges({ directory }: Pick<AccessDeps, 'directory'>) {
  const queue = createSerialQueue(() => unavailable('The server is shutting down'))
  return async <T extends { changes: Change[] }>(caller: Caller, make: (state: DirectoryState) => T): Promise<T> =>
    queue.run(async () => {
      directory.look()
      const made = make(directory.state())
      await appendFor(directory, made.changes, caller)
      return made
    })
}

type Changes = ReturnType<typeof createChanges>

/** Parts that the routes of the directory share. */
export type AccessParts = Omit<Required<AccessDeps>, 'directory'> & {
  change: Changes
  /** The directory as it is now. */
  state(): DirectoryState
}

export const accessParts = ({ directory, now = Date.now, ...deps }: AccessDeps): AccessParts => ({
  ...deps,
  now,
  change: createChanges({ directory }),
  state() {
    directory.look()
    return directory.state()
  },
})

/** The parameter `id` of a path. */
export const pathId = ({ params }: Pick<RouteContext, 'params'>): string => params.id ?? ''
