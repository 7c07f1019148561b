// Runs a checked request up to the provider's outcome, for all routes of inference.
import type { PassThroughRequest } from '../../schemas/inference.ts'
import type { Slots } from '../core/concurrency/slots.ts'
import { asFault, Fault } from '../core/http/errors.ts'
import type { InvokeCaller } from '../core/http/invoke.ts'
import { type CompleteDeps, complete, type Outcome } from './complete.ts'
import { type Edits, edited, type JsonBody } from './json-body.ts'
import type { Answered } from './keep-answer.ts'
import { type CredentialParts, messagesText, type Tracing, timeoutOf, withUsage } from './prepare.ts'
import { recordedInputs } from './record.ts'
import { resolveTarget } from './resolve.ts'
import type { ResolveDeps, Target } from './target.ts'

export type InferenceRunDeps = ResolveDeps & CompleteDeps & { slots: Slots }

export type Operation = {
  /** Behind the provider's base address. */
  path: string
  /** Name of its calls. */
  opName: string
  isChat: boolean
}

export type InferenceRequest = {
  operation: Operation
  projectId: string
  as: InvokeCaller
  body: JsonBody
  request: Pick<PassThroughRequest, 'stream' | 'timeout' | 'prompt' | 'template_vars' | 'api_version'>
  /** The model as the client named it. */
  model: string | undefined
  tracing: Tracing
  parts: CredentialParts
  /** Changes of the route's own. */
  edits: Edits
  wantsUsage: boolean
  /** Members that a whole completion must have; absent: it is forwarded unchanged. */
  missing?: Answered['missing']
  /** Text around a whole answer for the client. */
  around?(callId: string | undefined): Answered['around']
  /** Target where the model's name does not decide. */
  target?: Target
}

export type Ran = { outcome: Outcome; callId: string | undefined; target: Target }

async function outgoing(deps: InferenceRunDeps, asked: InferenceRequest, callId: string | undefined) {
  const { operation, projectId, as, body, request, model = '', tracing, parts } = asked
  const edits: Edits = new Map(asked.edits)
  if (operation.isChat) {
    const messages = await messagesText(deps, request, body, { projectId, as })
    if (messages !== undefined) edits.set('messages', messages)
    if (request.stream === true) edits.set('stream_options', withUsage(body))
  }
  const apiVersion = request.api_version ?? undefined
  const target =
    asked.target ?? (await resolveTarget(deps, { model, projectId, as, apiVersion, credentials: parts.credentials }))
  if (target.model !== undefined && target.model !== asked.model) edits.set('model', JSON.stringify(target.model))
  for (const name of target.drops) edits.set(name, undefined)
  const { opName } = operation
  const { traceId, parentId, threadId } = tracing
  const head =
    callId === undefined
      ? null
      : {
          id: callId,
          projectId,
          opName,
          traceId,
          parentId,
          threadId,
          inputs: recordedInputs(body.members, parts.secrets),
        }
  return { target, head, body: edited(body, edits) }
}

/**
 * Runs a request: prompt, variables, routing, the provider, the trace.
 * @throws Fault with the header X-Call-Id when a call tells of it
 */
export async function runInference(deps: InferenceRunDeps, asked: InferenceRequest): Promise<Ran> {
  const { operation, projectId, as, request, parts } = asked
  const free = await deps.slots.take(projectId)
  const callId = asked.tracing.isOn ? deps.recorder.newId() : undefined
  const prepared = await outgoing(deps, asked, callId).catch((error: unknown) => {
    free()
    throw error
  })
  const { target, head, body } = prepared
  try {
    const outcome = await complete(deps, {
      target,
      body,
      head,
      as,
      path: operation.path,
      headers: parts.headers,
      model: asked.model,
      timeoutMs: timeoutOf(request.timeout),
      isStream: request.stream === true,
      isChat: operation.isChat,
      wantsUsage: asked.wantsUsage,
      missing: asked.missing,
      around: asked.around?.(callId),
      onEnd: free,
      secrets: [...target.secrets, ...parts.secrets],
    })
    return { outcome, callId, target }
  } catch (error) {
    const fault = asFault(error)
    if (fault === undefined || callId === undefined) throw error
    throw new Fault(fault.status, fault.body, { ...fault.headers, 'X-Call-Id': callId })
  }
}
