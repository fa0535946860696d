/** Reads certificates and names their problems. */
import type { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'

/** A certificate as a report shows it. Every server shows it to everybody, so nothing in it is secret. */
export interface CertificateSeen {
  readonly subject: string
  readonly issuer: string
  /** The host names and addresses of the certificate. */
  readonly names: readonly string[]
  /** ISO 8601. */
  readonly validFrom: string
  readonly validTo: string
  /** SHA-256, hexadecimal with colons. */
  readonly fingerprint: string
}

/**
 * `proxy`: the proxy shows its own certificate instead of the cluster's. `early`: not valid yet. `authority`: no
 * trusted authority signed it.
 */
export type CertificateProblem = 'proxy' | 'expired' | 'early' | 'name' | 'fingerprint' | 'authority'

export function describeCertificate(certificate: X509Certificate): CertificateSeen {
  return {
    subject: nameIn(certificate.subject),
    issuer: nameIn(certificate.issuer),
    names: (certificate.subjectAltName ?? '').split(', ').flatMap(one => /^[^:]+:(.+)$/.exec(one)?.[1] ?? []),
    validFrom: isoDate(certificate.validFrom),
    validTo: isoDate(certificate.validTo),
    fingerprint: certificate.fingerprint256,
  }
}

/**
 * Returns why a certificate is refused. `code`: from the TLS layer. A certificate belongs to another server only if
 * it does not cover the cluster's host, because one certificate may serve both a proxy and a cluster.
 */
export function problemWith(
  code: string,
  certificate: X509Certificate | undefined,
  hosts: {
    readonly cluster: string
    readonly proxy?: string | undefined
    readonly proxyFingerprint?: string | undefined
  },
): CertificateProblem {
  if (certificate !== undefined && !isFor(certificate, hosts.cluster)) {
    const isOfProxy =
      certificate.fingerprint256 === hosts.proxyFingerprint ||
      (hosts.proxy !== undefined && isFor(certificate, hosts.proxy))
    if (isOfProxy) return 'proxy'
  }
  if (code === 'CERT_HAS_EXPIRED') return 'expired'
  if (code === 'CERT_NOT_YET_VALID') return 'early'
  if (/ALTNAME|HOSTNAME/.test(code)) return 'name'
  return code === 'FINGERPRINT_MISMATCH' ? 'fingerprint' : 'authority'
}

/** Returns a sentence that says whose certificate it is, and why it is refused. */
export function tellCertificate(
  problem: CertificateProblem,
  { subject, issuer, names, validFrom, validTo }: CertificateSeen,
): string {
  const who = `${subject}, issued by ${issuer}`
  switch (problem) {
    case 'proxy':
      return `It is the proxy's own certificate (${who}), not the cluster's`
    case 'expired':
      return `It belongs to ${who}, and expired on ${validTo}`
    case 'early':
      return `It belongs to ${who}, and is not valid before ${validFrom}`
    case 'name':
      return `It belongs to ${who}, and is valid for ${names.length === 0 ? 'no host' : names.slice(0, 5).join(', ')}`
    case 'fingerprint':
    case 'authority':
      return `It belongs to ${who}`
  }
}

function isFor(certificate: X509Certificate, host: string): boolean {
  return (isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host)) !== undefined
}

/** The common name of a subject or issuer, else its organisation. */
function nameIn(distinguished: string): string {
  return /(?:^|\n)CN=(.+)/.exec(distinguished)?.[1] ?? /(?:^|\n)O=(.+)/.exec(distinguished)?.[1] ?? 'nobody'
}

function isoDate(text: string): string {
  const date = new Date(text)
  return Number.isNaN(date.getTime()) ? text : date.toISOString()
}
