// Dialogs of the page end in one way: what does something has Cancel before it, what only shows has the cross alone.
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const page = fileURLToPath(new URL('../../services/web/page', import.meta.url))
const sources = globSync('**/*.tsx', { cwd: page })
  .filter((file) => file !== 'parts/dialog.tsx')
  .map((file) => ({ file, text: readFileSync(`${page}/${file}`, 'utf8') }))
const withDialog = sources.filter(({ text }) => /<Dialog\b/.test(text))

it('forms in dialogs end with the buttons that all dialogs share', () => {
  expect(withDialog.length).toBeGreaterThan(20)
  // Of a session that has ended there is no way back.
  const forms = withDialog.filter(({ file, text }) => /type="submit"/.test(text) && file !== 'sign-in/sign-in.tsx')
  expect(forms.length).toBeGreaterThan(5)
  for (const { file, text } of forms) expect(text, file).toContain('<DialogActs')
})

it('no dialog writes a Cancel of its own', () => {
  for (const { file, text } of withDialog) expect(text, file).not.toMatch(/<Button onClick=\{\w+\}>(?:Cancel|Done)</)
})
