// JSON objects: values that are one, and the text of one whose members are texts.

/** Whether a value is what `JSON.parse` makes of `{…}`. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** JSON text of an object. @param members names, each with the JSON text of its value */
export function objectText(members: Iterable<readonly [name: string, json: string]> | Record<string, string>): string {
  const pairs = Symbol.iterator in members ? members : Object.entries(members)
  return `{${Array.from(pairs, ([name, json]) => `${JSON.stringify(name)}:${json}`).join(',')}}`
}
