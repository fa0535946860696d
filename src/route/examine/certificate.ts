import type { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { visible } from '../../base/text/shown.js'

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
  /** Who signed the certificate that the same host shows without the proxy, if somebody else did. */
  readonly issuerElsewhere?: string | undefined
  /** The first of those who signed it, and so on, that has expired. */
  readonly expiredAuthority?: { readonly subject: string; readonly validTo: string } | undefined
}

/**
 * `proxy`: the proxy shows its own certificate instead of the cluster's. `early`: not valid yet. `authority`: no
 * trusted authority signed it. `incomplete`: the server did not send the certificate of its issuer either. `authority expired`: one
 * of those who signed it has expired. `intercepted`: the host shows the certificate of another authority without the proxy.
 */
export type CertificateProblem =
  | 'proxy'
  | 'expired'
  | 'early'
  | 'name'
  | 'fingerprint'
  | 'authority'
  | 'incomplete'
  | 'authority expired'
  | 'intercepted'

export function describeCertificate(
  certificate: X509Certificate,
  authorities: readonly X509Certificate[] = [],
  today = 0,
): CertificateSeen {
  const expired = authorities.find(({ validTo }) => Date.parse(validTo) < today)
  return {
    ...(expired && { expiredAuthority: { subject: nameIn(expired.subject), validTo: isoDate(expired.validTo) } }),
    subject: nameIn(certificate.subject),
    issuer: nameIn(certificate.issuer),
    names: (certificate.subjectAltName ?? '')
      .split(', ')
      .flatMap(one => visible(/^[^:]+:(.+)$/.exec(one)?.[1] ?? '') || []),
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
  chain: {
    readonly authorities?: readonly X509Certificate[] | undefined
    readonly today?: number
    /** The user named authorities. */
    readonly hasCa?: boolean
  } = {},
): CertificateProblem {
  const { authorities, today = 0, hasCa = false } = chain
  if (certificate !== undefined && !isFor(certificate, hosts.cluster)) {
    const isOfProxy =
      certificate.fingerprint256 === hosts.proxyFingerprint ||
      (hosts.proxy !== undefined && isFor(certificate, hosts.proxy))
    if (isOfProxy) return 'proxy'
  }
  if (code === 'CERT_HAS_EXPIRED') {
    const isOfAuthority = certificate !== undefined && Date.parse(certificate.validTo) > today && today > 0
    return isOfAuthority ? 'authority expired' : 'expired'
  }
  if (code === 'CERT_NOT_YET_VALID') return 'early'
  if (/ALTNAME|HOSTNAME/.test(code)) return 'name'
  if (code === 'FINGERPRINT_MISMATCH') return 'fingerprint'
  if (certificate === undefined || authorities?.length !== 0 || certificate.checkIssued(certificate)) return 'authority'
  // Public authorities say where their certificates are. Private ones are most often only not named.
  return hasCa || /CA Issuers/.test(certificate.infoAccess ?? '') ? 'incomplete' : 'authority'
}

function isFor(certificate: X509Certificate, host: string): boolean {
  return (isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host)) !== undefined
}

function nameIn(distinguished: string): string {
  const [, name = 'nobody'] = /(?:^|\n)CN=(.+)/.exec(distinguished) ?? /(?:^|\n)O=(.+)/.exec(distinguished) ?? []
  return visible(name)
}

function isoDate(text: string): string {
  const date = new Date(text)
  return Number.isNaN(date.getTime()) ? text : date.toISOString()
}
