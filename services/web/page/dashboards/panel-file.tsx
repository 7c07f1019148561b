// What a panel shows as a file: its figures as they were answered, not as they are rounded for reading.
import { csvLine } from '../engine/csv.ts'
import { saveFile } from '../parts/save-file.ts'

type Row = readonly (string | number | null)[]

type Props = { title: string; columns: readonly string[]; rows(): readonly Row[] }

/** Numbers as they are, nothing for null. */
const lineOf = (row: Row): string => csvLine(row.map((value) => (value === null ? '' : String(value))))

export const CsvButton = ({ title, columns, rows }: Props) => (
  <button
    type="button"
    className="quiet"
    aria-label={`${title} as CSV`}
    onClick={() => {
      const file = new Blob([csvLine(columns), ...rows().map(lineOf)], { type: 'text/csv' })
      saveFile(file, `${title.toLowerCase().replaceAll(' ', '-')}.csv`)
    }}
  >
    CSV
  </button>
)
