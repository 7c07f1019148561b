// Masks what the items of a batch in the memory of the WebAssembly module hold, before their rows are written.
import { Buffer } from 'node:buffer'
import { inlineTextLength } from '../../content/content-port.ts'
import type { AnchorsIn, KeyEndings } from '../../content/masking/anchors.ts'
import type { Masker } from '../../content/masking/masker.ts'
import * as layout from './assembly/layout.ts'
import {
  attributesPayload,
  inputsPayload,
  outputPayload,
  type PayloadOwner,
  rewrittenText,
  summaryPayload,
} from './payload-texts.ts'

/** Longer bodies of projects that are masked are read by JavaScript: what is masked may take several times as long. */
const maxMaskedBodyBytes = 512 * 1024
/** Most bytes of texts that were masked: names of rules may be much longer than what they stand for. */
const maxMaskedBytes = 2 * 1024 * 1024
/** The same of payloads in which something may have to be masked; a text that masking alone makes longer is no content. */
const maxMaskedPayload = inlineTextLength

/** The masked texts of each side of a call: its payloads, and the texts beside them. */
const maskedPayloads = [
  { side: layout.isStart, field: layout.attributes, rules: attributesPayload },
  { side: layout.isStart, field: layout.inputs, rules: inputsPayload },
  { side: layout.isEnd, field: layout.output, rules: outputPayload },
  { side: layout.isEnd, field: layout.summary, rules: summaryPayload },
]
const maskedTexts = [
  { side: layout.isStart, field: layout.displayName, name: 'display_name' },
  { side: layout.isStart, field: layout.threadId, name: 'thread_id' },
  { side: layout.isStart, field: layout.turnId, name: 'turn_id' },
  { side: layout.isStart, field: layout.opName, name: 'op_name' },
  { side: layout.isEnd, field: layout.exception, name: 'exception' },
] as const

/** Nothing is taken out of what is masked here. */
const nobody: PayloadOwner = {
  projectId: '',
  userId: '',
  masker: undefined,
  extraction: { extract: () => null, append: async () => [] },
}

type Maskers = readonly (Masker | undefined)[]
type Memory = { bytes: Uint8Array; view: DataView; buffer: Buffer }

