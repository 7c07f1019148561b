// Sends spans and log records with the published exporters, set up by the variables of OpenTelemetry alone, and prints
// the ids of the spans as one JSON line.
//
// client.mjs <count>
import { defaultResource, detectResources, envDetector } from '@opentelemetry/resources'
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'

const isGrpc = process.env.OTEL_EXPORTER_OTLP_PROTOCOL === 'grpc'
const { OTLPTraceExporter } = await (isGrpc
  ? import('@opentelemetry/exporter-trace-otlp-grpc')
  : import('@opentelemetry/exporter-trace-otlp-proto'))
const { OTLPLogExporter } = await (isGrpc
  ? import('@opentelemetry/exporter-logs-otlp-grpc')
  : import('@opentelemetry/exporter-logs-otlp-proto'))
const resource = defaultResource().merge(detectResources({ detectors: [envDetector] }))
const traced = new TracerProvider({
  resource,
  spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
})
const logged = new LoggerProvider({
  resource,
  processors: [new BatchLogRecordProcessor({ exporter: new OTLPLogExporter() })],
})
const tracer = traced.getTracer('client')
const logger = logged.getLogger('client')
process.stdout.write('ready\n')
await new Promise((resolve) => process.stdin.once('data', resolve).once('end', resolve))
process.stdin.pause()
const ids = []
for (let n = 0; n < Number(process.argv[2]); n++) {
  const span = tracer.startSpan('chat', { attributes: { 'gen_ai.prompt': 'x'.repeat(100) } })
  ids.push(span.spanContext().spanId)
  span.end()
  logger.emit({ severityNumber: 9, body: `record ${n}` })
}
const results = await Promise.allSettled([traced.forceFlush(), logged.forceFlush()])
const errors = results.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []))
await Promise.allSettled([traced.shutdown(), logged.shutdown()])
process.stdout.write(`${JSON.stringify({ errors, ids })}\n`)
