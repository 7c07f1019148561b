// `callhouse secrets`: keys of providers that belong to entities and projects. Values come from the standard input alone.
import { text } from 'node:stream/consumers'
import { newSecret, secretName } from '../../schemas/secrets.ts'
import type { Config } from '../app/config.ts'
import { hasSharedLog } from '../app/drivers.ts'
import { scopedKey } from '../core/directory/items.ts'
import { isScope } from '../core/directory/roles.ts'
import { sealedAnew, secretChange, secretKeysOf } from '../core/directory/secrets.ts'
import { openMasterKey } from '../core/process/master-key.ts'
import { quantity } from '../core/quantity.ts'
import { print, UsageError } from './command.ts'
import { withDirectory } from './directory.ts'

function masterKeyOf(config: Config): Buffer {
  const master = openMasterKey(config, { mayMake: !hasSharedLog(config) })()
  if (master === undefined) throw new UsageError('Secrets need CALLHOUSE_MASTER_KEY, the same as at every process')
  return master
}

/** @throws UsageError unless they name a secret of an entity or a project */
function checkNames(scope: string, name: string): void {
  if (!isScope(scope) || scope === '*')
    throw new UsageError(`${JSON.stringify(scope)} is neither an entity nor <entity>/<project>`)
  const [issue] = secretName.safeParse(name).error?.issues ?? []
  if (issue !== undefined) throw new UsageError(`${JSON.stringify(name)} ${issue.message}`)
}

export async function listSecrets(config: Config): Promise<void> {
  await withDirectory(config, (directory) => {
    const { secrets, items } = directory.state()
    for (const [scope, own] of secrets)
      for (const [name, { version, last4, origins = [] }] of own) {
        const { at = '', by = '' } = items.get(scopedKey('secret', scope, name)) ?? {}
        print([scope, name, `version ${version}`, at, by, ...(last4 ? [`…${last4}`] : []), ...origins].join('  '))
      }
  })
}

export async function setSecret(config: Config, [scope = '', name = '', ...addresses]: string[]): Promise<void> {
  checkNames(scope, name)
  const value = (await text(process.stdin)).replace(/\r?\n$/, '')
  if (value === '') throw new UsageError('No value on standard input')
  const given = newSecret.safeParse({ value, ...(addresses.length > 0 && { origins: addresses }) })
  if (!given.success) {
    const [issue] = given.error.issues
    throw new UsageError(`${issue?.path.join('.')} ${issue?.message}`)
  }
  const master = masterKeyOf(config)
  await withDirectory(config, (directory) =>
    directory.append([secretChange(directory.state(), { scope, name, ...given.data }, master)], 'command'),
  )
  print(`${name} of ${scope} is set`)
}

export async function removeSecret(config: Config, [scope = '', name = '']: string[]): Promise<void> {
  checkNames(scope, name)
  await withDirectory(config, async (directory) => {
    if (directory.state().secrets.get(scope)?.has(name) !== true) throw new UsageError(`${scope} has no secret ${name}`)
    await directory.append([{ key: scopedKey('secret', scope, name), value: null }], 'command')
  })
  print(`${name} of ${scope} is removed`)
}

export async function rotateSecrets(config: Config): Promise<void> {
  const master = masterKeyOf(config)
  const count = await withDirectory(config, async (directory) => {
    const changes = sealedAnew(directory.state(), { ...secretKeysOf(master, config.masterKeysOld), master })
    await directory.append(changes, 'command')
    return changes.length
  })
  const sealed = quantity(count, 'secret is', 'secrets are')
  print(`${sealed} sealed by the master key: CALLHOUSE_MASTER_KEYS_OLD may go once all processes have it`)
}
