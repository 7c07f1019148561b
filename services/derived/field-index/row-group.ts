// The payload rows of one project, part and hour, and the columns of their field values.
import { TextBuffer } from '../../core/memory/text-buffer.ts'
import { ValueColumn } from './columns.ts'
import { createRowTimes } from './row-times.ts'

/** Identity of a payload row. Times in microseconds. */
export type PayloadKey = { projectId: string; part: 'both' | 'start' | 'end'; us: number; clock: bigint | string }

const comma = 44

export class RowGroup {
  readonly projectId: string
  readonly part: PayloadKey['part']
  /** Times of the rows, in microseconds. */
  readonly #times: number[] = []
  /** Clocks of the rows, with a comma after each. */
  readonly #clocks = new TextBuffer()
  /** Columns by kind and path. */
  readonly #columns = new Map<string, ValueColumn>()

  constructor(projectId: string, part: PayloadKey['part']) {
    this.projectId = projectId
    this.part = part
  }

  /** Returns the place of the row. */
  addRow(us: number, clock: bigint | string): number {
    this.#clocks.add(String(clock))
    this.#clocks.addByte(comma)
    return this.#times.push(us) - 1
  }

  column(path: string, kind: number): ValueColumn {
    const name = `${kind} ${path}`
    let column = this.#columns.get(name)
    if (column === undefined) {
      column = new ValueColumn(path, kind)
      this.#columns.set(name, column)
    }
    return column
  }

  addAll(other: RowGroup): void {
    const rowsBefore = this.#times.length
    // As many arguments as there may be would not fit on the stack.
    for (const us of other.#times) this.#times.push(us)
    this.#clocks.addAll(other.#clocks)
    for (const column of other.#columns.values()) this.column(column.path, column.kind).addAll(column, rowsBefore)
  }

  /** JSON lines for the two tables. @param number of the group */
  lines(number: number): { values: string[]; group: string } {
    const times = createRowTimes(this.#times)
    const of = `"project_id":${JSON.stringify(this.projectId)},"part":"${this.part}","chunk":${number}`
    return {
      values: Array.from(this.#columns.values(), (column) => `{${of},${column.json(times)}}`),
      group: `{${of},${times.json()},"clock":[${this.#clocks.text(1)}]}`,
    }
  }
}
