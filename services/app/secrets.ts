// Secrets of projects in a process and in its threads: sealed, as the directory has them, until a request needs one.
import type { Directory } from '../core/directory/directory.ts'
import { openSecret, type StoredSecret, secretKeysOf, unopened } from '../core/directory/secrets.ts'
import type { OwnSecrets } from '../inference/secrets.ts'
import type { Config } from './config.ts'

/** Secrets by scope, then by name. */
export type SealedSecrets = ReadonlyMap<string, ReadonlyMap<string, StoredSecret>>

type Keys = { config: Pick<Config, 'masterKeysOld'>; masterKey(): Buffer | undefined }

export const ownSecrets = (sealed: () => SealedSecrets, { config, masterKey }: Keys): OwnSecrets => ({
  find(scope, name) {
    const stored = sealed().get(scope)?.get(name)
    if (stored === undefined) return undefined
    const open = () => openSecret(secretKeysOf(masterKey(), config.masterKeysOld), scope, name, stored)
    return { open, origins: stored.origins }
  },
})

/** @throws Error that names what cannot be opened: another master key sealed it */
export function refuseUnopened(directory: Pick<Directory, 'state'>, { config, masterKey }: Keys): void {
  const { secrets } = directory.state()
  if (secrets.size === 0) return
  const names = unopened(secrets, secretKeysOf(masterKey(), config.masterKeysOld))
  if (names.length > 0)
    throw new Error(
      `The master key does not open the secrets ${names.join(', ')}: give it back, or name it in ` +
        'CALLHOUSE_MASTER_KEYS_OLD, or take them away with callhouse secrets remove',
    )
}
