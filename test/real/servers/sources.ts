import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { issueCertificate } from './certificates.js'
import { type Gateway, startGateway } from './gateway.js'
import type { Owner } from './owner.js'
import { type Parts, required } from './parts.js'
import { type S3Server, startS3 } from './s3.js'

export interface SourceServers {
  readonly nginx: Gateway
  readonly s3: S3Server
  /** nginx shows it under /files/. */
  readonly folder: string
  /** Vouches for the certificate of nginx. */
  readonly caFile: string
}

/** Starts servers of inputs: nginx over TLS before a folder of files, and versitygw. `lines`: more lines for nginx. */
export async function startSources(
  parts: Parts,
  owner: Owner,
  lines: (folder: string) => readonly string[] = () => [],
): Promise<SourceServers> {
  const folder = join(owner.folder, 'files')
  await mkdir(folder, { recursive: true })
  const certificate = await issueCertificate(required(parts.openssl, 'openssl'), join(owner.folder, 'tls'), 'files')
  const s3 = await owner.own(startS3(required(parts.versitygw, 'versitygw'), join(owner.folder, 's3')))
  const nginx = await owner.own(
    startGateway({
      nginx: required(parts.nginx, 'nginx'),
      folder: join(owner.folder, 'nginx'),
      clusterPort: new URL(s3.url).port,
      certificate,
      lines: [`location /files/ { alias ${folder}/; access_log ${owner.folder}/arrivals; }`, ...lines(folder)],
    }),
  )
  return { nginx, s3, folder, caFile: certificate.caFile }
}
