// Media types of bytes by their first characters, and the file extension of a media type.

type Signature = {
  mime: string
  at?: number
  /** Latin-1 text of the magic bytes. */
  magic: string
  /** A further condition where the magic is short or shared by several types. */
  and?: (head: Buffer) => boolean
}

const textAt = (at: number, text: string) => (head: Buffer) => head.toString('latin1', at, at + text.length) === text
const brand =
  (...names: string[]) =>
  (head: Buffer) =>
    names.includes(head.toString('latin1', 8, 12).trimEnd())
const holds = (text: string) => (head: Buffer) => head.includes(text, 0, 'latin1')
const office = (folder: string) => (head: Buffer) =>
  head.includes(folder, 0, 'latin1') &&
  (head.includes('[Content_Types].xml', 0, 'latin1') || head.includes('_rels/', 0, 'latin1'))
const zipType = (type: string) => textAt(30, `mimetype${type}`)

/** Version, layer, bit rate and sample rate of an MPEG audio frame are not the reserved values. */
function isMpegAudio(head: Buffer): boolean {
  const [sync, kind, rates] = [head[0] as number, head[1] as number, head[2] as number]
  if (head.length < 4 || sync !== 0xff || (kind & 0xe0) !== 0xe0 || (kind & 0x18) === 0x08 || (kind & 0x06) !== 0x02)
    return false
  if ((rates & 0xf0) === 0xf0 || (rates & 0xf0) === 0 || (rates & 0x0c) === 0x0c) return false
  // One sync word may be chance: the next frame must start where this one ends.
  const first =
    kind & 0x08
      ? [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
      : [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]
  const rate = [44100, 48000, 32000][(rates >> 2) & 3] as number
  const divisor = (kind & 0x18) === 0x18 ? 1 : (kind & 0x18) === 0x10 ? 2 : 4
  const samples = kind & 0x08 ? 144 : 72
  const next = Math.floor((samples * (first[rates >> 4] as number) * 1000) / (rate / divisor)) + ((rates >> 1) & 1)
  return head[next] === 0xff && ((head[next + 1] as number) & 0xfe) === (kind & 0xfe)
}

/** First match counts, so special forms stand before the general form that shares their magic. */
const signatures: Signature[] = [
  { mime: 'image/png', magic: '\x89PNG\r\n\x1a\n' },
  { mime: 'image/jpeg', magic: '\xff\xd8\xff' },
  { mime: 'image/gif', magic: 'GIF87a' },
  { mime: 'image/gif', magic: 'GIF89a' },
  { mime: 'image/webp', magic: 'RIFF', and: textAt(8, 'WEBP') },
  { mime: 'audio/wav', magic: 'RIFF', and: textAt(8, 'WAVE') },
  { mime: 'video/x-msvideo', magic: 'RIFF', and: textAt(8, 'AVI ') },
  {
    mime: 'image/bmp',
    magic: 'BM',
    and: (h) => h.length > 26 && h.readUInt32LE(6) === 0 && [12, 40, 52, 56, 64, 108, 124].includes(h.readUInt32LE(14)),
  },
  { mime: 'image/tiff', magic: 'II*\0' },
  { mime: 'image/tiff', magic: 'MM\0*' },
  { mime: 'image/vnd.adobe.photoshop', magic: '8BPS\0' },
  {
    mime: 'image/x-icon',
    magic: '\0\0\x01\0',
    and: (h) =>
      h.length > 22 &&
      h.readUInt16LE(4) > 0 &&
      h.readUInt16LE(4) < 64 &&
      h[9] === 0 &&
      h.readUInt32LE(18) === 6 + 16 * h.readUInt16LE(4),
  },
  { mime: 'image/jp2', magic: '\0\0\0\x0cjP  \r\n\x87\n' },
  { mime: 'image/jxl', magic: '\0\0\0\x0cJXL \r\n\x87\n' },
  { mime: 'image/avif', at: 4, magic: 'ftyp', and: brand('avif', 'avis') },
  { mime: 'image/heic', at: 4, magic: 'ftyp', and: brand('heic', 'heix', 'hevc', 'hevx', 'mif1', 'msf1') },
  { mime: 'audio/mp4', at: 4, magic: 'ftyp', and: brand('M4A', 'M4B', 'M4P') },
  { mime: 'video/quicktime', at: 4, magic: 'ftyp', and: brand('qt') },
  { mime: 'video/3gpp', at: 4, magic: 'ftyp', and: (h) => textAt(8, '3gp')(h) },
  { mime: 'video/mp4', at: 4, magic: 'ftyp' },
  { mime: 'application/pdf', magic: '%PDF-' },
  { mime: 'application/postscript', magic: '%!PS-' },
  { mime: 'text/rtf', magic: '{\\rtf' },
  { mime: 'audio/mpeg', magic: 'ID3', and: (h) => (h[3] as number) < 5 && (h[6] as number) < 128 },
  { mime: 'audio/mpeg', magic: '\xff', and: isMpegAudio },
  { mime: 'audio/flac', magic: 'fLaC' },
  {
    mime: 'audio/ogg',
    magic: 'OggS',
    and: (h) => holds('OpusHead')(h) || holds('\x01vorbis')(h) || holds('Speex   ')(h) || holds('\x7fFLAC')(h),
  },
  { mime: 'video/ogg', magic: 'OggS', and: holds('\x80theora') },
  { mime: 'application/ogg', magic: 'OggS' },
  { mime: 'audio/midi', magic: 'MThd\0\0\0\x06' },
  { mime: 'audio/amr', magic: '#!AMR' },
  { mime: 'audio/aiff', magic: 'FORM', and: (h) => textAt(8, 'AIFF')(h) || textAt(8, 'AIFC')(h) },
  { mime: 'audio/basic', magic: '.snd\0\0\0' },
  { mime: 'video/webm', magic: '\x1aE\xdf\xa3', and: holds('webm') },
  { mime: 'video/x-matroska', magic: '\x1aE\xdf\xa3' },
  { mime: 'video/x-flv', magic: 'FLV\x01' },
  { mime: 'video/x-ms-asf', magic: '0&\xb2u\x8ef\xcf\x11' },
  { mime: 'video/mpeg', magic: '\0\0\x01\xba' },
  { mime: 'video/mpeg', magic: '\0\0\x01\xb3' },
  { mime: 'application/epub+zip', magic: 'PK\x03\x04', and: zipType('application/epub+zip') },
  {
    mime: 'application/vnd.oasis.opendocument.text',
    magic: 'PK\x03\x04',
    and: zipType('application/vnd.oasis.opendocument.text'),
  },
  {
    mime: 'application/vnd.oasis.opendocument.spreadsheet',
    magic: 'PK\x03\x04',
    and: zipType('application/vnd.oasis.opendocument.spreadsheet'),
  },
  {
    mime: 'application/vnd.oasis.opendocument.presentation',
    magic: 'PK\x03\x04',
    and: zipType('application/vnd.oasis.opendocument.presentation'),
  },
  {
    mime: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    magic: 'PK\x03\x04',
    and: office('word/'),
  },
  {
    mime: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    magic: 'PK\x03\x04',
    and: office('xl/'),
  },
  {
    mime: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
    magic: 'PK\x03\x04',
    and: office('ppt/'),
  },
  { mime: 'application/java-archive', magic: 'PK\x03\x04', and: holds('META-INF/') },
  { mime: 'application/zip', magic: 'PK\x03\x04' },
  { mime: 'application/zip', magic: 'PK\x05\x06' },
  { mime: 'application/gzip', magic: '\x1f\x8b\x08' },
  { mime: 'application/x-bzip2', magic: 'BZh', and: (h) => textAt(4, '1AY&SY')(h) },
  { mime: 'application/x-xz', magic: '\xfd7zXZ\0' },
  { mime: 'application/zstd', magic: '\x28\xb5\x2f\xfd' },
  { mime: 'application/x-lz4', magic: '\x04"M\x18' },
  { mime: 'application/x-7z-compressed', magic: "7z\xbc\xaf'\x1c" },
  { mime: 'application/vnd.rar', magic: 'Rar!\x1a\x07' },
  { mime: 'application/x-tar', at: 257, magic: 'ustar' },
  { mime: 'application/msword', magic: '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1' },
  {
    mime: 'application/vnd.microsoft.portable-executable',
    magic: 'MZ',
    and: (h) => h.length > 64 && textAt(h.readUInt32LE(60), 'PE\0\0')(h),
  },
  { mime: 'application/x-elf', magic: '\x7fELF' },
  { mime: 'application/wasm', magic: '\0asm\x01\0\0\0' },
  { mime: 'application/vnd.sqlite3', magic: 'SQLite format 3\0' },
  { mime: 'application/vnd.apache.parquet', magic: 'PAR1' },
  { mime: 'application/vnd.apache.arrow.file', magic: 'ARROW1\0\0' },
  { mime: 'application/x-hdf5', magic: '\x89HDF\r\n\x1a\n' },
  { mime: 'application/x-numpy', magic: '\x93NUMPY' },
  { mime: 'font/woff', magic: 'wOFF' },
  { mime: 'font/woff2', magic: 'wOF2' },
  {
    mime: 'font/ttf',
    magic: '\0\x01\0\0\0',
    and: (h) =>
      (h[5] as number) > 3 && (h[5] as number) < 64 && /^[A-Za-z0-9/ ]{4}$/.test(h.toString('latin1', 12, 16)),
  },
  { mime: 'font/otf', magic: 'OTTO\0' },
]

/** Markup is text and has no magic bytes; these openings are what browsers and `file` go by. */
const markup: [RegExp, string][] = [
  [/^<\?xml[\s\S]*?<svg[\s>]/i, 'image/svg+xml'],
  [/^(?:<!--[\s\S]*?-->\s*)?<svg[\s>]/i, 'image/svg+xml'],
  [/^<\?xml\s/i, 'text/xml'],
  [/^(?:<!--[\s\S]*?-->\s*)?<(?:!doctype\s+html|html|head|body)[\s>]/i, 'text/html'],
]

/** Number of bytes that decide. */
const headBytes = 2048

/** Media type by content, from the first 2048 bytes; null for plain text and for bytes of no known form. */
export function sniffMime(bytes: Buffer): string | null {
  const head = bytes.subarray(0, headBytes)
  const start = head.toString('latin1', 0, 300)
  for (const { mime, at = 0, magic, and } of signatures)
    if (start.startsWith(magic, at) && (and === undefined || and(head))) return mime
  const text = head.toString('latin1').replace(/^(?:\xef\xbb\xbf)?\s*/, '')
  if (text[0] !== '<') return null
  return markup.find(([opening]) => opening.test(text))?.[1] ?? null
}

const extensions: Record<string, string> = {
  'application/epub+zip': '.epub',
  'application/gzip': '.gz',
  'application/java-archive': '.jar',
  'application/javascript': '.js',
  'application/json': '.json',
  'application/jsonl': '.jsonl',
  'application/msword': '.doc',
  'application/ogg': '.ogx',
  'application/pdf': '.pdf',
  'application/postscript': '.ps',
  'application/vnd.adobe.photoshop': '.psd',
  'application/vnd.apache.arrow.file': '.arrow',
  'application/vnd.apache.parquet': '.parquet',
  'application/vnd.microsoft.portable-executable': '.exe',
  'application/vnd.ms-excel': '.xls',
  'application/vnd.ms-powerpoint': '.ppt',
  'application/vnd.oasis.opendocument.presentation': '.odp',
  'application/vnd.oasis.opendocument.spreadsheet': '.ods',
  'application/vnd.oasis.opendocument.text': '.odt',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': '.pptx',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': '.xlsx',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': '.docx',
  'application/vnd.rar': '.rar',
  'application/vnd.sqlite3': '.sqlite',
  'application/wasm': '.wasm',
  'application/x-7z-compressed': '.7z',
  'application/x-bzip2': '.bz2',
  'application/x-elf': '.elf',
  'application/x-hdf5': '.h5',
  'application/x-ndjson': '.jsonl',
  'application/x-numpy': '.npy',
  'application/x-tar': '.tar',
  'application/x-xz': '.xz',
  'application/xml': '.xml',
  'application/yaml': '.yaml',
  'application/zip': '.zip',
  'application/zstd': '.zst',
  'audio/aiff': '.aiff',
  'audio/basic': '.au',
  'audio/midi': '.mid',
  'audio/mp3': '.mp3',
  'audio/mp4': '.m4a',
  'audio/mpeg': '.mp3',
  'audio/ogg': '.ogg',
  'audio/vnd.wave': '.wav',
  'audio/wave': '.wav',
  'audio/x-wav': '.wav',
  'image/jpeg': '.jpg',
  'image/svg+xml': '.svg',
  'image/tiff': '.tiff',
  'image/vnd.adobe.photoshop': '.psd',
  'image/vnd.microsoft.icon': '.ico',
  'image/x-icon': '.ico',
  'text/csv': '.csv',
  'text/html': '.html',
  'text/javascript': '.js',
  'text/markdown': '.md',
  'text/plain': '.txt',
  'text/rtf': '.rtf',
  'text/x-python': '.py',
  'text/xml': '.xml',
  'video/3gpp': '.3gp',
  'video/mpeg': '.mpg',
  'video/ogg': '.ogv',
  'video/quicktime': '.mov',
  'video/x-flv': '.flv',
  'video/x-matroska': '.mkv',
  'video/x-ms-asf': '.asf',
  'video/x-msvideo': '.avi',
}

/** Extension with its dot: the usual one, else a short plain subtype as it is, else `.bin`. */
export function extensionOf(mime: string): string {
  const type = mime.toLowerCase()
  const known = Object.hasOwn(extensions, type) ? extensions[type] : undefined
  return known ?? /^[a-z]+\/(?:x-)?([a-z0-9]{2,8})$/.exec(type)?.[1]?.replace(/^/, '.') ?? '.bin'
}
