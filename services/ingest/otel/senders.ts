// Programs that were set up for another product send as they did, with another address and key alone: what each says
// beside the key, as data. Only what that product's own client was seen to send, or what its documentation tells users
// of any exporter to set.
import type { Caller } from '../../core/http/route.ts'
import type { OtlpSpan } from './spans.ts'

/** Further paths of each signal; the others use `/v1/…` and `/otel/v1/…`. */
export const senderPaths = {
  traces: [
    // Langfuse
    '/api/public/otel/v1/traces',
    // Opik
    '/api/v1/private/otel/v1/traces',
    // LangWatch
    '/api/otel/v1/traces',
  ],
  logs: ['/api/otel/v1/logs'],
  metrics: ['/api/otel/v1/metrics'],
} as const

/** Attribute of a resource that names a project without its entity: Phoenix. */
export const projectAttribute = 'openinference.project.name'

type ProjectHeader = {
  header: string
  /** Pattern that finds the name in its value. */
  name: RegExp
  /** Before the name. */
  prefix?: string
  /** The header beside it that names the entity, and the values by which it names none. */
  entity?: { header: string; unless: string }
  /** The setting to make, for a sender whose value names no project. */
  hint?: string
}

/** Headers that name a project, mostly without its entity. */
const projectHeaders: readonly ProjectHeader[] = [
  // LangSmith
  { header: 'langsmith-project', name: /^(.+)$/ },
  // Braintrust
  {
    header: 'x-bt-parent',
    name: /^project_name:(.+)$/,
    hint: 'x-bt-parent names a project by project_name:<name> only, not by an id',
  },
  // Phoenix
  { header: 'x-project-name', name: /^(.+)$/ },
  // Opik; every installation has the workspace "default"
  { header: 'projectname', name: /^(.+)$/, entity: { header: 'comet-workspace', unless: 'default' } },
  // MLflow
  { header: 'x-mlflow-experiment-id', name: /^(.+)$/, prefix: 'experiment-' },
]

/** A text as the name of a project: what no name may hold becomes a dash. */
const slugOf = (text: string): string =>
  text
    .trim()
    .replace(/[^\p{L}\p{N}._-]+/gu, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 128)

/** A project of the key's entity by its name; null when nothing is left of the name. */
export function projectNamed(name: string, { entity }: Pick<Caller, 'entity'>): string | null {
  const slug = slugOf(name)
  return slug === '' || entity === '' ? null : `${entity}/${slug}`
}

type HeaderOf = (name: string) => string | undefined

/** The project that a product's own header names; null when none does. */
export function projectOfSender(header: HeaderOf, caller: Pick<Caller, 'entity'>): string | null {
  for (const { header: name, name: form, prefix = '', entity } of projectHeaders) {
    const found = form.exec(header(name)?.trim() ?? '')?.[1]
    if (found === undefined || slugOf(found) === '') continue
    const own = entity === undefined ? '' : slugOf(header(entity.header) ?? '')
    const project = projectNamed(`${prefix}${found}`, own === '' || own === entity?.unless ? caller : { entity: own })
    if (project !== null) return project
  }
  return null
}

/** The setting to use in place of headers that name no project; empty when there are none. */
export const hintsForSender = (header: HeaderOf): string =>
  projectHeaders
    .flatMap(({ header: name, hint }) => (hint === undefined || header(name) === undefined ? [] : [`; ${hint}`]))
    .join('')

/** Logfire announces a span that has not ended by one below it; the span itself comes once it has ended. */
export function isAnnouncement({ attributes: { keys, values } }: Pick<OtlpSpan, 'attributes'>): boolean {
  const at = keys.indexOf('logfire.span_type')
  return at !== -1 && values[at] === 'pending_span'
}
