// The setting that names a bucket: `s3://<bucket>/<prefix>?endpoint=…&region=…`.

export type BucketSettings = {
  name: string
  /** '' or a path with a slash at its end. */
  prefix: string
  /** Address of an S3-compatible server other than the usual one. */
  endpoint: string | undefined
  region: string | undefined
}

const known = new Set(['endpoint', 'region'])
const bucketName = /^[a-z0-9][a-z0-9._-]{1,254}$/i

/** Null when the text names no bucket. Credentials do not belong here: they come from the SDK's usual places. */
export function parseBucketUrl(text: string): BucketSettings | null {
  const url = URL.parse(text)
  if (url === null || url.protocol !== 's3:' || url.username || url.password || url.port || url.hash) return null
  if (!bucketName.test(url.hostname)) return null
  for (const key of url.searchParams.keys()) if (!known.has(key)) return null
  const endpoint = url.searchParams.get('endpoint') ?? undefined
  if (endpoint !== undefined && !/^https?:\/\/[^\s/?#]+\/?$/.test(endpoint)) return null
  const region = url.searchParams.get('region') ?? (endpoint === undefined ? undefined : 'us-east-1')
  let path: string
  try {
    path = decodeURIComponent(url.pathname).replace(/^\/+|\/+$/g, '')
  } catch {
    return null
  }
  return { name: url.hostname, prefix: path === '' ? '' : `${path}/`, endpoint, region: region || undefined }
}
