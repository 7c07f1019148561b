// POST /otel/v1/traces: OTLP spans become complete calls (specification: OTLP).
import { setImmediate as nextTurn } from 'node:timers/promises'
import { z } from 'zod'
import { appendCalls, type CallSplit, createCallWriter } from '../../core/call-rows-writer.ts'
import type { Clock } from '../../core/clock.ts'
import type { ContentStore } from '../../core/content-port.ts'
import { fault, tooLarge } from '../../core/http/errors.ts'
import { type Reply, type Route, type RouteContext, route } from '../../core/http/route.ts'
import type { ProjectId } from '../../core/ids.ts'
import type { Log, Position } from '../../core/log/log.ts'
import type { OpObjects } from '../../core/op-objects.ts'
import { formatPositions, positionHeader } from '../../core/positions.ts'
import { type Budget, createBudget, spendOnRows } from './budget.ts'
import { type Conventions, createConventions } from './conventions.ts'
import { decodeJson } from './decode-json.ts'
import { decodeProtobuf } from './decode-protobuf.ts'
import { resourceText, scopeText } from './dump.ts'
import { type Expansion, expand } from './expand.ts'
import { present, textOf } from './find.ts'
import { callOf, runIdOf, type SpanSurroundings } from './map.ts'
import { notStoredRoutes } from './not-stored.ts'
import { protobufType, type Rejections, reject, successReply, undecodableReply } from './reply.ts'
import { projectHeader, projectOfResource, type RoutingOptions } from './routing.ts'
import { DecodeError, type OtlpResourceSpans, type OtlpSpan, TooDeep } from './spans.ts'
import type { Branch } from './values.ts'

export type OtelDeps = {
  log: Pick<Log, 'append'>
  clock: Clock
  content: ContentStore
  opObjects: OpObjects
  /** One partition and records of any size when absent. */
  split?: CallSplit
  config: {
    /** Prefix of the run fields. */
    wirePrefix: string
    otelEventsAsIo: boolean
    maxJsonDepth: number
    maxBodyBytes: number
  } & RoutingOptions
}

/** Milliseconds after which other requests get their turn while a large body is worked on. */
const turnMs = 8
/** Spans between two looks at the time. */
const spansPerLook = 16
/** A row holds a span's payload twice: as it came and as the call's fields. */
const rowBytesPerBodyByte = 3

type Resource = {
  decoded: OtlpResourceSpans
  attributes: Branch
  isOdd: boolean
  /** null = no project is named. */
  projectId: ProjectId | null
}

const spanCount = ({ scopes }: OtlpResourceSpans): number => scopes.reduce((sum, { spans }) => sum + spans.length, 0)

const sentence = (span: OtlpSpan, reason: string): string =>
  `span ${JSON.stringify(span.name.slice(0, 128))} (trace_id ${span.traceId.slice(0, 64)}, span_id ${span.spanId.slice(0, 64)}): ${reason}`

export function createOtelRoutes(deps: OtelDeps): Route[] {
  const { config } = deps
  const options = { vendorNamespaces: config.otelVendorNamespaces, wirePrefix: config.wirePrefix }
  const declare = (name: string, paths: [string, ...string[]], summary: string, weaveFirst: boolean): Route => {
    const [path, ...aliases] = paths
    const conventions = createConventions({ ...options, weaveFirst })
    return route({
      name,
      method: 'POST',
      path,
      aliases,
      right: 'ingest',
      summary,
      body: { type: 'raw', contentTypes: [protobufType, 'application/json'] },
      response: z.object({
        partialSuccess: z.object({ rejectedSpans: z.string(), errorMessage: z.string() }).optional(),
      }),
      topics: ['calls', 'objects', 'files'],
      handle: (context) => ingest(deps, conventions, context),
    })
  }
  return [
    declare('otel.traces', ['/otel/v1/traces', '/v1/traces'], 'Takes OTLP spans, protobuf or JSON', false),
    declare(
      'otel.agents.traces',
      ['/agents/otel/v1/traces'],
      'Takes OTLP spans whose weave.* keys stand for gen_ai.*',
      true,
    ),
    ...notStoredRoutes(deps.config.maxJsonDepth),
  ]
}

