// Turns the payloads of a request into stored texts: as they came, unless redaction, extraction or repair changes them.

import { type Extraction, inlineTextLength } from '../../content/content-port.ts'
import type { Slice } from '../../content/json-scan.ts'
import { isSensitiveKey, redacted } from '../../content/redact.ts'
import { isRef } from '../../content/refs.ts'
import { rewriteJson } from '../../core/json/rewrite.ts'
import { found } from '../../core/json/tokens.ts'
import type { JsonText } from '../../events/calls.ts'

export type PayloadText = { json: JsonText; refs: string[]; odd: boolean }

/** Whose payload it is: extracted content is stored in the project, under the user's name. */
export type PayloadOwner = { projectId: string; userId: string; extraction: Extraction }

/** What may be replaced in a payload. */
export type PayloadRules = { redact: boolean; extract: boolean; refs: boolean }

export const startPayload: PayloadRules = { redact: true, extract: false, refs: false }
export const inputsPayload: PayloadRules = { redact: true, extract: true, refs: true }
export const outputPayload: PayloadRules = { redact: false, extract: true, refs: true }
export const summaryPayload: PayloadRules = { redact: false, extract: false, refs: false }

/** What makes it necessary to write a payload anew. */
const rewriteCauses = found.lines | found.credential | found.content | found.half

/** The stored text of a payload and the refs in it. */
export function payloadText(slice: Slice, rules: PayloadRules, owner: PayloadOwner): PayloadText {
  const odd = (slice.found & found.wide) !== 0
  if ((slice.found & rewriteCauses) === 0) return { json: slice, refs: slice.refs, odd }
  const refs = new Set<string>()
  const json = rewriteJson(slice.bytes.toString('utf8', slice.start, slice.end), (text, key) => {
    let kept = text
    if (rules.redact && key !== null && text !== '' && isSensitiveKey(key)) kept = redacted
    else if (rules.extract && text.length > inlineTextLength)
      kept = owner.extraction.extract(owner.projectId, owner.userId, text) ?? text
    if (rules.refs && isRef(kept)) refs.add(kept)
    return kept
  })
  return { json, refs: [...refs], odd }
}
