// Groups the field values of payload rows by project, part and hour; each path of a group is one row of columns.
import { Buffer } from 'node:buffer'
import { skipByteSpace } from '../../core/json/byte-walk.ts'
import { fieldKinds, type ValueColumn } from './columns.ts'
import { type FoundValue, FoundValues } from './found-values.ts'
import { PathNode } from './paths.ts'
import { type PayloadKey, RowGroup } from './row-group.ts'
import { scanDocument } from './scan.ts'
import type { Bytes } from './strings.ts'

/** The documents of a payload row. */
export const roots = ['attributes', 'inputs', 'output', 'summary'] as const
export type Root = (typeof roots)[number]

export type FieldValueGroups = {
  /** About how many bytes `take` will return. */
  bytes(): number
  /** Begins a payload row, to which the documents belong that are added next. */
  addRow(key: PayloadKey): void
  /** Adds the field values of a JSON text that starts at `at`, none of an absent one; returns the index after it. */
  addDocument(root: Root, text: Buffer, at?: number): number
  /** Adds a document that is not indexed. */
  addOpaque(root: Root): void
  /** Adds what others hold, which may not be used afterwards. */
  absorb(others: FieldValueGroups): void
  all(): ReadonlyMap<string, RowGroup>
  /** Returns JSON lines for the two tables and empties the groups. @param first number of the first group */
  take(first: number): { values: string; groups: string; count: number }
}

const hourUs = 3_600_000_000
/** A time and a clock, with what parts them from the next. */
const rowBytes = 40
const timeBytes = 17
/** Paths are forgotten before those of documents whose keys are ever new ones fill the memory. */
const maxLookups = 20_000
const noText = Buffer.alloc(0)

type Paths = Record<Root, PathNode>
const noPaths = (): Paths => ({
  attributes: new PathNode('attributes'),
  inputs: new PathNode('inputs'),
  output: new PathNode('output'),
  summary: new PathNode('summary'),
})

export function createFieldValueGroups(): FieldValueGroups {
  const found = new FoundValues()
  let groups = new Map<string, RowGroup>()
  /** Paths by project. */
  let pathsOf = new Map<string, Paths>()
  let bytes = 0
  let hour = 0
  let row = 0
  let group = new RowGroup('', 'both')
  /** Those of the group's project; null before the first row. */
  let paths: Paths | null = null

  const forgetPaths = (): void => {
    found.lookups = 0
    pathsOf = new Map()
    paths = null
  }

  const enter = (projectId: string, part: PayloadKey['part']): void => {
    const key = `${part} ${hour} ${projectId}`
    const known = groups.get(key)
    group = known ?? new RowGroup(projectId, part)
    if (known === undefined) groups.set(key, group)
    paths = pathsOf.get(projectId) ?? noPaths()
    pathsOf.set(projectId, paths)
  }

  const rootOf = (root: Root): PathNode => {
    if (paths === null) throw new Error('a document without a row')
    return paths[root]
  }

  /** The column of the group: mostly the one that the last value of the path went into. */
  const columnOf = (node: PathNode, kind: number): ValueColumn => {
    const last = node.column
    if (last !== null && last.kind === kind && node.group === group) return last
    node.group = group
    node.column = group.column(node.path, kind)
    return node.column
  }

  /** Adds what was found in a document. */
  const addFound = (document: Buffer): void => {
    for (let n = 0; n < found.count; n++) {
      const { node, kind, start, end, text } = found.values[n] as FoundValue
      const column = columnOf(node, kind)
      column.addRow(row)
      bytes += timeBytes
      if (kind < fieldKinds.long) bytes += column.addValue(document, start, end, text)
    }
  }

  return {
    bytes: () => bytes,
    all: () => groups,
    addRow({ projectId, part, us, clock }) {
      if (found.lookups > maxLookups) forgetPaths()
      const rowHour = Math.floor(us / hourUs)
      // Mostly the group of the row before.
      if (paths === null || rowHour !== hour || group.part !== part || group.projectId !== projectId) {
        hour = rowHour
        enter(projectId, part)
      }
      row = group.addRow(us, clock)
      bytes += rowBytes
    },
    addDocument(root, text, at = 0) {
      if (at >= text.length) return at
      const end = scanDocument(text as Bytes, skipByteSpace(text, at), rootOf(root), found)
      addFound(text)
      return end
    },
    addOpaque(root) {
      found.count = 0
      found.keep(rootOf(root), fieldKinds.opaque)
      addFound(noText)
    },
    absorb(others) {
      for (const [key, from] of others.all()) {
        const own = groups.get(key)
        if (own === undefined) groups.set(key, from)
        else own.addAll(from)
      }
      bytes += others.bytes()
    },
    take(first) {
      const values: string[] = []
      const groupLines: string[] = []
      for (const one of groups.values()) {
        const lines = one.lines(first + groupLines.length)
        groupLines.push(lines.group)
        for (const line of lines.values) values.push(line)
      }
      groups = new Map()
      forgetPaths()
      bytes = 0
      return { values: values.join('\n'), groups: groupLines.join('\n'), count: groupLines.length }
    },
  }
}
