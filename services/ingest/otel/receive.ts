// The common steps of all OTLP signals: decoding, the project of each resource, room for other requests, and the
// answer.
import { inPieces, loopTurns } from '../../core/concurrency/loop-turns.ts'
import { fault } from '../../core/http/errors.ts'
import type { Reply, RouteContext } from '../../core/http/route.ts'
import type { ProjectId } from '../../core/ids.ts'
import { refuseEarly } from '../../core/log/early-refusal.ts'
import type { EdgeLog, Position } from '../../core/log/log.ts'
import { formatPositions, positionHeader } from '../../core/log/positions.ts'
import { createDecodeBudget, type DecodeBudget } from './budget.ts'
import { type Expansion, expand } from './expand.ts'
import type { FaultKind } from './faults.ts'
import {
  noRejections,
  type RejectedCount,
  type Rejections,
  reject,
  successReply,
  tell,
  undecodableReply,
} from './reply.ts'
import { projectHeader, projectOfResource, type RoutingOptions } from './routing.ts'
import { hintsForSender, projectOfSender } from './senders.ts'
import { type Attributes, DecodeError, type OtlpResource, type OtlpScope, UnreadableItem } from './spans.ts'
import type { Branch } from './values.ts'

export type ReceiveConfig = { maxJsonDepth: number; maxBodyBytes: number } & RoutingOptions

/** A resource whose items have a project. */
type Routed = {
  projectId: ProjectId
  /** Attributes as they came, and as a tree. */
  resource: Attributes
  attributes: Branch
  dropped: number
  /** Some number of it is outside of what the engine reads. */
  isNonNative: boolean
}

/** Takes the items of one request. */
export type Writer<Item> = {
  /** Begins with the items of a scope; the function takes one of them, or says why it is refused. */
  scope(resource: Routed, scope: OtlpScope, count: number): (item: Item) => string | null
  /** Resolves when what was taken is durable. */
  append(): Promise<Position[]>
}

/** Called with the number of items of a kind of fault in a request. */
export type OnFaults = (kind: FaultKind, items: number) => void

type Faulty = Pick<OtlpResource<unknown>, 'faults'>

export type Signal<Item extends Faulty> = {
  /** Noun as in "Invalid trace request". */
  noun: string
  rejected: RejectedCount
  decodeJson(bytes: Buffer, maxDepth: number, budget: DecodeBudget): OtlpResource<Item>[]
  decodeProtobuf(bytes: Buffer, budget: DecodeBudget): OtlpResource<Item>[]
  /** An item that cannot be read has no name. */
  itemNoun: string
  /** Name of an item in the sentence about it. */
  titleOf(item: Item): string
  begin(context: RouteContext, budget: DecodeBudget): Writer<Item>
}

/** Items between two looks at the time. */
const itemsPerLook = 16

const itemCount = ({ scopes }: OtlpResource<unknown>): number =>
  scopes.reduce((sum, { items }) => sum + items.length, 0)

type Resource<Item> = { decoded: OtlpResource<Item>; routed: Routed | null }

/** Resources that hold items, each with its project where one is named. */
function routed<Item>(
  config: ReceiveConfig,
  context: RouteContext,
  decoded: OtlpResource<Item>[],
  named: ProjectId | null,
  budget: DecodeBudget,
): Resource<Item>[] {
  return decoded
    .filter((resource) => itemCount(resource) > 0)
    .map((resource) => {
      const found: Expansion = { extract: () => null, isNonNative: false, budget, faults: resource.faults }
      const attributes = expand(resource.resource, found)
      resource.faults = found.faults
      const id = named ?? projectOfResource(attributes, config, context.caller)
      if (id === null) return { decoded: resource, routed: null }
      const projectId = context.project(id)
      const { resource: flat, droppedResource: dropped } = resource
      return {
        decoded: resource,
        routed: { projectId, resource: flat, attributes, dropped, isNonNative: found.isNonNative },
      }
    })
}

const withoutProject = () => 'its resource names no project'

/** Takes one item, and notes what was wrong with it. */
function takeOne<Item extends Faulty>(
  signal: Signal<Item>,
  take: (item: Item) => string | null,
  item: Item | UnreadableItem,
  place: number,
  rejections: Rejections,
): void {
  if (item instanceof UnreadableItem) {
    reject(rejections, `${signal.itemNoun} ${place} of the request cannot be read: ${item.reason}`)
    return
  }
  const reason = take(item)
  if (reason !== null) reject(rejections, `${signal.titleOf(item)}: ${reason}`)
  else if (item.faults !== null) tell(rejections, () => signal.titleOf(item), item.faults)
}

/** Takes all items, and stops after some of them. */
function* taking<Item extends Faulty>(
  signal: Signal<Item>,
  writer: Writer<Item>,
  resources: Resource<Item>[],
  rejections: Rejections,
): Generator<void> {
  let place = 0
  for (const { decoded, routed } of resources) {
    if (decoded.faults !== null) tell(rejections, () => 'the resource of some', decoded.faults)
    for (const { scope, items } of decoded.scopes) {
      const take = routed === null ? withoutProject : writer.scope(routed, scope, items.length)
      for (const item of items) {
        takeOne(signal, take, item, ++place, rejections)
        if (place % itemsPerLook === 0) yield
      }
    }
  }
}

async function write<Item extends Faulty>(
  signal: Signal<Item>,
  context: RouteContext,
  resources: Resource<Item>[],
  budget: DecodeBudget,
  rejections: Rejections,
): Promise<Position[]> {
  if (resources.length === 0) return []
  if (resources.every(({ routed }) => routed === null))
    throw fault(
      400,
      `No project: send the header ${projectHeader}: <entity>/<project>, the resource attributes <vendor>.entity and <vendor>.project, or a key of one project${hintsForSender((name) => context.header(name))}`,
    )
  const writer = signal.begin(context, budget)
  // Other requests have their turn while a large body is worked on.
  await inPieces(loopTurns, context.caller, taking(signal, writer, resources, rejections))
  return writer.append()
}

/** Takes a request of a signal: everything of it that can be stored is durable when this resolves. */
export async function receive<Item extends Faulty>(
  config: ReceiveConfig,
  log: Pick<EdgeLog, 'refusal'>,
  signal: Signal<Item>,
  context: RouteContext,
  onFaults: OnFaults,
): Promise<Reply> {
  const { bytes, contentType } = context.body
  const isJson = contentType === 'application/json'
  const header = context.header(projectHeader) ?? projectOfSender((name) => context.header(name), context.caller)
  const named = header === null ? null : context.project(header)
  if (named !== null) refuseEarly(log, named, bytes.length)
  const budget = createDecodeBudget(config.maxBodyBytes, context.mayTakeLong)
  const rejections = noRejections()
  let positions: Position[]
  try {
    const decoded = isJson
      ? signal.decodeJson(bytes, config.maxJsonDepth, budget)
      : signal.decodeProtobuf(bytes, budget)
    const resources = routed(config, context, decoded, named, budget)
    // Items may be decoded only now; nothing is stored before all of them are.
    positions = await write(signal, context, resources, budget, rejections)
  } catch (error) {
    if (error instanceof DecodeError)
      return undecodableReply(isJson, `Invalid ${signal.noun} request: ${error.message}`)
    throw error
  }
  for (const [kind, items] of rejections.faulty.kinds) onFaults(kind, items)
  const headers: Record<string, string> = positions.length > 0 ? { [positionHeader]: formatPositions(positions) } : {}
  return successReply(isJson, signal.rejected, rejections, headers)
}
