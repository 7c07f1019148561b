// The builtin object classes as tables of fields (specification: objects, section 2.3).
import { fault } from '../../core/http/errors.ts'
import { baseUrlFault } from '../../core/http/public-url.ts'
import { agentDashboard } from './agent-dashboard.ts'
import { isJsonSchema } from './json-schema.ts'
import { queryShape } from './query-nodes.ts'
import {
  array,
  boolean,
  defaulted,
  either,
  floatShape,
  integerShape,
  map,
  model,
  object,
  oneOf,
  optional,
  required,
  type Shape,
  type ShapeField,
  string,
  where,
} from './shapes.ts'

const strings = array(string)
const nestedBases = ['BaseModel']
const strictBases = ['BaseModelStrict', 'BaseModel']
const topBases = ['BaseObject', 'BaseModel']

const nested = (name: string, fields: Record<string, ShapeField>, bases: readonly string[] = nestedBases): Shape =>
  model({ name, bases, fields })

const top = (name: string, fields: Record<string, ShapeField>): Shape =>
  model({ name, bases: topBases, fields: { name: optional(string), description: optional(string), ...fields } })

const literal =
  (text: string): Shape =>
  (sent, at) => {
    if (sent !== text) throw fault(400, `${at} must be ${text}`)
    return sent
  }

const leaderboard = top('Leaderboard', {
  columns: required(
    array(
      nested('LeaderboardColumn', {
        evaluation_object_ref: required(string),
        scorer_name: required(string),
        summary_metric_path: required(string),
        should_minimize: optional(boolean),
      }),
    ),
  ),
})

const annotationSpec = top('AnnotationSpec', {
  field_schema: defaulted(where(object, isJsonSchema, 'a valid JSON Schema'), '{}'),
  unique_among_creators: defaulted(boolean, 'false'),
  op_scope: optional(strings),
})

const alertSpec = top('AlertSpec', {
  op_scope: optional(strings),
  spec: defaulted(
    model({
      name: 'WeaveMetricThresholdSpec',
      bases: nestedBases,
      unknown: 'keep',
      fields: {
        alert_condition: defaulted(string, '"THRESHOLD"'),
        source_type: defaulted(oneOf('calls', 'spans'), '"calls"'),
        comparison_operator: defaulted(oneOf('GREATER_THAN', 'LESS_THAN', 'EQUAL'), '"GREATER_THAN"'),
        metric_path: defaulted(string, '""'),
        op_str: defaulted(string, '""'),
        threshold: defaulted(floatShape, '0.0'),
        window_size: optional(integerShape),
        window_duration: optional(integerShape),
        monitor_ref: optional(string),
        scorer_ref: optional(string),
        aggregation_function: defaulted(oneOf('mean', 'median', 'min', 'max', 'mode', 'percentage', 'count'), '"mean"'),
        status_match_value: optional(string),
      },
    }),
    '{}',
  ),
})

const refusedHeaders = new Set(['metadata-flavor', 'x-aws-ec2-metadata-token', 'x-aws-ec2-metadata-token-ttl-seconds'])

const provider = (allowPrivate: boolean): Shape =>
  top('Provider', {
    base_url: required((text, at) => {
      const reason = baseUrlFault(JSON.parse(string(text, at)) as string, { allowPrivate })
      if (reason !== null) throw fault(400, `${at} ${reason}`)
      return text
    }),
    api_key_name: required(string),
    extra_headers: defaulted(
      map(string, (name, at) => {
        if (refusedHeaders.has(name.toLowerCase())) throw fault(400, `${at} must not hold ${name}`)
      }),
      '{}',
    ),
    return_type: defaulted(oneOf('openai'), '"openai"'),
  })

const providerModel = top('ProviderModel', { provider: required(string), max_tokens: required(integerShape) })

const callsFilter = nested(
  'CallsFilter',
  {
    op_names: optional(strings),
    input_refs: optional(strings),
    output_refs: optional(strings),
    parent_ids: optional(strings),
    trace_ids: optional(strings),
    call_ids: optional(strings),
    thread_ids: optional(strings),
    turn_ids: optional(strings),
    trace_roots_only: optional(boolean),
    // Part of the hashed value, hence the same under every wire prefix.
    wb_user_ids: optional(strings),
    wb_run_ids: optional(strings),
  },
  strictBases,
)