/** @param memory as it is at the moment, and how to make it larger */
export function createBatchMasking(
  module: { anchorBits(start: number, end: number, any: number): number; readItems(): number },
  memory: { now(): Memory; reserve(sizeBytes: number): void },
) {
  /** Position of the entry of a field that a side of an item has, 0 when it has none. */
  function entryOf(item: number, { side, field }: { side: number; field: number }): number {
    const { view } = memory.now()
    if ((view.getInt32(item + layout.itemKind, true) & side) === 0) return 0
    const entry = item + layout.itemFields + field * layout.fieldBytes
    return view.getUint32(entry, true) === 0 ? 0 : entry
  }
  const startAt = (entry: number): number => memory.now().view.getUint32(entry, true)
  const endAt = (entry: number): number => memory.now().view.getUint32(entry + 4, true)
  const textAt = (entry: number): string => memory.now().buffer.toString('utf8', startAt(entry), endAt(entry))

  /** Takes those refs that are no longer there out of what a side takes in or gives out. */
  function keepRefs(item: number, side: number, refs: ReadonlySet<string>): void {
    const list = item + (side === layout.isEnd ? layout.itemOutputRefs : layout.itemInputRefs)
    const { view, buffer } = memory.now()
    const end = view.getInt32(list + 4, true)
    let kept = view.getInt32(list, true)
    for (let n = kept; n < end; n++) {
      const from = layout.refs + n * 8
      const text = buffer.toString('utf8', view.getUint32(from, true), view.getUint32(from + 4, true))
      if (!refs.has(text)) continue
      view.setBigUint64(layout.refs + kept * 8, view.getBigUint64(from, true), true)
      kept++
    }
    view.setInt32(list + 4, kept, true)
  }

  /** The endings that are in the memory: projects of one installation mostly have the same rules. */
  let endingsThere: KeyEndings | undefined

  /** The same as `anchorsIn`, for the contents of the memory. */
  const anchorsHere: AnchorsIn = (_, start, end, endings) => {
    if (endings === 'any') return module.anchorBits(start, end, 1)
    if (endings !== endingsThere)
      endings.places.forEach((place, n) => {
        memory.now().bytes.set(new Uint8Array(place.buffer), layout.endings + n * place.byteLength)
      })
    endingsThere = endings
    return module.anchorBits(start, end, 0)
  }

  const anchorsAt = (masker: Masker, entry: number): number =>
    masker.anchors(memory.now().bytes, startAt(entry), endAt(entry), anchorsHere)

  /** Whether something may be masked among texts that would then be content. */
  const isBeyond = (item: number, masker: Masker): boolean =>
    maskedPayloads.some((one) => {
      const entry = entryOf(item, one)
      if (entry === 0 || endAt(entry) - startAt(entry) <= maxMaskedPayload) return false
      return anchorsAt(masker, entry) !== 0
    })

  /** Calls `visit` for each item of a masked project; true ends it. @returns whether it was ended */
  function someItem(maskers: Maskers, visit: (item: number, masker: Masker) => boolean): boolean {
    for (let n = 0; n < module.readItems(); n++) {
      const item = layout.itemTable + n * layout.itemBytes
      const masker = maskers[memory.now().view.getInt32(item + layout.itemProject, true)]
      if (masker !== undefined && visit(item, masker)) return true
    }
    return false
  }

  /** JSON text of a payload of an item with its values masked; undefined when that changes nothing. */
  function maskedPayload(item: number, one: (typeof maskedPayloads)[number], masker: Masker): string | undefined {
    const entry = entryOf(item, one)
    const present = entry === 0 ? 0 : anchorsAt(masker, entry)
    if (present === 0) return undefined
    const json = textAt(entry)
    const { text } = masker.json(one.rules.field, json, present)
    if (text === json) return undefined
    const refs = new Set<string>()
    const kept = rewrittenText(text, one.rules, nobody, refs)
    if (one.rules.refs) keepRefs(item, one.side, refs)
    return kept
  }

  /** The same of a text beside them. */
  function maskedText(item: number, one: (typeof maskedTexts)[number], masker: Masker): string | undefined {
    const entry = entryOf(item, one)
    if (entry === 0 || memory.now().bytes[startAt(entry)] !== 34) return undefined
    if (!masker.isPlaced(one.name) && anchorsAt(masker, entry) === 0) return undefined
    const text = JSON.parse(textAt(entry)) as string
    const masked = masker.text(one.name, text).text
    return masked === text ? undefined : JSON.stringify(masked.toWellFormed())
  }

  /**
   * @param maskers of the projects
   * @param from position from which on masked texts are written
   * @returns the position behind them; null when JavaScript has to read the batch. Nothing was masked then, but where what
   * was masked takes too much memory: its hits are counted twice.
   */
  const mask = (maskers: Maskers, bodyBytes: number, from: number): number | null => {
    if (maskers.every((masker) => masker === undefined)) return from
    if (bodyBytes > maxMaskedBodyBytes || someItem(maskers, isBeyond)) return null
    maskers.forEach((masker, n) => {
      const project = layout.projects + n * layout.projectBytes
      memory.now().view.setUint32(project + layout.projectMask, masker?.version ?? 0, true)
    })
    let end = from
    let isTooMuch = false
    const replace = (item: number, field: number, text: string | undefined): void => {
      if (text === undefined || isTooMuch) return
      const entry = item + layout.itemFields + field * layout.fieldBytes
      const size = Buffer.byteLength(text)
      isTooMuch = end + size > from + maxMaskedBytes
      if (isTooMuch) return
      memory.reserve(end + size)
      const { buffer, view } = memory.now()
      buffer.write(text, end)
      view.setUint32(entry, end, true)
      view.setUint32(entry + 4, end + size, true)
      end += size
    }
    someItem(maskers, (item, masker) => {
      const before = masker.hits()
      for (const one of maskedPayloads) replace(item, one.field, maskedPayload(item, one, masker))
      for (const one of maskedTexts) replace(item, one.field, maskedText(item, one, masker))
      memory.now().view.setUint32(item + layout.itemMasked, masker.hits() - before, true)
      return isTooMuch
    })
    return isTooMuch ? null : end
  }
  return { mask, anchorsHere }
}
