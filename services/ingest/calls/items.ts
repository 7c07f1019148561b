// Reads the items of call writes: shape, ids and project of each, with the faults of each item kept apart.

import { asFault } from '../../core/http/errors.ts'
import type { ProjectId } from '../../core/ids.ts'
import { isCallId, isTraceId } from '../../core/ids.ts'
import { isObject } from '../../core/json/objects.ts'
import { type Findings, isSound, type Json, misfit, missing, refuse, requiredText } from './field-checks.ts'
import {
  type CheckContext,
  checkEnd,
  checkOptionalId,
  checkRequiredId,
  checkStart,
  type EndHead,
  type StartHead,
} from './fragment-checks.ts'

/** A checked item before its payloads are known. */
export type CheckedItem = { projectId: ProjectId; id: string; start: StartHead | null; end: EndHead | null }

/** Reads a project id and checks the caller's right on it; throws a fault. */
export type OpenProject = (projectId: string) => ProjectId

function openProject(found: Findings, from: Json, open: OpenProject): ProjectId {
  const projectId = requiredText(found, from, 'project_id')
  if (found.details.length > 0) return '' as ProjectId
  return open(projectId)
}

export function checkStartItem(found: Findings, from: Json, open: OpenProject, context: CheckContext): CheckedItem {
  const projectId = openProject(found, from, open)
  const id = checkOptionalId(found, from, 'id', isCallId)
  const traceId = checkOptionalId(found, from, 'trace_id', isTraceId)
  return { projectId, id, start: checkStart(found, from, traceId, context), end: null }
}

export function checkEndItem(found: Findings, from: Json, open: OpenProject, context: CheckContext): CheckedItem {
  const projectId = openProject(found, from, open)
  return {
    projectId,
    id: checkRequiredId(found, from, 'id', isCallId),
    start: null,
    end: checkEnd(found, from, context),
  }
}

export function checkCompleteItem(found: Findings, from: Json, open: OpenProject, context: CheckContext): CheckedItem {
  const projectId = openProject(found, from, open)
  const id = checkRequiredId(found, from, 'id', isCallId)
  const traceId = checkRequiredId(found, from, 'trace_id', isTraceId)
  return { projectId, id, start: checkStart(found, from, traceId, context), end: checkEnd(found, from, context) }
}

/** The required object under `key`; null when it is missing or something else. */
export function objectAt(found: Findings, from: Json, key: string): Json | null {
  const value = from[key]
  if (isObject(value)) return value
  if (value === undefined) missing(found, key)
  else misfit(found, [key], 'dict_type', 'Input should be a valid object')
  return null
}

/** The side of a batch item: its mode, which must agree with the shape, or the shape alone. */
function sideOf(found: Findings, item: Json, request: Json): 'start' | 'end' | null {
  const { mode } = item
  if (mode === undefined || mode === null)
    return request.start === undefined && request.end !== undefined ? 'end' : 'start'
  if (typeof mode !== 'string') {
    misfit(found, ['mode'], 'string_type', 'Input should be a valid string')
    return null
  }
  const other = mode === 'start' ? 'end' : 'start'
  if (mode !== 'start' && mode !== 'end') refuse(found, `Invalid mode: ${JSON.stringify(mode.slice(0, 100))}`)
  else if (request[mode] === undefined && request[other] !== undefined)
    refuse(found, `Invalid item: mode ${mode} with the fields of ${other}`)
  else return mode
  return null
}

/** Checks one item of a batch; null when something is wrong with it. */
export function checkBatchItem(
  found: Findings,
  item: unknown,
  open: OpenProject,
  context: CheckContext,
): CheckedItem | null {
  if (!isObject(item)) {
    misfit(found, [], 'dict_type', 'Input should be a valid object')
    return null
  }
  try {
    const request = objectAt(found, item, 'req')
    const side = request && sideOf(found, item, request)
    if (request === null || side === null) return null
    found.loc.push('req')
    const from = objectAt(found, request, side)
    if (from === null) return null
    found.loc.push(side)
    const checked = (side === 'start' ? checkStartItem : checkEndItem)(found, from, open, context)
    return isSound(found) ? checked : null
  } catch (error) {
    const wrong = asFault(error)
    if (wrong === undefined) throw error
    refuse(found, wrong.message, wrong.status)
    return null
  }
}
