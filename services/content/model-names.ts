// Names of models as gateways, clouds and frameworks wrap them: by which rules a name becomes that of its model.

export type NameRule = {
  /** The part that is removed, as `explain-cost` names it. */
  name: string
  pattern: RegExp
  /** Text or function, as `replace` takes it. */
  by: string | ((...found: string[]) => string)
  /** A name of that kind, and what it becomes. */
  example: readonly [wrapped: string, plain: string]
}

/** Gateways bill what the provider does; makers are named by most of them. Hosts of open models have prices of their own. */
const gateways =
  'openrouter|litellm|litellm_proxy|portkey|helicone|vercel|requesty|langdb|ai-gateway|gateway|eden|martian|orq|truefoundry'
const makers =
  'openai|azure|azure_ai|azure-openai|azure_openai|anthropic|google|gemini|google-ai-studio|google-vertex|google-vertex-ai|google_genai|google_vertexai|google-gla|vertex|vertex_ai|vertexai|bedrock|bedrock_converse|aws|amazon|amazon-bedrock|aws-bedrock|mistral|mistralai|deepseek|xai|x-ai|grok|cohere|perplexity|groq|meta|meta-llama|moonshot|moonshotai|zai|z-ai|minimax|qwen|dashscope|cerebras|fireworks|fireworks_ai|together|together_ai'
const bedrockMakers =
  'anthropic|amazon|meta|mistral|cohere|ai21|deepseek|openai|qwen|moonshot|moonshotai|minimax|zai|google|nvidia|writer'

/** The rules have no order: the price that needs the fewest of them counts. */
export const nameRules: readonly NameRule[] = [
  {
    name: 'gateway in front',
    pattern: new RegExp(`^(?:${gateways})[/:]`, 'i'),
    by: '',
    example: ['openrouter/google/gemini-2.5-flash', 'google/gemini-2.5-flash'],
  },
  {
    name: 'provider before a slash',
    pattern: new RegExp(`^(?:${makers})/`, 'i'),
    by: '',
    example: ['openai/gpt-4o', 'gpt-4o'],
  },
  {
    name: 'provider before a colon',
    pattern: new RegExp(`^(?:${makers}):`, 'i'),
    by: '',
    example: ['openai:gpt-4o', 'gpt-4o'],
  },
  {
    name: "path of Google's API",
    pattern: /^(?:projects\/[^/]+\/locations\/[^/]+\/)?(?:publishers\/[^/]+\/)?models\//,
    by: '',
    example: ['projects/p/locations/us-central1/publishers/google/models/gemini-2.5-pro', 'gemini-2.5-pro'],
  },
  {
    name: 'ARN of Bedrock',
    pattern:
      /^(?:bedrock\/)?arn:aws[\w-]*:bedrock:[^:]*:\d*:(?:inference-profile|foundation-model|default-prompt-router)\//,
    by: '',
    example: [
      'arn:aws:bedrock:us-east-1:111122223333:inference-profile/us.anthropic.claude-haiku-4-5-20251001-v1:0',
      'us.anthropic.claude-haiku-4-5-20251001-v1:0',
    ],
  },
  {
    name: 'interface or region of Bedrock before a slash',
    pattern: /^(?:converse|converse_like|invoke|[a-z]{2}(?:-gov)?-[a-z]+-\d)\//,
    by: '',
    example: ['us-east-1/anthropic.claude-sonnet-4-5-20250929-v1:0', 'anthropic.claude-sonnet-4-5-20250929-v1:0'],
  },
  {
    name: 'region of Bedrock',
    pattern: new RegExp(`^(?:us|us-gov|eu|apac|ap|au|jp|ca|sa|me|af|uk|in|global)\\.(?=(?:${bedrockMakers})\\.)`),
    by: '',
    example: ['us.anthropic.claude-opus-4-6-v1:0', 'anthropic.claude-opus-4-6-v1:0'],
  },
  {
    name: 'maker in a name of Bedrock',
    pattern: new RegExp(`^(?:${bedrockMakers})\\.(?=[a-z])`),
    by: '',
    example: ['anthropic.claude-opus-4-6', 'claude-opus-4-6'],
  },
  {
    name: 'version of Bedrock',
    pattern: /(?:-v\d+(?::\d+)?|:\d+)(?::\d+k|:mm)?$/,
    by: '',
    example: ['anthropic.claude-opus-4-6-v1:0', 'anthropic.claude-opus-4-6'],
  },
  {
    name: 'version of Vertex',
    pattern: /@(?:\d{3,8}|default|latest)$/,
    by: '',
    example: ['claude-sonnet-4-5@20250929', 'claude-sonnet-4-5'],
  },
  {
    name: 'region behind an @',
    pattern: /@(?:[a-z]+(?:-[a-z]+)+-?\d+|us|eu|global)$/,
    by: '',
    example: ['claude-sonnet-4-5@us-east5', 'claude-sonnet-4-5'],
  },
  {
    name: 'deployment of Fireworks',
    pattern: /#accounts\/.+$/,
    by: '',
    example: [
      'accounts/fireworks/models/llama-v3p3-70b-instruct#accounts/a/deployments/d',
      'accounts/fireworks/models/llama-v3p3-70b-instruct',
    ],
  },
  {
    name: 'fine-tuned model of OpenAI',
    pattern: /^ft:([^:]+):.*$/,
    by: 'ft:$1',
    example: ['ft:gpt-4o-mini-2024-07-18:my-org:custom:abc123', 'ft:gpt-4o-mini-2024-07-18'],
  },
  {
    name: 'fine-tuned model of Azure',
    pattern: /^([\w.-]+?)\.ft-[\w-]+$/,
    by: 'ft:$1',
    example: ['gpt-4o-2024-08-06.ft-0123456789abcdef-suffix', 'ft:gpt-4o-2024-08-06'],
  },
  {
    // `:free` costs nothing: it is no other way to the same price.
    name: 'variant of OpenRouter',
    pattern: /:(?:nitro|floor|online|extended|beta|exacto|thinking)$/,
    by: '',
    example: ['anthropic/claude-3.7-sonnet:thinking', 'anthropic/claude-3.7-sonnet'],
  },
  {
    name: 'effort of reasoning',
    pattern:
      /^(.*\b(?:gpt-5[\w.]*(?:-mini|-nano|-codex)?|o[1-9](?:-mini|-pro)?))(?:-(?:none|minimal|low|medium|high|xhigh)|\((?:none|minimal|low|medium|high|xhigh)\))$/,
    by: '$1',
    example: ['o3-mini-high', 'o3-mini'],
  },
  {
    name: 'dot in a version of Claude',
    pattern: /^(.*claude.*\d)\.(\d.*)$/i,
    by: '$1-$2',
    example: ['anthropic/claude-sonnet-4.5', 'anthropic/claude-sonnet-4-5'],
  },
  {
    name: 'order of the words of Claude',
    pattern: /^claude-([4-9])(?:-(\d))?-(opus|sonnet|haiku)\b/,
    by: (_, major = '', minor = '', size = '') => `claude-${size}-${major}${minor && `-${minor}`}`,
    example: ['claude-4-5-sonnet', 'claude-sonnet-4-5'],
  },
  {
    name: 'name without `-latest`',
    pattern:
      /^(claude-3-[\w-]+|gpt-4o-audio-preview|mistral-(?:large|medium|small)|codestral|pixtral-large|ministral-\db)$/,
    by: '$1-latest',
    example: ['mistral-large', 'mistral-large-latest'],
  },
  {
    name: 'latest version',
    pattern: /[-:]latest$/,
    by: '',
    example: ['gpt-5-latest', 'gpt-5'],
  },
  {
    name: 'date of a version',
    pattern: /-(?:20\d\d-\d\d-\d\d|20\d{6}|\d\d-20\d\d|\d\d-\d\d)$/,
    by: '',
    example: ['gpt-5-2027-01-31', 'gpt-5'],
  },
  {
    name: 'capitals and spaces',
    pattern: /^(?=.*[A-Z ]).*$/,
    by: (name = '') => name.trim().toLowerCase().replaceAll(/\s+/g, '-'),
    example: ['Claude Sonnet 4-5', 'claude-sonnet-4-5'],
  },
]

