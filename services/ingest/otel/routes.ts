// POST /otel/v1/traces and /otel/v1/logs: OTLP spans become complete calls, log records rows of logs (specification: OTLP).
import { z } from 'zod'
import type { ContentStore } from '../../content/content-port.ts'
import { type Maskings, maskedExtraction, maskedTexts, takesLong } from '../../content/masking/maskings.ts'
import type { OpObjects } from '../../content/op-objects.ts'
import type { Clock } from '../../core/clock/clock.ts'
import { TooLongHere } from '../../core/errors.ts'
import { type Route, route } from '../../core/http/route.ts'
import type { RecordSplit } from '../../core/log/log.ts'
import { rowBuffers } from '../../core/memory/buffer-pool.ts'
import { appendCalls, createCallWriter } from '../../events/calls-writer.ts'
import { spendOnRows } from './budget.ts'
import { type Conventions, createConventions } from './conventions.ts'
import { decodeJson, decodeLogsJson } from './decode-json.ts'
import { decodeLogsProtobuf, decodeProtobuf } from './decode-protobuf.ts'
import { resourceText, scopeText } from './dump.ts'
import type { Faults } from './faults.ts'
import { present, textOf } from './find.ts'
import { beginLogs, type LogDeps } from './logs.ts'
import { callOf, fragmentOf, runIdOf, type SpanSurroundings } from './map.ts'
import { notStoredRoutes } from './not-stored.ts'
import { type OnFaults, type ReceiveConfig, receive, type Signal, type Writer } from './receive.ts'
import { protobufType, type RejectedCount } from './reply.ts'
import { isAnnouncement, senderPaths } from './senders.ts'
import type { OtlpLogRecord, OtlpSpan } from './spans.ts'

export type OtelDeps = {
  log: LogDeps['log']
  clock: Clock
  content: ContentStore
  maskings: Maskings
  opObjects: OpObjects
  onFaults: OnFaults
  /** One partition and records of any size when absent. */
  split?: RecordSplit
  config: {
    /** Prefix of the run fields. */
    wirePrefix: string
    otelEventsAsIo: boolean
  } & ReceiveConfig
}

/** A row holds a span's payload twice: as it came and as the call's fields. */
const rowBytesPerBodyByte = 3

const quotedShort = (text: string): string => JSON.stringify(text.slice(0, 128))
const idsOf = ({ traceId, spanId }: Pick<OtlpSpan, 'traceId' | 'spanId'>): string =>
  `(trace_id ${traceId.slice(0, 64)}, span_id ${spanId.slice(0, 64)})`

export function createOtelRoutes(deps: OtelDeps): Route[] {
  const { config } = deps
  const options = { vendorNamespaces: config.otelVendorNamespaces, wirePrefix: config.wirePrefix }
  const declare = <Item extends { faults: Faults | null }>(
    name: string,
    paths: [string, ...string[]],
    summary: string,
    topics: string[],
    signal: Signal<Item>,
  ): Route => {
    const [path, ...aliases] = paths
    return route({
      name,
      method: 'POST',
      path,
      aliases,
      summary,
      takesExporterKeys: true,
      body: { type: 'raw', contentTypes: [protobufType, 'application/json'] },
      response: z.object({
        partialSuccess: z
          .object({ [signal.rejected satisfies RejectedCount]: z.string(), errorMessage: z.string() })
          .optional(),
      }),
      topics,
      handle: (context) => receive(config, deps.log, signal, context, deps.onFaults),
    })
  }
  const spans = (weaveFirst: boolean): Signal<OtlpSpan> => {
    const conventions = createConventions({ ...options, weaveFirst })
    return {
      noun: 'trace',
      rejected: 'rejectedSpans',
      decodeJson,
      decodeProtobuf,
      itemNoun: 'span',
      titleOf: (span) => `span ${quotedShort(span.name)} ${idsOf(span)}`,
      begin: (context, budget) => beginSpans(deps, conventions, context, budget),
    }
  }
  const logs: Signal<OtlpLogRecord> = {
    noun: 'logs',
    rejected: 'rejectedLogRecords',
    decodeJson: decodeLogsJson,
    decodeProtobuf: decodeLogsProtobuf,
    itemNoun: 'log record',
    titleOf: (record) => `log record ${quotedShort(record.eventName)} ${idsOf(record)}`,
    begin: (context, budget) => beginLogs(deps, context, budget),
  }
  return [
    declare(
      'otel.traces',
      ['/otel/v1/traces', '/v1/traces', ...senderPaths.traces],
      'Accepts OTLP spans, protobuf or JSON',
      ['calls', 'objects', 'files'],
      spans(false),
    ),
    declare(
      'otel.agents.traces',
      ['/agents/otel/v1/traces'],
      'Accepts OTLP spans whose weave.* keys mean gen_ai.*',
      ['calls', 'objects', 'files'],
      spans(true),
    ),
    declare(
      'otel.logs',
      ['/otel/v1/logs', '/v1/logs', ...senderPaths.logs],
      'Accepts OTLP log records, protobuf or JSON',
      ['logs', 'calls', 'objects', 'files'],
      logs,
    ),
    ...notStoredRoutes(deps.config.maxJsonDepth),
  ]
}

/** Writes the calls of all spans that can be stored. */
function beginSpans(
  deps: OtelDeps,
  conventions: Conventions,
  context: Parameters<Signal<OtlpSpan>['begin']>[0],
  budget: Parameters<Signal<OtlpSpan>['begin']>[1],
): Writer<OtlpSpan> {
  const { userId } = context.caller
  const extraction = deps.content.begin()
  const ops = deps.opObjects.begin()
  const sizeHintBytes = context.body.bytes.length * rowBytesPerBodyByte
  const writer = createCallWriter({ sizeHintBytes, pool: rowBuffers, ...deps.split })
  const nowMs = Date.now()
  return {
    scope({ projectId, attributes, dropped, isNonNative }, scope, count) {
      const masker = deps.maskings.of(projectId)
      if (!context.mayTakeLong && takesLong(masker, context.body.bytes.length)) throw new TooLongHere()
      const own = maskedExtraction(masker, extraction, deps.content)
      const text = resourceText(attributes, dropped)
      const run =
        context.header(`${deps.config.wirePrefix}_run_id`) ??
        textOf(present(attributes, conventions.vendor.runId)?.value)
      const around: SpanSurroundings = {
        projectId,
        userId,
        conventions,
        eventsAsIo: deps.config.otelEventsAsIo,
        runId: runIdOf(projectId, run),
        resource: text,
        scope: scopeText(scope),
        scopeName: scope.name,
        opRef: (objectId) => ops.ref(projectId, userId, objectId),
        extract: maskedTexts(masker, (long) => own.extract(projectId, userId, long)),
        masker,
        resourceIsNonNative: isNonNative,
        nowMs,
        maxBodyBytes: deps.config.maxBodyBytes,
      }
      // Rows name what their spans share, each of them again.
      spendOnRows(budget, count * (text.length + around.scope.length + around.runId.length + projectId.length))
      return (span) => {
        if (isAnnouncement(span)) return null
        const mapped = callOf(span, around, deps.clock.next())
        if ('reason' in mapped) return mapped.reason
        writer.add(fragmentOf(mapped))
        return null
      }
    },
    async append() {
      const before = [...(await ops.append()), ...(await extraction.append())]
      return [...before, ...(await appendCalls(deps.log, writer.take()))]
    },
  }
}
