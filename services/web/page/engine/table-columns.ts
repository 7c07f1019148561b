// Changes of the columns of a table: each is about all of its rows, in the order in which they were made.
import type { Member } from './json-texts.ts'

export type ColumnChange =
  /** Cells of rows that lack the column, as JSON. */
  | { is: 'add'; name: string; text: string }
  | { is: 'rename'; name: string; to: string }
  | { is: 'remove'; name: string }

/** Reads and writes cells of some kind. */
type Kind<Cell> = {
  nameOf(cell: Cell): string
  renamed(cell: Cell, to: string): Cell
  made(name: string, text: string): Cell
}

/** A row after the changes. A column with the name of another one replaces it. */
export function withColumns<Cell>(changes: readonly ColumnChange[], cells: readonly Cell[], kind: Kind<Cell>): Cell[] {
  let now = [...cells]
  for (const change of changes) {
    const has = (name: string) => now.some((cell) => kind.nameOf(cell) === name)
    if (change.is === 'remove') now = now.filter((cell) => kind.nameOf(cell) !== change.name)
    else if (change.is === 'add') {
      if (!has(change.name)) now.push(kind.made(change.name, change.text))
    } else if (has(change.name))
      now = now
        .filter((cell) => kind.nameOf(cell) !== change.to)
        .map((cell) => (kind.nameOf(cell) === change.name ? kind.renamed(cell, change.to) : cell))
  }
  return now
}

const ofMembers: Kind<Member> = {
  nameOf: ([name]) => name,
  renamed: ([, text], to) => [to, text],
  made: (name, text) => [name, text],
}
export const membersWithColumns = (changes: readonly ColumnChange[], cells: readonly Member[]): readonly Member[] =>
  changes.length === 0 ? cells : withColumns(changes, cells, ofMembers)

const ofNames: Kind<string> = { nameOf: (name) => name, renamed: (_, to) => to, made: (name) => name }
export const namesWithColumns = (changes: readonly ColumnChange[], names: readonly string[]): readonly string[] =>
  withColumns(changes, names, ofNames)
