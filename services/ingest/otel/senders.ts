// Programs that were set up for another product send as they did, with another address and key alone: what each says
// beside the key, as data. Only what that product's own client was seen to send.
import type { Caller } from '../../core/http/route.ts'
import type { OtlpSpan } from './spans.ts'

/** Further paths of spans: where Langfuse sends. The others use `/v1/traces` and `/otel/v1/traces`. */
export const senderPaths = ['/api/public/otel/v1/traces']

/** Attribute of a resource that names a project without its entity: Phoenix. */
export const projectAttribute = 'openinference.project.name'

/** Headers that name a project without its entity, and where in their value. */
const projectHeaders: readonly { header: string; name: RegExp }[] = [
  // LangSmith
  { header: 'langsmith-project', name: /^(.+)$/ },
  // Braintrust
  { header: 'x-bt-parent', name: /^project_name:(.+)$/ },
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

/** The project that a product's own header names; null when none does. */
export function projectOfSender(
  header: (name: string) => string | undefined,
  caller: Pick<Caller, 'entity'>,
): string | null {
  for (const { header: name, name: form } of projectHeaders) {
    const found = form.exec(header(name) ?? '')?.[1]
    const project = found === undefined ? null : projectNamed(found, caller)
    if (project !== null) return project
  }
  return null
}

/** Logfire announces a span that has not ended by one below it; the span itself comes once it has ended. */
export function isAnnouncement({ attributes: { keys, values } }: Pick<OtlpSpan, 'attributes'>): boolean {
  const at = keys.indexOf('logfire.span_type')
  return at !== -1 && values[at] === 'pending_span'
}
