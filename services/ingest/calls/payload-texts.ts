// Turns the payloads of a request into stored texts: as they came, unless redaction, extraction or repair changes them.

import type { MaskedField } from '../../../schemas/mask-rules.ts'
import { type Extraction, inlineTextLength } from '../../content/content-port.ts'
import type { Slice } from '../../content/json-scan.ts'
import type { Masker } from '../../content/masking/masker.ts'
import { isSensitiveKey, redacted } from '../../content/redact.ts'
import { isRef } from '../../content/refs.ts'
import { rewriteJson } from '../../core/json/rewrite.ts'
import { found } from '../../core/json/tokens.ts'
import type { JsonText } from '../../events/calls.ts'

export type PayloadText = { json: JsonText; refs: string[]; odd: boolean }

/** Owner of a payload: extracted content is stored in the project, under the user's name. */
export type PayloadOwner = {
  projectId: string
  userId: string
  extraction: Extraction
  /** Masks the project's payloads; most have none. */
  masker: Masker | undefined
}

/** Replacements that are allowed in a payload. */
export type PayloadRules = { field: MaskedField; redact: boolean; extract: boolean; refs: boolean }

export const attributesPayload: PayloadRules = { field: 'attributes', redact: true, extract: false, refs: false }
export const otelDumpPayload: PayloadRules = { field: 'otel_dump', redact: true, extract: false, refs: false }
export const inputsPayload: PayloadRules = { field: 'inputs', redact: true, extract: true, refs: true }
export const outputPayload: PayloadRules = { field: 'output', redact: false, extract: true, refs: true }
export const summaryPayload: PayloadRules = { field: 'summary', redact: false, extract: false, refs: false }

/** Findings that make it necessary to rewrite a payload. */
const rewriteCauses = found.lines | found.credential | found.content | found.half

/** Most bytes of payloads with credentials in them that the event loop writes anew by itself. */
const redactedHereBytes = 256 * 1024

/** Whether taking credentials out of payloads takes longer than one request may hold up the others. */
export function takesLongToRedact(payloads: Iterable<Slice | null>): boolean {
  let bytes = 0
  for (const slice of payloads)
    if (slice !== null && (slice.found & found.credential) !== 0) bytes += slice.end - slice.start
  return bytes > redactedHereBytes
}

const textOf = ({ bytes, start, end }: Slice): string => bytes.toString('utf8', start, end)

/** The payload with what rules find in it masked; undefined when that is nothing. */
function maskedText(slice: Slice, field: MaskedField, masker: Masker): string | undefined {
  const present = masker.anchors(slice.bytes, slice.start, slice.end)
  if (present === 0) return undefined
  const json = textOf(slice)
  const { text } = masker.json(field, json, present)
  return text === json ? undefined : text
}

/** A masked payload as it is stored; `refs` takes the refs in it. */
function rewrittenText(text: string, rules: PayloadRules, owner: PayloadOwner, refs?: Set<string>): string {
  return rewriteJson(text, (value, key) => {
    let kept = value
    if (rules.redact && key !== null && value !== '' && isSensitiveKey(key)) kept = redacted
    else if (rules.extract && value.length > inlineTextLength)
      kept = owner.extraction.extract(owner.projectId, owner.userId, value) ?? value
    if (rules.refs && isRef(kept)) refs?.add(kept)
    return kept
  })
}

/** The stored text of a payload and the refs in it. */
export function payloadText(slice: Slice, rules: PayloadRules, owner: PayloadOwner): PayloadText {
  const odd = (slice.found & found.wide) !== 0
  const masked = owner.masker && maskedText(slice, rules.field, owner.masker)
  if (masked === undefined && (slice.found & rewriteCauses) === 0) return { json: slice, refs: slice.refs, odd }
  const refs = new Set<string>()
  return { json: rewrittenText(masked ?? textOf(slice), rules, owner, refs), refs: [...refs], odd }
}
