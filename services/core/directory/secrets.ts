// Secrets of projects and entities in the directory: sealed under the master key, and opened by it or one that was it before.
import { Buffer } from 'node:buffer'
import { sealWith } from '../process/master-key.ts'
import type { Change } from './directory.ts'
import { scopedKey, type Value } from './items.ts'
import type { Scope } from './roles.ts'
import type { DirectoryState } from './state.ts'

export type StoredSecret = Value<'secret'>
type Secrets = DirectoryState['secrets']

/** The master key, and those before it, newest first; absent = there is none. */
export type SecretKeys = { master: Buffer | undefined; old: readonly Buffer[] }

export const secretKeysOf = (master: Buffer | undefined, old: readonly string[]): SecretKeys => ({
  master,
  old: old.map((text) => Buffer.from(text, 'base64')),
})

/** Each version of each secret has a key of its own, and opens as nothing else. */
const sealOf = (master: Buffer, scope: Scope, name: string, version: number) =>
  sealWith(master, `secret/${scope}/${name}/${version}`, JSON.stringify([scope, name, version]))

/** Shorter secrets show nothing: their end would give away too much. */
const minShownLength = 20

/** @throws Error without a master key: nothing is kept unsealed */
export function secretChange(
  { secrets }: Pick<DirectoryState, 'secrets'>,
  { scope, name, value, origins }: { scope: Scope; name: string; value: string; origins?: string[] | undefined },
  master: Buffer,
): Change {
  const version = (secrets.get(scope)?.get(name)?.version ?? 0) + 1
  const stored: StoredSecret = {
    version,
    sealed: sealOf(master, scope, name, version).seal(value),
    ...(value.length >= minShownLength && { last4: value.slice(-4) }),
    ...(origins !== undefined && { origins }),
  }
  return { key: scopedKey('secret', scope, name), value: stored }
}

/** Undefined when none of the keys opens it. */
export function openSecret(
  { master, old }: SecretKeys,
  scope: Scope,
  name: string,
  { version, sealed }: StoredSecret,
): string | undefined {
  for (const key of master === undefined ? old : [master, ...old]) {
    const value = sealOf(key, scope, name, version).open(sealed)
    if (value !== undefined) return value
  }
  return undefined
}

/** `<scope>/<name>` of those that no key opens. */
export const unopened = (secrets: Secrets, keys: SecretKeys): string[] =>
  [...secrets].flatMap(([scope, own]) =>
    [...own].flatMap(([name, stored]) =>
      openSecret(keys, scope, name, stored) === undefined ? [`${scope}/${name}`] : [],
    ),
  )

/** All of them sealed by the master key, as their next versions. @throws Error that names what cannot be opened */
export function sealedAnew(state: DirectoryState, keys: SecretKeys & { master: Buffer }): Change[] {
  const closed = unopened(state.secrets, keys)
  if (closed.length > 0) throw new Error(`No key opens ${closed.join(', ')}`)
  return [...state.secrets].flatMap(([scope, own]) =>
    [...own].map(([name, stored]) => {
      const value = openSecret(keys, scope, name, stored) as string
      const { key, value: sealed } = secretChange(state, { scope, name, value, origins: stored.origins }, keys.master)
      return { key, value: { ...(sealed as StoredSecret), is_rotated: true } }
    }),
  )
}
