// Finds recorded texts that are HTML as a whole.

/** Longer texts are read as their source alone. */
const maxHtml = 65_536

/** Whether a text is a document or a piece of HTML as a whole, not words with a tag among them. */
export function isHtml(text: string): boolean {
  const whole = text.trim()
  return (
    whole.length <= maxHtml &&
    /^<(?:!doctype html|[a-z][a-z0-9]*)[\s>]/i.test(whole) &&
    /<\/[a-z][a-z0-9]*>$/i.test(whole)
  )
}
