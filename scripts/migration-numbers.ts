// Checks the numbers and names of migrations: they run in the order of the numbers and are known by the names.

/** @param files names of the folder's files; the numbers are 0001, 0002 and so on, each once */
export function migrationFaults(files: readonly string[]): string[] {
  const found = files
    .filter((file) => file !== 'README.md')
    .map((file) => ({ file, form: /^(\d{4})_([a-z0-9_]+)\.sql$/.exec(file) }))
  const faults = found.flatMap(({ file, form }) => (form === null ? [`${file} must be called NNNN_name.sql`] : []))
  const [byNumber, byName] = [new Map<string, string>(), new Map<string, string>()]
  for (const { file, form } of found) {
    if (form === null) continue
    const [, number = '', name = ''] = form
    const [sameNumber, sameName] = [byNumber.get(number), byName.get(name)]
    if (sameNumber !== undefined) faults.push(`migration number ${number} is there twice: ${sameNumber}, ${file}`)
    if (sameName !== undefined) faults.push(`migration name ${name} is there twice: ${sameName}, ${file}`)
    byNumber.set(number, file)
    byName.set(name, file)
  }
  const last = Math.max(0, ...[...byNumber.keys()].map(Number))
  for (let number = 1; number <= last; number++) {
    const text = String(number).padStart(4, '0')
    if (!byNumber.has(text)) faults.push(`migration number ${text} is missing`)
  }
  return faults
}
