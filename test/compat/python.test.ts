// The published Python SDK traces a program against the server, and a client of it reads everything back.
// smoke: python
import { describe, it } from 'vitest'
import { installSdk, runPython, sdkVersion } from '../fixtures/python-sdk.ts'
import { checkTraced, type TracedReport } from '../fixtures/python-traced.ts'
import { sdkServer } from '../fixtures/sdk-server.ts'

describe(`Python SDK ${sdkVersion}`, () => {
  const server = sdkServer(installSdk)

  it('traces through the complete route and reads back', async () => {
    const { url, home } = server
    checkTraced(await runPython<TracedReport>('program.py', ['compat/python-complete'], { url, home }))
  })
})
