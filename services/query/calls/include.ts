// Parts of a call record that are built on tables which this build does not have: asked for, they are refused clearly.
import { fault } from '../../core/http/errors.ts'

type Includes = {
  include_costs?: boolean | undefined
  include_feedback?: boolean | undefined
  expand_columns?: readonly string[] | undefined
}

/** @throws Fault 400 when a part is asked for that cannot be given */
export function refuseUnavailable(input: Includes): void {
  for (const name of ['include_costs', 'include_feedback'] as const)
    if (input[name]) throw fault(400, `${name} is not available yet`)
  if (input.expand_columns?.length) throw fault(400, 'expand_columns is not available yet')
}
