// `callhouse erase`: deletes calls, and has everything about them removed for good.
import { type ErasureResponse, erasureRequest } from '../../schemas/erasures.ts'
import type { Config } from '../app/config.ts'
import { quantity } from '../core/quantity.ts'
import { withRoutes } from './ask-route.ts'
import { print, UsageError } from './command.ts'
import { paramsOf } from './projects.ts'

/** One of the flags `calls`, `traces`, `threads` and `users` says which; `reason` says why. */
export async function eraseCalls(config: Config, project: string, flag: (name: string) => string): Promise<void> {
  paramsOf(project)
  const ids = (name: string) => (flag(name) === '' ? undefined : flag(name).split(','))
  const asked = erasureRequest.safeParse({
    project_id: project,
    call_ids: ids('calls'),
    trace_ids: ids('traces'),
    thread_ids: ids('threads'),
    user_ids: ids('users'),
    reason: flag('reason'),
  })
  if (!asked.success) {
    const [issue] = asked.error.issues
    if (issue?.path.length === 0) throw new UsageError('One of --calls, --traces, --threads and --users says what goes')
    throw new UsageError(`${issue?.path.join('.')}: ${issue?.message}`)
  }
  await withRoutes(config, async (ask) => {
    const erasure = await ask<ErasureResponse>('erasures.create', asked.data)
    const missing = erasure.missing === 0 ? '' : `, ${quantity(erasure.missing, 'id is', 'ids are')} of none`
    const deleted = quantity(erasure.calls, 'call is', 'calls are')
    print(`erasure ${erasure.erasure_id}: ${deleted} deleted${missing}; removed by ${erasure.deadline}`)
  })
}
