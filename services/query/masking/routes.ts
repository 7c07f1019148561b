// Rules of masking, of a project at /v2/{entity}/{project}/masking and of any scope at /masking; POST /masking/preview.
import { randomBytes } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import {
  type MaskRules,
  type maskedFields,
  maskingPreviewRequest,
  maskingPreviewResponse,
  maskingQuery,
  maskingResponse,
  newMaskRules,
  scopeMaskRules,
} from '../../../schemas/mask-rules.ts'
import { createMasker, type ScopeRules } from '../../content/masking/masker.ts'
import { maskVersion, scopesOf } from '../../content/masking/maskings.ts'
import { patternFaults } from '../../content/masking/patterns.ts'
import { createSerialQueue } from '../../core/concurrency/serial-queue.ts'
import type { Directory } from '../../core/directory/directory.ts'
import { maxItemBytes, scopedKey, type Value } from '../../core/directory/items.ts'
import { allowsOn, isScope } from '../../core/directory/roles.ts'
import { unavailable } from '../../core/errors.ts'
import { fault, invalid } from '../../core/http/errors.ts'
import type { Invoke } from '../../core/http/invoke.ts'
import { appendFor } from '../../core/http/room.ts'
import { type Caller, type Route, type RouteContext, route } from '../../core/http/route.ts'
import type { ProjectId } from '../../core/ids.ts'

export type MaskingRouteDeps = {
  directory: Directory
  config: { maskFloor: readonly string[] }
  /** The key that the secrets of hashes are made of; undefined where none is set. */
  masterKey(): Buffer | undefined
  invoke: Invoke
}

type Field = (typeof maskedFields)[number]

/** The rules where none were set. */
const noRules: MaskRules = { mode: 'on', sets: [], content: 'keep', objects: false, allow: [], rules: [] }

const hashes = ({ rules }: MaskRules): boolean => rules.some(({ action }) => action === 'hash')

/** The secret of a preview's hashes: its marks are no others'. */
const previewSecret = randomBytes(32)

/** 422 with the places of what is wrong with the patterns. */
async function checkPatterns(rules: MaskRules): Promise<void> {
  const faults = await patternFaults(rules)
  if (faults.length > 0)
    throw invalid(faults.map(({ loc, msg }) => ({ loc: ['body', ...loc], msg, type: 'value_error' })))
}

/** @throws Fault 403 unless the caller administers the whole of the scope, 422 for a text that is no scope */
function throwUnlessOver({ access = {} }: Caller, scope: string, loc: string): string {
  if (!isScope(scope))
    throw invalid({ loc: [loc, 'scope'], msg: 'must be *, an entity or a project', type: 'value_error' })
  if (!allowsOn(access, 'admin', scope)) throw fault(403, `Key has no right to admin on ${scope}`)
  return scope
}

/** Longer values are not shown: a preview is handled beside the requests of others. */
const maxShown = 32 * 1024
const tooLong = '[too long for a preview]'

const callFields = ['inputs', 'output', 'attributes', 'summary'] as const satisfies readonly Field[]

const projectOf = (context: RouteContext): ProjectId =>
  context.project(`${context.params.entity}/${context.params.project}`)

type MaskingRules = {
  /** The rules of a scope with their version, as routes show them. */
  shown(scope: string): object
  /** Replaces the rules of a scope: one change after the other, so that each has a version of its own. */
  replace(caller: Caller, scope: string, rules: MaskRules): Promise<void>
  /** The rules that count for a project, or those to be tried in their place. */
  previewed(projectId: ProjectId, tried: MaskRules | undefined): ScopeRules[]
}

function maskingRules({ directory, config, masterKey }: MaskingRouteDeps): MaskingRules {
  const itemOf = (scope: string): Value<'mask'> | undefined => directory.state().masks.get(scope)
  const queue = createSerialQueue(() => unavailable('The server is shutting down'))
  return {
    shown(scope) {
      const { version, salt: _, ...rules }: Value<'mask'> = itemOf(scope) ?? { ...noRules, version: 0 }
      const scopes = scopesOf(scope).flatMap((one) => {
        const { version: of, ...own } = itemOf(one) ?? {}
        return of === undefined ? [] : [{ version: of, rules: own as MaskRules }]
      })
      const ofRows = scope.includes('/') && { rows_version: maskVersion(scopes, config.maskFloor) }
      return { scope, version, rules, floor: [...config.maskFloor], ...ofRows }
    },
    async replace(caller, scope, rules) {
      await checkPatterns(rules)
      if (hashes(rules) && masterKey() === undefined)
        throw fault(409, 'Rules that hash need CALLHOUSE_MASTER_KEY, the same at every process')
      await queue.run(async () => {
        directory.look()
        const before = itemOf(scope)
        const salt = before?.salt ?? (hashes(rules) ? randomBytes(16).toString('base64') : undefined)
        const value = { ...rules, version: (before?.version ?? 0) + 1, ...(salt !== undefined && { salt }) }
        await appendFor(directory, [{ key: scopedKey('mask', scope), value }], caller)
      })
    },
    previewed: (projectId, tried) =>
      scopesOf(projectId).flatMap((scope) => {
        if (scope === projectId && tried !== undefined) return [{ rules: tried }]
        const rules = itemOf(scope)
        // Those of a dry run show what they would do.
        return rules === undefined || rules.mode === 'off' ? [] : [{ rules }]
      }),
  }
}

