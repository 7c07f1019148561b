// `callhouse limits`: how much an entity, a project or a key may take.
import { entityLimits, keyLimits, projectLimits } from '../../schemas/project-settings.ts'
import type { Config } from '../app/config.ts'
import { itemKey } from '../core/directory/items.ts'
import { isScope } from '../core/directory/roles.ts'
import { settingChange } from '../core/directory/settings.ts'
import { limitsOfKey } from '../core/directory/state.ts'
import { print, UsageError } from './command.ts'
import { withKeys } from './keys.ts'
import { limitsFrom } from './limit-words.ts'

const shownLimits = (limits: object | undefined): string =>
  Object.entries(limits ?? {})
    .filter(([, value]) => value !== 0)
    .map(([name, value]) => `${name}=${value}`)
    .join('  ')

export async function listLimits(config: Config): Promise<void> {
  await withKeys(config, (_, directory) => {
    directory.look()
    const { entities, projects, keys } = directory.state()
    for (const [scope, { limits }] of [...entities, ...projects])
      if (shownLimits(limits) !== '') print(`${scope}  ${shownLimits(limits)}`)
    for (const id of keys.keys()) {
      const limits = shownLimits(limitsOfKey(directory.state(), id))
      if (limits !== '') print(`key ${id}  ${limits}`)
    }
  })
}

/** Sets these and leaves the others; without any it shows what holds. */
export async function setKeyLimits(config: Config, [id = '', ...words]: string[]): Promise<void> {
  const given = words.length === 0 ? undefined : limitsFrom(words, Object.keys(keyLimits.shape))
  const limits = await withKeys(config, async (_, directory) => {
    directory.look()
    const state = directory.state()
    if (!state.keys.has(id)) throw new UsageError(`Key ${id} not found`)
    const all = { ...limitsOfKey(state, id), ...given }
    if (given !== undefined) await directory.append([{ key: itemKey('key-limits', id), value: all }], 'command')
    return all
  })
  print(`key ${id}  ${shownLimits(limits) || 'no limits'}`)
}

export async function setLimits(config: Config, [scope = '', ...words]: string[]): Promise<void> {
  if (!isScope(scope) || scope === '*')
    throw new UsageError(`${JSON.stringify(scope)} is neither an entity nor <entity>/<project>`)
  const isProject = scope.includes('/')
  const given = limitsFrom(words, Object.keys((isProject ? projectLimits : entityLimits).shape))
  const limits = await withKeys(config, async (_, directory) => {
    directory.look()
    const state = directory.state()
    const before = (isProject ? state.projects : state.entities).get(scope)?.limits
    const all = { ...before, ...given }
    await directory.append([settingChange(state, scope, { limits: all })], 'command')
    return all
  })
  print(`${scope}  ${shownLimits(limits) || 'no limits'}`)
}
