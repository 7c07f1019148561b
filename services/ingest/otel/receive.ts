// What all OTLP signals share: decoding, the project of each resource, room for other requests, and the answer.
import { inPieces, loopTurns } from '../../core/concurrency/loop-turns.ts'
import { tooLarge } from '../../core/errors.ts'
import { fault } from '../../core/http/errors.ts'
import type { Reply, RouteContext } from '../../core/http/route.ts'
import type { ProjectId } from '../../core/ids.ts'
import { refuseEarly } from '../../core/log/early-refusal.ts'
import type { EdgeLog, Position } from '../../core/log/log.ts'
import { formatPositions, positionHeader } from '../../core/log/positions.ts'
import { createDecodeBudget, type DecodeBudget } from './budget.ts'
import { type Expansion, expand } from './expand.ts'
import { type RejectedCount, type Rejections, reject, successReply, undecodableReply } from './reply.ts'
import { projectHeader, projectOfResource, type RoutingOptions } from './routing.ts'
import { hintsForSender, projectOfSender } from './senders.ts'
import { type Attributes, DecodeError, type OtlpResource, type OtlpScope, TooDeep } from './spans.ts'
import type { Branch } from './values.ts'

export type ReceiveConfig = { maxJsonDepth: number; maxBodyBytes: number } & RoutingOptions

/** A resource whose items have a project. */
type Routed = {
  projectId: ProjectId
  /** As it came, and as a tree. */
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

export type Signal<Item> = {
  /** As in "Invalid trace request". */
  noun: string
  rejected: RejectedCount
  decodeJson(bytes: Buffer, maxDepth: number, budget: DecodeBudget): OtlpResource<Item>[]
  decodeProtobuf(bytes: Buffer, budget: DecodeBudget): OtlpResource<Item>[]
  /** What an item is called in the sentence about its refusal. */
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
      const found: Expansion = { extract: () => null, isNonNative: false, budget }
      const attributes = expand(resource.resource, found, true) as Branch
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

/** Takes all items, and stops after some of them. */
function* taking<Item>(
  signal: Signal<Item>,
  writer: Writer<Item>,
  resources: Resource<Item>[],
  rejections: Rejections,
): Generator<void> {
  let itemsLeft = itemsPerLook
  for (const { decoded, routed } of resources) {
    for (const { scope, items } of decoded.scopes) {
      const take = routed === null ? withoutProject : writer.scope(routed, scope, items.length)
      for (const item of items) {
        const reason = take(item)
        if (reason !== null) reject(rejections, `${signal.titleOf(item)}: ${reason}`)
        if (--itemsLeft > 0) continue
        itemsLeft = itemsPerLook
        yield
      }
    }
  }
}

async function write<Item>(
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
export async function receive<Item>(
  config: ReceiveConfig,
  log: Pick<EdgeLog, 'refusal'>,
  signal: Signal<Item>,
  context: RouteContext,
): Promise<Reply> {
  const { bytes, contentType } = context.body
  const isJson = contentType === 'application/json'
  const header = context.header(projectHeader) ?? projectOfSender((name) => context.header(name), context.caller)
  const named = header === null ? null : context.project(header)
  if (named !== null) refuseEarly(log, named, bytes.length)
  const budget = createDecodeBudget(config.maxBodyBytes, context.mayTakeLong)
  const rejections: Rejections = { count: 0, sentences: [] }
  let positions: Position[]
  try {
    const decoded = isJson
      ? signal.decodeJson(bytes, config.maxJsonDepth, budget)
      : signal.decodeProtobuf(bytes, budget)
    const resources = routed(config, context, decoded, named, budget)
    // Items may be decoded only now; nothing is stored before all of them are.
    positions = await write(signal, context, resources, budget, rejections)
  } catch (error) {
    if (error instanceof TooDeep) throw tooLarge()
    if (error instanceof DecodeError)
      return undecodableReply(isJson, `Invalid ${signal.noun} request: ${error.message}`)
    throw error
  }
  const headers: Record<string, string> = positions.length > 0 ? { [positionHeader]: formatPositions(positions) } : {}
  return successReply(isJson, signal.rejected, rejections, headers)
}