const objectConfig = nested('ObjectConfig', {
  version_groups: optional(
    array(
      nested('ObjectVersionGroup', {
        label: optional(string),
        base_ref: optional(string),
        versions: optional(either(literal('"*"'), strings)),
        show_version_indicator: optional(boolean),
      }),
    ),
  ),
  display_name_map: optional(map(string)),
  deselected: optional(strings),
})

const chartConfig = nested('ChartConfig', {
  x_axis: required(string),
  y_axis: required(string),
  plot_type: optional(oneOf('scatter', 'line', 'bar')),
  bin_count: optional(integerShape),
  aggregation: optional(oneOf('average', 'sum', 'min', 'max', 'p95', 'p99')),
  group_keys: optional(strings),
  custom_name: optional(string),
})

const savedView = top('SavedView', {
  view_type: required(string),
  label: required(string),
  definition: required(
    nested('SavedViewDefinition', {
      filter: optional(callsFilter),
      query: optional(queryShape),
      cols: optional(map(boolean)),
      columns: optional(
        array(nested('Column', { path: optional(array(either(string, integerShape))), label: optional(string) })),
      ),
      column_order: optional(strings),
      expand_columns: optional(strings),
      header_depth: optional(integerShape),
      pin: optional(nested('Pin', { left: required(strings), right: required(strings) })),
      sort_by: optional(
        array(nested('SortBy', { field: required(string), direction: required(oneOf('asc', 'desc')) }, strictBases)),
      ),
      page: optional(integerShape),
      page_size: optional(integerShape),
      charts: optional(array(chartConfig)),
      dataset_selector: optional(string),
      evaluation_selector: optional(string),
      dynamic_leaderboard_config: optional(
        nested('DynamicLeaderboardConfig', {
          model_configuration: optional(objectConfig),
          dataset_configuration: optional(objectConfig),
          scorer_configuration: optional(objectConfig),
          columns_configuration: optional(
            array(
              nested('DynamicLeaderboardColumnConfig', {
                evaluation_object_ref: optional(string),
                scorer_name: optional(string),
                display_name: optional(string),
                summary_metric_path: optional(string),
                should_minimize: optional(boolean),
                deselected: optional(boolean),
              }),
            ),
          ),
        }),
      ),
    }),
  ),
})

const comparisonView = top('ComparisonView', {
  label: required(string),
  definition: required(
    nested('ComparisonViewDefinition', {
      evaluation_call_ids: required(strings),
      selected_metrics: optional(strings),
      column_visibility: optional(map(boolean)),
    }),
  ),
})

const message = nested('Message', {
  role: required(string),
  content: optional(either(string, array(object))),
  name: optional(string),
  function_call: optional(object),
  tool_call_id: optional(string),
})

const completionModel = model({
  name: 'LLMStructuredCompletionModel',
  bases: ['Model', 'Object', 'BaseModel'],
  fields: {
    name: optional(string),
    description: optional(string),
    ref: optional(string),
    llm_model_id: required(string),
    default_params: defaulted(
      nested('LLMStructuredCompletionModelDefaultParams', {
        messages_template: optional(array(message)),
        prompt: optional(string),
        temperature: optional(floatShape),
        top_p: optional(floatShape),
        max_tokens: optional(integerShape),
        presence_penalty: optional(floatShape),
        frequency_penalty: optional(floatShape),
        stop: optional(strings),
        n_times: optional(integerShape),
        functions: optional(array(object)),
        response_format: optional(oneOf('json_object', 'json_schema', 'text')),
      }),
      '{}',
    ),
  },
})

export type BuiltinClass = { shape: Shape; baseClass: string }

/** Class name -> its shape and its base class. */
export function builtinClasses(options: { allowPrivateNetworks: boolean }): ReadonlyMap<string, BuiltinClass> {
  const tops: [string, Shape][] = [
    ['Leaderboard', leaderboard],
    ['AnnotationSpec', annotationSpec],
    ['AlertSpec', alertSpec],
    ['Provider', provider(options.allowPrivateNetworks)],
    ['ProviderModel', providerModel],
    ['SavedView', savedView],
    ['ComparisonView', comparisonView],
    ['AgentDashboard', agentDashboard],
  ]
  return new Map<string, BuiltinClass>([
    ...tops.map(([name, shape]): [string, BuiltinClass] => [name, { shape, baseClass: name }]),
    ['LLMStructuredCompletionModel', { shape: completionModel, baseClass: 'Model' }],
  ])
}
