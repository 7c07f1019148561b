// Reactions: tells whether a text is exactly one emoji, and gives its short code and its form without skin tones.
import names from 'unicode-emoji-json' with { type: 'json' }

export type Emoji = {
  /** Short code, e.g. `:thumbs_up_medium_skin_tone:`. */
  alias: string
  /** Without skin tone, fully qualified. */
  detoned: string
  detonedAlias: string
}

const variationSelectors = /\ufe0f/g
const tones = /[\u{1f3fb}-\u{1f3ff}]/gu
const toneNames = ['light', 'medium-light', 'medium', 'medium-dark', 'dark']
const misplacedTone = /(?<!\p{Emoji_Modifier_Base}\ufe0f?)[\u{1f3fb}-\u{1f3ff}]/u

/** Toned pairs that have no plain sequence of their own, with their names in Unicode CLDR, and the emoji they show. */
const pairs: readonly (readonly [sequence: string, name: string, shown: string])[] = [
  ['🫱‍🫲', 'handshake', '🤝'],
  ['👩‍🤝‍👩', 'women holding hands', '👭'],
  ['👩‍🤝‍👨', 'woman and man holding hands', '👫'],
  ['👨‍🤝‍👨', 'men holding hands', '👬'],
  ['🧑‍❤‍💋‍🧑', 'kiss person, person', '💏'],
  ['🧑‍❤‍🧑', 'couple with heart person, person', '💑'],
]

/** Three names of territories differ from the table's. */
const renamed: Record<string, string> = {
  '🇭🇲': 'flag Heard Island & McDonald Islands',
  '🇸🇭': 'flag St. Helena, Ascension & Tristan da Cunha',
  '🇹🇫': 'flag French Southern and Antarctic Lands',
}

type Known = { name: string; shown: string; takesTone: boolean; isPair: boolean }

const isFlag = (emoji: string): boolean => /^[\u{1f1e6}-\u{1f1ff}]{2}$|^\u{1f3f4}\u{e0067}/u.test(emoji)

let known: Map<string, Known> | undefined

/** Emoji by the sequence without variation selectors; built when the first reaction comes. */
function table(): Map<string, Known> {
  if (known) return known
  known = new Map()
  for (const [emoji, { name, skin_tone_support }] of Object.entries(names)) {
    const full = renamed[emoji] ?? name
    const shownName = isFlag(emoji) ? full.replace(/^flag /, '') : full
    known.set(emoji.replace(variationSelectors, ''), {
      name: shownName,
      shown: emoji,
      takesTone: skin_tone_support,
      isPair: false,
    })
  }
  for (const [sequence, name, shown] of pairs) known.set(sequence, { name, shown, takesTone: true, isPair: true })
  return known
}

const shortCode = (name: string): string =>
  `:${name
    .replaceAll(' - ', '-')
    .replace(/[:,] /g, '_')
    .replaceAll(' ', '_')
    .replace(/[:,“”]/g, '')}:`

/** CLDR names hair and beards after the tones of the person, but the people of a couple before them. */
const afterTones = /^(.*) ((?:red|curly|white) hair|bald|blond hair|beard)$/

function tonedName(name: string, toneWords: string): string {
  const [, person, feature] = afterTones.exec(name) ?? []
  return person === undefined ? `${name}, ${toneWords}` : `${person}, ${toneWords}, ${feature}`
}

/** Null when the text is not exactly one emoji. */
export function readEmoji(text: string): Emoji | null {
  if (text.includes('\ufe0f\ufe0f') || misplacedTone.test(text)) return null
  const bare = text.replace(variationSelectors, '')
  const found = bare.match(tones) ?? []
  const entry = table().get(bare.replace(tones, ''))
  if (entry === undefined) {
    // Newer than the table: an emoji all the same, without a name.
    if (!/^\p{RGI_Emoji}$/v.test(text)) return null
    return { alias: text, detoned: text, detonedAlias: text }
  }
  if (found.length > 2 || (found.length > 0 && !entry.takesTone) || (found.length === 0 && entry.isPair)) return null
  const plain = table().get(entry.shown.replace(variationSelectors, '')) ?? entry
  const detonedAlias = shortCode(plain.name)
  if (found.length === 0) return { alias: detonedAlias, detoned: entry.shown, detonedAlias }
  const words = [...new Set(found)].map((tone) => `${toneNames[(tone.codePointAt(0) as number) - 0x1f3fb]} skin tone`)
  return { alias: shortCode(tonedName(entry.name, words.join(', '))), detoned: entry.shown, detonedAlias }
}
