/** Longest name of a file, in bytes, after an id of 32 characters and before `.part`. Most file systems allow 255. */
const LONGEST_BYTES = 180

/** Returns the name that somebody gave a file as a part of a path: it leads nowhere else, and every system can store it. */
export function safeFileName(name: string): string {
  const plain = name
    .normalize('NFC')
    .replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}/\\:*?"<>|]/gu, '_')
    .replace(/[. ]+$/, '')
  return plain === '' ? 'file' : shortened(plain)
}

/** Cuts the middle out, because programs go by the extension. */
function shortened(name: string): string {
  if (Buffer.byteLength(name) <= LONGEST_BYTES) return name
  const dot = name.lastIndexOf('.')
  const extension = dot === -1 ? '' : name.slice(dot)
  const end = Buffer.byteLength(extension) <= 20 ? extension : ''
  let start = ''
  for (const character of name) {
    if (Buffer.byteLength(start + character + end) > LONGEST_BYTES) break
    start += character
  }
  return start + end
}
