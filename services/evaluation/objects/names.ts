// Object ids of the names that callers of the evaluation routes give.

import { fault } from '../../core/http/errors.ts'
import { isLongerThan } from '../../core/json/characters.ts'

const longest = 128

/** The object id of a name: lower case, spaces and slashes as `_`, every other character that ids cannot have left out. */
export const safeName = (name: string): string =>
  // Lower case first: it can add a combining mark, which ids cannot have.
  name
    .toLowerCase()
    .replace(/[ /]/g, '_')
    .replace(/[^\p{L}\p{N}_.-]/gu, '')

/** @throws Fault 400 when it is no object id because it is empty or too long */
export function checkObjectId(objectId: string): string {
  if (objectId === '') throw fault(400, 'name must hold a letter, a digit, "_", "." or "-"')
  if (isLongerThan(objectId, longest))
    throw fault(400, `The object id ${objectId.slice(0, 200)} is longer than ${longest} characters`)
  return objectId
}
