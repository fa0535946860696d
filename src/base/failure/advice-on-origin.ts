/** Fits advice to the cluster that a load reads (`--from`): the catalogue writes it for the target. */

/** Messages about that cluster say so, behind its URL. */
export const onOrigin = /\(--from\)/

/** Settings of the target, and in their place those of the cluster that is read. Some have none. */
const settings: readonly (readonly [RegExp, string])[] = [
  [/ELASTICSEARCH_URL(?: \(--url\))?/g, '--from'],
  [/ELASTICSEARCH_(API_KEY|USERNAME|PASSWORD)/g, 'SLUICE_FROM_$1'],
  [/SLUICE_CA\b/g, 'SLUICE_FROM_CA'],
  [/--ca(?![\w-])/g, '--from-ca'],
  [/, or the SHA-256 of a certificate with --ca-fingerprint/g, ''],
  [/ or --batch-bytes|, or lower --batch-bytes/g, ''],
  [/ to POST \/_bulk/g, ''],
  [/inside that network with --direct/g, 'inside that network without --from-proxy'],
  [/If Sluice used no proxy, set STATIC_PROXY_URL/g, 'If Sluice used no proxy, pass --from-proxy'],
]

/** What only the target has: documents to store, a client certificate, and the doctor. */
const ofTarget =
  /--(?:cert|key|index|pipeline|op|swap-alias|tune|template|mapping|nodes)\b|sluice (?:doctor|verify|rollback)|event:write|Load into/

/** Returns advice as it holds for that cluster. Undefined if it does not hold. */
export function adviceOnOrigin(advice: string): string | undefined {
  if (ofTarget.test(advice)) return undefined
  return settings.reduce((text, [usual, own]) => text.replaceAll(usual, own), advice)
}

/** For failures of which all advice is about the target. */
export const generalAdvice =
  'Check the URL, the credentials and the health of the cluster of --from. Then run the same command again. It continues where it stopped.'
