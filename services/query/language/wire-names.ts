// Names that stand with a prefix on the wire. Answers spell them with the configured one; requests may use either, since a
// name that is passed over would select what was not asked for.

const spelled = /^(?:platform|wb)_(user_id|run_id|run_step|run_step_end)$/
const bare = new Set(['user_id', 'run_id', 'run_step', 'run_step_end'])

/** The name under which a field is stored; names without a prefix stay, and '' is what only a prefix makes a name. */
export const neutralName = (name: string): string => spelled.exec(name)?.[1] ?? (bare.has(name) ? '' : name)