async function ingest(deps: OtelDeps, conventions: Conventions, context: RouteContext): Promise<Reply> {
  const { bytes, contentType } = context.body
  const isJson = contentType === 'application/json'
  const header = context.header(projectHeader)
  const named = header === undefined ? null : context.project(header)
  const budget = createBudget(deps.config.maxBodyBytes, context.mayTakeLong)
  let decoded: OtlpResourceSpans[]
  try {
    decoded = isJson ? decodeJson(bytes, deps.config.maxJsonDepth, budget) : decodeProtobuf(bytes, budget)
  } catch (error) {
    if (error instanceof TooDeep) throw tooLarge()
    if (error instanceof DecodeError) return undecodableReply(isJson, `Invalid trace request: ${error.message}`)
    throw error
  }
  const rejections: Rejections = { count: 0, sentences: [] }
  const positions = await write(
    deps,
    conventions,
    context,
    routed(deps, context, decoded, named, budget),
    budget,
    rejections,
  )
  return successReply(isJson, rejections, positions.length > 0 ? { [positionHeader]: formatPositions(positions) } : {})
}

/** Resources that hold spans, each with its project. */
function routed(
  deps: OtelDeps,
  context: RouteContext,
  decoded: OtlpResourceSpans[],
  named: ProjectId | null,
  budget: Budget,
): Resource[] {
  return decoded
    .filter((resource) => spanCount(resource) > 0)
    .map((resource) => {
      const found: Expansion = { extract: () => null, odd: false, budget }
      const attributes = expand(resource.resource, found, true) as Branch
      const id = named ?? projectOfResource(attributes, deps.config, context.caller)
      return { decoded: resource, attributes, isOdd: found.odd, projectId: id === null ? null : context.project(id) }
    })
}

/** Writes the calls of all spans that can be stored; resolves when they are durable. */
async function write(
  deps: OtelDeps,
  conventions: Conventions,
  context: RouteContext,
  resources: Resource[],
  budget: Budget,
  rejections: Rejections,
): Promise<Position[]> {
  if (resources.length === 0) return []
  if (resources.every(({ projectId }) => projectId === null))
    throw fault(
      400,
      `No project: send the header ${projectHeader}: <entity>/<project>, the resource attributes <vendor>.entity and <vendor>.project, or a key of one project`,
    )
  const { userId } = context.caller
  const extraction = deps.content.begin()
  const ops = deps.opObjects.begin()
  const writer = createCallWriter({ sizeHintBytes: context.body.bytes.length * rowBytesPerBodyByte, ...deps.split })
  const nowMs = Date.now()
  let turnEnds = performance.now() + turnMs
  let spansLeft = spansPerLook
  for (const { decoded: resource, attributes, isOdd, projectId } of resources) {
    const text = resourceText(attributes, resource.droppedResource)
    const run =
      context.header(`${deps.config.wirePrefix}_run_id`) ?? textOf(present(attributes, conventions.vendor.runId)?.value)
    for (const { scope, spans } of resource.scopes) {
      const around: SpanSurroundings | null =
        projectId === null
          ? null
          : {
              projectId,
              userId,
              conventions,
              eventsAsIo: deps.config.otelEventsAsIo,
              runId: runIdOf(projectId, run),
              resource: text,
              scope: scopeText(scope),
              scopeName: scope.name,
              opRef: (objectId) => ops.ref(projectId, userId, objectId),
              extract: (long) => extraction.extract(projectId, userId, long),
              resourceIsOdd: isOdd,
              nowMs,
              maxBodyBytes: deps.config.maxBodyBytes,
            }
      // Rows name what their spans share, each of them again.
      if (around !== null)
        spendOnRows(
          budget,
          spans.length * (text.length + around.scope.length + around.runId.length + around.projectId.length),
        )
      for (const span of spans) {
        if (around === null) {
          reject(rejections, sentence(span, 'its resource names no project'))
          continue
        }
        const call = callOf(span, around, deps.clock.next())
        if ('reason' in call) reject(rejections, sentence(span, call.reason))
        else writer.add(call)
        if (--spansLeft === 0) {
          spansLeft = spansPerLook
          if (performance.now() > turnEnds) {
            await nextTurn()
            turnEnds = performance.now() + turnMs
          }
        }
      }
    }
  }
  const before = [...(await ops.append()), ...(await extraction.append())]
  return [...before, ...(await appendCalls(deps.log, writer.take()))]
}
