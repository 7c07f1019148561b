// Records an inference request as a call: through the route that every client writes finished calls with.

import type { Invoke, InvokeCaller } from '../core/http/invoke.ts'
import { orderedUuidv7 } from '../core/ids.ts'
import { stringifyLossless } from '../core/json/lossless.ts'
import { objectText } from '../core/json/objects.ts'
import type { Logger } from '../core/process/logger.ts'
import { type Members, memberValue } from './json-body.ts'
import { isSecretHeader, scrubJson } from './secrets.ts'

export type RecordDeps = { invoke: Pick<Invoke, 'answer'>; logger: Pick<Logger, 'warn'> }

/** The head of a call: its project, and the facts that are known before the request to the provider. */
export type CallHead = {
  id: string
  projectId: string
  opName: string
  traceId: string | undefined
  parentId: string | undefined
  threadId: string | undefined
  /** JSON text. */
  inputs: string
}

export type CallEnd = {
  startedMs: number
  endedMs: number
  /** JSON text. */
  output: string | Buffer
  /** Model name and JSON text of its usage. */
  usage: { model: string; text: string } | undefined
  exception: string | undefined
  /** Secrets that are removed from the output of failures: errors quote keys. */
  secrets: readonly string[]
}

const credentialNames = new Set(['cloud_credentials', 'vertex_credentials'])
/** Written about elsewhere in the call, or about how it is written. */
const aboutTheCall = new Set(['track_llm_call', 'trace_id', 'parent_id', 'conversation_id'])

/** Headers with every secret one left out. */
function headersText(sent: unknown): string | undefined {
  if (typeof sent !== 'object' || sent === null) return undefined
  return stringifyLossless(Object.fromEntries(Object.entries(sent).filter(([name]) => !isSecretHeader(name))))
}

/** The request as it was sent, without nulls, credentials and what only says how it is recorded. */
export function recordedInputs(sent: Members, secrets: readonly string[]): string {
  const kept = [...sent].flatMap(([name, text]): [string, string][] => {
    if (text === 'null' || credentialNames.has(name) || aboutTheCall.has(name)) return []
    if (name !== 'extra_headers') return [[name, text]]
    const headers = headersText(memberValue(sent, name))
    return headers === undefined ? [] : [[name, headers]]
  })
  return scrubJson(objectText(kept), secrets)
}

const timeText = (ms: number): string => new Date(ms).toISOString()

/** Slower logs are not waited for: the record goes on by itself. */
const waitMs = 1_000
const limitMs = 30_000

export type Recorder = {
  newId(): string
  /** Stores the call. Resolves when it is stored, or soon anyway; never rejects. */
  record(head: CallHead, end: CallEnd, as: InvokeCaller): Promise<void>
  /** Waits in the same way for a call that is stored elsewhere. */
  waitFor(callId: string, storing: Promise<unknown>, as: InvokeCaller): Promise<void>
}

export function createRecorder({ invoke, logger }: RecordDeps): Recorder {
  async function waitFor(call: string, storing: Promise<unknown>, { requestId }: InvokeCaller): Promise<void> {
    const stored = storing.then(
      () => undefined,
      (error: unknown) => {
        // Its text may quote what was sent.
        const name = error instanceof Error ? error.constructor.name : typeof error
        logger.warn({ request: requestId, call, error: name }, 'an inference request was not recorded')
      },
    )
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, waitMs)
    })
    await Promise.race([stored, late])
    clearTimeout(timer)
  }

  return {
    newId: () => orderedUuidv7(),
    async record(head, end, as) {
      const { id, projectId, opName, traceId, parentId, threadId } = head
      const callFields = {
        project_id: projectId,
        id,
        op_name: opName,
        trace_id: traceId ?? orderedUuidv7(),
        parent_id: parentId,
        thread_id: threadId,
        started_at: timeText(end.startedMs),
        ended_at: timeText(end.endedMs),
        attributes: {},
        exception: end.exception,
      }
      const usage = end.usage && `"usage":${objectText([[end.usage.model, end.usage.text]])}`
      const body = Buffer.concat([
        Buffer.from(`{"batch":[${JSON.stringify(callFields).slice(0, -1)},"inputs":${head.inputs},"output":`),
        end.exception === undefined
          ? Buffer.from(end.output)
          : Buffer.from(scrubJson(end.output.toString(), end.secrets)),
        Buffer.from(`,"summary":{${usage ?? ''}}}]}`),
      ])
      const [entity = '', project = ''] = projectId.split('/')
      // Not the request's signal: what was begun is recorded even when the client is gone.
      const by = { caller: as.caller, signal: AbortSignal.timeout(limitMs), requestId: as.requestId ?? '' }
      await waitFor(id, invoke.answer('calls.complete', body, by, { entity, project }), as)
    },
    waitFor,
  }
}
