// Gathers the leaves of payload rows into groups: one per project, part and hour, each path of it one row of columns.
import { doubleText } from '../../core/json/number-text.ts'
import type { FieldValue } from './scan.ts'

/** What identifies a payload row. Times in microseconds. */
export type PayloadKey = { projectId: string; part: 'both' | 'start' | 'end'; us: number; clock: bigint }

type Column = { path: string; kind: FieldValue['kind']; at: number[]; values: string[] }
type Group = {
  projectId: string
  part: PayloadKey['part']
  at: number[]
  clocks: bigint[]
  columns: Map<string, Column>
}

const hourUs = 3_600_000_000

export type FieldValueGroups = {
  /** About how many bytes `take` will return. */
  bytes(): number
  add(key: PayloadKey, leaves: readonly FieldValue[]): void
  /** JSON lines for the two tables; the groups are empty afterwards. `chunk` is the number of the first group. */
  take(chunk: number): { leaves: string; chunks: string; count: number }
}

/** Each time takes a few digits: most are the same number of microseconds after the one before. */
const list = (values: readonly (number | bigint)[]): string => `[${values.join(',')}]`

function bounds(at: readonly number[]): string {
  let least = Number.POSITIVE_INFINITY
  let most = Number.NEGATIVE_INFINITY
  for (const us of at) {
    if (us < least) least = us
    if (us > most) most = us
  }
  return `"least":${least},"most":${most}`
}

export function createFieldValueGroups(): FieldValueGroups {
  let groups = new Map<string, Group>()
  let bytes = 0

  const textOfValue = (leaf: FieldValue): string =>
    leaf.kind === 'number' ? doubleText(leaf.num) : 'str' in leaf ? JSON.stringify(leaf.str) : ''

  return {
    bytes: () => bytes,
    add({ projectId, part, us, clock }, leaves) {
      bytes += 40
      const key = `${part} ${Math.floor(us / hourUs)} ${projectId}`
      let group = groups.get(key)
      if (group === undefined) {
        group = { projectId, part, at: [], clocks: [], columns: new Map() }
        groups.set(key, group)
      }
      group.at.push(us)
      group.clocks.push(clock)
      for (const leaf of leaves) {
        const name = `${leaf.kind} ${leaf.path}`
        let column = group.columns.get(name)
        if (column === undefined) {
          column = { path: leaf.path, kind: leaf.kind, at: [], values: [] }
          group.columns.set(name, column)
        }
        column.at.push(us)
        bytes += 17
        if (leaf.kind !== 'number' && !('str' in leaf)) continue
        const value = textOfValue(leaf)
        bytes += value.length + 1
        column.values.push(value)
      }
    },
    take(chunk) {
      const leaves: string[] = []
      const chunks: string[] = []
      let number = chunk
      for (const { projectId, part, at, clocks, columns } of groups.values()) {
        const of = `"project_id":${JSON.stringify(projectId)},"part":"${part}","chunk":${number++}`
        chunks.push(`{${of},${bounds(at)},"at":${list(at)},"clock":${list(clocks)}}`)
        for (const column of columns.values()) {
          const values =
            column.values.length > 0 ? `,"${column.kind === 'number' ? 'num' : 'str'}":[${column.values}]` : ''
          leaves.push(
            `{${of},"path":${JSON.stringify(column.path)},"kind":"${column.kind}",${bounds(column.at)},"at":${list(column.at)}${values}}`,
          )
        }
      }
      groups = new Map()
      bytes = 0
      return { leaves: leaves.join('\n'), chunks: chunks.join('\n'), count: number - chunk }
    },
  }
}
