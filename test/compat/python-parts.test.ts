// tier: deep compat
// The same program as in python.test.ts, by starts and ends that are sent apart.
import { describe, it } from 'vitest'
import { installSdk, runPython, sdkVersion } from '../fixtures/python-sdk.ts'
import { checkTraced, type TracedReport } from '../fixtures/python-traced.ts'
import { sdkServer } from '../fixtures/sdk-server.ts'

describe(`Python SDK ${sdkVersion}`, () => {
  const server = sdkServer(installSdk)

  it('traces through starts and ends and reads back', async () => {
    const { url, home } = server
    checkTraced(
      await runPython<TracedReport>('program.py', ['compat/python-parts'], {
        url,
        home,
        env: { WEAVE_USE_CALLS_COMPLETE: 'false' },
      }),
    )
  })
})
