// Prices that projects set.
import { micros, type TableDeclarations, word } from './declaration.ts'

export const costsTables = {
  costs: {
    about: 'Prices of models from a date on.',
    columns: `project_id String, id String, version UInt64, purged UInt8, created_at ${micros}, created_by ${word},
      llm_id ${word}, provider_id ${word}, effective_date ${micros}, prompt_token_cost Float64,
      completion_token_cost Float64, cache_read_input_token_cost Float64, cache_creation_input_token_cost Float64,
      prompt_token_cost_unit ${word}, completion_token_cost_unit ${word}`,
    engine: 'ReplacingMergeTree(version) ORDER BY (project_id, id)',
    views: ['costs_in_to_costs'],
    exported: {
      bytes: '600',
      cells: {
        clock: 'bitAnd(version, 9223372036854775807)',
        event: "if(purged = 1, 'purged', 'created')",
        user_id: 'created_by',
        effective_us: 'toUnixTimestamp64Micro(effective_date)',
      },
    },
  },
} as const satisfies TableDeclarations
