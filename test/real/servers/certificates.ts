import { execFile } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** PEM files: a server certificate for localhost and 127.0.0.1 with its key, and the authority that vouches for it. */
export interface Certificate {
  readonly certFile: string
  readonly keyFile: string
  readonly caFile: string
}

/** Makes an authority of its own for each call, so that trust in one server never covers another. */
export async function issueCertificate(openssl: string, folder: string, name: string): Promise<Certificate> {
  await mkdir(folder, { recursive: true })
  const file = (base: string): string => join(folder, base)
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-noenc', '-days', '2']
  const request = (...args: string[]): Promise<unknown> =>
    promisify(execFile)(openssl, ['req', '-x509', ...newKey, ...args])
  await request('-subj', `/CN=${name} test CA`, '-keyout', file('ca-key.pem'), '-out', file('ca.pem'))

  const authority = ['-CA', file('ca.pem'), '-CAkey', file('ca-key.pem')]
  const names = [
    '-addext',
    'basicConstraints=critical,CA:FALSE',
    '-addext',
    'subjectAltName=DNS:localhost,IP:127.0.0.1',
  ]
  await request(...authority, ...names, '-subj', `/CN=${name}`, '-keyout', file('key.pem'), '-out', file('cert.pem'))
  return { certFile: file('cert.pem'), keyFile: file('key.pem'), caFile: file('ca.pem') }
}