/** The rules of one project. */
const projectRoutes = ({ shown, replace }: MaskingRules): Route[] => [
  route({
    name: 'masking.read',
    method: 'GET',
    path: '/v2/{entity}/{project}/masking',
    summary: 'The masking rules of a project',
    body: { type: 'none' },
    response: maskingResponse,
    tables: [],
    async handle(context) {
      return { json: shown(projectOf(context)) }
    },
  }),
  route({
    name: 'masking.update',
    method: 'PUT',
    path: '/v2/{entity}/{project}/masking',
    summary: 'Sets the masking rules of a project. They apply to new data only',
    body: { type: 'json', schema: newMaskRules, check: 'schema', maxBytes: maxItemBytes },
    response: maskingResponse,
    topics: [],
    async handle(context) {
      const projectId = projectOf(context)
      await replace(context.caller, projectId, context.input)
      return { json: shown(projectId) }
    },
  }),
]

/** The rules of a scope, which may be wider than a project. */
const scopeRoutes = ({ shown, replace }: MaskingRules): Route[] => [
  route({
    name: 'masking.scope_read',
    method: 'GET',
    path: '/masking',
    query: maskingQuery,
    summary: 'The masking rules of one scope: everything (`*`), an entity or a project',
    withoutProject: true,
    body: { type: 'none' },
    response: maskingResponse,
    tables: [],
    async handle({ caller, query }) {
      return { json: shown(throwUnlessOver(caller, query.get('scope') ?? '', 'query')) }
    },
  }),
  route({
    name: 'masking.scope_update',
    method: 'PUT',
    path: '/masking',
    summary: 'Sets the masking rules of one scope. Rules of everything, the entity and the project add up',
    body: { type: 'json', schema: scopeMaskRules, check: 'schema', maxBytes: maxItemBytes },
    withoutProject: true,
    response: maskingResponse,
    topics: [],
    async handle({ caller, input }) {
      const { scope, ...rules } = input
      await replace(caller, throwUnlessOver(caller, scope, 'body'), rules)
      return { json: shown(scope) }
    },
  }),
]

const previewRoute = ({ config, invoke }: MaskingRouteDeps, { previewed }: MaskingRules): Route =>
  route({
    name: 'masking.preview',
    method: 'POST',
    path: '/masking/preview',
    summary: 'Previews masking rules on a text, a value or stored calls. Nothing is stored',
    body: { type: 'json', schema: maskingPreviewRequest, check: 'schema', maxBytes: maxItemBytes },
    response: maskingPreviewResponse,
    tables: ['calls'],
    async handle(context) {
      const { input, caller, signal } = context
      const { field, rules, text, value, call_ids } = input
      const project = context.project(input.project_id)
      if (rules !== undefined) await checkPatterns(rules)
      const hits: Record<string, number> = {}
      const masker = createMasker(previewed(project, rules), {
        floor: config.maskFloor,
        secret: previewSecret,
        onHits(rule, count) {
          hits[rule] = (hits[rule] ?? 0) + count
        },
      })
      const masked = (of: Field, one: unknown): unknown => {
        const json = JSON.stringify(one ?? null)
        return json.length > maxShown ? tooLong : (JSON.parse(masker.json(of, json).text) as unknown)
      }
      const calls: Record<string, unknown>[] = []
      if (call_ids !== undefined && call_ids.length > 0) {
        const body = { project_id: project, filter: { call_ids }, limit: call_ids.length }
        const as = { caller, signal, freshness: context }
        for await (const call of invoke.rows<Record<string, unknown>>('calls.stream_query', body, as)) {
          calls.push({ id: call.id, ...Object.fromEntries(callFields.map((of) => [of, masked(of, call[of])])) })
          await setImmediate()
        }
      }
      return {
        json: {
          ...(text !== undefined && { text: masker.text(field, text).text }),
          ...(value !== undefined && { value: masked(field, value) }),
          ...(call_ids !== undefined && { calls }),
          hits,
        },
      }
    },
  })

export function createMaskingRoutes(deps: MaskingRouteDeps): Route[] {
  const rules = maskingRules(deps)
  return [...projectRoutes(rules), ...scopeRoutes(rules), previewRoute(deps, rules)]
}
