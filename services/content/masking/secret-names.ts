// Finds names whose value is a secret: by their last words, whatever comes before them and however it is spelled.

/**
 * Names whose texts are hidden without any rule (content/redact.ts), in small letters without `_` and `-`: so spelled, or
 * ending so. Rules mask them too.
 */
export const hiddenNames = {
  whole: [
    'authheaders',
    'authorization',
    'authtoken',
    'awsaccesskey',
    'awsaccesskeyid',
    'bearertoken',
    'cloudcredentials',
    'vertexcredentials',
    'webhookkey',
    'webhooksecret',
  ],
  endings: [
    'accesstoken',
    'apikey',
    'apitoken',
    'clientsecret',
    'privatekey',
    'refreshtoken',
    'secretaccesskey',
    'secretkey',
    'sessiontoken',
  ],
} as const

/**
 * Endings of names of secrets, by their letters alone: `githubToken`, `github-token` and `GITHUB_TOKEN` are the same.
 */
const endings = [
  ...hiddenNames.whole,
  ...hiddenNames.endings,
  'password',
  'passwords',
  'passwd',
  'passphrase',
  'passcode',
  'pwd',
  'secret',
  'secrets',
  'token',
  'cookie',
  'cookies',
  'credential',
  'credentials',
  'apikeys',
  'accesskeyid',
  'connectionstring',
  'connstring',
  'connstr',
]

/** Words before `key` that make it secret: other keys are those of tables, of caches, or public. */
const keysOf = [
  'access',
  'account',
  'api',
  'app',
  'auth',
  'consumer',
  'decryption',
  'encryption',
  'hmac',
  'license',
  'master',
  'private',
  'secret',
  'service',
  'session',
  'shared',
  'signature',
  'signing',
  'ssh',
  'storage',
  'subscription',
  'webhook',
]

/** Last words that are the end of others, too (`compass`): they count by themselves. */
const wholeWords = ['pass', 'jwt', 'otp', 'creds', 'bearer']

/** Words before `token` where it is a piece of text, or its place: tokens of models, not of doors. */
const piecesOfText =
  'added bos cls completion cached end eos first image input last mask max min new next num output pad page continuation per prompt reasoning sep special start stop sync total unk'.split(
    ' ',
  )
const isPieceOfText = new RegExp(`(?:^|[^a-z])(?:${piecesOfText.join('|')})token$`)
/** Words before `pass` where it means a run through something. */
const isRun = /(?:first|second|third|next|last|single|forward|backward|multi|one|two|by|test|can|did|must|should)pass$/
/** Working directories, among the variables of a process. */
const directories = new Set(['PWD', 'OLDPWD'])

const allEndings = [...endings, ...keysOf.map((word) => `${word}key`)]
const secretEnding = new RegExp(`(?:${allEndings.join('|')})$`)
/** Numbers, and lists without texts, are none of these: they count, or name pieces of text. */
const noNumbers = /(?:tokens?|pass|cookies?|creds|credentials?|bearer|authorizations?)$/

/** Ends of the normalised names that may be those of secrets. */
export const secretNameEndings: readonly string[] = [...allEndings, ...wholeWords]

/** Longer ones are no names. */
const maxName = 256

/** The words of a name in small letters, with a space between two. */
const wordsOf = (name: string): string =>
  name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .replace(/[^A-Za-z]+/g, ' ')
    .trim()
    .toLowerCase()

/** Last words of names that say so of parameters in addresses alone. */
const addressWords = ['sig', 'signature']
export const addressNameEndings: readonly string[] = addressWords

/** Shorter values of parameters whose names may say something else are none. */
const minValue = 16
/** Words, numbers, and names such as `page2`. */
const plainWords = /^[a-z]*\d*(?:[^a-z\d][a-z]*\d*)*$/i
/** The characters of keys: paths and names of files have others. */
const keyForm = /^[\w~-]+$/

/** Whether a parameter of an address holds a secret: `key` alone names much else. */
export function isSecretParameter(name: string, value: string): boolean {
  if (asSecretName(name) !== null) return true
  if (value.length < minValue || plainWords.test(value)) return false
  const words = wordsOf(name)
  return addressWords.includes(words.slice(words.lastIndexOf(' ') + 1)) || (words === 'key' && keyForm.test(value))
}

export type SecretName = { takesNumbers: boolean }

function lookAt(name: string): SecretName | null {
  if (directories.has(name)) return null
  const words = wordsOf(name)
  const letters = words.replaceAll(' ', '')
  const last = words.slice(words.lastIndexOf(' ') + 1)
  const is = secretEnding.test(letters) || wholeWords.includes(last)
  if (!is || isRun.test(letters) || isPieceOfText.test(words.replace(/ (\w+)$/, '$1'))) return null
  return { takesNumbers: !noNumbers.test(letters) }
}

const known = new Map<string, SecretName | null>()
const maxKnown = 4096

/** The facts about a name whose value is a secret; null for others. */
export function asSecretName(name: string): SecretName | null {
  if (name.length > maxName) return null
  const seen = known.get(name)
  if (seen !== undefined) return seen
  const found = lookAt(name)
  if (known.size >= maxKnown) known.clear()
  known.set(name, found)
  return found
}

/** A type of JSON Schema: it says what a secret looks like. */
const schemaType = /"type"\s*:\s*(?:\[\s*)?"(?:string|object|array|integer|number|boolean|null)"/
const hasValue = /"(?:value|data)"\s*:/
/** So much of an object tells whether it is a schema. */
const schemaLength = 2_000

/** @param json text of the value under the name */
export function isSecretValue({ takesNumbers }: SecretName, json: string): boolean {
  const first = json.charAt(0)
  if (first === '"') return true
  if (first === 't' || first === 'f') return false
  if (first === '{' && json.length <= schemaLength && schemaType.test(json) && !hasValue.test(json)) return false
  return takesNumbers || ((first === '{' || first === '[') && json.includes('"'))
}
