// Types of the messages that `messages.mjs` decodes, where the reader returns the values of these types. LongHalves
// texts of log records may stay bytes of the body.
import type { TextBytes } from '../../events/logs.ts'

/** Two halves of 64 bits. */
export type LongHalves = { low: number; high: number }

type Text = string | TextBytes

/** `tooDeep`: nothing was read of it. */
export type ValueMessage = {
  value?:
    | 'stringValue'
    | 'boolValue'
    | 'intValue'
    | 'doubleValue'
    | 'arrayValue'
    | 'kvlistValue'
    | 'bytesValue'
    | 'tooDeep'
    | null
  stringValue: Text
  boolValue: boolean
  intValue: number | bigint
  doubleValue: number
  arrayValue: { values: ValueMessage[] }
  kvlistValue: { values: AttributeMessage[] }
  bytesValue: Buffer
}
export type AttributeMessage = { key: string; value: ValueMessage | null }

export type EventMessage = {
  timeUnixNano: LongHalves
  name: string
  attributes: AttributeMessage[]
  droppedAttributesCount: number
}
export type LinkMessage = {
  traceId: Buffer
  spanId: Buffer
  traceState: string
  attributes: AttributeMessage[]
  droppedAttributesCount: number
  flags: number
}
export type SpanMessage = {
  traceId: Buffer
  spanId: Buffer
  traceState: string
  parentSpanId: Buffer
  name: string
  kind: number
  startTimeUnixNano: LongHalves
  endTimeUnixNano: LongHalves
  attributes: AttributeMessage[]
  events: EventMessage[]
  links: LinkMessage[]
  status: { code: number; message: string } | null
}
export type LogRecordMessage = {
  timeUnixNano: LongHalves
  observedTimeUnixNano: LongHalves
  severityNumber: number
  severityText: string
  body: ValueMessage | null
  attributes: AttributeMessage[]
  traceId: Buffer
  spanId: Buffer
  eventName: string
}
export type ScopeMessage = { name: string; version: string; attributes: AttributeMessage[] }
export type ResourceMessage = { attributes: AttributeMessage[]; droppedAttributesCount: number }

/** @template Reader a reader of protobufjs */
export type MessageDecoder<Message, Reader = unknown> = {
  new (): Message
  /** @param target takes what is decoded, as the wire format wants of a field that comes twice */
  decode(reader: Reader, length: number, end?: undefined, depth?: number, target?: Message): Message
}

export const opentelemetry: {
  proto: {
    common: {
      v1: {
        AnyValue: MessageDecoder<ValueMessage>
        KeyValue: MessageDecoder<AttributeMessage>
        KeyValueList: MessageDecoder<ValueMessage['kvlistValue']>
        InstrumentationScope: MessageDecoder<ScopeMessage>
      }
    }
    resource: { v1: { Resource: MessageDecoder<ResourceMessage> } }
    trace: {
      v1: {
        Span: MessageDecoder<SpanMessage> & { Event: MessageDecoder<EventMessage>; Link: MessageDecoder<LinkMessage> }
      }
    }
    logs: { v1: { LogRecord: MessageDecoder<LogRecordMessage> } }
  }
}
