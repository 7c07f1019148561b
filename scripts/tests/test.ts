// `npm test`: the tier that every change must pass. Words after it go to vitest: `npm test test/unit`.
import { missingFor } from './programs.ts'
import { readTestFiles, type Smoke, smokes, tierFaults } from './tiers.ts'
import { endWith, projectsOfTest, root, startVitest } from './vitest.ts'

const files = readTestFiles(root)
const [fault] = tierFaults(files)
if (fault) endWith(fault)
for (const smoke of Object.keys(smokes) as Smoke[]) {
  const missing = missingFor(smoke)
  const left = files.filter((file) => file.smoke === smoke).map(({ file }) => file)
  if (missing.length === 0 || left.length === 0) continue
  const line = `${left.join(', ')} cannot run without ${missing.join(' and ')}`
  if (process.env.CI) endWith(line)
  process.stderr.write(`left out: ${line}\n`)
}
process.exitCode = await startVitest([...projectsOfTest, ...process.argv.slice(2)])
