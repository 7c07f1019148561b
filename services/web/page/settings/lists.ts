// Lists of users and keys, whole: the server answers a thousand lines at a time.
import { lines } from '../api/client.ts'
import { useList } from '../parts/use-list.ts'
import type { Shapes } from '../routes.gen.ts'

export type Key = Shapes['keys.list']['line']
export type User = Shapes['users.list']['line']

const pageLines = 1_000
const maxPages = 20

async function whole<Name extends 'keys.list' | 'me.keys' | 'users.list'>(
  name: Name,
  signal: AbortSignal,
): Promise<Shapes[Name]['line'][]> {
  const all: Shapes[Name]['line'][] = []
  for (let page = 0; page < maxPages; page++) {
    const after = all.at(-1)?.id
    const query = { limit: String(pageLines), ...(after !== undefined && { after }) }
    const some = await lines(name, undefined, { query, signal })
    all.push(...some)
    if (some.length < pageLines) break
  }
  return all
}

export const useAllKeys = (name: 'keys.list' | 'me.keys') =>
  useList<Key>({ key: ['settings', 'keys', name], read: ({ signal }) => whole(name, signal) })

export const useUsers = (isAdmin = true) =>
  useList<User>({
    key: ['settings', 'users'],
    read: ({ signal }) => whole('users.list', signal),
    isOn: isAdmin,
  })
