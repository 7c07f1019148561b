// The span as it was received, as JSON text without credentials: `attributes.otel_span` on reading (OTLP, section 7).
import { keyOf, maxKeyLength } from './keys.ts'
import type { Nanos, OtlpEvent, OtlpLink, OtlpScope, OtlpSpan } from './spans.ts'
import { roundedUs } from './spans.ts'
import { isoMicros } from './times.ts'
import { type Branch, jsonText } from './values.ts'

const kinds = ['UNSPECIFIED', 'INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER']
const codes = ['UNSET', 'OK', 'ERROR']

const text = (value: string): string => (value === '' ? '""' : JSON.stringify(value))

/** JSON text of names and other short texts that repeat: the key cache holds them. */
const repeated = (value: string): string =>
  value.length > maxKeyLength ? text(value.toWellFormed()) : keyOf(value).json.slice(0, -1)

export const resourceText = (attributes: Branch, dropped: number): string =>
  `{"attributes":${jsonText(attributes, true, false)},"dropped_attributes_count":${dropped}}`

/** '' for a scope that says nothing. */
export const scopeText = ({ name, version }: Pick<OtlpScope, 'name' | 'version'>): string =>
  name === '' && version === '' ? '' : `{"name":${text(name)},"version":${text(version)}}`

const eventText = (event: OtlpEvent, attributes: Branch): string =>
  `{"name":${text(event.name)},"timestamp":${event.time},"attributes":${jsonText(attributes, true, false)}` +
  `,"dropped_attributes_count":${event.dropped}}`

const linkText = (link: OtlpLink, attributes: Branch): string =>
  `{"trace_id":${text(link.traceId)},"span_id":${text(link.spanId)},"trace_state":${text(link.traceState)}` +
  `,"attributes":${jsonText(attributes, true, false)},"dropped_attributes_count":${link.dropped},"flags":${link.flags}}`

/** A time that is none is that of no time. */
const isoOf = (time: Nanos): string => isoMicros(Math.max(0, roundedUs(time)))

export type DumpTexts = {
  span: OtlpSpan
  /** null in place of an empty or all-zero parent. */
  parentId: string
  /** JSON text of the expanded attributes, without credentials; may hold references (content/span-dump.ts). */
  attributes: string
  /** Expanded attributes of the span's events and links, in their order. */
  events: Branch[]
  links: Branch[]
  resource: string
  scope: string
}

export function dumpText({ span, parentId, attributes, events, links, resource, scope }: DumpTexts): string {
  let eventTexts = ''
  for (let i = 0; i < events.length; i++)
    eventTexts += (i === 0 ? '' : ',') + eventText(span.events[i] as OtlpEvent, events[i] as Branch)
  let linkTexts = ''
  for (let i = 0; i < links.length; i++)
    linkTexts += (i === 0 ? '' : ',') + linkText(span.links[i] as OtlpLink, links[i] as Branch)
  return (
    `{"name":${repeated(span.name)},"context":{"trace_id":"${span.traceId}","span_id":"${span.spanId}"` +
    `,"trace_state":${text(span.traceState)}},"kind":"${kinds[span.kind] ?? kinds[0]}"` +
    `,"parent_id":${parentId === '' ? 'null' : `"${parentId}"`}` +
    `,"start_time":"${isoOf(span.start)}","end_time":"${isoOf(span.end)}"` +
    `,"status":{"code":"${codes[span.statusCode] ?? codes[0]}","message":${text(span.statusMessage)}}` +
    `,"attributes":${attributes},"events":[${eventTexts}],"links":[${linkTexts}]` +
    `,"resource":${resource}${scope === '' ? '' : `,"scope":${scope}`}}`
  )
}
