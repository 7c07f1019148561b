// Lists of users and keys, whole: the server answers a thousand lines at a time.
import { useQuery } from '@tanstack/react-query'
import { lines } from '../api/client.ts'
import type { Shapes } from '../api/routes.gen.ts'

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
  useQuery({ queryKey: ['settings', 'keys', name], queryFn: ({ signal }) => whole(name, signal) })

export const useUsers = (isAdmin = true) =>
  useQuery({
    queryKey: ['settings', 'users'],
    queryFn: ({ signal }) => whole('users.list', signal),
    enabled: isAdmin,
  })
