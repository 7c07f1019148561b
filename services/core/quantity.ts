// Numbers with their nouns, as the command line tells them.
const rules = new Intl.PluralRules('en')

/** `1 call is`, `3 calls are`. @param other of every number but one */
export const quantity = (count: number, one: string, other = `${one}s`): string =>
  `${count} ${rules.select(count) === 'one' ? one : other}`
