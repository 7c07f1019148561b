// The decoders of OTLP messages are those of the definitions in schemas/otlp.
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { messagesFile, otlpMessages } from '../../scripts/otlp-messages.ts'

it('messages.mjs is what protobufjs makes of the definitions: npm run otlp', async () => {
  expect(readFileSync(messagesFile, 'utf8') === (await otlpMessages())).toBe(true)
})
