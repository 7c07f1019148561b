// The `columns` of a call query: wire names to the neutral names of a record's fields.

const prefixed = ['user_id', 'run_id', 'run_step', 'run_step_end']

/** Top-level neutral names; null = all. Unknown names stay and show nothing. */
export function requestedColumns(
  columns: readonly string[] | undefined,
  names: { wirePrefix: string; wireAliases: boolean },
): ReadonlySet<string> | null {
  if (!columns?.length) return null
  const spellings = names.wireAliases ? [names.wirePrefix, 'wb'] : [names.wirePrefix]
  return new Set(
    columns.map((column) => {
      const [top = ''] = column.split('.')
      const name = top.endsWith('_dump') ? top.slice(0, -5) : top
      for (const spelling of spellings) for (const field of prefixed) if (name === `${spelling}_${field}`) return field
      return prefixed.includes(name) ? '' : name
    }),
  )
}
