// Bindings of a secret: the projects that may use it, and the addresses that it may be sent to.
import { z } from 'zod'
import { baseAddress, secretName } from '../../schemas/secrets.ts'

const scope = z.string().regex(/^[^\s/]+(?:\/[^\s/]+)?$/, { error: 'must be an entity or <entity>/<project>' })

const binding = z.strictObject({
  projects: z.union([z.literal('*'), z.array(scope).min(1)], {
    error: 'must be a list of entities and projects, or "*"',
  }),
  origins: z.array(baseAddress).min(1).optional(),
})

export const bindings = z.record(secretName, binding)

type Bindings = z.output<typeof bindings>
export type Binding = Bindings[string]

export type SecretUse = {
  projectId: string
  /** Base address of the requests that carry it; undefined = it goes nowhere by itself. */
  address?: string | undefined
  /** The address is one that a project stored, not one of the operator's. */
  isOfProject?: true
}

const isGranted = (projects: Binding['projects'], projectId: string): boolean =>
  projects === '*' || projects.includes(projectId) || projects.includes(projectId.slice(0, projectId.indexOf('/')))

const withoutSlash = (path: string): string => path.replace(/\/+$/, '')

/**
 * Whether requests to a base address stay within a bound one: the same scheme, host and port, and its path or one
 * below. The rest after the bound path must be plain, since a server may read escapes and empty segments as steps back.
 */
export function isBelowAddress(bound: string, address: string): boolean {
  const [outer, inner] = [new URL(bound), URL.parse(address)]
  if (inner?.origin !== outer.origin) return false
  const path = withoutSlash(outer.pathname)
  if (path === '' || withoutSlash(inner.pathname) === path) return true
  return inner.pathname.startsWith(`${path}/`) && /^(?:\/[\w.~:@-]+)*\/?$/.test(inner.pathname.slice(path.length))
}

/** Whether a secret may be used so. Without a binding it serves the operator's providers, for every project. */
export function isAllowed(bound: Binding | undefined, { projectId, address, isOfProject }: SecretUse): boolean {
  if (bound === undefined) return isOfProject !== true
  if (!isGranted(bound.projects, projectId)) return false
  if (bound.origins === undefined) return isOfProject !== true
  return address === undefined || bound.origins.some((origin) => isBelowAddress(origin, address))
}
