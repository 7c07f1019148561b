// `callhouse holds`: what of a project nothing removes.
import { holdRequest } from '../../schemas/holds.ts'
import type { Config } from '../app/config.ts'
import { itemKey } from '../core/directory/items.ts'
import { isScope } from '../core/directory/roles.ts'
import { appendFor, operator } from '../core/http/room.ts'
import { uuidv7 } from '../core/ids.ts'
import { print, UsageError } from './command.ts'
import { withDirectory } from './directory.ts'

/** @param project '' for all */
export async function listHolds(config: Config, project: string): Promise<void> {
  await withDirectory(config, (directory) => {
    const { holds, items } = directory.state()
    for (const [id, { scope, reason, until, all, ...named }] of holds) {
      if (project !== '' && scope !== project) continue
      const { at = '', by = '' } = items.get(itemKey('hold', id)) ?? {}
      const ids = Object.entries(named).map(([name, some]) => `${name}=${some?.join(',')}`)
      print(
        [id, scope, all ? 'all of it' : ids.join('  '), at, by, ...(until ? [`until ${until}`] : []), reason].join(
          '  ',
        ),
      )
    }
  })
}

export async function addHold(config: Config, project: string, flag: (name: string) => string): Promise<void> {
  if (!isScope(project) || !project.includes('/'))
    throw new UsageError(`${JSON.stringify(project)} is no <entity>/<project>`)
  const ids = (name: string) => (flag(name) === '' ? undefined : flag(name).split(','))
  const named = { call_ids: ids('calls'), trace_ids: ids('traces'), thread_ids: ids('threads') }
  const isAll = Object.values(named).every((some) => some === undefined)
  const given = holdRequest.safeParse({
    ...named,
    all: isAll ? true : undefined,
    reason: flag('reason'),
    until: flag('until') || undefined,
  })
  if (!given.success) {
    const [issue] = given.error.issues
    throw new UsageError([...(issue?.path.length ? [issue.path.join('.')] : []), issue?.message].join(': '))
  }
  if (given.data.until !== undefined && Date.parse(given.data.until) <= Date.now())
    throw new UsageError('until must be later than now')
  const id = uuidv7()
  await withDirectory(config, (directory) =>
    appendFor(directory, [{ key: itemKey('hold', id), value: { scope: project, ...given.data } }], operator),
  )
  print(`hold ${id}: nothing removes ${isAll ? project : 'what it names'} until it is released`)
}

export async function releaseHold(config: Config, id: string): Promise<void> {
  await withDirectory(config, async (directory) => {
    if (!directory.state().holds.has(id)) throw new UsageError(`Hold ${id} not found`)
    await directory.append([{ key: itemKey('hold', id), value: null }], 'command')
  })
  print(`hold ${id} is released`)
}