/** A name that another one may stand for, and the rules that lead there. */
export type UnwrappedName = { name: string; rules: readonly string[] }

/** Names of one name, itself among them; longer ones are no names of models. */
const maxNames = 200
const maxLength = 300

/** A name as it is, then what rules make of it: those that fewer rules lead to first. */
export function* unwrappedNames(model: string): Generator<UnwrappedName> {
  const seen = new Set([model])
  const waiting: UnwrappedName[] = [{ name: model, rules: [] }]
  for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
    yield one
    if (one.name.length > maxLength) return
    for (const { name: rule, pattern, by } of nameRules) {
      const name = one.name.replace(pattern, by as string)
      if (name === '' || seen.has(name) || seen.size >= maxNames) continue
      seen.add(name)
      waiting.push({ name, rules: [...one.rules, rule] })
    }
  }
}

/** Prefixes of model names that their makers gave them: anything else may be an alias. */
const givenNames =
  /^(?:ft:)?(?:gpt-|chatgpt-|o[1-9](?:-|$)|text-embedding-|claude-|gemini-|gemma-|mistral-|ministral-|codestral|pixtral|magistral|deepseek-|grok-|command-|embed-|rerank-|sonar|llama-?\d|qwen|kimi-|moonshot-|glm-|minimax-|nova-)/

const isGiven = (model: string): boolean => unwrappedNames(model).some(({ name }) => givenNames.test(name))

/** The name that the usage of an answer is of: as it was asked for, or of the model that answered an alias. */
export function answeredName(asked: string, answered: string): string {
  if (asked === '') return answered
  return isGiven(answered) && !isGiven(asked) ? answered : asked
}
