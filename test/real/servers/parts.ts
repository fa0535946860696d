import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export type Major = 8 | 9

/** What `scripts/real/parts.js` finds on this machine; paths are undefined where the part is missing. */
export interface Parts {
  readonly squid?: string
  readonly squidAuth?: string
  readonly nginx?: string
  readonly microsocks?: string
  readonly openssl?: string
  readonly versitygw?: string
  readonly redis?: string
  /** Folder of its programs. */
  readonly postgres?: string
  readonly prometheus?: string
  readonly promtool?: string
  readonly chromium?: string
  readonly logrotate?: string
  readonly zsh?: string
  readonly fish?: string
  readonly groff?: string
  readonly proxies: Readonly<
    Partial<
      Record<
        | 'tinyproxy'
        | 'apache'
        | 'privoxy'
        | 'dante'
        | 'haproxy'
        | 'stunnel'
        | 'goproxy'
        /** Folder of its package. */
        | 'proxyChain'
        | 'mitmproxy'
        | 'envoy',
        string
      >
    >
  >
  readonly elasticsearch: Readonly<
    Record<Major, { readonly version: string; readonly home: string; readonly java?: string }>
  >
  readonly missing: readonly {
    readonly part: string
    readonly reason: string
    readonly major?: Major
    readonly only?: string
  }[]
}

const script = fileURLToPath(new URL('../../../scripts/real/parts.js', import.meta.url))

export function findParts(): Parts {
  return JSON.parse(execFileSync(process.execPath, [script], { encoding: 'utf8' })) as Parts
}

/** One line for each part that a world with this Elasticsearch lacks; empty when it can start. */
export function missingFor(parts: Parts, major: Major): string[] {
  return parts.missing
    .filter(gap => gap.only === undefined && (gap.major === undefined || gap.major === major))
    .map(gap => `${gap.part}: ${gap.reason}`)
}

/** The path of a part. Throws, naming the part, where it is missing. */
export function required(path: string | undefined, name: string): string {
  if (path === undefined) throw new Error(`${name} is not installed; run: node scripts/real/install.js`)
  return path
}
