// Stored prompts: the messages that a request begins with.

import { parseRef } from '../content/refs.ts'
import type { Invoke, InvokeCaller } from '../core/http/invoke.ts'
import { inferenceFault } from './errors.ts'
import { type ObjectName, readStoredObject } from './objects.ts'

const scheme = 'weave:///'
const promptClasses = new Set(['Prompt', 'MessagesPrompt'])
const param = 'prompt'

/** A full ref, `name:<digest, version or alias>`, or `name` for the latest. */
function nameOf(prompt: string, projectId: string): ObjectName {
  if (prompt.startsWith(scheme)) {
    const ref = parseRef(prompt)
    if (ref?.kind !== 'object' || ref.extra.length > 0)
      throw inferenceFault(400, 'The prompt is a ref, but not of an object', { param })
    return { projectId: `${ref.entity}/${ref.project}`, objectId: ref.name, version: ref.version }
  }
  const colon = prompt.lastIndexOf(':')
  const objectId = colon === -1 ? prompt : prompt.slice(0, colon)
  const version = colon === -1 ? 'latest' : prompt.slice(colon + 1)
  if (objectId === '' || version === '')
    throw inferenceFault(400, 'The prompt must be a ref, a name, or name:version', { param })
  return { projectId, objectId, version }
}

/** Messages of a stored prompt. @throws Fault 404 when it does not exist, 400 when it is something else */
export async function promptMessages(
  invoke: Pick<Invoke, 'answer'>,
  prompt: string,
  projectId: string,
  as: InvokeCaller,
): Promise<unknown[]> {
  const shown = prompt.slice(0, 200)
  const found = await readStoredObject(invoke, nameOf(prompt, projectId), as)
  if (found === undefined)
    throw inferenceFault(404, `The prompt ${shown} does not exist`, { param, code: 'prompt_not_found' })
  const isPrompt = [found.baseClass, found.leafClass].some((name) => name !== null && promptClasses.has(name))
  const { val } = found
  if (!isPrompt || typeof val !== 'object' || val === null || Array.isArray(val))
    throw inferenceFault(400, `The object ${shown} is not a prompt`, { param })
  const messages = (val as { messages?: unknown }).messages ?? []
  if (!Array.isArray(messages)) throw inferenceFault(400, `The prompt ${shown} has no list of messages`, { param })
  return messages
}
