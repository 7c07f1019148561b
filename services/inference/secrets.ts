// Secrets by name for those who may use them, and taking them out of texts before anyone reads those.
import { type Binding, isAllowed, type SecretUse } from './secret-bindings.ts'

export type Secrets = {
  /** Value of the secret; undefined when there is none for this use, which looks the same from outside. */
  get(name: string, use: SecretUse): string | undefined
  /** Whether the project, or its entity, has one of its own under this name. */
  isOwn(name: string, projectId: string): boolean
}

/** Sealed secrets of projects and entities: opened where a request needs one, and kept nowhere. */
export type OwnSecrets = {
  find(scope: string, name: string): { open(): string | undefined; origins?: string[] | undefined } | undefined
}

export type SecretsDeps = {
  /** Secrets of CALLHOUSE_SECRET_<NAME>, by name. */
  values: Readonly<Record<string, string>>
  own: OwnSecrets
  binding(name: string): Binding | undefined
  /** Called when a project's Provider asks for a secret that is there, but not for it. */
  onRefused(name: string, use: SecretUse): void
}

export function createSecrets({ values, own, binding, onRefused }: SecretsDeps): Secrets {
  /** The secret of the project, else that of its entity: a wider one is not used where the narrower one is refused. */
  const ownOf = (name: string, projectId: string) =>
    [projectId, projectId.slice(0, projectId.indexOf('/'))]
      .map((scope) => ({ scope, found: own.find(scope, name) }))
      .find(({ found }) => found !== undefined)
  const ofOperator = (name: string) =>
    Object.hasOwn(values, name) && values[name] !== ''
      ? { bound: binding(name), value: (): string | undefined => values[name] }
      : undefined
  return {
    get(name, use) {
      const { scope = '', found } = ownOf(name, use.projectId) ?? {}
      const secret = found
        ? { bound: { projects: [scope], origins: found.origins }, value: found.open }
        : ofOperator(name)
      if (secret === undefined) return undefined
      if (isAllowed(secret.bound, use)) return secret.value()
      if (use.isOfProject) onRefused(name, use)
      return undefined
    },
    isOwn: (name, projectId) => ownOf(name, projectId) !== undefined,
  }
}

const hidden = 'REDACTED'
/** Shorter ones would take ordinary words out of messages. */
const minLength = 4
/** Keys as providers quote them in messages, with their middle starred out. */
const keyForm = /\b(?:sk|gsk|xai)-[\w*.-]{6,}/g

const isUseful = (secret: string): boolean => secret.length >= minLength && /[A-Za-z0-9]/.test(secret)

/** The text without any of the secrets, as they are and as JSON and addresses write them, nor anything like a key. */
export function scrub(text: string, secrets: readonly string[]): string {
  let clean = text
  for (const secret of secrets.filter(isUseful)) {
    const escaped = JSON.stringify(secret).slice(1, -1)
    for (const form of new Set([secret, escaped, encodeURIComponent(secret.toWellFormed())]))
      clean = clean.replaceAll(form, hidden)
  }
  return clean.replace(keyForm, hidden)
}

/** The JSON text without secrets in its strings; an empty object when one stands where none can be taken out. */
export function scrubJson(json: string, secrets: readonly string[]): string {
  const forms = secrets.filter(isUseful).map((secret) => JSON.stringify(secret).slice(1, -1))
  const found = forms.filter((form) => json.includes(form))
  if (found.length === 0) return json
  const clean = found.reduce((text, form) => text.replaceAll(form, hidden), json)
  try {
    JSON.parse(clean)
    return clean
  } catch {
    return '{}'
  }
}

/** The secrets inside cloud credentials: the text itself and every long string of it. */
export function credentialSecrets(text: string, credentials: Record<string, unknown>): string[] {
  const inner = Object.entries(credentials).flatMap(([name, value]) =>
    typeof value === 'string' && (/key|secret|token|password/i.test(name) || value.length > 100) ? [value] : [],
  )
  return [text, text.trim(), ...inner]
}

/** Headers whose values are never recorded. */
export const isSecretHeader = (name: string): boolean =>
  /authorization|cookie|api[-_]?key|token|secret|credential|password/i.test(name)

/** Values of such headers, and of those that are long enough to be keys under another name. */
export const headerSecrets = (headers: Readonly<Record<string, string>>): string[] =>
  Object.entries(headers).flatMap(([name, value]) => (isSecretHeader(name) || value.length >= 16 ? [value] : []))
