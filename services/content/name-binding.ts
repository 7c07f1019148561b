// A name keeps its type: the live versions of an object share one base class, and a version of another one is refused.

import { createKeyedLock, type KeyedLock } from '../core/concurrency/keyed-lock.ts'
import { fault } from '../core/http/errors.ts'
import type { ProjectId } from '../core/ids.ts'
import type { ObjectKind } from '../events/objects.ts'

export type BoundName = { projectId: ProjectId; kind: ObjectKind; objectId: string }

/** Base classes of the live versions of a name; '' = none. Null when the store cannot tell in time. */
export type ReadBaseClasses = (name: BoundName, signal: AbortSignal) => Promise<string[] | null>

export type NameBinding = {
  /**
   * Runs `append` unless the name is bound to another base class. Creations of one name come one after the other, so
   * that each sees what the one before has appended.
   * @throws Fault 400
   */
  create<T>(name: BoundName & { baseClass: string }, signal: AbortSignal, append: () => Promise<T>): Promise<T>
}

const shown = (baseClass: string): string => (baseClass === '' ? 'no class' : `the class ${baseClass}`)

export function createNameBinding(read: ReadBaseClasses, lock: KeyedLock = createKeyedLock()): NameBinding {
  return {
    create(name, signal, append) {
      const { projectId, kind, objectId, baseClass } = name
      return lock.run(`name\n${projectId}\n${kind}\n${objectId}`, async () => {
        const bound = await read(name, signal)
        const other = bound?.find((one) => one !== baseClass)
        if (other !== undefined)
          throw fault(400, `${objectId} has versions of ${shown(other)}; this one is of ${shown(baseClass)}`)
        return append()
      })
    },
  }
}
