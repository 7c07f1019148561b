// Writing versioned objects: POST /obj/create.
import { objCreateRequest, objCreateResponse } from '../../../schemas/objects.ts'
import { type Maskings, noMaskings } from '../../content/masking/maskings.ts'
import type { NameBinding } from '../../content/name-binding.ts'
import type { Clock } from '../../core/clock/clock.ts'
import { fault, invalid } from '../../core/http/errors.ts'
import { type Route, route } from '../../core/http/route.ts'
import { members } from '../../core/json/canonical.ts'
import type { Log } from '../../core/log/log.ts'
import { formatPositions, positionHeader } from '../../core/log/positions.ts'
import { objectContent, objectRecord } from '../../events/objects.ts'
import { builtinClasses } from './builtin-classes.ts'
import { checkObjectName, processClass, storedRefs } from './value.ts'

export type ObjectWriteDeps = {
  log: Pick<Log, 'append'>
  clock: Clock
  binding: NameBinding
  maskings?: Maskings
  config: { allowPrivateNetworks: boolean }
}

/** The value's own text, so that its numbers keep their spelling. */
function valueText(body: Buffer): string {
  const object = members(body.toString())?.get('obj')
  const text = object === undefined ? undefined : members(object)?.get('val')
  if (text === undefined) throw invalid({ loc: ['body', 'obj', 'val'], msg: 'Field required', type: 'missing' })
  return text
}

export function createObjectWriteRoutes(deps: ObjectWriteDeps): Route[] {
  const { log, clock, binding, maskings = noMaskings, config } = deps
  const classes = builtinClasses(config)
  return [
    route({
      name: 'objects.create',
      method: 'POST',
      path: '/obj/create',
      summary: 'Stores a version of an object and makes it the latest',
      body: { type: 'json', schema: objCreateRequest, check: 'schema' },
      response: objCreateResponse,
      topics: ['objects'],
      tables: ['object_events'],
      async handle({ input, body, caller, project, signal }) {
        const { obj } = input
        const projectId = project(obj.project_id)
        const sent = valueText(body.bytes)
        const requested = obj.builtin_object_class ?? obj.set_base_object_class ?? null
        const { text, baseClass, leafClass, kind } = processClass(sent, obj.val, requested, classes)
        const refs = storedRefs(sent, obj.val)
        const content = objectContent(maskings.of(projectId)?.objects?.json('objects', text).text ?? text)
        if (typeof obj.expected_digest === 'string' && obj.expected_digest !== content.digest)
          throw fault(409, `expected_digest is ${obj.expected_digest.slice(0, 100)}, the value has ${content.digest}`)
        checkObjectName(obj.object_id)
        const name = { projectId, objectId: obj.object_id, kind }
        const position = await binding.create({ ...name, baseClass }, signal, () => {
          const version = {
            ...content,
            ...name,
            clock: clock.next(),
            userId: caller.userId,
            baseClass,
            leafClass,
            refs,
          }
          return log.append('objects', [objectRecord(version)])
        })
        return {
          json: { digest: content.digest, object_id: obj.object_id },
          headers: { [positionHeader]: formatPositions([position]) },
        }
      },
    }),
  ]
}
