// Masking in a thread is charged to the request before its answer ends its account.
import { expect, it } from 'vitest'
import { runFor } from '../../services/core/process/running-handler.ts'
import type { Channel } from '../../services/core/threads/channel.ts'
import { remotePorts } from '../../services/core/threads/remote-ports.ts'

it('is told at once for a batch, and before the handler goes on', async () => {
  const sent: unknown[] = []
  const channel = {
    async ask(name: string, { value }: { value: unknown }) {
      sent.push([name, value])
      return { value: undefined, buffers: [] }
    },
  } as unknown as Channel
  const { onMasked, accountOf } = remotePorts(channel, () => undefined)
  const hits = { projectId: 'a/b', rule: 'r', detector: 'email', isDry: false }

  await runFor(accountOf(7), async () => {
    onMasked({ ...hits, hits: 2 })
    onMasked({ ...hits, hits: 3 })
    await Promise.resolve()
    sent.push('answer')
  })

  expect(sent).toEqual([['masked', { hits: [{ ...hits, hits: 5 }], request: 7 }], 'answer'])
})
