// The few GraphQL operations that SDKs send when they start, recognised by name; there is no GraphQL engine behind.
import type { z } from 'zod'
import { graphqlRequest, graphqlResponse } from '../../../schemas/service.ts'
import type { Right } from '../../core/directory/roles.ts'
import type { Caller } from '../../core/http/route.ts'
import { type Route, route } from '../../core/http/route.ts'
import type { ProjectId } from '../../core/ids.ts'

type GraphqlRequest = z.output<typeof graphqlRequest>
type GraphqlResponse = z.output<typeof graphqlResponse>
type GraphqlCall = { variables: Record<string, unknown>; caller: Caller; host: string }
type Answer = (asked: GraphqlCall) => GraphqlResponse

const failed = (message: string, code?: string): GraphqlResponse => ({
  errors: [{ message, ...(code === undefined ? {} : { extensions: { code } }) }],
})
const denied = (what: string) => failed(`Permission denied: ${what}`, 'PERMISSION_ERROR')

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

/** Whether the caller holds one of the rights on a project; names that make no project id are denied. */
function holdsOne(caller: Caller, rights: Right[], entity: string, name: string): boolean {
  if (entity.includes('/') || name.includes('/')) return false
  return rights.some((right) => caller.may(right, `${entity}/${name}` as ProjectId))
}

const answers: Record<string, Answer> = {
  DefaultEntity: ({ caller }) => ({
    data: { viewer: { username: caller.userId, defaultEntity: { name: caller.entity } } },
  }),
  // A project exists as soon as it is named: the first write creates it, and reads of a new one find nothing.
  Project: ({ caller, variables }) => {
    const name = textOf(variables.name)
    if (name === undefined) return { data: { project: null } }
    const entity = textOf(variables.entityName) ?? caller.entity
    return holdsOne(caller, ['any'], entity, name)
      ? { data: { project: { name } } }
      : denied(`project ${entity}/${name}`)
  },
  UpsertModel: ({ caller, variables }) => {
    const name = textOf(variables.name) ?? textOf(variables.id)
    const entity = textOf(variables.entity) ?? caller.entity
    if (name === undefined) return failed('Variable name is missing')
    if (!holdsOne(caller, ['ingest', 'write'], entity, name)) return denied(`project ${entity}/${name}`)
    return { data: { upsertModel: { model: { name, description: textOf(variables.description) ?? null } } } }
  },
  ServerInfo: ({ host }) => ({ data: { serverInfo: { frontendHost: host } } }),
  Entity: ({ caller }) => ({ data: { viewer: { username: caller.userId }, entity: { readOnly: false } } }),
  ArtifactManifest: () => ({ data: { project: null, artifact: null } }),
}

/** Fields for requests without a known operation name: the first one that the text mentions, in this order. */
const byField: [RegExp, string][] = [
  [/\bupsertModel\b/, 'UpsertModel'],
  [/\bserverInfo\b/, 'ServerInfo'],
  [/\bartifact(Manifest)?\b/, 'ArtifactManifest'],
  [/\bentity\s*\(/, 'Entity'],
  [/\bproject\b/, 'Project'],
  [/\bviewer\b/, 'DefaultEntity'],
]

function operationOf({ query, operationName }: GraphqlRequest): Answer | undefined {
  const name = operationName ?? /\b(?:query|mutation)\s+([A-Za-z_]\w*)/.exec(query)?.[1] ?? ''
  if (name.startsWith('ArtifactManifest')) return answers.ArtifactManifest
  if (Object.hasOwn(answers, name)) return answers[name]
  const field = byField.find(([pattern]) => pattern.test(query))?.[1]
  return field === undefined ? undefined : answers[field]
}

/** @param isSecure the server's own ports speak TLS */
export function createGraphqlRoutes(isSecure = false): Route[] {
  return [
    route({
      name: 'service.graphql',
      method: 'POST',
      path: '/graphql',
      withoutProject: true,
      summary: 'The caller and its project, as SDKs request them',
      body: { type: 'json', schema: graphqlRequest, check: 'schema' },
      response: graphqlResponse,
      async handle({ input, caller, header }) {
        const answer = operationOf(input)
        if (answer === undefined) return { json: failed('Operation is not supported') }
        const host = `http${isSecure ? 's' : ''}://${header('host') ?? ''}`
        return { json: answer({ variables: input.variables ?? {}, caller, host }) }
      },
    }),
  ]
}
