/** Hides what a server or the AWS SDK may repeat of a login: ids of keys, keys, signatures and tokens. */

/** Begins each message of Node about a program that failed. The command and its output follow. */
const OF_PROGRAM = /^Command failed\b/
const KEY_ID = /\bA(?:KI|SI|RO|ID|NP|BS|CC)A[A-Z0-9]{8,}\b/g
/** Keys have 40 characters, signatures 64, and tokens hundreds. Names are shorter, or have no digits. */
const LONG = /[\w+/=%-]{32,}/g
/** Shorter values stand in any text. */
const SHORTEST = 6

/** `known`: values that no output may hold. */
export function withoutLogins(text: string, known: readonly (string | undefined)[] = []): string {
  if (OF_PROGRAM.test(text)) return 'the credential_process of the profile failed'
  let shown = text
  for (const secret of known)
    if (secret !== undefined && secret.length >= SHORTEST) shown = shown.replaceAll(secret, '***')
  return shown.replace(KEY_ID, '***').replace(LONG, one => (/\d/.test(one) && /[a-z]/i.test(one) ? '***' : one))
}
