// Groups the field values of payload rows by project, part and hour; each path of a group is one row of columns.
import { doubleText } from '../../core/json/number-text.ts'
import { TextBuffer } from '../../core/memory/text-buffer.ts'
import type { FieldValue } from './scan.ts'

/** What identifies a payload row. Times in microseconds. */
export type PayloadKey = { projectId: string; part: 'both' | 'start' | 'end'; us: number; clock: bigint | string }

/** Values, each with a comma after it. */
type Column = { path: string; kind: FieldValue['kind']; at: number[]; values: TextBuffer }
type Group = {
  projectId: string
  part: PayloadKey['part']
  at: number[]
  /** Each with a comma after it. */
  clocks: TextBuffer
  columns: Map<string, Column>
}

const hourUs = 3_600_000_000

export type FieldValueGroups = {
  /** About how many bytes `take` will return. */
  bytes(): number
  add(key: PayloadKey, fieldValues: readonly FieldValue[]): void
  /** Adds what others hold, which may not be used afterwards. */
  absorb(others: FieldValueGroups): void
  all(): ReadonlyMap<string, Group>
  /** Returns JSON lines for the two tables and empties the groups. @param first number of the first group */
  take(first: number): { values: string; groups: string; count: number }
}

const list = (values: TextBuffer): string => `[${values.text(1)}]`

/** As many at once as there are would not fit on the stack. */
function addAll<Value>(to: Value[], values: readonly Value[]): void {
  for (const value of values) to.push(value)
}

function bounds(at: readonly number[]): string {
  let min = Number.POSITIVE_INFINITY
  let max = Number.NEGATIVE_INFINITY
  for (const us of at) {
    if (us < min) min = us
    if (us > max) max = us
  }
  return `"least":${min},"most":${max}`
}

export function createFieldValueGroups(): FieldValueGroups {
  let groups = new Map<string, Group>()
  let bytes = 0

  const textOfValue = (fieldValue: FieldValue): string =>
    fieldValue.kind === 'number'
      ? doubleText(fieldValue.num)
      : 'str' in fieldValue
        ? JSON.stringify(fieldValue.str)
        : ''

  return {
    bytes: () => bytes,
    all: () => groups,
    absorb(others) {
      for (const [key, from] of others.all()) {
        const group = groups.get(key)
        if (group === undefined) {
          groups.set(key, from)
          continue
        }
        addAll(group.at, from.at)
        group.clocks.addAll(from.clocks)
        for (const [name, { at, values, ...column }] of from.columns) {
          const own = group.columns.get(name)
          if (own === undefined) group.columns.set(name, { ...column, at, values })
          else {
            addAll(own.at, at)
            own.values.addAll(values)
          }
        }
      }
      bytes += others.bytes()
    },
    add({ projectId, part, us, clock }, fieldValues) {
      bytes += 40
      const key = `${part} ${Math.floor(us / hourUs)} ${projectId}`
      let group = groups.get(key)
      if (group === undefined) {
        group = { projectId, part, at: [], clocks: new TextBuffer(), columns: new Map() }
        groups.set(key, group)
      }
      group.at.push(us)
      group.clocks.add(`${clock},`)
      for (const fieldValue of fieldValues) {
        const name = `${fieldValue.kind} ${fieldValue.path}`
        let column = group.columns.get(name)
        if (column === undefined) {
          column = { path: fieldValue.path, kind: fieldValue.kind, at: [], values: new TextBuffer() }
          group.columns.set(name, column)
        }
        column.at.push(us)
        bytes += 17
        if (fieldValue.kind !== 'number' && !('str' in fieldValue)) continue
        const value = `${textOfValue(fieldValue)},`
        bytes += value.length
        column.values.add(value)
      }
    },
    take(first) {
      const values: string[] = []
      const groupLines: string[] = []
      let number = first
      for (const { projectId, part, at, clocks, columns } of groups.values()) {
        const of = `"project_id":${JSON.stringify(projectId)},"part":"${part}","chunk":${number++}`
        groupLines.push(`{${of},${bounds(at)},"at":[${at}],"clock":${list(clocks)}}`)
        for (const column of columns.values()) {
          const valueText =
            column.values.length > 0 ? `,"${column.kind === 'number' ? 'num' : 'str'}":${list(column.values)}` : ''
          values.push(
            `{${of},"path":${JSON.stringify(column.path)},"kind":"${column.kind}",${bounds(column.at)},"at":[${column.at}]${valueText}}`,
          )
        }
      }
      groups = new Map()
      bytes = 0
      return { values: values.join('\n'), groups: groupLines.join('\n'), count: number - first }
    },
  }
}
