// Parts of a call record that are built on tables which this build does not have: asked for, they are refused clearly.
import { fault } from '../../core/http/errors.ts'

type Includes = {
  include_costs?: boolean | undefined
  expand_columns?: readonly string[] | undefined
}

/** @throws Fault 400 when a part is asked for that cannot be given */
export function refuseUnavailable(input: Includes): void {
  if (input.include_costs) throw fault(400, 'include_costs is not available yet')
  if (input.expand_columns?.length) throw fault(400, 'expand_columns is not available yet')
}
