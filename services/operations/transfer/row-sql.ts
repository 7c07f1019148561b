// Row SQL: formats a stored row as the log's line for it, with the topic's columns in order and defaults left out.
import type { ColumnKind, DeclaredTopic } from '../../events/declaration.ts'

/** SQL expression of each column that a line holds, by the name of the column. */
export type Cells = Readonly<Record<string, string>>

/** A text that the engine finds valid and that stays on one line may stand there as it is; a string always may. */
const nested = (cell: string): string =>
  `if(substring(${cell}, 1, 1) IN ('{', '[') AND position(${cell}, '\\n') = 0 AND isValidJSON(${cell}), ${cell}, toJSONString(${cell}))`

type CellSql = { isDefault?: string; text: string }

/** SQL that writes a stored value, and the condition under which it is left out. */
const cellSql: Record<ColumnKind, (cell: string, fallback: string) => CellSql> = {
  text: (cell) => ({ isDefault: `${cell} = ''`, text: `toJSONString(toString(${cell}))` }),
  json: (cell) => ({ isDefault: `${cell} = ''`, text: nested(cell) }),
  optional: (cell) => ({ isDefault: `isNull(${cell})`, text: `toJSONString(assumeNotNull(${cell}))` }),
  choice: (cell) => ({ text: `toJSONString(toString(${cell}))` }),
  number: (cell, fallback) => ({ isDefault: `${cell} = ${fallback}`, text: `toString(${cell})` }),
  list: (cell) => ({ isDefault: `empty(${cell})`, text: `toJSONString(${cell})` }),
  map: (cell) => ({ isDefault: `empty(${cell})`, text: `toJSONString(${cell})` }),
  jsonMap: (cell) => ({ isDefault: `empty(${cell})`, text: `toJSONString(${cell})` }),
}

/**
 * The line, without its end. The topic's first column must be among the cells.
 */
export function rowSql(topic: DeclaredTopic, cells: Cells): string {
  const parts: string[] = []
  for (const [name, { kind, fallback = '0' }] of Object.entries(topic.columns)) {
    const cell = cells[name]
    if (cell === undefined) continue
    const { isDefault, text } = cellSql[kind](cell, fallback)
    if (parts.length === 0) parts.push(`'{"${name}":'`, text)
    else if (isDefault === undefined) parts.push(`',"${name}":'`, text)
    else parts.push(`if(${isDefault}, '', concat(',"${name}":', ${text}))`)
  }
  const unknown = Object.keys(cells).find((name) => !Object.hasOwn(topic.columns, name))
  if (unknown !== undefined) throw new Error(`the topic ${topic.name} has no column ${unknown}`)
  return `concat(${[...parts, `'}'`].join(', ')})`
}
