// Checks starts and ends as callers send them and reads everything but the payloads.

import { hasRefScheme, parseRef } from '../../content/refs.ts'
import { isPlausible, parseTimestamp } from '../../core/clock/timestamps.ts'
import { isCallId, isTraceId, uuidv7 } from '../../core/ids.ts'
import { isLongerThan } from '../../core/json/characters.ts'
import type { EndFields, StartFields } from '../../events/calls.ts'
import {
  type Findings,
  hasObject,
  type Json,
  misfit,
  optionalCount,
  optionalText,
  refuse,
  requiredObject,
  requiredText,
  requiredTime,
} from './field-checks.ts'
import { checkSummary } from './summary-check.ts'

/** Start-side fields of a checked item; payloads are read from the bytes. */
export type StartHead = Omit<StartFields, 'userId' | 'inputRefs' | 'attributes' | 'inputs' | 'otelDump'> & {
  hasOtelDump: boolean
}

/** End-side fields of a checked item. */
export type EndHead = Omit<EndFields, 'outputRefs' | 'output' | 'summary'> & {
  payloadUs: number
  /** The stored text of the summary differs from the one that was sent. */
  summaryCoerced: boolean
}

/** A prefixed field: its configured spelling, and the other accepted one. */
type WireName = { own: string; alias: string }
export type RunWireNames = { runId: WireName; runStep: WireName; runStepEnd: WireName }

export function wireNames(prefix: string, aliases: boolean): RunWireNames {
  const spell = (name: string): WireName => ({ own: `${prefix}_${name}`, alias: `${aliases ? 'wb' : prefix}_${name}` })
  return { runId: spell('run_id'), runStep: spell('run_step'), runStepEnd: spell('run_step_end') }
}

export type CheckContext = { names: RunWireNames; nowMs: number }

/** The spelling under which a prefixed field is given; the configured one counts when both are. */
function sentName(from: Json, { own, alias }: WireName): string {
  const value = from[own]
  return (value === undefined || value === null) && from[alias] !== undefined ? alias : own
}

const maxNameLength = 128
const maxDisplayNameLength = 1024

const commonOpRef = /^weave:\/\/\/[^/]+\/[^/]+\/op\/[^/:]+:[^/:]+$/

/** 400 unless the name is plain and short, or a ref to an op. */
function checkOpName(found: Findings, opName: string): void {
  if (hasRefScheme(opName)) {
    if (!commonOpRef.test(opName) && parseRef(opName)?.kind !== 'op')
      refuse(found, 'Invalid op_name: not a ref to an op')
  } else if (isLongerThan(opName, maxNameLength)) {
    refuse(found, `Invalid op_name: longer than ${maxNameLength} characters`)
  }
}

export function checkDisplayName(found: Findings, displayName: string): void {
  if (isLongerThan(displayName, maxDisplayNameLength))
    refuse(found, `Invalid display_name: longer than ${maxDisplayNameLength} characters`)
}

function checkRunId(found: Findings, runId: string, key: string): void {
  const parts = runId.split('/')
  if (parts.length !== 3 || parts.includes('')) refuse(found, `Invalid ${key}; expected <entity>/<project>/<run>`)
}

function checkedId(found: Findings, id: string, key: string, isId: (text: string) => boolean): string {
  const digits = isId === isTraceId ? 32 : 16
  if (!isId(id))
    refuse(
      found,
      `Invalid ${key}: ${JSON.stringify(id.slice(0, 100))}; expected a UUID or ${digits} hexadecimal digits`,
    )
  return id.toWellFormed()
}

/** Ids that the caller must give. */
export function checkRequiredId(found: Findings, from: Json, key: string, isId: (text: string) => boolean): string {
  const id = requiredText(found, from, key)
  return checkedId(found, id, key, isId)
}

/** Ids that are generated when they are not given. */
export function checkOptionalId(found: Findings, from: Json, key: string, isId: (text: string) => boolean): string {
  const id = optionalText(found, from, key)
  if (id === null || id === '') return uuidv7()
  return checkedId(found, id, key, isId)
}

/** @param traceId checked by the caller, since some routes require it and others generate it */
export function checkStart(found: Findings, from: Json, traceId: string, context: CheckContext): StartHead {
  const { names, nowMs } = context
  const opName = requiredText(found, from, 'op_name')
  checkOpName(found, opName)
  const displayName = optionalText(found, from, 'display_name')
  if (displayName !== null) checkDisplayName(found, displayName)
  const parentId = optionalText(found, from, 'parent_id')
  if (parentId !== null && !isCallId(parentId))
    refuse(found, `Invalid parent_id: ${JSON.stringify(parentId.slice(0, 100))}`)
  const runKey = sentName(from, names.runId)
  const runId = optionalText(found, from, runKey)
  if (runId !== null) checkRunId(found, runId, runKey)
  const stepKey = sentName(from, names.runStep)
  requiredObject(found, from, 'attributes')
  requiredObject(found, from, 'inputs')
  return {
    startedUs: requiredTime(found, from, 'started_at', nowMs),
    traceId,
    parentId: parentId === null ? '' : parentId.toWellFormed(),
    threadId: optionalText(found, from, 'thread_id') ?? '',
    turnId: optionalText(found, from, 'turn_id') ?? '',
    opName,
    displayName,
    runId: runId ?? '',
    runStep: optionalCount(found, from[stepKey], stepKey),
    hasOtelDump: hasObject(found, from, 'otel_dump'),
  }
}

/** Time of the payload of a lone end: the hint when it is usable, else its own time. */
function payloadTime(found: Findings, from: Json, endedUs: number, nowMs: number): number {
  const hint = from.started_at
  if (hint === undefined || hint === null) return endedUs
  const us = parseTimestamp(hint)
  if (us === null) misfit(found, ['started_at'], 'datetime_from_date_parsing', 'Input should be a valid timestamp')
  return us !== null && isPlausible(us, nowMs) ? us : endedUs
}

export function checkEnd(found: Findings, from: Json, context: CheckContext): EndHead {
  const { names, nowMs } = context
  const endedUs = requiredTime(found, from, 'ended_at', nowMs)
  const summary = checkSummary(found, requiredObject(found, from, 'summary'))
  const stepKey = sentName(from, names.runStepEnd)
  return {
    endedUs,
    payloadUs: payloadTime(found, from, endedUs, nowMs),
    exception: optionalText(found, from, 'exception') ?? '',
    runStepEnd: optionalCount(found, from[stepKey], stepKey),
    errorCount: summary.errorCount,
    usage: summary.usage,
    summaryCoerced: summary.coerced,
  }
}
